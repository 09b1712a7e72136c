//! A request to a running service → its answer: the client of `mayi check --server`.
//!
//! One connection, HTTP/1.1, one request after the other. It follows no redirects and caches nothing.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::Url;

/// The largest answer that is read.
const MOST: usize = 256 << 20;

/// How long an answer may take: longer than a service waits for a site.
const PATIENCE: Duration = Duration::from_mins(2);

/// A service that can be asked.
///
/// ```
/// use mayi_server::client::Client;
///
/// assert!(Client::new("http://127.0.0.1:9309/", None).is_ok());
/// assert!(Client::new("ftp://127.0.0.1/", None).is_err());
/// ```
pub struct Client {
    url: Url,
    key: Option<HeaderValue>,
    /// What is sent with every question beside the key.
    headers: HeaderMap,
    connection: Option<SendRequest<Full<Bytes>>>,
}

impl Client {
    /// The service at a URL, with the key that it needs.
    ///
    /// # Errors
    /// When the URL is not one of a service, or the key can't be sent.
    pub fn new(url: &str, key: Option<&str>) -> Result<Self, ClientError> {
        let wrong = |why: &dyn fmt::Display| {
            ClientError(format!("`{}` is not the URL of a service: {why}", url.escape_debug()))
        };
        let mut parsed = Url::parse(url).map_err(|error| wrong(&error))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(wrong(&"it has to begin with http:// or https://"));
        }
        let key = key.map(|key| HeaderValue::try_from(format!("Bearer {key}"))).transpose();
        let mut key = key.map_err(|_| {
            ClientError("the key has characters that are not allowed in a key".to_owned())
        })?;
        if let Some(key) = &mut key {
            key.set_sensitive(true);
        }
        // They are not used to log in, and error messages must not show them.
        let (_, _) = (parsed.set_username(""), parsed.set_password(None));
        Ok(Self { url: parsed, key, headers: HeaderMap::new(), connection: None })
    }

    /// The same, with header fields for every question.
    #[cfg(feature = "traces")]
    pub(crate) fn with_headers(mut self, headers: HeaderMap) -> Self {
        self.headers = headers;
        self
    }

    /// The decision about a request in JSON, as JSON. An invalid request gets an error.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn decide(&mut self, request: Vec<u8>) -> Result<String, ClientError> {
        let (status, body) = self.ask(Method::POST, "/v1/decide", request).await?;
        self.answer(status, &body)
    }

    /// What the service knows about the file of a site, as JSON.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn robots(&mut self, url: &str) -> Result<String, ClientError> {
        let query: String = url::form_urlencoded::byte_serialize(url.as_bytes()).collect();
        let path = format!("/v1/robots?url={query}");
        let (status, body) = self.ask(Method::GET, &path, Vec::new()).await?;
        self.answer(status, &body)
    }

    /// An answer, or the problem of a request that is wrong; any other problem is a failure.
    fn answer(&self, status: StatusCode, body: &[u8]) -> Result<String, ClientError> {
        let text = String::from_utf8_lossy(body).into_owned();
        if status.is_success() || status == StatusCode::UNPROCESSABLE_ENTITY {
            return Ok(text);
        }
        let problem: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let why = problem["detail"].as_str().unwrap_or("without a reason");
        Err(self.failure(&format_args!("status {}, {why}", status.as_u16())))
    }

    /// Sends a request to a path below the URL of the service, on the open connection if there is one.
    pub(crate) async fn ask(
        &mut self,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let body = Bytes::from(body);
        let is_old = self.connection.is_some();
        match tokio::time::timeout(PATIENCE, self.ask_once(&method, path, body.clone())).await {
            Ok(Ok(answer)) => Ok(answer),
            // An idle connection may have been closed in the meantime: a new one is tried once.
            Ok(Err(_)) if is_old => {
                self.connection = None;
                let again = tokio::time::timeout(PATIENCE, self.ask_once(&method, path, body)).await;
                again.unwrap_or_else(|_| Err(self.failure(&"it does not respond")))
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(self.failure(&"it does not respond")),
        }
    }

    async fn ask_once(
        &mut self,
        method: &Method,
        path: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let mut connection = match self.connection.take() {
            Some(connection) if !connection.is_closed() => connection,
            _ => self.connect().await?,
        };
        let authority = &self.url[url::Position::BeforeHost..url::Position::AfterPort];
        let folder = self.url.path().trim_end_matches('/');
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{folder}{path}"))
            .header(HOST, authority)
            .header(CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key);
        }
        let mut request = request.body(Full::new(body)).map_err(|error| self.failure(&error))?;
        request.headers_mut().extend(self.headers.clone());
        let response = connection.send_request(request).await.map_err(|error| self.failure(&error))?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MOST).collect().await;
        let body = body.map_err(|error| self.failure(&error))?.to_bytes();
        self.connection = Some(connection);
        Ok((status, body))
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, ClientError> {
        let host = self.url.host_str().unwrap_or_default();
        let port = self.url.port_or_known_default().unwrap_or(80);
        let name = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((name, port)).await.map_err(|error| self.failure(&error))?;
        stream.set_nodelay(true).map_err(|error| self.failure(&error))?;
        if self.url.scheme() == "http" {
            return self.speak(stream).await;
        }
        let server = ServerName::try_from(name.to_owned()).map_err(|error| self.failure(&error))?;
        let connector = connector().map_err(|error| self.failure(&error))?;
        let stream = connector.connect(server, stream).await.map_err(|error| self.failure(&error))?;
        self.speak(stream).await
    }

    async fn speak<S>(&self, stream: S) -> Result<SendRequest<Full<Bytes>>, ClientError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let spoken = handshake(TokioIo::new(stream)).await;
        let (sender, connection) = spoken.map_err(|error| self.failure(&error))?;
        tokio::spawn(connection);
        Ok(sender)
    }

    fn failure(&self, why: &dyn fmt::Display) -> ClientError {
        ClientError(format!("no answer from the service at {}: {why}", self.url))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("url", &self.url.as_str()).finish_non_exhaustive()
    }
}

fn connector() -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    let (_, _) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err("no root certificates were found on this system".to_owned());
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// A request that got no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientError(String);

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ClientError {}

//! A request over HTTP/1.1 or HTTP/2, with TLS for https. The only file that names the HTTP client.
//!
//! An origin has one robots.txt, so each request has a connection of its own and nothing is pooled.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body as _, Incoming};
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, HOST, HeaderMap,
    HeaderValue, TRANSFER_ENCODING, USER_AGENT,
};
use hyper::header::{IF_MODIFIED_SINCE, IF_NONE_MATCH};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::task::AbortHandle;
use tokio_rustls::TlsConnector;
use url::Url;

use crate::clock::{Later, within};
use crate::coding::{ACCEPTED, Body, Flow};
use crate::dial::{Dialer, Stream};
use crate::fault::Lack;
use crate::transport::{
    Get, Patience, Response, Transport, TransportError, TransportErrorKind as Kind,
};

/// More header fields than this are an error of the server.
const MOST_FIELDS: usize = 256;

/// Sends requests over http and https.
pub(crate) struct Http {
    dialer: Dialer,
    patience: Patience,
    extra_roots: Vec<CertificateDer<'static>>,
    /// Made when the first https request needs it: reading the system's roots takes a while.
    tls: OnceLock<TlsConnector>,
}

impl Http {
    pub(crate) fn new(
        dialer: Dialer,
        patience: Patience,
        extra_roots: Vec<CertificateDer<'static>>,
    ) -> Self {
        Self { dialer, patience, extra_roots, tls: OnceLock::new() }
    }

    async fn exchange(&self, get: Get<'_>) -> Result<Response, TransportError> {
        let (mut sender, _connection) = self.connected(get).await?;
        let is_two = matches!(sender, Sender::Two(_));
        let request = request(get, is_two)?;
        let late = || TransportError::new(Kind::Timeout, "no response to the request in time");
        let head = within(&*self.dialer.clock, self.patience.first_byte, sender.send(request)).await;
        let response = head.ok_or_else(late)?.map_err(failure)?;
        let (parts, body) = response.into_parts();
        // The client would take the chunks and pass over the length, another reader might do the reverse
        // (RFC 9112 §6.3). It can't be known which of the two is meant.
        if parts.headers.contains_key(TRANSFER_ENCODING) && parts.headers.contains_key(CONTENT_LENGTH) {
            let both = "it has both Content-Length and Transfer-Encoding, so its end is ambiguous";
            return Err(TransportError::new(Kind::Protocol, both));
        }
        let status = parts.status.as_u16();
        let fields = fields(&parts.headers);
        if !parts.status.is_success() {
            // What other bodies say is for people; they are not waited for.
            return Ok(Response { status, fields, ..Response::default() });
        }
        if status == 206 && !is_whole(&parts.headers) {
            return Err(TransportError::new(
                Kind::Truncated,
                "only part of the file, although all of it was requested",
            ));
        }
        if !is_plainly_transferred(&parts.headers) {
            return Err(TransportError::new(Kind::Coding, "its Transfer-Encoding is not supported"));
        }
        let (body, is_cut) = read(&parts.headers, body, get.body_octets, is_two).await?;
        Ok(Response { status, fields, body, is_cut })
    }

    /// A connection that is ready for a request.
    async fn connected(&self, get: Get<'_>) -> Result<(Sender, Connection), TransportError> {
        let url = get.url;
        let host = url.host_str().ok_or_else(|| TransportError::new(Kind::Url, "it has no host"))?;
        let port = url.port_or_known_default().unwrap_or(80);
        let ready = async {
            let (stream, _) = self.dialer.dial(host, port, get.named_port).await?;
            if url.scheme() != "https" {
                return self.handshake(stream, false).await;
            }
            let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
                .map_err(|error| TransportError::new(Kind::Tls, &error).caused_by(error))?;
            let connected = self.tls()?.connect(name, stream).await;
            let stream = connected.map_err(|error| TransportError::of_io(Kind::Tls, error))?;
            let is_two = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            self.handshake(Box::new(stream), is_two).await
        };
        within(&*self.dialer.clock, self.patience.connect, ready)
            .await
            .unwrap_or_else(|| Err(TransportError::new(Kind::Timeout, "no connection in time")))
    }

    /// TLS, made when it is first needed. A failure here is not a failure of a server, and may end when this
    /// process has descriptors again, so it is tried again each time.
    fn tls(&self) -> Result<&TlsConnector, TransportError> {
        if let Some(tls) = self.tls.get() {
            return Ok(tls);
        }
        let made = connector(&self.extra_roots)
            .map_err(|error| TransportError::lacking(Lack::RootCertificates, error))?;
        Ok(self.tls.get_or_init(|| made))
    }

    async fn handshake(
        &self,
        stream: Box<dyn Stream>,
        is_two: bool,
    ) -> Result<(Sender, Connection), TransportError> {
        let io = TokioIo::new(stream);
        let most = self.patience.header_octets.max(8192);
        let tasks = Tasks::default();
        if is_two {
            let (sender, connection) = hyper::client::conn::http2::Builder::new(tasks.clone())
                .max_header_list_size(u32::try_from(most).unwrap_or(u32::MAX))
                .handshake(io)
                .await
                .map_err(failure)?;
            Ok((Sender::Two(sender), Connection::drive(connection, tasks)))
        } else {
            let (sender, connection) = hyper::client::conn::http1::Builder::new()
                .max_buf_size(most)
                .max_headers(MOST_FIELDS)
                .handshake(io)
                .await
                .map_err(failure)?;
            Ok((Sender::One(sender), Connection::drive(connection, tasks)))
        }
    }
}

impl Transport for Http {
    fn get<'a>(&'a self, get: Get<'a>) -> Later<'a, Result<Response, TransportError>> {
        Box::pin(self.exchange(get))
    }
}

/// What sends a request, by version.
enum Sender {
    One(hyper::client::conn::http1::SendRequest<Empty<Bytes>>),
    Two(hyper::client::conn::http2::SendRequest<Empty<Bytes>>),
}

impl Sender {
    async fn send(
        &mut self,
        request: hyper::Request<Empty<Bytes>>,
    ) -> hyper::Result<hyper::Response<Incoming>> {
        match self {
            Self::One(sender) => sender.send_request(request).await,
            Self::Two(sender) => sender.send_request(request).await,
        }
    }
}

/// A connection that runs until this value is dropped.
struct Connection(Tasks);

impl Connection {
    fn drive(
        connection: impl Future<Output = hyper::Result<()>> + Send + 'static,
        tasks: Tasks,
    ) -> Self {
        // What goes wrong with it is told to the request as well.
        tasks.start(async { drop(connection.await) });
        Self(tasks)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The tasks of a connection. The client starts some of them itself, and would let them run until the server
/// has received the end of the connection; a server that does not read could keep them for ever.
#[derive(Clone, Default)]
struct Tasks(Arc<Mutex<Vec<AbortHandle>>>);

impl Tasks {
    fn start(&self, task: impl Future<Output = ()> + Send + 'static) {
        let task = tokio::spawn(task).abort_handle();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    }

    fn end(&self) {
        for task in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            task.abort();
        }
    }
}

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Tasks {
    fn execute(&self, task: F) {
        self.start(task);
    }
}

fn request(get: Get<'_>, is_two: bool) -> Result<hyper::Request<Empty<Bytes>>, TransportError> {
    let url = get.url;
    // Without the name and the password that a redirect may have.
    let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
    // HTTP/2 takes the authority from the URL, HTTP/1.1 has a field for it.
    let target = if is_two {
        format!("{}://{authority}{}", url.scheme(), path(url))
    } else {
        path(url).to_owned()
    };
    let mut request = hyper::Request::get(target)
        .header(USER_AGENT, get.user_agent)
        .header(ACCEPT, get.accept)
        .header(ACCEPT_ENCODING, ACCEPTED);
    if !is_two {
        request = request.header(HOST, authority);
    }
    if let Some(validators) = get.validators {
        let pairs = [
            (IF_NONE_MATCH, validators.etag.as_deref()),
            (IF_MODIFIED_SINCE, validators.last_modified.as_deref()),
        ];
        for (name, value) in pairs {
            // A validator that can't be sent back is ignored.
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                request = request.header(name, value);
            }
        }
    }
    request.body(Empty::new()).map_err(|error| TransportError::new(Kind::Url, &error).caused_by(error))
}

fn path(url: &Url) -> &str {
    &url[url::Position::BeforePath..url::Position::AfterQuery]
}

fn fields(headers: &HeaderMap) -> Vec<(Box<str>, Box<str>)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into();
    headers.iter().map(|(name, value)| (name.as_str().into(), text(value))).collect()
}

/// Whether the `Content-Range` of a part, where it has one, says that the part is all there is.
fn is_whole(headers: &HeaderMap) -> bool {
    let Some(range) = headers.get(CONTENT_RANGE) else { return true };
    let numbers = range.to_str().ok().and_then(|range| {
        let (unit, range) = range.trim().split_once(' ')?;
        let (first_and_last, length) = range.trim().split_once('/')?;
        let (first, last) = first_and_last.split_once('-')?;
        let number = |text: &str| text.trim().parse::<u64>().ok();
        unit.eq_ignore_ascii_case("bytes").then_some((number(first)?, number(last)?, number(length)?))
    });
    numbers.is_some_and(|(first, last, length)| first == 0 && last.checked_add(1) == Some(length))
}

/// Whether a body comes as it is or in chunks. The client decodes chunks and ignores every other transfer
/// coding, and the result would be read as a file without rules.
fn is_plainly_transferred(headers: &HeaderMap) -> bool {
    let codings: Vec<_> = headers.get_all(TRANSFER_ENCODING).iter().collect();
    match *codings {
        [] => true,
        [coding] => [&b"chunked"[..], b"identity"]
            .iter()
            .any(|plain| coding.as_bytes().trim_ascii().eq_ignore_ascii_case(plain)),
        _ => false,
    }
}

/// Reads a body up to its limit.
async fn read(
    headers: &HeaderMap,
    mut body: Incoming,
    limit: usize,
    is_two: bool,
) -> Result<(Bytes, bool), TransportError> {
    let codings: Vec<_> = headers.get_all(CONTENT_ENCODING).iter().collect();
    let coding = match *codings {
        [] => None,
        [coding] => Some(coding.to_str().unwrap_or("?")),
        _ => Some("?"),
    };
    let not_understood = || TransportError::new(Kind::Coding, "its Content-Encoding is not supported");
    let mut decoded = Body::new(coding, limit).ok_or_else(not_understood)?;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(failure)?;
        let Some(octets) = frame.data_ref() else { continue };
        let flow = decoded.push(octets).map_err(|error| TransportError::new(Kind::Coding, error))?;
        if flow == Flow::Full {
            let (octets, is_cut) = decoded.into_octets();
            return Ok((octets.into(), is_cut));
        }
    }
    // The client treats a stream that is reset without an error as one that has ended.
    if is_two && !body.is_end_stream() {
        return Err(TransportError::new(Kind::Truncated, "the stream was reset before its end"));
    }
    decoded.end().map_err(|error| TransportError::new(Kind::Truncated, error))?;
    let (octets, is_cut) = decoded.into_octets();
    Ok((octets.into(), is_cut))
}

/// What went wrong: one word, then the message of the client.
fn failure(error: hyper::Error) -> TransportError {
    let causes = std::iter::successors(std::error::Error::source(&error), |cause| cause.source());
    let causes: Vec<_> = causes.filter_map(|cause| cause.downcast_ref::<io::Error>()).collect();
    if let Some((lack, cause)) = causes.iter().find_map(|cause| Some((Lack::of(cause)?, cause))) {
        return TransportError::lacking(lack, cause).caused_by(error);
    }
    let has_ended = causes.iter().any(|cause| cause.kind() == io::ErrorKind::UnexpectedEof);
    let kind = if error.is_incomplete_message() || has_ended {
        Kind::Truncated
    } else if error.is_timeout() {
        Kind::Timeout
    } else if error.is_parse() {
        Kind::Protocol
    } else {
        Kind::Connection
    };
    // The cause says more than the error itself, which is a sentence about a stage.
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
    TransportError::new(kind, format_args!("{error}{cause}")).caused_by(error)
}

/// TLS with the root certificates of the system and these.
fn connector(extra: &[CertificateDer<'static>]) -> Result<TlsConnector, String> {
    let roots = crate::roots::with_those_of_the_system(extra)?;
    let provider = Arc::new(crate::roots::provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

//! One request and its result, whatever the protocol.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mayi::access::Validators;
use url::Url;

use crate::clock::Later;
use crate::fault::Lack;

/// Sends a request to a server. It follows no redirect and knows nothing about robots.txt.
pub trait Transport: Send + Sync + 'static {
    /// The response, or what went wrong.
    fn get<'a>(&'a self, get: Get<'a>) -> Later<'a, Result<Response, TransportError>>;
}

/// A request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Get<'a> {
    /// What to get.
    pub url: &'a Url,
    /// The User-Agent string to send.
    pub user_agent: &'a str,
    /// Which media types are wanted: the value of `Accept`.
    pub accept: &'static str,
    /// The validators, if a copy of exactly this URL is cached.
    pub validators: Option<&'a Validators>,
    /// How many octets of the decoded body are wanted; the rest is not read.
    pub body_octets: usize,
    /// The port in the question.
    pub named_port: u16,
}

/// A response.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its header fields, in order; what is not UTF-8 is replaced.
    pub fields: Vec<(Box<str>, Box<str>)>,
    /// Its decoded body, if the status is 200 to 299; other bodies are not read.
    pub body: Bytes,
    /// Whether the body is longer than what was wanted.
    pub is_cut: bool,
}

impl Response {
    /// A response of this status.
    pub fn of_status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// The same, with another header field.
    #[must_use]
    pub fn with_field(mut self, name: &str, value: &str) -> Self {
        self.fields.push((name.into(), value.into()));
        self
    }

    /// The same, with a body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// The value of the first header field of this name.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut found = self.fields.iter().filter(|field| field.0.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| &**value)
    }

    /// The header fields as the core takes them.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, value)| (&**name, &**value))
    }
}

/// A body without its `Content-Encoding`, up to a limit of octets; none if the coding is unknown or the body
/// is not in this coding.
pub fn decoded_body(coding: &str, body: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut decoder = crate::coding::Body::new(Some(coding), limit)?;
    if decoder.push(body).ok()? == crate::coding::Flow::On {
        decoder.end().ok()?;
    }
    Some(decoder.into_octets().0)
}

/// What went wrong with a request: a kind for code, a message for people, whose failure it is, and the error
/// that caused it, if there is one ([`source`](std::error::Error::source)).
///
/// ```
/// use mayi_fetch::transport::{TransportError, TransportErrorKind};
///
/// let error = TransportError::new(TransportErrorKind::Dns, "example.com has no address");
/// assert_eq!(error.kind(), TransportErrorKind::Dns);
/// assert_eq!(error.to_string(), "dns: example.com has no address");
/// ```
#[derive(Clone, Debug)]
pub struct TransportError {
    kind: TransportErrorKind,
    message: Box<str>,
    cause: Cause,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// The kinds of failed requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// The URL can't be requested.
    Url,
    /// This build does not support the URL's scheme.
    Scheme,
    /// The host has no address.
    Dns,
    /// No address of the host accepts a connection.
    Connect,
    /// The TLS handshake failed, or the certificate is not trusted.
    Tls,
    /// The server takes too long.
    Timeout,
    /// The connection has broken.
    Connection,
    /// The response is incomplete.
    Truncated,
    /// The response violates the protocol.
    Protocol,
    /// The body is in a coding that is not understood, or not in the one that it says.
    Coding,
    /// The guard refused the request.
    Guard,
    /// This machine lacks something that is needed to send a request.
    Local,
    /// Anything else.
    Other,
}

impl TransportErrorKind {
    /// The kind in one word, as messages begin with it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Scheme => "scheme",
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::Truncated => "truncated",
            Self::Protocol => "protocol",
            Self::Coding => "coding",
            Self::Guard => "guard",
            Self::Local => "local",
            Self::Other => "other",
        }
    }
}

impl Display for TransportErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Whose failure it is that a request has no response.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// That of the server, or of the network on the way to it.
    Server,
    /// The guard refused the request, for this reason. The text may contain an address that the client must
    /// not learn.
    Guard(Box<str>),
    /// This machine lacks something, in the words of the system.
    Here(Lack, Box<str>),
}

impl TransportError {
    /// A failure of this kind of a server, with a message.
    pub fn new(kind: TransportErrorKind, what: impl Display) -> Self {
        Self::of(kind, Cause::Server, what)
    }

    /// A failure of a server of another kind, with this message.
    pub fn of_message(message: impl Into<Box<str>>) -> Self {
        let kind = TransportErrorKind::Other;
        Self { kind, message: message.into(), cause: Cause::Server, source: None }
    }

    /// The guard refuses this: the message for everybody, and all details.
    pub fn guarded(what: impl Display, detail: impl Display) -> Self {
        Self::of(TransportErrorKind::Guard, Cause::Guard(detail.to_string().into()), what)
    }

    /// This machine lacks something.
    pub fn lacking(lack: Lack, detail: impl Display) -> Self {
        let cause = Cause::Here(lack, detail.to_string().into());
        Self::of(TransportErrorKind::Local, cause, format_args!("{lack}; the site was not asked"))
    }

    /// The same, with the error that it came from.
    #[must_use]
    pub fn caused_by(self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { source: Some(Arc::new(source)), ..self }
    }

    /// A failure of this kind from an error of the system, which may be a fault of this machine.
    pub(crate) fn of_io(kind: TransportErrorKind, error: std::io::Error) -> Self {
        match Lack::of(&error) {
            Some(lack) => Self::lacking(lack, &error),
            None => Self::new(kind, &error),
        }
        .caused_by(error)
    }

    fn of(kind: TransportErrorKind, cause: Cause, what: impl Display) -> Self {
        let mut message = format!("{kind}: {what}");
        // The number of a system error is of no use to people. `source` still has it.
        if let Some((words, number)) = message.rsplit_once(" (os error ")
            && number.ends_with(')')
        {
            message.truncate(words.len());
        }
        Self { kind, message: message.into(), cause, source: None }
    }

    /// What kind of trouble it is.
    pub fn kind(&self) -> TransportErrorKind {
        self.kind
    }

    /// What went wrong, for the client.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whose trouble it is.
    pub fn cause(&self) -> &Cause {
        &self.cause
    }
}

impl Display for TransportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TransportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.source.as_deref()?;
        Some(source)
    }
}

/// How long a server may take, and how much it may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Patience {
    /// For a connection: the name, the address, and for https its handshake.
    pub connect: Duration,
    /// For the first octet of a response, from when the request was sent.
    pub first_byte: Duration,
    /// For the whole attempt, with all its redirects.
    pub total: Duration,
    /// Octets of header fields.
    pub header_octets: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(15),
            total: Duration::from_secs(30),
            header_octets: 64 * 1024,
        }
    }
}

/// A transport that has another one for each scheme.
#[derive(Clone)]
pub(crate) struct BySchemes {
    pub(crate) http: Arc<dyn Transport>,
    #[cfg(feature = "ftp")]
    pub(crate) ftp: Arc<dyn Transport>,
}

impl Transport for BySchemes {
    fn get<'a>(&'a self, get: Get<'a>) -> Later<'a, Result<Response, TransportError>> {
        match get.url.scheme() {
            "http" | "https" => self.http.get(get),
            #[cfg(feature = "ftp")]
            "ftp" => self.ftp.get(get),
            scheme => {
                let error = TransportError::new(
                    TransportErrorKind::Scheme,
                    format_args!("{scheme} is not built in"),
                );
                Box::pin(async move { Err(error) })
            }
        }
    }
}

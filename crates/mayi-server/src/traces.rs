//! Requests, and the fetches and store accesses that they wait for → spans, sent to a collector as OTLP over HTTP, in its
//! JSON form.
//!
//! A span goes into a bounded queue when its request ends, and a task sends what is there about once a
//! second. If a collector is slow or gone, spans are dropped and counted, and answers are not affected.
//! If the client sends `traceparent` (W3C Trace Context), its trace is continued, and its flag not to
//! record is respected.

mod otlp;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime};

use axum::http::header::{HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, Request, StatusCode};
use mayi_fetch::events::{StoreWork, Watched, Watcher, Work};
use tokio::sync::{mpsc, oneshot};

use crate::client::Client;
use crate::config::{ConfigError, Logging};
use crate::keys::to_hex;

/// How many spans wait to be sent; more are dropped.
const QUEUE: usize = 4096;

/// Spans that are sent together.
const BATCH: usize = 512;

/// How long spans wait for others to be sent with.
const PAUSE: Duration = Duration::from_secs(1);

/// How long a collector may take to accept them.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often a failing collector is logged.
const REMINDER: Duration = Duration::from_mins(1);

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// Where spans go. Clones share one queue.
#[derive(Clone)]
pub(crate) struct Traces {
    queue: mpsc::Sender<Sent>,
    dropped: Arc<AtomicU64>,
}

enum Sent {
    Span(Box<Finished>),
    /// Everything queued before this has to be sent now.
    Flush(oneshot::Sender<()>),
}

impl Traces {
    /// Starts the task that sends, if the configuration asks for traces. It ends with the last clone.
    pub(crate) fn start(logging: &Logging) -> Result<Option<Self>, ConfigError> {
        let Some(endpoint) = &logging.traces else { return Ok(None) };
        let client = Client::new(&endpoint_of(endpoint), None)
            .map_err(|error| ConfigError::new(format_args!("log.traces: {error}")))?;
        let client = client.with_headers(headers_of(&logging.trace_headers)?);
        let (queue, spans) = mpsc::channel(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let sender = Sender {
            client,
            service_name: logging.service_name.clone(),
            dropped: Arc::clone(&dropped),
            told: None,
        };
        tokio::spawn(sender.run(spans));
        Ok(Some(Self { queue, dropped }))
    }

    /// How many spans could not be sent.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    /// Sends the queued spans, as far as the collector accepts them.
    pub(crate) async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        let flush = async {
            if self.queue.send(Sent::Flush(done)).await.is_ok() {
                let _ = flushed.await;
            }
        };
        let _ = tokio::time::timeout(PATIENCE, flush).await;
    }

    /// The span of a request, which begins now; none if the client's trace must not be recorded.
    pub(crate) fn span<B>(
        &self,
        id: &HeaderValue,
        peer: IpAddr,
        request: &Request<B>,
    ) -> Option<Arc<Span>> {
        let parent = Parent::of(request.headers());
        if parent.as_ref().is_some_and(|parent| !parent.is_recorded) {
            return None;
        }
        let mut random = [0; 24];
        aws_lc_rs::rand::fill(&mut random).ok()?;
        let (trace, span) = random.split_at(16);
        let trace = parent.as_ref().map_or_else(|| to_hex(trace), |parent| parent.trace.clone());
        let (trace, span) = (trace.into(), to_hex(span).into());
        Some(Arc::new(Span {
            within: Arc::new(Within { traces: self.clone(), trace, span }),
            parent,
            request_id: id.to_str().unwrap_or_default().to_owned(),
            peer,
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            status: AtomicU16::new(0),
            started: Started::now(),
        }))
    }

    fn send(&self, finished: Finished) {
        if self.queue.try_send(Sent::Span(Box::new(finished))).is_err() {
            self.dropped.fetch_add(1, Relaxed);
        }
    }
}

/// The trace that a client says a request belongs to.
struct Parent {
    trace: String,
    span: String,
    state: String,
    is_recorded: bool,
}

impl Parent {
    /// Reads `traceparent`; an invalid one is ignored (Trace Context §3.2.2.5).
    fn of(headers: &HeaderMap) -> Option<Self> {
        let mut all = headers.get_all(TRACEPARENT).iter();
        let text = all.next()?.to_str().ok()?;
        let mut parts = text.split('-');
        let (version, trace, span, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_hex = |text: &str, length: usize| {
            text.len() == length && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_id = |text: &str, length| is_hex(text, length) && text.bytes().any(|it| it != b'0');
        let is_known =
            is_hex(version, 2) && version != "ff" && (version != "00" || parts.next().is_none());
        if !is_known
            || !is_id(trace, 32)
            || !is_id(span, 16)
            || !is_hex(flags, 2)
            || all.next().is_some()
        {
            return None;
        }
        let flags = u8::from_str_radix(flags, 16).ok()?;
        let state = headers.get(TRACESTATE).and_then(|state| state.to_str().ok());
        Some(Self {
            trace: trace.to_owned(),
            span: span.to_owned(),
            // What is too long to be passed on is left out (§3.3.1.5).
            state: state.filter(|state| state.len() <= 512).unwrap_or_default().to_owned(),
            is_recorded: flags & 1 == 1,
        })
    }
}

/// A request that is being answered. It ends when the last clone is dropped: for an answer that is made while it is
/// sent, at the end of the answer.
pub(crate) struct Span {
    within: Arc<Within>,
    parent: Option<Parent>,
    request_id: String,
    peer: IpAddr,
    method: Method,
    path: String,
    status: AtomicU16,
    started: Started,
}

impl Span {
    /// Records the answer.
    pub(crate) fn answered(&self, status: StatusCode) {
        self.status.store(status.as_u16(), Relaxed);
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let (parent, state) = match self.parent.take() {
            Some(parent) => (Some(parent.span.into()), parent.state),
            None => (None, String::new()),
        };
        let request = What::Request {
            id: std::mem::take(&mut self.request_id),
            peer: self.peer,
            method: self.method.clone(),
            path: std::mem::take(&mut self.path),
            status: self.status.load(Relaxed),
        };
        let (start, end) = self.started.until_now();
        let (trace, id) = (Arc::clone(&self.within.trace), Arc::clone(&self.within.span));
        self.within.traces.send(Finished { trace, id, parent, state, start, end, what: request });
    }
}

/// When something began.
struct Started {
    at: SystemTime,
    clock: Instant,
}

impl Started {
    fn now() -> Self {
        Self { at: SystemTime::now(), clock: Instant::now() }
    }

    /// Start and end, the latter by a monotonic clock.
    fn until_now(&self) -> (Duration, Duration) {
        let start = self.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        (start, start + self.clock.elapsed())
    }
}

tokio::task_local! {
    /// The span that the work of this task is for.
    static CURRENT: Arc<Within>;
}

/// Runs a future for a request: the spans of the fetcher are then below the span of the request.
pub(crate) async fn for_span<T>(span: Option<&Arc<Span>>, work: impl Future<Output = T>) -> T {
    match span {
        Some(span) => CURRENT.scope(Arc::clone(&span.within), work).await,
        None => work.await,
    }
}

/// Work for another task that belongs to the span of this one.
pub(crate) fn carried<T>(work: impl Future<Output = T>) -> impl Future<Output = T> {
    let current = CURRENT.try_with(Arc::clone).ok();
    async move {
        match current {
            Some(current) => CURRENT.scope(current, work).await,
            None => work.await,
        }
    }
}

/// The watcher of the work that this task waits for.
pub(crate) fn watcher() -> Option<Arc<dyn Watcher>> {
    CURRENT.try_with(|current| Arc::clone(current) as Arc<dyn Watcher>).ok()
}

/// A span that others can be below. It does not prevent the span from ending: a fetch may continue after the
/// request that started it.
struct Within {
    traces: Traces,
    trace: Arc<str>,
    span: Arc<str>,
}

impl Watcher for Within {
    fn begin(&self, work: Work<'_>) -> Option<Box<dyn Watched>> {
        let mut random = [0; 8];
        aws_lc_rs::rand::fill(&mut random).ok()?;
        let (name, origin) = match work {
            Work::Fetch(origin) => ("fetch", Some(origin.to_string())),
            Work::Store(work) => {
                let name = match work {
                    StoreWork::Reading => "store reading",
                    StoreWork::Writing => "store writing",
                    StoreWork::Claiming => "store claiming",
                    _ => "store",
                };
                (name, None)
            }
            _ => return None,
        };
        Some(Box::new(Part {
            traces: self.traces.clone(),
            trace: Arc::clone(&self.trace),
            parent: Arc::clone(&self.span),
            id: to_hex(&random).into(),
            name,
            origin,
            failure: None,
            started: Started::now(),
        }))
    }
}

/// Work that a request waits for. It ends when it is dropped.
struct Part {
    traces: Traces,
    trace: Arc<str>,
    parent: Arc<str>,
    id: Arc<str>,
    name: &'static str,
    origin: Option<String>,
    failure: Option<String>,
    started: Started,
}

impl Watched for Part {
    fn failed(&mut self, why: &dyn fmt::Display) {
        self.failure = Some(why.to_string());
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let (start, end) = self.started.until_now();
        let (origin, failure) = (self.origin.take(), self.failure.take());
        self.traces.send(Finished {
            trace: Arc::clone(&self.trace),
            id: Arc::clone(&self.id),
            parent: Some(Arc::clone(&self.parent)),
            state: String::new(),
            start,
            end,
            what: What::Part { name: self.name, origin, failure },
        });
    }
}

/// A span that has ended.
struct Finished {
    trace: Arc<str>,
    id: Arc<str>,
    parent: Option<Arc<str>>,
    state: String,
    start: Duration,
    end: Duration,
    what: What,
}

/// What a span is about.
enum What {
    Request { id: String, peer: IpAddr, method: Method, path: String, status: u16 },
    Part { name: &'static str, origin: Option<String>, failure: Option<String> },
}

/// The task that sends.
struct Sender {
    client: Client,
    service_name: String,
    dropped: Arc<AtomicU64>,
    /// When a failure of the collector was last logged.
    told: Option<Instant>,
}

impl Sender {
    async fn run(mut self, mut spans: mpsc::Receiver<Sent>) {
        let mut batch = Vec::with_capacity(BATCH);
        while let Some(first) = spans.recv().await {
            let mut waiting = Vec::new();
            let mut next = Some(first);
            let pause = tokio::time::sleep(PAUSE);
            tokio::pin!(pause);
            loop {
                match next {
                    Some(Sent::Span(span)) => batch.push(*span),
                    Some(Sent::Flush(done)) => waiting.push(done),
                    None => break,
                }
                if batch.len() >= BATCH || !waiting.is_empty() {
                    break;
                }
                next = tokio::select! {
                    sent = spans.recv() => sent,
                    () = &mut pause => None,
                };
            }
            self.send(&mut batch).await;
            for done in waiting {
                // The caller may no longer be waiting.
                let _ = done.send(());
            }
        }
    }

    async fn send(&mut self, batch: &mut Vec<Finished>) {
        if batch.is_empty() {
            return;
        }
        let count = batch.len();
        let body = otlp::export(&self.service_name, batch);
        batch.clear();
        let sent = tokio::time::timeout(PATIENCE, self.client.ask(Method::POST, "", body)).await;
        let why = match sent {
            Ok(Ok((status, _))) if status.is_success() => {
                self.told = None;
                return;
            }
            Ok(Ok((status, _))) => format!("it answers with status {}", status.as_u16()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it takes too long".to_owned(),
        };
        self.dropped.fetch_add(count as u64, Relaxed);
        if self.told.is_none_or(|told| told.elapsed() >= REMINDER) {
            self.told = Some(Instant::now());
            tracing::warn!(why, spans = count, "the trace collector did not accept the spans");
        }
    }
}

/// The URL that takes traces: that of a collector alone has no path yet.
fn endpoint_of(given: &str) -> String {
    match url::Url::parse(given) {
        Ok(mut url) if url.path() == "/" => {
            url.set_path("/v1/traces");
            url.into()
        }
        _ => given.to_owned(),
    }
}

/// Header fields from `name=value`, as in environment variables; the value may be percent-encoded.
fn headers_of(fields: &[String]) -> Result<HeaderMap, ConfigError> {
    let mut headers = HeaderMap::new();
    for field in fields {
        let (name, value) = field.split_once('=').unwrap_or((field, ""));
        let wrong = || {
            let name = name.escape_debug();
            ConfigError::new(format_args!("log.trace_headers: `{name}` is not `name=value`"))
        };
        let name: HeaderName = name.trim().parse().map_err(|_| wrong())?;
        // `+`, `=` and `&` have a meaning in a form, but are plain characters here.
        let value = value.trim().replace('+', "%2B").replace('=', "%3D").replace('&', "%26");
        let value = url::form_urlencoded::parse(value.as_bytes()).next().map(|(value, _)| value);
        let mut value = HeaderValue::try_from(&*value.unwrap_or_default()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parent(text: &str) -> Option<(String, bool)> {
        let mut headers = HeaderMap::new();
        headers.insert(TRACEPARENT, text.parse().expect("a value"));
        Parent::of(&headers).map(|parent| (parent.span, parent.is_recorded))
    }

    #[test]
    fn a_parent_is_read_or_is_none() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let span = "00f067aa0ba902b7";
        assert_eq!(parent(&format!("00-{trace}-{span}-01")), Some((span.to_owned(), true)));
        assert_eq!(parent(&format!("00-{trace}-{span}-00")), Some((span.to_owned(), false)));
        assert_eq!(parent(&format!("01-{trace}-{span}-03-more")), Some((span.to_owned(), true)));
        for wrong in [
            "",
            "00",
            &format!("00-{trace}-{span}"),
            &format!("00-{trace}-{span}-01-more"),
            &format!("ff-{trace}-{span}-01"),
            &format!("00-{}-{span}-01", trace.to_uppercase()),
            &format!("00-{}-{span}-01", "0".repeat(32)),
            &format!("00-{trace}-{}-01", "0".repeat(16)),
            &format!("00-{trace}-{span}-1"),
        ] {
            assert_eq!(parent(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn endpoints_and_header_fields() {
        assert_eq!(endpoint_of("http://127.0.0.1:4318"), "http://127.0.0.1:4318/v1/traces");
        assert_eq!(endpoint_of("https://a/otlp/v1/traces"), "https://a/otlp/v1/traces");
        let headers = headers_of(&["Authorization=Basic%20a+b==".to_owned(), "x=".to_owned()]);
        let headers = headers.expect("they are right");
        assert_eq!(headers["authorization"], "Basic a+b==");
        assert_eq!(headers["x"], "");
        assert!(headers_of(&["a b=c".to_owned()]).is_err());
    }
}

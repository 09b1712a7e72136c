//! A request → the same with its place among those that are answered, or a problem.
//!
//! What is refused is refused early and cheaply: a key, a rate and a place are looked at before a body
//! is read, so that a service under load gets slow and says so before it gets large.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, HeaderName, VARY};
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use axum::response::IntoResponse;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower_service::Service;

use crate::api::App;
use crate::config::Config;
use crate::host::Hosts;
use crate::keys::Keys;
use crate::problem::Problem;
use crate::rate::Rates;
use crate::traces::Span;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What is open to everybody and does not wait: whoever watches the service has no key, and has to
/// be answered most of all when there is too much to do.
const OPEN: [&str; 2] = ["/healthz", "/readyz"];

/// What lets requests in.
pub(crate) struct Gate {
    hosts: Hosts,
    keys: Option<Keys>,
    rates: Option<Rates>,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    most_waiting: usize,
    longest_wait: Duration,
    request_time: Duration,
    log_requests: bool,
    ids: AtomicU64,
    /// What tells the ids of this process from those of another.
    id_start: u64,
}

/// A place among the requests that are answered. An answer that is still being made when its head has
/// been sent holds it for as long, and the span of the request with it.
#[derive(Clone)]
pub(crate) struct Place {
    _permit: Arc<OwnedSemaphorePermit>,
    places: Arc<Semaphore>,
    span: Option<Arc<Span>>,
}

impl Place {
    /// Gives it up for now, and says where there are others.
    pub(crate) fn leave(self) -> (Arc<Semaphore>, Option<Arc<Span>>) {
        (self.places, self.span)
    }
}

impl Gate {
    pub(crate) fn new(config: &Config, keys: Option<Keys>) -> Self {
        let limits = &config.limits;
        let mut id_start = [0; 8];
        // Ids are for finding lines again: that two processes could have the same ones costs little.
        let _ = aws_lc_rs::rand::fill(&mut id_start);
        Self {
            hosts: Hosts::new(config),
            keys,
            rates: Rates::new(limits.rate, limits.burst),
            places: Arc::new(Semaphore::new(limits.in_flight.min(Semaphore::MAX_PERMITS))),
            waiting: AtomicUsize::new(0),
            most_waiting: limits.queue,
            longest_wait: Duration::from_millis(limits.queue_milliseconds),
            request_time: Duration::from_secs(limits.request_seconds),
            log_requests: config.log.requests,
            ids: AtomicU64::new(0),
            id_start: u64::from_le_bytes(id_start),
        }
    }

    /// Answers a request, or refuses it, and notes what came of it.
    pub(crate) async fn answer(
        &self,
        app: &App,
        router: axum::Router,
        peer: IpAddr,
        mut request: Request<Body>,
    ) -> Response<Body> {
        let start = Instant::now();
        let _gauge = app.metrics.in_flight();
        let id = self.id_of(request.headers());
        let line =
            self.log_requests.then(|| (request.method().clone(), request.uri().path().to_owned()));
        let span = app.traces.as_ref().filter(|_| !is_open(&request));
        let span = span.and_then(|traces| traces.span(&id, peer, &request));
        let mut response = match self.admit(peer, &mut request, span.clone()).await {
            Ok(()) => self.within_time(router, request).await,
            Err(problem) => problem.into_response(),
        };
        if let Some(span) = span {
            span.answered(response.status());
        }
        let (status, took) = (response.status(), start.elapsed());
        app.metrics.answered(status, took);
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        if let Some((method, path)) = line {
            let id = id.to_str().unwrap_or_default();
            tracing::info!(id, %peer, %method, path, status = status.as_u16(), microseconds, "answered");
        } else if status == StatusCode::INTERNAL_SERVER_ERROR {
            let id = id.to_str().unwrap_or_default();
            tracing::error!(id, %peer, status = status.as_u16(), microseconds, "failed");
        }
        if self.keys.is_some() {
            // What is kept of an answer is for whoever sends the same key.
            response.headers_mut().insert(VARY, HeaderValue::from_static("authorization, x-api-key"));
        }
        response.headers_mut().insert(REQUEST_ID, id);
        response
    }

    /// The id that the client gave, where it is one that can stand in a log, or a new one.
    fn id_of(&self, headers: &HeaderMap) -> HeaderValue {
        let fits = |id: &&HeaderValue| {
            let octets = id.as_bytes();
            (1..=128).contains(&octets.len()) && octets.iter().all(u8::is_ascii_graphic)
        };
        if let Some(id) = headers.get(REQUEST_ID).filter(fits) {
            return id.clone();
        }
        let number = self.ids.fetch_add(1, Relaxed);
        let id = format!("{:016x}-{number:x}", self.id_start);
        HeaderValue::try_from(id).expect("hex digits are a header value")
    }

    async fn admit(
        &self,
        peer: IpAddr,
        request: &mut Request<Body>,
        span: Option<Arc<Span>>,
    ) -> Result<(), Problem> {
        if is_open(request) {
            return Ok(());
        }
        self.hosts.admit(request)?;
        let client = match &self.keys {
            Some(keys) if !crate::page::is_asset(request.uri().path()) => {
                Some(keys.name_of(key_of(request.headers())).ok_or_else(no_key)?)
            }
            _ => None,
        };
        if let Some(rates) = &self.rates {
            let taken = match client {
                Some(name) => rates.take(&format!("key {name}"), Instant::now()),
                None => rates.take(&network_of(peer), Instant::now()),
            };
            taken.map_err(Problem::too_often)?;
        }
        let permit = Arc::new(self.place().await?);
        let place = Place { _permit: permit, places: Arc::clone(&self.places), span };
        request.extensions_mut().insert(place);
        Ok(())
    }

    /// A place among those that are answered, now or soon.
    async fn place(&self) -> Result<OwnedSemaphorePermit, Problem> {
        if let Ok(permit) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(permit);
        }
        let full = || Problem::overloaded("more is asked than can be answered now");
        let _waiting = Waiting::one_more(&self.waiting, self.most_waiting).ok_or_else(full)?;
        let permit = Arc::clone(&self.places).acquire_owned();
        match tokio::time::timeout(self.longest_wait, permit).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(full()),
        }
    }

    async fn within_time(&self, mut router: axum::Router, request: Request<Body>) -> Response<Body> {
        match tokio::time::timeout(self.request_time, router.call(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(never)) => {
                let never: Infallible = never;
                match never {}
            }
            Err(_) => {
                let detail = "the answer took too long; what was being fetched goes on";
                Problem::new(StatusCode::GATEWAY_TIMEOUT, "timeout", detail).into_response()
            }
        }
    }
}

fn is_open(request: &Request<Body>) -> bool {
    OPEN.contains(&request.uri().path())
}

/// One of those who wait.
struct Waiting<'g>(&'g AtomicUsize);

impl<'g> Waiting<'g> {
    fn one_more(waiting: &'g AtomicUsize, most: usize) -> Option<Self> {
        let more = |count: usize| (count < most).then_some(count + 1);
        waiting.fetch_update(Relaxed, Relaxed, more).ok().map(|_| Self(waiting))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// The key that came with a request; an empty one is nobody's.
fn key_of(headers: &HeaderMap) -> &str {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text(AUTHORIZATION).and_then(|value| {
        let (scheme, key) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
    });
    bearer.or_else(|| text(HeaderName::from_static("x-api-key"))).unwrap_or_default()
}

fn no_key() -> Problem {
    let detail = "this service asks for a key: send `Authorization: Bearer …`";
    Problem::new(StatusCode::UNAUTHORIZED, "missing-key", detail)
}

/// Whom an address stands for. Of IPv6, a network of 64 bits is one customer's.
fn network_of(peer: IpAddr) -> String {
    match peer.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("{:x}", address.to_bits() >> 64),
    }
}

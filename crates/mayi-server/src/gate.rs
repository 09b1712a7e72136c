//! A request → the same with its place among the requests in progress, or a problem.
//!
//! Requests are rejected early and cheaply: key, rate and place are checked before the body is read, so
//! that an overloaded service gets slow and says so before it uses too much memory.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, HeaderName, VARY};
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Version};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answers;
use crate::api::App;
use crate::config::Config;
use crate::connections::network_of;
use crate::host::Hosts;
use crate::keys::Keys;
use crate::problem::Problem;
use crate::pulse::{Open, Pulse};
use crate::rate::Rates;
use crate::routes;
use crate::traces::{self, Span};
use crate::work::By;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Paths that need no key and do not wait: monitoring has no key, and needs answers most of all when the
/// service is overloaded.
const OPEN: [&str; 2] = ["/healthz", "/readyz"];

/// Accepts or rejects requests.
pub(crate) struct Gate {
    hosts: Hosts,
    keys: Option<RwLock<Arc<Keys>>>,
    rates: Option<Rates>,
    places: Arc<Semaphore>,
    /// How many places each client has, and how many one may have, so that some are left for others.
    clients: Clients,
    most_of_one: usize,
    waiting: AtomicUsize,
    most_waiting: usize,
    longest_wait: Duration,
    request_time: Duration,
    log_requests: bool,
    ids: AtomicU64,
    /// Distinguishes the ids of this process from those of another.
    id_start: u64,
    /// Hashes a client's name to a number that nobody can choose.
    numbers: RandomState,
}

/// A connection, as its requests know it.
pub(crate) struct Visit {
    peer: IpAddr,
    connection: u64,
    pulse: Arc<Pulse>,
    /// The client of its address, and how many places that client has.
    client: u64,
    places_of_client: Arc<AtomicUsize>,
}

/// A place among the requests in progress. An answer that is made while it is sent keeps it until the end,
/// together with the span of the request.
#[derive(Clone)]
pub(crate) struct Place(Arc<Held>);

struct Held {
    _taken: Taken,
    places: Arc<Semaphore>,
    span: Option<Arc<Span>>,
    by: By,
    open: Arc<Open>,
}

/// A place, and that its client has it.
struct Taken {
    _permit: OwnedSemaphorePermit,
    of_client: Arc<AtomicUsize>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.of_client.fetch_sub(1, Relaxed);
    }
}

impl Place {
    /// Releases it for now, and says where to get others.
    pub(crate) fn leave(self) -> (Arc<Semaphore>, Option<Arc<Span>>) {
        (Arc::clone(&self.0.places), self.0.span.clone())
    }

    /// Who has it.
    pub(crate) fn by(&self) -> By {
        self.0.by
    }

    /// That the request is open on its connection.
    pub(crate) fn open(&self) -> &Arc<Open> {
        &self.0.open
    }
}

/// How many places each client has, for clients with an open connection or request.
#[derive(Default)]
struct Clients(Mutex<HashMap<u64, Weak<AtomicUsize>>>);

impl Clients {
    fn places_of(&self, client: u64) -> Arc<AtomicUsize> {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = clients.get(&client).and_then(Weak::upgrade) {
            return places;
        }
        if clients.len() == clients.capacity() {
            clients.retain(|_, places| places.strong_count() > 0);
        }
        let places = Arc::default();
        clients.insert(client, Arc::downgrade(&places));
        places
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
            keys: keys.map(|keys| RwLock::new(Arc::new(keys))),
            rates: Rates::new(limits.rate, limits.burst),
            places: Arc::new(Semaphore::new(limits.in_flight.min(Semaphore::MAX_PERMITS))),
            clients: Clients::default(),
            most_of_one: limits.in_flight.div_ceil(2),
            waiting: AtomicUsize::new(0),
            most_waiting: limits.queue,
            longest_wait: Duration::from_millis(limits.queue_milliseconds),
            request_time: Duration::from_secs(limits.request_seconds),
            log_requests: config.log.requests,
            ids: AtomicU64::new(0),
            id_start: u64::from_le_bytes(id_start),
            numbers: RandomState::new(),
        }
    }

    /// Uses other keys from now on.
    pub(crate) fn replace_keys(&self, keys: Keys) {
        if let Some(held) = &self.keys {
            *held.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
        }
    }

    /// What the requests of a connection have in common.
    pub(crate) fn visit(&self, peer: IpAddr, connection: u64, pulse: Arc<Pulse>) -> Visit {
        let client = self.numbers.hash_one(network_of(peer));
        Visit { peer, connection, pulse, client, places_of_client: self.clients.places_of(client) }
    }

    /// Answers a request or rejects it, and records the result.
    pub(crate) async fn answer(
        &self,
        app: &Arc<App>,
        router: &axum::Router,
        visit: &Visit,
        request: Request<Incoming>,
    ) -> Response<Body> {
        let start = Instant::now();
        let peer = visit.peer;
        let is_two = request.version() == Version::HTTP_2;
        let (_answering, open) = visit.pulse.asked(is_two);
        let open = Arc::new(open);
        let _gauge = app.metrics.in_flight();
        let id = self.id_of(request.headers());
        let line =
            self.log_requests.then(|| (request.method().clone(), request.uri().path().to_owned()));
        let span = app.traces.as_ref().filter(|_| !is_open(&request));
        let span = span.and_then(|traces| traces.span(&id, peer, &request));
        let mut client = visit.client;
        let response = match self.admit(visit, &request, &mut client, &open, span.clone()).await {
            Ok(place) => {
                let answering = self.within_time(app, router, request, place);
                traces::for_span(span.as_ref(), answering).await
            }
            Err(problem) => problem.into_response(),
        };
        let mut response = answers::counted(response, &app.bodies, client, open, !is_two);
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
            // A cached answer is only for requests with the same key.
            response.headers_mut().insert(VARY, HeaderValue::from_static("authorization, x-api-key"));
        }
        response.headers_mut().insert(REQUEST_ID, id);
        response
    }

    /// The id that the client gave, if it is safe for a log, or a new one.
    fn id_of(&self, headers: &HeaderMap) -> HeaderValue {
        let fits = |id: &&HeaderValue| {
            let octets = id.as_bytes();
            (1..=128).contains(&octets.len()) && octets.iter().all(u8::is_ascii_graphic)
        };
        if let Some(id) = headers.get(REQUEST_ID).filter(fits) {
            return id.clone();
        }
        let mut id = [0; 33];
        id[..16].copy_from_slice(&hex(self.id_start));
        id[16] = b'-';
        let number = hex(self.ids.fetch_add(1, Relaxed));
        let number = &number[number.iter().take(15).take_while(|digit| **digit == b'0').count()..];
        let end = 17 + number.len();
        id[17..end].copy_from_slice(number);
        HeaderValue::from_bytes(&id[..end]).expect("hex digits are a header value")
    }

    async fn admit(
        &self,
        visit: &Visit,
        request: &Request<Incoming>,
        client: &mut u64,
        open: &Arc<Open>,
        span: Option<Arc<Span>>,
    ) -> Result<Option<Place>, Problem> {
        if is_open(request) {
            return Ok(None);
        }
        self.hosts.admit(request)?;
        let keys = self.keys.as_ref().filter(|_| !crate::page::is_asset(request.uri().path()));
        let keys = keys.map(|keys| Arc::clone(&keys.read().unwrap_or_else(PoisonError::into_inner)));
        if let Some(keys) = keys {
            let name = keys.name_of(key_of(request.headers())).ok_or_else(no_key)?;
            *client = self.numbers.hash_one(name);
        }
        let of_client = if *client == visit.client {
            Arc::clone(&visit.places_of_client)
        } else {
            self.clients.places_of(*client)
        };
        if let Some(rates) = &self.rates {
            rates.take(*client, Instant::now()).map_err(Problem::too_often)?;
        }
        let taken = self.place(of_client).await?;
        let by = By { client: *client, connection: visit.connection };
        let (places, open) = (Arc::clone(&self.places), Arc::clone(open));
        Ok(Some(Place(Arc::new(Held { _taken: taken, places, span, by, open }))))
    }

    /// A place among the requests in progress, now or after a short wait.
    async fn place(&self, of_client: Arc<AtomicUsize>) -> Result<Taken, Problem> {
        let permit = self.permit().await?;
        let one_more = |places: usize| (places < self.most_of_one).then_some(places + 1);
        if of_client.fetch_update(Relaxed, Relaxed, one_more).is_err() {
            return Err(Problem::overloaded("this client already uses half of the available capacity"));
        }
        Ok(Taken { _permit: permit, of_client })
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        if let Ok(permit) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(permit);
        }
        let full = || Problem::overloaded("too many requests at the moment");
        let _waiting = Waiting::one_more(&self.waiting, self.most_waiting).ok_or_else(full)?;
        let permit = Arc::clone(&self.places).acquire_owned();
        match Box::pin(tokio::time::timeout(self.longest_wait, permit)).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(full()),
        }
    }

    async fn within_time(
        &self,
        app: &Arc<App>,
        router: &axum::Router,
        request: Request<Incoming>,
        place: Option<Place>,
    ) -> Response<Body> {
        let mut answering = pin!(routes::answer(app, router, request, place));
        // Most answers are ready at once and need no timer.
        let at_once = std::future::poll_fn(|context| Poll::Ready(answering.as_mut().poll(context)));
        if let Poll::Ready(response) = at_once.await {
            return response;
        }
        Box::pin(tokio::time::timeout(self.request_time, answering)).await.unwrap_or_else(|_| {
            let detail = "the answer took too long; fetches continue in the background";
            Problem::new(StatusCode::GATEWAY_TIMEOUT, "timeout", detail).into_response()
        })
    }
}

fn is_open<B>(request: &Request<B>) -> bool {
    OPEN.contains(&request.uri().path())
}

/// A number as sixteen hex digits.
fn hex(number: u64) -> [u8; 16] {
    let mut digits = [0; 16];
    for (place, digit) in digits.iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(number >> (60 - 4 * place)) as usize & 15];
    }
    digits
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

/// The key of a request; an empty one is no key.
fn key_of(headers: &HeaderMap) -> &str {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text(AUTHORIZATION).and_then(|value| {
        let (scheme, key) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
    });
    bearer.or_else(|| text(HeaderName::from_static("x-api-key"))).unwrap_or_default()
}

fn no_key() -> Problem {
    let detail = "this service requires a key: send `Authorization: Bearer …`";
    Problem::new(StatusCode::UNAUTHORIZED, "missing-key", detail)
}

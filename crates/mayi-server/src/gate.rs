//! A request → the same with its place among those that are answered, or a problem.
//!
//! What is refused is refused early and cheaply: a key, a rate and a place are looked at before a body
//! is read, so that a service under load gets slow and says so before it gets large.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, HeaderName, VARY};
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Version};
use axum::response::IntoResponse;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answers;
use crate::api::App;
use crate::config::Config;
use crate::host::Hosts;
use crate::keys::Keys;
use crate::problem::Problem;
use crate::pulse::{Open, Pulse};
use crate::rate::Rates;
use crate::routes;
use crate::traces::Span;
use crate::work::By;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What is open to everybody and does not wait: whoever watches the service has no key, and has to
/// be answered most of all when there is too much to do.
const OPEN: [&str; 2] = ["/healthz", "/readyz"];

/// What lets requests in.
pub(crate) struct Gate {
    hosts: Hosts,
    keys: Option<RwLock<Arc<Keys>>>,
    rates: Option<Rates>,
    places: Arc<Semaphore>,
    /// How many places each client has, and how many one may have: it leaves some to others.
    clients: Arc<Mutex<HashMap<u64, usize>>>,
    most_of_one: usize,
    waiting: AtomicUsize,
    most_waiting: usize,
    longest_wait: Duration,
    request_time: Duration,
    log_requests: bool,
    ids: AtomicU64,
    /// What tells the ids of this process from those of another.
    id_start: u64,
    /// What makes a number of a client's name that nobody can choose.
    numbers: RandomState,
}

/// A connection, as its requests know it.
pub(crate) struct Visit {
    pub(crate) peer: IpAddr,
    pub(crate) connection: u64,
    pub(crate) pulse: Arc<Pulse>,
}

/// A place among the requests that are answered. An answer that is still being made when its head has
/// been sent holds it for as long, and the span of the request with it.
#[derive(Clone)]
pub(crate) struct Place {
    _taken: Arc<Taken>,
    places: Arc<Semaphore>,
    span: Option<Arc<Span>>,
    by: By,
    open: Arc<Open>,
}

/// A place, and that its client has it.
struct Taken {
    _permit: OwnedSemaphorePermit,
    client: u64,
    clients: Arc<Mutex<HashMap<u64, usize>>>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut places) = clients.entry(self.client) {
            *places.get_mut() -= 1;
            if *places.get() == 0 {
                places.remove();
            }
        }
    }
}

impl Place {
    /// Gives it up for now, and says where there are others.
    pub(crate) fn leave(self) -> (Arc<Semaphore>, Option<Arc<Span>>) {
        (self.places, self.span)
    }

    /// Who has it.
    pub(crate) fn by(&self) -> By {
        self.by
    }

    /// That the request is open on its connection.
    pub(crate) fn open(&self) -> &Arc<Open> {
        &self.open
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
            clients: Arc::default(),
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

    /// Other keys hold from now on.
    pub(crate) fn replace_keys(&self, keys: Keys) {
        if let Some(held) = &self.keys {
            *held.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
        }
    }

    /// Answers a request, or refuses it, and notes what came of it.
    pub(crate) async fn answer(
        &self,
        app: &Arc<App>,
        router: &axum::Router,
        visit: &Visit,
        mut request: Request<Body>,
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
        let mut client = 0;
        let response = match self.admit(visit, &mut request, &mut client, &open, span.clone()).await {
            Ok(()) => self.within_time(app, router, request).await,
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
        visit: &Visit,
        request: &mut Request<Body>,
        client: &mut u64,
        open: &Arc<Open>,
        span: Option<Arc<Span>>,
    ) -> Result<(), Problem> {
        let network = network_of(visit.peer);
        *client = self.numbers.hash_one(network);
        if is_open(request) {
            return Ok(());
        }
        self.hosts.admit(request)?;
        let keys = self.keys.as_ref().filter(|_| !crate::page::is_asset(request.uri().path()));
        let keys = keys.map(|keys| Arc::clone(&keys.read().unwrap_or_else(PoisonError::into_inner)));
        if let Some(keys) = keys {
            let name = keys.name_of(key_of(request.headers())).ok_or_else(no_key)?;
            *client = self.numbers.hash_one(name);
        }
        if let Some(rates) = &self.rates {
            rates.take(*client, Instant::now()).map_err(Problem::too_often)?;
        }
        let taken = Arc::new(self.place(*client).await?);
        let by = By { client: *client, connection: visit.connection };
        let (places, open) = (Arc::clone(&self.places), Arc::clone(open));
        request.extensions_mut().insert(Place { _taken: taken, places, span, by, open });
        Ok(())
    }

    /// A place among those that are answered, now or soon.
    async fn place(&self, client: u64) -> Result<Taken, Problem> {
        let permit = self.permit().await?;
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let places = clients.entry(client).or_default();
        if *places >= self.most_of_one {
            return Err(Problem::overloaded("this client has half of all places already"));
        }
        *places += 1;
        drop(clients);
        Ok(Taken { _permit: permit, client, clients: Arc::clone(&self.clients) })
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, Problem> {
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

    async fn within_time(
        &self,
        app: &Arc<App>,
        router: &axum::Router,
        request: Request<Body>,
    ) -> Response<Body> {
        let answering = routes::answer(app, router, request);
        tokio::time::timeout(self.request_time, answering).await.unwrap_or_else(|_| {
            let detail = "the answer took too long; what was being fetched goes on";
            Problem::new(StatusCode::GATEWAY_TIMEOUT, "timeout", detail).into_response()
        })
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
fn network_of(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

//! A question without its file → the file, from the cache or from its server → the decision.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use mayi::Target;
use mayi::access::{AccessResult, InForce, Origin, Unavailable, Unreachable};
use mayi::report::{Answer, Answering, Request, RequestError};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tokio::sync::watch;

use crate::Stats;
use crate::attempt::Means;
use crate::builder::{Builder, InvalidUserAgent};
use crate::clock::Clock;
use crate::events::{StoreHealth, StoreWork, watched};
use crate::flight::{Flight, Landed, Over, Wanted};
use crate::kept::{Kept, LastAttempt, Said};
use crate::lifecycle::{Need, Policy};
use crate::manners::{Client, Party};
use crate::robots::{How, Ready, Robots};
use crate::stats::Counters;
use crate::store::{Store, StoreError};

/// Fetches files, caches them, and answers from them. Clones share everything, and are cheap.
///
/// ```no_run
/// use mayi::report::Request;
/// use mayi_fetch::Fetcher;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let fetcher = Fetcher::builder("ExampleBot/1.0 (+https://example.com/bot)")?.build();
/// let request = Request::new("https://example.com/private/x", "ExampleBot");
/// let answer = fetcher.decide(&request).await?;
/// println!("{}", answer.report().access.allowed);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Fetcher {
    pub(crate) inner: Arc<Inner>,
    pub(crate) client: Client,
}

pub(crate) struct Inner {
    pub(crate) policy: Policy,
    pub(crate) answering: Answering,
    pub(crate) means: Means,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ready: Cache<Origin, Arc<Ready>, ReadyWeight>,
    pub(crate) offline: bool,
    pub(crate) counters: Counters,
    pub(crate) flights: Mutex<HashMap<Origin, Arc<Flight>>>,
    /// When this machine had no route to an origin. That is not cached as the result of a request.
    pub(crate) routeless: Cache<Origin, SystemTime>,
    /// When a page of an origin was last requested.
    pub(crate) paged: Cache<Origin, SystemTime>,
    /// Identifies clients by a number that nobody outside can predict.
    pub(crate) clients: RandomState,
}

/// How much memory a file that is ready takes.
#[derive(Clone, Debug)]
pub(crate) struct ReadyWeight;

impl Weighter<Origin, Arc<Ready>> for ReadyWeight {
    fn weight(&self, _: &Origin, ready: &Arc<Ready>) -> u64 {
        ready.octets() as u64
    }
}

impl Fetcher {
    /// A fetcher that sends this User-Agent string. It should name the crawler and have a URL or address to
    /// contact its owner: `ExampleBot/1.0 (+https://example.com/bot)`.
    ///
    /// # Errors
    /// When it can't be sent, or names no product.
    pub fn builder(user_agent: &str) -> Result<Builder, InvalidUserAgent> {
        Builder::new(user_agent)
    }

    /// The same fetcher on behalf of a client of a service. Clients with many fetches take turns fairly, and
    /// the number of fetches that wait for all of them is limited ([`Builder::waiting`]). Without a client, which
    /// is the default, a fetch waits for its turn without that limit.
    ///
    /// The caller decides what identifies a client: a key, an address, a network.
    #[must_use]
    pub fn on_behalf_of(&self, client: impl Hash) -> Self {
        let client = Client::Named(self.inner.clients.hash_one(client));
        Self { inner: Arc::clone(&self.inner), client }
    }

    pub(crate) fn from_inner(inner: Inner) -> Self {
        Self { inner: Arc::new(inner), client: Client::Ourselves }
    }

    /// The decision about a request. If the request includes its file, nothing is fetched.
    ///
    /// # Errors
    /// When the request is wrong. What goes wrong with a fetch is part of the answer.
    pub async fn decide<'a>(&self, request: &'a Request<'_>) -> Result<Answer<'a>, RequestError> {
        if request.robots.is_some() {
            return self.inner.answering.answer(request);
        }
        let robots = self.robots(&self.origin_of(request)?).await;
        self.decide_from(request, &robots)
    }

    /// The origin whose file a request is about. An invalid request is refused here, before anything is
    /// fetched.
    ///
    /// # Errors
    /// When the request is wrong.
    pub fn origin_of(&self, request: &Request<'_>) -> Result<Origin, RequestError> {
        let checked = || {
            let origin = Origin::of_url(&request.url)?;
            self.inner.answering.dialect_of(request)?;
            request.crawler()?;
            Target::parse(&request.url)?;
            Ok(origin)
        };
        checked().map_err(|error: RequestError| error.about(&request.url, &request.agent))
    }

    /// The decision about a request from a file that was already fetched: the work of
    /// [`decide`](Self::decide) without the wait.
    ///
    /// # Errors
    /// When the request is wrong.
    pub fn decide_from<'a>(
        &self,
        request: &'a Request<'_>,
        robots: &Robots,
    ) -> Result<Answer<'a>, RequestError> {
        let dialect = self.inner.answering.dialect_of(request)?;
        robots.answer(&self.inner.answering, dialect, request)
    }

    /// The file of an origin, cached or fetched, or why there is none.
    pub async fn robots(&self, origin: &Origin) -> Robots {
        if let Some(robots) = self.ready(origin) {
            return robots;
        }
        let landed = self.flight(origin, Wanted::Answer).await;
        if landed.how == How::Kept && self.inner.need(&landed.ready.kept) == Need::Refresh {
            self.start_anyway(origin);
        }
        self.inner.counters.answered(landed.how);
        self.robots_of(landed)
    }

    /// The same, requested from its server now, whatever is cached. If that fails, the last good copy stays
    /// in force, as always; offline, no request is sent.
    pub async fn refresh(&self, origin: &Origin) -> Robots {
        let mut landed = self.flight(origin, Wanted::News).await;
        if landed.how == How::Kept {
            // The flight that was joined may have answered from the cache.
            landed = self.flight(origin, Wanted::News).await;
        }
        self.inner.counters.answered(landed.how);
        self.robots_of(landed)
    }

    /// The same for a person who wants the current file, but with a limit: the cache answers if the server
    /// was asked less than `least` ago, or named a later time (`Retry-After`, 429 and 503).
    pub async fn ask_again(&self, origin: &Origin, least: Duration) -> Robots {
        let now = self.inner.clock.now();
        let is_too_soon = |last: &LastAttempt| {
            let said = last.hops.last().map(|hop| &hop.said);
            let is_busy = matches!(said, Some(Said::Status(429 | 503)));
            now < last.at + least && last.at <= now || is_busy && now < last.not_before
        };
        match self.inner.newest(origin, &mut false).await {
            Some(ready) if is_too_soon(&ready.kept.last) => self.robots(origin).await,
            _ => self.refresh(origin).await,
        }
    }

    /// The file of an origin, if it is in memory and can be used without waiting.
    pub fn ready(&self, origin: &Origin) -> Option<Robots> {
        let inner = &self.inner;
        let ready = inner.ready.get(origin)?;
        match inner.need(&ready.kept) {
            Need::Attempt => return None,
            Need::Refresh if tokio::runtime::Handle::try_current().is_ok() => {
                self.start_anyway(origin);
            }
            // Outside of a runtime nothing can be started: the next question within one does it.
            Need::Refresh | Need::Nothing => {}
        }
        inner.counters.answered(How::Kept);
        Some(self.robots_of(Landed::kept(ready)))
    }

    /// Forgets an origin, here and in the store, and says whether there was something to forget.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn forget(&self, origin: &Origin) -> Result<bool, StoreError> {
        let was_ready = self.inner.ready.remove(origin).is_some();
        Ok(self.inner.store.remove(origin).await? || was_ready)
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// The health of the store, by its last operations.
    pub fn store_health(&self) -> StoreHealth {
        self.inner.counters.store_health()
    }

    /// Tests the store, and returns its health. This takes as long as the store, but at most three seconds.
    /// It is for the start, and for readiness before the first question.
    pub async fn check_store(&self) -> StoreHealth {
        self.inner.noted(StoreWork::Reading, self.inner.store.check()).await;
        self.store_health()
    }

    /// How requests are answered.
    pub fn answering(&self) -> &Answering {
        &self.inner.answering
    }

    /// What has been done so far.
    pub fn stats(&self) -> Stats {
        let flights = self.inner.flights.lock().unwrap_or_else(PoisonError::into_inner).len();
        let stats =
            self.inner.counters.stats(flights, self.inner.ready.len(), self.inner.ready.weight());
        Stats { waiting: self.inner.means.manners.waiting(), ..stats }
    }

    fn robots_of(&self, landed: Landed) -> Robots {
        let now = self.inner.clock.now();
        let in_force = landed.ready.kept.in_force(&self.inner.policy.keeping, now);
        let Inner { offline, answering, .. } = &*self.inner;
        Robots::new(landed.ready, landed.how, in_force, now, *offline, landed.lack, answering)
    }

    /// Waits for the one flight of an origin, and starts it if there is none.
    async fn flight(&self, origin: &Origin, wanted: Wanted) -> Landed {
        let mut landing = self.start(origin, wanted, false);
        let landed = landing.wait_for(Option::is_some).await.ok().and_then(|landed| landed.clone());
        // A flight without a result is an internal fault, and must not allow anything.
        landed.unwrap_or_else(|| {
            let now = self.inner.clock.now();
            self.inner.without_answer(origin, "internal: the fetch has failed; please report it", now)
        })
    }

    /// Refreshes a file that is in use, whether or not somebody waits for it.
    fn start_anyway(&self, origin: &Origin) {
        drop(self.start(origin, Wanted::Answer, true));
    }

    /// The flight of an origin. Once its server is asked it continues, even if nobody waits for it any more;
    /// before that it is cancelled with the last waiter, unless it is wanted anyway.
    fn start(
        &self,
        origin: &Origin,
        wanted: Wanted,
        is_wanted_anyway: bool,
    ) -> watch::Receiver<Option<Landed>> {
        let mut flights = self.inner.flights.lock().unwrap_or_else(PoisonError::into_inner);
        match flights.entry(origin.clone()) {
            Entry::Occupied(flight) => {
                let flight = flight.get();
                flight.is_wanted_anyway.fetch_or(is_wanted_anyway, Ordering::Relaxed);
                let landing = flight.landed.subscribe();
                self.inner.means.manners.join(&flight.party, self.client);
                landing
            }
            Entry::Vacant(place) => {
                let (landed, landing) = watch::channel(None);
                let is_wanted_anyway = AtomicBool::new(is_wanted_anyway);
                let flight =
                    Arc::new(Flight { landed, party: Party::of(self.client), is_wanted_anyway });
                place.insert(Arc::clone(&flight));
                let (inner, origin) = (Arc::clone(&self.inner), origin.clone());
                let watcher = inner.counters.watcher();
                tokio::spawn(watched(watcher, async move {
                    let over = Over { inner: &inner, origin: &origin, flight: &flight };
                    let landed = inner.fly(&origin, wanted, &flight).await;
                    // Requests that come after the end of the flight find what is ready.
                    drop(over);
                    if let Some(landed) = landed {
                        flight.landed.send_replace(Some(landed));
                    }
                }));
                landing
            }
        }
    }
}

/// What applies without a file, as the core decides it.
pub(crate) fn result_in_force(in_force: InForce, kept: &Kept) -> AccessResult {
    match (in_force, &kept.last.result) {
        (InForce::Copy, _) if kept.copy.is_some() => AccessResult::Successful,
        (InForce::Copy | InForce::DisallowAll, AccessResult::Successful) => {
            AccessResult::Unreachable(Unreachable::Network("the copy was lost".into()))
        }
        (InForce::Copy | InForce::DisallowAll, last)
        | (InForce::AllowAll, last @ AccessResult::Unavailable(_)) => last.clone(),
        (InForce::AllowAll, _) => AccessResult::Unavailable(Unavailable::UnreachableForLong),
    }
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("store", &self.inner.store.describe()).finish_non_exhaustive()
    }
}

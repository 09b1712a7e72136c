//! A question without its file → the file, from what is kept or from its server → the decision.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use mayi::access::{AccessResult, InForce, Origin, Unavailable, Unreachable};
use mayi::report::{Answer, Answering, Request, RequestError};
use mayi::{RobotsTxt, Target};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tokio::sync::watch;

use crate::Stats;
use crate::attempt::Means;
use crate::builder::{Builder, InvalidUserAgent};
use crate::clock::{Clock, within};
use crate::events::{StoreHealth, StoreWork};
use crate::kept::{Kept, LastAttempt};
use crate::lifecycle::{CLOCK_SKEW, Need, Policy};
use crate::manners::Turn;
use crate::robots::{How, Ready, Robots};
use crate::stats::Counters;
use crate::store::{Claim, ClaimToken, Store, StoreError, StoreErrorKind, Storing};
use crate::transport::Cause;

/// How often a store is asked whether another process is done with an origin.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// How long a store may take to answer before the fetcher goes on without it.
const STORE_PATIENCE: Duration = Duration::from_secs(3);

/// No claim is longer than this, whatever an attempt may take.
const LONGEST_CLAIM: Duration = Duration::from_hours(24);

/// Gets files, keeps them, and answers from them. Clones share everything, and are cheap.
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
pub struct Fetcher(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) policy: Policy,
    pub(crate) answering: Answering,
    pub(crate) means: Means,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ready: Cache<Origin, Arc<Ready>, Octets>,
    pub(crate) offline: bool,
    pub(crate) counters: Counters,
    pub(crate) flights: Mutex<HashMap<Origin, watch::Receiver<Option<Landed>>>>,
}

/// How much memory a file that is ready takes.
#[derive(Clone, Debug)]
pub(crate) struct Octets;

impl Weighter<Origin, Arc<Ready>> for Octets {
    fn weight(&self, _: &Origin, ready: &Arc<Ready>) -> u64 {
        ready.octets() as u64
    }
}

/// What a flight is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// An answer, from what is kept where that is good enough.
    Answer,
    /// What the server says now.
    News,
}

/// Where a flight has come down: what is kept, and how it came.
#[derive(Clone)]
pub(crate) struct Landed {
    ready: Arc<Ready>,
    how: How,
}

impl Fetcher {
    /// A fetcher that tells servers who it is by this User-Agent string. It should name the crawler
    /// and have an address where its owner can be told of trouble:
    /// `ExampleBot/1.0 (+https://example.com/bot)`.
    ///
    /// # Errors
    /// When it can't be sent, or names nobody.
    pub fn builder(user_agent: &str) -> Result<Builder, InvalidUserAgent> {
        Builder::new(user_agent)
    }

    pub(crate) fn from_inner(inner: Inner) -> Self {
        Self(Arc::new(inner))
    }

    /// The decision about a request. Where it carries its file, nothing is fetched.
    ///
    /// # Errors
    /// When the request is wrong. What goes wrong with a fetch is part of the answer.
    pub async fn decide<'a>(&self, request: &'a Request<'_>) -> Result<Answer<'a>, RequestError> {
        if request.robots.is_some() {
            return self.0.answering.answer(request);
        }
        let origin = Origin::of_url(&request.url).map_err(RequestError::from)?;
        // What is wrong with a request is said before anybody is asked for anything.
        let dialect = self.0.answering.dialect_of(request)?;
        request.crawler()?;
        Target::parse(&request.url).map_err(RequestError::from)?;
        let robots = self.robots(&origin).await;
        robots.answer(&self.0.answering, dialect, request)
    }

    /// The file of an origin: kept or fetched, or why there is none.
    pub async fn robots(&self, origin: &Origin) -> Robots {
        if let Some(robots) = self.ready(origin) {
            return robots;
        }
        let landed = self.flight(origin, Wanted::Answer).await;
        if landed.how == How::Kept && self.0.need(&landed.ready.kept) == Need::Refresh {
            drop(self.start(origin, Wanted::Answer));
        }
        self.0.counters.answered(landed.how);
        self.robots_of(landed)
    }

    /// The same, asked of its server now, whatever is kept. Where that fails the last good copy stays in
    /// force, as ever; offline nobody is asked.
    pub async fn ask_anew(&self, origin: &Origin) -> Robots {
        let mut landed = self.flight(origin, Wanted::News).await;
        if landed.how == How::Kept {
            // Somebody was on the way already who was content with what is kept.
            landed = self.flight(origin, Wanted::News).await;
        }
        self.0.counters.answered(landed.how);
        self.robots_of(landed)
    }

    /// The file of an origin where it is in memory and needs nobody to be waited for.
    pub fn ready(&self, origin: &Origin) -> Option<Robots> {
        let inner = &self.0;
        let ready = inner.ready.get(origin)?;
        match inner.need(&ready.kept) {
            Need::Attempt => return None,
            Need::Refresh if tokio::runtime::Handle::try_current().is_ok() => {
                drop(self.start(origin, Wanted::Answer));
            }
            // Outside of a runtime nothing can be started: the next question within one does it.
            Need::Refresh | Need::Nothing => {}
        }
        inner.counters.answered(How::Kept);
        Some(self.robots_of(Landed { ready, how: How::Kept }))
    }

    /// Forgets an origin, here and in the store, and says whether there was something to forget.
    ///
    /// # Errors
    /// When the store can't forget.
    pub async fn forget(&self, origin: &Origin) -> Result<bool, StoreError> {
        let was_ready = self.0.ready.remove(origin).is_some();
        Ok(self.0.store.remove(origin).await? || was_ready)
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

    /// How the store is, by what came of the last work that was asked of it.
    pub fn store_health(&self) -> StoreHealth {
        self.0.counters.store_health()
    }

    /// Asks the store whether it answers, and says how it is then. It is as quick as the store, and takes no
    /// longer than three seconds: for a start, and for readiness that nobody has questions before.
    pub async fn check_store(&self) -> StoreHealth {
        self.0.noted(StoreWork::Reading, self.0.store.check()).await;
        self.store_health()
    }

    /// How requests are answered.
    pub fn answering(&self) -> &Answering {
        &self.0.answering
    }

    /// What has been done so far.
    pub fn stats(&self) -> Stats {
        let flights = self.0.flights.lock().unwrap_or_else(PoisonError::into_inner).len();
        self.0.counters.stats(flights, self.0.ready.len(), self.0.ready.weight())
    }

    fn robots_of(&self, landed: Landed) -> Robots {
        let now = self.0.clock.now();
        let in_force = landed.ready.kept.in_force(&self.0.policy.keeping, now);
        Robots::new(landed.ready, landed.how, in_force, now, self.0.offline)
    }

    /// Waits for the one flight of an origin, and starts it where nobody has.
    async fn flight(&self, origin: &Origin, wanted: Wanted) -> Landed {
        let mut flight = self.start(origin, wanted);
        let landed = flight.wait_for(Option::is_some).await.ok().and_then(|landed| landed.clone());
        // A flight that came down nowhere is a fault of ours, and nobody is let in because of it.
        landed.unwrap_or_else(|| {
            let now = self.0.clock.now();
            self.0.without_answer(origin, "internal: the fetch has failed; please report it", now)
        })
    }

    /// The flight of an origin, which goes on whoever stops waiting for it.
    fn start(&self, origin: &Origin, wanted: Wanted) -> watch::Receiver<Option<Landed>> {
        let mut flights = self.0.flights.lock().unwrap_or_else(PoisonError::into_inner);
        match flights.entry(origin.clone()) {
            Entry::Occupied(flight) => flight.get().clone(),
            Entry::Vacant(place) => {
                let (sender, receiver) = watch::channel(None);
                place.insert(receiver.clone());
                let (fetcher, origin) = (self.clone(), origin.clone());
                tokio::spawn(async move {
                    let over = Over { fetcher: &fetcher, origin: &origin };
                    let landed = fetcher.0.fly(&origin, wanted).await;
                    // What is ready is found by whoever comes once the flight is over.
                    drop(over);
                    drop(sender.send(Some(landed)));
                });
                receiver
            }
        }
    }
}

/// Takes a flight off the list, also where it ends in a panic.
struct Over<'f> {
    fetcher: &'f Fetcher,
    origin: &'f Origin,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        let flights = &self.fetcher.0.flights;
        flights.lock().unwrap_or_else(PoisonError::into_inner).remove(self.origin);
    }
}

impl Inner {
    fn need(&self, kept: &Kept) -> Need {
        if self.offline {
            return Need::Nothing;
        }
        self.policy.need(kept, self.clock.now())
    }

    /// Whether what is ready is what a flight is for.
    fn is_enough(&self, ready: &Ready, wanted: Wanted) -> bool {
        self.offline || (wanted == Wanted::Answer && self.need(&ready.kept) == Need::Nothing)
    }

    /// Brings an origin up to date: from the store where that is enough, from another process that is
    /// at it, or from its server.
    async fn fly(&self, origin: &Origin, wanted: Wanted) -> Landed {
        let mut is_blind = false;
        let was_here = self.ready.get(origin).is_some();
        let mut before = self.newest(origin, &mut is_blind).await;
        // What was only in the store answers at once where it may: who waits for it starts a flight for
        // the news then.
        let is_good = |ready: &Ready| {
            self.is_enough(ready, wanted)
                || (!was_here && wanted == Wanted::Answer && self.need(&ready.kept) == Need::Refresh)
        };
        if let Some(ready) = &before
            && is_good(ready)
        {
            return Landed { ready: Arc::clone(ready), how: How::Kept };
        }
        if self.offline {
            let error = "offline: nothing is kept of this origin";
            return self.without_answer(origin, error, self.clock.now());
        }
        let claim = self.claimed(origin, wanted, &mut before, &mut is_blind).await;
        let Some((turn, token)) = claim else {
            let ready = before.expect("another process has brought it up to date");
            return Landed { ready, how: How::Kept };
        };
        let kept = before.as_ref().map(|ready| &*ready.kept);
        let landed = self.ask(origin, turn, kept, is_blind).await;
        if let Some(token) = token {
            self.noted(StoreWork::Claiming, self.store.release(origin, token)).await;
        }
        landed
    }

    /// The newest of what is in memory and in the store, and whether the store could not be looked into.
    async fn newest(&self, origin: &Origin, is_blind: &mut bool) -> Option<Arc<Ready>> {
        let here = self.ready.get(origin);
        if here.as_ref().is_some_and(|ready| self.need(&ready.kept) == Need::Nothing) {
            return here;
        }
        let stored = self.loaded(origin).await;
        *is_blind = stored.is_none();
        match (here, stored.flatten()) {
            (Some(here), Some(stored)) if stored.last.at <= here.kept.last.at => Some(here),
            (_, Some(stored)) => Some(self.keep(stored)),
            (here, None) => here,
        }
    }

    /// Waits until this process may ask for the file of an origin: `Some` with its turn, and with the claim
    /// to give back later, if the store has claims. `None` where another process has meanwhile done it.
    ///
    /// The turn comes first. A claim ends by itself, and one that was held in a queue would be over when
    /// it is needed.
    async fn claimed(
        &self,
        origin: &Origin,
        wanted: Wanted,
        before: &mut Option<Arc<Ready>>,
        is_blind: &mut bool,
    ) -> Option<(Turn, Option<ClaimToken>)> {
        // Whoever has no limit of time still claims for a time that a clock can show.
        let at_most = self.means.total.saturating_add(Duration::from_secs(5)).min(LONGEST_CLAIM);
        let mut give_up = None;
        loop {
            let turn = self.means.manners.turn(origin.host()).await;
            match self.noted(StoreWork::Claiming, self.store.claim(origin, at_most)).await {
                Some(Claim::Granted(token)) => {
                    // Somebody may have been done with it just before.
                    *before = self.newest(origin, is_blind).await;
                    if before.as_ref().is_some_and(|ready| self.is_enough(ready, wanted)) {
                        self.noted(StoreWork::Claiming, self.store.release(origin, token)).await;
                        return None;
                    }
                    return Some((turn, Some(token)));
                }
                // A store that is down holds nobody up.
                None => return Some((turn, None)),
                Some(Claim::Taken) => {
                    let now = self.clock.now();
                    if now >= *give_up.get_or_insert(now + at_most) {
                        return Some((turn, None));
                    }
                    drop(turn);
                    self.clock.sleep(LOOK_AGAIN).await;
                }
            }
            *before = self.newest(origin, is_blind).await;
            if before.as_ref().is_some_and(|ready| self.is_enough(ready, wanted)) {
                return None;
            }
        }
    }

    /// Asks the server, and keeps what came of it.
    async fn ask(&self, origin: &Origin, turn: Turn, before: Option<&Kept>, is_blind: bool) -> Landed {
        let start = self.clock.now();
        let copy = before.and_then(|kept| kept.copy.as_ref());
        let attempted = self.means.attempt(origin, turn, copy, self.policy.attempts).await;
        let now = self.clock.now();
        let cause = attempted.cause.clone();
        if !matches!(cause, Cause::Here(..)) {
            self.counters.fetched(&attempted.result, now.duration_since(start).unwrap_or_default());
        }
        let how = match (&attempted.result, attempted.is_unchanged) {
            (AccessResult::Successful, true) => How::Revalidated,
            _ => How::Fetched,
        };
        let dice = fastrand::f64() * 2.0 - 1.0;
        let kept = Arc::new(self.policy.after(before, origin, attempted, now, dice));
        match cause {
            // What this machine lacks says nothing about the site: the next question asks again.
            Cause::Here(lack, detail) => {
                self.counters.lacking(origin, lack, &detail);
                return Landed { ready: Arc::new(Ready::new(kept, &self.answering)), how };
            }
            // What the guard of this process refuses is not for others to know.
            Cause::Guard(detail) => self.counters.guarded(origin, &detail),
            Cause::Server if is_blind && kept.copy.is_none() => {
                // In a store that could not be looked into there may be a good copy, and no failure
                // replaces it.
            }
            Cause::Server => {
                if before.is_some_and(|before| now + CLOCK_SKEW < before.last.at) {
                    // A store keeps the later of two attempts: one from the future would stay for ever.
                    self.noted(StoreWork::Writing, self.store.remove(origin)).await;
                }
                self.noted(StoreWork::Writing, self.store.save(&kept)).await;
            }
        }
        Landed { ready: self.keep(kept), how }
    }

    /// Reads a file and has it ready.
    fn keep(&self, kept: Arc<Kept>) -> Arc<Ready> {
        let ready = Arc::new(Ready::new(kept, &self.answering));
        self.ready.insert(ready.kept.origin.clone(), Arc::clone(&ready));
        ready
    }

    /// What holds where nothing is known of an origin: it is not kept.
    fn without_answer(&self, origin: &Origin, error: &str, now: SystemTime) -> Landed {
        let result = AccessResult::Unreachable(Unreachable::Network(error.into()));
        let last = LastAttempt {
            at: now,
            result,
            hops: Vec::new(),
            failing_since: None,
            failures: 0,
            not_before: now,
        };
        let kept = Arc::new(Kept::new(origin.clone(), None, last));
        Landed { ready: Arc::new(Ready::new(kept, &self.answering)), how: How::Kept }
    }

    /// What the store has of an origin: `None` where it can't be asked. What is damaged is as good as absent.
    async fn loaded(&self, origin: &Origin) -> Option<Option<Arc<Kept>>> {
        let loaded = async {
            match self.store.load(origin).await {
                Err(error) if error.kind() == StoreErrorKind::DamagedEntry => {
                    self.counters.damaged(origin, &error);
                    Ok(None)
                }
                loaded => loaded,
            }
        };
        self.noted(StoreWork::Reading, Box::pin(loaded)).await
    }

    /// What a store says, in time; that it failed is counted and told, and nobody has to wait for it.
    async fn noted<T>(&self, work: StoreWork, saying: Storing<'_, T>) -> Option<T> {
        let late = || {
            let message = format!("the store has not answered in {STORE_PATIENCE:?}");
            Err(StoreError::of(StoreErrorKind::Unreachable, message))
        };
        match within(&*self.clock, STORE_PATIENCE, saying).await.unwrap_or_else(late) {
            Ok(value) => {
                self.counters.store_worked(work);
                Some(value)
            }
            Err(error) => {
                self.counters.store_failed(work, &error, self.clock.now());
                None
            }
        }
    }
}

/// Whose rules hold, as the core decides without a file.
pub(crate) fn result_in_force(in_force: InForce, last: &AccessResult) -> AccessResult {
    match (in_force, last) {
        (InForce::Copy, _) => AccessResult::Successful,
        (InForce::DisallowAll, AccessResult::Successful) => {
            AccessResult::Unreachable(Unreachable::Network("the copy was lost".into()))
        }
        (InForce::DisallowAll, last) | (InForce::AllowAll, last @ AccessResult::Unavailable(_)) => {
            last.clone()
        }
        (InForce::AllowAll, _) => AccessResult::Unavailable(Unavailable::UnreachableForLong),
    }
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("store", &self.0.store.describe()).finish_non_exhaustive()
    }
}

/// An empty file: what there is to read where there is none.
pub(crate) fn no_file(answering: &Answering, dialect: mayi::Dialect) -> RobotsTxt<'static> {
    RobotsTxt::read(&b""[..], &answering.reading(dialect, None))
}

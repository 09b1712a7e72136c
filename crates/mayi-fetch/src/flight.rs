//! The flight of an origin: gets its file from the cache, from another process that is fetching it, or from
//! its server, and caches the result.
//!
//! There is one flight at a time for an origin, and all questions about it wait for it. The
//! [`Fetcher`](crate::Fetcher) knows the questions and answers them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime};

use mayi::access::{AccessResult, Origin, Unreachable};
use tokio::sync::watch;

use crate::clock::within;
use crate::events::{self, StoreWork, Work};
use crate::fault::Lack;
use crate::fetcher::Inner;
use crate::kept::{Kept, LastAttempt};
use crate::lifecycle::{Attempted, CLOCK_SKEW, Need};
use crate::manners::{Party, Turn};
use crate::robots::{How, Ready};
use crate::store::{ClaimToken, FetchClaim, StoreError, StoreErrorKind, Storing};
use crate::transport::{Cause, TransportError};

/// How often the store is checked for the result of another process.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// How long a store may take to answer before the fetcher goes on without it.
const STORE_PATIENCE: Duration = Duration::from_secs(3);

/// How long a claim lasts if it is not renewed, and how often it is renewed: a process that
/// dies with a claim delays the others for less than five seconds, and a store that stalls for a moment does not end
/// a claim.
const CLAIM: Duration = Duration::from_secs(4);
const RENEW_EVERY: Duration = Duration::from_secs(1);

/// For how long an origin is not asked again where this machine has no route to it. Such a lack lasts, and would cost every
/// question a look-up of the name and an attempt.
const NO_ROUTE: Duration = Duration::from_secs(5);

/// The maximum time to wait for another process, however long an attempt may take.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// A flight: one attempt, and all who wait for its result.
pub(crate) struct Flight {
    pub(crate) landed: watch::Sender<Option<Landed>>,
    pub(crate) party: Party,
    /// Whether it continues if nobody waits for it, because it refreshes a file that is in use.
    pub(crate) is_wanted_anyway: AtomicBool,
}

/// What a flight is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// An answer, from the cache if that is good enough.
    Answer,
    /// What the server says now.
    News,
}

/// The result of a flight: the entry, and where it came from.
#[derive(Clone)]
pub(crate) struct Landed {
    pub(crate) ready: Arc<Ready>,
    pub(crate) how: How,
    /// What this machine lacked, if no request was sent because of it.
    pub(crate) lack: Option<Lack>,
}

/// The result of waiting for a turn to send a request.
enum Claimed {
    /// Send it: with this turn, and with a claim to return, if the store has claims.
    Go(Turn, Option<ClaimToken>),
    /// Another process has updated the entry meanwhile.
    Done(Arc<Ready>),
    /// Too many wait already.
    NoRoom,
    /// Nobody waits any more.
    Abandoned,
}

impl Landed {
    pub(crate) fn kept(ready: Arc<Ready>) -> Self {
        Self { ready, how: How::Kept, lack: None }
    }
}

/// Removes a flight from the list, even if it ends in a panic.
pub(crate) struct Over<'f> {
    pub(crate) inner: &'f Inner,
    pub(crate) origin: &'f Origin,
    pub(crate) flight: &'f Arc<Flight>,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.inner.strike(self.origin, self.flight, |_| true);
    }
}

impl Inner {
    /// Removes a flight from the list if this condition is true, and returns whether it did.
    fn strike(&self, origin: &Origin, flight: &Arc<Flight>, holds: impl Fn(&Flight) -> bool) -> bool {
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        let is_on_list = flights.get(origin).is_some_and(|on_list| Arc::ptr_eq(on_list, flight));
        let strikes = is_on_list && holds(flight);
        if strikes {
            flights.remove(origin);
        }
        strikes
    }

    /// Waits until nobody waits for a flight any more. Then it is removed from the list, and the next
    /// question starts another.
    async fn abandoned(&self, origin: &Origin, flight: &Arc<Flight>) {
        loop {
            flight.landed.closed().await;
            let is_left = |flight: &Flight| {
                flight.landed.receiver_count() == 0 && !flight.is_wanted_anyway.load(Ordering::Relaxed)
            };
            if self.strike(origin, flight, is_left) {
                self.counters.abandoned();
                return;
            }
            if flight.is_wanted_anyway.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
        }
    }

    pub(crate) fn need(&self, kept: &Kept) -> Need {
        if self.offline {
            return Need::Nothing;
        }
        self.policy.need(kept, self.clock.now())
    }

    /// Whether what is ready is what a flight is for.
    fn is_enough(&self, ready: &Ready, wanted: Wanted) -> bool {
        self.offline || (wanted == Wanted::Answer && self.need(&ready.kept) == Need::Nothing)
    }

    /// Updates an origin: from the store if that is enough, from another process that is fetching it, or from
    /// its server. There is no result if nobody waits any more.
    pub(crate) async fn fly(
        &self,
        origin: &Origin,
        wanted: Wanted,
        flight: &Arc<Flight>,
    ) -> Option<Landed> {
        let mut is_blind = false;
        let was_here = self.ready.get(origin).is_some();
        let mut before = self.newest(origin, &mut is_blind).await;
        // An entry that was only in the store answers at once if it may; the waiting question then starts a
        // flight to refresh it.
        let is_good = |ready: &Ready| {
            self.is_enough(ready, wanted)
                || (!was_here && wanted == Wanted::Answer && self.need(&ready.kept) == Need::Refresh)
        };
        if let Some(ready) = &before
            && is_good(ready)
        {
            return Some(Landed::kept(Arc::clone(ready)));
        }
        if self.offline {
            let error = "offline: there is no cached copy for this origin";
            return Some(self.without_answer(origin, error, self.clock.now()));
        }
        if wanted == Wanted::Answer && self.had_no_route(origin) {
            let why = "tried a moment ago";
            return Some(self.lacking(origin, before.as_deref(), Lack::Route, why).await);
        }
        let (turn, token) = match self.claimed(origin, wanted, flight, &mut before, &mut is_blind).await
        {
            Claimed::Go(turn, token) => (turn, token),
            Claimed::Done(ready) => return Some(Landed::kept(ready)),
            Claimed::NoRoom => {
                let why = "the queue of fetches is full";
                return Some(self.lacking(origin, before.as_deref(), Lack::Room, why).await);
            }
            Claimed::Abandoned => return None,
        };
        let kept = before.as_ref().map(|ready| &*ready.kept);
        let copy = kept.and_then(|kept| kept.copy.as_ref());
        let start = self.clock.now();
        let attempt = self.means.attempt(origin, turn, &flight.party, copy, self.policy.attempts);
        let mut watched = events::begin(Work::Fetch(origin));
        let attempted = match token {
            Some(token) => self.while_renewed(origin, token, attempt).await,
            None => attempt.await,
        };
        if let (Some(watched), AccessResult::Unreachable(_)) = (&mut watched, &attempted.result) {
            watched.failed(&attempted.result);
        }
        drop(watched);
        let landed = self.keep_what_came(origin, kept, attempted, start, is_blind).await;
        if landed.lack == Some(Lack::Route) {
            self.routeless.insert(origin.clone(), self.clock.now());
        }
        if let Some(token) = token {
            self.noted(StoreWork::Claiming, self.store.release(origin, token)).await;
        }
        Some(landed)
    }

    /// Renews a claim until something is done, so that it ends soon after a process that dies.
    async fn while_renewed<T>(
        &self,
        origin: &Origin,
        token: ClaimToken,
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            let renewal = async {
                self.clock.sleep(RENEW_EVERY).await;
                self.noted(StoreWork::Claiming, self.store.renew(origin, token, CLAIM)).await;
            };
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = renewal => {}
            }
        }
    }

    /// Whether this machine had no route to an origin a moment ago.
    fn had_no_route(&self, origin: &Origin) -> bool {
        let at = self.routeless.get(origin);
        at.and_then(|at| self.clock.now().duration_since(at).ok()).is_some_and(|ago| ago < NO_ROUTE)
    }

    /// What applies if this machine lacks something to send a request: the copy, or unreachable.
    async fn lacking(&self, origin: &Origin, before: Option<&Ready>, lack: Lack, why: &str) -> Landed {
        let error = TransportError::lacking(lack, why);
        let attempted = Attempted {
            result: AccessResult::Unreachable(Unreachable::Network(error.message().into())),
            hops: Vec::new(),
            response: None,
            is_unchanged: false,
            cause: error.cause().clone(),
        };
        let before = before.map(|ready| &*ready.kept);
        self.keep_what_came(origin, before, attempted, self.clock.now(), true).await
    }

    /// The newest entry of memory and store, and whether the store could not be read.
    pub(crate) async fn newest(&self, origin: &Origin, is_blind: &mut bool) -> Option<Arc<Ready>> {
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

    /// Waits until this process may request the file of an origin.
    ///
    /// The turn comes first. A claim expires, and a claim that waits in a queue would have expired when it is
    /// needed.
    async fn claimed(
        &self,
        origin: &Origin,
        wanted: Wanted,
        flight: &Arc<Flight>,
        before: &mut Option<Arc<Ready>>,
        is_blind: &mut bool,
    ) -> Claimed {
        // Without a time limit, the wait still has to be a time that a clock can represent.
        let at_most = self.means.total.saturating_add(Duration::from_secs(5)).min(LONGEST_WAIT);
        let mut give_up = None;
        loop {
            let turn = tokio::select! {
                biased;
                () = self.abandoned(origin, flight) => return Claimed::Abandoned,
                turn = self.means.manners.turn(origin.host(), &flight.party) => turn,
            };
            let Ok(turn) = turn else { return Claimed::NoRoom };
            match self.noted(StoreWork::Claiming, self.store.claim(origin, CLAIM)).await {
                Some(FetchClaim::Granted(token)) => {
                    // Another process may have finished just before.
                    *before = self.newest(origin, is_blind).await;
                    if let Some(ready) = before.as_ref().filter(|ready| self.is_enough(ready, wanted)) {
                        self.noted(StoreWork::Claiming, self.store.release(origin, token)).await;
                        return Claimed::Done(Arc::clone(ready));
                    }
                    return Claimed::Go(turn, Some(token));
                }
                // A store that is down delays nobody.
                None => return Claimed::Go(turn, None),
                Some(FetchClaim::Taken) => {
                    let now = self.clock.now();
                    if now >= *give_up.get_or_insert(now + at_most) {
                        return Claimed::Go(turn, None);
                    }
                    drop(turn);
                    tokio::select! {
                        biased;
                        () = self.clock.sleep(LOOK_AGAIN) => {}
                        () = self.abandoned(origin, flight) => return Claimed::Abandoned,
                    }
                }
            }
            *before = self.newest(origin, is_blind).await;
            if let Some(ready) = before.as_ref().filter(|ready| self.is_enough(ready, wanted)) {
                return Claimed::Done(Arc::clone(ready));
            }
        }
    }

    /// Caches the result of a request, as far as it may be cached.
    async fn keep_what_came(
        &self,
        origin: &Origin,
        before: Option<&Kept>,
        attempted: Attempted,
        start: SystemTime,
        is_blind: bool,
    ) -> Landed {
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
                let ready = Arc::new(Ready::new(kept, &self.answering));
                return Landed { ready, how, lack: Some(lack) };
            }
            // What the guard of this process refuses must not be shared with others.
            Cause::Guard(detail) => self.counters.guarded(origin, &detail),
            Cause::Server if is_blind && kept.copy.is_none() => {
                // A store that could not be read may have a good copy, and no failure replaces it.
            }
            Cause::Server => {
                if before.is_some_and(|before| now + CLOCK_SKEW < before.last.at) {
                    // A store keeps the later of two attempts: one with a time in the future would stay for
                    // ever.
                    self.noted(StoreWork::Writing, self.store.remove(origin)).await;
                }
                self.noted(StoreWork::Writing, self.store.save(&kept)).await;
            }
        }
        Landed { ready: self.keep(kept), how, lack: None }
    }

    /// Reads a file and has it ready.
    fn keep(&self, kept: Arc<Kept>) -> Arc<Ready> {
        let ready = Arc::new(Ready::new(kept, &self.answering));
        self.ready.insert(ready.kept.origin.clone(), Arc::clone(&ready));
        ready
    }

    /// What applies if nothing is known about an origin. It is not cached.
    pub(crate) fn without_answer(&self, origin: &Origin, error: &str, now: SystemTime) -> Landed {
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
        Landed::kept(Arc::new(Ready::new(kept, &self.answering)))
    }

    /// The entry of an origin in the store: `None` if the store can't be read. A damaged entry counts as
    /// absent.
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

    /// The result of a store operation, with a timeout. A failure is counted and reported, and nobody has to
    /// wait for it.
    pub(crate) async fn noted<T>(&self, work: StoreWork, saying: Storing<'_, T>) -> Option<T> {
        let late = || {
            let message = format!("the store did not respond in {STORE_PATIENCE:?}");
            Err(StoreError::of(StoreErrorKind::Unreachable, message))
        };
        let mut watched = events::begin(Work::Store(work));
        match within(&*self.clock, STORE_PATIENCE, saying).await.unwrap_or_else(late) {
            Ok(value) => {
                self.counters.store_worked(work);
                Some(value)
            }
            Err(error) => {
                if let Some(watched) = &mut watched {
                    watched.failed(&error);
                }
                self.counters.store_failed(work, &error, self.clock.now());
                None
            }
        }
    }
}

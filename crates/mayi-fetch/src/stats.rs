//! What a fetcher has done, in numbers.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use mayi::access::{AccessResult, Origin};

use crate::events::{Event, FailingWork, Listener, StoreHealth, StoreWork, Watcher};
use crate::fault::Lack;
use crate::robots::How;
use crate::store::StoreError;

/// What a fetcher has done since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Questions that were answered from the cache.
    pub answered_from_kept: u64,
    /// Questions that waited for a server.
    pub answered_by_fetch: u64,
    /// Attempts that were successful, with those that found the copy unchanged.
    pub successful: u64,
    /// Attempts that found no file.
    pub unavailable: u64,
    /// Attempts that found the file unreachable.
    pub unreachable: u64,
    /// Attempts that the guard has ended; they are among the unreachable ones.
    pub guarded: u64,
    /// Attempts that failed because of a fault of this machine. They are in none of the numbers above, and
    /// nothing of them is cached.
    pub local_faults: u64,
    /// How long all attempts took together.
    pub fetch_time: Duration,
    /// Attempts that are being made now, and those that wait for their turn.
    pub in_flight: usize,
    /// Those of them that wait for their turn.
    pub waiting: usize,
    /// Attempts that were cancelled before their turn, because nobody waited for them any more.
    pub abandoned: u64,
    /// Origins that are in memory, ready to answer.
    pub ready: usize,
    /// Octets that they take there, about.
    pub ready_octets: u64,
    /// How often the store has failed.
    pub store_errors: u64,
    /// What it said the last time.
    pub last_store_error: Option<String>,
    /// Entries of the store that failed their checksum when they were asked for, and counted as absent.
    pub damaged_entries: u64,
}

/// Counts, remembers the state of the store, and notifies listeners.
#[derive(Default)]
pub(crate) struct Counters {
    from_kept: AtomicU64,
    by_fetch: AtomicU64,
    successful: AtomicU64,
    unavailable: AtomicU64,
    unreachable: AtomicU64,
    guarded: AtomicU64,
    local_faults: AtomicU64,
    abandoned: AtomicU64,
    fetch_microseconds: AtomicU64,
    store_errors: AtomicU64,
    damaged_entries: AtomicU64,
    store: Mutex<StoreState>,
    listener: Option<Arc<dyn Listener>>,
}

/// How the store is.
#[derive(Default)]
struct StoreState {
    last_error: Option<StoreError>,
    failing: Vec<FailingWork>,
}

impl Counters {
    /// Starts at zero, with this listener.
    pub(crate) fn told_to(listener: Option<Arc<dyn Listener>>) -> Self {
        Self { listener, ..Self::default() }
    }

    /// Who watches what is done for the one that asks on this task.
    pub(crate) fn watcher(&self) -> Option<Arc<dyn Watcher>> {
        self.listener.as_ref()?.watcher()
    }

    pub(crate) fn answered(&self, how: How) {
        let counter = if how == How::Kept { &self.from_kept } else { &self.by_fetch };
        counter.fetch_add(1, Relaxed);
    }

    pub(crate) fn fetched(&self, result: &AccessResult, took: Duration) {
        let counter = match result {
            AccessResult::Successful => &self.successful,
            AccessResult::Unavailable(_) => &self.unavailable,
            AccessResult::Unreachable(_) => &self.unreachable,
        };
        counter.fetch_add(1, Relaxed);
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.fetch_microseconds.fetch_add(microseconds, Relaxed);
    }

    pub(crate) fn guarded(&self, origin: &Origin, detail: &str) {
        self.guarded.fetch_add(1, Relaxed);
        self.tell(&Event::Guarded { origin, detail });
    }

    pub(crate) fn lacking(&self, origin: &Origin, lack: Lack, detail: &str) {
        self.local_faults.fetch_add(1, Relaxed);
        self.tell(&Event::LocalFault { origin, lack, detail });
    }

    pub(crate) fn abandoned(&self) {
        self.abandoned.fetch_add(1, Relaxed);
    }

    pub(crate) fn damaged(&self, origin: &Origin, error: &StoreError) {
        self.damaged_entries.fetch_add(1, Relaxed);
        self.tell(&Event::EntryDamaged { origin, error });
    }

    pub(crate) fn store_failed(&self, work: StoreWork, error: &StoreError, now: SystemTime) {
        self.store_errors.fetch_add(1, Relaxed);
        {
            let mut store = self.store();
            store.last_error = Some(error.clone());
            match store.failing.iter_mut().find(|failing| failing.work == work) {
                Some(failing) => {
                    failing.failures += 1;
                    failing.error = error.clone();
                }
                None => store.failing.push(FailingWork {
                    work,
                    since: now,
                    failures: 1,
                    error: error.clone(),
                }),
            }
        }
        self.tell(&Event::StoreFailed { work, error });
    }

    pub(crate) fn store_worked(&self, work: StoreWork) {
        let recovered = {
            let mut store = self.store();
            let place = store.failing.iter().position(|failing| failing.work == work);
            place.map(|place| store.failing.swap_remove(place).failures)
        };
        if let Some(failures) = recovered {
            self.tell(&Event::StoreRecovered { work, failures });
        }
    }

    pub(crate) fn store_health(&self) -> StoreHealth {
        StoreHealth { failing: self.store().failing.clone() }
    }

    pub(crate) fn stats(&self, in_flight: usize, ready: usize, ready_octets: u64) -> Stats {
        Stats {
            answered_from_kept: self.from_kept.load(Relaxed),
            answered_by_fetch: self.by_fetch.load(Relaxed),
            successful: self.successful.load(Relaxed),
            unavailable: self.unavailable.load(Relaxed),
            unreachable: self.unreachable.load(Relaxed),
            guarded: self.guarded.load(Relaxed),
            local_faults: self.local_faults.load(Relaxed),
            fetch_time: Duration::from_micros(self.fetch_microseconds.load(Relaxed)),
            in_flight,
            waiting: 0,
            abandoned: self.abandoned.load(Relaxed),
            ready,
            ready_octets,
            store_errors: self.store_errors.load(Relaxed),
            last_store_error: self.store().last_error.as_ref().map(ToString::to_string),
            damaged_entries: self.damaged_entries.load(Relaxed),
        }
    }

    fn store(&self) -> MutexGuard<'_, StoreState> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: &Event<'_>) {
        if let Some(listener) = &self.listener {
            listener.hear(event);
        }
    }
}

//! What a fetcher has done, in numbers.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mayi::access::AccessResult;

use crate::robots::How;
use crate::store::StoreError;

/// What a fetcher has done since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Questions that were answered from what is kept.
    pub answered_from_kept: u64,
    /// Questions that waited for a server.
    pub answered_by_fetch: u64,
    /// Attempts that were successful, with those that found the copy unchanged.
    pub successful: u64,
    /// Attempts that found no file.
    pub unavailable: u64,
    /// Attempts that reached nobody.
    pub unreachable: u64,
    /// Attempts that the guard has ended; they are among the unreachable ones.
    pub guarded: u64,
    /// How long all attempts took together.
    pub fetch_time: Duration,
    /// Attempts that are being made now.
    pub in_flight: usize,
    /// Origins that are in memory, ready to answer.
    pub ready: usize,
    /// Octets that they take there, about.
    pub ready_octets: u64,
    /// How often the store has failed.
    pub store_errors: u64,
    /// What it said the last time.
    pub last_store_error: Option<String>,
}

#[derive(Default)]
pub(crate) struct Counters {
    from_kept: AtomicU64,
    by_fetch: AtomicU64,
    successful: AtomicU64,
    unavailable: AtomicU64,
    unreachable: AtomicU64,
    guarded: AtomicU64,
    fetch_microseconds: AtomicU64,
    store_errors: AtomicU64,
    last_store_error: Mutex<Option<String>>,
}

impl Counters {
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

    pub(crate) fn guarded(&self) {
        self.guarded.fetch_add(1, Relaxed);
    }

    pub(crate) fn store_failed(&self, error: &StoreError) {
        self.store_errors.fetch_add(1, Relaxed);
        let mut last = self.last_store_error.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(error.to_string());
    }

    pub(crate) fn stats(&self, in_flight: usize, ready: usize, ready_octets: u64) -> Stats {
        let last = self.last_store_error.lock().unwrap_or_else(PoisonError::into_inner);
        Stats {
            answered_from_kept: self.from_kept.load(Relaxed),
            answered_by_fetch: self.by_fetch.load(Relaxed),
            successful: self.successful.load(Relaxed),
            unavailable: self.unavailable.load(Relaxed),
            unreachable: self.unreachable.load(Relaxed),
            guarded: self.guarded.load(Relaxed),
            fetch_time: Duration::from_micros(self.fetch_microseconds.load(Relaxed)),
            in_flight,
            ready,
            ready_octets,
            store_errors: self.store_errors.load(Relaxed),
            last_store_error: last.clone(),
        }
    }
}

//! Where cached files are stored: one trait, and the stores that implement it.
//!
//! | store | for whom |
//! | --- | --- |
//! | [`MemoryStore`] | one process, and only while it runs |
//! | `DiskStore` | one process that runs for long; survives being killed |
//! | `RedisStore` | many processes on many machines |
//!
//! If a store fails, it returns an error, and the fetcher continues without it: it fetches again, and never
//! gives a wrong answer. A store knows nothing about HTTP, freshness or the time.

#[cfg(feature = "disk")]
mod disk;
mod entry;
mod error;
mod memory;
mod open;
#[cfg(feature = "redis")]
mod redis;

#[cfg(feature = "redis")]
pub use self::redis::{RedisOptions, RedisStore};
#[cfg(feature = "disk")]
pub use disk::DiskStore;
pub use error::{StoreError, StoreErrorKind};
pub use memory::MemoryStore;
pub use open::{open, open_trusting};

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mayi::access::Origin;

use crate::kept::Kept;

/// The return type of a store's methods: they are asynchronous, and a store is used through a pointer.
pub type Storing<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A place for the cached entries of origins.
///
/// When a future of [`save`](Store::save) is done, the entry survives everything that the store promises to
/// survive. An entry with another schema version counts as absent. So does a damaged one, but
/// [`load`](Store::load) reports it by an error of the kind [`DamagedEntry`](StoreErrorKind::DamagedEntry),
/// so that it is counted; the next save writes over it.
pub trait Store: Send + Sync + 'static {
    /// The entry of an origin.
    fn load<'a>(&'a self, origin: &'a Origin) -> Storing<'a, Option<Arc<Kept>>>;

    /// Saves the result of an attempt, unless the stored one is of a later attempt: of two processes, the
    /// later response wins.
    fn save<'a>(&'a self, kept: &'a Arc<Kept>) -> Storing<'a, ()>;

    /// Removes an origin, and returns whether it was there.
    fn remove<'a>(&'a self, origin: &'a Origin) -> Storing<'a, bool>;

    /// Up to `limit` origins, in the order of their text, those after `after`; for people and exports.
    /// Fewer than `limit` mean the end of the list.
    fn list<'a>(&'a self, after: Option<&'a str>, limit: usize) -> Storing<'a, Vec<Arc<Kept>>>;

    /// How many origins there are, and how many octets they take.
    fn size(&self) -> Storing<'_, StoreSize>;

    /// Claims the right to fetch the file of an origin, for as long as this at most. Stores that only
    /// one process uses always grant it.
    fn claim<'a>(&'a self, origin: &'a Origin, at_most: Duration) -> Storing<'a, FetchClaim> {
        let _ = (origin, at_most);
        Box::pin(async { Ok(FetchClaim::Granted(ClaimToken(0))) })
    }

    /// Renews a claim for this long from now, and returns whether it still belongs to the caller.
    fn renew<'a>(
        &'a self,
        origin: &'a Origin,
        token: ClaimToken,
        at_most: Duration,
    ) -> Storing<'a, bool> {
        let _ = (origin, token, at_most);
        Box::pin(async { Ok(true) })
    }

    /// Gives a claim back.
    fn release<'a>(&'a self, origin: &'a Origin, token: ClaimToken) -> Storing<'a, ()> {
        let _ = (origin, token);
        Box::pin(async { Ok(()) })
    }

    /// Removes everything, and returns how many origins there were.
    fn clear(&self) -> Storing<'_, u64> {
        Box::pin(async move {
            let (mut forgotten, mut after) = (0, None::<String>);
            loop {
                let page = self.list(after.as_deref(), CLEARED_AT_ONCE).await?;
                for kept in &page {
                    forgotten += u64::from(self.remove(&kept.origin).await?);
                }
                match page.last() {
                    Some(last) if page.len() == CLEARED_AT_ONCE => {
                        after = Some(last.origin.to_string());
                    }
                    _ => return Ok(forgotten),
                }
            }
        })
    }

    /// Whether the store answers at all, by the cheapest request.
    fn check(&self) -> Storing<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Returns the space of removed origins to the system, if the store would otherwise keep it.
    fn compact(&self) -> Storing<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// What kind of store it is and where, for people.
    fn describe(&self) -> String;
}

/// How many origins are read at once to be forgotten.
const CLEARED_AT_ONCE: usize = 500;

/// How much is in a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreSize {
    /// Origins.
    pub origins: u64,
    /// Octets that they take there.
    pub octets: u64,
}

impl StoreSize {
    /// So many origins, and so many octets.
    pub fn new(origins: u64, octets: u64) -> Self {
        Self { origins, octets }
    }
}

/// What came of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchClaim {
    /// The caller must fetch, and then return the token.
    Granted(ClaimToken),
    /// Another process is fetching.
    Taken,
}

/// Identifies a claim, so that a slow holder can't return a claim that is no longer its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimToken(pub u64);

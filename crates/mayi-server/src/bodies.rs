//! The octets of a body or of an answer → their share of the memory limit for all of them.
//!
//! One client never has more than half of it, so a client that sends or reads slowly leaves room for
//! others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;

/// Bodies up to this size are not counted: `in_flight` bounds what they take.
const SMALL: usize = 64 << 10;

/// Octets in one permit.
const UNIT: usize = 1024;

/// Clients that hold nothing are forgotten when there are more than this.
const MANY_CLIENTS: usize = 1024;

/// The memory for bodies and answers. Clones share it.
#[derive(Clone)]
pub(crate) struct Bodies(Arc<Inner>);

struct Inner {
    all: Arc<Semaphore>,
    units: usize,
    most_of_one: usize,
    clients: Mutex<HashMap<u64, Arc<Semaphore>>>,
}

/// The share of a body or an answer; returned when it is dropped.
#[derive(Default)]
pub(crate) struct Share(Option<[OwnedSemaphorePermit; 2]>);

impl Bodies {
    /// A limit for all octets, and one for a single body.
    pub(crate) fn new(octets: usize, one_body: usize) -> Self {
        let units = (octets / UNIT).clamp(1, Semaphore::MAX_PERMITS);
        let most_of_one = (units / 2).max(one_body.div_ceil(UNIT)).min(units);
        let (all, clients) = (Arc::new(Semaphore::new(units)), Mutex::default());
        Self(Arc::new(Inner { all, units, most_of_one, clients }))
    }

    /// The share of a body of this size, if there is room for it now.
    pub(crate) fn share(&self, client: u64, octets: usize) -> Result<Share, Problem> {
        if octets <= SMALL { Ok(Share(None)) } else { self.share_of_any(client, octets) }
    }

    /// The same, for any size: an answer takes its memory until its client has read it.
    pub(crate) fn share_of_any(&self, client: u64, octets: usize) -> Result<Share, Problem> {
        let units = units_of(octets);
        let of_one = self.of(client).try_acquire_many_owned(units).map_err(|_| no_room())?;
        let of_all = Arc::clone(&self.0.all).try_acquire_many_owned(units).map_err(|_| no_room())?;
        Ok(Share(Some([of_one, of_all])))
    }

    /// The same, once there is room. A caller that waits here must hold nothing that others wait for.
    pub(crate) async fn wait(&self, client: u64, octets: usize) -> Share {
        let units = units_of(octets).min(units_of(self.0.most_of_one * UNIT));
        // It fails only when the semaphore is closed, which never happens.
        let Ok(of_one) = self.of(client).acquire_many_owned(units).await else { return Share(None) };
        let of_all = Arc::clone(&self.0.all).acquire_many_owned(units).await;
        Share(of_all.ok().map(|of_all| [of_one, of_all]))
    }

    /// Enlarges a share to this size. Waits for room, but not for long: two that each have a part and wait for
    /// the rest would wait for each other.
    pub(crate) async fn grow(
        &self,
        client: u64,
        share: &mut Share,
        octets: usize,
        patience: Duration,
    ) -> Result<(), Problem> {
        let held = share.0.as_ref().map_or(0, |[of_one, _]| of_one.num_permits());
        let more = units_of(octets).saturating_sub(u32::try_from(held).unwrap_or(u32::MAX));
        if more == 0 {
            return Ok(());
        }
        let acquired = async {
            let of_one = self.of(client).acquire_many_owned(more).await.ok()?;
            Some([of_one, Arc::clone(&self.0.all).acquire_many_owned(more).await.ok()?])
        };
        let Ok(Some([of_one, of_all])) = tokio::time::timeout(patience, acquired).await else {
            return Err(no_room());
        };
        match &mut share.0 {
            // A client that was forgotten meanwhile has other permits, which do not mix with these.
            Some([held, held_of_all]) if Arc::ptr_eq(held.semaphore(), of_one.semaphore()) => {
                held.merge(of_one);
                held_of_all.merge(of_all);
            }
            none => *none = Some([of_one, of_all]),
        }
        Ok(())
    }

    /// How many octets are taken.
    pub(crate) fn taken(&self) -> usize {
        (self.0.units - self.0.all.available_permits()) * UNIT
    }

    /// The maximum for one client.
    fn of(&self, client: u64) -> Arc<Semaphore> {
        let most = self.0.most_of_one;
        let mut clients = self.0.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() > MANY_CLIENTS {
            clients.retain(|_, it| Arc::strong_count(it) > 1);
        }
        Arc::clone(clients.entry(client).or_insert_with(|| Arc::new(Semaphore::new(most))))
    }
}

fn units_of(octets: usize) -> u32 {
    u32::try_from(octets.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

fn no_room() -> Problem {
    Problem::overloaded("request bodies and responses use all of their memory limit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn shares_are_taken_and_given_back() {
        let bodies = Bodies::new(1 << 20, 1 << 20);
        assert!(bodies.share(1, usize::MAX).is_err());
        let first = bodies.share(1, 900 << 10).expect("there is room");
        assert!(bodies.share(1, 200 << 10).is_err());
        assert!(bodies.share(1, SMALL).is_ok(), "what is small is not counted");
        assert_eq!(bodies.taken(), 900 << 10);
        let mut growing = Share::default();
        let soon = Duration::from_millis(1);
        assert!(bodies.grow(1, &mut growing, 1, soon).await.is_ok());
        assert!(bodies.grow(1, &mut growing, 100 << 10, soon).await.is_ok());
        assert!(bodies.grow(1, &mut growing, 200 << 10, soon).await.is_err());
        assert!(bodies.grow(1, &mut growing, 120 << 10, soon).await.is_ok());
        drop(first);
        assert!(bodies.grow(1, &mut growing, 1 << 20, soon).await.is_ok());
        drop(growing);
        assert!(bodies.share(1, 1 << 20).is_ok());
        assert_eq!(bodies.taken(), 0);
    }

    #[tokio::test]
    async fn one_client_leaves_room_for_others() {
        let bodies = Bodies::new(1 << 20, 1);
        let _held = bodies.share_of_any(1, 512 << 10).expect("half is free");
        assert!(bodies.share_of_any(1, 1).is_err());
        assert!(bodies.share_of_any(2, 512 << 10).is_ok());
        let waits = bodies.wait(1, 1);
        assert!(tokio::time::timeout(Duration::from_millis(1), waits).await.is_err());
        for client in 10..3 + MANY_CLIENTS as u64 * 2 {
            assert!(bodies.share_of_any(client, 1).is_ok());
        }
        let clients = bodies.0.clients.lock().expect("no panic").len();
        assert!(clients <= MANY_CLIENTS + 1, "{clients} are remembered");
        assert!(bodies.share_of_any(1, 1).is_err(), "a client that holds something is not forgotten");
    }
}

//! The octets of a body → its share of the memory that all bodies together may take.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;

/// Bodies up to this size are not counted: `in_flight` bounds what they take.
const SMALL: usize = 64 << 10;

/// Octets in one permit.
const UNIT: usize = 1024;

/// What bodies may take. Clones share it.
#[derive(Clone)]
pub(crate) struct Bodies(Arc<Semaphore>);

/// What a body has of it; given back when it is dropped.
#[derive(Default)]
pub(crate) struct Share(Option<OwnedSemaphorePermit>);

impl Bodies {
    /// So many octets in all.
    pub(crate) fn new(octets: usize) -> Self {
        let units = (octets / UNIT).clamp(1, Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(units)))
    }

    /// The share of a body of this size, if there is room for it now.
    pub(crate) fn share(&self, octets: usize) -> Result<Share, Problem> {
        if octets <= SMALL {
            return Ok(Share(None));
        }
        let permit = Arc::clone(&self.0).try_acquire_many_owned(units_of(octets));
        let permit = permit.map_err(|_| no_room())?;
        Ok(Share(Some(permit)))
    }

    /// Makes a share large enough for what has grown to this size, however small that is. Waits for room, but not for
    /// long: two that have a part and wait for the rest would wait for each other.
    pub(crate) async fn grow(
        &self,
        share: &mut Share,
        octets: usize,
        patience: Duration,
    ) -> Result<(), Problem> {
        let held = share.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = units_of(octets).saturating_sub(u32::try_from(held).unwrap_or(u32::MAX));
        if more == 0 {
            return Ok(());
        }
        let acquired = Arc::clone(&self.0).acquire_many_owned(more);
        match (tokio::time::timeout(patience, acquired).await, &mut share.0) {
            (Ok(Ok(permit)), Some(held)) => held.merge(permit),
            (Ok(Ok(permit)), none) => *none = Some(permit),
            _ => return Err(no_room()),
        }
        Ok(())
    }
}

fn units_of(octets: usize) -> u32 {
    u32::try_from(octets.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

fn no_room() -> Problem {
    Problem::overloaded("the bodies that are being answered take all the memory that they may")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn shares_are_taken_and_given_back() {
        let bodies = Bodies::new(1 << 20);
        assert!(bodies.share(usize::MAX).is_err());
        let first = bodies.share(900 << 10).expect("there is room");
        assert!(bodies.share(200 << 10).is_err());
        assert!(bodies.share(SMALL).is_ok(), "what is small is not counted");
        let mut growing = Share::default();
        let soon = Duration::from_millis(1);
        assert!(bodies.grow(&mut growing, 1, soon).await.is_ok());
        assert!(bodies.grow(&mut growing, 100 << 10, soon).await.is_ok());
        assert!(bodies.grow(&mut growing, 200 << 10, soon).await.is_err());
        assert!(bodies.grow(&mut growing, 120 << 10, soon).await.is_ok());
        drop(first);
        assert!(bodies.grow(&mut growing, 1 << 20, soon).await.is_ok());
        drop(growing);
        assert!(bodies.share(1 << 20).is_ok());
    }
}

//! The time. This is the only file that reads a clock or sleeps, so that tests can script both.

use std::pin::Pin;
#[cfg(any(feature = "disk", feature = "redis"))]
use std::time::Instant;
use std::time::{Duration, SystemTime};

/// A boxed future, as the traits of this crate give them.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Tells the time, and waits.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> SystemTime;

    /// Waits for so long.
    fn sleep(&self, duration: Duration) -> Later<'_, ()>;
}

/// The clock of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn sleep(&self, duration: Duration) -> Later<'_, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Waits for a future, but no longer than so long: `None` when the time is over first.
pub(crate) async fn within<T>(
    clock: &dyn Clock,
    duration: Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        // What is done in time counts, also where the time is over in the same moment.
        biased;
        value = future => Some(value),
        () = clock.sleep(duration) => None,
    }
}

/// A moment, for how long something takes; of no use as a time of day. Stores are timed by it, and by no
/// scripted clock: what they wait for is on the other side of a disk or a socket.
#[cfg(any(feature = "disk", feature = "redis"))]
pub(crate) fn moment() -> Instant {
    Instant::now()
}

/// Waits for a store, but no longer than so long.
#[cfg(feature = "redis")]
pub(crate) async fn at_most<T>(duration: Duration, future: impl Future<Output = T>) -> Option<T> {
    within(&SystemClock, duration, future).await
}

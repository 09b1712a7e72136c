//! The time. This is the only file that reads a clock or sleeps, so that tests can script both.

use std::pin::Pin;
#[cfg(any(feature = "disk", feature = "redis"))]
use std::time::Instant;
use std::time::{Duration, SystemTime};

/// A boxed future, as the traits of this crate give them.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Gives the time, and waits.
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

/// Waits for a future, with a timeout: `None` if the time is over first.
pub(crate) async fn within<T>(
    clock: &dyn Clock,
    duration: Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        // A result counts even if the time ends in the same moment.
        biased;
        value = future => Some(value),
        () = clock.sleep(duration) => None,
    }
}

/// A moment, to measure how long something takes; it is not a time of day. Stores are timed with it, not with
/// a scripted clock, because they wait for a real disk or socket.
#[cfg(any(feature = "disk", feature = "redis"))]
pub(crate) fn moment() -> Instant {
    Instant::now()
}

/// Waits for a store, with a timeout.
#[cfg(feature = "redis")]
pub(crate) async fn at_most<T>(duration: Duration, future: impl Future<Output = T>) -> Option<T> {
    within(&SystemClock, duration, future).await
}

//! Things to keep, and waiting for something to become true.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use mayi::access::{AccessResult, Origin};
use mayi_fetch::kept::{FileCopy, Kept, LastAttempt};

/// The origin of a name.
pub(crate) fn origin(name: &str) -> Origin {
    Origin::of_url(&format!("https://{name}.example")).expect("an origin")
}

/// The time of so many milliseconds.
pub(crate) fn time(milliseconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds)
}

/// The attempt at this time, and a file of so many octets that no compression makes smaller.
pub(crate) fn kept(name: &str, at: u64, octets: usize) -> Arc<Kept> {
    let body: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(octets).collect();
    let copy = FileCopy::new(format!("https://{name}.example/robots.txt"), body, time(at));
    let last = LastAttempt::new(time(at), AccessResult::Successful);
    Arc::new(Kept::new(origin(name), Some(copy), last))
}

/// Waits until something is so. The limit is only there so that a failure is no hang.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let limit = Instant::now() + Duration::from_mins(1);
    while !is_so().await {
        assert!(Instant::now() < limit, "still waiting: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

//! A client and a time → whether it sends too many requests: one token bucket per client.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use quick_cache::sync::Cache;

/// How many clients are remembered. A forgotten client starts with a full bucket.
const CLIENTS: usize = 65_536;

/// The request rate of each client.
pub(crate) struct Rates {
    per_second: f64,
    burst: f64,
    buckets: Cache<u64, std::sync::Arc<Mutex<Bucket>>>,
}

struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Rates {
    /// `None` if there is no limit.
    pub(crate) fn new(per_second: u32, burst: u32) -> Option<Self> {
        let burst = if burst == 0 { per_second } else { burst };
        let limited = per_second > 0;
        limited.then(|| Self {
            per_second: f64::from(per_second),
            burst: f64::from(burst),
            buckets: Cache::new(CLIENTS),
        })
    }

    /// Takes a token of a client, or says in how many seconds there will be one.
    pub(crate) fn take(&self, client: u64, now: Instant) -> Result<(), u64> {
        let new =
            || Ok::<_, ()>(std::sync::Arc::new(Mutex::new(Bucket { tokens: self.burst, at: now })));
        let Ok(bucket) = self.buckets.get_or_insert_with(&client, new) else { return Ok(()) };
        let mut bucket = bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.tokens = (bucket.tokens + passed * self.per_second).min(self.burst);
        bucket.at = bucket.at.max(now);
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            return Ok(());
        }
        let wait = ((1.0 - bucket.tokens) / self.per_second).ceil();
        // A wait is at most a second for each token that is missing, and one is.
        #[allow(clippy::cast_sign_loss)]
        Err((wait as u64).max(1))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_bucket_empties_and_fills() {
        assert!(Rates::new(0, 5).is_none());
        let rates = Rates::new(2, 3).expect("a limit");
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(rates.take(1, start), Ok(()));
        }
        assert_eq!(rates.take(1, start), Err(1));
        assert_eq!(rates.take(2, start), Ok(()));
        assert_eq!(rates.take(1, start + Duration::from_millis(499)), Err(1));
        assert_eq!(rates.take(1, start + Duration::from_millis(500)), Ok(()));
        let later = start + Duration::from_hours(1);
        for _ in 0..3 {
            assert_eq!(rates.take(1, later), Ok(()));
        }
        assert_eq!(rates.take(1, later), Err(1));
    }
}

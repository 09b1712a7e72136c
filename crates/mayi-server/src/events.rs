//! Events of the fetcher → lines of the log, with a limited rate for each kind.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mayi_fetch::events::{Event, Listener, Watcher};

use crate::traces;

/// How long a kind of event is not logged again. Failures often repeat.
const PAUSE: Duration = Duration::from_secs(10);

/// Receives events and logs them.
#[derive(Default)]
pub(crate) struct Told(Mutex<HashMap<&'static str, Last>>);

/// When a kind was logged last, and how many were not since.
struct Last {
    at: Instant,
    silent: u64,
}

impl Told {
    /// How many of a kind were not logged before this one, or `None` if this one must not be logged either.
    fn note(&self, name: &'static str, now: Instant) -> Option<u64> {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match kinds.get_mut(name) {
            Some(last) if now.saturating_duration_since(last.at) < PAUSE => {
                last.silent += 1;
                None
            }
            Some(last) => {
                last.at = now;
                Some(std::mem::take(&mut last.silent))
            }
            None => {
                kinds.insert(name, Last { at: now, silent: 0 });
                Some(0)
            }
        }
    }
}

impl Listener for Told {
    fn watcher(&self) -> Option<Arc<dyn Watcher>> {
        traces::watcher()
    }

    fn hear(&self, event: &Event<'_>) {
        if let Some(more) = self.note(event.name(), Instant::now()) {
            match event {
                Event::Guarded { .. } | Event::StoreRecovered { .. } => {
                    tracing::info!(event = event.name(), more, "{event}");
                }
                _ => tracing::warn!(event = event.name(), more, "{event}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_logged_once_in_a_while() {
        let told = Told::default();
        let start = Instant::now();
        assert_eq!(told.note("a", start), Some(0));
        assert_eq!(told.note("b", start), Some(0));
        assert_eq!(told.note("a", start + PAUSE / 2), None);
        assert_eq!(told.note("a", start + PAUSE / 2), None);
        assert_eq!(told.note("a", start + PAUSE), Some(2));
        assert_eq!(told.note("a", start + 2 * PAUSE), Some(0));
    }
}

//! How many connections there may be at once, to one host and to all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Gives turns.
#[derive(Clone)]
pub(crate) struct Manners {
    all: Arc<Semaphore>,
    hosts: Arc<Hosts>,
}

/// The hosts that somebody is connected to or waits for; the others are not remembered.
struct Hosts {
    most: usize,
    busy: Mutex<HashMap<Box<str>, Arc<Semaphore>>>,
}

/// A turn, or the wait for one: it is over when this is dropped.
pub(crate) struct Turn {
    host: Box<str>,
    hosts: Arc<Hosts>,
    /// The semaphore of the host: whoever holds it keeps the host on the list.
    semaphore: Option<Arc<Semaphore>>,
    permits: Vec<OwnedSemaphorePermit>,
}

impl Manners {
    pub(crate) fn new(per_host: usize, in_total: usize) -> Self {
        let hosts = Hosts { most: per_host.max(1), busy: Mutex::default() };
        Self { all: Arc::new(Semaphore::new(in_total.max(1))), hosts: Arc::new(hosts) }
    }

    /// Waits for a turn with a host: first with the host, so that nobody waits for a slow one while
    /// holding what others could use.
    pub(crate) async fn turn(&self, host: &str) -> Turn {
        let semaphore = {
            let mut busy = self.hosts.busy.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Semaphore::new(self.hosts.most));
            Arc::clone(busy.entry(host.into()).or_insert_with(new))
        };
        let mut turn = Turn {
            host: host.into(),
            hosts: Arc::clone(&self.hosts),
            semaphore: Some(Arc::clone(&semaphore)),
            permits: Vec::new(),
        };
        // A semaphore fails only when it is closed, and these never are.
        turn.permits.extend(semaphore.acquire_owned().await);
        turn.permits.extend(Arc::clone(&self.all).acquire_owned().await);
        turn
    }

    #[cfg(test)]
    fn busy(&self) -> usize {
        self.hosts.busy.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.permits.clear();
        drop(self.semaphore.take());
        let mut busy = self.hosts.busy.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever waits for the host holds it too.
        if busy.get(&self.host).is_some_and(|semaphore| Arc::strong_count(semaphore) == 1) {
            busy.remove(&self.host);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_more_at_once_than_may_be() {
        let manners = Manners::new(2, 5);
        let at_one = Arc::new(AtomicUsize::new(0));
        let at_all = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..200)
            .map(|n| {
                let (manners, at_all) = (manners.clone(), Arc::clone(&at_all));
                let at_one = (n % 4 == 0).then(|| Arc::clone(&at_one));
                tokio::spawn(async move {
                    let host = if n % 4 == 0 { "one".to_owned() } else { format!("h{n}") };
                    let _turn = manners.turn(&host).await;
                    let all = at_all.fetch_add(1, Ordering::SeqCst);
                    let one = at_one.as_ref().map_or(0, |one| one.fetch_add(1, Ordering::SeqCst));
                    tokio::task::yield_now().await;
                    at_all.fetch_sub(1, Ordering::SeqCst);
                    if let Some(one) = at_one {
                        one.fetch_sub(1, Ordering::SeqCst);
                    }
                    assert!(all < 5 && one < 2, "{all} others, {one} with the same host");
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("the bounds hold");
        }
        assert_eq!(manners.busy(), 0, "idle hosts are forgotten");
    }

    #[tokio::test]
    async fn a_turn_that_is_given_up_is_forgotten_too() {
        let manners = Manners::new(1, 1);
        let first = manners.turn("a").await;
        let second = manners.turn("a");
        tokio::select! {
            biased;
            _ = second => panic!("there is one turn only"),
            () = tokio::task::yield_now() => {}
        }
        drop(first);
        assert_eq!(manners.busy(), 0);
        let other = manners.turn("b").await;
        // It has its host, and waits for a place among all.
        tokio::select! {
            biased;
            _ = manners.turn("a") => panic!("there is one turn only"),
            () = tokio::task::yield_now() => {}
        }
        assert_eq!(manners.busy(), 1, "whoever gave up waiting has left no trace");
        drop(other);
        drop(manners.turn("a").await);
    }
}

//! Costly work → its result, on threads of its own and in turn.
//!
//! The threads that wait for sockets must never work for long, or all clients wait. So costly work is
//! done here, by two threads per core. The first of the two takes small work of clients that have used
//! little time lately. The second takes everything else at a lower priority, so that a client with much
//! work does not delay one with little: the system runs the first thread whenever it has something to
//! do. Half of the second threads are reserved for small work. Clients take turns. Among the work of
//! one client, the connection that has used the least goes first, so that a small request does not wait
//! behind large ones. Work whose client has gone is not started and its resources are released at once;
//! if it has started, it is told to stop.

mod processor;
mod turns;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use mayi::Stop;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::problem::Problem;
use turns::{Queue, Takes};

/// Work about more octets than this is not quick, for any client.
pub(crate) const QUICK: usize = 16 << 10;

/// Work about more octets than this is large.
pub(crate) const SMALL: usize = 64 << 10;

/// The source of work: a client, by its key or address, and one of its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct By {
    pub(crate) client: u64,
    pub(crate) connection: u64,
}

/// The maximum size of a file for work that was announced with this many octets.
pub(crate) fn most_of(octets: usize) -> usize {
    [QUICK, SMALL].into_iter().find(|most| octets <= *most).unwrap_or(usize::MAX)
}

/// The threads, and what waits for them.
pub(crate) struct Pool(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    /// Signals work for the quick threads, and for the others.
    quick: Condvar,
    others: Condvar,
    /// How much work is queued for clients that still wait, and the limit.
    wanted: AtomicUsize,
    most_waiting: usize,
}

type Job = Box<dyn FnOnce() + Send>;

/// Queued work, until it is started or its client has gone: then its resources are released at once.
type Slot = Arc<Mutex<Option<Job>>>;

/// The caller that waits for work. When dropped, it removes the work from the queue, or tells it to stop if it has
/// started.
struct Waiter<'p> {
    slot: Slot,
    stop: Stop,
    shared: &'p Shared,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.stop.stop();
        let job = self.slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        if job.is_some() {
            self.shared.wanted.fetch_sub(1, Relaxed);
        }
    }
}

impl Pool {
    /// Starts the threads. At most this much work may be queued.
    pub(crate) fn new(most_waiting: usize) -> Self {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            quick: Condvar::new(),
            others: Condvar::new(),
            wanted: AtomicUsize::new(0),
            most_waiting,
        });
        let cores = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        for number in 0..2 * cores {
            let (shared, runtime) = (Arc::clone(&shared), Handle::current());
            let takes = match number {
                _ if number < cores => Takes::Quick,
                _ if number < cores + cores / 2 => Takes::SmallAndLarge,
                _ => Takes::Small,
            };
            let thread = std::thread::Builder::new().name(format!("mayi-work-{number}"));
            let started = thread.spawn(move || {
                // Work may find that a file has to be asked for again, which is started from there.
                let _entered = runtime.enter();
                if takes != Takes::Quick {
                    processor::let_others_go_first();
                }
                shared.work(takes);
            });
            started.expect("the system has threads for the cores that it has");
        }
        Self(shared)
    }

    /// Does work about this many octets. If the caller no longer waits, it is not started, or is told to stop.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        by: By,
        octets: usize,
        work: impl FnOnce(&Stop) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (sender, result) = oneshot::channel();
        let stop = Stop::default();
        let stop_there = stop.clone();
        let job = move || {
            // A panic in one answer must not affect the others.
            if let Ok(result) = catch_unwind(AssertUnwindSafe(|| work(&stop_there))) {
                drop(sender.send(result));
            }
        };
        let slot: Slot = Arc::new(Mutex::new(Some(Box::new(job))));
        self.0.push(by, octets, Arc::clone(&slot))?;
        let _waiter = Waiter { slot, stop, shared: &self.0 };
        result.await.map_err(|_| Problem::internal())
    }

    /// How much waits.
    pub(crate) fn waiting(&self) -> usize {
        self.0.wanted.load(Relaxed)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.0.lock().has_ended = true;
        self.0.quick.notify_all();
        self.0.others.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, by: By, octets: usize, slot: Slot) -> Result<(), Problem> {
        let now = Instant::now();
        let mut queue = self.lock();
        let wanted = self.wanted.load(Relaxed);
        if wanted >= self.most_waiting {
            return Err(Problem::overloaded("the queue of work is full"));
        }
        if queue.len() > 2 * wanted + 1024 {
            queue.forget_unwanted();
        }
        self.wanted.fetch_add(1, Relaxed);
        let takes = queue.push(by, octets, slot, now);
        drop(queue);
        match takes {
            Takes::Quick => self.quick.notify_one(),
            Takes::Small => self.others.notify_one(),
            // Not every thread takes what is large.
            Takes::SmallAndLarge => self.others.notify_all(),
        }
        Ok(())
    }

    /// Works until the pool ends.
    fn work(&self, takes: Takes) {
        let more = if takes == Takes::Quick { &self.quick } else { &self.others };
        let mut queue = self.lock();
        while !queue.has_ended {
            let Some((by, slot)) = queue.pop(takes) else {
                queue = more.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(queue);
            let job = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            let mut took = None;
            if let Some(job) = job {
                self.wanted.fetch_sub(1, Relaxed);
                let began = processor::time_of_this_thread();
                job();
                took = Some(processor::time_of_this_thread().saturating_sub(began));
            }
            let now = Instant::now();
            queue = self.lock();
            if let Some(took) = took {
                queue.charge(by.client, took, now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_nobody_waits_for_is_not_begun_and_a_fault_is_an_answer() {
        let by = By { client: 1, connection: 1 };
        let pool = Pool::new(100);
        let (go, goes) = std::sync::mpsc::channel::<()>();
        // One thread takes what is large, so that the second of these waits.
        let first = pool.run(by, SMALL + 1, move |_| goes.recv().is_ok());
        let began = Arc::new(Mutex::new(false));
        let noted = Arc::clone(&began);
        let mut first = std::pin::pin!(first);
        assert!(futures_are_pending(first.as_mut()).await);
        {
            let second = pool.run(by, SMALL + 1, move |_| *noted.lock().expect("no panic") = true);
            let mut second = std::pin::pin!(second);
            if std::thread::available_parallelism().map_or(2, usize::from) < 4 {
                assert!(futures_are_pending(second.as_mut()).await);
            }
        }
        assert!(pool.run(by, 1, |_| 1 + 1).await.is_ok_and(|it| it == 2), "small work does not wait");
        go.send(()).expect("it waits");
        assert!(first.await.is_ok_and(|it| it));
        assert!(pool.run(by, SMALL + 1, |_| ()).await.is_ok());
        if std::thread::available_parallelism().map_or(2, usize::from) < 4 {
            assert!(!*began.lock().expect("no panic"));
        }
        assert!(pool.run(by, 1, |_| panic!("a fault that the test makes")).await.is_err());
        assert_eq!(pool.waiting(), 0);
    }

    #[tokio::test]
    async fn what_has_begun_is_told_to_stop_with_the_last_who_waits() {
        let by = By { client: 1, connection: 1 };
        let pool = Pool::new(100);
        let (began, has_begun) = std::sync::mpsc::channel();
        let (ended, has_ended) = std::sync::mpsc::channel();
        {
            let work = pool.run(by, 1, move |stop| {
                began.send(()).expect("somebody waits");
                while !stop.is_stopped() {
                    std::thread::yield_now();
                }
                ended.send(()).expect("somebody waits");
            });
            let mut work = std::pin::pin!(work);
            assert!(futures_are_pending(work.as_mut()).await);
            has_begun.recv().expect("it begins");
        }
        has_ended.recv_timeout(std::time::Duration::from_mins(1)).expect("it was told to stop");
    }

    /// Whether a future is still pending after one poll.
    async fn futures_are_pending<F: Future>(mut future: std::pin::Pin<&mut F>) -> bool {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(future.as_mut().poll(context).is_pending())
        })
        .await
    }
}

//! Costly work → its result, on threads of its own and in turn.
//!
//! The threads that wait for sockets must never work for long, or everybody waits. So what is costly is done here: by
//! as many threads as there are cores, half of which are kept for small work. Clients take turns; of one client's work
//! the connection goes first that has had the least of it, so that a small question does not wait behind large ones.
//! What nobody waits for any more is not begun, and what it holds is let go at once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::problem::Problem;

/// Work about more octets than this is large.
pub(crate) const SMALL: usize = 64 << 10;

/// Who asks: a client, by its key or address, and one of its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct By {
    pub(crate) client: u64,
    pub(crate) connection: u64,
}

/// The threads, and what waits for them.
pub(crate) struct Pool(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    more: Condvar,
    /// How much waits that somebody waits for, and how much may.
    wanted: AtomicUsize,
    most_waiting: usize,
}

#[derive(Default)]
struct Queue {
    small: Lane,
    large: Lane,
    /// Whether a thread that takes both took a large one the last time.
    was_large: bool,
    has_ended: bool,
}

type Job = Box<dyn FnOnce() + Send>;

/// Work that waits, until it is begun or nobody waits for it any more: then what it holds is let go at once.
type Slot = Arc<Mutex<Option<Job>>>;

/// Whoever waits for work. Dropped, it takes the work back where that has not begun.
struct Waiter<'p> {
    slot: Slot,
    shared: &'p Shared,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let job = self.slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        if job.is_some() {
            self.shared.wanted.fetch_sub(1, Relaxed);
        }
    }
}

impl Pool {
    /// Starts the threads. So many pieces of work may wait.
    pub(crate) fn new(most_waiting: usize) -> Self {
        let (queue, more, wanted) = (Mutex::default(), Condvar::new(), AtomicUsize::new(0));
        let shared = Shared { queue, more, wanted, most_waiting };
        let shared = Arc::new(shared);
        let threads = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        for number in 0..threads {
            let (shared, runtime) = (Arc::clone(&shared), Handle::current());
            let takes_large = number < threads / 2;
            let thread = std::thread::Builder::new().name(format!("mayi-work-{number}"));
            let started = thread.spawn(move || {
                // Work may find that a file has to be asked for again, which is started from there.
                let _entered = runtime.enter();
                while let Some(job) = shared.next(takes_large) {
                    job();
                }
            });
            started.expect("the system has threads for the cores that it has");
        }
        Self(shared)
    }

    /// Does work about so many octets. It is not begun where nobody waits for its result any more.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        by: By,
        octets: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (sender, result) = oneshot::channel();
        let job = move || {
            // A fault of ours in one answer must not cost the others theirs.
            if let Ok(result) = catch_unwind(AssertUnwindSafe(work)) {
                drop(sender.send(result));
            }
        };
        let slot: Slot = Arc::new(Mutex::new(Some(Box::new(job))));
        self.0.push(by, octets, Arc::clone(&slot))?;
        let _waiter = Waiter { slot, shared: &self.0 };
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
        self.0.more.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, by: By, octets: usize, slot: Slot) -> Result<(), Problem> {
        let mut queue = self.lock();
        let wanted = self.wanted.load(Relaxed);
        if wanted >= self.most_waiting {
            return Err(Problem::overloaded("more work waits than can be done soon"));
        }
        if queue.small.len + queue.large.len > 2 * wanted + 1024 {
            queue.small.forget_unwanted();
            queue.large.forget_unwanted();
        }
        self.wanted.fetch_add(1, Relaxed);
        let is_small = octets <= SMALL;
        let lane = if is_small { &mut queue.small } else { &mut queue.large };
        lane.push(by, octets, slot);
        drop(queue);
        // Not every thread takes what is large.
        if is_small {
            self.more.notify_one();
        } else {
            self.more.notify_all();
        }
        Ok(())
    }

    fn next(&self, takes_large: bool) -> Option<Job> {
        let mut queue = self.lock();
        loop {
            if queue.has_ended {
                return None;
            }
            if let Some(slot) = queue.pop(takes_large) {
                let job = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
                if job.is_some() {
                    self.wanted.fetch_sub(1, Relaxed);
                    return job;
                }
                continue;
            }
            queue = self.more.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Queue {
    /// What comes next; a thread that takes both takes them in turn.
    fn pop(&mut self, takes_large: bool) -> Option<Slot> {
        if !takes_large {
            return self.small.pop();
        }
        self.was_large = !self.was_large;
        if self.was_large {
            self.large.pop().or_else(|| self.small.pop())
        } else {
            self.small.pop().or_else(|| self.large.pop())
        }
    }
}

/// Work of all clients, who take turns.
#[derive(Default)]
struct Lane {
    turns: VecDeque<u64>,
    clients: HashMap<u64, Client>,
    len: usize,
}

/// Work of one client. Each connection has a mark that its work moves on by its octets, and what has the lowest mark
/// goes first; a connection that comes anew starts where the others are.
#[derive(Default)]
struct Client {
    now: u64,
    marks: HashMap<u64, u64>,
    jobs: BinaryHeap<Reverse<Waiting>>,
    count: u64,
}

struct Waiting {
    mark: u64,
    number: u64,
    slot: Slot,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.mark, self.number).cmp(&(other.mark, other.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        (self.mark, self.number) == (other.mark, other.number)
    }
}

impl Eq for Waiting {}

impl Lane {
    fn push(&mut self, by: By, octets: usize, slot: Slot) {
        let client = self.clients.entry(by.client).or_insert_with(|| {
            self.turns.push_back(by.client);
            Client::default()
        });
        let mark = client.marks.entry(by.connection).or_default();
        // However small it is, looking at it is work.
        *mark = client.now.max(*mark) + octets as u64 + 1024;
        client.count += 1;
        client.jobs.push(Reverse(Waiting { mark: *mark, number: client.count, slot }));
        self.len += 1;
    }

    fn pop(&mut self) -> Option<Slot> {
        let id = self.turns.pop_front()?;
        let client = self.clients.get_mut(&id)?;
        let Reverse(next) = client.jobs.pop()?;
        client.now = next.mark;
        self.len -= 1;
        if client.jobs.is_empty() {
            // Whoever has nothing waiting is forgotten, so that nobody is remembered for ever.
            self.clients.remove(&id);
        } else {
            self.turns.push_back(id);
        }
        Some(next.slot)
    }

    /// Forgets the places of work that was taken back.
    fn forget_unwanted(&mut self) {
        let is_wanted = |Reverse(waiting): &Reverse<Waiting>| {
            waiting.slot.lock().unwrap_or_else(PoisonError::into_inner).is_some()
        };
        self.clients.retain(|_, client| {
            client.jobs.retain(is_wanted);
            !client.jobs.is_empty()
        });
        let clients = &self.clients;
        self.turns.retain(|id| clients.contains_key(id));
        self.len = clients.values().map(|client| client.jobs.len()).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(lane: &mut Lane, heard: &Arc<Mutex<Vec<&'static str>>>) -> Vec<&'static str> {
        while let Some(slot) = lane.pop() {
            let job = slot.lock().expect("no panic").take();
            job.expect("it is wanted")();
        }
        std::mem::take(&mut heard.lock().expect("no panic"))
    }

    #[test]
    fn clients_take_turns_and_small_work_goes_before_large_work_of_others() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let mut lane = Lane::default();
        let mut push = |client, connection, octets, name: &'static str| {
            let heard = Arc::clone(&heard);
            let job = move || heard.lock().expect("no panic").push(name);
            let slot: Slot = Arc::new(Mutex::new(Some(Box::new(job))));
            lane.push(By { client, connection }, octets, Arc::clone(&slot));
            slot
        };
        for name in ["a1", "a2", "a3"] {
            push(1, 1, 50_000, name);
        }
        // Two that nobody waits for: one of a client that has others, and all of another client.
        for client in [1, 3] {
            push(client, 9, 1, "unwanted").lock().expect("no panic").take();
        }
        push(2, 2, 50_000, "b1");
        push(1, 3, 100, "small of a");
        push(2, 2, 50_000, "b2");
        lane.forget_unwanted();
        assert_eq!(lane.len, 6);
        assert_eq!(names(&mut lane, &heard), ["small of a", "b1", "a1", "b2", "a2", "a3"]);
        assert!(lane.clients.is_empty() && lane.turns.is_empty() && lane.len == 0);
    }

    #[tokio::test]
    async fn what_nobody_waits_for_is_not_begun_and_a_fault_is_an_answer() {
        let by = By { client: 1, connection: 1 };
        let pool = Pool::new(100);
        let (go, goes) = std::sync::mpsc::channel::<()>();
        // One thread takes what is large, so that the second of these waits.
        let first = pool.run(by, SMALL + 1, move || goes.recv().is_ok());
        let began = Arc::new(Mutex::new(false));
        let noted = Arc::clone(&began);
        let mut first = std::pin::pin!(first);
        assert!(futures_are_pending(first.as_mut()).await);
        {
            let second = pool.run(by, SMALL + 1, move || *noted.lock().expect("no panic") = true);
            let mut second = std::pin::pin!(second);
            if std::thread::available_parallelism().map_or(2, usize::from) < 4 {
                assert!(futures_are_pending(second.as_mut()).await);
            }
        }
        assert!(pool.run(by, 1, || 1 + 1).await.is_ok_and(|it| it == 2), "small work does not wait");
        go.send(()).expect("it waits");
        assert!(first.await.is_ok_and(|it| it));
        assert!(pool.run(by, SMALL + 1, || ()).await.is_ok());
        if std::thread::available_parallelism().map_or(2, usize::from) < 4 {
            assert!(!*began.lock().expect("no panic"));
        }
        assert!(pool.run(by, 1, || panic!("a fault that the test makes")).await.is_err());
        assert_eq!(pool.waiting(), 0);
    }

    /// Whether a future has nothing yet, after it was asked once.
    async fn futures_are_pending<F: Future>(mut future: std::pin::Pin<&mut F>) -> bool {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(future.as_mut().poll(context).is_pending())
        })
        .await
    }
}

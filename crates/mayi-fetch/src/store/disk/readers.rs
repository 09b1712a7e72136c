//! Threads that read for tasks, so that a slow disk never stops the runtime.
//!
//! They are not the runtime's own threads for blocking work: a crawler resolves thousands of names on those,
//! and a cached answer would wait behind them.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// A few threads that take jobs in turn. They end when it is dropped.
pub(super) struct Readers {
    jobs: Sender<Job>,
}

impl Readers {
    pub(super) fn start() -> io::Result<Self> {
        let (jobs, queue) = channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        let threads = thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 8));
        for _ in 0..threads {
            let queue = Arc::clone(&queue);
            thread::Builder::new().name("mayi-store-read".into()).spawn(move || work(&queue))?;
        }
        Ok(Self { jobs })
    }

    /// The result of a job; none if it panicked.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (done, result) = oneshot::channel();
        let job = move || {
            // The task that asked is gone, so nobody waits for the result.
            if !done.is_closed() {
                let _ = done.send(job());
            }
        };
        self.jobs.send(Box::new(job)).ok()?;
        result.await.ok()
    }
}

fn work(queue: &Mutex<Receiver<Job>>) {
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        // A damaged file must not take the threads away from every other reader.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

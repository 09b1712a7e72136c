//! The one thread that writes: changes in, one durable transaction for many of them, then the answers.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};

use super::file::File;
use crate::clock::moment;
use crate::store::{StoreError, StoreErrorKind};

/// How long changes are collected. A single caller does not wait for it.
const GATHERING: Duration = Duration::from_millis(20);

/// The most changes, and the most octets, in one transaction.
const MOST_CHANGES: usize = 1024;
const MOST_OCTETS: usize = 8 << 20;

/// The most that may wait to be written, in units of a KiB: further writes wait for room.
const WAITING: u32 = 64 << 10;

/// Something to write.
pub(super) enum Change {
    Save {
        origin: Box<str>,
        at: u64,
        octets: Vec<u8>,
    },
    Remove {
        origin: Box<str>,
    },
    /// Removes everything.
    Clear,
    /// Returns space to the disk.
    Compact,
}

impl Change {
    fn octets(&self) -> usize {
        match self {
            Self::Save { octets, .. } => octets.len(),
            Self::Remove { .. } | Self::Clear | Self::Compact => 0,
        }
    }
}

/// A change, and where to report its result: whether there was something before.
struct Order {
    change: Change,
    done: oneshot::Sender<Result<bool, StoreError>>,
}

pub(super) struct Writer {
    room: Semaphore,
    // Nothing only while it is being dropped.
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(file: Arc<File>) -> io::Result<Self> {
        let (orders, queue) = channel();
        let work = move || work(&file, &queue);
        let thread = thread::Builder::new().name("mayi-store-write".into()).spawn(work)?;
        let room = Semaphore::new(WAITING as usize);
        Ok(Self { room, orders: Some(orders), thread: Some(thread) })
    }

    /// Writes a change; when this returns, the change is on the disk.
    pub(super) async fn change(&self, change: Change) -> Result<bool, StoreError> {
        let stopped = || StoreError::new("the thread that writes the store has stopped");
        let units = u32::try_from(change.octets() / 1024 + 1).unwrap_or(WAITING).min(WAITING);
        let _room = self.room.acquire_many(units).await.map_err(|_| stopped())?;
        let (done, result) = oneshot::channel();
        let orders = self.orders.as_ref().ok_or_else(stopped)?;
        orders.send(Order { change, done }).map_err(|_| stopped())?;
        result.await.map_err(|_| stopped())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.orders = None;
        // The file is closed in order once everything is written.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(file: &File, queue: &Receiver<Order>) {
    // A file that was opened with a smaller bound than before is made smaller step by step.
    let mut is_too_large = file.is_too_large();
    let mut is_busy = false;
    loop {
        let next = if is_too_large { queue.try_recv() } else { queue.recv().map_err(Into::into) };
        let first = match next {
            Ok(order) => Some(order),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => return,
        };
        let (changes, askers) = gather(first, queue, is_busy);
        is_busy = changes.len() > 1;
        // A panic of the library is a failed transaction, and the file is opened again after it.
        let written = catch_unwind(AssertUnwindSafe(|| file.write(&changes)))
            .unwrap_or_else(|_| Err(file.failed(unforeseen("writing"))));
        is_too_large = written.is_ok() && file.is_too_large();
        match written {
            Ok(answers) => {
                let mut answers: Vec<_> = answers.into_iter().map(Ok).collect();
                if let (Some(Change::Compact), Some(last)) = (changes.last(), answers.last_mut()) {
                    let compacted = catch_unwind(AssertUnwindSafe(|| file.compact()))
                        .unwrap_or_else(|_| Err(file.failed(unforeseen("compacting"))));
                    *last = compacted.map(|()| true);
                }
                for (asker, answer) in askers.into_iter().zip(answers) {
                    let _ = asker.send(answer);
                }
            }
            Err(error) => {
                for asker in askers {
                    let _ = asker.send(Err(error.clone()));
                }
            }
        }
    }
}

/// The library takes some damage for a fault of its own, and panics.
fn unforeseen(work: &str) -> StoreError {
    let message = format_args!("{work} failed unexpectedly; the file may be damaged");
    StoreError::of(StoreErrorKind::Damaged, message)
}

type Askers = Vec<oneshot::Sender<Result<bool, StoreError>>>;

/// What to write together. It waits for more only if there were several at once before.
fn gather(first: Option<Order>, queue: &Receiver<Order>, is_busy: bool) -> (Vec<Change>, Askers) {
    let until = moment() + if is_busy { GATHERING } else { Duration::ZERO };
    let (mut changes, mut askers, mut octets) = (Vec::new(), Vec::new(), 0);
    let mut next = first;
    while let Some(order) = next {
        octets += order.change.octets();
        // What was asked for before it is written before it, and what comes later after it.
        let is_last = matches!(order.change, Change::Compact);
        changes.push(order.change);
        askers.push(order.done);
        if is_last || changes.len() >= MOST_CHANGES || octets >= MOST_OCTETS {
            break;
        }
        let left = until.saturating_duration_since(moment());
        next = queue.recv_timeout(left).ok();
    }
    (changes, askers)
}

//! What a fetcher reports to its operator, in addition to its answers: for logs, alarms and readiness.
//!
//! Answers go to strangers, and events do not, so an event has what an answer leaves out: the address
//! that the guard has refused, and the message of the system. An event is reported each time that
//! something happens; a log of them has to limit their number.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use mayi::access::Origin;

use crate::fault::Lack;
use crate::store::StoreError;

tokio::task_local! {
    /// Who watches the work of this task.
    static WATCHER: Option<Arc<dyn Watcher>>;
}

/// Does something that is watched.
pub(crate) async fn watched<T>(watcher: Option<Arc<dyn Watcher>>, work: impl Future<Output = T>) -> T {
    WATCHER.scope(watcher, work).await
}

/// Says that work begins, where somebody watches this task.
pub(crate) fn begin(work: Work<'_>) -> Option<Box<dyn Watched>> {
    WATCHER.try_with(|watcher| watcher.as_ref()?.begin(work)).ok().flatten()
}

/// Hears what happens in a fetcher. It is called on the tasks that fetch, and must not wait for anything.
pub trait Listener: Send + Sync + 'static {
    /// Something has happened.
    fn hear(&self, event: &Event<'_>);

    /// Who watches what is done for a question. This is called on the task that asks; the work is often done on
    /// another one.
    fn watcher(&self) -> Option<Arc<dyn Watcher>> {
        None
    }
}

/// Watches the work that is done for a question, as for traces.
pub trait Watcher: Send + Sync + 'static {
    /// Work begins. It ends when what is given back is dropped.
    fn begin(&self, work: Work<'_>) -> Option<Box<dyn Watched>>;
}

/// Work that is watched.
pub trait Watched: Send {
    /// It will not succeed, for this reason.
    fn failed(&mut self, why: &dyn fmt::Display);
}

/// Work that somebody else has a part in, so that it takes a while.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Work<'w> {
    /// The server of this origin is asked for its file, with all redirects.
    Fetch(&'w Origin),
    /// The store is asked for something.
    Store(StoreWork),
}

impl<F: Fn(&Event<'_>) + Send + Sync + 'static> Listener for F {
    fn hear(&self, event: &Event<'_>) {
        self(event);
    }
}

/// Something that has happened. It is shown as a sentence for a log.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// The store has failed, and the fetcher goes on without it.
    StoreFailed {
        /// What was asked of it.
        work: StoreWork,
        /// What it said.
        error: &'e StoreError,
    },
    /// The store does again what it has failed at.
    StoreRecovered {
        /// What was asked of it.
        work: StoreWork,
        /// How often it had failed in a row.
        failures: u64,
    },
    /// An entry of the store fails its checksum, and counts as absent.
    EntryDamaged {
        /// Whose entry it is.
        origin: &'e Origin,
        /// What the store said.
        error: &'e StoreError,
    },
    /// The guard has ended an attempt.
    Guarded {
        /// Whose file was asked for.
        origin: &'e Origin,
        /// What was not connected to, and why.
        detail: &'e str,
    },
    /// An attempt has failed for something that this machine lacks. Nothing of it is kept.
    LocalFault {
        /// Whose file was asked for.
        origin: &'e Origin,
        /// What is lacking.
        lack: Lack,
        /// The words of the system.
        detail: &'e str,
    },
}

impl Event<'_> {
    /// What has happened, in one word or two: to count, and to bound how often each is logged.
    pub fn name(&self) -> &'static str {
        match self {
            Self::StoreFailed { .. } => "store-failed",
            Self::StoreRecovered { .. } => "store-recovered",
            Self::EntryDamaged { .. } => "entry-damaged",
            Self::Guarded { .. } => "guarded",
            Self::LocalFault { .. } => "local-fault",
        }
    }
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StoreFailed { work, error } => {
                write!(f, "the store failed at {work} ({}): {error}", error.kind())
            }
            Self::StoreRecovered { work, failures } => {
                write!(f, "the store works again at {work}, after {failures} failures")
            }
            Self::EntryDamaged { origin, error } => {
                write!(f, "the stored copy for {origin} is damaged, and is fetched again: {error}")
            }
            Self::Guarded { origin, detail } => {
                write!(f, "the guard ended the fetch for {origin}: {detail}")
            }
            Self::LocalFault { origin, lack, detail } => {
                write!(f, "the fetch for {origin} was not possible here: {lack} ({detail})")
            }
        }
    }
}

/// What is asked of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreWork {
    /// Loading.
    Reading,
    /// Saving and forgetting.
    Writing,
    /// Claims: who of several processes fetches.
    Claiming,
}

impl StoreWork {
    /// The work in one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Writing => "writing",
            Self::Claiming => "claiming",
        }
    }
}

impl fmt::Display for StoreWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How the store is: what it has failed at when it was last asked. What nobody asks of it stays as it was.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StoreHealth {
    /// The work that fails now, if any does.
    pub failing: Vec<FailingWork>,
}

impl StoreHealth {
    /// Whether something fails now. The fetcher answers rightly without its store, and asks servers more often.
    pub fn is_degraded(&self) -> bool {
        !self.failing.is_empty()
    }
}

/// Work that a store fails at now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FailingWork {
    /// What is asked of it.
    pub work: StoreWork,
    /// When it first failed, of the failures in a row.
    pub since: SystemTime,
    /// How often it has failed in a row.
    pub failures: u64,
    /// What it said the last time.
    pub error: StoreError,
}

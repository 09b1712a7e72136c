//! What a fetcher reports to its operator, in addition to its answers: for logs, alarms and readiness.
//!
//! Answers go to clients, and events do not. So an event has what an answer leaves out: the address that the
//! guard refused, and the message of the system. An event is reported each time that something happens; a log
//! of them has to limit their number.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use mayi::access::Origin;

use crate::fault::Lack;
use crate::store::StoreError;

tokio::task_local! {
    /// The watcher of this task.
    static WATCHER: Option<Arc<dyn Watcher>>;
}

/// Runs a future with a watcher.
pub(crate) async fn watched<T>(watcher: Option<Arc<dyn Watcher>>, work: impl Future<Output = T>) -> T {
    WATCHER.scope(watcher, work).await
}

/// Reports to the watcher of this task, if there is one, that work begins.
pub(crate) fn begin(work: Work<'_>) -> Option<Box<dyn Watched>> {
    WATCHER.try_with(|watcher| watcher.as_ref()?.begin(work)).ok().flatten()
}

/// Receives the events of a fetcher. It is called on the tasks that fetch, and must not block.
pub trait Listener: Send + Sync + 'static {
    /// Something has happened.
    fn hear(&self, event: &Event<'_>);

    /// The watcher of the work for a question. This is called on the task of the question; the work is often
    /// done on another one.
    fn watcher(&self) -> Option<Arc<dyn Watcher>> {
        None
    }
}

/// Watches the work that is done for a question, as for traces.
pub trait Watcher: Send + Sync + 'static {
    /// Work begins. It ends when the returned value is dropped.
    fn begin(&self, work: Work<'_>) -> Option<Box<dyn Watched>>;
}

/// Work that is watched.
pub trait Watched: Send {
    /// It will not succeed, for this reason.
    fn failed(&mut self, why: &dyn fmt::Display);
}

/// Work that depends on another machine or a disk, so that it can take long.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Work<'w> {
    /// The request for the file of this origin, with all redirects.
    Fetch(&'w Origin),
    /// The store is asked for something.
    Store(StoreWork),
}

impl<F: Fn(&Event<'_>) + Send + Sync + 'static> Listener for F {
    fn hear(&self, event: &Event<'_>) {
        self(event);
    }
}

/// An event. It is displayed as a sentence for a log.
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
    /// The store works again after failures.
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
    /// The guard ended an attempt.
    Guarded {
        /// Whose file was asked for.
        origin: &'e Origin,
        /// What was not connected to, and why.
        detail: &'e str,
    },
    /// An attempt failed because of a fault of this machine. Nothing of it is cached.
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
    /// The kind of event, in one or two words: to count events, and to limit how often each kind is logged.
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

/// The operations of a store.
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

/// The health of the store: which operations failed when they were last used.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StoreHealth {
    /// The operations that fail now.
    pub failing: Vec<FailingWork>,
}

impl StoreHealth {
    /// Whether something fails now. Without its store the fetcher still gives right answers, but sends more
    /// requests.
    pub fn is_degraded(&self) -> bool {
        !self.failing.is_empty()
    }
}

/// An operation of a store that fails now.
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

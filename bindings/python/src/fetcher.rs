//! The fetcher of mayi-fetch, for blocking callers and for asyncio.
//!
//! A fetcher has a runtime of its own with one thread. After a fork the child has no such thread: it makes a
//! new runtime for its first question, and does not touch that of the parent. Nothing here waits while it
//! holds the GIL, and every wait can be ended by Ctrl-C.

use std::future::Future;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mayi::access::{AfterUnreachable, Origin};
use mayi::report::Answering;
use mayi_fetch::{FetchOptions, InvalidOption, Policy, Robots};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::{PyTraverseError, PyVisit};
use tokio::runtime::Runtime;
use tokio::task::AbortHandle;

use crate::clock::ToldClock;
use crate::errors::OrRaise;
use crate::inputs::Reading;
use crate::robots::RobotsTxt;
use crate::transport::Callable;

/// How often a wait checks for Ctrl-C.
const LISTENING: Duration = Duration::from_millis(50);

/// How long closing waits for running fetches.
const LAST_WAIT: Duration = Duration::from_millis(500);

/// Fetches files, caches them, and returns them.
#[pyclass(frozen, weakref, module = "mayi._mayi")]
pub(crate) struct NativeFetcher {
    settings: Settings,
    state: Mutex<State>,
}

enum State {
    New,
    Running(Arc<Running>),
    Closed,
}

/// What a fetcher is made from, here and after a fork.
struct Settings {
    fetching: FetchOptions,
    reading: Reading,
    policy: Policy,
    client: Option<Arc<Callable>>,
    clock: Option<Arc<ToldClock>>,
}

/// How files are cached, as in `mayi.Keeping`.
#[derive(FromPyObject)]
struct Keeping {
    least_fresh: f64,
    stale_while_revalidate: f64,
    unavailable_uses_copy: bool,
    treat_429_as_unreachable: bool,
    unreachable_for: f64,
    after_unreachable: String,
    jitter: f64,
}

impl Keeping {
    fn policy(&self) -> PyResult<Policy> {
        let mut policy = Policy::default();
        policy.least_fresh = duration(self.least_fresh, "least_fresh")?;
        policy.stale_while_revalidate =
            duration(self.stale_while_revalidate, "stale_while_revalidate")?;
        policy.keeping.unavailable_uses_copy = self.unavailable_uses_copy;
        policy.attempts.treat_429_as_unreachable = self.treat_429_as_unreachable;
        policy.keeping.unreachable_for = duration(self.unreachable_for, "unreachable_for")?;
        policy.keeping.after_unreachable = match &*self.after_unreachable {
            "copy" => AfterUnreachable::Copy,
            "unavailable" => AfterUnreachable::Unavailable,
            other => {
                let other = other.escape_debug();
                return Err(PyValueError::new_err(format!(
                    "after_unreachable is \"copy\" or \"unavailable\", not \"{other}\""
                )));
            }
        };
        if !(0.0..=1.0).contains(&self.jitter) {
            return Err(PyValueError::new_err(format!(
                "jitter is between 0 and 1, not {}",
                self.jitter
            )));
        }
        policy.jitter = self.jitter;
        Ok(policy)
    }
}

fn duration(seconds: f64, name: &str) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err(format!("{name} is a time in seconds, not {seconds}")))
}

fn invalid(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A fetcher at work.
struct Running {
    process: u32,
    fetcher: mayi_fetch::Fetcher,
    /// Nothing only while it is being dropped.
    runtime: Option<Runtime>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if self.process == std::process::id() {
            runtime.shutdown_background();
        } else {
            // Its threads are in the process that was forked; there is nothing to end here.
            std::mem::forget(runtime);
        }
    }
}

impl Running {
    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is there until it is dropped")
    }

    /// The file of a site, if it is available without waiting.
    fn ready(&self, origin: &Origin) -> Option<Robots> {
        let _within = self.runtime().enter();
        self.fetcher.ready(origin)
    }

    /// Runs a future on the runtime and reports its result.
    fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        told: impl FnOnce(T) + Send + 'static,
    ) -> AbortHandle {
        self.runtime().spawn(async move { told(work.await) }).abort_handle()
    }
}

impl NativeFetcher {
    /// The fetcher at work, at the time that it is now.
    fn running(&self, py: Python<'_>) -> PyResult<Arc<Running>> {
        if let Some(clock) = &self.settings.clock {
            clock.ask(py)?;
        }
        // Whoever has it may wait for Python's lock.
        let mut state = self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Running(running) if running.process == std::process::id() => Ok(Arc::clone(running)),
            State::Closed => Err(PyRuntimeError::new_err("the fetcher is closed")),
            State::New | State::Running(_) => {
                let running = Arc::new(self.settings.run(py)?);
                *state = State::Running(Arc::clone(&running));
                Ok(running)
            }
        }
    }

    fn file(&self, robots: Robots) -> RobotsTxt {
        RobotsTxt::of_fetched(robots, &self.settings.reading.dialect)
    }

    /// Waits for a future on the runtime.
    fn wait<T: Send + 'static>(
        py: Python<'_>,
        running: &Running,
        work: impl Future<Output = T> + Send + 'static,
    ) -> PyResult<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        // Nobody listens any more where whoever waited was interrupted.
        let handle = running.spawn(work, move |done| drop(sender.send(done)));
        // A channel has one end for one thread, and the GIL may be handed to another one.
        let receiver = Mutex::new(receiver);
        loop {
            let told = py.detach(|| {
                let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
                receiver.recv_timeout(LISTENING)
            });
            match told {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Timeout) => {
                    py.check_signals().inspect_err(|_| handle.abort())?;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the fetcher was closed meanwhile"));
                }
            }
        }
    }
}

impl Settings {
    fn run(&self, py: Python<'_>) -> PyResult<Running> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("mayi")
            .enable_all()
            .build()?;
        let options = self.reading.options(py)?;
        let within = runtime.enter();
        let builder =
            py.detach(|| self.fetching.builder_with_store()).map_err(|error| match error {
                InvalidOption::Store(error) => PyOSError::new_err(error.to_string()),
                error => invalid(error),
            })?;
        let answering = Answering::default().with_options(options);
        let mut builder = builder.answering(answering).policy(self.policy);
        if let Some(client) = &self.client {
            builder = builder.transport(Arc::clone(client) as _);
        }
        if let Some(clock) = &self.clock {
            builder = builder.clock(Arc::clone(clock) as _);
        }
        let fetcher = builder.build();
        drop(within);
        Ok(Running { process: std::process::id(), fetcher, runtime: Some(runtime) })
    }
}

#[pymethods]
impl NativeFetcher {
    #[new]
    #[pyo3(signature = (user_agent, *, store, store_octets, reading, offline, timeout, allow_private, allow_addresses, roots, connections, keeping, start, clock))]
    fn new(
        py: Python<'_>,
        user_agent: String,
        store: Option<String>,
        store_octets: u64,
        reading: (String, Option<usize>),
        offline: bool,
        timeout: f64,
        allow_private: bool,
        allow_addresses: Vec<String>,
        roots: Vec<u8>,
        connections: (usize, usize),
        keeping: Keeping,
        start: Option<Py<PyAny>>,
        clock: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let mut fetching = FetchOptions::new(&user_agent);
        fetching.timeout = duration(timeout, "timeout")?;
        if fetching.timeout.is_zero() {
            return Err(PyValueError::new_err("timeout is a time in seconds that is more than 0"));
        }
        fetching.offline = offline;
        fetching.allow_private = allow_private;
        let ranges = allow_addresses.iter().map(|range| range.parse().map_err(invalid));
        fetching.allow_addresses = ranges.collect::<PyResult<_>>()?;
        fetching.roots = roots;
        (fetching.store, fetching.store_octets) = (store, store_octets);
        (fetching.connections_per_host, fetching.connections) = connections;
        drop(fetching.builder().map_err(invalid)?);
        let (dialect, max_octets) = reading;
        let reading = Reading { dialect, max_octets, ..Reading::default() };
        reading.options(py)?;
        let settings = Settings {
            fetching,
            reading,
            policy: keeping.policy()?,
            client: start.map(|start| Arc::new(Callable::new(start))),
            clock: clock.map(|clock| Arc::new(ToldClock::new(clock))),
        };
        Ok(Self { settings, state: Mutex::new(State::New) })
    }

    /// What Python's collector of garbage has to know: a client or a clock may keep the fetcher alive that it is for.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Some(client) = &self.settings.client {
            visit.call(&client.start)?;
        }
        if let Some(clock) = &self.settings.clock {
            visit.call(&clock.tell)?;
        }
        Ok(())
    }

    /// How the User-Agent string could be improved, or None.
    fn advice(&self) -> Option<&'static str> {
        self.settings.fetching.builder().ok()?.advice()
    }

    /// Starts the fetcher, so that a store that can't be opened raises now.
    fn open(&self, py: Python<'_>) -> PyResult<()> {
        self.running(py).map(drop)
    }

    /// The file of a URL's site if it is in memory and can be used without waiting, or None.
    fn ready(&self, py: Python<'_>, url: &str) -> PyResult<Option<RobotsTxt>> {
        let origin = Origin::of_url(url).or_raise(py)?;
        Ok(self.running(py)?.ready(&origin).map(|robots| self.file(robots)))
    }

    /// The file of a URL's site. This waits; with `refresh` the server is asked, whatever is cached.
    fn robots(&self, py: Python<'_>, url: &str, refresh: bool) -> PyResult<RobotsTxt> {
        let origin = Origin::of_url(url).or_raise(py)?;
        let running = self.running(py)?;
        if !refresh && let Some(robots) = running.ready(&origin) {
            return Ok(self.file(robots));
        }
        let fetcher = running.fetcher.clone();
        let robots = Self::wait(py, &running, fetched(fetcher, origin, refresh))?;
        Ok(self.file(robots))
    }

    /// Requests the file of a URL's site and passes it to `done`, from another thread.
    fn start(slf: &Bound<'_, Self>, url: &str, refresh: bool, done: Py<PyAny>) -> PyResult<NativeTask> {
        let py = slf.py();
        let origin = Origin::of_url(url).or_raise(py)?;
        let running = slf.get().running(py)?;
        let fetcher = running.fetcher.clone();
        let dialect = slf.get().settings.reading.dialect.clone();
        let handle = running.spawn(fetched(fetcher, origin, refresh), move |robots| {
            // Where the interpreter is at its end, nobody is there to be told.
            let _ = Python::try_attach(|py| {
                let file = RobotsTxt::of_fetched(robots, &dialect);
                if let Err(error) = done.call1(py, (file,)) {
                    error.write_unraisable(py, Some(done.bind(py)));
                }
            });
        });
        Ok(NativeTask { handle })
    }

    /// How many files are being fetched.
    fn in_flight(&self, py: Python<'_>) -> usize {
        match &*self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner) {
            State::Running(running) if running.process == std::process::id() => {
                running.fetcher.stats().in_flight
            }
            State::New | State::Running(_) | State::Closed => 0,
        }
    }

    /// Removes a URL's site from the cache, and returns whether it was there.
    fn forget(&self, py: Python<'_>, url: &str) -> PyResult<bool> {
        let origin = Origin::of_url(url).or_raise(py)?;
        let running = self.running(py)?;
        let fetcher = running.fetcher.clone();
        let forgotten = Self::wait(py, &running, async move { fetcher.forget(&origin).await })?;
        forgotten.map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// Cancels fetches and closes the store. A closed fetcher answers nothing.
    fn close(&self, py: Python<'_>) {
        let mut state = self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let State::Running(running) = std::mem::replace(&mut *state, State::Closed) else { return };
        drop(state);
        let Some(mut running) = Arc::into_inner(running) else { return };
        if running.process != std::process::id() {
            return;
        }
        if let Some(runtime) = running.runtime.take() {
            py.detach(move || runtime.shutdown_timeout(LAST_WAIT));
        }
    }
}

async fn fetched(fetcher: mayi_fetch::Fetcher, origin: Origin, refresh: bool) -> Robots {
    if refresh { fetcher.refresh(&origin).await } else { fetcher.robots(&origin).await }
}

/// Something that is under way.
#[pyclass(frozen, module = "mayi._mayi")]
pub(crate) struct NativeTask {
    handle: AbortHandle,
}

#[pymethods]
impl NativeTask {
    /// Cancels it. A request to a server continues if somebody else waits for it.
    fn cancel(&self) {
        self.handle.abort();
    }
}

//! Files by the fetcher of mayi-fetch, for callers that wait and for asyncio.
//!
//! A fetcher has a runtime of its own with one thread. After a fork the child has no such thread: it makes a
//! runtime anew when it first asks, and what was the parent's is left alone. Nothing here waits while it holds
//! the GIL, and nobody who waits is deaf to Ctrl-C.

use std::future::Future;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mayi::access::Origin;
use mayi::report::Answering;
use mayi_fetch::guard::{AddressRange, Guard};
use mayi_fetch::transport::Patience;
use mayi_fetch::{Policy, Robots, store};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use tokio::runtime::Runtime;
use tokio::task::AbortHandle;

use crate::errors::OrRaise;
use crate::inputs::Reading;
use crate::robots::RobotsTxt;
use crate::transport::Callable;

/// How often whoever waits looks for Ctrl-C.
const LISTENING: Duration = Duration::from_millis(50);

/// How long closing waits for what is under way.
const LAST_WAIT: Duration = Duration::from_millis(500);

/// Gets files, keeps them, and gives them to whoever asks.
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
    user_agent: String,
    store: Option<String>,
    store_octets: u64,
    reading: Reading,
    offline: bool,
    timeout: Duration,
    least_fresh: Duration,
    guard: Guard,
    roots: Vec<u8>,
    connections: (usize, usize),
    start: Option<Py<PyAny>>,
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

    /// Does something on the runtime and tells of it.
    fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        told: impl FnOnce(T) + Send + 'static,
    ) -> AbortHandle {
        self.runtime().spawn(async move { told(work.await) }).abort_handle()
    }
}

impl NativeFetcher {
    fn running(&self, py: Python<'_>) -> PyResult<Arc<Running>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Waits for something that is done on the runtime.
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
        let fetcher = {
            let _within = runtime.enter();
            let mut patience = Patience::default();
            patience.total = self.timeout;
            patience.connect = patience.connect.min(self.timeout);
            patience.first_byte = patience.first_byte.min(self.timeout);
            let mut policy = Policy::default();
            policy.least_fresh = self.least_fresh;
            let mut builder = mayi_fetch::Fetcher::builder(&self.user_agent)
                .map_err(|error| PyValueError::new_err(error.to_string()))?
                .answering(Answering::default().with_options(options))
                .policy(policy)
                .patience(patience)
                .guard(self.guard.clone())
                .connections(self.connections.0, self.connections.1)
                .offline(self.offline);
            if let Some(name) = &self.store {
                let opened = py.detach(|| store::open_trusting(name, self.store_octets, &self.roots));
                builder = builder.store(opened.map_err(|error| PyOSError::new_err(error.to_string()))?);
            }
            if !self.roots.is_empty() {
                builder = builder
                    .extra_roots(&self.roots)
                    .map_err(|error| PyValueError::new_err(error.to_string()))?;
            }
            if let Some(start) = &self.start {
                builder = builder.transport(Arc::new(Callable::new(start.clone_ref(py))));
            }
            builder.build()
        };
        Ok(Running { process: std::process::id(), fetcher, runtime: Some(runtime) })
    }
}

#[pymethods]
impl NativeFetcher {
    #[new]
    #[pyo3(signature = (user_agent, *, store, store_octets, reading, offline, timeout, least_fresh, allow_private, allow_addresses, roots, connections, start))]
    fn new(
        py: Python<'_>,
        user_agent: String,
        store: Option<String>,
        store_octets: u64,
        reading: (String, Option<usize>),
        offline: bool,
        timeout: f64,
        least_fresh: f64,
        allow_private: bool,
        allow_addresses: Vec<String>,
        roots: Vec<u8>,
        connections: (usize, usize),
        start: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        drop(
            mayi_fetch::Fetcher::builder(&user_agent)
                .map_err(|error| PyValueError::new_err(error.to_string()))?,
        );
        let timeout = Duration::try_from_secs_f64(timeout)
            .ok()
            .filter(|timeout| *timeout > Duration::ZERO)
            .ok_or_else(|| PyValueError::new_err(format!("{timeout} is no time to wait for")))?;
        let least_fresh = Duration::try_from_secs_f64(least_fresh)
            .map_err(|_| PyValueError::new_err(format!("{least_fresh} is no time to be fresh for")))?;
        let mut guard = if allow_private { Guard::allowing_all() } else { Guard::default() };
        for range in &allow_addresses {
            let range: AddressRange =
                range.parse().map_err(|error| PyValueError::new_err(format!("{error}")))?;
            guard = guard.allowing(range);
        }
        let (dialect, max_octets) = reading;
        let reading = Reading { dialect, max_octets, ..Reading::default() };
        reading.options(py)?;
        let settings = Settings {
            user_agent,
            store,
            store_octets,
            reading,
            offline,
            timeout,
            least_fresh,
            guard,
            roots,
            connections,
            start,
        };
        Ok(Self { settings, state: Mutex::new(State::New) })
    }

    /// What would be better about the User-Agent string, or None.
    fn advice(&self) -> Option<&'static str> {
        mayi_fetch::Fetcher::builder(&self.settings.user_agent).ok()?.advice()
    }

    /// Makes the fetcher ready, so that a store that can't be opened is told of now.
    fn open(&self, py: Python<'_>) -> PyResult<()> {
        self.running(py).map(drop)
    }

    /// The file of a URL's site where it is in memory and nobody has to be waited for, or None.
    fn ready(&self, py: Python<'_>, url: &str) -> PyResult<Option<RobotsTxt>> {
        let origin = Origin::of_url(url).or_raise(py)?;
        let running = self.running(py)?;
        let _within = running.runtime().enter();
        Ok(running.fetcher.ready(&origin).map(|robots| self.file(robots)))
    }

    /// The file of a URL's site. It is waited for; `anew` asks the server whatever is kept.
    fn robots(&self, py: Python<'_>, url: &str, anew: bool) -> PyResult<RobotsTxt> {
        let origin = Origin::of_url(url).or_raise(py)?;
        let running = self.running(py)?;
        let fetcher = running.fetcher.clone();
        let robots = Self::wait(py, &running, fetched(fetcher, origin, anew))?;
        Ok(self.file(robots))
    }

    /// Asks for the file of a URL's site and tells `done` of it, from another thread.
    fn start(slf: &Bound<'_, Self>, url: &str, anew: bool, done: Py<PyAny>) -> PyResult<NativeTask> {
        let py = slf.py();
        let origin = Origin::of_url(url).or_raise(py)?;
        let running = slf.get().running(py)?;
        let fetcher = running.fetcher.clone();
        let dialect = slf.get().settings.reading.dialect.clone();
        let handle = running.spawn(fetched(fetcher, origin, anew), move |robots| {
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

    /// Forgets what is kept of a URL's site, and says whether there was something.
    fn forget(&self, py: Python<'_>, url: &str) -> PyResult<bool> {
        let origin = Origin::of_url(url).or_raise(py)?;
        let running = self.running(py)?;
        let fetcher = running.fetcher.clone();
        let forgotten = Self::wait(py, &running, async move { fetcher.forget(&origin).await })?;
        forgotten.map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// Ends what is under way and lets go of the store. A closed fetcher answers nothing.
    fn close(&self, py: Python<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
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

async fn fetched(fetcher: mayi_fetch::Fetcher, origin: Origin, anew: bool) -> Robots {
    if anew { fetcher.ask_anew(&origin).await } else { fetcher.robots(&origin).await }
}

/// Something that is under way.
#[pyclass(frozen, module = "mayi._mayi")]
pub(crate) struct NativeTask {
    handle: AbortHandle,
}

#[pymethods]
impl NativeTask {
    /// Gives it up. A request to a server goes on where somebody else waits for it.
    fn cancel(&self) {
        self.handle.abort();
    }
}

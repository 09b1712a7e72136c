//! The fetcher for callers that are not asynchronous.

use std::io;
use std::time::Duration;

use mayi::access::Origin;
use mayi::report::{Answer, Request, RequestError};
use tokio::runtime::Runtime;

use crate::{Robots, Stats};

/// A fetcher with blocking methods. It has a runtime of its own and must not be used inside another one.
///
/// ```no_run
/// use mayi::report::Request;
///
/// let fetcher = mayi_fetch::Fetcher::builder("ExampleBot/1.0 (+https://example.com/bot)")?.build();
/// let fetcher = mayi_fetch::blocking::Fetcher::new(fetcher)?;
/// let request = Request::new("https://example.com/private/x", "ExampleBot");
/// println!("{}", fetcher.decide(&request)?.report().access.allowed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Fetcher {
    fetcher: crate::Fetcher,
    // Nothing only while it is being dropped.
    runtime: Option<Runtime>,
}

/// How long dropping a fetcher waits for its runtime. The resolution of a name can't be cancelled, and the
/// system may take minutes for it.
const LAST_WAIT: Duration = Duration::from_millis(500);

impl Fetcher {
    /// Waits for what this one does.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn new(fetcher: crate::Fetcher) -> io::Result<Self> {
        Self::made_by(|| Ok(fetcher))
    }

    /// Runs `make` within the runtime, which some stores need, and waits for its result.
    ///
    /// # Errors
    /// When the system has no thread for it, and those of `make`.
    pub fn made_by<E: From<io::Error>>(
        make: impl FnOnce() -> Result<crate::Fetcher, E>,
    ) -> Result<Self, E> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let fetcher = {
            let _within = runtime.enter();
            make()?
        };
        Ok(Self { fetcher, runtime: Some(runtime) })
    }

    /// As [`Fetcher::decide`](crate::Fetcher::decide).
    ///
    /// # Errors
    /// When the request is wrong.
    pub fn decide<'a>(&self, request: &'a Request<'_>) -> Result<Answer<'a>, RequestError> {
        self.runtime().block_on(self.fetcher.decide(request))
    }

    /// As [`Fetcher::robots`](crate::Fetcher::robots).
    pub fn robots(&self, origin: &Origin) -> Robots {
        self.runtime().block_on(self.fetcher.robots(origin))
    }

    /// Questions in their order, each with the file of its site, which is fetched ahead.
    pub fn ahead<Q>(&self) -> Ahead<'_, Q> {
        let ahead = crate::Ahead::on(self.runtime().handle().clone(), self.fetcher.clone());
        Ahead { fetcher: self, ahead }
    }

    /// Waits for any other future of [`inner`](Self::inner).
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime().block_on(future)
    }

    /// The fetcher that this one waits for.
    pub fn inner(&self) -> &crate::Fetcher {
        &self.fetcher
    }

    /// What has been done so far.
    pub fn stats(&self) -> Stats {
        self.fetcher.stats()
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is there until it is dropped")
    }
}

/// Questions that wait for the files of their sites.
#[derive(Debug)]
pub struct Ahead<'f, Q> {
    fetcher: &'f Fetcher,
    ahead: crate::Ahead<Q>,
}

impl<Q> Ahead<'_, Q> {
    /// Answers every question with the file of its origin, or with `None` if it has no origin. A question
    /// whose file is there is answered at once, because the caller may wait for the answer.
    ///
    /// # Errors
    /// Those of the questions and of the answers.
    pub fn each<E>(
        mut self,
        questions: impl Iterator<Item = Result<(Q, Option<Origin>), E>>,
        mut answer: impl FnMut(Q, Option<Robots>) -> Result<(), E>,
    ) -> Result<(), E> {
        for question in questions {
            let (question, origin) = question?;
            self.ahead.push(question, origin);
            while self.ahead.is_due() {
                self.next(&mut answer)?;
            }
        }
        while self.next(&mut answer)? {}
        Ok(())
    }

    fn next<E>(
        &mut self,
        answer: &mut impl FnMut(Q, Option<Robots>) -> Result<(), E>,
    ) -> Result<bool, E> {
        let next = self.fetcher.wait(self.ahead.next());
        next.map_or(Ok(false), |(question, robots)| answer(question, robots).map(|()| true))
    }
}

impl Drop for Fetcher {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        // Inside another runtime blocking is not allowed.
        if tokio::runtime::Handle::try_current().is_ok() {
            runtime.shutdown_background();
        } else {
            runtime.shutdown_timeout(LAST_WAIT);
        }
    }
}

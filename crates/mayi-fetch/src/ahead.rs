//! Questions in their order → each with the file of its site, which is fetched ahead of it.

use std::collections::VecDeque;

use mayi::access::Origin;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::{Fetcher, Robots};

/// How many files are requested ahead of the question that is answered next, by default.
const MOST: usize = 256;

/// Questions that wait for the files of their sites. All files are requested at the same time; dropping this
/// value stops the wait for them.
///
/// ```no_run
/// use mayi::access::Origin;
/// use mayi_fetch::{Ahead, Fetcher};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let fetcher = Fetcher::builder("ExampleBot/1.0 (+https://example.com/bot)")?.build();
/// let mut ahead = Ahead::new(fetcher);
/// for url in ["https://example.com/a", "https://example.org/b"] {
///     ahead.push(url, Origin::of_url(url).ok());
/// }
/// while let Some((url, robots)) = ahead.next().await {
///     println!("{url}: {}", robots.is_some_and(|robots| robots.robots_txt().is_some()));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Ahead<Q> {
    fetcher: Fetcher,
    runtime: Handle,
    waiting: VecDeque<(Q, Option<Wanted>)>,
}

/// The file of a question.
#[derive(Debug)]
enum Wanted {
    /// It was in memory.
    There(Box<Robots>),
    /// It is asked for.
    Asked(PendingFetch),
}

#[derive(Debug)]
struct PendingFetch {
    origin: Origin,
    task: JoinHandle<Robots>,
}

impl Drop for PendingFetch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<Q> Ahead<Q> {
    /// No questions yet.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn new(fetcher: Fetcher) -> Self {
        Self::on(Handle::current(), fetcher)
    }

    pub(crate) fn on(runtime: Handle, fetcher: Fetcher) -> Self {
        Self { fetcher, runtime, waiting: VecDeque::new() }
    }

    /// Appends a question, and requests the file of its origin, if it has one.
    pub fn push(&mut self, question: Q, origin: Option<Origin>) {
        let wanted = origin.map(|origin| {
            if let Some(robots) = self.fetcher.ready(&origin) {
                return Wanted::There(Box::new(robots));
            }
            let (fetcher, wanted) = (self.fetcher.clone(), origin.clone());
            let task = self.runtime.spawn(async move { fetcher.robots(&wanted).await });
            Wanted::Asked(PendingFetch { origin, task })
        });
        self.waiting.push_back((question, wanted));
    }

    /// Whether the next question must be answered before another one is appended: because its file has
    /// arrived, or because too many wait.
    pub fn is_due(&self) -> bool {
        let is_there = |wanted: &Option<Wanted>| match wanted {
            Some(Wanted::Asked(asked)) => asked.task.is_finished(),
            Some(Wanted::There(_)) | None => true,
        };
        self.waiting.len() > MOST || self.waiting.front().is_some_and(|(_, wanted)| is_there(wanted))
    }

    /// The next question, with its file if it has an origin.
    pub async fn next(&mut self) -> Option<(Q, Option<Robots>)> {
        let (question, wanted) = self.waiting.pop_front()?;
        let robots = match wanted {
            None => None,
            Some(Wanted::There(robots)) => Some(*robots),
            Some(Wanted::Asked(mut asked)) => Some(match (&mut asked.task).await {
                Ok(robots) => robots,
                // An internal fault in one fetch; the fetcher is asked once more and returns what is known.
                Err(_) => self.fetcher.robots(&asked.origin).await,
            }),
        };
        Some((question, robots))
    }
}

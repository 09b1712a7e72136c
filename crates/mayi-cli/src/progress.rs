//! Octets and rows that are done → one line on standard error: how many, how fast, how much time is left.
//!
//! A separate thread draws the line a few times per second, from two counters that the workers increment. By
//! default it is drawn only on a terminal, and it is removed before anything else is written there.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use mayi_audit::with_commas;

/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(200);

/// How many ticks the rate is taken over.
const TICKS: usize = 10;

/// How many characters the bar has.
const BAR: usize = 24;

/// Whether progress is shown.
#[derive(Debug, Args)]
pub(crate) struct ProgressArgs {
    /// Show progress and the time left on standard error
    #[arg(hide_short_help = true, long, value_name = "WHEN", default_value = "auto")]
    pub(crate) progress: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// If standard error is a terminal and standard output is not
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The counters, and the line that shows them. Dropping it removes the line.
pub(crate) struct Progress {
    counters: Arc<Counters>,
    drawer: Option<(Sender<()>, JoinHandle<()>)>,
}

#[derive(Default)]
struct Counters {
    octets: AtomicU64,
    done: AtomicU64,
}

impl Progress {
    /// Begins to show how many of these things are done. `total` is the size of the input in octets, if it is
    /// known: without it there is no bar and no time left.
    pub(crate) fn start(args: &ProgressArgs, things: &'static str, total: Option<u64>) -> Self {
        let shows = match args.progress {
            When::Auto => io::stderr().is_terminal() && !io::stdout().is_terminal(),
            When::Always => true,
            When::Never => false,
        };
        let counters = Arc::new(Counters::default());
        let drawer = shows.then(|| {
            let (sender, receiver) = channel();
            let counters = Arc::clone(&counters);
            let thread = thread::spawn(move || {
                let mut line = Line::new(things, total);
                while receiver.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    let (octets, done) = counters.now();
                    let text = line.at(Instant::now(), octets, done);
                    // If the progress line can't be written, it is not shown.
                    let _ = write!(io::stderr().lock(), "\r{text}\x1b[K");
                }
                let _ = write!(io::stderr().lock(), "\r\x1b[K");
            });
            (sender, thread)
        });
        Self { counters, drawer }
    }

    /// Counts things that are done.
    pub(crate) fn add(&self, done: u64) {
        self.counters.done.fetch_add(done, Ordering::Relaxed);
    }

    /// Counts one thing that is done, and the octets that it had in the input.
    pub(crate) fn add_one_of(&self, octets: u64) {
        self.counters.octets.fetch_add(octets, Ordering::Relaxed);
        self.add(1);
    }

    /// The same input, with its octets counted as they are read.
    pub(crate) fn reading<R: Read>(&self, input: R) -> Counted<R> {
        Counted { input, counters: Arc::clone(&self.counters) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.drawer.take() {
            drop(sender);
            // The thread writes a line and can't fail; if it did, there is nothing to take away.
            let _ = thread.join();
        }
    }
}

impl Counters {
    fn now(&self) -> (u64, u64) {
        (self.octets.load(Ordering::Relaxed), self.done.load(Ordering::Relaxed))
    }
}

/// An input whose octets are counted.
pub(crate) struct Counted<R> {
    input: R,
    counters: Arc<Counters>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.counters.octets.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// How many octets these inputs have together, if all of them are regular files; `-` is standard
/// input, which may be one.
pub(crate) fn total_size<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Option<u64> {
    paths.into_iter().map(size).sum()
}

fn size(path: &Path) -> Option<u64> {
    let metadata = if path == Path::new("-") { of_stdin()? } else { path.metadata().ok()? };
    metadata.is_file().then_some(metadata.len())
}

#[cfg(unix)]
fn of_stdin() -> Option<std::fs::Metadata> {
    use std::os::fd::AsFd;
    let copy = io::stdin().as_fd().try_clone_to_owned().ok()?;
    std::fs::File::from(copy).metadata().ok()
}

#[cfg(not(unix))]
fn of_stdin() -> Option<std::fs::Metadata> {
    None
}

/// The text of the line, from one tick to the next.
struct Line {
    things: &'static str,
    total: Option<u64>,
    start: Instant,
    /// When the last ticks were, and how much was done by then.
    ticks: Vec<(Instant, u64)>,
}

impl Line {
    fn new(things: &'static str, total: Option<u64>) -> Self {
        let start = Instant::now();
        Self { things, total, start, ticks: vec![(start, 0)] }
    }

    fn at(&mut self, now: Instant, octets: u64, done: u64) -> String {
        let (before, done_before) = self.ticks[0];
        let rate = per_second(done - done_before.min(done), now - before);
        if self.ticks.len() == TICKS {
            self.ticks.remove(0);
        }
        self.ticks.push((now, done));
        let mut text = format!("{} {}  {}/s", with_commas(done), self.things, with_commas(rate));
        if let Some(total) = self.total.filter(|&total| total > 0) {
            let octets = octets.min(total);
            let filled = (u128::from(octets) * BAR as u128 / u128::from(total)) as usize;
            let percent = u128::from(octets) * 100 / u128::from(total);
            let bar = format!("{}{}", "=".repeat(filled), " ".repeat(BAR - filled));
            text = format!("[{bar}] {percent:>3} %  {text}");
            let speed = per_second(octets, now - self.start);
            if speed > 0 {
                text = format!("{text}  {} left", clock((total - octets).div_ceil(speed)));
            }
        }
        text
    }
}

fn per_second(count: u64, time: Duration) -> u64 {
    let milliseconds = time.as_millis().max(1);
    u64::try_from(u128::from(count) * 1000 / milliseconds).unwrap_or(u64::MAX)
}

/// `0:07`, `12:34`, `1:02:03`.
fn clock(seconds: u64) -> String {
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    match minutes / 60 {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{:02}:{seconds:02}", minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_count_rate_and_time_left() {
        let mut line = Line::new("rows", Some(4000));
        let start = line.start;
        let text = line.at(start + Duration::from_secs(10), 1000, 123_456);
        assert_eq!(text, "[======                  ]  25 %  123,456 rows  12,345/s  0:30 left");
        let text = line.at(start + Duration::from_secs(20), 4000, 200_000);
        assert!(text.starts_with("[========================] 100 %  200,000 rows"), "{text}");
        assert!(text.ends_with("0:00 left"), "{text}");
    }

    #[test]
    fn without_a_size_there_is_no_time_left() {
        let mut line = Line::new("rows", None);
        let text = line.at(line.start + Duration::from_secs(2), 1000, 10);
        assert_eq!(text, "10 rows  5/s");
    }

    #[test]
    fn the_rate_is_that_of_the_last_ticks() {
        let mut line = Line::new("rows", None);
        let start = line.start;
        for tick in 1..=20 {
            line.at(start + TICK * tick, 0, 1_000_000);
        }
        assert_eq!(line.at(start + TICK * 21, 0, 1_000_000), "1,000,000 rows  0/s");
    }

    #[test]
    fn times_are_for_people() {
        assert_eq!(clock(7), "0:07");
        assert_eq!(clock(754), "12:34");
        assert_eq!(clock(3723), "1:02:03");
    }
}

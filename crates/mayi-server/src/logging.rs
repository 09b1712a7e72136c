//! What happens → lines on standard error, by a thread of their own.
//!
//! The reader of the lines may be slow: a full pipe must not delay an answer. Lines wait in a bounded
//! queue; if it is full, lines are dropped and counted.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{ConfigError, LogFormat, Logging};

/// How many octets of lines may wait to be written.
const MOST_WAITING: usize = 4 << 20;

/// How long shutdown waits for lines that are not yet written.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Lines that were dropped because the reader was too slow.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// The log of a process. When it is dropped, it waits a moment until all lines are written.
#[derive(Debug)]
pub struct Log(Queue);

/// Starts logging, for the whole process.
///
/// # Errors
/// When the filter is wrong, or no thread can be started.
pub fn start(logging: &Logging) -> Result<Log, ConfigError> {
    let filter = filter(&logging.level)?;
    let (sender, waiting) = channel();
    let queue = Queue { sender, octets: Arc::default() };
    let octets = Arc::clone(&queue.octets);
    let thread = std::thread::Builder::new().name("mayi-log".to_owned());
    thread.spawn(move || write_all(&waiting, &octets)).map_err(|error| {
        ConfigError::new(format_args!("can't start the thread for the log: {error}"))
    })?;
    let lines = tracing_subscriber::fmt::layer().with_writer(queue.clone());
    let lines: Box<dyn tracing_subscriber::Layer<_> + Send + Sync> = match logging.format {
        LogFormat::Text => Box::new(lines.with_ansi(false).with_target(false)),
        LogFormat::Json => Box::new(lines.json().flatten_event(true).with_current_span(false)),
    };
    // The process may already have a logger, which is then used.
    drop(tracing_subscriber::registry().with(filter).with(lines).try_init());
    Ok(Log(queue))
}

/// Which lines are written. A single word is a level: as the name of a module it would silence all others,
/// which is never meant.
pub(crate) fn filter(level: &str) -> Result<EnvFilter, ConfigError> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let wrong = |why: &dyn std::fmt::Display| {
        let levels = LEVELS.join(", ");
        ConfigError::new(format_args!(
            "log.level: {why}; there are {levels}, and filters such as `mayi_server=debug,warn`"
        ))
    };
    for part in level.split(',').map(str::trim) {
        let is_level = LEVELS.iter().any(|level| level.eq_ignore_ascii_case(part));
        if !is_level && !part.contains('=') {
            return Err(wrong(&format_args!("`{}` is not a level", part.escape_debug())));
        }
    }
    EnvFilter::try_new(level).map_err(|error| wrong(&error))
}

/// How many lines were dropped since the start.
pub(crate) fn dropped() -> u64 {
    DROPPED.load(Relaxed)
}

enum Message {
    Line(Vec<u8>),
    /// Signals through this that everything before it is written.
    Flush(Sender<()>),
}

#[derive(Clone, Debug)]
struct Queue {
    sender: Sender<Message>,
    octets: Arc<AtomicUsize>,
}

impl Queue {
    fn push(&self, line: Vec<u8>) {
        let octets = line.len();
        let waiting = self.octets.fetch_add(octets, Relaxed);
        if waiting + octets > MOST_WAITING || self.sender.send(Message::Line(line)).is_err() {
            self.octets.fetch_sub(octets, Relaxed);
            DROPPED.fetch_add(1, Relaxed);
        }
    }
}

fn write_all(waiting: &Receiver<Message>, octets: &AtomicUsize) {
    for message in waiting {
        match message {
            Message::Line(line) => {
                // If standard error can't be written to, the failure can't be reported either.
                let _ = io::stderr().write_all(&line);
                octets.fetch_sub(line.len(), Relaxed);
            }
            Message::Flush(done) => drop(done.send(())),
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let (done, is_done) = channel();
        if self.0.sender.send(Message::Flush(done)).is_ok() {
            let _ = is_done.recv_timeout(LAST_LINES);
        }
    }
}

impl<'a> MakeWriter<'a> for Queue {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        Line { octets: Vec::new(), queue: self }
    }
}

/// A line that is being made; it is complete when it is dropped.
struct Line<'q> {
    octets: Vec<u8>,
    queue: &'q Queue,
}

impl Write for Line<'_> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.octets.extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if !self.octets.is_empty() {
            self.queue.push(std::mem::take(&mut self.octets));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_alone_is_a_level() {
        for right in ["info", "WARN", "mayi_server=debug,warn", "hyper=off", "off"] {
            assert!(filter(right).is_ok(), "{right}");
        }
        for wrong in ["loud", "", "mayi_server", "info,loud", "mayi_server=loud"] {
            let error = filter(wrong).expect_err(wrong).to_string();
            assert!(error.contains("log.level") && error.contains("trace"), "{error}");
        }
    }

    #[test]
    fn lines_that_nobody_writes_are_dropped_and_counted() {
        let (sender, waiting) = channel();
        let queue = Queue { sender, octets: Arc::default() };
        let before = dropped();
        for _ in 0..5 {
            queue.push(vec![b'x'; MOST_WAITING / 4]);
        }
        assert_eq!(dropped() - before, 1);
        assert_eq!(waiting.try_iter().count(), 4);
    }
}

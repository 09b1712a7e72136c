//! Lines in, lines out, in order, on several threads and in constant memory.
//!
//! The input is cut into runs of whole lines. They go to the workers in turn and come back from them
//! in the same turn, so that nothing has to be sorted; every channel is short, so that a slow reader
//! of the output stops the reader of the input. Whatever has come in is passed on at once: a caller
//! that waits for each answer before it sends the next request gets it.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::exit::Failure;

/// How much is read at once.
const RUN: usize = 256 * 1024;

/// A part of the input.
#[derive(Clone, Copy)]
pub(crate) enum Lines<'i> {
    /// Whole lines.
    Whole(&'i [u8]),
    /// One line that is longer than it may be, and was passed over.
    TooLong,
}

/// Answers runs of lines with `answer` and writes the answers in the order of the input.
pub(crate) fn map_lines(
    input: impl Read + Send,
    output: impl Write,
    jobs: usize,
    longest: usize,
    answer: impl Fn(Lines<'_>) -> Vec<u8> + Sync,
) -> Result<(), Failure> {
    thread::scope(|scope| {
        let mut to_workers = Vec::new();
        let mut from_workers = Vec::new();
        for _ in 0..jobs {
            let (run_sender, run_receiver) = sync_channel::<Option<Vec<u8>>>(2);
            let (answer_sender, answer_receiver) = sync_channel(2);
            let answer = &answer;
            scope.spawn(move || {
                for run in run_receiver {
                    let lines = run.as_deref().map_or(Lines::TooLong, Lines::Whole);
                    if answer_sender.send(answer(lines)).is_err() {
                        break;
                    }
                }
            });
            to_workers.push(run_sender);
            from_workers.push(answer_receiver);
        }
        let reader = scope.spawn(move || read_runs(input, longest, &to_workers));
        write_answers(output, &from_workers)?;
        drop(from_workers);
        reader
            .join()
            .expect("the reader does not panic")
            .map_err(|error| Failure::new(format_args!("the requests can't be read: {error}")))
    })
}

/// Works on items and takes what came of each in their order. Every worker is at most a few items
/// ahead of the one that is taken, so that what is kept does not grow with their number.
pub(crate) fn map_items<I: Sync, R: Send>(
    items: &[I],
    jobs: usize,
    work: impl Fn(&I) -> R + Sync,
    mut take: impl FnMut(&I, R) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let jobs = jobs.clamp(1, items.len().max(1));
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for first in 0..jobs {
            let (sender, receiver) = sync_channel(4);
            let work = &work;
            scope.spawn(move || {
                for item in items.iter().skip(first).step_by(jobs) {
                    if sender.send(work(item)).is_err() {
                        break;
                    }
                }
            });
            workers.push(receiver);
        }
        for (item, worker) in items.iter().zip(workers.iter().cycle()) {
            let Ok(done) = worker.recv() else { break };
            take(item, done)?;
        }
        Ok(())
    })
}

/// Sends runs of whole lines to the workers in turn, until the input ends or nobody listens.
fn read_runs(
    mut input: impl Read,
    longest: usize,
    workers: &[SyncSender<Option<Vec<u8>>>],
) -> io::Result<()> {
    let mut turn = workers.iter().cycle();
    let mut send = |run| turn.next().is_some_and(|worker| worker.send(run).is_ok());
    let mut pending: Vec<u8> = Vec::new();
    let mut is_too_long = false;
    let mut buffer = vec![0; RUN];
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut read = &buffer[..count];
        if is_too_long {
            let Some(end) = memchr::memchr(b'\n', read) else { continue };
            is_too_long = false;
            read = &read[end + 1..];
        }
        let whole = memchr::memrchr(b'\n', read).map_or(0, |at| at + 1);
        if whole > 0 {
            // Where the first of these lines is too long, it was sent as such below.
            pending.extend_from_slice(&read[..whole]);
            if !send(Some(std::mem::take(&mut pending))) {
                return Ok(());
            }
        }
        pending.extend_from_slice(&read[whole..]);
        if pending.len() > longest {
            pending = Vec::new();
            is_too_long = true;
            if !send(None) {
                return Ok(());
            }
        }
    }
    if !pending.is_empty() {
        send(Some(pending));
    }
    Ok(())
}

/// Writes answers as they come from the workers, in turn.
fn write_answers(mut output: impl Write, workers: &[Receiver<Vec<u8>>]) -> io::Result<()> {
    for worker in workers.iter().cycle() {
        let Ok(answers) = worker.recv() else { break };
        output.write_all(&answers)?;
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its octets in small pieces.
    struct Drip<'i>(&'i [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            let (now, later) = self.0.split_at(count);
            buffer[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }

    fn upper_case(lines: Lines<'_>) -> Vec<u8> {
        match lines {
            Lines::Whole(lines) => lines.to_ascii_uppercase(),
            Lines::TooLong => b"LONG\n".to_vec(),
        }
    }

    #[test]
    fn order_is_kept_whatever_the_pieces() {
        let numbers: Vec<_> = (0..5000).map(|n| n.to_string()).collect();
        let input = numbers.join(" line\n");
        for (jobs, piece) in [(1, 7), (2, 100), (3, 1), (4, 100_000)] {
            let mut output = Vec::new();
            let input = Drip(input.as_bytes(), piece);
            map_lines(input, &mut output, jobs, 1000, upper_case).expect("it works");
            assert!(output == numbers.join(" LINE\n").as_bytes(), "{jobs} jobs, pieces of {piece}");
        }
    }

    #[test]
    fn items_are_taken_in_order() {
        let items: Vec<usize> = (0..100).collect();
        for jobs in [1, 3, 200] {
            let mut taken = Vec::new();
            let take = |item: &usize, done| {
                taken.push((*item, done));
                Ok(())
            };
            map_items(&items, jobs, |item| item * 2, take).expect("it works");
            assert!(taken.iter().enumerate().all(|(at, pair)| *pair == (at, at * 2)), "{jobs} jobs");
            assert_eq!(taken.len(), 100);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_in_its_place() {
        let input = format!("a\n{}\nb\nlast", "x".repeat(50));
        let mut output = Vec::new();
        map_lines(Drip(input.as_bytes(), 3), &mut output, 2, 20, upper_case).expect("it works");
        assert_eq!(String::from_utf8_lossy(&output), "A\nLONG\nB\nLAST");
    }
}

//! Rows in, rows out, in order, on several threads and in constant memory.
//!
//! The input is cut into runs of whole rows, which are lines or what another cutter says. They go to the
//! workers in turn and come back in the same order, so nothing has to be sorted. Every channel is short, so a
//! slow reader of the output stops the reader of the input. Input is passed on at once, so a caller that
//! waits for each answer before it sends the next request gets it. The answers of a run can be many times as long as the
//! run. They are passed on in parts, so that few octets of them wait for their turn.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use crate::cut::{Cutter, LineCutter};
use crate::exit::Failure;

/// How much is read at once.
const RUN: usize = 256 * 1024;

/// How many threads answer: as many as are asked for, or as there are cores.
pub(crate) fn jobs(given: Option<u16>) -> usize {
    let cores = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
    given.map_or_else(cores, usize::from)
}

/// About how many octets of answers are passed on together.
const PART: usize = 2 * RUN;

/// The answers of a run, as they are made.
pub(crate) struct Answers<'s, O> {
    /// Those that were not passed on yet.
    pub(crate) current: O,
    /// Passes some on, and returns an empty buffer for the next.
    pass_on: &'s mut dyn FnMut(O) -> O,
}

impl<O: Default> Answers<'_, O> {
    /// Passes on what is there.
    pub(crate) fn pass_on(&mut self) {
        let part = std::mem::take(&mut self.current);
        self.current = (self.pass_on)(part);
    }
}

impl Answers<'_, Vec<u8>> {
    /// Passes on what is there, if it is enough for a part.
    pub(crate) fn pass_on_part(&mut self) {
        if self.current.len() >= PART {
            self.pass_on();
        }
    }
}

/// A part of the input.
#[derive(Clone, Copy)]
pub(crate) enum Lines<'i> {
    /// Whole lines, or other rows that a cutter finds.
    Whole(&'i [u8]),
    /// One line that is too long, and was skipped.
    TooLong,
}

/// Answers runs of lines with `answer` and writes the answers in the order of the input.
pub(crate) fn map_lines(
    input: impl Read + Send,
    output: impl Write,
    jobs: usize,
    longest: usize,
    answer: impl Fn(Lines<'_>, &mut Answers<'_, Vec<u8>>) + Sync,
) -> Result<(), Failure> {
    map_rows(input, output, jobs, longest, LineCutter, || &answer)
}

/// Answers runs of rows and writes the answers in the order of the input. `worker` is called once on each
/// thread; the function that it returns appends the answers of one run after another.
pub(crate) fn map_rows<W: FnMut(Lines<'_>, &mut Answers<'_, Vec<u8>>)>(
    input: impl Read + Send,
    mut output: impl Write,
    jobs: usize,
    longest: usize,
    cutter: impl Cutter,
    worker: impl Fn() -> W + Sync,
) -> Result<(), Failure> {
    map_runs(input, jobs, longest, cutter, worker, |mut answers: Vec<u8>| {
        output.write_all(&answers)?;
        output.flush()?;
        answers.clear();
        Ok((answers.capacity() <= 4 * RUN).then_some(answers))
    })
}

/// Answers runs of rows with values of any kind, and takes these in the order of the input. Returned values
/// are reused for other answers.
pub(crate) fn map_runs<O: Default + Send, W: FnMut(Lines<'_>, &mut Answers<'_, O>)>(
    input: impl Read + Send,
    jobs: usize,
    longest: usize,
    cutter: impl Cutter,
    worker: impl Fn() -> W + Sync,
    take: impl FnMut(O) -> Result<Option<O>, Failure>,
) -> Result<(), Failure> {
    thread::scope(|scope| {
        let mut to_workers = Vec::new();
        let mut from_workers = Vec::new();
        // What was read and answered goes back to be filled again.
        let (spare_sender, spare) = channel();
        for _ in 0..jobs {
            let (run_sender, run_receiver) = sync_channel::<Option<Run>>(2);
            let (answer_sender, answer_receiver) = sync_channel::<Part<O>>(2);
            let (taken_sender, taken) = channel::<O>();
            let (worker, spare_sender) = (&worker, spare_sender.clone());
            scope.spawn(move || {
                let mut answer = worker();
                for run in run_receiver {
                    let empty = || taken.try_recv().unwrap_or_default();
                    let mut pass_on = |answers| {
                        // If nobody receives it, sending the last part fails too, and the thread ends there.
                        let _ = answer_sender.send(Part { answers, is_last: false });
                        empty()
                    };
                    let mut answers = Answers { current: empty(), pass_on: &mut pass_on };
                    let lines = run.as_ref().map_or(Lines::TooLong, |run| Lines::Whole(run.octets()));
                    answer(lines, &mut answers);
                    let last = Part { answers: answers.current, is_last: true };
                    // If the reader has ended, it is not needed any more.
                    run.filter(|run| run.memory.len() <= 4 * RUN).map(|run| spare_sender.send(run));
                    if answer_sender.send(last).is_err() {
                        break;
                    }
                }
            });
            to_workers.push(run_sender);
            from_workers.push((answer_receiver, taken_sender));
        }
        drop(spare_sender);
        let reader = scope.spawn(move || read_runs(input, longest, cutter, &to_workers, &spare));
        take_answers(take, &from_workers)?;
        drop(from_workers);
        reader
            .join()
            .expect("the reader does not panic")
            .map_err(|error| Failure::new(format_args!("the input can't be read: {error}")))
    })
}

/// Processes items and takes the results in their order. Every worker is at most a few items ahead, so memory
/// does not grow with the number of items.
pub(crate) fn map_items<I, R: Send>(
    items: impl Iterator<Item = I> + Clone + Send,
    jobs: usize,
    work: impl Fn(&I) -> R + Sync,
    mut take: impl FnMut(&I, R) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // There may be very many of them, and they are not counted for this.
    let jobs = jobs.clamp(1, items.clone().take(jobs).count().max(1));
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for first in 0..jobs {
            let (sender, receiver) = sync_channel(2);
            let (work, items) = (&work, items.clone());
            scope.spawn(move || {
                for item in items.skip(first).step_by(jobs) {
                    if sender.send(work(&item)).is_err() {
                        break;
                    }
                }
            });
            workers.push(receiver);
        }
        for (item, worker) in items.zip(workers.iter().cycle()) {
            let Ok(done) = worker.recv() else { break };
            take(&item, done)?;
        }
        Ok(())
    })
}

/// Octets that were read, at the start of memory that is used again. What is behind them is not cleared: a run is read over
/// what another one left.
#[derive(Default)]
struct Run {
    memory: Vec<u8>,
    length: usize,
}

impl Run {
    fn octets(&self) -> &[u8] {
        &self.memory[..self.length]
    }

    /// Adds what the input has now, and says how many octets that is.
    fn read(&mut self, input: &mut impl Read) -> io::Result<usize> {
        let end = self.length + RUN;
        if self.memory.len() < end {
            // Memory that comes from the system is zero already.
            let mut larger = vec![0; end.max(2 * self.memory.len())];
            larger[..self.length].copy_from_slice(self.octets());
            self.memory = larger;
        }
        loop {
            match input.read(&mut self.memory[self.length..end]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.inspect(|count| self.length += count),
            }
        }
    }

    /// Removes octets at the start.
    fn drop_first(&mut self, count: usize) {
        self.memory.copy_within(count..self.length, 0);
        self.length -= count;
    }

    /// Moves what is after this place to another run, which has nothing.
    fn split_off(&mut self, at: usize, rest: &mut Self) {
        let behind = &self.memory[at..self.length];
        if rest.memory.len() < behind.len() {
            rest.memory.resize(behind.len(), 0);
        }
        rest.memory[..behind.len()].copy_from_slice(behind);
        (rest.length, self.length) = (behind.len(), at);
    }
}

/// Sends runs of whole rows to the workers in turn, until the input ends or nobody listens.
fn read_runs(
    mut input: impl Read,
    longest: usize,
    mut cutter: impl Cutter,
    workers: &[SyncSender<Option<Run>>],
    spare: &Receiver<Run>,
) -> io::Result<()> {
    let mut turn = workers.iter().cycle();
    let mut send = |run| turn.next().is_some_and(|worker| worker.send(run).is_ok());
    let mut pending = Run::default();
    let mut is_too_long = false;
    loop {
        let start = pending.length;
        if pending.read(&mut input)? == 0 {
            break;
        }
        if is_too_long {
            // Nothing of the row is kept, so what is pending starts within it.
            let Some(end) = cutter.first_end(pending.octets()) else {
                pending.length = 0;
                continue;
            };
            is_too_long = false;
            pending.drop_first(end);
        }
        let start = start.min(pending.length);
        if let Some(end) = cutter.last_end(&pending.octets()[start..]) {
            // Where the first of these rows is too long, it was sent as such below.
            let mut rest = spare.try_recv().unwrap_or_default();
            pending.split_off(start + end, &mut rest);
            if !send(Some(std::mem::replace(&mut pending, rest))) {
                return Ok(());
            }
        }
        if pending.length > longest {
            pending = Run::default();
            is_too_long = true;
            if !send(None) {
                return Ok(());
            }
        }
    }
    if pending.length > 0 {
        send(Some(pending));
    }
    Ok(())
}

/// Answers that are passed on, and whether they are the last of their run.
struct Part<O> {
    answers: O,
    is_last: bool,
}

/// Takes answers as they come from the workers, in turn. Each worker has a second channel for buffers to fill again.
fn take_answers<O>(
    mut take: impl FnMut(O) -> Result<Option<O>, Failure>,
    workers: &[(Receiver<Part<O>>, Sender<O>)],
) -> Result<(), Failure> {
    for (worker, taken) in workers.iter().cycle() {
        loop {
            let Ok(Part { answers, is_last }) = worker.recv() else { return Ok(()) };
            if let Some(spare) = take(answers)? {
                // If the worker has ended, it is not needed any more.
                let _ = taken.send(spare);
            }
            if is_last {
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

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

    fn upper_case(lines: Lines<'_>, answers: &mut Answers<'_, Vec<u8>>) {
        answers.current.extend(match lines {
            Lines::Whole(lines) => lines.to_ascii_uppercase(),
            Lines::TooLong => b"LONG\n".to_vec(),
        });
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

    /// Counts what is taken, and is slower than those who answer.
    struct Slow<'w>(&'w AtomicUsize, Vec<u8>);
    impl Write for Slow<'_> {
        fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
            thread::sleep(std::time::Duration::from_micros(200));
            self.0.fetch_sub(octets.len(), Ordering::SeqCst);
            self.1.extend(octets.chunks(PART / 64).map(|answer| answer[0]));
            Ok(octets.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Answers are many times as long as their lines: they come in order, and few octets of them wait.
    #[test]
    fn answers_are_passed_on_in_parts() {
        let (waiting, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let answer = |lines: Lines<'_>, answers: &mut Answers<'_, Vec<u8>>| {
            let Lines::Whole(lines) = lines else { return };
            for line in lines.split_inclusive(|octet| *octet == b'\n') {
                answers.current.resize(answers.current.len() + PART / 64, line[0]);
                let now = waiting.fetch_add(PART / 64, Ordering::SeqCst);
                most.fetch_max(now, Ordering::SeqCst);
                answers.pass_on_part();
            }
        };
        let letters: Vec<u8> = (0..12_000_u32).map(|number| b'a' + (number / 7 % 26) as u8).collect();
        let input: Vec<u8> = letters.iter().flat_map(|letter| [*letter, b'\n']).collect();
        let mut output = Slow(&waiting, Vec::new());
        map_lines(Drip(&input, 8_000), &mut output, 2, 1000, answer).expect("it works");
        assert!(output.1 == letters);
        // For each of two workers: a part that is filled, one that is sent and two in its channel; and one that is written.
        assert!(most.into_inner() <= 9 * PART);
    }

    #[test]
    fn items_are_taken_in_order() {
        let items: Vec<usize> = (0..100).collect();
        for jobs in [1, 3, 200] {
            let mut taken = Vec::new();
            let take = |item: &&usize, done| {
                taken.push((**item, done));
                Ok(())
            };
            map_items(items.iter(), jobs, |item| *item * 2, take).expect("it works");
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

    #[test]
    fn runs_of_csv_are_cut_outside_quotes() {
        use crate::cut::CsvCutter;
        let row = "a,\"b\n\"\"\n\",c\n";
        let long = format!("\"{}\n\n\"\n", "x".repeat(40));
        let input = format!("{}{long}{row}d", row.repeat(20));
        // Each answer says how its run starts and ends: a run that is cut within quotes shows.
        let worker = || {
            |lines: Lines<'_>, answers: &mut Answers<'_, Vec<u8>>| match lines {
                Lines::Whole(run) => {
                    assert!(run.starts_with(b"a,\"b") || run == b"d", "{}", run.escape_ascii());
                    assert!(run.ends_with(b"\",c\n") || run.ends_with(b"d"), "{}", run.escape_ascii());
                    answers.current.extend_from_slice(run);
                }
                Lines::TooLong => answers.current.extend_from_slice(b"LONG\n"),
            }
        };
        let expected = format!("{}LONG\n{row}d", row.repeat(20));
        // In larger pieces the long row comes whole, and its worker has to see to it.
        for piece in 1..15 {
            let (mut output, input) = (Vec::new(), Drip(input.as_bytes(), piece));
            map_rows(input, &mut output, 3, 25, CsvCutter::default(), worker).expect("it works");
            assert_eq!(String::from_utf8_lossy(&output), expected, "pieces of {piece}");
        }
    }
}

//! Files and standard input → blocks of whole lines, decompressed, for whichever thread asks next.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mayi_audit::{Format, MOST_LINE};
use mayi_tables::compressed::decompressed;

use crate::exit::Failure;
use crate::input;
use crate::progress::Progress;

/// About how many octets a block has.
const BLOCK: usize = 1 << 20;

/// How many octets are asked for at once.
const PIECE: usize = 1 << 16;

/// How much of a line that is too long is shown.
const SHOWN: usize = 300;

/// The logs, one after the other.
pub(crate) struct Logs<'p> {
    /// Still to be read, the next one last.
    waiting: Vec<(u32, PathBuf)>,
    current: Option<Log>,
    named: Option<Arc<Format>>,
    progress: &'p Progress,
    /// What went wrong with whole files.
    troubles: Vec<String>,
}

struct Log {
    source: u32,
    path: PathBuf,
    input: Box<dyn Read + Send>,
    format: Option<Arc<Format>>,
    /// How the next line starts.
    rest: Vec<u8>,
    next_line: u64,
    /// Whether the rest of a line that is too long is being skipped.
    skips: bool,
    is_stream: bool,
    /// The error that ended the input early; reported after the lines before it.
    failed: Option<io::Error>,
}

/// What a thread gets to count.
pub(crate) enum Taken {
    /// Whole lines are in the buffer: of this log, from this line on, in this format.
    Lines { source: u32, first_line: u64, format: Arc<Format> },
    /// The start of a line that is too long is in the buffer.
    TooLong { source: u32, line: u64 },
}

impl<'p> Logs<'p> {
    /// The logs with these paths; `-` is standard input. Without a format, that of each is recognised.
    pub(crate) fn new(paths: &[PathBuf], named: Option<Format>, progress: &'p Progress) -> Self {
        let waiting = paths.iter().enumerate().map(|(place, path)| (place as u32, path.clone()));
        let waiting = waiting.rev().collect();
        Self { waiting, current: None, named: named.map(Arc::new), progress, troubles: Vec::new() }
    }

    /// What went wrong with whole files.
    pub(crate) fn troubles(&self) -> &[String] {
        &self.troubles
    }

    /// Puts the next lines into a buffer, or returns that there are no more. An error ends its file, and the
    /// next file is read.
    pub(crate) fn next(&mut self, buffer: &mut Vec<u8>) -> Option<Taken> {
        loop {
            if self.current.is_none() {
                let (source, path) = self.waiting.pop()?;
                match self.open(source, &path) {
                    Ok(log) => self.current = Some(log),
                    Err(error) => self.trouble(&path, &error),
                }
                continue;
            }
            let log = self.current.as_mut()?;
            match log.next(buffer, self.named.as_ref()) {
                Ok(Some(taken)) => return Some(taken),
                Ok(None) => self.current = None,
                Err(error) => {
                    let path = log.path.clone();
                    self.current = None;
                    self.trouble(&path, &error);
                }
            }
        }
    }

    fn trouble(&mut self, path: &Path, error: &io::Error) {
        self.troubles.push(format!("`{}` can't be read to its end: {error}", input::name(path)));
    }

    fn open(&self, source: u32, path: &Path) -> io::Result<Log> {
        let is_stream = path == Path::new("-");
        let raw: Box<dyn Read + Send> =
            if is_stream { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
        let input = decompressed(self.progress.reading(raw))?;
        let path = path.to_owned();
        Ok(Log {
            source,
            path,
            input,
            format: None,
            rest: Vec::new(),
            next_line: 1,
            skips: false,
            is_stream,
            failed: None,
        })
    }
}

impl Log {
    fn next(&mut self, buffer: &mut Vec<u8>, named: Option<&Arc<Format>>) -> io::Result<Option<Taken>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        buffer.clear();
        buffer.append(&mut self.rest);
        loop {
            let is_end = self.fill(buffer);
            if self.skips {
                match memchr::memchr(b'\n', buffer) {
                    None if is_end => return self.failed.take().map_or(Ok(None), Err),
                    None => buffer.clear(),
                    Some(end) => {
                        buffer.drain(..=end);
                        self.next_line += 1;
                        self.skips = false;
                    }
                }
                continue;
            }
            match memchr::memrchr(b'\n', buffer) {
                _ if is_end && buffer.is_empty() => return self.failed.take().map_or(Ok(None), Err),
                Some(end) if !is_end => self.rest = buffer.split_off(end + 1),
                _ if is_end => {}
                _ if buffer.len() > MOST_LINE => {
                    buffer.truncate(SHOWN);
                    self.skips = true;
                    return Ok(Some(Taken::TooLong { source: self.source, line: self.next_line }));
                }
                _ => continue,
            }
            let first_line = self.next_line;
            self.next_line += memchr::memchr_iter(b'\n', buffer).count() as u64;
            let format = self.format_of(buffer, named);
            return Ok(Some(Taken::Lines { source: self.source, first_line, format }));
        }
    }

    /// Reads up to a block, and returns whether the input has ended or can't be read further. For a stream it
    /// waits only until there is a complete line.
    fn fill(&mut self, buffer: &mut Vec<u8>) -> bool {
        let most = buffer.len() + BLOCK;
        while buffer.len() < most {
            let start = buffer.len();
            buffer.resize((start + PIECE).min(most), 0);
            let read = self.input.read(&mut buffer[start..]);
            let count = match read {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    buffer.truncate(start);
                    continue;
                }
                Err(error) => {
                    // The lines before the damage count; the one that it cuts off does not.
                    let whole = memchr::memrchr(b'\n', &buffer[..start]).map_or(0, |end| end + 1);
                    buffer.truncate(whole);
                    self.failed = Some(error);
                    return true;
                }
            };
            buffer.truncate(start + count);
            if count == 0 {
                return true;
            }
            if self.is_stream && memchr::memchr(b'\n', &buffer[start..]).is_some() {
                break;
            }
        }
        false
    }

    /// The format of these lines. One that could not be recognised is looked for again further on.
    fn format_of(&mut self, lines: &[u8], named: Option<&Arc<Format>>) -> Arc<Format> {
        let format = match (&self.format, named) {
            (Some(format), _) | (None, Some(format)) => Arc::clone(format),
            (None, None) => Arc::new(Format::detect(lines)),
        };
        let after = format.after(lines).map(Arc::new);
        self.format = match after {
            Some(after) => Some(after),
            None if format.name() == "unknown" => None,
            None => Some(Arc::clone(&format)),
        };
        format
    }
}

/// Fails if a path does not exist, before anything is read.
pub(crate) fn check(paths: &[PathBuf]) -> Result<(), Failure> {
    input::one_reader(paths.iter().map(|path| &**path))?;
    for path in paths.iter().filter(|path| path.as_os_str() != "-") {
        File::open(path).map_err(|error| input::unreadable(path, &error))?;
        if path.is_dir() {
            return Err(Failure::new(format_args!(
                "`{}` is a folder; name the logs in it",
                input::name(path)
            )));
        }
    }
    Ok(())
}

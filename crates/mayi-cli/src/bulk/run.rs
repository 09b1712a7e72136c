//! The files of a run, one after the other → one output.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use mayi_audit::with_commas;
use mayi_tables::compressed::{Compression, decompressed};
use mayi_tables::files::Files;

use super::columns::{Columns, Words};
use super::rows::{Fields, Format, split_line};
#[cfg(feature = "columns")]
use super::tables::{BatchSink, TableOut, Wanted, check_types, output_schema};
use super::worker::{Counts, Shared, Worker};
use super::write::write_header;
use crate::cli::Claims;
use crate::cut::{CsvCutter, Cutter, LineCutter};
use crate::exit::Failure;
use crate::input;
use crate::output::Output;
use crate::parallel::{self, Answers, Lines};
use crate::progress::Progress;

/// The caller's options for a run.
pub(crate) struct Settings<'b> {
    pub(crate) words: Words<'b>,
    pub(crate) claims: &'b Claims,
    /// How long a row may be.
    pub(crate) longest: usize,
    pub(crate) jobs: usize,
    /// The formats, where they are not left to names and contents.
    pub(crate) input: Option<Format>,
    pub(crate) output: Option<Format>,
}

/// What the files of a run share.
pub(crate) struct Run<'b> {
    settings: Settings<'b>,
    files: Files,
    progress: Progress,
    counts: Counts,
    /// The header of the output, once it is written.
    header: Option<Vec<u8>>,
    /// The file of the output, if it is one, for messages.
    path: Option<PathBuf>,
    out: Out,
}

/// Where rows go.
enum Out {
    /// To an output of text, or to a table that has not begun.
    Rows(Box<Output>),
    #[cfg(feature = "columns")]
    Table(Box<TableOut>),
    /// To no place any more.
    #[cfg(feature = "columns")]
    Nowhere,
}

impl<'b> Run<'b> {
    pub(crate) fn new(
        settings: Settings<'b>,
        files: Files,
        progress: Progress,
        output: Output,
    ) -> Self {
        let (counts, path) = (Counts::default(), output.path().map(Path::to_owned));
        Self { settings, files, progress, counts, header: None, path, out: Out::Rows(Box::new(output)) }
    }

    /// Answers the rows of all files and ends the output.
    pub(crate) fn files(mut self, paths: &[PathBuf]) -> Result<Counts, Failure> {
        let by_name = || self.path.as_deref().and_then(Format::of_name);
        let output = match self.settings.output.or_else(by_name) {
            Some(format) => format,
            None => self.format_of(&paths[0])?,
        };
        self.check_output(output)?;
        for path in paths {
            self.file(path, output).map_err(|failure| self.with_rows(failure))?;
        }
        // The progress line is removed before anything else is printed.
        drop(self.progress);
        match self.out {
            Out::Rows(_) if output.is_table() => {
                return Err(Failure::new("the input is empty, and a table has to have columns"));
            }
            Out::Rows(output) => output.finish()?,
            #[cfg(feature = "columns")]
            Out::Table(table) => table.finish()?,
            #[cfg(feature = "columns")]
            Out::Nowhere => {}
        }
        Ok(self.counts)
    }

    /// Fails if the output can't have the requested format.
    fn check_output(&self, format: Format) -> Result<(), Failure> {
        let is_compressed = self.path.as_deref().and_then(Compression::of_name).is_some();
        match &self.out {
            Out::Rows(output) if format.is_table() && output.is_terminal() => {
                Err(Failure::new("this format can't be printed on a terminal; use `--output FILE`"))
            }
            _ if format.is_table() && is_compressed => Err(Failure::new(
                "this format has its own compression; remove the second ending from the name in \
                 `--output`",
            )),
            _ => Ok(()),
        }
    }

    /// The format of an input: what the caller says, or its content, or its name.
    fn format_of(&self, path: &Path) -> Result<Format, Failure> {
        if let Some(format) = self.settings.input {
            return Ok(format);
        }
        let mut start = Vec::new();
        // A pipe can be read once only.
        if path.is_file() {
            let file = File::open(path).and_then(|file| file.take(8).read_to_end(&mut start));
            file.map_err(|error| input::unreadable(path, &error))?;
        }
        let of_start = Format::of_start(&start);
        Ok(of_start.or_else(|| Format::of_name(path)).unwrap_or(Format::Tsv))
    }

    /// Answers the rows of a file.
    fn file(&mut self, path: &Path, output: Format) -> Result<(), Failure> {
        let format = self.format_of(path)?;
        #[cfg(feature = "columns")]
        if let Some(kind) = format.kind() {
            return self.table(path, kind, (format, output));
        }
        let longest = self.settings.longest;
        let unreadable = |error| input::unreadable(path, &error);
        let mut input = decompressed(self.progress.reading(input::open(path)?)).map_err(unreadable)?;
        let start = match format {
            Format::Csv => read_start(&mut input, CsvCutter::default(), longest),
            _ => read_start(&mut input, LineCutter, longest),
        };
        let mut start = start.map_err(unreadable)?;
        refuse_table(&start, path)?;
        if start.is_empty() {
            return Ok(());
        }
        let words = &self.settings.words;
        let columns = if format == Format::Ndjson {
            Columns::of_members(output, words)?
        } else {
            let mut fields = Fields::default();
            let (row, next) = first_row(&start, format, &mut fields);
            if row.len() > longest {
                return Err(Failure::new(format_args!(
                    "the first row of `{}` is longer than {longest} octets; `--max-line` sets the limit",
                    path.display(),
                )));
            }
            let columns = Columns::of_first_row(row, &fields, (format, output), words)?;
            if columns.header.is_some() {
                start.drain(..next);
            }
            columns
        };
        self.begin(&columns, path)?;
        let input = Named { path, input: io::Cursor::new(start).chain(input) };
        if format == Format::Csv {
            self.rows(input, CsvCutter::default(), &columns)
        } else {
            self.rows(input, LineCutter, &columns)
        }
    }

    /// Writes the header of the output, if it has not been written; it has to be the same for all files.
    fn begin(&mut self, columns: &Columns, path: &Path) -> Result<(), Failure> {
        #[cfg(feature = "columns")]
        if columns.output.is_table() {
            return self.begin_table(columns, None, path);
        }
        let mut head = Vec::new();
        write_header(columns, &mut head);
        match (&self.header, &mut self.out) {
            (None, Out::Rows(output)) => output.write_all(&head)?,
            (Some(first), _) if *first != head => return Err(other_columns(path)),
            _ => {}
        }
        self.header = Some(head);
        Ok(())
    }

    /// Answers the rows of a text.
    fn rows(
        &mut self,
        input: impl Read + Send,
        cutter: impl Cutter,
        columns: &Columns,
    ) -> Result<(), Failure> {
        let Self { settings, files, counts, progress, out, .. } = self;
        let (jobs, longest) = (settings.jobs, settings.longest);
        let (agents, claims) = (settings.words.agents, settings.claims);
        let shared = Shared { columns, files, agents, claims, longest, counts, progress };
        match out {
            Out::Rows(output) => {
                let worker = || {
                    let mut worker = Worker::new(&shared);
                    move |lines: Lines<'_>, out: &mut Answers<'_, Vec<u8>>| worker.answer(lines, out)
                };
                parallel::map_rows(input, output, jobs, longest, cutter, worker)
            }
            #[cfg(feature = "columns")]
            Out::Table(table) => {
                let worker = || {
                    let mut worker = Worker::new(&shared);
                    move |lines: Lines<'_>, out: &mut Answers<'_, BatchSink>| {
                        worker.answer(lines, &mut out.current);
                    }
                };
                parallel::map_runs(input, jobs, longest, cutter, worker, |mut batch: BatchSink| {
                    table.push(&mut batch)?;
                    Ok(Some(batch))
                })
            }
            #[cfg(feature = "columns")]
            Out::Nowhere => Ok(()),
        }
    }

    /// A failure, with what happened to the rows before it.
    fn with_rows(&self, failure: Failure) -> Failure {
        let Failure::Message(message) = failure else { return failure };
        Failure::Message(match (&self.path, self.counts.rows.load(Ordering::Relaxed)) {
            (Some(path), _) => format!("{message}\n`{}` is left as it was", path.display()),
            (None, 0) => message,
            (None, 1) => format!("{message}\nthe row before that is answered"),
            (None, rows) => {
                format!("{message}\nthe {} rows before that are answered", with_commas(rows))
            }
        })
    }
}

#[cfg(feature = "columns")]
impl Run<'_> {
    /// Answers the rows of a table that is not text.
    fn table(
        &mut self,
        path: &Path,
        kind: mayi_tables::reading::TableFormat,
        formats: (Format, Format),
    ) -> Result<(), Failure> {
        use mayi_tables::reading::{Table, TableError};
        if path == Path::new("-") {
            return Err(Failure::new(format_args!(
                "{} can't be read from standard input, because it is read from its end; give a file name",
                kind.name()
            )));
        }
        let failed = |error: TableError| {
            Failure::new(format_args!("`{}` can't be read: {error}", path.display()))
        };
        let table = Table::open(path, kind).map_err(failed)?;
        let names: Vec<_> = table.schema().fields().iter().map(|field| field.name().clone()).collect();
        let width = names.len();
        let columns = Columns::of_header(Some(names), width, formats, &self.settings.words)?;
        check_types(&columns, table.schema())?;
        if columns.output.is_table() {
            self.begin_table(&columns, Some(table.schema()), path)?;
        } else {
            self.begin(&columns, path)?;
        }
        let Self { settings, files, counts, progress, out, .. } = self;
        let (jobs, longest) = (settings.jobs, settings.longest);
        let (agents, claims) = (settings.words.agents, settings.claims);
        let shared = Shared { columns: &columns, files, agents, claims, longest, counts, progress };
        let wanted = Wanted::new(&table, &shared);
        match out {
            Out::Rows(output) => parallel::map_items(
                table.parts(),
                jobs,
                |part| wanted.text_of(part),
                |_, answered| {
                    let answered = answered.map_err(failed)?;
                    output.write_all(&answered.rows)?;
                    output.flush()?;
                    shared.count(answered.count, answered.errors);
                    Ok(())
                },
            ),
            Out::Table(out) => {
                let (schema, encoder) = out.encoding();
                let work = |part: &_| wanted.encoded(part, &schema, &encoder);
                parallel::map_items(table.parts(), jobs, work, |_, answered| {
                    let answered = answered.map_err(failed)?;
                    out.write(answered.rows)?;
                    shared.count(answered.count, answered.errors);
                    Ok(())
                })
            }
            Out::Nowhere => Ok(()),
        }
    }

    /// Begins the table of the output, if it has not begun; all files have to have the same columns.
    fn begin_table(
        &mut self,
        columns: &Columns,
        table: Option<&arrow_schema::SchemaRef>,
        path: &Path,
    ) -> Result<(), Failure> {
        let Some(kind) = columns.output.kind() else { return Ok(()) };
        let schema = output_schema(columns, table);
        self.out = match std::mem::replace(&mut self.out, Out::Nowhere) {
            Out::Rows(output) => Out::Table(Box::new(TableOut::begin(*output, kind, schema)?)),
            Out::Table(table) if table.has_columns(&schema) => Out::Table(table),
            Out::Table(_) | Out::Nowhere => return Err(other_columns(path)),
        };
        Ok(())
    }
}

fn other_columns(path: &Path) -> Failure {
    Failure::new(format_args!("`{}` has other columns than the first file", path.display()))
}

/// Fails if input that is read as text is a table.
fn refuse_table(start: &[u8], path: &Path) -> Result<(), Failure> {
    let name = if start.starts_with(b"PAR1") {
        "Parquet"
    } else if start.starts_with(b"ARROW1\0\0") {
        "Arrow IPC"
    } else {
        return Ok(());
    };
    let why = if cfg!(feature = "columns") {
        "which can be read only from a file that is not compressed, and not with a text format"
    } else {
        "which this mayi can't read: it was built without the feature `columns`"
    };
    Err(Failure::new(format_args!("`{}` is {name}, {why}", path.display())))
}

/// An input whose errors say which one it is.
struct Named<'p, R> {
    path: &'p Path,
    input: R,
}

impl<R: Read> Read for Named<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.read(buffer).map_err(|error| {
            io::Error::new(error.kind(), format!("`{}`: {error}", self.path.display()))
        })
    }
}

/// Reads until there is a whole row, or more than a row may have. A byte order mark and blank lines
/// before the first row are passed over.
fn read_start(input: &mut impl Read, mut cutter: impl Cutter, longest: usize) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    let (mut has_begun, mut known) = (false, 0);
    loop {
        let count = match input.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        start.extend_from_slice(&buffer[..count]);
        if !has_begun {
            let mark = b"\xEF\xBB\xBF";
            if count > 0 && start.len() < mark.len() && mark.starts_with(&start) {
                continue;
            }
            if start.starts_with(mark) {
                start.drain(..mark.len());
            }
            has_begun = true;
        }
        if known == 0 {
            let blank = start.iter().take_while(|octet| matches!(octet, b'\r' | b'\n')).count();
            start.drain(..blank);
        }
        let has_row = cutter.first_end(&start[known..]).is_some();
        known = start.len();
        if has_row || count == 0 || known > longest {
            return Ok(start);
        }
    }
}

/// The first row of a text without its line end, and where the next one starts.
fn first_row<'t>(text: &'t [u8], format: Format, fields: &mut Fields) -> (&'t [u8], usize) {
    if format == Format::Csv {
        let (end, next) = fields.read_csv(text);
        return (&text[..end], next);
    }
    let (line, rest) = split_line(text);
    fields.read_tsv(line);
    (line, text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its octets one by one.
    struct Drip<'i>(&'i [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(1);
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn the_start_is_read_up_to_the_first_row() {
        for (text, expected) in [
            ("\u{feff}\r\n\"a\nb\",c\nd\n", "\"a\nb\",c\n"),
            ("a", "a"),
            ("", ""),
            ("\n\n", ""),
            ("\u{feff}", ""),
            ("\"abcdefghijkl", "\"abcdefghij"),
        ] {
            let start = read_start(&mut Drip(text.as_bytes()), CsvCutter::default(), 10);
            assert_eq!(start.expect("it reads"), expected.as_bytes(), "{text:?}");
        }
    }
}

//! `mayi bulk`: rows of URLs in, the same rows with decisions out, in order.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::{ArgGroup, Args, ValueEnum};
use mayi::access::AccessResult;
use mayi::{Crawler, Limits, ReadOptions};
use mayi_audit::with_commas;

use crate::bulk::columns::{Columns, Words, asks_for_uses};
use crate::bulk::inputs;
use crate::bulk::kept::Keeper;
use crate::bulk::rows::{Fields, Format, split_line};
use crate::bulk::source::{Folder, Robots, Stored};
use crate::bulk::worker::{Counts, Shared, Worker};
use crate::bulk::write::write_header;
use crate::cli::{Claims, DialectName, Reading};
use crate::compressed::decompressed;
use crate::cut::{CsvCutter, Cutter, LineCutter};
use crate::exit::{Exit, Failure};
use crate::fetching;
use crate::input;
use crate::output::Output;
use crate::parallel;
use crate::progress::{self, Progress, ProgressArgs};

/// What the help says behind the options.
const MORE: &str = "\
Rows: every row of the input gets one row of output, in the same order. Blank lines are skipped. A bad row \
(no URL or a wrong one, too many or too few columns, not UTF-8, no robots.txt) gets an error in its row, and \
the next row is still answered. The number of errors is printed on standard error at the end.

Files: several files are one input, in the order in which they are named. For a folder, all files in it and in its \
folders are read, in the order of the octets of their names; names that start with `.` or `_` are left out. Files that \
are compressed with gzip, zstd, bzip2 or xz are recognised by their content. If a file is cut off or damaged, the rows \
before that are answered, the run ends with an error that names the place, and a file of --output is left as it was.

Formats: TSV has tabs between fields, no quotes and no escapes. CSV follows RFC 4180, with line ends in \
quoted fields. A row of NDJSON is an object. Lines can end with CR LF or LF; LF is written. A byte order mark \
at the start is skipped. Columns of the input are copied as they are. In TSV made from CSV or NDJSON, `\\t`, \
`\\r` and `\\n` stand for the characters that TSV can't have.

Header: without --header or --no-header, the first row of TSV or CSV is a header if one of its fields is \
`url` in any case, or if an option chooses a column by name. The output has a header if the input has one, \
and if TSV or CSV is made from NDJSON.

Columns of the output:
  *          all columns of the input
  url        the URL
  agent      the product token of the crawler
  origin     scheme, host and port of the URL, normalised
  allowed    true or false
  reason     rule, no-rule, no-group, robots-txt, unavailable or unreachable
  rule       the path pattern that decides, as written
  rule_line  its line number
  octets     how specific it is
  group      how the group was chosen: product-token, regex, purpose or global
  train, search, ai-input
             allowed, disallowed or unknown; these are slower
  error      what is wrong with a bad row: a code and a message
With --agent more than once, an answer has a column for each crawler: allowed_ExampleBot, allowed_OtherBot. \
NDJSON has a list `answers` instead, with an object for each crawler. The default is then *,allowed,error. \
Every robots.txt is read once for all of them.
Any other word is a column of the input, by name or number.

Files of --robots-dir: for https://example.com/ mayi tries these names and takes the first that exists:
  https_example.com_443.txt, https_example.com_443/robots.txt, https_example.com_443,
  example.com.txt, example.com/robots.txt, example.com
If the port is not the default of the scheme, the short names have it too: example.com_8080.txt. Hosts are \
in lower case and in ASCII (xn--…); in an IPv6 address, `_` replaces `:`.

Speed: the order of hosts does not change the answers, but input that is sorted by host is fastest.

Examples:
  mayi bulk --robots robots.txt --agent ExampleBot urls.txt
  mayi bulk --robots-dir robots --agent ExampleBot urls.tsv.gz --output out.tsv.zst
  mayi bulk --robots-dir robots --agent ExampleBot --agent OtherBot urls.tsv
  mayi bulk --robots-dir robots --agent-column crawler --columns url,crawler,allowed in.csv

Exit status: 0 the input was read to its end; 2 it could not be read, or a row has an error and \
--fail-on-error was given.";

const EXAMPLES: &str = "\
Examples:
  mayi bulk -r robots.txt -a ExampleBot urls.txt
  mayi bulk --robots-dir robots -a ExampleBot urls.tsv.gz -o out.tsv.zst";

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("source").args(["robots", "robots_dir", "store"]).required(true)))]
#[command(after_help = EXAMPLES, after_long_help = MORE)]
pub(crate) struct Bulk {
    /// The files with the rows, and folders of such files, compressed or not; default, or `-`: standard
    /// input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write the rows to this file instead of standard output. It is there when it is whole, and not
    /// before. `.gz`, `.zst`, `.bz2` or `.xz` at the end of its name compresses it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// One robots.txt file for all URLs
    #[arg(short, long, value_name = "FILE", help_heading = "robots.txt")]
    robots: Option<PathBuf>,

    /// A folder with a robots.txt file for each host
    #[arg(long, value_name = "FOLDER", help_heading = "robots.txt")]
    robots_dir: Option<PathBuf>,

    /// A store that `mayi check` or a service has filled: a path, or `redis://host:port`. Its files are
    /// used even if they are old; nothing is fetched
    #[arg(long, value_name = "STORE", help_heading = "robots.txt")]
    store: Option<String>,

    /// What to do if there is no file for a host
    #[arg(long, value_name = "WHAT", default_value = "error", help_heading = "robots.txt")]
    missing: Missing,

    /// The crawler's product token, for example ExampleBot, for rows that do not have one. More than
    /// once: every row is answered for each of these crawlers
    #[arg(short, long = "agent", value_name = "TOKEN")]
    agents: Vec<String>,

    #[command(flatten)]
    claims: Claims,

    /// The format of the input; default: by the ending of the file name, or tsv
    #[arg(long, value_name = "FORMAT", help_heading = "Rows")]
    format: Option<Format>,

    /// The format of the output; default: by the ending of --output, or the format of the input
    #[arg(long, value_name = "FORMAT", help_heading = "Rows")]
    output_format: Option<Format>,

    /// The first row is a header
    #[arg(hide_short_help = true, long, conflicts_with = "no_header", help_heading = "Rows")]
    header: bool,

    /// The first row is not a header
    #[arg(hide_short_help = true, long, help_heading = "Rows")]
    no_header: bool,

    /// The column of the URL, by name or number; default: `url`, or the first column
    #[arg(long, value_name = "COLUMN", help_heading = "Rows")]
    url_column: Option<String>,

    /// The column of the product token; default, without --agent: `agent`
    #[arg(hide_short_help = true, long, value_name = "COLUMN", help_heading = "Rows")]
    agent_column: Option<String>,

    /// A column of purposes, separated by white space; in NDJSON also a list
    #[arg(hide_short_help = true, long, value_name = "COLUMN", help_heading = "Rows")]
    purposes_column: Option<String>,

    /// A column of applications, separated by white space; in NDJSON also a list
    #[arg(hide_short_help = true, long, value_name = "COLUMN", help_heading = "Rows")]
    apps_column: Option<String>,

    /// A column of User-Agent strings; each must contain the token and purposes of its row
    #[arg(hide_short_help = true, long, value_name = "COLUMN", help_heading = "Rows")]
    user_agent_column: Option<String>,

    /// The columns of the output, separated by commas; default:
    /// *,allowed,reason,rule,rule_line,error
    #[arg(long, value_name = "LIST", help_heading = "Rows")]
    columns: Option<String>,

    /// A prefix for the names of the answer columns
    #[arg(
        hide_short_help = true,
        long,
        value_name = "TEXT",
        default_value = "",
        help_heading = "Rows"
    )]
    prefix: String,

    /// The maximum length of a row. A longer row gets an error; if it is the first row of TSV or CSV,
    /// the run ends
    #[arg(hide_short_help = true, long, value_name = "OCTETS", default_value_t = 1 << 20, help_heading = "Rows")]
    max_line: usize,

    /// Exit with 2 if a row has an error
    #[arg(hide_short_help = true, long, help_heading = "Rows")]
    fail_on_error: bool,

    /// The dialect to read the files in
    #[arg(long, value_name = "NAME", default_value = mayi::Dialect::default().name(), help_heading = "robots.txt")]
    dialect: DialectName,

    #[command(flatten)]
    reading: Reading,

    /// The charset of the files
    #[arg(hide_short_help = true, long, value_name = "LABEL", help_heading = "robots.txt")]
    charset: Option<String>,

    /// Read at most this many octets of a file; 512000 (500 KiB) is the minimum
    #[arg(hide_short_help = true, long, value_name = "OCTETS", default_value_t = Limits::default().file_octets(), help_heading = "robots.txt")]
    max_octets: usize,

    /// The number of threads; default: one for each core
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,

    /// The memory for prepared rules, in octets (approximate)
    #[arg(hide_short_help = true, long, value_name = "OCTETS", default_value_t = 256 << 20)]
    cache_size: u64,

    #[command(flatten)]
    progress: ProgressArgs,
}

/// What a missing file comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Missing {
    /// The row gets an error
    Error,
    /// Everything is allowed, as if the file were unavailable (REP-20)
    Allow,
    /// Nothing is allowed, as if the file were unreachable (REP-21)
    Disallow,
}

pub(crate) fn run(bulk: &Bulk) -> Result<Exit, Failure> {
    let files = &inputs::expanded(&bulk.files)?;
    let paths = files.iter().chain(&bulk.robots).chain(&bulk.reading.registries);
    input::one_reader(paths.map(|path| &**path))?;
    check_crawlers(bulk)?;
    let limits = Limits::with_file_octets(bulk.max_octets).map_err(Failure::new)?;
    let missing = match bulk.missing {
        Missing::Error => None,
        Missing::Allow => Some(AccessResult::of_status(404)),
        Missing::Disallow => Some(AccessResult::of_error("missing")),
    };
    let keeper = Keeper::new(source(bulk, limits)?, options(bulk, limits)?, bulk.cache_size)
        .with_missing(missing)
        .keeping_files(asks_for_uses(bulk.columns.as_deref()));
    let named = files.iter().chain(&bulk.robots).chain(&bulk.reading.registries);
    let output = Output::create(bulk.output.as_deref(), named.map(|path| &**path))?;
    let format = bulk.output_format.or_else(|| output.path().and_then(Format::of_name));
    let format = format.unwrap_or_else(|| format_of(&files[0], bulk));
    let total = progress::total_size(files.iter().map(|path| &**path));
    let progress = Progress::start(&bulk.progress, "rows", total);
    let counts = Counts::default();
    let mut run = Run { bulk, keeper, progress, counts, format, header: None, output };
    for path in files {
        run.file(path).map_err(|failure| run.with_rows(failure))?;
    }
    let Run { progress, counts, output, .. } = run;
    drop(progress);
    output.finish()?;
    let (rows, errors) = (counts.rows.load(Ordering::Relaxed), counts.errors.load(Ordering::Relaxed));
    if errors > 0 {
        let (rows, errors) = (with_commas(rows), with_commas(errors));
        anstream::eprintln!("mayi: {errors} of {rows} rows have an error in the place of an answer");
        if bulk.fail_on_error {
            return Ok(Exit::NoAnswer);
        }
    }
    Ok(Exit::Allowed)
}

/// What the files of a run share.
struct Run<'b> {
    bulk: &'b Bulk,
    keeper: Keeper,
    progress: Progress,
    counts: Counts,
    /// The format of the output.
    format: Format,
    /// The header of the output, once it is written.
    header: Option<Vec<u8>>,
    output: Output,
}

impl Run<'_> {
    /// Answers the rows of a file.
    fn file(&mut self, path: &Path) -> Result<(), Failure> {
        let bulk = self.bulk;
        let format = format_of(path, bulk);
        let unreadable = |error| input::unreadable(path, &error);
        let mut input = decompressed(self.progress.reading(input::open(path)?)).map_err(unreadable)?;
        let start = match format {
            Format::Csv => read_start(&mut input, CsvCutter::default(), bulk.max_line),
            Format::Tsv | Format::Ndjson => read_start(&mut input, LineCutter, bulk.max_line),
        };
        let mut start = start.map_err(unreadable)?;
        if start.is_empty() {
            return Ok(());
        }
        let words = words(bulk);
        let columns = if format == Format::Ndjson {
            Columns::of_members(self.format, &words)?
        } else {
            let mut fields = Fields::default();
            let (row, next) = first_row(&start, format, &mut fields);
            if row.len() > bulk.max_line {
                return Err(Failure::new(format_args!(
                    "the first row of `{}` is longer than {} octets; `--max-line` sets the limit",
                    path.display(),
                    bulk.max_line
                )));
            }
            let columns = Columns::of_first_row(row, &fields, (format, self.format), &words)?;
            if columns.header.is_some() {
                start.drain(..next);
            }
            columns
        };
        let mut head = Vec::new();
        write_header(&columns, &mut head);
        match &self.header {
            None => {
                self.output.write_all(&head)?;
                self.header = Some(head);
            }
            Some(first) if *first != head => {
                return Err(Failure::new(format_args!(
                    "`{}` has other columns than the first file",
                    path.display()
                )));
            }
            Some(_) => {}
        }
        let (agents, claims, longest) = (&*bulk.agents, &bulk.claims, bulk.max_line);
        let Self { keeper, counts, progress, output, .. } = self;
        let shared = Shared { columns: &columns, keeper, agents, claims, longest, counts, progress };
        let worker = || {
            let mut worker = Worker::new(&shared);
            move |lines: parallel::Lines<'_>, out: &mut Vec<u8>| worker.answer(lines, out)
        };
        let input = Named { path, input: io::Cursor::new(start).chain(input) };
        let jobs = parallel::jobs(bulk.jobs);
        if format == Format::Csv {
            parallel::map_rows(input, output, jobs, longest, CsvCutter::default(), worker)
        } else {
            parallel::map_rows(input, output, jobs, longest, LineCutter, worker)
        }
    }

    /// A failure with what became of the rows before it.
    fn with_rows(&self, failure: Failure) -> Failure {
        let Failure::Message(message) = failure else { return failure };
        Failure::Message(match (self.output.path(), self.counts.rows.load(Ordering::Relaxed)) {
            (Some(path), _) => format!("{message}\n`{}` is left as it was", path.display()),
            (None, 0) => message,
            (None, 1) => format!("{message}\nthe row before that is answered"),
            (None, rows) => {
                format!("{message}\nthe {} rows before that are answered", with_commas(rows))
            }
        })
    }
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

fn format_of(path: &Path, bulk: &Bulk) -> Format {
    bulk.format.or_else(|| Format::of_name(path)).unwrap_or(Format::Tsv)
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

fn words(bulk: &Bulk) -> Words<'_> {
    let header = if bulk.no_header { Some(false) } else { bulk.header.then_some(true) };
    Words {
        header,
        url: bulk.url_column.as_deref(),
        agent: bulk.agent_column.as_deref(),
        purposes: bulk.purposes_column.as_deref(),
        apps: bulk.apps_column.as_deref(),
        user_agent: bulk.user_agent_column.as_deref(),
        agents: &bulk.agents,
        columns: bulk.columns.as_deref(),
        prefix: &bulk.prefix,
    }
}

fn source(bulk: &Bulk, limits: Limits) -> Result<Robots, Failure> {
    // A little more than the limit, so that what is behind it can be seen.
    let most = limits.file_octets().saturating_add(4);
    if let Some(path) = &bulk.robots_dir {
        let folder = Folder::new(path, most).map_err(|error| input::unreadable(path, &error))?;
        return Ok(Robots::Each(Box::new(folder)));
    }
    if let Some(store) = &bulk.store {
        let fetcher = fetching::of_store(store)?;
        return Ok(Robots::Each(Box::new(Stored(fetcher))));
    }
    let path = bulk.robots.as_deref().unwrap_or(Path::new("-"));
    let mut octets = Vec::new();
    input::open(path)?
        .take(most as u64)
        .read_to_end(&mut octets)
        .map_err(|error| input::unreadable(path, &error))?;
    Ok(Robots::One(octets))
}

fn options(bulk: &Bulk, limits: Limits) -> Result<ReadOptions, Failure> {
    let dialect = bulk.reading.of_dialect(&bulk.dialect.0);
    let options = input::reading(&bulk.reading)?.with_limits(limits).with_dialect(dialect);
    Ok(match &bulk.charset {
        Some(charset) => options.with_charset(charset),
        None => options,
    })
}

/// Fails where the crawlers of all rows can't be what they are said to be, rather than in each row.
fn check_crawlers(bulk: &Bulk) -> Result<(), Failure> {
    for (place, agent) in bulk.agents.iter().enumerate() {
        check_crawler(agent, bulk)?;
        if bulk.agents[..place].iter().any(|before| before.eq_ignore_ascii_case(agent)) {
            return Err(Failure::new(format_args!("`--agent {agent}` is given twice")));
        }
    }
    let by_row =
        [("--agent-column", &bulk.agent_column), ("--user-agent-column", &bulk.user_agent_column)];
    match by_row.iter().find(|(_, column)| column.is_some()) {
        Some((option, _)) if bulk.agents.len() > 1 => Err(Failure::new(format_args!(
            "`{option}` names one crawler for each row, and `--agent` is given more than once: use one of them"
        ))),
        _ => Ok(()),
    }
}

fn check_crawler(agent: &str, bulk: &Bulk) -> Result<(), Failure> {
    let columns = [&bulk.agent_column, &bulk.purposes_column, &bulk.apps_column];
    if columns.into_iter().chain([&bulk.user_agent_column]).any(Option::is_some) {
        // Its parts need not come together in any row.
        Crawler::new(agent).map_err(Failure::new)?;
    } else {
        Crawler::of_parts(bulk.claims.of_crawler(agent)).map_err(Failure::new)?;
    }
    Ok(())
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

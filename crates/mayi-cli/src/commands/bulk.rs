//! `mayi bulk`: rows of URLs in, the same rows with decisions out, in order.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::{ArgGroup, Args, ValueEnum};
use mayi::access::SiteFile;
use mayi::{Crawler, Limits, ReadOptions};
use mayi_audit::with_commas;
use mayi_tables::files::{self, Files, RobotsSource};

use crate::bulk::archives;
use crate::bulk::columns::{Words, asks_for_uses};
use crate::bulk::inputs;
use crate::bulk::rows::Format;
use crate::bulk::run::{Run, Settings};
use crate::bulk::source::{Folder, Stored};
use crate::cli::{Claims, DialectName, ReadingArgs};
use crate::exit::{Exit, Failure};
use crate::fetching;
use crate::input;
use crate::output::Output;
use crate::parallel;
use crate::progress::{self, Progress, ProgressArgs};

/// The help text after the options.
const MORE: &str = "\
Rows: every row of the input gets one row of output, in the same order. Blank lines are skipped. A bad row \
(no URL or a wrong one, too many or too few columns, not UTF-8, no robots.txt, a file that is too costly for a column of \
crawlers) gets an error in its row, and \
the next row is still answered. The number of errors is printed on standard error at the end.

Files: several files are one input, in the order in which they are named. For a folder, all files in it and in its \
folders are read, in the order of the octets of their names; names that start with `.` or `_` are left out. Files that \
are compressed with gzip, zstd, bzip2 or xz are recognised by their content. If a file is cut off or damaged, the rows \
before that are answered, the run ends with an error that names the place, and a file of --output is left as it was.

Formats: TSV has tabs between fields, no quotes and no escapes. CSV follows RFC 4180, with line ends in \
quoted fields. A row of NDJSON is an object. Lines can end with CR LF or LF; LF is written. A byte order mark \
at the start is skipped. Columns of the input are copied as they are. In TSV made from CSV or NDJSON, `\\t`, \
`\\r` and `\\n` stand for the characters that TSV can't have.

Parquet and Arrow IPC: read from files, not from a pipe. Columns are passed through with their types. The URL is a \
column of strings of any layout. Answers are columns of booleans, numbers and strings; what does not apply is null.

Header: without --header or --no-header, the first row of TSV or CSV is a header if one of its fields is \
`url` (in upper or lower case), or if an option chooses a column by name. The output has a header if the input \
has one, and if TSV or CSV is made from NDJSON.

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
             allowed, disallowed or unknown; these columns make a run slower
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

Files of --robots-warc: records of the type `response` with HTTP inside, such as those of Common Crawl's robotstxt \
segments. If a URL has several responses, the latest one is used. Redirects are followed if the archive has what they \
lead to, and the rules belong to the origin that was asked first. If a WARC is cut off, the records before that are \
used, and the exit status is 2.

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
#[command(group(ArgGroup::new("source").args(["robots", "robots_dir", "robots_warc", "robots_table", "store"]).required(true)))]
#[command(after_help = EXAMPLES, after_long_help = MORE)]
pub(crate) struct Bulk {
    /// The files with the rows, or folders of such files; default: standard input
    ///
    /// They may be compressed. `-` is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write the rows to this file instead of standard output
    ///
    /// The file appears only when it is complete. `.gz`, `.zst`, `.bz2` or `.xz` at the end of its name
    /// compresses it.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// One robots.txt file for all URLs
    #[arg(short, long, value_name = "FILE", help_heading = "robots.txt")]
    robots: Option<PathBuf>,

    /// A folder with a robots.txt file for each host
    #[arg(long, value_name = "FOLDER", help_heading = "robots.txt")]
    robots_dir: Option<PathBuf>,

    /// WARCs with responses for robots.txt files; can be repeated
    ///
    /// Also folders of WARCs, compressed or not. Redirects are followed.
    #[arg(long, value_name = "FILE", help_heading = "robots.txt")]
    robots_warc: Vec<PathBuf>,

    /// Tables of robots.txt files; can be repeated
    ///
    /// In Parquet or Arrow IPC, with the columns origin, status and body, and optionally time, content_type and
    /// location.
    #[arg(long, value_name = "FILE", help_heading = "robots.txt")]
    robots_table: Vec<PathBuf>,

    /// A store that `mayi check` or a service has filled: a path, or `redis://host:port`. Its files are
    /// used even if they are old; nothing is fetched
    #[arg(long, value_name = "STORE", help_heading = "robots.txt")]
    store: Option<String>,

    /// What to do if there is no file for a host
    #[arg(long, value_name = "WHAT", default_value = "error", help_heading = "robots.txt")]
    missing: Missing,

    /// The crawler's product token, for rows that do not have one; can be repeated
    ///
    /// More than once: every row is answered for each of these crawlers.
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
    reading: ReadingArgs,

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
    let robots = bulk.robots.iter().chain(&bulk.robots_warc).chain(&bulk.robots_table);
    let paths = files.iter().chain(robots).chain(&bulk.reading.registries).map(|path| &**path);
    input::one_reader(paths.clone())?;
    check_crawlers(bulk)?;
    let limits = Limits::with_file_octets(bulk.max_octets).map_err(Failure::new)?;
    let missing = match bulk.missing {
        Missing::Error => files::Missing::Error,
        Missing::Allow => files::Missing::Allow,
        Missing::Disallow => files::Missing::Disallow,
    };
    let options = options(bulk, limits)?;
    let (robots, troubles) = source(bulk, limits, &options)?;
    let rules = Files::new(robots, options, bulk.cache_size)
        .with_missing(missing)
        .asking_for_uses(asks_for_uses(bulk.columns.as_deref()));
    let output = Output::create(bulk.output.as_deref(), paths)?;
    let total = progress::total_size(files.iter().map(|path| &**path));
    let progress = Progress::start(&bulk.progress, "rows", total);
    let settings = Settings {
        words: words(bulk),
        claims: &bulk.claims,
        longest: bulk.max_line,
        jobs: parallel::jobs(bulk.jobs),
        input: bulk.format,
        output: bulk.output_format,
    };
    let counts = Run::new(settings, rules, progress, output).files(files)?;
    let (rows, errors) = (counts.rows.load(Ordering::Relaxed), counts.errors.load(Ordering::Relaxed));
    if errors > 0 {
        let (rows, errors) = (with_commas(rows), with_commas(errors));
        anstream::eprintln!("mayi: {errors} of {rows} rows have an error instead of an answer");
        if bulk.fail_on_error {
            return Ok(Exit::NoAnswer);
        }
    }
    for trouble in &troubles {
        anstream::eprintln!("mayi: {trouble}");
    }
    Ok(if troubles.is_empty() { Exit::Allowed } else { Exit::NoAnswer })
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

/// The source of the files, and its errors.
fn source(
    bulk: &Bulk,
    limits: Limits,
    options: &ReadOptions,
) -> Result<(RobotsSource, Vec<String>), Failure> {
    // A little more than the limit, so that what is after it can be seen.
    let most = limits.file_octets().saturating_add(4);
    if let Some(path) = &bulk.robots_dir {
        let folder = Folder::new(path, most).map_err(|error| input::unreadable(path, &error))?;
        return Ok((RobotsSource::Each(Box::new(folder)), Vec::new()));
    }
    if !bulk.robots_warc.is_empty() || !bulk.robots_table.is_empty() {
        let loaded = if bulk.robots_table.is_empty() {
            archives::of_warcs(&bulk.robots_warc, most)?
        } else {
            archives::of_tables(&bulk.robots_table, most)?
        };
        return Ok((RobotsSource::Each(Box::new(loaded.archive)), loaded.troubles));
    }
    if let Some(store) = &bulk.store {
        let fetcher = fetching::of_store(store)?;
        return Ok((RobotsSource::Each(Box::new(Stored(fetcher))), Vec::new()));
    }
    let path = bulk.robots.as_deref().unwrap_or(Path::new("-"));
    let mut octets = Vec::new();
    input::open(path)?
        .take(most as u64)
        .read_to_end(&mut octets)
        .map_err(|error| input::unreadable(path, &error))?;
    Ok((RobotsSource::One(SiteFile::read(octets, options)), Vec::new()))
}

fn options(bulk: &Bulk, limits: Limits) -> Result<ReadOptions, Failure> {
    let dialect = bulk.reading.of_dialect(&bulk.dialect.0);
    let options = input::reading(&bulk.reading)?.with_limits(limits).with_dialect(dialect);
    Ok(match &bulk.charset {
        Some(charset) => options.with_charset(charset),
        None => options,
    })
}

/// Fails once if the crawlers of all rows are invalid, instead of in each row.
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

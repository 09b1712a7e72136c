//! `mayi lint`: what is wrong with files, for their authors and for those who have many files.

mod configuration;
mod fixing;
mod github;
mod sarif;
mod sources;
mod summary;
mod text;

use std::io::{self, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::thread;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use mayi::lint::{FailOn, LINTS, Lint, Options, Page, Severity};
use mayi::page::{HeadReader, PageControls};
use mayi::report::{LintReport, LintSummary};
use mayi::{Crawler, Limits, ReadOptions, Target};

use self::configuration::Configurations;
use self::fixing::Fixing;
use self::sources::Source;
use super::check::write_json;
use super::page::push_file;
use crate::cli::{PageReading, ReadingArgs, header_field};
use crate::exit::{Exit, Failure};
use crate::fetching::{Fetching, Online};
use crate::input::Loaded;
use crate::{input, text as terminal};
use crate::{parallel, unified};

const EXAMPLES: &str = "\
Examples:
  mayi lint robots.txt
  mayi lint --fix robots.txt";

/// The long help text after the options.
const MORE: &str = "\
Examples:
  mayi lint robots.txt
  mayi lint --fix robots.txt
  mayi lint --format sarif sites/ > findings.sarif

In a folder, all files with names like robots.txt, *.robots.txt or robots.*.txt
are checked, and with --every-file all files. Settings come from a mayi.toml in
the folder of the file or above it:

  [lint]
  select = [\"style\"]
  ignore = [\"redundant-wildcard\"]
  fail-on = \"warning\"
  severity = { S001 = \"error\" }
  agents = [\"Googlebot\"]

Options override these settings. By default, only problems are shown: what
changes a decision in some crawler, what is certainly a mistake, and lines that
nobody reads. The set `style` has the other lints: what could be written more
simply. A setting for a lint overrides a setting for its set.

One cause in many places is one finding with a count. In a robots.txt file, the
comment `# mayi: allow(S001, shadowed-rule)` switches lints off for its line. If
nothing else is on the line, it does so for the next line.

Exit status: 0 nothing at or above --fail-on was found, 1 something was found, 2
a file could not be read, or a folder has no robots.txt file.";

/// What is linted, for what, and how it is shown.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(after_help = EXAMPLES, after_long_help = MORE)]
pub(crate) struct LintArgs {
    /// Files, folders, URLs of sites, or `-` for standard input
    #[arg(value_name = "SOURCE", required_unless_present_any = ["explain", "list"])]
    sources: Vec<String>,

    /// Print the manual page of a lint, by code or name
    #[arg(long, value_name = "LINT", conflicts_with = "sources")]
    explain: Option<String>,

    /// List all lints with code, name, set, severity and summary
    #[arg(long, conflicts_with_all = ["sources", "explain"])]
    list: bool,

    /// The output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// The same as --format json
    #[arg(short, long, conflicts_with = "format")]
    json: bool,

    /// Apply the fixes that change no decision. For standard input, print the fixed file
    #[arg(long)]
    fix: bool,

    /// Show what the fixes change; without --fix nothing is written
    #[arg(long)]
    diff: bool,

    /// Exit with 1 if there is a diagnostic of this severity or above [default: warning]
    #[arg(long, value_name = "SEVERITY", value_parser = fail_on())]
    fail_on: Option<FailOn>,

    /// Switch a lint on, by code or name, or the set `style`. Can be repeated
    #[arg(long, alias = "enable", value_name = "LINT")]
    select: Vec<String>,

    /// Switch a lint off, by code or name, or a set. Can be repeated
    #[arg(long, alias = "disable", value_name = "LINT")]
    ignore: Vec<String>,

    /// Change the severity of a lint, as in S001=error. Can be repeated
    #[arg(hide_short_help = true, long, value_name = "LINT=SEVERITY", value_parser = severity_of)]
    severity: Vec<(String, Severity)>,

    /// The configuration file, instead of the mayi.toml in the folder of each file or above it
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// A crawler for the lints that ask what may be fetched; default: Googlebot and Bingbot. Can be
    /// repeated
    #[arg(short = 'a', long = "agent", value_name = "TOKEN")]
    agents: Vec<String>,

    /// The maximum number of diagnostics of each lint to show for a file; the others are counted. At most
    /// 1000 places of one lint are listed. After 5000 places in total, at most 100 of each remaining lint are
    /// listed [default: 10 as text and as annotations, the maximum in the other formats]
    #[arg(hide_short_help = true, long, value_name = "N")]
    most: Option<usize>,

    /// Print only how often each lint found something, as text or JSON
    #[arg(long)]
    summary: bool,

    /// Check every file of a folder, whatever its name
    #[arg(hide_short_help = true, long)]
    every_file: bool,

    /// The URL of a page of the site, to check together with the file
    #[arg(hide_short_help = true, long, value_name = "URL")]
    page_url: Option<String>,

    /// A header field of that page. Can be repeated
    #[arg(hide_short_help = true, long = "header", value_name = "NAME: VALUE", value_parser = header_field, requires = "page_url")]
    headers: Vec<(String, String)>,

    /// The HTML of that page
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "page_url")]
    html: Option<PathBuf>,

    /// The charset from the Content-Type of the file
    #[arg(hide_short_help = true, long, value_name = "LABEL")]
    charset: Option<String>,

    /// Read at most this many octets of a file; 512000 (500 KiB) is the minimum
    #[arg(hide_short_help = true, long, value_name = "OCTETS", default_value_t = Limits::default().file_octets())]
    max_octets: usize,

    /// The number of threads; default: one for each core
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    page_reading: PageReading,

    #[command(flatten)]
    fetching: Fetching,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: the line, what is wrong, how crawlers read it, what to do
    Text,
    /// JSON, one object per file and line
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations for GitHub Actions
    Github,
}

/// The names of severities to fail on, as values of an option.
fn fail_on() -> impl TypedValueParser<Value = FailOn> {
    let values = FailOn::ALL.iter().map(|fail_on| match fail_on {
        FailOn::Never => {
            PossibleValue::new(fail_on.name()).help("Never exit with 1 because of a diagnostic")
        }
        _ => PossibleValue::new(fail_on.name()),
    });
    PossibleValuesParser::new(values).map(|name| FailOn::named(&name).expect("a possible value"))
}

fn severity_of(text: &str) -> Result<(String, Severity), String> {
    let (lint, severity) = text.split_once('=').ok_or("write LINT=SEVERITY, for example S001=error")?;
    let severity = Severity::named(severity.trim())
        .ok_or_else(|| format!("`{severity}` is not a severity: give note, warning or error"))?;
    Ok((lint.trim().to_owned(), severity))
}

impl LintArgs {
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

pub(crate) fn run(args: &LintArgs) -> Result<Exit, Failure> {
    if let Some(name) = &args.explain {
        return explain(name);
    }
    if args.list {
        return list();
    }
    let html = args.html.iter().map(|path| &**path);
    let registries = args.reading.registries.iter().map(|path| &**path);
    let inputs = args.sources.iter().map(|source| std::path::Path::new(source.as_str()));
    input::one_reader(inputs.chain(html).chain(registries))?;

    if args.summary && matches!(args.format(), Format::Sarif | Format::Github) {
        return Err(Failure::new("--summary goes with --format text and --format json"));
    }
    let (base, reading) = base_options(args)?;
    let configurations = Configurations::new(args, base);
    let (sources, mut unreadable) = sources::find(&args.sources, args.every_file);
    let jobs =
        args.jobs.map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), usize::from);
    let online = Online::new(&args.fetching);
    let work = |source: &&Source| -> Result<Done, Failure> {
        let settings = configurations.of(source)?;
        one(source, args, &settings, &reading, &online)
    };

    let mut out = crate::text::out();
    let mut summary = LintSummary::default();
    let mut sarif = sarif::Results::default();
    let mut exit = Exit::Allowed;
    parallel::map_items(sources.iter(), jobs, work, |source, done| {
        match done {
            Ok(done) => {
                if done.fails {
                    exit = exit.max(Exit::Disallowed);
                }
                unified::print(&mut out, &done.difference, source.is_file())?;
                out.write_all(&done.output)?;
                if let Some(file) = done.fixed {
                    out.flush()?;
                    // The octets as they are: a file that is filtered is not shown.
                    let mut stdout = io::stdout().lock();
                    stdout.write_all(&file)?;
                    stdout.flush()?;
                }
                sarif.add(done.results);
                summary.add(done.counts);
            }
            Err(Failure::BrokenPipe) => return Err(Failure::BrokenPipe),
            Err(Failure::Message(message)) => unreadable.push(format!("{}: {message}", source.name())),
        }
        Ok(())
    })?;
    match args.format() {
        Format::Sarif => write_json(&mut out, &sarif.finish())?,
        Format::Json if args.summary => write_json(&mut out, &summary)?,
        Format::Text if args.summary || sources.len() > 1 => summary::write(&summary, &mut out)?,
        _ => {}
    }
    out.flush()?;
    for message in unreadable {
        exit = Exit::NoAnswer;
        anstream::eprintln!("mayi: {}", terminal::shown(message.as_bytes()));
    }
    Ok(exit)
}

/// What came of one file.
struct Done {
    /// What the fixes change.
    difference: Vec<u8>,
    output: Vec<u8>,
    /// The fixed file, if it must be printed.
    fixed: Option<Vec<u8>>,
    results: sarif::Results,
    counts: Vec<(&'static Lint, Severity, usize)>,
    fails: bool,
}

fn one(
    source: &Source,
    args: &LintArgs,
    settings: &configuration::Settings,
    reading: &ReadOptions,
    online: &Online<'_>,
) -> Result<Done, Failure> {
    let loaded = sources::load(source, args.max_octets, online)?;
    let mut options = settings.options.clone();
    if let Source::Url(_) = source {
        // The Content-Type of the file says how it is read (REP-14), unless an option overrides it.
        let reading = if args.charset.is_none() { loaded.reading(reading) } else { reading.clone() };
        options = options.with_site(&loaded.name).with_reading(reading);
    }
    let Loaded { name, mut octets, .. } = loaded;
    let (mut difference, mut output) = (Vec::new(), Vec::new());
    let mut fixed = None;
    let before = args.fix || args.diff;
    if before {
        let fixing = Fixing::of(&octets, &options);
        // Where the fixed file goes to standard output, what changed does not go there too.
        let is_printed = args.fix && !source.is_file();
        if args.diff {
            difference = fixing.difference(&source.exactly(&name), source.is_file());
        }
        if is_printed {
            anstream::eprint!("{}", String::from_utf8_lossy(&std::mem::take(&mut difference)));
        }
        if args.fix {
            fixed = fixing.write(source)?;
            octets = fixing.into_octets();
        } else {
            let (fails, results, counts) = (fixing.changes(), sarif::Results::default(), Vec::new());
            return Ok(Done { difference, output, fixed, results, counts, fails });
        }
    }
    let linted = mayi::lint::lint(&octets, &options);
    let mut counts: Vec<(&'static Lint, Severity, usize)> = Vec::new();
    for (code, tally) in linted.tallies() {
        let lint = Lint::named(code).expect("a code of the registry");
        counts.push((lint, tally.worst().unwrap_or(lint.severity), tally.total()));
    }
    let fails = counts.iter().any(|(_, severity, _)| settings.fail_on.is_reached_by(*severity));
    let mut results = sarif::Results::default();
    // Where the fixed file itself goes to standard output, nothing else does.
    if !args.summary && fixed.is_none() {
        match args.format() {
            Format::Text => text::write(&mut output, &name, &linted)?,
            Format::Json => write_json(&mut output, &LintReport::of(&source.exactly(&name), &linted))?,
            Format::Sarif => results = sarif::results(source, &linted).map_err(Failure::new)?,
            Format::Github => github::write(&mut output, &source.exactly(&name), &linted)?,
        }
    }
    Ok(Done { difference, output, fixed, results, counts, fails })
}

/// The options that every file starts with, before its configuration.
fn base_options(args: &LintArgs) -> Result<(Options, ReadOptions), Failure> {
    let limits = Limits::with_file_octets(args.max_octets).map_err(Failure::new)?;
    let mut reading = input::reading(&args.reading)?.with_limits(limits);
    reading = reading.with_dialect(args.reading.of_dialect(&mayi::Dialect::default()));
    if let Some(charset) = &args.charset {
        reading = reading.with_charset(charset);
    }
    let most = args.most.unwrap_or(match args.format() {
        Format::Text | Format::Github => 10,
        Format::Json | Format::Sarif => usize::MAX,
    });
    let mut options = Options::default().with_reading(reading.clone()).with_most_of_each(most);
    if let Some(url) = &args.page_url {
        Target::parse(url).map_err(Failure::new)?;
        let fields = input::borrowed(&args.headers);
        let page_options = input::page_options(&args.page_reading);
        let mut head = HeadReader::new(&fields, page_options);
        if let Some(path) = &args.html {
            push_file(&mut head, path)?;
        }
        let controls = PageControls::of_head(&fields, head, page_options);
        let page = Page { url: url.clone(), controls, fields: args.headers.clone() };
        options = options.with_page(page);
    }
    Ok((options, reading))
}

/// The crawlers of these names.
fn crawlers(names: &[String]) -> Result<Vec<Crawler>, Failure> {
    names.iter().map(|name| Crawler::new(name).map_err(Failure::new)).collect()
}

fn explain(name: &str) -> Result<Exit, Failure> {
    let lint = Lint::find(name).map_err(Failure::new)?;
    io::stdout().write_all(lint.manual().as_bytes())?;
    Ok(Exit::Allowed)
}

fn list() -> Result<Exit, Failure> {
    let mut out = crate::text::out();
    for lint in LINTS {
        let name = terminal::styled(terminal::STRONG, format_args!("{:<30}", lint.name));
        let (code, set, severities) = (lint.code, lint.set.name(), lint.severities_in_words());
        writeln!(out, "{code} {name} {set:<7} {severities:<24} {}", lint.summary)?;
    }
    out.flush()?;
    Ok(Exit::Allowed)
}

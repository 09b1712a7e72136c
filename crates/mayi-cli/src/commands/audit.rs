//! `mayi audit`: access logs in, a report out: which crawlers came, and which asked for what robots.txt
//! refuses.

use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{ArgGroup, Args, ValueEnum};
use mayi::ReadOptions;
use mayi::registry::{AgentKind, Registry};
use mayi_audit::{
    Audit, AuditReport, Block, Condition, CsvTable, File, Format, Moment, Ranges, Selection, Sites,
    Worker,
};

use super::check::write_json;
use crate::audit::dns::{Dns, Shared};
use crate::audit::draw::Drawing;
use crate::audit::logs::{self, Logs, Taken};
use crate::audit::resolver::Resolver;
use crate::audit::sites::{self, ByHost};
use crate::cli::{DialectName, ReadingArgs};
use crate::exit::{self, Exit, Failure};
use crate::fetching::Fetching;
use crate::input;
use crate::progress::{self, Progress, ProgressArgs};
use crate::text::{self, columns, shown};

/// The help text after the options.
const MORE: &str = "\
Formats: mayi recognises the format from the first lines of each file: common, combined (Apache, nginx), \
vhost, nginx-json, caddy, cloudflare, cloudfront, alb, w3c (IIS). --format names one, or gives the text of a \
log_format. Files can be compressed with gzip, zstd, bzip2 or xz. Lines that can't be read are counted, and the \
first of each kind is shown.

Which robots.txt: --robots FILE for all requests; --robots DATE=FILE for each change, from that time on; \
--robots-dir for one file per host, with the file names of `mayi bulk`; --site to fetch it; --store alone \
for the files in a store, with their earlier texts. After a change, crawlers may use their old copy for 24 \
hours: requests that the old file allowed are counted as excused in that time.

Conditions of --fail-if: MEASURE WHO COMPARISON NUMBER[%], for example 'refuses Googlebot > 0'. Measures: \
refuses, allows, newly-refuses, newly-allows, requests, contradicted. Who: a product token, * for all, or \
kind:search. Comparisons: > >= < <= = !=. With --propose, conditions are about the proposed file.

Examples:
  mayi audit --robots robots.txt /var/log/nginx/access.log*
  mayi audit --robots robots.txt --html report.html --ranges ranges/ access.log
  mayi audit --site https://example.com/ --propose new-robots.txt access.log.gz
  mayi audit --robots robots.txt --propose new.txt --fail-if 'refuses Googlebot > 0' access.log
  tail -F access.log | mayi audit --robots robots.txt --every 60 -

docs/audit.md explains the fields of the JSON and what every figure counts.

Exit status: 0 the logs were read; 1 a condition of --fail-if is true; 2 error: an option is wrong, a \
file can't be read to its end, or no line could be read.";

const EXAMPLES: &str = "\
Examples:
  mayi audit -r robots.txt /var/log/nginx/access.log*
  mayi audit --site example.com --propose new-robots.txt access.log.gz";

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("files").args(["robots", "robots_dir", "site", "store"]).required(true).multiple(true)))]
#[command(after_help = EXAMPLES, after_long_help = MORE)]
#[allow(clippy::struct_excessive_bools, reason = "each is a word of the command line")]
pub(crate) struct AuditArgs {
    /// The logs, in any order, compressed or not; `-` is standard input, which may be a
    /// continuous stream
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,

    /// The robots.txt file. With a date in front, the file from that date on. Can be repeated
    #[arg(short, long, value_name = "[DATE=]FILE", conflicts_with_all = ["robots_dir", "site"], help_heading = "robots.txt")]
    robots: Vec<String>,

    /// A folder with a robots.txt file for each host; with a date in front, as for --robots
    #[arg(
        hide_short_help = true,
        long,
        value_name = "[DATE=]FOLDER",
        conflicts_with = "site",
        help_heading = "robots.txt"
    )]
    robots_dir: Vec<String>,

    /// Fetch the robots.txt of this site. Can be repeated: each is for the requests of its host
    #[arg(long, value_name = "URL", help_heading = "robots.txt")]
    site: Vec<String>,

    /// Another robots.txt: show what it would change for the same requests
    #[arg(long, value_name = "FILE", help_heading = "robots.txt")]
    propose: Option<String>,

    /// The dialect to read the files in
    #[arg(
        hide_short_help = true,
        long,
        value_name = "NAME",
        default_value = mayi::Dialect::default().name(),
        help_heading = "robots.txt"
    )]
    dialect: DialectName,

    #[command(flatten)]
    reading: ReadingArgs,

    /// The format of the lines: its name, or the text of a log_format
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    format: Option<Format>,

    /// Ignore requests before this date (UTC) or time
    #[arg(hide_short_help = true, long, value_name = "DATE")]
    since: Option<Moment>,

    /// Ignore requests after this date (the whole day is included) or from this time on
    #[arg(hide_short_help = true, long, value_name = "DATE")]
    until: Option<Moment>,

    /// Report on this crawler only. Can be repeated
    #[arg(short = 'a', long = "agent", visible_alias = "crawler", value_name = "TOKEN")]
    crawler: Vec<String>,

    /// Report on crawlers of this kind only. Can be repeated
    #[arg(hide_short_help = true, long, value_name = "KIND")]
    kind: Vec<KindName>,

    /// A folder with the address lists of operators, such as googlebot.json or gptbot.json
    #[arg(long, value_name = "FOLDER", help_heading = "Identification of crawlers")]
    ranges: Option<PathBuf>,

    /// Check the addresses of crawlers by DNS
    #[arg(long, help_heading = "Identification of crawlers")]
    verify: bool,

    /// The maximum number of addresses to check by DNS
    #[arg(
        hide_short_help = true,
        long,
        value_name = "N",
        default_value_t = 10_000,
        help_heading = "Identification of crawlers"
    )]
    verify_limit: usize,

    /// The DNS server; default: the system's
    #[arg(
        hide_short_help = true,
        long,
        value_name = "ADDRESS:PORT",
        help_heading = "Identification of crawlers"
    )]
    resolver: Option<SocketAddr>,

    /// Show whole addresses; by default they are shortened
    #[arg(hide_short_help = true, long, help_heading = "Identification of crawlers")]
    full_addresses: bool,

    /// Print the report as a JSON object
    #[arg(short, long, conflicts_with = "csv", help_heading = "Output")]
    json: bool,

    /// Print one table of the report as CSV
    #[arg(long, value_name = "TABLE", help_heading = "Output")]
    csv: Option<TableName>,

    /// Write the report as HTML into this file; `-` prints it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,

    /// List everything; by default long lists are cut
    #[arg(long, help_heading = "Output")]
    all: bool,

    /// Exit with 1 if this is true, for example 'refuses Googlebot > 0'. Can be repeated
    #[arg(hide_short_help = true, long, value_name = "CONDITION", help_heading = "Output")]
    fail_if: Vec<Condition>,

    /// Print the report every N seconds, for a continuous stream
    #[arg(hide_short_help = true, long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Output")]
    every: Option<u64>,

    /// The number of threads; default: one for each core
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,

    #[command(flatten)]
    progress: ProgressArgs,

    #[command(flatten)]
    fetching: Fetching,
}

pub(crate) fn run(args: &AuditArgs) -> Result<Exit, Failure> {
    if args.propose.is_none()
        && let Some(condition) = args.fail_if.iter().find(|condition| condition.needs_proposal())
    {
        return Err(Failure::new(format_args!(
            "`{condition}` needs a file to compare with: --propose"
        )));
    }
    let mut paths = args.logs.clone();
    // Their order does not matter; which line is the first that can't be read must not depend on it.
    paths.sort();
    paths.dedup();
    logs::check(&paths)?;
    let options = options(args)?;
    let registry = if args.reading.registries.is_empty() {
        Registry::built_in()
    } else {
        input::registry(&args.reading.registries)?
    };
    let mut audit = Audit::new(sites(args, &options)?)
        .with_registry(Arc::clone(&registry))
        .with_selection(selection(args, &registry)?)
        .with_ranges(ranges(args.ranges.as_deref(), &registry)?)
        .with_full_addresses(args.full_addresses);
    if let Some(path) = &args.propose {
        let loaded = input::load_file(path)?;
        audit = audit.with_proposal(File::read(&loaded.name, loaded.octets, &options));
    }
    let dns = args.verify.then(|| dns(args, &registry)).transpose()?.map(Arc::new);
    if let Some(dns) = &dns {
        audit = audit.with_confirmations(Box::new(Shared(Arc::clone(dns))));
    }
    let (report, troubles) = read(args, &audit, &paths, dns.as_deref());
    if let Some(dns) = &dns {
        tell(dns);
    }
    write(args, &report)?;
    for trouble in &troubles {
        anstream::eprintln!("mayi: {}", shown(trouble.as_bytes()));
    }
    ending(args, &report, !troubles.is_empty())
}

/// Reads the logs, on several threads, and gives the report with what went wrong with whole files.
fn read(
    args: &AuditArgs,
    audit: &Audit,
    paths: &[PathBuf],
    dns: Option<&Dns>,
) -> (AuditReport, Vec<String>) {
    let sources: Vec<_> = paths.iter().map(|path| input::name(path)).collect();
    let progress = Progress::start(
        &args.progress,
        "lines",
        progress::total_size(paths.iter().map(|path| &**path)),
    );
    let logs = Mutex::new(Logs::new(paths, args.format.clone(), &progress));
    let jobs =
        args.jobs.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from);
    let workers: Vec<_> = (0..jobs).map(|_| Mutex::new(Worker::new(audit))).collect();
    let report = || {
        let mut all = locked(&workers[0]).tally().clone();
        workers[1..].iter().for_each(|worker| all.merge(locked(worker).tally()));
        audit.report(&all, &sources)
    };
    let (sender, events) = channel();
    if paths.iter().any(|path| path == Path::new("-")) {
        interrupts(sender.clone());
    }
    thread::scope(|scope| {
        for worker in &workers {
            let (logs, progress, sender) = (&logs, &progress, sender.clone());
            scope.spawn(move || {
                work(logs, worker, dns, progress);
                let _ = sender.send(Event::Done);
            });
        }
        let mut left = workers.len();
        while left > 0 {
            let event = match args.every {
                Some(seconds) => events.recv_timeout(Duration::from_secs(seconds)),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(Event::Done) => left -= 1,
                Ok(Event::Interrupt) => end_now(args, &report()),
                Err(RecvTimeoutError::Timeout) => {
                    let report = report();
                    if write(args, &report).is_err() || text::is_closed() {
                        end_now(args, &report);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    let troubles = locked(&logs).troubles().to_vec();
    (report(), troubles)
}

/// Ends the process with this report: a thread may wait for a stream that has no end.
fn end_now(args: &AuditArgs, report: &AuditReport) -> ! {
    let ended = write(args, report).and_then(|()| ending(args, report, false));
    std::process::exit(i32::from(exit::status_of(ended)))
}

enum Event {
    Done,
    Interrupt,
}

/// Counts blocks until there are no more.
fn work(logs: &Mutex<Logs<'_>>, worker: &Mutex<Worker<'_>>, dns: Option<&Dns>, progress: &Progress) {
    let mut buffer = Vec::new();
    loop {
        let Some(taken) = locked(logs).next(&mut buffer) else { break };
        let mut worker = locked(worker);
        match taken {
            Taken::Lines { source, first_line, format } => {
                let block = Block { octets: &buffer, source, first_line, format: &format };
                if let Some(dns) = dns {
                    dns.learn(&worker.claims_in(&block));
                }
                let before = worker.tally().line_counts();
                worker.take(&block);
                let after = worker.tally().line_counts();
                progress.add(after.0 + after.1 - before.0 - before.1);
            }
            Taken::TooLong { source, line } => worker.take_too_long(source, line, &buffer),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends an event when somebody presses Ctrl-C: a stream has no other end.
fn interrupts(sender: Sender<Event>) {
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if let Ok(runtime) = runtime
            && runtime.block_on(tokio::signal::ctrl_c()).is_ok()
        {
            let _ = sender.send(Event::Interrupt);
        }
    });
}

fn write(args: &AuditArgs, report: &AuditReport) -> Result<(), Failure> {
    let mut out = text::out();
    if let Some(path) = &args.html {
        let page = mayi_audit::html(report);
        if path == Path::new("-") {
            out.write_all(page.as_bytes())?;
            return Ok(out.flush()?);
        }
        fs::write(path, page).map_err(|error| {
            Failure::new(format_args!("`{}` can't be written: {error}", input::name(path)))
        })?;
    }
    match &args.csv {
        Some(table) => out.write_all(mayi_audit::csv(report, table.0).as_bytes())?,
        None if args.json => write_json(&mut out, report)?,
        None => Drawing { out: &mut out, columns: columns(), all: args.all }.draw(report)?,
    }
    out.flush()?;
    Ok(())
}

/// How the command ends.
fn ending(args: &AuditArgs, report: &AuditReport, is_troubled: bool) -> Result<Exit, Failure> {
    let mut exit = Exit::Allowed;
    for condition in &args.fail_if {
        let (holds, value) = condition.holds(report);
        if holds {
            anstream::eprintln!(
                "mayi: `{condition}` is true: the value is {}",
                (value * 100.0).round() / 100.0
            );
            exit = Exit::Disallowed;
        }
    }
    if report.lines.read == 0 && report.lines.unreadable > 0 {
        return Err(Failure::new("not one line could be read; --format says how they are written"));
    }
    Ok(if is_troubled { Exit::NoAnswer } else { exit })
}

fn options(args: &AuditArgs) -> Result<ReadOptions, Failure> {
    Ok(input::reading(&args.reading)?.with_dialect(args.reading.of_dialect(&args.dialect.0)))
}

fn sites(args: &AuditArgs, options: &ReadOptions) -> Result<Box<dyn Sites>, Failure> {
    if !args.robots.is_empty() {
        sites::of_files(&args.robots, options)
    } else if !args.robots_dir.is_empty() {
        ByHost::folders(&args.robots_dir, options)
    } else if !args.site.is_empty() {
        sites::of_urls(&args.site, &args.fetching, options)
    } else {
        let place = args.fetching.store.as_deref();
        ByHost::store(
            place.ok_or_else(|| Failure::new("say which robots.txt: --robots FILE"))?,
            options,
        )
    }
}

fn selection(args: &AuditArgs, registry: &Registry) -> Result<Selection, Failure> {
    for token in &args.crawler {
        mayi::ProductToken::new(token).map_err(Failure::new)?;
        if registry.agent(token).is_none() {
            anstream::eprintln!(
                "mayi: `{token}` is not in the registry; mayi looks for this name in the logs"
            );
        }
    }
    let mut selection = Selection::default();
    selection.since = args.since.map(Moment::start);
    selection.until = args.until.map(Moment::end);
    selection.crawlers.clone_from(&args.crawler);
    selection.kinds = args.kind.iter().map(|kind| kind.0).collect();
    Ok(selection)
}

/// The lists of a folder; those that can't be used are reported and skipped.
fn ranges(folder: Option<&Path>, registry: &Registry) -> Result<Ranges, Failure> {
    let mut ranges = Ranges::default();
    let Some(folder) = folder else { return Ok(ranges) };
    let entries = fs::read_dir(folder).map_err(|error| input::unreadable(folder, &error))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let is_list = |path: &&PathBuf| {
        path.extension().is_some_and(|ending| ending == "json" || ending == "txt" || ending == "csv")
    };
    for path in paths.iter().filter(is_list) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let loaded = input::load_file(&path.to_string_lossy())?;
        if let Err(error) = ranges.add(&name, &loaded.octets, registry) {
            anstream::eprintln!("mayi: {}", shown(error.to_string().as_bytes()));
        }
    }
    if ranges.is_empty() {
        return Err(Failure::new(format_args!(
            "`{}` has no list of addresses; name each list after its crawler, for example \
             googlebot.json",
            input::name(folder)
        )));
    }
    Ok(ranges)
}

fn dns(args: &AuditArgs, registry: &Arc<Registry>) -> Result<Dns, Failure> {
    let resolver = match args.resolver {
        Some(server) => Resolver::of(server),
        None => Resolver::of_system().map_err(|error| {
            Failure::new(format_args!(
                "no DNS server was found in /etc/resolv.conf ({error}); --resolver names one"
            ))
        })?,
    };
    Ok(Dns::new(resolver, Arc::clone(registry), args.verify_limit))
}

fn tell(dns: &Dns) {
    let (left_out, failed) = dns.left_out();
    if left_out > 0 {
        anstream::eprintln!(
            "mayi: {left_out} more addresses were not looked up; --verify-limit raises the limit"
        );
    }
    if failed > 0 {
        anstream::eprintln!(
            "mayi: DNS gave no answer about {failed} addresses; they count as unverified"
        );
    }
}

fn format(text: &str) -> Result<Format, String> {
    Format::named(text).map_err(|error| error.to_string())
}

/// The name of a kind of crawlers.
#[derive(Clone, Copy, Debug)]
struct KindName(AgentKind);

impl ValueEnum for KindName {
    fn value_variants<'a>() -> &'a [Self] {
        static NAMES: std::sync::LazyLock<Vec<KindName>> =
            std::sync::LazyLock::new(|| AgentKind::ALL.iter().copied().map(KindName).collect());
        &NAMES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

/// The name of a table.
#[derive(Clone, Copy, Debug)]
struct TableName(CsvTable);

impl ValueEnum for TableName {
    fn value_variants<'a>() -> &'a [Self] {
        static NAMES: std::sync::LazyLock<Vec<TableName>> = std::sync::LazyLock::new(|| {
            CsvTable::ALL.iter().map(|(_, table)| TableName(*table)).collect()
        });
        &NAMES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let name = CsvTable::ALL.iter().find(|(_, table)| *table == self.0).map(|(name, _)| *name);
        name.map(PossibleValue::new)
    }
}

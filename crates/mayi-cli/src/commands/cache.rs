//! `mayi cache`: the cached sites, for people and for other programs.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(feature = "columns")]
use std::time::SystemTime;

use clap::{Args, Subcommand};
use mayi::Limits;
use mayi::access::{AccessResult, Origin};
#[cfg(feature = "columns")]
use mayi::access::{InForce, Keeping, Unavailable, Unreachable};
use mayi::report::{SiteReport, rfc3339_of};
use mayi_fetch::kept::{FileCopy, Hop, Kept, LastAttempt, Said};
use mayi_fetch::store::{Store, StoreError};
use mayi_tables::archive::{ArchivedResponse, ArchivedSite};

use super::check::write_json;
use super::fetch::{origin_of, tell_kept, write_file};
use crate::bulk::archives;
use crate::exit::{Exit, Failure};
use crate::fetching;
use crate::output::Output;
use crate::text::{DIM, STRONG, shown, styled};

/// How many origins are read from a store at once.
const PAGE: usize = 500;

/// One in so many sites is a lot to be forgotten at once.
const A_LOT: u64 = 4;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mayi cache list
  mayi cache show example.com")]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    command: CacheCommand,
}

#[derive(Debug, Subcommand)]
enum CacheCommand {
    /// List the cached sites
    List {
        /// Print the sites as JSON, one per line, without their files
        #[arg(short, long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Show a cached site: details on standard error, the file on standard output
    #[command(after_help = "Exit status: 0 the site is cached, 1 it is not, 2 error.")]
    Show {
        /// A URL of the site, or its name
        #[arg(value_name = "URL")]
        url: String,
        /// Print everything as JSON
        #[arg(short, long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Remove sites from the cache
    #[command(
        group(clap::ArgGroup::new("which").args(["urls", "all"]).required(true)),
        after_help = "If a quarter of the sites or more are removed, the file of the store is made smaller, \
                      which takes a while if it is large. Otherwise the free space is used again."
    )]
    Purge {
        /// URLs of the sites, or their names
        #[arg(value_name = "URL")]
        urls: Vec<String>,
        /// Remove all sites
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Fill the cache from WARCs or from tables of robots.txt files
    #[command(
        group(clap::ArgGroup::new("what").args(["warcs", "tables"]).required(true)),
        after_help = "A site is not changed if its cached entry is newer. Exit status: 0 everything was read, 2 a file \
                      could not be read, or not to its end."
    )]
    Import {
        /// WARCs with responses for robots.txt files, or folders of them, compressed or not
        #[arg(long = "warc", value_name = "FILE")]
        warcs: Vec<PathBuf>,
        /// Tables in Parquet or Arrow IPC with the columns origin, status and body, and optionally time, content_type
        /// and location
        #[arg(long = "table", value_name = "FILE")]
        tables: Vec<PathBuf>,
        #[command(flatten)]
        place: Place,
    },
    /// Print the whole cache as JSON, one site per line, or write the files into a folder or a table
    Export {
        /// The format; `parquet` and `arrow` are tables that `mayi bulk --robots-table` reads
        #[arg(long, value_name = "FORMAT", default_value = "json", conflicts_with = "folder")]
        format: ExportFormat,
        /// Write to this file instead of standard output
        #[arg(short, long, value_name = "FILE", conflicts_with = "folder")]
        output: Option<PathBuf>,
        /// Write the files into this folder, with the names that `mayi bulk --robots-dir` reads
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
        #[command(flatten)]
        place: Place,
    },
}

/// How the cache is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    /// One object per line
    Json,
    /// Apache Parquet
    #[cfg(feature = "columns")]
    Parquet,
    /// The file format of Arrow IPC (Feather V2)
    #[cfg(feature = "columns")]
    Arrow,
}

/// Where it is kept.
#[derive(Debug, Args)]
struct Place {
    /// The store: a path or `redis://host:port` (`rediss` for TLS). Default: the file in your cache
    /// folder
    #[arg(long, value_name = "STORE", env = "MAYI_STORE", hide_env_values = true)]
    store: Option<String>,

    /// A PEM file with root certificates to trust besides the system's
    #[arg(long, value_name = "FILE")]
    roots: Option<PathBuf>,
}

/// An open store, and a runtime to wait for it.
struct Opened {
    store: Arc<dyn Store>,
    runtime: tokio::runtime::Runtime,
}

pub(crate) fn run(cache: &CacheArgs) -> Result<Exit, Failure> {
    match &cache.command {
        CacheCommand::List { json, place } => list(&Opened::at(place)?, *json),
        CacheCommand::Show { url, json, place } => show(&Opened::at(place)?, url, *json),
        CacheCommand::Purge { urls, all, place } => purge(&Opened::at(place)?, urls, *all),
        CacheCommand::Import { warcs, tables, place } => import(warcs, tables, place),
        CacheCommand::Export { folder, format, output, place } => {
            let opened = Opened::at(place)?;
            match folder {
                Some(folder) => export_folder(&opened, folder),
                None => export(&opened, *format, output.as_deref()),
            }
        }
    }
}

impl Opened {
    fn at(place: &Place) -> Result<Self, Failure> {
        Self::with(|| fetching::existing_store(place.store.as_deref(), place.roots.as_deref()))
    }

    fn with(open: impl FnOnce() -> Result<Arc<dyn Store>, Failure>) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::new(format_args!("no thread can be started: {error}")))?;
        let _entered = runtime.enter();
        let store = open()?;
        Ok(Self { store, runtime })
    }

    /// Reads all entries, a page at a time.
    fn each(&self, mut visit: impl FnMut(&Kept) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut after: Option<String> = None;
        loop {
            let page = self.store.list(after.as_deref(), PAGE);
            let page = self.runtime.block_on(page).map_err(Failure::new)?;
            for kept in &page {
                visit(kept)?;
            }
            match page.last() {
                Some(last) if page.len() == PAGE => after = Some(last.origin.to_string()),
                _ => return Ok(()),
            }
        }
    }
}

fn list(opened: &Opened, json: bool) -> Result<Exit, Failure> {
    let mut out = BufWriter::new(anstream::AutoStream::auto(io::stdout()));
    opened.each(|kept| {
        if json {
            let mut site = report_of(kept);
            for copy in site.copy.iter_mut().chain(&mut site.earlier) {
                (copy.robots, copy.text) = (None, None);
            }
            write_json(&mut out, &site)?;
            return Ok(());
        }
        let origin = styled(STRONG, shown(kept.origin.to_string().as_bytes()));
        let result = shown(kept.last.result.to_string().as_bytes());
        let copy = kept.copy.as_ref().map_or_else(String::new, |copy| {
            let (octets, until) = (copy.body.len(), rfc3339_of(copy.fresh_until));
            format!("{octets} octets, fresh until {until}")
        });
        writeln!(out, "{origin}  {result}  {}", styled(DIM, copy))?;
        Ok(())
    })?;
    let size = opened.runtime.block_on(opened.store.size()).map_err(Failure::new)?;
    out.flush()?;
    let (origins, octets, place) = (size.origins, size.octets, opened.store.describe());
    anstream::eprintln!("{}, {octets} octets, in {}", sites(origins), shown(place.as_bytes()));
    Ok(Exit::Allowed)
}

fn show(opened: &Opened, url: &str, json: bool) -> Result<Exit, Failure> {
    let origin = origin_of(url)?;
    let kept = opened.runtime.block_on(opened.store.load(&origin)).map_err(Failure::new)?;
    let Some(kept) = kept else {
        anstream::eprintln!("mayi: {origin} is not cached");
        return Ok(Exit::Disallowed);
    };
    if json {
        write_json(&mut io::stdout().lock(), &report_of(&kept))?;
    } else {
        let mut out = anstream::stderr().lock();
        writeln!(out, "{}", styled(STRONG, kept.origin.robots_url()))?;
        tell_kept(&mut out, &kept)?;
        write_file(&kept)?;
    }
    Ok(Exit::Allowed)
}

fn purge(opened: &Opened, urls: &[String], all: bool) -> Result<Exit, Failure> {
    let origins = urls.iter().map(|url| origin_of(url)).collect::<Result<Vec<_>, _>>()?;
    let forgotten = opened.runtime.block_on(async {
        let store = &opened.store;
        let (mut forgotten, mut is_much) = (0, true);
        if all {
            forgotten = store.clear().await?;
        } else {
            for page in origins.chunks(PAGE) {
                // All at once: a store in a file waits for the disk once for all of them.
                let remove = |origin: &Origin| {
                    let (store, origin) = (Arc::clone(store), origin.clone());
                    tokio::spawn(async move { store.remove(&origin).await })
                };
                let removals: Vec<_> = page.iter().map(remove).collect();
                for (origin, removal) in page.iter().zip(removals) {
                    if removal.await.map_err(StoreError::new)?? {
                        forgotten += 1;
                    } else {
                        anstream::eprintln!("mayi: {origin} was not cached");
                    }
                }
            }
            is_much = forgotten * A_LOT >= store.size().await?.origins + forgotten;
        }
        if forgotten > 0 && is_much {
            store.compact().await?;
        }
        Ok(forgotten)
    });
    let forgotten = forgotten.map_err(|error: StoreError| Failure::new(error))?;
    anstream::eprintln!("{} forgotten", sites(forgotten));
    Ok(Exit::Allowed)
}

/// The most octets of a file that are kept.
fn most_octets() -> usize {
    Limits::default().file_octets().saturating_add(4)
}

fn import(warcs: &[PathBuf], tables: &[PathBuf], place: &Place) -> Result<Exit, Failure> {
    let loaded = if tables.is_empty() {
        archives::of_warcs(warcs, most_octets())?
    } else {
        archives::of_tables(tables, most_octets())?
    };
    let opened = Opened::with(|| fetching::new_store(place.store.as_deref(), place.roots.as_deref()))?;
    let (mut saved, mut newer, mut unknown) = (0_u64, 0_u64, 0_u64);
    for page in loaded.archive.origins().chunks(PAGE) {
        let mut entries = Vec::new();
        for origin in page {
            match loaded.archive.site(origin) {
                Ok(site) => entries.push(Arc::new(kept_of(origin, &site))),
                Err(_) => unknown += 1,
            }
        }
        // All at once: a store in a file waits for the disk once for all of them.
        let save = |kept: Arc<Kept>| {
            let store = Arc::clone(&opened.store);
            opened.runtime.spawn(async move {
                let before = store.load(&kept.origin).await?;
                let is_newer = before.is_some_and(|before| before.last.at > kept.last.at);
                if !is_newer {
                    store.save(&kept).await?;
                }
                Ok::<_, StoreError>(is_newer)
            })
        };
        let tasks: Vec<_> = entries.into_iter().map(save).collect();
        for task in tasks {
            let is_newer =
                opened.runtime.block_on(task).map_err(Failure::new)?.map_err(Failure::new)?;
            if is_newer { newer += 1 } else { saved += 1 }
        }
    }
    anstream::eprintln!("{} imported", sites(saved));
    if newer > 0 {
        anstream::eprintln!("{} unchanged, because the cached entry is newer", sites(newer));
    }
    if unknown > 0 {
        anstream::eprintln!("{} left out, because they redirect to a missing file", sites(unknown));
    }
    for trouble in &loaded.troubles {
        anstream::eprintln!("mayi: {trouble}");
    }
    Ok(if loaded.troubles.is_empty() { Exit::Allowed } else { Exit::NoAnswer })
}

/// The entry of a site from an archive, as if the site had been fetched then.
fn kept_of(origin: &Origin, site: &ArchivedSite<'_>) -> Kept {
    let at = site.last.time;
    let mut last = LastAttempt::new(at, site.result.clone());
    let said = |response: &ArchivedResponse| match &response.status {
        Ok(status) => Said::Status(*status),
        Err(error) => Said::Error(error.clone()),
    };
    last.hops = site.hops.iter().map(|(url, response)| Hop::new(&**url, said(response))).collect();
    let url = site.hops.last().map_or_else(|| origin.robots_url(), |(url, _)| url.clone());
    let copy = (site.result == AccessResult::Successful).then(|| {
        let mut copy = FileCopy::new(url, site.last.body.to_vec(), at);
        copy.content_type.clone_from(&site.last.content_type);
        copy
    });
    if copy.is_none() {
        (last.failing_since, last.failures) = (Some(at), 1);
    }
    Kept::new(origin.clone(), copy, last)
}

fn export_folder(opened: &Opened, folder: &Path) -> Result<Exit, Failure> {
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let mut count = 0;
    opened.each(|kept| {
        // A site without a file has nothing to be written.
        let Some(copy) = &kept.copy else { return Ok(()) };
        let path = folder.join(file_name(kept));
        fs::write(&path, &copy.body).map_err(|error| unwritable(&path, &error))?;
        count += 1;
        Ok(())
    })?;
    anstream::eprintln!("{} exported", sites(count));
    Ok(Exit::Allowed)
}

fn export(opened: &Opened, format: ExportFormat, output: Option<&Path>) -> Result<Exit, Failure> {
    let mut out = Output::create(output, [])?;
    let mut count = 0;
    let out = match format {
        ExportFormat::Json => {
            opened.each(|kept| {
                count += 1;
                Ok(write_json(&mut out, &report_of(kept))?)
            })?;
            out
        }
        #[cfg(feature = "columns")]
        ExportFormat::Parquet | ExportFormat::Arrow => {
            use mayi_tables::reading::TableFormat;
            use mayi_tables::robots_table::RobotsTableWriter;
            if out.is_terminal() {
                return Err(Failure::new(
                    "this format can't be printed on a terminal; use `--output FILE`",
                ));
            }
            let kind =
                if format == ExportFormat::Parquet { TableFormat::Parquet } else { TableFormat::Ipc };
            let now = SystemTime::now();
            let mut table = RobotsTableWriter::new(out, kind).map_err(Failure::new)?;
            opened.each(|kept| {
                count += 1;
                table.push(&kept.origin, &in_force(kept, now)).map_err(Failure::new)
            })?;
            table.finish().map_err(Failure::new)?
        }
    };
    out.finish()?;
    anstream::eprintln!("{} exported", sites(count));
    Ok(Exit::Allowed)
}

/// What applies to a site now, as a response of its server.
#[cfg(feature = "columns")]
fn in_force(kept: &Kept, now: SystemTime) -> ArchivedResponse {
    let last = &kept.last;
    match (kept.in_force(&Keeping::default(), now), &kept.copy) {
        (InForce::Copy, Some(copy)) => {
            let mut response = ArchivedResponse::new(copy.checked, Ok(200));
            response.body = copy.body.to_vec().into();
            response.content_type.clone_from(&copy.content_type);
            response
        }
        (InForce::AllowAll, _) => {
            let status = match &last.result {
                AccessResult::Unavailable(Unavailable::Status(status)) => *status,
                // Redirects that do not end at a file.
                _ => 404,
            };
            ArchivedResponse::new(last.at, Ok(status))
        }
        _ => {
            let status = match &last.result {
                AccessResult::Unreachable(Unreachable::Status(status)) => Ok(*status),
                result => Err(result.to_string().into()),
            };
            ArchivedResponse::new(last.at, status)
        }
    }
}

/// The entry of a site as JSON; what applies is the result of the last attempt.
fn report_of(kept: &Kept) -> SiteReport {
    kept.site_report(&kept.last.result)
}

/// `1 site`, `2 sites`.
fn sites(count: u64) -> String {
    format!("{count} {}", if count == 1 { "site" } else { "sites" })
}

/// The name of a site's file in a folder, the most telling one that `mayi bulk` looks for. Hosts come
/// from others, but an origin has none with a slash in it.
fn file_name(kept: &Kept) -> String {
    let origin = &kept.origin;
    let (scheme, host, port) = (origin.scheme(), origin.host().replace(':', "_"), origin.port());
    format!("{scheme}_{host}_{port}.txt")
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format_args!("`{}` can't be written: {error}", path.display()))
}

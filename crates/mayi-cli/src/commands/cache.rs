//! `mayi cache`: what is kept of which site, for people and for other programs.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use mayi::access::Origin;
use mayi::report::{SiteReport, rfc3339_of};
use mayi_fetch::kept::Kept;
use mayi_fetch::store::{Store, StoreError};

use super::check::write_json;
use super::fetch::{origin_of, tell_kept, write_file};
use crate::exit::{Exit, Failure};
use crate::fetching;
use crate::text::{DIM, STRONG, shown, styled};

/// How many origins are asked of a store at once.
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
    #[command(after_help = "Exit status: 0 the site is cached, 1 it is not, 2 there is no answer.")]
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
    /// Print the whole cache as JSON, one site per line, or write the files into a folder
    Export {
        /// Write the files into this folder, with the names that `mayi bulk --robots-dir` reads
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
        #[command(flatten)]
        place: Place,
    },
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

/// An open store, and something to wait for it with.
struct Opened {
    store: Arc<dyn Store>,
    runtime: tokio::runtime::Runtime,
}

pub(crate) fn run(cache: &CacheArgs) -> Result<Exit, Failure> {
    match &cache.command {
        CacheCommand::List { json, place } => list(&Opened::at(place)?, *json),
        CacheCommand::Show { url, json, place } => show(&Opened::at(place)?, url, *json),
        CacheCommand::Purge { urls, all, place } => purge(&Opened::at(place)?, urls, *all),
        CacheCommand::Export { folder, place } => export(&Opened::at(place)?, folder.as_deref()),
    }
}

impl Opened {
    fn at(place: &Place) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::new(format_args!("no thread can be started: {error}")))?;
        let _entered = runtime.enter();
        let store = fetching::existing_store(place.store.as_deref(), place.roots.as_deref())?;
        Ok(Self { store, runtime })
    }

    /// Goes through all that is kept, a page at a time.
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
        anstream::eprintln!("mayi: nothing is kept of {origin}");
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
                        anstream::eprintln!("mayi: nothing was kept of {origin}");
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

fn export(opened: &Opened, folder: Option<&Path>) -> Result<Exit, Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    if let Some(folder) = folder {
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    }
    let mut count = 0;
    opened.each(|kept| {
        match (folder, &kept.copy) {
            (None, _) => write_json(&mut out, &report_of(kept))?,
            // A site without a file has nothing to be written.
            (Some(_), None) => return Ok(()),
            (Some(folder), Some(copy)) => {
                let path = folder.join(file_name(kept));
                fs::write(&path, &copy.body).map_err(|error| unwritable(&path, &error))?;
            }
        }
        count += 1;
        Ok(())
    })?;
    out.flush()?;
    anstream::eprintln!("{} exported", sites(count));
    Ok(Exit::Allowed)
}

/// What is kept of a site, as JSON has it: what came of the last attempt is all that is known to hold.
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

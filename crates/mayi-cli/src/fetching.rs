//! Options → a fetcher, for commands without a given file.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use mayi::ReadOptions;
use mayi::access::{Origin, SiteFile};
use mayi::report::Answering;
use mayi_fetch::guard::AddressRange;
use mayi_fetch::store::Store;
use mayi_fetch::{Builder, FetchOptions, Fetcher, InvalidOption, Policy, Robots, blocking};

use crate::exit::Failure;
use crate::input::{self, Loaded};
use crate::text::shown;

/// The default User-Agent.
const OUR_NAME: &str = concat!("mayi/", env!("CARGO_PKG_VERSION"));

/// The name of the default store, in the user's cache folder.
const DEFAULT_STORE: &str = "robots.store";

/// The default size limit of a store.
const STORE_OCTETS: u64 = 4 << 30;

/// How many earlier copies of a file are kept when its text changes: `mayi audit --store` needs to know which
/// one applied when.
const EARLIER: usize = 16;

/// How robots.txt is fetched where it is not given.
#[derive(Debug, Args)]
#[command(next_help_heading = "Fetching")]
pub(crate) struct Fetching {
    /// Where fetched files are cached: a path, `memory`, or `redis://host:port` (`rediss` for TLS).
    /// Default: a file in your cache folder
    #[arg(
        hide_short_help = true,
        long,
        value_name = "STORE",
        env = "MAYI_STORE",
        hide_env_values = true
    )]
    pub(crate) store: Option<String>,

    /// Fetch nothing: answer from the cache, even if it is old
    #[arg(long)]
    pub(crate) offline: bool,

    /// Also connect to private, loopback and other special addresses, and to any port
    #[arg(hide_short_help = true, long)]
    pub(crate) allow_private: bool,

    /// Also connect to these special addresses, for example 127.0.0.0/8. Can be repeated
    #[arg(hide_short_help = true, long = "allow-address", value_name = "RANGE")]
    pub(crate) allow_addresses: Vec<AddressRange>,

    /// The User-Agent header to fetch with. Give a contact, as in
    /// `ExampleBot/1.0 (+https://example.com/bot)`
    #[arg(hide_short_help = true, long, value_name = "STRING", env = "MAYI_FETCH_AS", default_value = OUR_NAME)]
    pub(crate) fetch_as: String,

    /// The timeout for the whole response of a server, in seconds
    #[arg(hide_short_help = true, long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,

    /// A PEM file with root certificates to trust besides the system's, for sites and for the store
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(crate) roots: Option<PathBuf>,
}

/// Opens the store of this name, or the one in the user's cache folder. These certificates are trusted
/// too.
fn store(place: Option<&str>, roots: &[u8]) -> Result<Arc<dyn Store>, Failure> {
    let place = match place {
        Some(place) => place.to_owned(),
        None => store_in_cache(DEFAULT_STORE)?.display().to_string(),
    };
    mayi_fetch::store::open_trusting(&place, STORE_OCTETS, roots).map_err(Failure::new)
}

/// The certificates of a file, as they are; no octets if no file is named.
fn read_roots(path: Option<&Path>) -> Result<Vec<u8>, Failure> {
    let mut pem = Vec::new();
    if let Some(path) = path {
        std::io::Read::read_to_end(&mut input::open(path)?, &mut pem)
            .map_err(|error| input::unreadable(path, &error))?;
    }
    Ok(pem)
}

/// The store at a place, which is created if it does not exist.
pub(crate) fn new_store(place: Option<&str>, roots: Option<&Path>) -> Result<Arc<dyn Store>, Failure> {
    store(place, &read_roots(roots)?)
}

/// The same for commands that only read: opening would create a missing store, which would then answer that
/// it is empty.
pub(crate) fn existing_store(
    place: Option<&str>,
    roots: Option<&Path>,
) -> Result<Arc<dyn Store>, Failure> {
    if let Some(place) = place.filter(|place| *place != "memory" && !place.contains("://"))
        && !Path::new(place).exists()
    {
        return Err(Failure::new(format_args!("there is no store `{place}`")));
    }
    store(place, &read_roots(roots)?)
}

/// A store of this name in the user's cache folder.
pub(crate) fn store_in_cache(name: &str) -> Result<PathBuf, Failure> {
    let folder = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .or_else(|| std::env::home_dir().map(|home| home.join(".cache")))
        .ok_or_else(|| Failure::new("there is no cache folder here; say where with --store"))?
        .join("mayi");
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failure::new(format_args!("`{}` can't be made: {error}; see --store", folder.display()))
    })?;
    Ok(folder.join(name))
}

/// A fetcher with these options. If the default store can't be opened, the fetcher works without it.
pub(crate) fn fetcher(fetching: &Fetching, answering: Answering) -> Result<blocking::Fetcher, Failure> {
    blocking::Fetcher::made_by(|| made(fetching, answering))
}

/// A fetcher that sends no request: it uses the entries of a store.
pub(crate) fn of_store(place: &str) -> Result<blocking::Fetcher, Failure> {
    blocking::Fetcher::made_by(|| {
        let store = existing_store(Some(place), None)?;
        let builder = Fetcher::builder(OUR_NAME).map_err(Failure::new)?;
        Ok(builder.store(store).offline(true).ready_octets(8 << 20).build())
    })
}

fn made(fetching: &Fetching, answering: Answering) -> Result<Fetcher, Failure> {
    let mut policy = Policy::default();
    policy.earlier = EARLIER;
    let mut options = FetchOptions::new(&fetching.fetch_as);
    options.allow_private = fetching.allow_private;
    options.allow_addresses.clone_from(&fetching.allow_addresses);
    options.timeout = Duration::from_secs(fetching.timeout);
    options.offline = fetching.offline;
    options.roots = read_roots(fetching.roots.as_deref())?;
    options.store_octets = STORE_OCTETS;
    let builder = match &fetching.store {
        Some(store) => {
            options.store = Some(store.clone());
            options.builder_with_store().map_err(Failure::new)?
        }
        None => with_default_store(&mut options)?,
    };
    let builder = builder.policy(policy).answering(answering);
    if let Some(advice) = builder.advice().filter(|_| fetching.fetch_as != OUR_NAME) {
        anstream::eprintln!("mayi: {advice}");
    }
    Ok(builder.build())
}

/// A builder with the store in the user's cache folder, or in memory if there can be none.
fn with_default_store(options: &mut FetchOptions) -> Result<Builder, Failure> {
    let why = match store_in_cache(DEFAULT_STORE) {
        Ok(path) => {
            options.store = Some(path.display().to_string());
            match options.builder_with_store() {
                Err(InvalidOption::Store(error)) => error.to_string(),
                made => return made.map_err(Failure::new),
            }
        }
        Err(Failure::Message(message)) => message,
        Err(failure) => return Err(failure),
    };
    anstream::eprintln!("mayi: nothing is cached for later runs: {}", shown(why.as_bytes()));
    (options.store, options.store_octets) = (Some("memory".to_owned()), 256 << 20);
    options.builder_with_store().map_err(Failure::new)
}

/// Reports once, at the end, the faults of this machine.
pub(crate) fn tell(fetcher: &blocking::Fetcher) {
    let stats = fetcher.stats();
    if stats.guarded > 0 {
        anstream::eprintln!(
            "mayi: addresses that are not public, and ports that are not in the question, are refused; \
             --allow-address 127.0.0.0/8 allows the addresses of a range, --allow-private all \
             addresses and ports"
        );
    }
    if let Some(error) = stats.last_store_error {
        let (count, error) = (stats.store_errors, shown(error.as_bytes()));
        anstream::eprintln!("mayi: the store failed {count} times; the last error: {error}");
    }
}

/// Fetches files for commands that take a URL in place of a file. The fetcher is made for the first URL: most
/// runs need none.
pub(crate) struct Online<'f> {
    fetching: &'f Fetching,
    fetcher: Mutex<Option<Arc<blocking::Fetcher>>>,
}

impl<'f> Online<'f> {
    pub(crate) fn new(fetching: &'f Fetching) -> Self {
        Self { fetching, fetcher: Mutex::new(None) }
    }

    /// The robots.txt of the site of a URL.
    pub(crate) fn load(&self, url: &str) -> Result<Loaded, Failure> {
        let robots = self.robots(url)?;
        let name = robots.origin().robots_url();
        match (robots.robots_txt(), &robots.kept().copy) {
            (Some(_), Some(copy)) => {
                let content_type = copy.content_type.clone();
                Ok(Loaded { name, octets: copy.body.to_vec(), content_type })
            }
            _ => Err(Failure::new(format_args!("{name}: {}", robots.file_report().sentence()))),
        }
    }

    /// The same for commands that have an answer without a file too: the result of the request is printed,
    /// and the answer says what it means.
    pub(crate) fn site_file(
        &self,
        url: &str,
        options: &ReadOptions,
    ) -> Result<SiteFile<'static>, Failure> {
        let robots = self.robots(url)?;
        let ended = SiteFile::ended(robots.access().clone(), options);
        if let Some(file) = ended.filter(|_| robots.is_known()) {
            let (name, sentence) = (robots.origin().robots_url(), robots.file_report().sentence());
            anstream::eprintln!("mayi: {name}: {sentence}");
            return Ok(file);
        }
        let loaded = self.load(url)?;
        Ok(SiteFile::read(loaded.octets.clone(), &loaded.reading(options)))
    }

    fn robots(&self, url: &str) -> Result<Robots, Failure> {
        let origin = Origin::of_url(url).map_err(Failure::new)?;
        Ok(self.fetcher()?.robots(&origin))
    }

    fn fetcher(&self) -> Result<Arc<blocking::Fetcher>, Failure> {
        let mut made = self.fetcher.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fetcher) = &*made {
            return Ok(Arc::clone(fetcher));
        }
        let fetcher = Arc::new(fetcher(self.fetching, Answering::default())?);
        Ok(Arc::clone(made.insert(fetcher)))
    }
}

impl Drop for Online<'_> {
    fn drop(&mut self) {
        let made = self.fetcher.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(fetcher) = made {
            tell(fetcher);
        }
    }
}

//! An origin → its robots.txt → the rules for crawlers, prepared once and cached in bounded memory.
//!
//! The rules of many files are shared by all workers. The least used rules are evicted first; input that is
//! sorted by host needs no cache at all, because each worker keeps the rules that it used last.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use mayi::access::{AccessResult, Origin, SiteFile};
use mayi::report::{ErrorCode, RequestError};
use mayi::{Crawler, CrawlerRules, CrawlerUses, Decision, ReadOptions, RulesByGroups, Target};
use mayi_fetch::prepared::{Key, PreparedCache, Weigh};

/// What is known about an origin's robots.txt.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Found {
    /// Its octets, and the Content-Type that came with them, if one did.
    File(Vec<u8>, Option<Box<str>>),
    /// There is no file, and the result of the request is known.
    Ended(AccessResult),
    /// Nobody asked for it yet.
    Missing,
    /// It exists, but can't be read.
    Unreadable(String),
}

/// Where the files are.
#[non_exhaustive]
pub enum RobotsSource {
    /// This is the file of every origin, or why there is none.
    One(SiteFile<'static>),
    /// Each origin has its own.
    Each(Box<dyn Source>),
}

/// What a missing file means. Only the caller knows whether the server was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// The row gets an error.
    #[default]
    Error,
    /// Everything is allowed, as if the file were unavailable (REP-20).
    Allow,
    /// Nothing is allowed, as if the file were unreachable (REP-21).
    Disallow,
}

impl Missing {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Error, Self::Allow, Self::Disallow];

    /// Its name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Allow => "allow",
            Self::Disallow => "disallow",
        }
    }

    fn result(self) -> Option<AccessResult> {
        match self {
            Self::Error => None,
            Self::Allow => Some(AccessResult::of_status(404)),
            Self::Disallow => Some(AccessResult::of_error("missing")),
        }
    }
}

/// Finds the robots.txt of an origin.
pub trait Source: Send + Sync {
    /// What is known of it.
    fn find(&self, origin: &Origin) -> Found;

    /// The earlier files before the current one; none if they were not kept.
    fn history(&self, origin: &Origin) -> History {
        let _ = origin;
        History::default()
    }
}

impl<S: Source + ?Sized> Source for Arc<S> {
    fn find(&self, origin: &Origin) -> Found {
        (**self).find(origin)
    }

    fn history(&self, origin: &Origin) -> History {
        (**self).history(origin)
    }
}

/// What an origin's robots.txt was before.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct History {
    /// When what is found now was found for the first time.
    pub since: Option<SystemTime>,
    /// What was there before, the oldest first: when it came, its octets and their Content-Type.
    pub earlier: Vec<(SystemTime, Vec<u8>, Option<Box<str>>)>,
}

impl History {
    /// The time since which the current file is known, and the earlier files.
    pub fn new(
        since: Option<SystemTime>,
        earlier: Vec<(SystemTime, Vec<u8>, Option<Box<str>>)>,
    ) -> Self {
        Self { since, earlier }
    }
}

impl fmt::Debug for RobotsSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::One(_) => "RobotsSource::One",
            Self::Each(_) => "RobotsSource::Each",
        })
    }
}

/// What is known about one origin for the crawlers.
#[derive(Debug)]
pub(crate) enum SiteRules {
    /// The rules of each crawler, or what applies without a file; with what each may do, if more than access
    /// is needed.
    Rules(Box<[CrawlerRules]>, Box<[CrawlerUses<'static>]>),
    /// There is no answer.
    Refused(RequestError),
}

impl SiteRules {
    /// May the crawler of this number fetch the target?
    pub(crate) fn decide(
        &self,
        crawler: usize,
        target: &Target<'_>,
    ) -> Result<Decision<'_>, &RequestError> {
        match self {
            Self::Rules(rules, _) => Ok(rules[crawler].decide(target)),
            Self::Refused(error) => Err(error),
        }
    }

    /// What the crawler of this number may do, if that was prepared.
    pub(crate) fn uses(&self, crawler: usize) -> Option<&CrawlerUses<'static>> {
        if let Self::Rules(_, uses) = self { uses.get(crawler) } else { None }
    }
}

impl Weigh for SiteRules {
    fn octets(&self) -> usize {
        let inside = match self {
            Self::Rules(rules, uses) => {
                let of_rules: usize = rules.iter().map(CrawlerRules::octets).sum();
                let of_uses: usize = uses.iter().map(CrawlerUses::octets).sum();
                let file = uses.first().map(CrawlerUses::file);
                let of_file = file.map_or(0, SiteFile::octets_in_memory);
                of_rules + of_uses + of_file
            }
            Self::Refused(error) => error.report().error.message.len(),
        };
        size_of::<Self>() + inside
    }
}

/// How many units of work it may take to find out which groups are for the crawler of a row: these, and some for each octet of
/// its product token, which every expression is compared with. Each row can name another crawler, and all regular
/// expressions of a file are tried for one that it does not name: a table would cost the file for each row. A crawler of
/// the registry gets more, because there are only some hundreds of them.
const UNITS: usize = 1 << 11;
const UNITS_FOR_AN_OCTET: usize = 1 << 6;
const TIMES_FOR_KNOWN: usize = 8;

/// The units for a crawler and, if uses are asked for, for each of its applications, whose groups are looked for as well. In a
/// dialect that looks for every name of a file in what the crawler sends, long lists of names must have room too.
fn units_for(file: &SiteFile<'_>, crawler: &Crawler, for_uses: bool) -> usize {
    let Some(robots) = file.robots_txt() else { return usize::MAX };
    let token = crawler.product_token().as_str();
    let is_known = robots.registry().agent(token).is_some();
    let has_more = is_known || !robots.dialect().compares_product_tokens();
    let times = if has_more { TIMES_FOR_KNOWN } else { 1 };
    let applications = if for_uses { crawler.applications().count() } else { 0 };
    (UNITS + UNITS_FOR_AN_OCTET * token.len()) * times * (1 + applications)
}

/// The answer to a crawler that would take more.
static TOO_COSTLY: LazyLock<RequestError> = LazyLock::new(|| {
    let message = "the file has too many regular expressions or names to compare them with every crawler of a table; ask \
                   about this crawler with `--agent`, in a table that has no column about crawlers";
    RequestError::new(ErrorCode::TooCostly, message)
});

/// What a table asks for.
#[derive(Clone, Copy)]
struct Asked<'a> {
    crawlers: &'a [Crawler],
    for_uses: bool,
    by_crawlers_of_rows: bool,
}

/// The file of one origin, with its rules for those crawlers that were asked for; or why there is no answer.
struct Site(Result<RulesByGroups, RequestError>);

impl Site {
    fn new(file: Result<SiteFile<'static>, RequestError>) -> Self {
        Self(file.map(RulesByGroups::new))
    }

    fn rules(&self, asked: Asked<'_>) -> SiteRules {
        let shared = match &self.0 {
            Ok(shared) => shared,
            Err(error) => return SiteRules::Refused(error.clone()),
        };
        let (mut rules, mut uses) = (Vec::new(), Vec::new());
        for crawler in asked.crawlers {
            let is_limited = asked.by_crawlers_of_rows;
            let units =
                if is_limited { units_for(shared.file(), crawler, asked.for_uses) } else { usize::MAX };
            if asked.for_uses {
                uses.extend(shared.uses_within(units, crawler));
            }
            let is_refused = asked.for_uses && uses.len() == rules.len();
            let of_crawler = if is_refused { None } else { shared.for_crawler_within(units, crawler) };
            // An error is the same for all crawlers of a row.
            let Some(of_crawler) = of_crawler else { return SiteRules::Refused(TOO_COSTLY.clone()) };
            rules.push(of_crawler);
        }
        SiteRules::Rules(rules.into(), uses.into())
    }
}

impl Weigh for Site {
    fn octets(&self) -> usize {
        let inside = match &self.0 {
            Ok(shared) => shared.expected_octets(),
            Err(error) => error.report().error.message.len(),
        };
        size_of::<Self>() + inside
    }
}

/// The files of sites, and the rules that were prepared from them, for all threads.
#[derive(Debug)]
pub struct Files {
    source: RobotsSource,
    options: ReadOptions,
    /// What a missing file means, if it is not an error.
    missing: Option<AccessResult>,
    asks_for_uses: bool,
    /// By origin and crawlers.
    cache: PreparedCache<SiteRules>,
    /// By origin, for rows with crawlers of their own. Where all rows have the same, nobody asks for a file again.
    sites: PreparedCache<Site>,
    /// Whether the crawlers of rows differ.
    crawlers_differ: AtomicBool,
}

/// The origin and the crawlers that rules were prepared for, for [`Files::find`].
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// A URL that can be decided about.
    pub url: &'a str,
    /// How many octets of it are scheme and authority, if they need no normalisation.
    pub prefix: Option<usize>,
    pub crawlers: &'a [Crawler],
    /// Whether rows name them, so that there can be as many as rows.
    pub by_crawlers_of_rows: bool,
}

impl Files {
    /// Files from this source, read with these options, and a cache for rules of about this many octets.
    pub fn new(source: RobotsSource, options: ReadOptions, octets: u64) -> Self {
        let of_sites = octets / 8;
        Self {
            source,
            options,
            missing: None,
            asks_for_uses: false,
            cache: PreparedCache::new(octets - of_sites),
            sites: PreparedCache::new(of_sites),
            crawlers_differ: AtomicBool::new(false),
        }
    }

    /// The same; a missing file means this.
    #[must_use]
    pub fn with_missing(self, missing: Missing) -> Self {
        Self { missing: missing.result(), ..self }
    }

    /// The same, also for questions about what may be done, which need the files in addition to their rules.
    #[must_use]
    pub fn asking_for_uses(self, asks_for_uses: bool) -> Self {
        Self { asks_for_uses, ..self }
    }

    /// Says that rows have different crawlers, so that the file of an origin is kept for the next one.
    pub(crate) fn expect_other_crawlers(&self) {
        self.crawlers_differ.store(true, Ordering::Relaxed);
    }

    /// Whether origins have files of their own.
    pub fn is_by_origin(&self) -> bool {
        matches!(self.source, RobotsSource::Each(_))
    }

    /// What is known about a URL's origin for crawlers; the key is that of the crawlers.
    ///
    /// # Errors
    /// When the URL has a host that no file can be found for.
    pub(crate) fn find(
        &self,
        wanted: Wanted<'_>,
        key: &mut Key,
    ) -> Result<Arc<SiteRules>, RequestError> {
        let source = match &self.source {
            RobotsSource::Each(source) => source,
            RobotsSource::One(file) => {
                key.set_site("");
                let site = || Site::new(Ok(file.clone()));
                let make = || self.made("", wanted, site);
                return Ok(self.cache.get_or_make(key, make));
            }
        };
        if let Some(prefix) = wanted.prefix {
            key.set_site(&wanted.url[..prefix]);
            if let Some(kept) = self.cache.get(key) {
                return Ok(kept);
            }
        }
        // Most URLs write their origin in the normal form, and have been found. Other spellings are looked up
        // under the normal form, and are not cached twice.
        let origin = Origin::of_url(wanted.url)?;
        let name = origin.to_string();
        key.set_site(&name);
        let site = || Site::new(self.read(source.find(&origin), &origin));
        let make = || self.made(&name, wanted, site);
        Ok(self.cache.get_or_make(key, make))
    }

    /// The rules of crawlers, from the site that `read` reads unless it was kept.
    fn made(&self, origin: &str, wanted: Wanted<'_>, read: impl FnOnce() -> Site) -> SiteRules {
        let Wanted { crawlers, by_crawlers_of_rows, .. } = wanted;
        let asked = Asked { crawlers, for_uses: self.asks_for_uses, by_crawlers_of_rows };
        if self.crawlers_differ.load(Ordering::Relaxed) {
            let mut key = Key::default();
            key.set_site(origin);
            return self.sites.get_or_make(&key, read).rules(asked);
        }
        match (read(), crawlers) {
            (Site(Ok(shared)), [crawler]) if !by_crawlers_of_rows => {
                let file = shared.file();
                let uses = self.asks_for_uses.then(|| file.uses_for(crawler));
                SiteRules::Rules([file.for_crawler(crawler)].into(), uses.into_iter().collect())
            }
            (site, _) => site.rules(asked),
        }
    }

    /// The file of an origin.
    fn read(&self, found: Found, origin: &Origin) -> Result<SiteFile<'static>, RequestError> {
        let refused = |code, message: String| Err(RequestError::new(code, message));
        match found {
            Found::File(octets, content_type) => Ok(match content_type {
                Some(content_type) => {
                    SiteFile::read(octets, &self.options.clone().with_content_type(&content_type))
                }
                None => SiteFile::read(octets, &self.options),
            }),
            Found::Ended(result) => match SiteFile::ended(result, &self.options) {
                Some(file) => Ok(file),
                None => refused(
                    ErrorCode::NoRobots,
                    format!("the file for {origin} is not given, although it is said to exist"),
                ),
            },
            Found::Missing => match self.missing_file() {
                Some(file) => Ok(file),
                None => refused(
                    ErrorCode::NoRobots,
                    format!(
                        "there is no file for {origin}; the option `missing` says what to do without one"
                    ),
                ),
            },
            Found::Unreadable(error) => refused(
                ErrorCode::InvalidRobots,
                format!("the file for {origin} can't be read: {error}"),
            ),
        }
    }

    /// What a missing file means, if it is not an error.
    fn missing_file(&self) -> Option<SiteFile<'static>> {
        SiteFile::ended(self.missing.clone()?, &self.options)
    }
}

//! An origin → its robots.txt → the rules for crawlers, prepared once and cached in bounded memory.
//!
//! The rules of many files are shared by all workers. The least used rules are evicted first; input that is
//! sorted by host needs no cache at all, because each worker keeps the rules that it used last.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use mayi::access::{AccessResult, Origin, SiteFile};
use mayi::report::{ErrorCode, RequestError};
use mayi::{Crawler, CrawlerRules, Decision, ReadOptions, RulesByGroups, Target};
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
pub enum Robots {
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

impl fmt::Debug for Robots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::One(_) => "Robots::One",
            Self::Each(_) => "Robots::Each",
        })
    }
}

/// What is known about one origin for the crawlers.
#[derive(Debug)]
pub(crate) enum SiteRules {
    /// The rules of each crawler, or what applies without a file; with the file itself, if more than access
    /// is needed.
    Rules(Box<[CrawlerRules]>, Option<SiteFile<'static>>),
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

    /// The file, if it was kept.
    pub(crate) fn file(&self) -> Option<&SiteFile<'static>> {
        if let Self::Rules(_, file) = self { file.as_ref() } else { None }
    }
}

impl Weigh for SiteRules {
    fn octets(&self) -> usize {
        let inside = match self {
            Self::Rules(rules, file) => {
                let octets: usize = rules.iter().map(CrawlerRules::octets).sum();
                octets + file.as_ref().map_or(0, SiteFile::octets_in_memory)
            }
            Self::Refused(error) => error.report().error.message.len(),
        };
        size_of::<Self>() + inside
    }
}

/// The files of sites, and the rules that were prepared from them, for all threads.
#[derive(Debug)]
pub struct Files {
    source: Robots,
    options: ReadOptions,
    /// What a missing file means, if it is not an error.
    missing: Option<AccessResult>,
    keeps_text: bool,
    cache: PreparedCache<SiteRules>,
}

/// The origin and the crawlers that rules were prepared for, for [`Files::find`].
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// A URL that can be decided about.
    pub url: &'a str,
    /// How many octets of it are scheme and authority, if they need no normalisation.
    pub prefix: Option<usize>,
    pub crawlers: &'a [Crawler],
}

impl Files {
    /// Files from this source, read with these options, and a cache for rules of about this many octets.
    pub fn new(source: Robots, options: ReadOptions, octets: u64) -> Self {
        let cache = PreparedCache::new(octets);
        Self { source, options, missing: None, keeps_text: false, cache }
    }

    /// The same; a missing file means this.
    #[must_use]
    pub fn with_missing(self, missing: Missing) -> Self {
        Self { missing: missing.result(), ..self }
    }

    /// The same, also keeping the files, in addition to their rules.
    #[must_use]
    pub fn keeping_files(self, keeps_text: bool) -> Self {
        Self { keeps_text, ..self }
    }

    /// Whether origins have files of their own.
    pub fn is_by_origin(&self) -> bool {
        matches!(self.source, Robots::Each(_))
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
            Robots::Each(source) => source,
            Robots::One(file) => {
                key.set_site("");
                let make = || self.prepared(file.clone(), wanted.crawlers);
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
        key.set_site(&origin.to_string());
        let make = || self.each(source.find(&origin), &origin, wanted.crawlers);
        Ok(self.cache.get_or_make(key, make))
    }

    fn each(&self, found: Found, origin: &Origin, crawlers: &[Crawler]) -> SiteRules {
        let refused = |code, message: String| SiteRules::Refused(RequestError::new(code, message));
        match found {
            Found::File(octets, content_type) => {
                self.prepare(octets, content_type.as_deref(), crawlers)
            }
            Found::Ended(result) => match SiteFile::ended(result, &self.options) {
                Some(file) => self.prepared(file, crawlers),
                None => refused(
                    ErrorCode::NoRobots,
                    format!("the file for {origin} is not given, although it is said to exist"),
                ),
            },
            Found::Missing => match self.missing_file() {
                Some(file) => self.prepared(file, crawlers),
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

    fn prepare(&self, octets: Vec<u8>, content_type: Option<&str>, crawlers: &[Crawler]) -> SiteRules {
        let file = match content_type {
            Some(content_type) => {
                SiteFile::read(octets, &self.options.clone().with_content_type(content_type))
            }
            None => SiteFile::read(octets, &self.options),
        };
        self.prepared(file, crawlers)
    }

    fn prepared(&self, file: SiteFile<'static>, crawlers: &[Crawler]) -> SiteRules {
        let rules = match crawlers {
            [crawler] => [file.for_crawler(crawler)].into(),
            crawlers => {
                let mut shared = RulesByGroups::new(file.clone());
                crawlers.iter().map(|crawler| shared.for_crawler(crawler)).collect()
            }
        };
        SiteRules::Rules(rules, self.keeps_text.then_some(file))
    }
}

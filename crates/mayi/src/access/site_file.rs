//! The file of a site, or why there is none. Every question is about such a value (REP-18 to REP-21).
//!
//! If there is no file, there are no rules, groups or records, and no empty file is used in its place.
//! Answers still need to know how the file would have been read: the dialect and the registry.

use std::sync::Arc;

use super::AccessResult;
use crate::crawler::Crawler;
use crate::decision::{Decision, Reason};
use crate::dialect::Dialect;
use crate::registry::Registry;
use crate::robots_txt::{Octets, ReadOptions, RobotsTxt};
use crate::ruleset::CrawlerRules;
use crate::target::Target;

/// The file of a site, or why there is none. It is cheap to clone.
///
/// ```
/// use mayi::access::{AccessResult, SiteFile};
/// use mayi::{Crawler, ReadOptions, Target};
///
/// let (crawler, options) = (Crawler::new("ExampleBot")?, ReadOptions::default());
/// let target = Target::parse("https://example.com/a")?;
/// let file = SiteFile::read(b"User-agent: *\nAllow: /\n", &options);
/// assert!(file.decide(&crawler, &target).is_allowed());
///
/// let none = SiteFile::ended(AccessResult::of_status(503), &options).expect("there is no file");
/// assert!(!none.decide(&crawler, &target).is_allowed());
/// let rules = none.for_crawler(&crawler);
/// assert!(!rules.decide(&target).is_allowed(), "what is prepared knows it too");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum SiteFile<'t> {
    /// It was read.
    Read(Arc<RobotsTxt<'t>>),
    /// There is none.
    Ended(NoFile),
}

/// Why there is no file, and how it would have been read.
#[derive(Clone, Debug)]
pub struct NoFile {
    result: AccessResult,
    reason: Reason,
    dialect: Dialect,
    registry: Arc<Registry>,
}

impl NoFile {
    fn decide(&self, target: &Target<'_>) -> Decision<'static> {
        let reason = if target.is_robots_txt() { Reason::RobotsTxt } else { self.reason };
        Decision::without_group(reason)
    }
}

impl<'t> SiteFile<'t> {
    /// Reads a file. It can't fail.
    pub fn read(octets: impl Into<Octets<'t>>, options: &ReadOptions) -> Self {
        RobotsTxt::read(octets, options).into()
    }

    /// No file, because the request for it had this result; it would have been read with these options.
    /// `None` if the result is a file: then read the file.
    pub fn ended(result: AccessResult, options: &ReadOptions) -> Option<Self> {
        let reason = result.reason()?;
        let (dialect, registry) = (options.dialect().clone(), options.registry());
        Some(Self::Ended(NoFile { result, reason, dialect, registry }))
    }

    /// The file, if there is one.
    pub fn robots_txt(&self) -> Option<&RobotsTxt<'t>> {
        match self {
            Self::Read(robots) => Some(robots),
            Self::Ended(_) => None,
        }
    }

    /// The result of the request for it.
    pub fn access(&self) -> &AccessResult {
        match self {
            Self::Read(_) => &AccessResult::Successful,
            Self::Ended(none) => &none.result,
        }
    }

    /// The dialect that it was read in, or would have been.
    pub fn dialect(&self) -> &Dialect {
        self.view().dialect
    }

    /// May this crawler fetch this target?
    pub fn decide(&self, crawler: &Crawler, target: &Target<'_>) -> Decision<'_> {
        match self {
            Self::Read(robots) => robots.decide(crawler, target),
            Self::Ended(none) => none.decide(target),
        }
    }

    /// Prepares the answers for this crawler, for many questions. What comes back borrows nothing and is cheap
    /// to clone and to share.
    pub fn for_crawler(&self, crawler: &Crawler) -> CrawlerRules {
        match self {
            Self::Read(robots) => robots.for_crawler(crawler),
            Self::Ended(none) => CrawlerRules::without_file(none.reason, &none.dialect),
        }
    }

    /// An upper estimate of the octets of memory that it takes.
    pub fn octets_in_memory(&self) -> usize {
        size_of::<Self>() + self.robots_txt().map_or(0, RobotsTxt::octets_in_memory)
    }

    pub(crate) fn view(&self) -> View<'_> {
        match self {
            Self::Read(robots) => View::of(robots),
            Self::Ended(NoFile { dialect, registry, .. }) => View { robots: None, dialect, registry },
        }
    }
}

impl<'t> From<RobotsTxt<'t>> for SiteFile<'t> {
    fn from(robots: RobotsTxt<'t>) -> Self {
        Self::Read(Arc::new(robots))
    }
}

/// A file that may be absent, borrowed: the parts of an answer are computed from it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) robots: Option<&'a RobotsTxt<'a>>,
    pub(crate) dialect: &'a Dialect,
    pub(crate) registry: &'a Registry,
}

impl<'a> View<'a> {
    /// A file that is there.
    pub(crate) fn of(robots: &'a RobotsTxt<'a>) -> Self {
        Self { robots: Some(robots), dialect: robots.dialect(), registry: robots.registry() }
    }
}

//! Many crawlers of one file → their rules, prepared once for all crawlers that get the same groups.
//!
//! Most crawlers get the groups of `*`. A log or a table can name hundreds of crawlers, and a file can have tens of
//! thousands of rules: prepared for each crawler, they would take hundreds of times the memory of the file.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::{CrawlerRules, Ranked};
use crate::access::SiteFile;
use crate::crawler::Crawler;
use crate::robots_txt::RobotsTxt;
use crate::selection::select;

/// The rules of many crawlers of one file. Those that get the same groups share them.
///
/// ```
/// use mayi::access::SiteFile;
/// use mayi::{Crawler, ReadOptions, RulesByGroups};
///
/// let file = b"User-agent: *\nDisallow: /a\n".to_vec();
/// let mut rules = RulesByGroups::new(SiteFile::read(file, &ReadOptions::default()));
/// let one = rules.for_crawler(&Crawler::new("OneBot")?);
/// let octets = rules.octets();
/// let other = rules.for_crawler(&Crawler::new("OtherBot")?);
/// assert_eq!((one.len(), other.len()), (1, 1));
/// assert_eq!(rules.octets(), octets);
/// # Ok::<(), mayi::InvalidProductToken>(())
/// ```
#[derive(Debug)]
pub struct RulesByGroups {
    file: SiteFile<'static>,
    shared: SharedRules,
}

/// The same for a file that somebody else keeps. It is of one file: groups are known by the places of their records.
#[derive(Default)]
pub(crate) struct SharedRules {
    /// By the records of the groups.
    ranked: HashMap<Vec<Range<usize>>, Arc<Ranked>>,
    octets: usize,
}

impl RulesByGroups {
    /// Nothing is prepared yet.
    pub fn new(file: SiteFile<'static>) -> Self {
        Self { file, shared: SharedRules::default() }
    }

    /// The rules of a crawler, as [`SiteFile::for_crawler`] prepares them.
    pub fn for_crawler(&mut self, crawler: &Crawler) -> CrawlerRules {
        match self.file.robots_txt() {
            Some(robots) => self.shared.for_crawler(robots, crawler),
            None => self.file.for_crawler(crawler),
        }
    }

    /// About how many octets of memory the shared rules take.
    pub fn octets(&self) -> usize {
        self.shared.octets
    }
}

impl SharedRules {
    pub(crate) fn for_crawler(&mut self, robots: &RobotsTxt<'_>, crawler: &Crawler) -> CrawlerRules {
        let Some(selection) = select(robots, crawler, &mut ()) else {
            return CrawlerRules::of_ranked(robots, None);
        };
        let ranked = self.ranked.entry(selection.groups.clone()).or_insert_with_key(|groups| {
            let ranked = Ranked::of(robots, &selection);
            self.octets += size_of_val(&**groups) + ranked.octets();
            Arc::new(ranked)
        });
        CrawlerRules::of_ranked(robots, Some((&selection, Arc::clone(ranked))))
    }

    #[cfg(feature = "lint")]
    pub(crate) fn octets(&self) -> usize {
        self.octets
    }
}

impl fmt::Debug for SharedRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedRules").field("prepared", &self.ranked.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots_txt::ReadOptions;
    use crate::target::Target;

    #[test]
    fn shared_rules_decide_as_those_of_each_crawler() {
        let text = "User-agent: a\nUser-agent: b\nDisallow: /1\nUser-agent: b\nUser-agent: c\nDisallow: /2\n\
                    User-agent: *\nDisallow: /3\n";
        let file = SiteFile::read(text.as_bytes().to_vec(), &ReadOptions::default());
        let mut rules = RulesByGroups::new(file.clone());
        for token in ["a", "b", "c", "d", "e", "a"] {
            let crawler = Crawler::new(token).expect("a token");
            let (shared, own) = (rules.for_crawler(&crawler), file.for_crawler(&crawler));
            for path in ["/1", "/2", "/3"] {
                let target = Target::from_path(path).expect("a path");
                assert_eq!(shared.decide(&target), own.decide(&target), "{token} {path}");
            }
        }
        // Those of a, of b, of c, and of everybody else.
        assert_eq!(rules.shared.ranked.len(), 4);
    }
}

//! Which robots.txt applied to a host at a time.
//!
//! A site has one file, or several with the time from which each applied. A crawler may use its copy for 24
//! hours (REP-23). During this time after a change, a request that the new file refuses and an older one
//! allowed is not a violation.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use mayi::access::SiteFile;
use mayi::{Crawler, CrawlerRules, ReadOptions, RobotsTxt, RuleKind, RulesByGroups, Span, Target};

use crate::time::DAY;

/// A robots.txt that was read, or the result of the request for it.
#[derive(Debug)]
pub struct File {
    /// Identifies it.
    pub(crate) number: u32,
    pub(crate) name: String,
    /// The file itself, and its rules for those crawlers that were asked for.
    rules: RulesByGroups,
    /// Where its lines are, from when they are first asked for.
    lines: OnceLock<Vec<Span>>,
}

static FILES: AtomicU32 = AtomicU32::new(0);

impl File {
    /// Reads the octets of a file. It can't fail.
    pub fn read(name: &str, octets: Vec<u8>, options: &ReadOptions) -> Arc<Self> {
        Self::new(name, SiteFile::read(octets, options))
    }

    /// The file of a site, or why there is none: everything is allowed then, or nothing (REP-20, REP-21).
    pub fn new(name: &str, file: SiteFile<'static>) -> Arc<Self> {
        let rules = RulesByGroups::new(file);
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { number, name: name.to_owned(), rules, lines: OnceLock::new() })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its rules for a crawler, unless it may take more units of work than these to find out which are for it.
    pub(crate) fn rules_for(&self, crawler: &Crawler, units: usize) -> Option<CrawlerRules> {
        self.rules.for_crawler_within(units, crawler)
    }

    /// The text of a line, without white space around it.
    pub(crate) fn line(&self, number: u32) -> String {
        let Some(robots) = self.rules.file().robots_txt() else { return String::new() };
        // A report asks for the lines of all rules: they are looked for once.
        let lines = self.lines.get_or_init(|| robots.lines().map(|line| line.span()).collect());
        let place = (number as usize).checked_sub(1).and_then(|place| lines.get(place));
        let text = place.map(|span| &robots.text()[span.range()]).unwrap_or_default();
        String::from_utf8_lossy(text.trim_ascii()).into_owned()
    }

    /// Every rule that can match something: line, kind and pattern.
    pub(crate) fn all_rules(&self) -> Vec<(u32, RuleKind, String)> {
        let mut all = Vec::new();
        for group in self.rules.file().robots_txt().into_iter().flat_map(RobotsTxt::groups) {
            let rules = group.rules().filter(|(_, _, pattern)| !pattern.is_empty());
            all.extend(rules.map(|(line, kind, pattern)| {
                (line.number(), kind, String::from_utf8_lossy(pattern).into_owned())
            }));
        }
        all
    }
}

/// What is decided about a request, and by the rule on which line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) is_allowed: bool,
    pub(crate) line: Option<u32>,
}

impl Verdict {
    /// What prepared rules decide about a target.
    pub(crate) fn of(rules: &CrawlerRules, target: &Target<'_>) -> Self {
        let decision = rules.decide(target);
        let line = decision.rule().map(|rule| rule.line().number());
        Self { is_allowed: decision.is_allowed(), line }
    }
}

/// The files of one site.
#[derive(Clone, Debug)]
pub struct Site {
    /// By the time from which each applied; one without a time applied before all others.
    versions: Vec<(Option<i64>, Arc<File>)>,
}

impl Site {
    /// A site that always had this file.
    pub fn always(file: Arc<File>) -> Self {
        Self { versions: vec![(None, file)] }
    }

    /// A site whose file changed: each with the second from which it applied. One without a time applied
    /// before the others.
    ///
    /// # Errors
    /// The name of a file that applies from the same second on as another.
    pub fn changing(mut versions: Vec<(Option<i64>, Arc<File>)>) -> Result<Self, String> {
        versions.sort_by_key(|(since, _)| *since);
        match versions.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(pair[1].1.name.clone()),
            None => Ok(Self { versions }),
        }
    }

    /// Its files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Arc<File>> {
        self.versions.iter().map(|(_, file)| file)
    }

    /// The file that applied at a time, and the older ones that a crawler may still have used then, the
    /// latest first. There is none before the first file. Without a time, the last one is taken.
    pub(crate) fn at(
        &self,
        time: Option<i64>,
    ) -> Option<(&Arc<File>, impl Iterator<Item = &Arc<File>>)> {
        let holds =
            |since: Option<i64>| time.is_none_or(|time| since.is_none_or(|since| since <= time));
        let place = self.versions.iter().rposition(|(since, _)| holds(*since))?;
        let is_recent =
            move |since: Option<i64>| since.zip(time).is_some_and(|(since, time)| time - since < DAY);
        let versions = &self.versions[..=place];
        // A version may still be in use as long as the one after it is recent.
        let older = versions.windows(2).rev().take_while(move |pair| is_recent(pair[1].0));
        Some((&versions[place].1, older.map(|pair| &pair[0].1)))
    }
}

/// Finds the files of a host. An implementation may read and fetch; the audit itself does not.
pub trait Sites: Send + Sync {
    /// The site of a host, which is in lower case and has its port if that is neither 80 nor 443; none if its
    /// file is not known.
    fn site(&self, host: &str) -> Option<Arc<Site>>;

    /// The one site of all requests, if hosts do not matter.
    fn only(&self) -> Option<Arc<Site>> {
        None
    }

    /// All files that have been given out.
    fn files(&self) -> Vec<Arc<File>>;
}

/// One site for every request, whatever its host.
#[derive(Debug)]
pub struct OneSite(Arc<Site>);

impl OneSite {
    /// This site.
    pub fn new(site: Site) -> Self {
        Self(Arc::new(site))
    }
}

impl Sites for OneSite {
    fn site(&self, _: &str) -> Option<Arc<Site>> {
        self.only()
    }

    fn only(&self) -> Option<Arc<Site>> {
        Some(Arc::clone(&self.0))
    }

    fn files(&self) -> Vec<Arc<File>> {
        self.0.files().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> Arc<File> {
        File::read(name, text.as_bytes().to_vec(), &ReadOptions::default())
    }

    #[test]
    fn the_file_that_held_and_those_still_in_use() {
        let site = Site::changing(vec![
            (Some(10 * DAY), file("c", "")),
            (None, file("a", "")),
            (Some(10 * DAY - 100), file("b", "")),
        ])
        .expect("times differ");
        let at = |time: Option<i64>| {
            let (file, older) = site.at(time).expect("there is one");
            let older: Vec<_> = older.map(|file| &*file.name).collect();
            format!("{} {}", file.name, older.join(""))
        };
        assert_eq!(at(Some(0)), "a ");
        assert_eq!(at(Some(10 * DAY - 101)), "a ");
        assert_eq!(at(Some(10 * DAY - 100)), "b a");
        assert_eq!(at(Some(10 * DAY)), "c ba");
        assert_eq!(at(Some(11 * DAY - 101)), "c ba");
        assert_eq!(at(Some(11 * DAY - 100)), "c b");
        assert_eq!(at(Some(11 * DAY - 1)), "c b");
        assert_eq!(at(Some(11 * DAY)), "c ");
        assert_eq!(at(None), "c ");
        let late = Site::changing(vec![(Some(5), file("x", ""))]).expect("one");
        assert!(late.at(Some(4)).is_none());
        assert!(Site::changing(vec![(Some(5), file("x", "")), (Some(5), file("y", ""))]).is_err());
    }
}

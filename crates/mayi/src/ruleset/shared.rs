//! Many crawlers of one file → their rules, prepared once for all crawlers that get the same groups.
//!
//! A log or a table can name thousands of crawlers, and a file can have tens of thousands of rules: prepared for each
//! crawler, they would take thousands of times the time and the memory of the file. Most crawlers get the groups of `*`, or
//! others that they share, and are given the same rules.
//!
//! But a file can also be written so that each of its crawlers gets a large group that all of them share and a small one
//! that is its own. So only some such combinations of groups are ranked together, which is quickest to decide by. For the
//! rest each group is ranked by itself, once for all crawlers, and the most specific rule of all groups decides. Then what
//! is prepared takes a few times the memory of the file at most, however many crawlers there are.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{CrawlerRules, Ranked};
use crate::access::SiteFile;
use crate::crawler::Crawler;
use crate::robots_txt::RobotsTxt;
use crate::selection::{GroupsByName, Named, Selection};
use crate::span::LineNumber;
use crate::uses::{UsesOfApplications, UsesOfGroups, WantedDirectives};

/// Combinations of groups are ranked together until all that is prepared takes so many times the octets of the file, and some
/// more, or they have so many times the records of the file, and some more. After that, each group is ranked by itself.
const COMBINED: usize = 6;
const MORE_COMBINED: usize = 256 << 10;
const MORE_RECORDS: usize = 4 << 10;

/// Crawlers that the file does not name itself, but by regular expressions or purposes, are known by their groups until so
/// many times the octets of the file are used: there can be any number of them, and each can get other groups.
const KEPT: usize = 16;
const MORE_KEPT: usize = 1 << 20;

/// A crawler with at least this many groups has them ranked together in any case: to try each of them would take long.
/// A file can name only a few such crawlers.
const MANY_GROUPS: usize = 1_024;
/// The same as a part of the group-start lines, for files of millions of lines.
const MANY_OF_STARTS: usize = 32;

/// How many octets shared rules are expected to take for an octet of their file.
const OCTETS_OF_AN_OCTET: usize = 4;

/// The rules of many crawlers of one file, for all threads. Crawlers that get the same groups share them.
///
/// ```
/// use mayi::access::SiteFile;
/// use mayi::{Crawler, ReadOptions, RulesByGroups};
///
/// let file = b"User-agent: *\nDisallow: /a\n".to_vec();
/// let rules = RulesByGroups::new(SiteFile::read(file, &ReadOptions::default()));
/// let one = rules.for_crawler(&Crawler::new("OneBot")?);
/// let octets = rules.octets();
/// let other = rules.for_crawler(&Crawler::new("OtherBot")?);
/// assert_eq!((one.len(), other.len()), (1, 1));
/// assert_eq!(rules.octets(), octets);
/// assert!(rules.expected_octets() > 0);
/// # Ok::<(), mayi::InvalidProductToken>(())
/// ```
#[derive(Debug)]
pub struct RulesByGroups {
    file: SiteFile<'static>,
    shared: Mutex<SharedRules>,
}

/// The names of applications, and the lines that name their product tokens.
type ApplicationsKey = (Vec<String>, Vec<Option<Named>>);

/// The same for a file that somebody else keeps. It is of one file: groups are known by the places of their records.
#[derive(Default)]
pub(crate) struct SharedRules {
    /// From the first crawler on.
    groups: Option<GroupsByName>,
    /// What applies to crawlers, by the lines that name them; none of them names some.
    crawlers: HashMap<Option<Named>, CrawlerRules>,
    /// The groups that lines start, for those who ask for more than rules.
    selections: HashMap<Named, Arc<Selection>>,
    /// What groups say about uses, by the lines that start them.
    uses: HashMap<Option<Named>, Arc<UsesOfGroups>>,
    /// What is said to applications about uses, by their names and the lines of their product tokens.
    uses_of_applications: HashMap<ApplicationsKey, Arc<UsesOfApplications>>,
    /// Rules that are ranked together, by the records of their groups.
    ranked: HashMap<Vec<Range<usize>>, Arc<Ranked>>,
    /// How many records the groups have that are ranked together with others.
    combined: usize,
    octets: usize,
}

impl RulesByGroups {
    /// Nothing is prepared yet.
    pub fn new(file: SiteFile<'static>) -> Self {
        Self { file, shared: Mutex::default() }
    }

    /// The file, or why there is none.
    pub fn file(&self) -> &SiteFile<'static> {
        &self.file
    }

    /// The rules of a crawler, as [`SiteFile::for_crawler`] prepares them.
    pub fn for_crawler(&self, crawler: &Crawler) -> CrawlerRules {
        match self.file.robots_txt() {
            Some(robots) => self.shared().for_crawler(robots, crawler),
            None => self.file.for_crawler(crawler),
        }
    }

    /// The same with the lines that name the crawler, if some do. None if there is no file.
    #[cfg(feature = "report")]
    pub(crate) fn with_lines(&self, crawler: &Crawler) -> (Option<Named>, CrawlerRules) {
        match self.file.robots_txt() {
            Some(robots) => self.shared().with_lines(robots, crawler),
            None => (None, self.file.for_crawler(crawler)),
        }
    }

    /// The groups of a crawler, if it has any, and what these groups and those of its applications say about uses.
    pub(crate) fn prepared_uses(
        &self,
        crawler: &Crawler,
    ) -> (Option<Arc<Selection>>, Arc<UsesOfGroups>, Arc<UsesOfApplications>) {
        let Some(robots) = self.file.robots_txt() else { return Default::default() };
        let mut shared = self.shared();
        let named = shared.groups(robots).select(robots, crawler);
        let selection = named.as_ref().map(|named| shared.selection(robots, named));
        let of_groups = shared.uses_of_groups(robots, named, selection.as_deref());
        let of_applications = shared.uses_of_applications(robots, crawler);
        (selection, of_groups, of_applications)
    }

    /// The groups that these lines start.
    #[cfg(feature = "report")]
    pub(crate) fn selection(&self, named: &Named) -> Option<Arc<Selection>> {
        let robots = self.file.robots_txt()?;
        Some(self.shared().selection(robots, named))
    }

    /// The same unless it takes more than so many units of work to find out which groups are for the crawler. A unit is
    /// some 40 instructions. A crawler that the file names is found in a few. But all of its regular expressions
    /// (AIA-2) are tried for one that it does not name: a file can have thousands, and a log can name thousands of crawlers.
    ///
    /// ```
    /// use mayi::access::SiteFile;
    /// use mayi::{Crawler, ReadOptions, RulesByGroups};
    ///
    /// let file = format!("{}User-agent: OneBot\nDisallow: /a\n", "User-agent: .*-ai$\n".repeat(1_000));
    /// let rules = RulesByGroups::new(SiteFile::read(file.into_bytes(), &ReadOptions::default()));
    /// assert!(rules.for_crawler_within(10_000, &Crawler::new("OneBot")?).is_some());
    /// assert!(rules.for_crawler_within(10_000, &Crawler::new("OtherBot")?).is_none());
    /// # Ok::<(), mayi::InvalidProductToken>(())
    /// ```
    pub fn for_crawler_within(&self, units: usize, crawler: &Crawler) -> Option<CrawlerRules> {
        if let Some(robots) = self.file.robots_txt()
            && self.shared().groups(robots).cost(robots, crawler, units) > units
        {
            return None;
        }
        Some(self.for_crawler(crawler))
    }

    /// Whether it takes no more than so many units of work to find out which groups are for the crawler and for its
    /// applications.
    pub(crate) fn finds_groups_of_uses_within(&self, units: usize, crawler: &Crawler) -> bool {
        let Some(robots) = self.file.robots_txt() else { return true };
        let mut shared = self.shared();
        let groups = shared.groups(robots);
        let wanted = WantedDirectives::of(robots, crawler);
        let left = units.checked_sub(groups.cost(robots, crawler, units));
        let after_application =
            |left: usize, token| left.checked_sub(groups.cost_for_application(robots, token, left));
        left.is_some_and(|left| wanted.tokens().try_fold(left, after_application).is_some())
    }

    /// About how many octets of memory the shared rules take.
    pub fn octets(&self) -> usize {
        self.shared().octets
    }

    /// About how many octets of memory the file and the shared rules will take, for a cache that has to know that in
    /// advance. It is more than usual. With files that are made for it, it can be three times as much.
    pub fn expected_octets(&self) -> usize {
        let text = self.file.robots_txt().map_or(0, |robots| robots.text().len());
        size_of::<Self>() + self.file.octets_in_memory() + OCTETS_OF_AN_OCTET * text
    }

    fn shared(&self) -> MutexGuard<'_, SharedRules> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedRules {
    pub(crate) fn for_crawler(&mut self, robots: &RobotsTxt<'_>, crawler: &Crawler) -> CrawlerRules {
        self.with_lines(robots, crawler).1
    }

    /// The lines that name a crawler, and the rules of their groups.
    fn with_lines(
        &mut self,
        robots: &RobotsTxt<'_>,
        crawler: &Crawler,
    ) -> (Option<Named>, CrawlerRules) {
        let named = self.groups(robots).select(robots, crawler);
        if let Some(rules) = self.crawlers.get(&named) {
            return (named, rules.clone());
        }
        let rules = match &named {
            Some(named) => self.prepare(robots, named),
            None => CrawlerRules::without_group(robots),
        };
        let lines = named.as_ref().map_or(0, Named::octets);
        let octets = size_of::<(Option<Named>, CrawlerRules)>() + lines + rules.own_octets();
        if lines == 0 || self.may_keep(robots, octets) {
            self.octets += octets;
            self.crawlers.insert(named.clone(), rules.clone());
        }
        (named, rules)
    }

    /// The groups that these lines start.
    fn selection(&mut self, robots: &RobotsTxt<'_>, named: &Named) -> Arc<Selection> {
        if let Some(selection) = self.selections.get(named) {
            return Arc::clone(selection);
        }
        let selection = Arc::new(self.groups(robots).selection(robots, named));
        let octets = size_of::<(Named, Selection)>() + named.octets() + selection.octets();
        if self.may_keep(robots, octets) {
            self.octets += octets;
            self.selections.insert(named.clone(), Arc::clone(&selection));
        }
        selection
    }

    /// What the groups that these lines start say about uses.
    fn uses_of_groups(
        &mut self,
        robots: &RobotsTxt<'_>,
        named: Option<Named>,
        selection: Option<&Selection>,
    ) -> Arc<UsesOfGroups> {
        if let Some(uses) = self.uses.get(&named) {
            return Arc::clone(uses);
        }
        let uses = Arc::new(UsesOfGroups::of(robots, selection));
        let lines = named.as_ref().map_or(0, Named::octets);
        let octets = size_of::<(Option<Named>, Arc<UsesOfGroups>)>() + lines + uses.octets();
        if lines == 0 || self.may_keep(robots, octets) {
            self.octets += octets;
            self.uses.insert(named, Arc::clone(&uses));
        }
        uses
    }

    /// What is said about uses to the applications of a crawler.
    fn uses_of_applications(
        &mut self,
        robots: &RobotsTxt<'_>,
        crawler: &Crawler,
    ) -> Arc<UsesOfApplications> {
        if crawler.applications().next().is_none() {
            return Arc::default();
        }
        let wanted = WantedDirectives::of(robots, crawler);
        let groups = self.groups(robots);
        let named = wanted.tokens().map(|token| groups.select_for_application(robots, token));
        let key = (crawler.applications().map(str::to_owned).collect(), named.collect());
        if let Some(uses) = self.uses_of_applications.get(&key) {
            return Arc::clone(uses);
        }
        let (applications, named): &ApplicationsKey = &key;
        let selection = |named: &Option<Named>| Some(self.selection(robots, named.as_ref()?));
        let selections: Vec<_> = named.iter().map(selection).collect();
        let uses = Arc::new(wanted.read(robots, &selections));
        let of_names: usize = applications.iter().map(|name| size_of::<String>() + name.len()).sum();
        let of_lines = named.iter().flatten().map(|named| size_of::<Named>() + named.octets());
        let octets = size_of_val(&key) + of_names + of_lines.sum::<usize>() + uses.octets();
        if self.may_keep(robots, octets) {
            self.octets += octets;
            self.uses_of_applications.insert(key, Arc::clone(&uses));
        }
        uses
    }

    /// Whether so many octets more may be kept of what depends on the lines that name a crawler.
    fn may_keep(&self, robots: &RobotsTxt<'_>, octets: usize) -> bool {
        self.octets + octets <= KEPT * robots.text().len() + MORE_KEPT
    }

    #[cfg(feature = "lint")]
    pub(crate) fn octets(&self) -> usize {
        self.octets
    }

    fn groups(&mut self, robots: &RobotsTxt<'_>) -> &GroupsByName {
        self.groups.get_or_insert_with(|| {
            let groups = GroupsByName::of(robots);
            self.octets += groups.octets();
            groups
        })
    }

    /// The rules of the groups that these lines start.
    fn prepare(&mut self, robots: &RobotsTxt<'_>, named: &Named) -> CrawlerRules {
        let all = self.groups(robots);
        let (lines, groups) = (all.lines(robots, named), all.groups(robots, named));
        let is_many = groups.len() >= MANY_GROUPS.max(all.len() / MANY_OF_STARTS);
        let is_one_of_few = !matches!(named, Named::Lines(..));
        let ranked = if groups.len() < 2 || self.may_combine(robots) || is_many && is_one_of_few {
            self.combined += groups.iter().map(|(_, records)| records.len()).sum::<usize>();
            vec![self.ranked(robots, &groups)]
        } else {
            groups.iter().map(|group| self.ranked(robots, std::slice::from_ref(group))).collect()
        };
        let mut ranked = ranked.into_iter();
        let first = ranked.next().unwrap_or_default();
        CrawlerRules::of_ranked(robots, (named.by(), lines), first, ranked.collect())
    }

    /// Whether more combinations of groups may be ranked together.
    fn may_combine(&self, robots: &RobotsTxt<'_>) -> bool {
        self.octets <= COMBINED * robots.text().len() + MORE_COMBINED
            && self.combined <= COMBINED * robots.records().len() + MORE_RECORDS
    }

    /// The rules of these groups, ranked together.
    fn ranked(&mut self, robots: &RobotsTxt<'_>, groups: &[(LineNumber, Range<usize>)]) -> Arc<Ranked> {
        let records: Vec<_> = groups.iter().map(|(_, records)| records.clone()).collect();
        if let Some(ranked) = self.ranked.get(&records) {
            return Arc::clone(ranked);
        }
        let starts: Vec<_> = groups.iter().map(|(line, _)| *line).collect();
        let ranked = Arc::new(Ranked::of(robots, &records, Some(&starts)));
        self.octets += size_of_val(&*records) + ranked.octets();
        self.ranked.insert(records, Arc::clone(&ranked));
        ranked
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
    use crate::dialect::Dialect;
    use crate::robots_txt::ReadOptions;
    use crate::target::Target;

    #[test]
    fn shared_rules_decide_as_those_of_each_crawler() {
        let text = "User-agent: a\nUser-agent: b\nDisallow: /1\nUser-agent: b\nUser-agent: c\nDisallow: /2\n\
                    User-agent: *\nDisallow: /3\n";
        let file = SiteFile::read(text.as_bytes().to_vec(), &ReadOptions::default());
        let rules = RulesByGroups::new(file.clone());
        for token in ["a", "b", "c", "d", "e", "a"] {
            let crawler = Crawler::new(token).expect("a token");
            let (shared, own) = (rules.for_crawler(&crawler), file.for_crawler(&crawler));
            for path in ["/1", "/2", "/3"] {
                let target = Target::from_path(path).expect("a path");
                assert_eq!(shared.decide(&target), own.decide(&target), "{token} {path}");
            }
        }
        // Those of a, of b, of c, and of everybody else.
        let shared = rules.shared();
        assert_eq!((shared.ranked.len(), shared.crawlers.len()), (4, 4));
    }

    /// Files of a few lines, with the groups of each crawler ranked by themselves.
    #[test]
    fn every_group_by_itself_decides_the_same() {
        let lines = [
            "User-agent: a\n",
            "User-agent: b\n",
            "User-agent: [ab]$\n",
            "User-agent: *\n",
            "Disallow: /1\n",
            "Allow: /1\n",
            "Allow: /*1\n",
            "Disallow: /%31/*x\n",
            "Disallow: /1/index.html\n",
            "Allow: /1/\n",
            "Disallow:\n",
            "\n",
        ];
        let paths = ["/", "/1", "/1/", "/1/x", "/%31", "/21?1", "/1/index.html", "/robots.txt"];
        let targets = paths.map(|path| Target::from_path(path).expect("a path"));
        let crawlers = ["a", "b", "c"].map(|token| Crawler::new(token).expect("a token"));
        let mut state = 3_u32;
        let mut next = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        let mut apart = 0;
        for _ in 0..1_000 {
            let text: String = (0..2 + next(14)).map(|_| lines[next(lines.len())]).collect();
            for dialect in Dialect::ALL {
                let options = ReadOptions::default().with_dialect(dialect.clone());
                let robots = RobotsTxt::read(text.as_bytes(), &options);
                let mut shared = SharedRules { combined: usize::MAX / 2, ..SharedRules::default() };
                for crawler in &crawlers {
                    let rules = shared.for_crawler(&robots, crawler);
                    apart += usize::from(!rules.prepared.others.is_empty());
                    for target in &targets {
                        let expected = robots.decide(crawler, target);
                        assert_eq!(rules.decide(target), expected, "{}:\n{text}", dialect.name());
                    }
                }
            }
        }
        assert!(apart > 1_000, "{apart}");
    }

    /// Crawlers that share large groups and have small ones: most of their groups are not ranked together.
    #[test]
    fn groups_that_are_ranked_by_themselves_decide_the_same() {
        use std::fmt::Write as _;

        // Google's tokens have no digits.
        let letter = |number: usize| char::from(b'a' + number as u8);
        let name = |number: usize| format!("bot{}{}", letter(number / 20), letter(number % 20));
        let mut text = String::new();
        for (shared, rules) in [(0, 300), (1, 5), (2, 1)] {
            for number in 0..200 {
                writeln!(text, "User-agent: {}", name(number)).expect("a string");
            }
            for rule in 0..rules {
                let kind = if rule % 3 == 0 { "Allow" } else { "Disallow" };
                writeln!(text, "{kind}: /{}*{shared}\n{kind}: /{rule}", rule % 40).expect("a string");
            }
        }
        for number in 0..200 {
            let kind = if number % 2 == 0 { "Allow" } else { "Disallow" };
            let name = name(number);
            writeln!(text, "User-agent: {name}\n{kind}: /{number}\n{kind}: /9*0").expect("a string");
        }
        for dialect in Dialect::ALL {
            let options = ReadOptions::default().with_dialect(dialect.clone());
            let file = SiteFile::read(text.clone().into_bytes(), &options);
            let rules = RulesByGroups::new(file.clone());
            let mut apart = 0;
            for number in 0..200 {
                let crawler = Crawler::new(&name(number)).expect("a token");
                let (shared, own) = (rules.for_crawler(&crawler), file.for_crawler(&crawler));
                assert_eq!(shared.len(), own.len());
                apart += usize::from(!shared.prepared.others.is_empty());
                for path in ["/1", "/10", "/90", "/92", "/150/0", "/31/2", "/x", "/robots.txt"] {
                    let target = Target::from_path(path).expect("a path");
                    let seen = shared.decide(&target);
                    assert_eq!(seen, own.decide(&target), "{number} {path} {}", dialect.name());
                }
            }
            assert!(apart > 100, "{apart} {}", dialect.name());
            let most = 2 * COMBINED * text.len() + MORE_COMBINED;
            assert!(rules.octets() < most, "{} octets, more than {most}", rules.octets());
        }
    }
}

//! The rules that apply to one crawler, prepared for many decisions.
//!
//! Rules are ranked once: the most octets first, allow before disallow, then file order. The answer is
//! the matching rule of the lowest rank (REP-8), so a short list is tried from the top and the first
//! match wins. A long one has an index that names the few rules worth trying.

mod heads;
mod index;
mod packed;
mod paths;
mod rule;
mod shared;

pub(crate) use paths::RankedPaths;
pub use shared::RulesByGroups;
#[cfg(feature = "lint")]
pub(crate) use shared::SharedRules;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use self::heads::Heads;
use self::index::Index;
use self::packed::Place;
use self::rule::{Found, Rules, RulesBuilder};
use crate::crawler::Crawler;
use crate::decision::{ChosenGroup, DecidingRule, Decision, Reason};
use crate::dialect::{Comparison, Dialect, Specificity};
use crate::directive::{Role, RuleKind};
use crate::forms::{Folds, Forms};
use crate::pattern::{PathPattern, matches, matches_one_of, octets_matched, other_patterns};
use crate::robots_txt::{Record, RecordLines, RobotsTxt};
use crate::selection::{GroupBy, Selection, select};
use crate::span::{LineNumber, Span};
use crate::target::Target;

/// The rules of a file that apply to one crawler: `robots.for_crawler(&crawler)`.
///
/// It borrows nothing, is cheap to clone (one pointer), and can be used from any thread through `&self`.
///
/// ```
/// use mayi::{Crawler, RobotsTxt, Target};
///
/// let robots = RobotsTxt::parse(b"User-agent: *\nDisallow: /*.pdf$\n");
/// let rules = robots.for_crawler(&Crawler::new("ExampleBot")?);
/// drop(robots);
/// let shared = rules.clone();
/// std::thread::spawn(move || {
///     let target = Target::parse("https://example.com/a.pdf").expect("a good URL");
///     assert!(!shared.decide(&target).is_allowed());
/// });
/// # Ok::<(), mayi::InvalidProductToken>(())
/// ```
#[derive(Clone)]
pub struct CrawlerRules {
    prepared: Arc<PreparedRules>,
}

struct PreparedRules {
    /// The properties that matter of the dialect that the file was read in.
    dialect: &'static str,
    comparison: Comparison,
    specificity: Specificity,
    allows_robots_txt: bool,
    group: Option<(GroupBy, Box<[LineNumber]>)>,
    /// The reason if there is no group: none applies, or there is no file.
    without_group: Reason,
    ranked: Arc<Ranked>,
    /// The rules of further groups, where those of a crawler are not ranked together.
    others: Box<[Arc<Ranked>]>,
}

/// The rules of some groups, ranked. Crawlers that get the same groups can share them.
#[derive(Default)]
struct Ranked {
    rules: Rules,
    search: Search,
}

/// How the rules worth trying are found.
enum Search {
    /// From the top, by the first octets of each rule.
    Heads(Heads),
    /// By an index, where there are many.
    Index(Box<Index>),
}

impl Default for Search {
    fn default() -> Self {
        Self::Heads(Heads::default())
    }
}

impl Ranked {
    /// Prepares the rules of these groups. If they are given without their first records, `starts` has the lines of those.
    fn of(robots: &RobotsTxt<'_>, groups: &[Range<usize>], starts: Option<&[LineNumber]>) -> Self {
        Self::of_rules(prepare(robots, groups, starts))
    }

    fn of_rules(rules: Rules) -> Self {
        let search = match Index::new(&rules) {
            Some(index) => Search::Index(Box::new(index)),
            None => Search::Heads(Heads::new(&rules)),
        };
        Self { rules, search }
    }

    /// About how many octets of memory they take.
    fn octets(&self) -> usize {
        let search = match &self.search {
            Search::Heads(heads) => heads.octets(),
            Search::Index(index) => index.octets(),
        };
        size_of::<Self>() + self.rules.octets() + search
    }
}

impl RobotsTxt<'_> {
    /// Selects and prepares the rules that apply to this crawler, for many questions. What comes
    /// back borrows nothing and is cheap to clone and to share.
    pub fn for_crawler(&self, crawler: &Crawler) -> CrawlerRules {
        CrawlerRules::new(self, select(self, crawler, &mut ()).as_ref())
    }
}

impl CrawlerRules {
    /// Prepares the rules of the selected groups.
    pub(crate) fn new(robots: &RobotsTxt<'_>, selection: Option<&Selection>) -> Self {
        let Some(selection) = selection else { return Self::without_group(robots) };
        let lines = robots.lines_of(selection.starts.iter().copied()).into();
        let ranked = Ranked::of(robots, &selection.groups, None);
        Self::of_ranked(robots, (selection.by, lines), Arc::new(ranked), Box::default())
    }

    /// The rules of groups that these lines start, which have been prepared.
    fn of_ranked(
        robots: &RobotsTxt<'_>,
        group: (GroupBy, Box<[LineNumber]>),
        ranked: Arc<Ranked>,
        others: Box<[Arc<Ranked>]>,
    ) -> Self {
        let (allows_robots_txt, group) = (robots.dialect().allows_robots_txt, Some(group));
        let without_group = PreparedRules::without_group(Reason::NoGroup, robots.dialect(), ranked);
        let prepared = PreparedRules { allows_robots_txt, group, others, ..without_group };
        Self { prepared: Arc::new(prepared) }
    }

    /// What applies to a crawler that no group is for.
    fn without_group(robots: &RobotsTxt<'_>) -> Self {
        let allows_robots_txt = robots.dialect().allows_robots_txt;
        let without_group =
            PreparedRules::without_group(Reason::NoGroup, robots.dialect(), Arc::default());
        Self { prepared: Arc::new(PreparedRules { allows_robots_txt, ..without_group }) }
    }

    /// What applies to every crawler if there is no file, for this reason. robots.txt itself may always be
    /// fetched (REP-10).
    pub(crate) fn without_file(reason: Reason, dialect: &Dialect) -> Self {
        Self { prepared: Arc::new(PreparedRules::without_group(reason, dialect, Arc::default())) }
    }

    /// About how many octets of memory they take.
    pub fn octets(&self) -> usize {
        self.own_octets() + self.prepared.all_ranked().map(Ranked::octets).sum::<usize>()
    }

    /// The same without what can be shared.
    fn own_octets(&self) -> usize {
        let lines = self.prepared.group.as_ref().map_or(0, |(_, lines)| size_of_val(&**lines));
        size_of::<PreparedRules>() + lines + size_of_val(&*self.prepared.others)
    }

    /// May the crawler fetch this target?
    pub fn decide(&self, target: &Target<'_>) -> Decision<'_> {
        self.decide_watched(target, |_| ())
    }

    /// The same, and what it cost in units of work, for those who ask very often.
    pub(crate) fn decide_counted(&self, target: &Target<'_>) -> (Decision<'_>, usize) {
        let tried = std::cell::Cell::new(0);
        let decision = self.decide_watched(target, |octets| tried.set(tried.get() + 3 + octets / 4));
        (decision, 40 + 3 * target.url().len() + tried.get())
    }

    /// Decides, and tells how many octets are looked at for each rule that is tried.
    fn decide_watched(&self, target: &Target<'_>, tried: impl Fn(usize)) -> Decision<'_> {
        let prepared = &*self.prepared;
        if prepared.allows_robots_txt && target.is_robots_txt() {
            return Decision::without_group(Reason::RobotsTxt);
        }
        let Some((by, lines)) = &prepared.group else {
            return Decision::without_group(prepared.without_group);
        };
        let group = ChosenGroup { by: *by, lines: Cow::Borrowed(lines) };
        Decision::of_group(group, prepared.most_specific(target, tried))
    }

    /// How many rules there are to try.
    pub fn len(&self) -> usize {
        self.prepared.all_ranked().map(|ranked| ranked.rules.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for CrawlerRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CrawlerRules")
            .field("by", &self.prepared.group.as_ref().map(|(by, _)| by))
            .field("rules", &self.len())
            .field("dialect", &self.prepared.dialect)
            .finish()
    }
}

impl PreparedRules {
    /// What applies if there is no group, for this reason.
    fn without_group(reason: Reason, dialect: &Dialect, ranked: Arc<Ranked>) -> Self {
        Self {
            dialect: dialect.name(),
            comparison: dialect.comparison,
            specificity: dialect.specificity,
            allows_robots_txt: true,
            group: None,
            without_group: reason,
            ranked,
            others: Box::default(),
        }
    }

    fn all_ranked(&self) -> impl Iterator<Item = &Ranked> {
        std::iter::once(&self.ranked).chain(&self.others).map(|ranked| &**ranked)
    }

    fn most_specific(&self, target: &Target<'_>, tried: impl Fn(usize)) -> Option<DecidingRule<'_>> {
        let forms = Forms::of(target, self.comparison);
        if !self.others.is_empty() {
            return self.most_specific_of_all(&forms, tried);
        }
        self.ranked.most_specific(self.specificity, &forms, &tried)
    }

    /// The same where groups are ranked each by itself.
    #[cold]
    fn most_specific_of_all(
        &self,
        forms: &Forms<'_>,
        tried: impl Fn(usize),
    ) -> Option<DecidingRule<'_>> {
        let each = self.all_ranked().filter_map(|ranked| {
            tried(forms.text().len());
            ranked.most_specific(self.specificity, forms, &tried)
        });
        each.min_by_key(|rule| (Reverse(rule.octets), rule.kind, rule.span.start))
    }
}

impl Ranked {
    /// The rule that decides about a target.
    #[inline]
    fn most_specific(
        &self,
        specificity: Specificity,
        forms: &Forms<'_>,
        tried: &impl Fn(usize),
    ) -> Option<DecidingRule<'_>> {
        if specificity == Specificity::Matched {
            return self.longest_match(forms, tried);
        }
        // Each rule is compared with the form that it asks for; nearly always that is one and the same.
        let mut rank = self.rules.len();
        for folds in forms.that_matter(self.rules.folds()).subsets() {
            rank = self.rank_of_match(forms, folds, rank, tried);
        }
        let found = self.rules.found(rank)?;
        let octets = found.octets as usize;
        Some(deciding(found, octets))
    }

    /// The rule that matches the most octets of the target, in a dialect in which those decide. They are not known
    /// before the target is, so that all rules are tried.
    fn longest_match(&self, forms: &Forms<'_>, tried: &impl Fn(usize)) -> Option<DecidingRule<'_>> {
        let text = forms.text();
        let matching =
            (0..self.rules.len()).filter(|rank| self.is_match(*rank, forms, Folds::NONE, text, tried));
        let found = matching.filter_map(|rank| {
            let (found, rule) = (self.rules.found(rank)?, self.rules.compared(rank));
            Some((octets_matched(found.octets as usize, rule.body, rule.shape, forms), found))
        });
        let (octets, found) =
            found.min_by_key(|(octets, found)| (Reverse(*octets), found.kind, found.start))?;
        Some(deciding(found, octets))
    }

    /// The rank of the first rule that is compared with this form, matches it and goes before `best`,
    /// or else `best`.
    fn rank_of_match(
        &self,
        forms: &Forms<'_>,
        folds: Folds,
        best: usize,
        tried: &impl Fn(usize),
    ) -> usize {
        let text = forms.folded(folds).octets();
        match &self.search {
            Search::Heads(heads) => {
                let is_match = |rank| self.is_match(rank, forms, folds, text, tried);
                heads.first_match(text, forms.signs(), best, is_match)
            }
            Search::Index(index) => {
                let first_match = |octets: &[u8], best: usize| {
                    let is_match = |rank| self.is_match(rank, forms, folds, text, tried);
                    index.first_match(octets, best, is_match)
                };
                let best = first_match(text, best);
                if !folds.has(Folds::QUERY) {
                    return best;
                }
                // The index may know a rule by what is before its `?`, which is in this form.
                first_match(forms.folded(folds.without(Folds::QUERY)).octets(), best)
            }
        }
    }

    /// Whether the rule at this rank is compared with this form, whose octets are `text`, and matches it.
    /// It is always inlined: most rules that are tried are plain prefixes, and a call would cost as much as
    /// the comparison.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn is_match(
        &self,
        rank: usize,
        forms: &Forms<'_>,
        folds: Folds,
        text: &[u8],
        tried: &impl Fn(usize),
    ) -> bool {
        if let Some(prefix) = self.rules.plain_prefix(rank, forms.folds()) {
            tried(prefix.len());
            return folds == Folds::NONE && text.starts_with(prefix);
        }
        let rule = self.rules.compared(rank);
        tried(rule.body.len() + if rule.shape.has_wildcard() { text.len() } else { 0 });
        if forms.that_matter(rule.folds) != folds {
            return false;
        }
        if folds == Folds::NONE {
            return matches(rule.body, rule.shape, forms.folded(folds));
        }
        matches_one_of(rule.body, rule.shape, rule.folds, forms)
    }
}

/// A rule that was found to decide, by so many octets.
fn deciding(found: Found<'_>, octets: usize) -> DecidingRule<'_> {
    let span = Span { start: found.start, end: found.start + found.pattern.len() as u32 };
    DecidingRule { kind: found.kind, pattern: found.pattern, octets, line: found.line, span }
}

/// Reads the patterns of these groups, in file order. Rules that can never match are left out: their
/// only effect is that the group has rules.
fn prepare(robots: &RobotsTxt<'_>, groups: &[Range<usize>], starts: Option<&[LineNumber]>) -> Rules {
    let dialect = robots.dialect();
    let groups = || groups.iter().cloned();
    let count = groups().map(|group| group.len()).sum();
    let octets = groups().map(|group| robots.octets_of_values(group)).sum();
    let mut rules = RulesBuilder::new(count, octets);
    // A rule with further patterns is more than its text.
    let has_other_patterns = dialect.has_other_patterns(RuleKind::Allow);
    let is_text = dialect.comparison == Comparison::Normalised && !has_other_patterns;
    let mut lines = robots.record_lines();
    for (place, group) in groups().enumerate() {
        if let Some(line) = starts.and_then(|starts| starts.get(place)) {
            // Two groups can be far apart, and the lines between them are not counted again for each crawler.
            lines = RecordLines::behind(robots, group.start - 1, *line);
        }
        let records = lines.of_records(group);
        if is_text {
            add_texts(&mut rules, robots, records);
        } else {
            add_patterns(&mut rules, robots, records);
        }
    }
    rules.finish()
}

/// Adds the rules among these records where each is the text of its pattern. Nearly all rules of nearly all files
/// pass through here, so that it is a loop of its own.
#[inline(never)]
fn add_texts(
    rules: &mut RulesBuilder,
    robots: &RobotsTxt<'_>,
    records: impl Iterator<Item = (Record, LineNumber)>,
) {
    for (record, line) in records {
        let Role::Rule(kind) = record.role() else { continue };
        let range = robots.range(record);
        // REP-9
        if !range.is_empty() {
            rules.add(kind, robots.text(), range, line);
        }
    }
}

/// Adds the rules among these records where a rule may have other patterns beside its own, or be compared in another
/// way than most.
fn add_patterns(
    rules: &mut RulesBuilder,
    robots: &RobotsTxt<'_>,
    records: impl Iterator<Item = (Record, LineNumber)>,
) {
    let dialect = robots.dialect();
    for (record, line) in records {
        let Role::Rule(kind) = record.role() else { continue };
        let place = Place { start: record.start(), line };
        let value = robots.value(record);
        let pattern = PathPattern::read(value, dialect.comparison);
        if pattern.normalised().is_empty() {
            continue; // REP-9, or the dialect takes it for no rule
        }
        rules.add_pattern(kind, value, &pattern, place);
        if dialect.has_other_patterns(kind) {
            for other in other_patterns(kind, pattern.normalised(), dialect) {
                let pattern = PathPattern::read(&other, dialect.comparison);
                rules.add_pattern(kind, value, &pattern, place);
            }
        }
    }
}

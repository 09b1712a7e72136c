//! Two files → what changed in meaning: for which crawlers, which patterns, by which lines, with an
//! example URL for each.
//!
//! Every example was decided in both files, so every change that is shown is real. If no example is found
//! for rules that only one file has, the files are called the same only if it is proved that these rules
//! decide nothing or are rules of the other file in another spelling. In all other cases the result is
//! unproved. So a search that misses an example never turns a change into "the same".
//!
//! Which rules and records a crawler gets depends only on its groups in the two files. So readers with the
//! same groups in both are merged and compared once, however many names a file has.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::parts::{self, PartChange};
use super::readers::{self, Reader, Readers, RegexGroups};
use super::rules::{EffectiveRule, Rules, Standing, differ_in_idle_rules, overlap, rules_of};
use super::{Grounds, RuleAt, witness};
use crate::dialect::Naming;
use crate::directive::APP_DIRECTIVES;
use crate::robots_txt::{ReadOptions, RobotsTxt};
use crate::ruleset::CrawlerRules;
use crate::selection::{Selection, cost_of_selecting, select, select_for_application};
use crate::target::Target;
use crate::work::{Spent, Work};

/// What changed from one file to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Diff {
    /// The dialect that both were read in.
    pub dialect: Cow<'static, str>,
    /// Whether the files mean the same.
    pub meaning: Meaning,
    /// Whether their texts are the same, so that nothing can have changed.
    pub same_text: bool,
    /// What changed for crawlers; crawlers with the same changes are together.
    pub crawlers: Vec<ReaderDiff>,
    /// What changed for the file as a whole: sitemaps and the like.
    pub file: Vec<PartChange>,
    /// Regular expressions of group-start lines that lead to other rules or records than before. The crawlers that
    /// they match can't be listed; one of them is among the crawlers, if one was found.
    pub regexes: Vec<String>,
    /// How many crawlers were compared: those that either file names, and one that neither names.
    pub asked: usize,
    /// How many more are named.
    pub left_out: usize,
    /// What it cost beyond reading the files.
    #[serde(skip)]
    pub spent: Spent,
}

/// Whether two files mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Meaning {
    /// They mean the same, for every crawler and every URL.
    Same,
    /// They do not mean the same; the changes show it.
    Changed,
    /// Rules changed, and no URL was found that is decided differently by them; there may be one.
    Unproved,
}

/// What changed for some crawlers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReaderDiff {
    /// The crawlers: product tokens, `*` for those that neither file names, purposes.
    pub crawlers: Vec<String>,
    /// Patterns that became allowed or disallowed, the shortest first.
    pub changes: Vec<Change>,
    /// How many there are; no more than a thousand are listed.
    pub change_count: usize,
    /// What changed apart from access.
    pub records: Vec<PartChange>,
    /// Rules that only one of the files has, where no URL was found that they decide differently, and it
    /// is not proved that there is none.
    pub unproved: Vec<RuleAt>,
}

/// A pattern that became allowed or disallowed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Change {
    /// What it became.
    pub became: Became,
    /// The rule that was added or removed, from the file that has it.
    pub pattern: String,
    /// The path and query of a URL that is decided differently now.
    pub example: String,
    /// What the decision of the old file is based on.
    pub old: Grounds,
    /// What the decision of the new file is based on.
    pub new: Grounds,
}

/// What a pattern became.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Became {
    /// It may be fetched now.
    Allowed,
    /// It may not be fetched any more.
    Disallowed,
}

/// How many changes are listed for a reader.
const MOST_CHANGES: usize = 1000;

/// Reports what changed in meaning from one file to another. Both must be read with the same options.
///
/// ```
/// use mayi::RobotsTxt;
/// use mayi::meaning::{Became, Meaning, diff};
///
/// let old = RobotsTxt::parse(b"User-agent: *\nDisallow: /a\n");
/// let new = RobotsTxt::parse(b"# New\nUser-Agent: *\nAllow: /a/b\nDisallow: /a\n");
/// let diff = diff(&old, &new);
/// assert_eq!(diff.meaning, Meaning::Changed);
/// let change = &diff.crawlers[0].changes[0];
/// assert_eq!((change.became, &*change.pattern, &*change.example), (Became::Allowed, "/a/b", "/a/b"));
/// assert_eq!(mayi::meaning::diff(&old, &old).meaning, Meaning::Same);
/// ```
pub fn diff(old: &RobotsTxt<'_>, new: &RobotsTxt<'_>) -> Diff {
    diff_within(old, new, &ReadOptions::default())
}

/// The same within the limits of the options ([`Limits::with_work`](crate::Limits::with_work)), and until
/// they say to stop. What is left out is not reported as unchanged.
pub fn diff_within(old: &RobotsTxt<'_>, new: &RobotsTxt<'_>, options: &ReadOptions) -> Diff {
    let work = options.work_for(old.text().len() + new.text().len());
    let regexes = Both::new(old, new, &work.share(8)).changed_regexes();
    let mut readers = Readers::of(&[old, new], &work.share(8));
    let both = Both::new(old, new, &work);
    // Readers with the same groups are merged, and so are readers with the same changes.
    let mut outcomes: IndexMap<Key, (Outcome, Vec<usize>)> = IndexMap::new();
    let mut asked = 0;
    for reader in &readers.all {
        // Readers for whom the budget is too small are left out, except for the first.
        let cost = [old, new].map(|robots| 2 * cost_of_selecting(robots, &reader.crawler));
        if !work.spend(cost.iter().sum(), "crawlers") && asked > 0 {
            break;
        }
        let selected = both.select(reader);
        let key = selected.key();
        if !outcomes.contains_key(&key) {
            if !work.spend(both.cost_of_asking(&selected), "crawlers") && asked > 0 {
                break;
            }
            let outcome = both.ask(reader, &selected);
            work.charge(4 * outcome.octets(), "crawlers");
            outcomes.insert(key.clone(), (outcome, Vec::new()));
        }
        outcomes[&key].1.push(asked);
        asked += 1;
    }
    let mut found: IndexMap<Outcome, Vec<usize>> = IndexMap::new();
    for (outcome, readers) in outcomes.into_values().filter(|(outcome, _)| !outcome.is_empty()) {
        found.entry(outcome).or_default().extend(readers);
    }
    let in_order = |(outcome, mut places): (Outcome, Vec<usize>)| {
        places.sort_unstable();
        let readers: Vec<_> = places.into_iter().map(|place| &readers.all[place]).collect();
        outcome.for_readers(&readers)
    };
    let crawlers: Vec<_> = found.into_iter().map(in_order).collect();
    readers.keep_first(asked);
    let file = parts::of_files(old, new);
    let is_change = |diff: &ReaderDiff| !diff.changes.is_empty() || !diff.records.is_empty();
    let same_text = old.text() == new.text() && old.dialect() == new.dialect();
    // Where names are compared as they are written, a crawler can send several of them: what it gets depends on
    // which there are, and in which order.
    let is_provable =
        new.dialect().naming == Naming::Token || readers::names_in(old).eq(readers::names_in(new));
    let meaning = if same_text {
        Meaning::Same
    } else if !file.is_empty() || crawlers.iter().any(is_change) {
        Meaning::Changed
    } else if crawlers.is_empty() && readers.left_out == 0 && regexes.is_empty() && is_provable {
        Meaning::Same
    } else {
        Meaning::Unproved
    };
    Diff {
        dialect: new.dialect().name().into(),
        meaning,
        same_text,
        crawlers,
        file,
        regexes,
        asked: readers.all.iter().filter(|reader| reader.is_meant).count(),
        left_out: readers.left_out,
        spent: work.done(),
    }
}

/// The two files, and what is needed again and again.
struct Both<'b, 't> {
    old: &'b RobotsTxt<'t>,
    new: &'b RobotsTxt<'t>,
    has_app_directives: bool,
    work: &'b Work,
}

/// The groups of a reader in both files.
struct Selected {
    old: Option<Selection>,
    new: Option<Selection>,
    /// Those for its applications, where they matter.
    for_applications: [Vec<Range<usize>>; 2],
}

/// What tells one reader from another.
type Key = [Vec<Range<usize>>; 4];

impl Selected {
    fn key(&self) -> Key {
        let [old_app, new_app] = self.for_applications.clone();
        [groups(self.old.as_ref()), groups(self.new.as_ref()), old_app, new_app]
    }
}

fn groups(selection: Option<&Selection>) -> Vec<Range<usize>> {
    selection.map(|selection| selection.groups.clone()).unwrap_or_default()
}

/// What changed for a reader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Outcome {
    changes: Vec<Change>,
    change_count: usize,
    records: Vec<PartChange>,
    unproved: Vec<RuleAt>,
}

impl Outcome {
    fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.records.is_empty() && self.unproved.is_empty()
    }

    /// About how many octets it takes.
    fn octets(&self) -> usize {
        let changes =
            self.changes.iter().map(|change| 300 + 2 * change.pattern.len() + change.example.len());
        let values = self.records.iter().flat_map(|part| part.removed.iter().chain(&part.added));
        let values = values.map(|value| 96 + value.value.len());
        changes.chain(values).sum::<usize>() + 64 * self.unproved.len()
    }

    fn for_readers(self, readers: &[&Reader]) -> ReaderDiff {
        let meant = readers.iter().filter(|reader| reader.is_meant);
        let mut crawlers: Vec<String> = meant.map(|reader| reader.label.clone()).collect();
        if crawlers.is_empty() {
            crawlers = readers.iter().map(|reader| reader.label.clone()).collect();
        }
        let Self { changes, change_count, records, unproved } = self;
        ReaderDiff { crawlers, changes, change_count, records, unproved }
    }
}

impl<'b, 't> Both<'b, 't> {
    fn new(old: &'b RobotsTxt<'t>, new: &'b RobotsTxt<'t>, work: &'b Work) -> Self {
        let asks = |robots: &RobotsTxt<'_>| {
            robots.non_rules().all(robots).any(|record| record.is(&APP_DIRECTIVES))
        };
        Self { old, new, has_app_directives: asks(old) || asks(new), work }
    }

    /// What it costs to collect what both files say to a reader, without the search for URLs.
    fn cost_of_asking(&self, selected: &Selected) -> usize {
        let of_file = |robots: &RobotsTxt<'_>, selection: Option<&Selection>| {
            // Content-Signal lines before all groups are for everybody.
            let records = selection.into_iter().flat_map(|selection| selection.records(robots));
            let all = robots.non_rules().before_groups(robots).chain(records);
            let of_records = all.map(|record| 100 + 2 * robots.value(record).len()).sum::<usize>();
            of_records + robots.text().len() / 16
        };
        of_file(self.old, selected.old.as_ref()) + of_file(self.new, selected.new.as_ref())
    }

    fn select(&self, reader: &Reader) -> Selected {
        let for_application = |robots: &RobotsTxt<'_>| {
            let token = reader.crawler.product_token();
            let selection = self.has_app_directives.then(|| select_for_application(robots, token));
            groups(selection.flatten().as_ref())
        };
        Selected {
            old: select(self.old, &reader.crawler, &mut ()),
            new: select(self.new, &reader.crawler, &mut ()),
            for_applications: [for_application(self.old), for_application(self.new)],
        }
    }

    fn ask(&self, reader: &Reader, selected: &Selected) -> Outcome {
        let (old, new) = (selected.old.as_ref(), selected.new.as_ref());
        let token = reader.crawler.product_token();
        let records = parts::of_reader((self.old, old), (self.new, new), token);
        let old_rules = rules_of(self.old, old);
        let new_rules = rules_of(self.new, new);
        let extra = extra(&old_rules, &new_rules);
        if extra.is_empty() {
            return Outcome { changes: Vec::new(), change_count: 0, records, unproved: Vec::new() };
        }
        let search = Search {
            old: CrawlerRules::new(self.old, selected.old.as_ref()),
            new: CrawlerRules::new(self.new, selected.new.as_ref()),
            rules: [&old_rules, &new_rules],
            filler: witness::filler(
                &old_rules.keys().chain(new_rules.keys()).map(|rule| &*rule.pattern),
            ),
            work: self.work,
        };
        let (changes, change_count) = search.changes(&extra);
        let mut unproved = Vec::new();
        let is_proved = || {
            let (old, new) = (old_rules.keys(), new_rules.keys());
            differ_in_idle_rules(old, new, self.new.dialect(), self.work)
        };
        if changes.is_empty() && !is_proved() {
            let told = |extra: &Extra<'_>| extra.at.told(extra.rule.kind);
            unproved = extra.iter().take(MOST_CHANGES).map(told).collect();
        }
        Outcome { changes, change_count, records, unproved }
    }

    /// Regular expressions whose groups differ. If a file has more than the limit, none is compared and all are listed.
    fn changed_regexes(&self) -> Vec<String> {
        let (old, new) = (RegexGroups::of(self.old), RegexGroups::of(self.new));
        let is_unproved = !self.old.regexes().all_fit() || !self.new.regexes().all_fit();
        let all: BTreeSet<_> = old.starts.keys().chain(new.starts.keys()).copied().collect();
        // Many expressions can start the same groups, which are then compared once.
        let mut known: HashMap<[&[usize]; 2], bool> = HashMap::new();
        let changed = all.into_iter().filter(|regex| {
            let (Some(of_old), Some(of_new)) = (old.starts.get(regex), new.starts.get(regex)) else {
                return true;
            };
            let is_same = || {
                let of_old = old.brought_by(of_old, self.work);
                of_old.is_some_and(|of_old| Some(of_old) == new.brought_by(of_new, self.work))
            };
            is_unproved || !*known.entry([of_old, of_new]).or_insert_with(is_same)
        });
        changed.map(|regex| String::from_utf8_lossy(regex).into_owned()).collect()
    }
}

/// The rules that only one of the files has: first the removed ones, then the added ones.
fn extra<'r>(old: &'r Rules<'r>, new: &'r Rules<'r>) -> Vec<Extra<'r>> {
    let of = |one: &'r Rules<'r>, other: &'r Rules<'r>, is_old| {
        let alone = one.iter().filter(|(rule, _)| !other.contains_key(*rule));
        alone.map(move |(rule, at)| Extra { rule, at, is_old })
    };
    of(old, new, true).chain(of(new, old, false)).collect()
}

/// A rule that only one of the files has.
#[derive(Clone, Copy)]
struct Extra<'r> {
    rule: &'r EffectiveRule<'r>,
    at: &'r Standing<'r>,
    is_old: bool,
}

/// Looks for URLs that are decided differently.
///
/// Where two files decide differently, a rule that only one of them has matches: the winner among the
/// rules of both would have won in both. So only what such rules match has to be looked at.
struct Search<'s> {
    old: CrawlerRules,
    new: CrawlerRules,
    rules: [&'s Rules<'s>; 2],
    filler: &'static str,
    work: &'s Work,
}

/// With how many rules that say the opposite a rule is combined.
const MOST_OPPOSED: usize = 64;

impl Search<'_> {
    /// What changed, the shortest patterns first and no more than are listed, and how many there are.
    fn changes(&self, extra: &[Extra<'_>]) -> (Vec<Change>, usize) {
        let mut in_order: Vec<&Extra<'_>> = extra.iter().collect();
        in_order.sort_by_key(|extra| (extra.rule.pattern.len(), &extra.rule.pattern));
        let (mut listed, mut count) = (Vec::new(), 0);
        for of_pattern in in_order.chunk_by(|one, next| one.rule.pattern == next.rule.pattern) {
            // What one pattern became is reported once.
            let mut known: Vec<Became> = Vec::new();
            for extra in of_pattern {
                let Some((path, became)) = self.change_by(**extra) else { continue };
                if known.contains(&became) {
                    continue;
                }
                known.push(became);
                count += 1;
                if listed.len() < MOST_CHANGES {
                    listed.extend(self.try_path(&path, **extra));
                }
            }
        }
        (listed, count)
    }

    /// A path that a rule decides and that is decided differently without it, and what it became.
    fn change_by(&self, extra: Extra<'_>) -> Option<(String, Became)> {
        let rule = extra.rule;
        let tried = |path: &str| self.try_path(path, extra).map(|change| change.became);
        if !self.work.spend(200 + 8 * rule.pattern.len(), "rules") {
            return None;
        }
        for path in witness::paths(&rule.pattern, self.filler) {
            if let Some(became) = tried(&path) {
                return Some((path, became));
            }
        }
        // What it says may matter only where another rule says the opposite.
        let rules = self.rules;
        // A comparison of the two takes no more than the length of the shorter one.
        let pair = 1 + rule.pattern.len() / 64;
        if !self.work.spend(rules.iter().map(|rules| pair * rules.len()).sum(), "rules") {
            return None;
        }
        let opposed = rules.iter().flat_map(|rules| rules.keys());
        let opposed = opposed.filter(|other| other.kind != rule.kind && overlap(other, rule));
        for other in opposed.take(MOST_OPPOSED) {
            // Combining the two takes a table with their lengths as its sides.
            if !self.work.spend(100 + rule.pattern.len() * other.pattern.len(), "rules") {
                return None;
            }
            let Some(path) = witness::shared_path(&rule.pattern, &other.pattern) else { continue };
            let longer = format!("{path}{}", self.filler);
            for path in [path, longer] {
                if let Some(became) = tried(&path) {
                    return Some((path, became));
                }
            }
        }
        None
    }

    fn try_path(&self, path: &str, extra: Extra<'_>) -> Option<Change> {
        let target = Target::from_path(path).ok()?;
        let ((old, cost), (new, new_cost)) =
            (self.old.decide_counted(&target), self.new.decide_counted(&target));
        self.work.charge(cost + new_cost, "rules");
        let of_its_file = if extra.is_old { &old } else { &new };
        let decides = of_its_file.rule().is_some_and(|rule| rule.line() == extra.at.line);
        if old.is_allowed() == new.is_allowed() || !decides {
            return None;
        }
        Some(Change {
            became: if new.is_allowed() { Became::Allowed } else { Became::Disallowed },
            pattern: String::from_utf8_lossy(extra.at.written).into_owned(),
            example: path.to_owned(),
            old: Grounds::of(&old),
            new: Grounds::of(&new),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Became::{Allowed, Disallowed};
    use super::*;

    fn diff_of(old: &str, new: &str) -> Diff {
        diff(&RobotsTxt::parse(old.as_bytes()), &RobotsTxt::parse(new.as_bytes()))
    }

    /// Who, what it became, and the example.
    fn changes(old: &str, new: &str) -> Vec<(String, Became, String)> {
        let diff = diff_of(old, new);
        let each = diff.crawlers.iter().flat_map(|readers| {
            let who = readers.crawlers.join(",");
            readers
                .changes
                .iter()
                .map(move |change| (who.clone(), change.became, change.example.clone()))
        });
        each.collect()
    }

    #[track_caller]
    fn check(old: &str, new: &str, expected: &[(&str, Became, &str)]) {
        let expected: Vec<_> =
            expected.iter().map(|(a, b, c)| ((*a).to_owned(), *b, (*c).to_owned())).collect();
        assert_eq!(changes(old, new), expected);
        assert_eq!(diff_of(old, new).meaning, Meaning::Changed);
    }

    #[test]
    fn patterns_that_changed() {
        check(
            "User-agent: *\nDisallow: /a\n",
            "User-agent: *\nDisallow: /b\n",
            &[("*", Allowed, "/a"), ("*", Disallowed, "/b")],
        );
        check("User-agent: *\nDisallow: /a\n", "User-agent: *\nAllow: /a\n", &[("*", Allowed, "/a")]);
        check(
            "User-agent: *\nDisallow: /\n",
            "User-agent: *\nDisallow: /*.pdf$\n",
            &[("*", Allowed, "/")],
        );
    }

    #[test]
    fn rules_that_matter_only_where_they_meet_others() {
        check(
            "User-agent: *\nDisallow: /p\nAllow: /*.css$\n",
            "User-agent: *\nDisallow: /p\n",
            &[("*", Disallowed, "/p.css")],
        );
    }

    #[test]
    fn crawlers_for_whom_the_same_changed_are_together() {
        let old = "User-agent: *\nDisallow: /a\n";
        let new = "User-agent: b\nUser-agent: c\nDisallow: /\nUser-agent: *\nDisallow: /a\n";
        check(old, new, &[("b,c", Disallowed, "/")]);
    }

    #[test]
    fn what_is_the_same() {
        for (old, new) in [
            ("", ""),
            (
                "User-agent: *\nDisallow: /b\nDisallow: /a\n",
                "# x\nuser-agent:*\nDisallow: /a\n\nUser-agent: *\nDisallow: /%62\n",
            ),
            ("User-agent: *\nDisallow: /\nDisallow: /a\n", "User-agent: *\nDisallow: /\n"),
            ("User-agent: *\nDisallow:\n", ""),
            ("User-agent: *\nDisallow: /*\n", "User-agent: *\nDisallow: /\n"),
            ("User-agent: *\nDisallow: */%3F\nDisallow: */%3F*\n", "User-agent: *\nDisallow: */%3F\n"),
            ("User-agent: *\nDisallow: */a?\n", "User-agent: *\nDisallow: */a?\nDisallow: */a?*\n"),
            ("User-agent: *\nDisallow: *\nAllow: /a$\n", "User-agent: *\nDisallow: /\nAllow: /a$\n"),
            ("User-agent: *\nDisallow: /a*$\nAllow: /b*\n", "User-agent: *\nDisallow: /a\nAllow: /b\n"),
            (
                "User-agent: *\nDisallow: /**b*\nAllow: /c\n",
                "User-agent: *\nDisallow: /*b\nAllow: /c\n",
            ),
            (
                "User-agent: a\nUser-agent: b\nDisallow: /\n",
                "User-agent: b\nDisallow: /\nUser-agent: A/2\nDisallow: /\n",
            ),
            ("User-agent: .*-ai$\nDisallow: /\n", "User-agent: .*-ai$\nDisallow: /\nDisallow: /\n"),
        ] {
            assert_eq!(diff_of(old, new).meaning, Meaning::Same, "{old} and {new}");
        }
    }

    #[test]
    fn a_wildcard_at_the_end_can_make_a_difference() {
        let with = |pattern: &str| format!("User-agent: *\nDisallow: {pattern}\nAllow: /a\n");
        check(&with("/a*"), &with("/a"), &[("*", Allowed, "/ax")]);
        let dollar = |pattern: &str| format!("User-agent: *\nDisallow: {pattern}\n");
        assert_eq!(diff_of(&dollar("/a$*"), &dollar("/a$")).meaning, Meaning::Changed);
    }

    #[test]
    fn groups_by_purpose_and_by_regular_expression() {
        check(
            "User-Agent-Purpose: EXAMPLE-PURPOSE-1\nDisallow: /a\n",
            "User-Agent-Purpose: EXAMPLE-PURPOSE-1\nDisallow: /b\n",
            &[
                ("purpose EXAMPLE-PURPOSE-1", Allowed, "/a"),
                ("purpose EXAMPLE-PURPOSE-1", Disallowed, "/b"),
            ],
        );
        let unknown =
            diff_of("User-agent: q[0-9]{3}\nAllow: /\n", "User-agent: q[0-9]{3}\nDisallow: /\n");
        assert_eq!(
            (unknown.meaning, &*unknown.regexes),
            (Meaning::Unproved, &["q[0-9]{3}".to_owned()][..])
        );
        let changed = changes("User-agent: .*-zz$\nAllow: /\n", "User-agent: .*-zz$\nDisallow: /\n");
        assert_eq!(changed, [(".*-zz$ (-zz)".to_owned(), Disallowed, "/".to_owned())]);
    }

    #[test]
    fn other_records() {
        let old = "User-agent: *\nCrawl-delay: 5\nCrawl-delay: 1\nContent-Usage: train-ai=n, search=y\nDisallow: /\nSitemap: a\nSitemap: b\n";
        let new = "User-agent: *\nCrawl-delay: 5.0\nContent-Usage: search=y,train-ai=n\nDisallow: /\nSitemap: b\nSitemap: a\n";
        assert_eq!(diff_of(old, new).meaning, Meaning::Same);
        let new = "User-agent: *\nContent-Usage: search=y\nContent-Signal: ai-train=no\nDisallow: /\nSitemap: c\nSitemap: a\n";
        let diff = diff_of(old, new);
        let of_star: Vec<_> = diff.crawlers[0].records.iter().map(|part| &*part.directive).collect();
        assert_eq!(of_star, ["Crawl-delay", "Content-Signal", "Content-Usage"]);
        assert_eq!((diff.file[0].removed[0].line, &*diff.file[0].added[0].value), (7, "c"));
        assert_eq!(diff.crawlers[0].changes, []);
    }
}

//! One file → where dialects and crawlers read it differently, pattern by pattern.
//!
//! A reading is how a crawler reads the file in a dialect. Readings that agree about every path that was tried
//! are merged; patterns in which the same readings differ are listed together.
//!
//! Every example was decided in all readings, so every difference that is shown is real. If two readings differ
//! about a URL, one of them disallows it by a rule. So only URLs that fit a pattern of the file are tried:
//! about twelve for each pattern and, where a pattern with wildcards meets another, as `/*.css$` and `/p` do in
//! `/p.css`, a URL that fits both. This is a search and not a proof: readings that differ only where three patterns
//! meet can be merged, and a file with very many patterns has more pairs than are tried.
//!
//! The rules of a reading depend only on the groups of the crawler and on how the dialect reads rules. So crawlers
//! with the same groups share one set of rules, which is prepared once and decides once about each URL.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};

use super::readers::Readers;
use super::{Grounds, witness};
use crate::crawler::ProductToken;
use crate::decision::Decision;
use crate::dialect::{Comparison as Compared, Dialect};
use crate::directive::Role;
use crate::pattern::{PathPattern, index_page_folder};
use crate::robots_txt::{ReadOptions, RobotsTxt};
use crate::ruleset::CrawlerRules;
use crate::selection::{Selection, cost_of_selecting, select};
use crate::target::Target;
use crate::work::{Spent, Work};

/// Where readings of a file differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The readings that differ, each with its crawlers. If there is only one, all crawlers have it.
    pub readings: Vec<Reading>,
    /// The patterns in which they differ.
    pub rows: Vec<DifferingPatterns>,
    /// How many patterns the file has.
    pub pattern_count: usize,
    /// How many of them were not compared, because there are very many.
    pub patterns_left_out: usize,
    /// How many crawlers are named but were not compared, because there are very many.
    pub crawlers_left_out: usize,
    /// What it cost beyond reading the file.
    #[serde(skip)]
    pub spent: Spent,
}

/// One reading, and its crawlers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reading {
    /// `A`, `B` and so on.
    pub name: String,
    /// The crawlers with this reading.
    pub of: Vec<ReadingOf>,
}

/// A crawler with this reading, and in which dialects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadingOf {
    /// Its product token, or `*` for one that is not named.
    pub crawler: String,
    /// The dialects in which it has this reading.
    pub dialects: Vec<Cow<'static, str>>,
    /// Whether those are all.
    pub every_dialect: bool,
}

/// Patterns in which the same readings differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DifferingPatterns {
    /// The patterns, in file order; no more than a hundred are listed.
    pub patterns: Vec<DifferingPattern>,
    /// How many there are.
    pub pattern_count: usize,
    /// The readings in which the examples may be fetched.
    pub may: Vec<String>,
    /// Those in which they may not.
    pub may_not: Vec<String>,
    /// What decides about the first example, reading by reading.
    pub why: Vec<ReadingGrounds>,
}

/// A pattern about which readings differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DifferingPattern {
    /// The pattern as it is written.
    pub pattern: String,
    /// The path and query of a URL about which they do.
    pub example: String,
}

/// What decides in a reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadingGrounds {
    /// The reading.
    pub reading: String,
    /// Whether the example may be fetched.
    pub allowed: bool,
    /// Why.
    pub grounds: Grounds,
}

/// How many patterns are listed in a row.
const MOST_PATTERNS: usize = 100;

/// The well-known crawlers that are compared by default.
const WELL_KNOWN: &[&str] = &["Googlebot", "Bingbot", "GPTBot", "ClaudeBot", "CCBot"];

/// Compares how crawlers and dialects read a file. Without `agents`, the crawlers are those that the file
/// names, one that it does not name, and a few well-known ones; in `agents`, `None` is the one that is not
/// named. The dialect of the options is ignored: the dialects are a separate argument.
///
/// ```
/// use mayi::meaning::compare;
/// use mayi::{Dialect, ReadOptions};
///
/// let file = b"User-agent: *\nDisallowed: /a\nDisallow: /b\nUser-agent: GPTBot\nDisallow: /\n";
/// let comparison = compare(file, &ReadOptions::default(), Dialect::BY_TOKEN, None);
/// // GPTBot, which may nothing; everyone else; and everyone else in the dialect google.
/// assert_eq!(comparison.readings.len(), 3);
/// let row = comparison.rows.iter().find(|row| row.patterns[0].pattern == "/a").expect("google reads it");
/// assert_eq!(row.may_not.len(), 2);
/// ```
pub fn compare(
    octets: &[u8],
    options: &ReadOptions,
    dialects: &[Dialect],
    agents: Option<&[Option<ProductToken>]>,
) -> Comparison {
    let mut files: Vec<RobotsTxt<'_>> = Vec::new();
    for dialect in dialects {
        let robots = RobotsTxt::read(octets, &options.clone().with_dialect(dialect.clone()));
        files.push(match files.get(first_like(dialects, dialect)) {
            Some(like) => robots.with_regexes_of(like),
            None => robots,
        });
    }
    let octets_read = files.iter().map(|robots| robots.text().len()).max().unwrap_or_default();
    let work = options.work_for(octets_read);
    let mut readers = Readers::of(&files.iter().collect::<Vec<_>>(), &work.share(8));
    match agents {
        None => {
            let known = WELL_KNOWN.iter().filter_map(|token| ProductToken::new(token).ok());
            known.for_each(|token| readers.add_token(&token));
            readers.all.retain(|reader| reader.is_meant);
        }
        Some(agents) => {
            let unnamed = readers.all.remove(0);
            readers = Readers::default();
            for agent in agents {
                match agent {
                    Some(token) => readers.add_token(token),
                    None => readers.all.push(unnamed.clone()),
                }
            }
        }
    }
    let patterns = patterns(&files);
    let asked = Readings::new(&files, &mut readers, patterns.asked, &work);
    let mut comparison = asked.compare(&readers, &work);
    comparison.pattern_count = patterns.count;
    comparison.crawlers_left_out = readers.left_out;
    comparison.spent = work.done();
    comparison
}

/// The patterns of a file as they are written, in file order, if they are rules in at least one dialect; the
/// root comes first, because every rule for everything is about it.
fn patterns<'f>(files: &'f [RobotsTxt<'_>]) -> Patterns<'f> {
    let mut patterns: IndexSet<&[u8]> = IndexSet::new();
    for robots in files {
        let is_rule = |role| matches!(role, Role::Rule(_));
        let rules = robots.records().iter().filter(|record| is_rule(record.role()));
        let values = rules.map(|record| robots.value(*record));
        patterns.extend(values.filter(|value| !value.is_empty()));
    }
    let count = patterns.len();
    patterns.shift_remove(&b"/"[..]);
    patterns.shift_insert(0, b"/");
    Patterns { asked: patterns.into_iter().collect(), count }
}

struct Patterns<'f> {
    asked: Vec<&'f [u8]>,
    /// How many the file has.
    count: usize,
}

/// Tries the paths to decide about for a pattern, the simplest first: in the forms in which dialects compare it,
/// and as it is written.
fn for_each_path(pattern: &[u8], filler: &str, mut tried: impl FnMut(String)) {
    let [written, normalised] = [Compared::AsWritten, Compared::Normalised]
        .map(|comparison| PathPattern::read(pattern, comparison).normalised().to_vec());
    let folder = index_page_folder(&written);
    let forms = [&written, &normalised].into_iter().map(Vec::as_slice);
    let forms = forms.chain(folder.as_deref()).chain([pattern]);
    let paths = witness::distinct(forms.flat_map(|form| witness::paths(form, filler)));
    // The file itself may always be fetched, whatever it says (REP-10).
    paths.filter(|path| path != "/robots.txt").for_each(&mut tried);
}

/// The answers of a file: for every reader, in every dialect.
struct Readings<'f> {
    dialects: Vec<Dialect>,
    /// The rules that differ in what they are made of.
    rules: Vec<CrawlerRules>,
    /// For each reader and dialect, which of them apply.
    held: Vec<Vec<usize>>,
    patterns: Vec<&'f [u8]>,
    filler: &'static str,
}

/// How readings differ in a pattern: whether it is allowed, and whether the pattern itself decides.
#[derive(PartialEq, Eq, Hash)]
struct Split {
    answers: Vec<bool>,
    by_itself: Vec<bool>,
}

/// The patterns in which readings differ in one way: those that are listed, and how many there are.
#[derive(Default)]
struct Parted {
    listed: Vec<DifferingPattern>,
    count: usize,
}

impl<'f> Readings<'f> {
    fn new(
        files: &[RobotsTxt<'_>],
        readers: &mut Readers,
        patterns: Vec<&'f [u8]>,
        work: &Work,
    ) -> Self {
        let dialects: Vec<_> = files.iter().map(|robots| robots.dialect().clone()).collect();
        let same_rules: Vec<_> =
            dialects.iter().map(|dialect| first_like(&dialects, dialect)).collect();
        let mut rules = Vec::new();
        let mut known: HashMap<(usize, Vec<Range<usize>>), usize> = HashMap::new();
        let mut held = Vec::new();
        // Readers for whom the budget is too small are left out, except for the first.
        let share = work.share(3);
        // So are readers for whom there is too little memory: crawlers that share a large group and have a small one each.
        let text = files.iter().map(|robots| robots.text().len()).max().unwrap_or_default();
        let most_octets = 4 * text + (2 << 20);
        let mut octets = 0;
        for reader in &readers.all {
            let cost = |robots| cost_of_selecting(robots, &reader.crawler);
            if !share.spend(files.iter().map(cost).sum(), "crawlers") && !held.is_empty() {
                break;
            }
            let mut of_reader = Vec::with_capacity(files.len());
            for (dialect, robots) in files.iter().enumerate() {
                let selection = select(robots, &reader.crawler, &mut ());
                let groups = selection.as_ref().map(|selection| selection.groups.clone());
                let key = (same_rules[dialect], groups.unwrap_or_default());
                let is_full = octets > most_octets;
                let preparing = || cost_of_preparing(robots, selection.as_ref());
                let cost = || if is_full { usize::MAX } else { preparing() };
                let place = match known.get(&key) {
                    Some(place) => *place,
                    None if share.spend(cost(), "crawlers") || held.is_empty() => {
                        rules.push(CrawlerRules::new(robots, selection.as_ref()));
                        octets += rules.last().map_or(0, CrawlerRules::octets);
                        known.insert(key, rules.len() - 1);
                        rules.len() - 1
                    }
                    None => break,
                };
                of_reader.push(place);
            }
            if of_reader.len() < files.len() {
                break;
            }
            held.push(of_reader);
        }
        readers.keep_first(held.len());
        work.account_for(&share);
        let filler = witness::filler(&patterns.iter().copied());
        Self { dialects, rules, held, patterns, filler }
    }

    fn compare(&self, readers: &Readers, work: &Work) -> Comparison {
        // Patterns are grouped by the answers of the readings and by whether the pattern itself decides, each
        // with an example. So what is reported for the first pattern of a row is true for the others.
        let mut splits: IndexMap<Split, Parted> = IndexMap::new();
        let mut left_out = 0;
        let (asking, pairs) = (work.share(2), work.share(8));
        for (place, pattern) in self.patterns.iter().enumerate() {
            // The next pattern is tried in about twelve forms, each against all rules.
            let cost = 12 * (100 + 3 * pattern.len() + self.rules.len());
            if !asking.spend(cost, "patterns") && place > 0 {
                left_out = self.patterns.len() - place;
                break;
            }
            let mut seen = HashSet::new();
            let mut tried = |path: String, is_meeting: bool| {
                let Ok(target) = Target::from_path(&path) else { return };
                let counted = self.rules.iter().map(|rules| rules.decide_counted(&target));
                let (decisions, costs): (Vec<_>, Vec<usize>) = counted.unzip();
                let cost: usize = costs.iter().sum();
                if is_meeting {
                    pairs.charge(cost.min(pairs.left() as usize), "patterns");
                } else {
                    asking.charge(cost, "patterns");
                }
                let answers: Vec<bool> = decisions.iter().map(Decision::is_allowed).collect();
                // A row is about a pattern that decides in one of the readings, or about the root.
                let decides = |decision: &Decision<'_>| {
                    decision.rule().is_some_and(|rule| rule.pattern() == *pattern)
                };
                let by_itself: Vec<bool> = decisions.iter().map(decides).collect();
                let is_about_it = by_itself.contains(&true) || place == 0 && path == "/";
                let differ = answers.iter().any(|answer| *answer != answers[0]);
                if !differ || !is_about_it || !seen.insert(answers.clone()) {
                    return;
                }
                let parted = splits.entry(Split { answers, by_itself }).or_default();
                parted.count += 1;
                if parted.listed.len() < MOST_PATTERNS {
                    let pattern = String::from_utf8_lossy(pattern).into_owned();
                    parted.listed.push(DifferingPattern { pattern, example: path });
                }
            };
            for_each_path(pattern, self.filler, |path| tried(path, false));
            self.meetings(pattern, &pairs).for_each(|path| tried(path, true));
        }
        work.account_for(&asking);
        work.account_for(&pairs);
        let (readings, rules_of_readings) = self.readings(readers, &splits);
        let mut rows = Vec::new();
        for (split, parted) in splits {
            // A row takes a decision for each reading.
            if rows.is_empty() || work.spend(100 * readings.len(), "rows") {
                rows.push(self.row(&readings, &rules_of_readings, &split.answers, parted, work));
            } else {
                left_out += parted.count;
            }
        }
        Comparison {
            readings,
            rows,
            pattern_count: self.patterns.len(),
            patterns_left_out: left_out,
            crawlers_left_out: 0,
            spent: Spent::default(),
        }
    }

    /// Paths that fit both a pattern with wildcards and another pattern, as far as there are units of work for it.
    fn meetings(&self, pattern: &'f [u8], pairs: &Work) -> impl Iterator<Item = String> {
        let is_wild = pattern.strip_suffix(b"*").unwrap_or(pattern).contains(&b'*');
        let others = self.patterns.iter().filter(move |other| is_wild && **other != pattern);
        let paths = others.map_while(move |other| {
            // Combining the two takes a table with their lengths as its sides.
            let cost = 100 + pattern.len() * other.len();
            let is_affordable = pairs.left() >= cost as u64 && pairs.spend(cost, "patterns");
            is_affordable.then(|| witness::shared_path(pattern, other))
        });
        paths.flatten()
    }

    /// The readings, in the order of their readers, and the first rules of each.
    fn readings(
        &self,
        readers: &Readers,
        splits: &IndexMap<Split, Parted>,
    ) -> (Vec<Reading>, Vec<usize>) {
        let answers_of =
            |rules: usize| -> Vec<bool> { splits.keys().map(|split| split.answers[rules]).collect() };
        let mut by_answers: HashMap<Vec<bool>, usize> = HashMap::new();
        let mut readings: Vec<Reading> = Vec::new();
        let mut rules_of_readings = Vec::new();
        let mut reading_of_rules = vec![None; self.rules.len()];
        for (reader, held) in readers.all.iter().zip(&self.held) {
            for (&rules, dialect) in held.iter().zip(&self.dialects) {
                let reading = *reading_of_rules[rules].get_or_insert_with(|| {
                    *by_answers.entry(answers_of(rules)).or_insert_with(|| {
                        readings.push(Reading { name: name_of(readings.len()), of: Vec::new() });
                        rules_of_readings.push(rules);
                        readings.len() - 1
                    })
                });
                let of = &mut readings[reading].of;
                match of.last_mut().filter(|last| last.crawler == reader.label) {
                    Some(last) => last.dialects.push(dialect.name().into()),
                    None => of.push(ReadingOf {
                        crawler: reader.label.clone(),
                        dialects: vec![dialect.name().into()],
                        every_dialect: false,
                    }),
                }
            }
        }
        for of in readings.iter_mut().flat_map(|reading| &mut reading.of) {
            of.every_dialect = of.dialects.len() == self.dialects.len();
        }
        (readings, rules_of_readings)
    }

    fn row(
        &self,
        readings: &[Reading],
        rules_of_readings: &[usize],
        answers: &[bool],
        parted: Parted,
        work: &Work,
    ) -> DifferingPatterns {
        let mut row = DifferingPatterns {
            pattern_count: parted.count,
            patterns: Vec::new(),
            may: Vec::new(),
            may_not: Vec::new(),
            why: Vec::new(),
        };
        for (reading, &rules) in readings.iter().zip(rules_of_readings) {
            let side = if answers[rules] { &mut row.may } else { &mut row.may_not };
            side.push(reading.name.clone());
            if let Ok(target) = Target::from_path(&parted.listed[0].example) {
                let (decision, cost) = self.rules[rules].decide_counted(&target);
                work.charge(cost, "rows");
                let (allowed, grounds) = (decision.is_allowed(), Grounds::of(&decision));
                row.why.push(ReadingGrounds { reading: reading.name.clone(), allowed, grounds });
            }
        }
        row.patterns = parted.listed;
        row
    }
}

/// What it costs to prepare the rules of a selection, in units of work.
fn cost_of_preparing(robots: &RobotsTxt<'_>, selection: Option<&Selection>) -> usize {
    let records = selection.into_iter().flat_map(|selection| selection.records(robots));
    records.map(|record| 50 + robots.value(record).len()).sum::<usize>() + robots.text().len() / 32
}

/// The first of the dialects that reads the rules of a group as this one does: one that differs in which
/// groups apply and in nothing else, as koster-00 differs from rfc9309.
fn first_like(dialects: &[Dialect], dialect: &Dialect) -> usize {
    let (name, summary, global_groups) = (dialect.name, dialect.summary, dialect.global_groups);
    let alike = |other: &Dialect| Dialect { name, summary, global_groups, ..other.clone() } == *dialect;
    dialects.iter().position(alike).unwrap_or_default()
}

/// `A` to `Z`, then `A1` to `Z1` and so on.
fn name_of(place: usize) -> String {
    let letter = char::from(b'A' + (place % 26) as u8);
    match place / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(file: &str) -> Comparison {
        compare(file.as_bytes(), &ReadOptions::default(), Dialect::BY_TOKEN, None)
    }

    #[test]
    fn a_file_that_all_read_alike() {
        let comparison = compared("User-agent: *\nDisallow: /a\nAllow: /a/b$\n");
        assert_eq!((comparison.rows.len(), comparison.readings.len()), (0, 1));
        assert_eq!(comparison.readings[0].of.len(), 6);
        assert!(comparison.readings[0].of.iter().all(|of| of.every_dialect));
    }

    /// Neither pattern shows the difference alone.
    #[test]
    fn readings_that_differ_where_two_patterns_meet() {
        let file = "User-agent: a\nDisallow: /p\nAllow: /*.css$\n\nUser-agent: b\nDisallow: /p\n";
        let comparison = compared(file);
        let rows = comparison.rows.iter().flat_map(|row| &row.patterns);
        let examples: Vec<_> = rows.map(|pattern| (&*pattern.pattern, &*pattern.example)).collect();
        assert!(examples.contains(&("/*.css$", "/p.css")), "{examples:?}");
        let reading_of = |token: &str| {
            let has_it = |of: &ReadingOf| of.crawler == token;
            comparison.readings.iter().position(|reading| reading.of.iter().any(has_it))
        };
        assert_ne!(reading_of("a"), reading_of("b"));
    }

    #[test]
    fn dialects_that_differ() {
        for (file, example) in [
            ("User-agent: *\nAllow: /a/index.html\nDisallow: /\n", "/a/"),
            ("User-agent: *\nDisallow: /%61\n", "/a"),
            ("User-agent: *\nDisallow: /a\nUser-agent: *\nDisallow: /b\n", "/b"),
            ("User-agent: *\nDisallow: /caf\u{e9}\n", "/caf\u{e9}"),
        ] {
            let comparison = compared(file);
            let examples: Vec<_> = comparison
                .rows
                .iter()
                .flat_map(|row| &row.patterns)
                .map(|pattern| &*pattern.example)
                .collect();
            assert!(examples.contains(&example), "{file}: {examples:?}");
        }
    }

    /// The reasons of a row are those of its first pattern, so the other patterns must have the same kind of
    /// reasons.
    #[test]
    fn patterns_that_differ_for_other_reasons_are_in_other_rows() {
        let file = "User-agent: *\nDisallow: /a\nAllow: /a/%41\nDisallowAITraining: /t\nDisallow: /b\n";
        let comparison = compared(file);
        let of: Vec<Vec<_>> = comparison
            .rows
            .iter()
            .map(|row| row.patterns.iter().map(|pattern| &*pattern.pattern).collect())
            .collect();
        assert!(of.contains(&vec!["/t"]), "{of:?}");
        let comparison = compared("User-agent: .*-ai\nDisallow: /\n");
        let mut names = comparison.readings.iter().flat_map(|reading| &reading.of);
        assert!(names.all(|of| of.crawler != "."), "{:?}", comparison.readings);
    }

    #[test]
    fn crawlers_that_differ_and_why() {
        let comparison = compared("User-agent: *\nDisallow: /a\n\nUser-agent: GPTBot\nDisallow: /\n");
        assert_eq!(comparison.readings[1].of[0].crawler, "GPTBot");
        let row = &comparison.rows[0];
        assert_eq!(
            (&*row.patterns[0].pattern, &row.may, &row.may_not),
            ("/", &vec!["A".to_owned()], &vec!["B".to_owned()])
        );
        assert_eq!(row.why[0].grounds.reason, crate::Reason::NoRule);
        assert_eq!(row.why[1].grounds.rule.as_ref().map(|rule| rule.line), Some(5));
        let only = [None, ProductToken::new("OtherBot").ok()];
        let file = b"User-agent: *\nDisallow: /a\n\nUser-agent: GPTBot\nDisallow: /\n";
        assert!(compare(file, &ReadOptions::default(), Dialect::BY_TOKEN, Some(&only)).rows.is_empty());
    }
}

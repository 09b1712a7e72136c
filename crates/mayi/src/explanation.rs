//! A decision with its trace: what was considered, what was chosen, and what came second.
//!
//! The evaluator is the same; an observer records what it does. Texts are borrowed from the file. Front
//! ends put all of this into words.

use std::borrow::Cow;

use crate::access::SiteFile;
use crate::crawler::Crawler;
use crate::decision::{Decision, Reason};
use crate::dialect::Comparison;
use crate::directive::RuleKind;
use crate::evaluation::{self, Candidate};
use crate::forms::Forms;
use crate::pattern::PathPattern;
use crate::robots_txt::RobotsTxt;
use crate::selection::{GroupBy, Observer, Selection, select};
use crate::span::{LineNumber, Span};
use crate::spec::Clause;
use crate::target::Target;

/// Why a decision is what it is, step by step.
///
/// ```
/// use mayi::{Crawler, RobotsTxt, Target};
///
/// let robots = RobotsTxt::parse(b"User-agent: *\nDisallow: /a\nAllow: /a/b\n");
/// let crawler = Crawler::new("ExampleBot")?;
/// let target = Target::parse("https://example.com/a/b/c")?;
/// let explanation = robots.explain(&crawler, &target);
///
/// assert_eq!(explanation.decision(), &robots.decide(&crawler, &target));
/// assert_eq!(explanation.winner().expect("it has one").pattern(), b"/a/b");
/// assert_eq!(explanation.runner_up().expect("it has one").pattern(), b"/a");
/// assert!(explanation.clauses().iter().any(|clause| clause.id() == "REP-8"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Explanation<'a> {
    robots: Option<&'a RobotsTxt<'a>>,
    comparison: Comparison,
    target: &'a Target<'a>,
    decision: Decision<'a>,
    /// What it was decided by, for the other parts of a report.
    selection: Option<Selection>,
    groups: Vec<ConsideredGroup<'a>>,
    matches: Vec<MatchingRule<'a>>,
}

/// A group of the file, and whether it applies to the crawler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsideredGroup<'a> {
    starts: Vec<StartLine<'a>>,
    is_chosen: bool,
}

/// A group-start line, and how it names the crawler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartLine<'a> {
    line: LineNumber,
    value: &'a [u8],
    by: Option<GroupBy>,
}

/// A rule that matches the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchingRule<'a> {
    kind: RuleKind,
    line: LineNumber,
    column: u32,
    span: Span,
    pattern: &'a [u8],
    normalised: Vec<u8>,
    octets: usize,
}

impl RobotsTxt<'_> {
    /// Answers the same question as [`decide`](Self::decide), and records which groups there were, which
    /// rules matched, and which rule came second.
    pub fn explain<'a>(&'a self, crawler: &'a Crawler, target: &'a Target<'a>) -> Explanation<'a> {
        let mut watch = Watch::default();
        let selection = select(self, crawler, &mut watch);
        let decision = evaluation::decide_selected(self, selection.as_ref(), target, &mut watch);
        if decision.reason() == Reason::RobotsTxt {
            watch = Watch::default(); // No group was needed.
        }
        let chosen = decision.group().map(crate::ChosenGroup::lines).unwrap_or_default();
        let groups = watch.groups(self, chosen);
        let matches = watch.ranked_matches(self);
        let comparison = self.dialect().comparison;
        let robots = Some(self);
        Explanation { robots, comparison, target, decision, selection, groups, matches }
    }
}

impl<'a> Explanation<'a> {
    /// The decision itself.
    pub fn decision(&self) -> &Decision<'a> {
        &self.decision
    }

    /// The file that was asked, where there is one.
    pub fn robots_txt(&self) -> Option<&'a RobotsTxt<'a>> {
        self.robots
    }

    /// The groups that were selected for the crawler.
    #[cfg(feature = "report")]
    pub(crate) fn selection(&self) -> Option<&Selection> {
        self.selection.as_ref()
    }

    /// What was asked about.
    pub fn target(&self) -> &'a Target<'a> {
        self.target
    }

    /// The forms of the target that patterns were compared with in the dialect of the file: one, or two if
    /// its query has an encoded `/`, `?` or `#`, which patterns with a `?` read as raw (REP-12).
    pub fn compared(&self) -> Vec<Cow<'a, [u8]>> {
        Forms::of(self.target, self.comparison).into_usual()
    }

    /// The groups of the file, in order. There are none if the decision needed no group.
    pub fn groups(&self) -> &[ConsideredGroup<'a>] {
        &self.groups
    }

    /// Every rule that matches, the one that wins first.
    pub fn matches(&self) -> &[MatchingRule<'a>] {
        &self.matches
    }

    /// The rule that decided.
    pub fn winner(&self) -> Option<&MatchingRule<'a>> {
        self.matches.first()
    }

    /// The rule that would have decided without the winner.
    pub fn runner_up(&self) -> Option<&MatchingRule<'a>> {
        self.matches.get(1)
    }

    /// The clauses by which it was decided, in the order of the steps.
    pub fn clauses(&self) -> Vec<Clause> {
        let mut clauses = Vec::new();
        match self.decision.group().map(crate::ChosenGroup::by) {
            Some(GroupBy::ProductToken) => clauses.push(Clause::REP_4),
            Some(GroupBy::Regex) => clauses.push(Clause::AIA_2),
            Some(GroupBy::Purpose) => clauses.push(Clause::PUR_3),
            Some(GroupBy::Global) => clauses.push(Clause::REP_6),
            None => {}
        }
        if self.groups.iter().filter(|group| group.is_chosen).count() > 1 {
            clauses.push(Clause::REP_5);
        }
        match self.decision.reason() {
            Reason::Rule => {
                let winner = self.winner();
                if winner.is_some_and(|rule| rule.normalised != rule.pattern) {
                    clauses.push(Clause::REP_11);
                }
                if winner.is_some_and(|rule| rule.pattern.iter().any(|octet| b"*$".contains(octet))) {
                    clauses.push(Clause::REP_15);
                }
                clauses.push(Clause::REP_8);
            }
            Reason::NoRule => clauses.push(Clause::REP_9),
            Reason::NoGroup => clauses.push(Clause::REP_6),
            Reason::RobotsTxt => clauses.push(Clause::REP_10),
            Reason::Unavailable => clauses.push(Clause::REP_20),
            Reason::Unreachable => clauses.push(Clause::REP_21),
        }
        clauses
    }
}

impl SiteFile<'_> {
    /// May this crawler fetch this target, and why? If there is no file, no groups and no rules were
    /// considered.
    pub fn explain<'a>(&'a self, crawler: &'a Crawler, target: &'a Target<'a>) -> Explanation<'a> {
        match self {
            Self::Read(robots) => robots.explain(crawler, target),
            Self::Ended(_) => Explanation {
                robots: None,
                comparison: self.dialect().comparison,
                target,
                decision: self.decide(crawler, target),
                selection: None,
                groups: Vec::new(),
                matches: Vec::new(),
            },
        }
    }
}

impl<'a> ConsideredGroup<'a> {
    /// Its group-start lines.
    pub fn starts(&self) -> &[StartLine<'a>] {
        &self.starts
    }

    /// Whether its rules apply to the crawler.
    pub fn is_chosen(&self) -> bool {
        self.is_chosen
    }
}

impl<'a> StartLine<'a> {
    /// The line that it is.
    pub fn line(&self) -> LineNumber {
        self.line
    }

    /// Its value, as written.
    pub fn value(&self) -> &'a [u8] {
        self.value
    }

    /// How it names the crawler, if it does.
    pub fn by(&self) -> Option<GroupBy> {
        self.by
    }
}

impl<'a> MatchingRule<'a> {
    /// Allow or disallow.
    pub fn kind(&self) -> RuleKind {
        self.kind
    }

    /// The line that it is on.
    pub fn line(&self) -> LineNumber {
        self.line
    }

    /// The column of its pattern, counted from 1 in characters.
    pub fn column(&self) -> u32 {
        self.column
    }

    /// Where its pattern is in the text.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Its pattern, as written.
    pub fn pattern(&self) -> &'a [u8] {
        self.pattern
    }

    /// Its pattern, normalised.
    pub fn normalised(&self) -> &[u8] {
        &self.normalised
    }

    /// How many octets count.
    pub fn octets(&self) -> usize {
        self.octets
    }
}

/// Writes down what the evaluator does.
#[derive(Default)]
struct Watch {
    /// Record, how it names the crawler, whether it is the first of its group.
    starts: Vec<(usize, Option<GroupBy>, bool)>,
    /// Record and octets.
    matches: Vec<(usize, usize)>,
}

impl Observer for Watch {
    const WATCHES: bool = true;

    fn start_line(&mut self, record: usize, by: Option<GroupBy>, first: bool) {
        self.starts.push((record, by, first));
    }

    fn matching_rule(&mut self, record: usize, octets: usize) {
        self.matches.push((record, octets));
    }
}

impl Watch {
    fn groups<'a>(&self, robots: &'a RobotsTxt<'a>, chosen: &[LineNumber]) -> Vec<ConsideredGroup<'a>> {
        let lines = robots.lines_of(self.starts.iter().map(|&(record, ..)| record));
        let mut groups: Vec<ConsideredGroup<'a>> = Vec::new();
        for (&(record, by, first), line) in self.starts.iter().zip(lines) {
            if first {
                groups.push(ConsideredGroup { starts: Vec::new(), is_chosen: false });
            }
            if let Some(group) = groups.last_mut() {
                let value = robots.value(robots.records()[record]);
                group.starts.push(StartLine { line, value, by });
                group.is_chosen |= chosen.binary_search(&line).is_ok();
            }
        }
        groups
    }

    /// The matching rules, each before those that it beats.
    fn ranked_matches<'a>(&self, robots: &'a RobotsTxt<'a>) -> Vec<MatchingRule<'a>> {
        let lines = robots.lines_of(self.matches.iter().map(|&(record, _)| record));
        let mut matches: Vec<_> = self
            .matches
            .iter()
            .zip(lines)
            .filter_map(|(&(record, octets), line)| {
                let crate::directive::Role::Rule(kind) = robots.records()[record].role() else {
                    return None;
                };
                let start = robots.records()[record].start();
                let pattern = robots.value(robots.records()[record]);
                let span = Span { start, end: start + pattern.len() as u32 };
                let column = robots.column_of(span);
                let read = PathPattern::read(pattern, robots.dialect().comparison);
                let normalised = read.normalised().to_vec();
                let rule = MatchingRule { kind, line, column, span, pattern, normalised, octets };
                Some((Candidate { record, kind, octets }, rule))
            })
            .collect();
        matches.sort_by(|(one, _), (other, _)| match (one.beats(other), other.beats(one)) {
            (true, _) => std::cmp::Ordering::Less,
            (_, true) => std::cmp::Ordering::Greater,
            _ => one.record.cmp(&other.record),
        });
        matches.into_iter().map(|(_, rule)| rule).collect()
    }
}

//! Groups and a target → a decision, directly from the text of the file.
//!
//! This evaluator defines the right answer. It prepares nothing, so it is the quickest way to ask a
//! file once; [`ruleset`](crate::ruleset) gives the same answers for many questions, and a test checks
//! that the two agree. With an observer, it makes the explanation.

use std::borrow::Cow;

use crate::crawler::Crawler;
use crate::decision::{ChosenGroup, DecidingRule, Decision, Reason};
use crate::dialect::{Dialect, Specificity};
use crate::directive::{Role, RuleKind};
use crate::forms::Forms;
use crate::pattern::{Glance, Glancing, PathPattern, other_patterns};
use crate::robots_txt::RobotsTxt;
use crate::selection::{Observer, Selection, select};
use crate::span::Span;
use crate::target::Target;

impl RobotsTxt<'_> {
    /// May this crawler fetch this target? The decision names the rule and the groups that decided.
    pub fn decide(&self, crawler: &Crawler, target: &Target<'_>) -> Decision<'_> {
        if is_always_allowed(self, target) {
            return Decision::without_group(Reason::RobotsTxt);
        }
        decide_in(self, select(self, crawler, &mut ()).as_ref(), target, &mut ())
    }
}

/// Decides by groups that were already selected for the crawler, and reports each step to the observer.
pub(crate) fn decide_selected<'r>(
    robots: &'r RobotsTxt<'_>,
    selection: Option<&Selection>,
    target: &Target<'_>,
    observer: &mut impl Observer,
) -> Decision<'r> {
    if is_always_allowed(robots, target) {
        return Decision::without_group(Reason::RobotsTxt);
    }
    decide_in(robots, selection, target, observer)
}

/// Whether the target is the file itself, in a dialect that always allows it.
fn is_always_allowed(robots: &RobotsTxt<'_>, target: &Target<'_>) -> bool {
    robots.dialect().allows_robots_txt && target.is_robots_txt()
}

fn decide_in<'r>(
    robots: &'r RobotsTxt<'_>,
    selection: Option<&Selection>,
    target: &Target<'_>,
    observer: &mut impl Observer,
) -> Decision<'r> {
    let Some(selection) = selection else { return Decision::without_group(Reason::NoGroup) };
    let rule = most_specific(robots, selection, target, observer).map(|winner| {
        let record = robots.records()[winner.record];
        let pattern = robots.value(record);
        let start = record.start();
        DecidingRule {
            kind: winner.kind,
            pattern,
            octets: winner.octets,
            line: robots.record_lines().line_of(winner.record),
            span: Span { start, end: start + pattern.len() as u32 },
        }
    });
    let lines = Cow::Owned(robots.lines_of(selection.starts.iter().copied()));
    Decision::of_group(ChosenGroup { by: selection.by, lines }, rule)
}

/// A matching rule and how it competes: the most octets first, then allow (REP-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) record: usize,
    pub(crate) kind: RuleKind,
    pub(crate) octets: usize,
}

impl Candidate {
    /// Whether it wins over another; if they are equal, the first in the file stays.
    pub(crate) fn beats(&self, other: &Self) -> bool {
        self.octets > other.octets || self.octets == other.octets && self.kind < other.kind
    }
}

/// The most specific rule that matches.
fn most_specific(
    robots: &RobotsTxt<'_>,
    selection: &Selection,
    target: &Target<'_>,
    observer: &mut impl Observer,
) -> Option<Candidate> {
    let dialect = robots.dialect();
    let forms = Forms::of(target, dialect.comparison);
    let glancing = Glancing::new(forms.text());
    let has_other_patterns = dialect.has_other_patterns(RuleKind::Allow);
    let mut best: Option<Candidate> = None;
    for group in &selection.groups {
        for (record, &rule) in group.clone().zip(&robots.records()[group.clone()]) {
            let Role::Rule(kind) = rule.role() else { continue };
            let written = robots.value(rule);
            let glance = glancing.glance(written, robots.first_eight_of(rule));
            if glance == Glance::Mismatch && !has_other_patterns {
                continue;
            }
            let Some(octets) = octets_if_matching(glance, kind, written, &forms, dialect) else {
                continue;
            };
            observer.matching_rule(record, octets);
            let candidate = Candidate { record, kind, octets };
            if best.is_none_or(|best| candidate.beats(&best)) {
                best = Some(candidate);
            }
        }
    }
    best
}

/// How many octets the rule's pattern has, if it matches; most patterns are excluded by a quick check first.
fn octets_if_matching(
    glance: Glance,
    kind: RuleKind,
    written: &[u8],
    forms: &Forms<'_>,
    dialect: &Dialect,
) -> Option<usize> {
    if glance == Glance::Prefix {
        return Some(written.len());
    }
    let has_other_patterns = dialect.has_other_patterns(kind);
    if glance == Glance::Mismatch && !has_other_patterns {
        return None;
    }
    let octets_of = |pattern: &PathPattern<'_>| {
        pattern.matches_one_of(forms).then(|| match dialect.specificity {
            Specificity::Pattern => pattern.octets(),
            Specificity::Matched => pattern.octets_matched(forms),
        })
    };
    let pattern = PathPattern::read(written, dialect.comparison);
    let own = if glance == Glance::Mismatch { None } else { octets_of(&pattern) };
    if !has_other_patterns {
        return own;
    }
    let others = other_patterns(kind, pattern.normalised(), dialect);
    let of_others =
        others.filter_map(|other| octets_of(&PathPattern::read(&other, dialect.comparison)));
    own.into_iter().chain(of_others).max()
}

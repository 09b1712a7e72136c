//! The rules that apply to a reader, as a set, and which of them can be left out without any effect.
//!
//! Two readers with the same set decide the same (REP-8), whatever the order, the spelling and the
//! groups. If sets differ, a rule may still equal another one with an unnecessary wildcard at its end
//! ([`respelled`]), or decide nothing; [`is_idle`] proves that for the usual cases, by literal prefixes
//! alone, which are the same in every form that a target is compared in (REP-12, REP-16). Rules for
//! which this can't be proved are not treated as equal.

use std::borrow::Cow;
use std::collections::HashMap;

use indexmap::{IndexMap, IndexSet};

use crate::dialect::{Comparison, Dialect, Specificity};
use crate::directive::{Role, RuleKind};
use crate::pattern::{PathPattern, other_patterns};
use crate::robots_txt::{Record, RobotsTxt};
use crate::selection::Selection;
use crate::span::{LineCounter, LineNumber};
use crate::work::Work;

use super::RuleAt;

/// A rule as it decides: what it says, and its normalised pattern. Most patterns are written as they are
/// compared, so that nothing is copied of them: a file can have tens of thousands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EffectiveRule<'r> {
    pub(crate) kind: RuleKind,
    /// The number of octets that all targets matched by the rule have in common at their start, in all forms.
    head: u32,
    pub(crate) pattern: Cow<'r, [u8]>,
}

impl<'r> EffectiveRule<'r> {
    pub(crate) fn new(kind: RuleKind, pattern: Cow<'r, [u8]>) -> Self {
        let text = pattern.strip_suffix(b"$").unwrap_or(&pattern);
        let head = text.iter().position(|octet| b"*?%$".contains(octet)).unwrap_or(text.len());
        Self { kind, head: head as u32, pattern }
    }

    fn head(&self) -> &[u8] {
        &self.pattern[..self.head as usize]
    }
}

/// A set of rules, each with where it first stands.
pub(super) type Rules<'r> = IndexMap<EffectiveRule<'r>, Standing<'r>>;

/// How a rule is written, and on which line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing<'r> {
    pub(super) written: &'r [u8],
    pub(super) line: LineNumber,
}

impl Standing<'_> {
    /// The rule at this place, as it is reported.
    pub(super) fn told(&self, kind: RuleKind) -> RuleAt {
        let pattern = String::from_utf8_lossy(self.written).into_owned();
        RuleAt { kind, pattern, line: self.line.number() }
    }
}

/// The rules of a selection, in file order.
pub(super) fn rules_of<'r>(robots: &'r RobotsTxt<'_>, selection: Option<&Selection>) -> Rules<'r> {
    let mut rules = Rules::new();
    let mut counter = LineCounter::new(robots.text());
    let records = selection.into_iter().flat_map(|selection| selection.records(robots));
    for (rule, record) in effective_rules(robots, records) {
        let line = counter.line_at(record.start());
        rules.entry(rule).or_insert_with(|| Standing { written: robots.value(record), line });
    }
    rules
}

/// The rules among records, each as it decides. Those without a pattern are none (REP-9).
pub(crate) fn effective_rules<'r>(
    robots: &'r RobotsTxt<'_>,
    records: impl Iterator<Item = Record>,
) -> impl Iterator<Item = (EffectiveRule<'r>, Record)> {
    records.filter_map(|record| {
        let Role::Rule(kind) = record.role() else { return None };
        let written = PathPattern::read(robots.value(record), robots.dialect().comparison);
        let pattern = written.into_normalised();
        (!pattern.is_empty()).then(|| (EffectiveRule::new(kind, pattern), record))
    })
}

/// What a look at a pair of rules costs, in units of work.
const PAIR: usize = 4;

/// Whether the rules that only one of two sets has are idle, or are rules of the other set in another
/// spelling. Then both sets decide like their common rules.
pub(super) fn differ_in_idle_rules<'r>(
    old: impl Iterator<Item = &'r EffectiveRule<'r>>,
    new: impl Iterator<Item = &'r EffectiveRule<'r>>,
    dialect: &Dialect,
    work: &Work,
) -> bool {
    let (old, new): (IndexSet<_>, IndexSet<_>) = (old.collect(), new.collect());
    if dialect.specificity != Specificity::Pattern {
        return old == new; // the proof below compares lengths of patterns
    }
    let old = respelled(&old, &new, dialect, work);
    let new = respelled(&new, &old, dialect, work);
    [(&old, &new), (&new, &old)].into_iter().all(|(one, other)| {
        let (mut kept, extra): (Vec<&EffectiveRule<'_>>, Vec<&EffectiveRule<'_>>) =
            one.iter().partition(|rule| other.contains(*rule));
        if extra.is_empty() {
            return true;
        }
        let pairs = extra.len().saturating_mul(one.len());
        if !work.spend(pairs.saturating_mul(2 * PAIR), "proof") {
            return false;
        }
        // They are removed one after the other; each must be idle among the rules that are left.
        kept.extend(&extra);
        for rule in extra {
            kept.retain(|other| !std::ptr::eq(*other, rule));
            if !is_idle(rule, &kept, dialect) {
                return false;
            }
        }
        true
    })
}

/// A set of rules in which each rule that the other set lacks is replaced by its respelling there, if there
/// is one: a rule that says the same, matches the same by [`core`], and wins and loses against the same rules
/// of both sets, although its number of octets differs.
fn respelled<'r>(
    rules: &IndexSet<&'r EffectiveRule<'r>>,
    others: &IndexSet<&'r EffectiveRule<'r>>,
    dialect: &Dialect,
    work: &Work,
) -> IndexSet<&'r EffectiveRule<'r>> {
    let extra = rules.iter().filter(|rule| !others.contains(*rule)).count();
    let pairs = extra.saturating_mul(rules.len() + others.len());
    if extra == 0 || !work.spend(pairs.saturating_mul(PAIR), "proof") {
        return rules.clone();
    }
    let mut by_core: HashMap<(RuleKind, Vec<u8>), &EffectiveRule<'_>> = HashMap::new();
    for &rule in others {
        by_core.entry((rule.kind, core(&rule.pattern))).or_insert(rule);
    }
    let wins = |rule: &EffectiveRule<'_>, opposed: &EffectiveRule<'_>| match rule.kind {
        RuleKind::Allow => rule.pattern.len() >= opposed.pattern.len(),
        RuleKind::Disallow => rule.pattern.len() > opposed.pattern.len(),
    };
    let is_same = |one: &EffectiveRule<'_>, other: &EffectiveRule<'_>| {
        let opposed = rules.iter().chain(others).filter(|opposed| opposed.kind != one.kind);
        let mut met = opposed.filter(|opposed| overlap(opposed, one) || has_others(opposed, dialect));
        met.all(|opposed| wins(one, opposed) == wins(other, opposed) && !has_others(opposed, dialect))
    };
    let other_spelling = |rule: &'r EffectiveRule<'r>| {
        if others.contains(rule) || has_others(rule, dialect) {
            return None;
        }
        let other = *by_core.get(&(rule.kind, core(&rule.pattern)))?;
        (!has_others(other, dialect) && is_same(rule, other)).then_some(other)
    };
    rules.iter().map(|&rule| other_spelling(rule).unwrap_or(rule)).collect()
}

/// A pattern without what does not change what it matches: wildcards that follow each other, and one at
/// the end. Every path starts with `/`, so that a wildcard alone is `/`.
fn core(pattern: &[u8]) -> Vec<u8> {
    let mut text = pattern.to_vec();
    text.dedup_by(|one, other| *one == b'*' && *other == b'*');
    let unanchored = text.strip_suffix(b"$").unwrap_or(&text);
    match unanchored.strip_suffix(b"*") {
        Some(b"") => b"/".to_vec(),
        // Without the wildcard, a dollar sign would be the end.
        Some(kept) if !kept.ends_with(b"$") => kept.to_vec(),
        _ => text,
    }
}

/// Whether a rule may have other patterns in the dialect than its own, such as that of an index page's folder.
fn has_others(rule: &EffectiveRule<'_>, dialect: &Dialect) -> bool {
    dialect.has_other_patterns(rule.kind)
        && other_patterns(rule.kind, &rule.pattern, dialect).next().is_some()
}

/// Whether the other rules would decide everything in the same way without this rule.
///
/// It proves three cases, one after the other. The rule never decides, because one that says the opposite always wins
/// over it. It allows where nothing would disallow. Or another rule says the same, matches all that this one
/// matches and wins against all rules that this one wins against. Everything else is not proved, although it
/// may be true: which URLs a set of patterns matches is a hard question, and "the same" must never be a
/// guess.
pub(super) fn is_idle(
    rule: &EffectiveRule<'_>,
    others: &[&EffectiveRule<'_>],
    dialect: &Dialect,
) -> bool {
    let has_others = |rule: &EffectiveRule<'_>| has_others(rule, dialect);
    if has_others(rule) || !rule.pattern.starts_with(b"/") && !rule.pattern.starts_with(b"*") {
        return !has_others(rule);
    }
    let octets = |rule: &EffectiveRule<'_>| rule.pattern.len();
    let opposed: Vec<_> = others
        .iter()
        .filter(|other| other.kind != rule.kind && (overlap(other, rule) || has_others(other)))
        .collect();
    if opposed.iter().any(|other| has_others(other)) {
        return false;
    }
    // One that says the opposite, matches all that it matches and wins: then it never decides.
    let wins = |other: &EffectiveRule<'_>| match rule.kind {
        RuleKind::Allow => octets(other) > octets(rule),
        RuleKind::Disallow => octets(other) >= octets(rule),
    };
    if opposed.iter().any(|other| wins(other) && covers(other, rule)) {
        return true;
    }
    let loses: Vec<_> = opposed.iter().filter(|other| !wins(other)).collect();
    if rule.kind == RuleKind::Allow && loses.is_empty() {
        return true; // there is nothing to allow
    }
    // One that says the same, matches all that it matches, and wins wherever it does.
    let stands_in = |other: &EffectiveRule<'_>| {
        let beats = |opposed: &EffectiveRule<'_>| match rule.kind {
            RuleKind::Allow => octets(other) >= octets(opposed),
            RuleKind::Disallow => octets(other) > octets(opposed),
        };
        other.kind == rule.kind && covers(other, rule) && loses.iter().all(|opposed| beats(opposed))
    };
    others.iter().any(|other| stands_in(other))
}

/// Whether two rules may match the same target. Heads that differ in an octet exclude that; in all other
/// cases it is assumed to be possible, which can make a proof harder but never wrong.
pub(crate) fn overlap(one: &EffectiveRule<'_>, other: &EffectiveRule<'_>) -> bool {
    let (one, other) = (one.head(), other.head());
    one.starts_with(other) || other.starts_with(one)
}

/// Whether a rule certainly matches everything that another one matches.
pub(crate) fn covers(one: &EffectiveRule<'_>, other: &EffectiveRule<'_>) -> bool {
    one.pattern == other.pattern
        || matches!(&*one.pattern, b"/" | b"*" | b"/*")
        || one.head().len() == one.pattern.len() && other.head().starts_with(&one.pattern)
}

/// In which form patterns are compared, for those that stand before a structured value.
pub(super) fn normalised_path(path: Option<&[u8]>, comparison: Comparison) -> Vec<u8> {
    path.map(|path| PathPattern::read(path, comparison).normalised().to_vec()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> EffectiveRule<'_> {
        let (kind, pattern) = text.split_once(' ').expect("a kind and a pattern");
        let kind = if kind == "a" { RuleKind::Allow } else { RuleKind::Disallow };
        EffectiveRule::new(kind, Cow::Borrowed(pattern.as_bytes()))
    }

    #[track_caller]
    fn check(rule: &str, others: &[&str], expected: bool) {
        let others: Vec<_> = others.iter().map(|text| read(text)).collect();
        let others: Vec<_> = others.iter().collect();
        assert_eq!(is_idle(&read(rule), &others, &Dialect::RFC9309), expected, "{rule}");
    }

    #[test]
    fn what_is_idle() {
        check("d /a/b", &["d /a"], true);
        check("d /a/b", &["d /"], true);
        check("d /a/b", &["d /a", "a /a"], false);
        check("d /a/b", &["d /a", "a /a/"], false);
        check("d /a/b", &["d /a", "a /a/b"], true);
        check("d /a/b", &["d /a", "a /c/d"], true);
        check("d /a", &["a /a"], true);
        check("d /a", &[], false);
        check("a /a", &[], true);
        check("a /a", &["d /b"], true);
        check("a /a", &["d /a/b"], true);
        check("a /a", &["d /"], false);
        check("a /a/b", &["d /", "a /a"], true);
        check("a /a/b", &["d /a/", "a /a"], false);
        check("a /a", &["d /*.pdf$"], true);
        check("a /a.b.c.d", &["d /*.pdf$"], false);
        check("d a", &[], true);
        check("d /a?b", &["d /a"], true);
        check("d /a%2Ab", &["d /a*"], false);
        check("d /a$", &["d /a/"], false);
    }
}

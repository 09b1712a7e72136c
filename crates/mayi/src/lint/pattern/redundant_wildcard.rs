//! A pattern ends in `*`, which is unnecessary.
//!
//! ## What is wrong
//!
//! A pattern without `$` matches every URL that starts with it: `/private/*` matches the same as
//! `/private/`. The `*` only makes the rule one octet longer. If that octet could decide which of two rules
//! wins, the `*` is not reported.
//!
//! ## What crawlers do
//!
//! Crawlers that follow RFC 9309 match the same URLs with and without it. Crawlers without support for
//! wildcards compare it as a character, and the rule never matches.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /private/*
//! ```
//!
//! Write `/private/`.

use std::cell::LazyCell;

use crate::dialect::Comparison;
use crate::directive::RuleKind;
use crate::lint::prelude::*;
use crate::lint::rules::can_match;
use crate::pattern::{PathPattern, index_page_folder};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P006",
    name: "redundant-wildcard",
    summary: "a pattern ends in `*`, which is unnecessary",
    severity: Severity::Note,
    other_severities: &[],
    set: LintSet::Style,
    fixes: true,
    clauses: &[Clause::REP_8, Clause::REP_15],
    source: include_str!("redundant_wildcard.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    // Most files have no such wildcard, and nothing is measured for them.
    let lengths = LazyCell::new(|| -> Vec<Lengths> {
        let ours = context.groups.rules().map(|(kind, rule)| (kind, rule.record.value));
        let ours = Lengths::of(ours, Comparison::Normalised, false);
        let theirs = context.met().iter().map(|groups| {
            let dialect = groups.dialect;
            Lengths::of(groups.rules.iter().copied(), dialect.comparison, dialect.index_pages)
        });
        std::iter::once(ours).chain(theirs).collect()
    });
    let entries = context.groups.rules();
    for (kind, rule) in entries.filter(|(_, rule)| can_match(&rule.record)) {
        let value = rule.record.value;
        let Some(kept) = without_wildcard(value) else { continue };
        let changes_nothing = || {
            let is_free = lengths.iter().all(|lengths| lengths.are_free(kind, value));
            is_free && context.is_read_alike(rule)
        };
        if !changes_nothing() {
            continue;
        }
        let whole = context.span(value);
        let span = Span { start: whole.start + kept.len() as u32, end: whole.end };
        found.report(span, || {
            Draft::new(
                format!("{} matches the same URLs without {} at its end", quoted(value), quoted(&value[kept.len()..])),
                "Crawlers that follow RFC 9309 match the same URLs with and without it; it only makes the \
                 rule longer.",
            )
            .fixed_by(Fix::safe(format!("write {}", quoted(kept)), vec![Edit::new(span, "")]))
        });
    }
}

/// The pattern without wildcards at its end, or `*$`, if it has them and something before them.
fn without_wildcard(pattern: &[u8]) -> Option<&[u8]> {
    let unanchored = pattern.strip_suffix(b"$").unwrap_or(pattern);
    let stars = unanchored.iter().rev().take_while(|octet| **octet == b'*').count();
    let kept = &unanchored[..unanchored.len() - stars];
    // If a `$` became the last character, the pattern would become anchored; a space at the end would not
    // be part of the value.
    (stars > 0 && kept.last().is_some_and(|octet| *octet != b'$' && !is_white(*octet))).then_some(kept)
}

fn is_white(octet: u8) -> bool {
    matches!(octet, b'\t'..=b'\r' | b' ')
}

/// From how many octets to how many the rules of a file can have, with this lint's fixes and without.
struct Lengths {
    comparison: Comparison,
    /// By kind: where such runs start and where they end, each sorted.
    runs: [(Vec<usize>, Vec<usize>); 2],
}

impl Lengths {
    fn of<'r>(
        rules: impl Iterator<Item = (RuleKind, &'r [u8])>,
        comparison: Comparison,
        index_pages: bool,
    ) -> Self {
        let mut runs = <[(Vec<usize>, Vec<usize>); 2]>::default();
        for (kind, pattern) in rules.filter(|(_, pattern)| !pattern.is_empty()) {
            let (least, most) = run(pattern, comparison);
            runs[kind as usize].0.push(least);
            runs[kind as usize].1.push(most);
            // For some crawlers an index page also means its folder, with a pattern of another length.
            let read = PathPattern::read(pattern, comparison);
            if let Some(folder) = index_page_folder(read.normalised()).filter(|_| index_pages) {
                runs[kind as usize].0.push(folder.len());
                runs[kind as usize].1.push(folder.len());
            }
        }
        for (starts, ends) in &mut runs {
            starts.sort_unstable();
            ends.sort_unstable();
        }
        Self { comparison, runs }
    }

    /// Whether no rule of the opposite kind can be as long as this one, or come to be.
    fn are_free(&self, kind: RuleKind, pattern: &[u8]) -> bool {
        let (least, most) = run(pattern, self.comparison);
        let (starts, ends) = &self.runs[1 - kind as usize];
        let started = starts.partition_point(|start| *start <= most);
        let ended = ends.partition_point(|end| *end < least);
        started == ended
    }
}

/// How many octets a pattern has without and with what is redundant in it.
fn run(pattern: &[u8], comparison: Comparison) -> (usize, usize) {
    let octets = |pattern| PathPattern::read(pattern, comparison).octets();
    let most = octets(pattern);
    (without_wildcard(pattern).map_or(most, octets), most)
}

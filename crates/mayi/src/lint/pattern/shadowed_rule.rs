//! A rule can never decide, because another one always wins over it.
//!
//! ## What is wrong
//!
//! Of the rules that match a URL, the one with the most octets decides, and `Allow` at equal length.
//! Another rule of the group says the opposite, matches every URL that this one does, and is longer (or
//! is an `Allow` of the same length). The order of the lines does not matter.
//!
//! ## What crawlers make of it
//!
//! They keep the rule, and it never decides (REP-8).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /
//! Allow: /*
//! ```
//!
//! Everything is allowed: `/*` is one octet longer than `/`. Delete the rule that is not meant.

use std::collections::HashMap;

use crate::dialect::Comparison;
use crate::directive::RuleKind;
use crate::lint::prelude::*;
use crate::lint::rules::{Core, can_match};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P005",
    name: "shadowed-rule",
    summary: "a rule never decides, because another always wins over it",
    severity: Severity::Warning,
    by_default: true,
    clauses: &[Clause::REP_8],
    source: include_str!("shadowed_rule.rs"),
    check,
};

struct Rule<'g, 'c> {
    kind: RuleKind,
    core: Core,
    octets: usize,
    entry: &'g Entry<'c>,
}

impl Rule<'_, '_> {
    /// Whether it wins over the other wherever both match.
    fn beats(&self, other: &Self) -> bool {
        self.octets > other.octets || self.octets == other.octets && self.kind == RuleKind::Allow
    }
}

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for group in &context.groups {
        let rules: Vec<Rule<'_, '_>> = group
            .rules()
            .filter(|(_, rule)| can_match(&rule.record))
            .map(|(kind, entry)| {
                let (core, octets) = Core::of(entry.record.value, Comparison::Normalised);
                Rule { kind, core, octets, entry }
            })
            .collect();
        // The strongest rule for each set of URLs, and those that can cover the sets of others.
        let mut strongest: HashMap<(RuleKind, &Core), &Rule<'_, '_>> = HashMap::new();
        for rule in &rules {
            let best = strongest.entry((rule.kind, &rule.core)).or_insert(rule);
            if rule.octets > best.octets {
                *best = rule;
            }
        }
        let mut wild: Vec<&Rule<'_, '_>> = strongest.values().copied().filter(|r| r.core.has_wildcard()).collect();
        wild.sort_by_key(|rule| rule.entry.line);
        for rule in &rules {
            let opposite = match rule.kind {
                RuleKind::Allow => RuleKind::Disallow,
                RuleKind::Disallow => RuleKind::Allow,
            };
            let same = strongest.get(&(opposite, &rule.core)).copied();
            let same = same.filter(|other| other.beats(rule));
            let winner = same.or_else(|| {
                // To look through them costs something too, whatever comes of it.
                if !context.spend(wild.len()) {
                    return None;
                }
                wild.iter().copied().find(|other| {
                    other.kind == opposite
                        && other.beats(rule)
                        && context.spend(8 + other.core.text.len() + rule.core.text.len())
                        && other.core.covers(&rule.core)
                })
            });
            let Some(winner) = winner else { continue };
            let span = context.span(rule.entry.record.value);
            found.report(span, || {
                let other = quoted(winner.entry.record.value);
                let name = if winner.kind == RuleKind::Allow { "Allow" } else { "Disallow" };
                let why = if winner.octets > rule.octets {
                    "and is longer"
                } else {
                    "and `Allow` wins at equal length"
                };
                let line = winner.entry.line + 1;
                Draft::new(
                    format!("`{name}: {}` at line {line} matches all that this rule does, {why}", other.trim_matches('`')),
                    "Crawlers that follow RFC 9309, Google's among them, never decide by this rule.",
                )
                .related(context.span(winner.entry.record.value), "this rule always wins over it")
            });
        }
    }
}

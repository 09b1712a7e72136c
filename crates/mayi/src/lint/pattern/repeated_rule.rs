//! A rule is in its group twice.
//!
//! ## What is wrong
//!
//! The same rule, or one that matches the same URLs and says the same, is above it in the group.
//!
//! ## What crawlers do
//!
//! For crawlers the second rule has no effect.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /private/
//! Disallow: /private/
//! ```
//!
//! Delete one of them.

use std::collections::HashMap;

use crate::dialect::Comparison;
use crate::lint::prelude::*;
use crate::lint::rules::{Core, can_match};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P004",
    name: "repeated-rule",
    summary: "a rule is in its group twice",
    severity: Severity::Note,
    other_severities: &[],
    set: LintSet::Style,
    fixes: true,
    clauses: &[Clause::REP_8],
    source: include_str!("repeated_rule.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for group in context.groups.iter() {
        let mut seen: HashMap<_, Entry<'_>> = HashMap::new();
        for (kind, rule) in group.rules().filter(|(_, rule)| can_match(&rule.record)) {
            let (core, _) = Core::of(rule.record.value, Comparison::Normalised);
            let first = *seen.entry((kind, core)).or_insert(*rule);
            if first.record.value.as_ptr() == rule.record.value.as_ptr() {
                continue;
            }
            let line = context.lines.at(rule.line);
            let span = context.span(rule.record.value);
            found.report(span, || {
                let same = first.record.value == rule.record.value;
                let fix = (same
                    && line.inline_rule.is_none()
                    && context.met().iter().all(|groups| groups.are_together(first.line, rule.line))
                    && context.is_read_alike(&first)
                    && context.is_read_alike(rule))
                .then(|| Fix::safe("delete the line", vec![line.removed()]));
                let number = first.line + 1;
                let message = if same {
                    format!("the same rule is already at line {number}")
                } else {
                    format!("{} at line {number} already says the same", quoted(first.record.value))
                };
                Draft::new(message, "It has no effect for any crawler.")
                    .related(context.span(first.record.value), "the first one")
                    .fixed_by(fix)
            });
        }
    }
}

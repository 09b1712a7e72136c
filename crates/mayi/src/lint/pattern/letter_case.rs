//! Two rules differ in the case of their letters.
//!
//! ## What is wrong
//!
//! Paths are compared with their case: `/Private/` and `/private/` are two folders. An exception that is
//! written in another case than the rule that it is an exception to does nothing.
//!
//! ## What crawlers make of it
//!
//! Each rule matches only URLs in its own case (REP-7).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /Private/
//! Allow: /private/press/
//! ```
//!
//! Write both in the case that the URLs have. Where a server takes both, a rule for each is right: rules
//! that say the same are not reported.

use std::collections::HashMap;

use crate::directive::RuleKind;
use crate::lint::prelude::*;
use crate::lint::rules::can_match;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P009",
    name: "letter-case",
    summary: "a rule is written in another case than the rule that it is an exception to",
    severity: Severity::Warning,
    by_default: true,
    clauses: &[Clause::REP_7],
    source: include_str!("letter_case.rs"),
    check,
};

/// How many folders of a pattern are looked at: no site has more.
const MOST_FOLDERS: usize = 16;

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for group in &context.groups {
        // Every rule by its lower-case pattern; what is also there in the other's case is meant.
        let mut known: HashMap<(RuleKind, Vec<u8>), Vec<&Entry<'_>>> = HashMap::new();
        for (kind, rule) in group.rules().filter(|(_, rule)| can_match(&rule.record)) {
            let same = known.entry((kind, rule.record.value.to_ascii_lowercase())).or_default();
            if same.len() < MOST_FOLDERS {
                same.push(rule);
            }
        }
        for (kind, rule) in group.rules().filter(|(_, rule)| can_match(&rule.record)) {
            let value = rule.record.value;
            let opposite = match kind {
                RuleKind::Allow => RuleKind::Disallow,
                RuleKind::Disallow => RuleKind::Allow,
            };
            let folders = value.iter().enumerate().skip(1).filter(|(_, octet)| **octet == b'/');
            let ends = folders.take(MOST_FOLDERS).map(|(at, _)| at + 1).chain([value.len()]);
            let other = ends.filter(|end| *end > 1).find_map(|end| {
                let start = &value[..end];
                let lower = start.to_ascii_lowercase();
                let others = known.get(&(opposite, lower))?;
                let is_exact = |other: &&&Entry<'_>| start.starts_with(other.record.value);
                if others.iter().any(|other| is_exact(&other)) { None } else { others.first().copied() }
            });
            let Some(other) = other else { continue };
            // Reported once for the two, at the later of them.
            let is_equal = other.record.value.len() == value.len();
            if is_equal && other.line > rule.line {
                continue;
            }
            found.report(context.span(value), || {
                let line = other.line + 1;
                Draft::new(
                    format!("{} at line {line} is written in another case", quoted(other.record.value)),
                    "Crawlers compare paths with their case, so that neither rule is an exception to the other.",
                )
                .related(context.span(other.record.value), "written in another case")
            });
        }
    }
}

//! An exception and its rule differ in upper and lower case.
//!
//! ## What is wrong
//!
//! Paths are case-sensitive: `/Private/` and `/private/` are two folders. If an Allow and the Disallow
//! that it is an exception to are written in different cases, the exception has no effect.
//!
//! ## What crawlers do
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
//! Write both in the case of the URLs. If a server accepts both cases, write each rule in both.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use crate::directive::RuleKind;
use crate::lint::prelude::*;
use crate::lint::rules::can_match;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P012",
    name: "exception-in-another-case",
    summary: "an exception and its rule differ in upper and lower case",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_7],
    source: include_str!("exception_in_another_case.rs"),
    check,
};

/// How many folders of a pattern are looked at: no site has more.
pub(super) const MOST_FOLDERS: usize = 16;

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    each_exception(context, |rule, other| {
        found.report(context.span(rule.record.value), || {
            let line = other.line + 1;
            Draft::new(
                format!("{} at line {line} is written in another case", quoted(other.record.value)),
                "Paths are case-sensitive, so neither rule is an exception to the other.",
            )
            .related(context.span(other.record.value), "written in another case")
        });
    });
}

/// Tells of exceptions in another case than the rule that they are an exception to, each with that rule.
pub(super) fn each_exception<'c>(
    context: &Context<'c, '_>,
    mut tell: impl FnMut(&Entry<'c>, &Entry<'c>),
) {
    let hasher = RandomState::new();
    for group in context.groups.iter() {
        // The first rule of each lower-case pattern, and every pattern as it is written: what is also there in the
        // other's case is meant.
        let mut first: HashMap<u64, &Entry<'_>> = HashMap::new();
        let mut written: HashSet<u64> = HashSet::new();
        for (kind, rule) in group.rules().filter(|(_, rule)| can_match(&rule.record)) {
            let value = rule.record.value;
            first.entry(hasher.hash_one((kind, value.to_ascii_lowercase()))).or_insert(rule);
            written.insert(hasher.hash_one((kind, value)));
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
                let other = first.get(&hasher.hash_one((opposite, start.to_ascii_lowercase())))?;
                let is_exact = written.contains(&hasher.hash_one((opposite, start)));
                if is_exact { None } else { Some(*other) }
            });
            let Some(other) = other else { continue };
            // Reported once for the two, at the later of them.
            let is_equal = other.record.value.len() == value.len();
            if is_equal && other.line > rule.line {
                continue;
            }
            tell(rule, other);
        }
    }
}

//! A pattern is written as a regular expression.
//!
//! ## What is wrong
//!
//! In a path pattern only `*` (any characters) and `$` at the end are special. `^`, `[0-9]` or `\.` are
//! compared as they are written, and hardly any URL has them.
//!
//! ## What crawlers do
//!
//! Crawlers look for exactly these characters in the URL (REP-15).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: ^/private/.*\.pdf$
//! ```
//!
//! Write `/private/*.pdf$`. If only a regular expression can say what you mean, write several rules.

use crate::lint::characters::is_regex_pattern;
use crate::lint::prelude::*;
use crate::lint::rules::patterns;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P014",
    name: "regex-pattern",
    summary: "a pattern is written as a regular expression",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_15],
    source: include_str!("regex_pattern.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for rule in patterns(context).filter(|rule| is_regex_pattern(rule.record.value)) {
        let value = rule.record.value;
        found.report(context.span(value), || {
            let reading = if value.starts_with(b"/") || value.starts_with(b"*") {
                "Every crawler compares the other signs with the URL as they are written; hardly any URL has them."
            } else {
                "Every crawler keeps the rule, but it never matches, because every path starts with `/`."
            };
            Draft::new(
                format!(
                    "{} is a regular expression, but in a pattern only `*` and a `$` at the end are special",
                    quoted(value)
                ),
                reading,
            )
        });
    }
}

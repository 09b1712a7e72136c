//! A user-agent line is a regular expression, which few crawlers read.
//!
//! ## What is wrong
//!
//! For crawlers that follow draft-jimenez-tbd-robotstxt-update nothing is wrong. RFC 9309 has no
//! regular expressions in names.
//!
//! ## What crawlers do
//!
//! Crawlers that follow the draft use the group if the expression matches their whole name (AIA-2). All
//! others, including Google, read the name that it starts with. So `Example.*` is for ExampleBot by the
//! draft, and for a crawler called `Example` by all others; they match `.*-ai` to no crawler.
//!
//! ## Example
//!
//! ```text
//! User-agent: .*-ai
//! Disallow: /
//! ```
//!
//! Also name the crawlers that must use the group, one per line.

use crate::lint::prelude::*;
use crate::lint::rules::{read_as_a_name, regexes};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "D004",
    name: "regex-not-read",
    summary: "a user-agent line is a regular expression, which few crawlers read",
    severity: Severity::Note,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::AIA_2],
    source: include_str!("regex_not_read.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for (_, start, compiled) in regexes(context) {
        // `unusable-regex` reports an expression that is not used.
        if compiled.is_err() {
            continue;
        }
        let value = start.record.value;
        let span = context.span(value);
        found.report(span, || {
            Draft::new(
                format!("few crawlers read {} as a regular expression", quoted(value)),
                format!(
                    "Crawlers that follow draft-jimenez-tbd-robotstxt-update match it with their name; for \
                     all others, including Google's, it is {}.",
                    read_as_a_name(value)
                ),
            )
        });
    }
}

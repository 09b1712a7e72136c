//! A user-agent line is a regular expression, which few crawlers read.
//!
//! ## What is wrong
//!
//! Nothing, to crawlers that follow draft-jimenez-tbd-robotstxt-update. RFC 9309 has no regular
//! expressions in names.
//!
//! ## What crawlers make of it
//!
//! Those that follow the draft use the group if the expression matches their whole name (AIA-2). All
//! others, Google among them, read the name that it starts with: `Example.*` is for ExampleBot to the
//! former and for a crawler called `Example` to the latter, and `.*-ai` is for nobody.
//!
//! ## Example
//!
//! ```text
//! User-agent: .*-ai
//! Disallow: /
//! ```
//!
//! Name the crawlers that must not miss the group as well, each on a line of its own.

use crate::lint::prelude::*;
use crate::lint::rules::{read_as_a_name, regexes};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "D004",
    name: "regex-not-read",
    summary: "a user-agent line is a regular expression, which few crawlers read",
    severity: Severity::Note,
    by_default: true,
    clauses: &[Clause::AIA_2],
    source: include_str!("regex_not_read.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for (_, start, compiled) in regexes(context) {
        // Of one that is not used, `unusable-regex` says what it is to whom.
        if compiled.is_err() {
            continue;
        }
        let value = start.record.value;
        let span = context.span(value);
        found.report(span, || {
            Draft::new(
                format!("{} is read as a regular expression by few crawlers", quoted(value)),
                format!(
                    "Crawlers that follow draft-jimenez-tbd-robotstxt-update match it with their name; to all \
                     others, Google among them, it is {}.",
                    read_as_a_name(value)
                ),
            )
        });
    }
}

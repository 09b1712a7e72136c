//! A user-agent line is a regular expression, which few crawlers read.
//!
//! ## What is wrong
//!
//! Nothing, to crawlers that follow draft-jimenez-tbd-robotstxt-update. RFC 9309 has no regular
//! expressions in names.
//!
//! ## What crawlers make of it
//!
//! Those that follow the draft use the group if the expression matches their whole name (AIA-2). To all
//! others, Google among them, it is a name that no crawler has.
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
use crate::lint::rules::Names;

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
    for start in context.groups.iter().flat_map(|group| &group.starts) {
        let value = start.record.value;
        let is_one = Names::of(start, context) == Names::Regex;
        if !is_one {
            continue;
        }
        found.report(context.span(value), || {
            Draft::new(
                format!("{} is read as a regular expression by few crawlers", quoted(value)),
                "Crawlers that follow draft-jimenez-tbd-robotstxt-update match it with their name; to all others, \
                 Google among them, it is a name that nobody has.",
            )
        });
    }
}

//! A user-agent line looks like a regular expression and can't be used as one.
//!
//! ## What is wrong
//!
//! The expression does not compile, is too large, or is one too many for a file.
//!
//! ## What crawlers make of it
//!
//! Those that read regular expressions (draft-jimenez-tbd-robotstxt-update) drop the line, so that it
//! names nobody (AIA-3). Others read the name that it starts with, if it does, and else one that no
//! crawler has.
//!
//! ## Example
//!
//! ```text
//! User-agent: (.*-ai
//! Disallow: /
//! ```
//!
//! Close the bracket. A plain name needs no regular expression.

use crate::lint::prelude::*;
use crate::lint::rules::{Names, read_as_a_name};
use crate::selection::{MOST_REGEXES, compile};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G008",
    name: "unusable-regex",
    summary: "a user-agent line is a regular expression that can't be used",
    severity: Severity::Error,
    by_default: true,
    clauses: &[Clause::AIA_3],
    source: include_str!("unusable_regex.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let starts = context.groups.iter().flat_map(|group| &group.starts);
    let regexes = starts.filter(|start| Names::of(start, context) == Names::Regex);
    for (index, start) in regexes.enumerate() {
        let value = start.record.value;
        let is_one_too_many = index >= MOST_REGEXES;
        if !is_one_too_many && compile(value).is_some() {
            continue;
        }
        found.report(context.span(value), || {
            let message = if is_one_too_many {
                format!("{} is one regular expression too many: {MOST_REGEXES} are read", quoted(value))
            } else {
                format!("{} is not a regular expression that compiles, or is too large", quoted(value))
            };
            Draft::new(
                message,
                format!(
                    "Crawlers that read regular expressions drop the line; to others it is {}.",
                    read_as_a_name(value)
                ),
            )
        });
    }
}

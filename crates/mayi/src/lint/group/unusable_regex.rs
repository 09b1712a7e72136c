//! A user-agent line looks like a regular expression but can't be used as one.
//!
//! ## What is wrong
//!
//! The expression does not compile or is too large, or the file has too many expressions. An expression has at most 1,000
//! octets, even with its counts written out: `(ab){100}` has 200. The work for all expressions of a file is limited too.
//!
//! ## What crawlers do
//!
//! Crawlers that read regular expressions (draft-jimenez-tbd-robotstxt-update) ignore the line, so it
//! names no crawler (AIA-3). Others read the name that it starts with; if it does not start with a
//! name, it matches no crawler.
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
use crate::lint::rules::{read_as_a_name, regexes};
use crate::regexes::Unused;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G008",
    name: "unusable-regex",
    summary: "a user-agent line is a regular expression that can't be used",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::AIA_3],
    source: include_str!("unusable_regex.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for (_, start, compiled) in regexes(context) {
        let Err(why) = compiled else { continue };
        let value = start.record.value;
        found.report(context.span(value), || {
            let value = quoted(value);
            let message = match why {
                Unused::NotOne => format!("{value} is neither the name of a crawler nor a regular expression"),
                Unused::TooLarge => format!(
                    "the regular expression {value} is too large: it may have at most 1,000 octets, even with its \
                     counts written out"
                ),
                Unused::OneTooMany => format!(
                    "the regular expression {value} is not used: together with those before it, it exceeds the \
                     limit for a file"
                ),
            };
            Draft::new(
                message,
                format!(
                    "Crawlers that read regular expressions ignore the line; for others it is {}.",
                    read_as_a_name(start.record.value)
                ),
            )
        });
    }
}

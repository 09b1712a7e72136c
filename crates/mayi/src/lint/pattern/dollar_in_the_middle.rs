//! A `$` stands in a pattern, but not at its end.
//!
//! ## What is wrong
//!
//! `$` anchors a pattern to the end of the URL when it is the pattern's last character. Anywhere else
//! it is a dollar sign.
//!
//! ## What crawlers make of it
//!
//! They look for a dollar sign in the URL (REP-15). Some libraries take every `$` as the end, and then
//! the rule never matches.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /*.php$*
//! ```
//!
//! Write `/*.php$`, or `/*.php`. Where a dollar sign is meant, write `%24`. A `$` before a letter, a
//! digit or a bracket, as in `?$filter=`, is taken as meant and not reported.

use crate::lint::prelude::*;
use crate::lint::rules::{can_match, patterns};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P008",
    name: "dollar-in-the-middle",
    summary: "a `$` stands in a pattern, but not at its end",
    severity: Severity::Warning,
    by_default: true,
    clauses: &[Clause::REP_15],
    source: include_str!("dollar_in_the_middle.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for rule in patterns(context).filter(|rule| can_match(&rule.record)) {
        let value = rule.record.value;
        let is_odd = |at: &usize| value.get(at + 1).is_some_and(|next| b"*/?$.& \t".contains(next));
        let Some(at) = memchr::memchr_iter(b'$', value).find(is_odd) else { continue };
        let start = context.span(value).start + at as u32;
        found.report(Span { start, end: start + 1 }, || {
            Draft::new(
                "this `$` is not at the end of the pattern, and is a dollar sign",
                "Crawlers that follow RFC 9309, Google's among them, look for a dollar sign in the URL.",
            )
        });
    }
}

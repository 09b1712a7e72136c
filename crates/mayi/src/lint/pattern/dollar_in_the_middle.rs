//! A `$` is in a pattern, but not at its end.
//!
//! ## What is wrong
//!
//! A `$` at the end of a pattern means the end of the URL. Anywhere else it is a dollar sign.
//!
//! ## What crawlers do
//!
//! Crawlers that follow RFC 9309 match a literal dollar sign (REP-15). Some libraries read every `$` as
//! the end of the URL, and then the rule never matches.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /*.php$*
//! ```
//!
//! Write `/*.php$`, or `/*.php`. If you mean a dollar sign, write `%24`. A `$` before a letter, a digit
//! or a bracket, as in `?$filter=`, is probably intended and is not reported.

use crate::lint::prelude::*;
use crate::lint::rules::{can_match, patterns};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P008",
    name: "dollar-in-the-middle",
    summary: "a `$` is in a pattern, but not at its end",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
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
                "this `$` is not at the end of the pattern, so it is a plain dollar sign",
                "Crawlers that follow RFC 9309, including Google's, look for a dollar sign in the URL.",
            )
        });
    }
}

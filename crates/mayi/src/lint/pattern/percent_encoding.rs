//! A `%` in a pattern is not followed by two hexadecimal digits.
//!
//! ## What is wrong
//!
//! A percent-encoded octet is `%` and two of `0-9 A-F`. A `%` without them is compared as it is, and
//! URLs hardly ever have one: a raw `%` is sent as `%25`.
//!
//! ## What crawlers do
//!
//! Crawlers leave it as it is (REP-11), so the pattern matches only URLs with the same stray `%`.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /100%/
//! Disallow: /caf%u00e9/
//! ```
//!
//! Write `/100%25/` and `/caf%C3%A9/`.

use crate::lint::prelude::*;
use crate::lint::rules::{can_match, patterns};
use crate::percent::escaped;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P007",
    name: "percent-encoding",
    summary: "a `%` is not followed by two hexadecimal digits",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_11],
    source: include_str!("percent_encoding.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for rule in patterns(context).filter(|rule| can_match(&rule.record)) {
        let value = rule.record.value;
        let mut strays =
            memchr::memchr_iter(b'%', value).filter(|at| escaped(&value[at + 1..]).is_none());
        let Some(at) = strays.next() else { continue };
        let start = context.span(value).start + at as u32;
        let length = value[at..].iter().take(3).take_while(|octet| octet.is_ascii_graphic()).count();
        let span = Span { start, end: start + length as u32 };
        found.report(span, || {
            let what = quoted(&context.text[span.range()]);
            let edit = Edit::new(Span { end: span.start + 1, ..span }, "%25");
            Draft::new(
                format!("{what} is not `%` and two hexadecimal digits"),
                "Crawlers compare the `%` as it is, and URLs hardly ever have a raw one.",
            )
            .fixed_by(Fix::unsafe_("write `%25`, if you mean a percent sign", vec![edit]))
        });
    }
}

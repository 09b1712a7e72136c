//! Google compares a pattern differently.
//!
//! ## What is wrong
//!
//! By RFC 9309, pattern and URL are normalised before they are compared. Google's parser normalises
//! only parts of the pattern. If a character is percent-encoded in URLs, it must be percent-encoded in
//! the pattern too.
//!
//! ## What crawlers do
//!
//! Those that follow RFC 9309 compare `/a b` with `/a%20b` and find them equal (REP-11), and read `%2A`
//! as a literal `*` (REP-16). Google compares a raw space, which no URL has. It treats `%7E` and `~` as
//! different, and also `[` and `%5B`, and after a `?` also `/` and `%2F` (REP-12).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /my files/
//! Disallow: /%7Euser/
//! ```
//!
//! Write `/my%20files/` and `/~user/`, which all crawlers read the same way.

use crate::dialect::{Comparison, Dialect};
use crate::lint::characters::template_in;
use crate::lint::prelude::*;
use crate::lint::rules::can_match;
use crate::lint::syntax::markup::markup_span;
use crate::lint::syntax::missing_line_break::second_record;
use crate::percent::{escaped, means_the_same_raw, normalise};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "D002",
    name: "compared-differently",
    summary: "Google compares a pattern differently",
    severity: Severity::Warning,
    by_default: true,
    fixes: false,
    clauses: &[Clause::REP_11, Clause::REP_12, Clause::REP_16],
    source: include_str!("compared_differently.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    if context.text_start().is_none() {
        return;
    }
    let compares_as_written =
        |(dialect, _): &(&Dialect, _)| dialect.comparison == Comparison::AsWritten;
    let Some((_, reader)) = Dialect::met().find(compares_as_written) else { return };
    let entries =
        context.known_records().filter(|rule| rule.kind().is_some() && can_match(&rule.record));
    for rule in entries {
        let value = rule.record.value;
        let Some((at, length)) = first_difference(value) else {
            report_two_spellings(context, found, value, reader);
            continue;
        };
        let start = String::from_utf8_lossy(&value[..value.len().min(300)]);
        if template_in(&start).is_some()
            || markup_span(value).is_some()
            || second_record(context, value).is_some()
        {
            continue; // the intended pattern is not known
        }
        let whole = context.span(value);
        let start = whole.start + at as u32;
        let span = Span { start, end: start + length as u32 };
        found.report(span, || {
            let part = &value[at..at + length];
            let ours = normalise(part);
            let (written, compared) = (quoted(part), quoted(&ours));
            if matches!(&*ours, b"%2A" | b"%24") {
                return Draft::new(
                    format!("only some crawlers read {written} as the character itself"),
                    format!("Crawlers that follow RFC 9309 match the character in a URL, raw or encoded; {reader} matches only {written}."),
                )
                .with_severity(Severity::Note);
            }
            let fixed = normalise(value).into_owned();
            Draft::new(
                format!("some crawlers compare {written} as {compared}, but {reader} compares it as it is"),
                format!(
                    "Crawlers that follow RFC 9309 compare {compared}; {reader} compares {}, which URLs hardly ever have.",
                    written.to_ascii_uppercase()
                ),
            )
            .fixed_by(Fix::unsafe_(format!("write {}", quoted(&fixed)), vec![Edit::new(whole, fixed.clone())]))
        });
    }
}

/// Reports a character that RFC 9309 compares the same raw and encoded and another dialect does not: a bracket,
/// because URLs write it in both ways, or an escape of a character that is usually raw in URLs.
fn report_two_spellings(
    context: &Context<'_, '_>,
    found: &mut Found<'_>,
    pattern: &[u8],
    reader: &str,
) {
    let query = memchr::memchr(b'?', pattern).unwrap_or(pattern.len());
    let first = pattern.iter().enumerate().find_map(|(at, &octet)| match octet {
        b'[' | b']' => Some((at, 1, octet)),
        b'%' => {
            let octet = escaped(&pattern[at + 1..])?;
            let is_one = means_the_same_raw(octet) || at > query && b"/?#".contains(&octet);
            is_one.then_some((at, 3, octet))
        }
        _ => None,
    });
    let Some((at, length, octet)) = first else { return };
    let start = context.span(pattern).start + at as u32;
    found.report(Span { start, end: start + length }, || {
        let (raw, encoded) = (char::from(octet), format!("%{octet:02X}"));
        let (written, other) =
            if length == 1 { (raw.to_string(), encoded) } else { (encoded, raw.to_string()) };
        Draft::new(
            format!("{reader} treats `{written}` and `{other}` as different"),
            format!("Crawlers that follow RFC 9309 match both `{written}` and `{other}`; {reader} matches only `{written}`."),
        )
        .with_severity(Severity::Note)
    });
}

/// The first part of a pattern that is compared differently: where it starts, and how many octets it has.
fn first_difference(pattern: &[u8]) -> Option<(usize, usize)> {
    let is_odd = |octet: u8| matches!(octet, b' ' | b'\t' | b'"' | b'<' | b'>' | b'`' | b'{' | b'}');
    pattern.iter().enumerate().find_map(|(at, &octet)| {
        if is_odd(octet) {
            return Some((at, 1));
        }
        let value = (octet == b'%').then(|| escaped(&pattern[at + 1..])).flatten()?;
        let unreserved = value.is_ascii_alphanumeric() || b"-._~*$".contains(&value);
        unreserved.then_some((at, 3))
    })
}

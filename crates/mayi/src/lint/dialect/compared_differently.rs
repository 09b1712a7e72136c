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
//! Crawlers that follow RFC 9309 compare `/a b` with `/a%20b` and find them equal (REP-11), and read
//! `%2A` as a literal `*` (REP-16). Google compares a raw space, which no URL has. It treats `%7E` and
//! `~` as different, and also `[` and `%5B`, and after a `?` also `/` and `%2F` (REP-12).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /my files/
//! Disallow: /%7Euser/
//! ```
//!
//! Write `/my%20files/` and `/~user/`, which all crawlers read the same way. A rule is not reported if
//! Google does not use it, because Google's crawlers have a group of their own, or if another rule of the
//! group says the same about more URLs.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::dialect::{Comparison, Dialect};
use crate::directive::RuleKind;
use crate::lint::characters::{is_invisible, is_regex_pattern, template_in};
use crate::lint::groups::GroupView;
use crate::lint::pattern::several_paths::has_several_paths;
use crate::lint::prelude::*;
use crate::lint::rules::{Core, Names, can_match};
use crate::lint::syntax::markup::markup_span;
use crate::lint::syntax::missing_line_break::second_record;
use crate::percent::{escaped, means_the_same_raw, normalise};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "D002",
    name: "compared-differently",
    summary: "Google compares a pattern differently",
    severity: Severity::Warning,
    other_severities: &[Severity::Note],
    set: LintSet::Default,
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
    // A file that has a pattern in both spellings has one for every crawler.
    let hasher = RandomState::new();
    let written = LazyCell::new(|| -> HashSet<u64> {
        context.groups.rules().map(|(_, rule)| hasher.hash_one(rule.record.value)).collect()
    });
    let is_written = |pattern: &[u8]| written.contains(&hasher.hash_one(pattern));
    // The crawlers of Google's search fall back to the group of Googlebot, and to that of `*` only without it.
    let is_main = |start: &Entry<'_>| matches!(Names::of(start, context), Names::Token { token, .. } if token.eq_ignore_ascii_case(b"Googlebot"));
    let has_main = context.groups.starts().iter().any(is_main);
    let is_used = |start: &Entry<'_>| {
        !has_main && Names::of(start, context) == Names::Global || names_one_of(reader, start, context)
    };
    let groups = context.groups.iter().filter(|group| group.starts.iter().any(is_used));
    let rules = groups.flat_map(|group| group.rules().map(move |(kind, rule)| (group, kind, rule)));
    let mut compared = 0;
    for (group, kind, rule) in rules.filter(|(_, _, rule)| can_match(&rule.record)) {
        let value = rule.record.value;
        let start = String::from_utf8_lossy(&value[..value.len().min(300)]);
        let is_unclear = || {
            template_in(&start).is_some()
                || start.contains(is_invisible)
                || is_regex_pattern(value)
                || has_several_paths(value)
                || markup_span(value).is_some()
                || second_record(context, value).is_some()
        };
        let Some((at, length)) = first_difference(value) else {
            let other = first_of_two_spellings(value);
            if let Some(spelling) =
                other.filter(|spelling| !is_written(&spelling.other(value)) && !is_unclear())
            {
                spelling.report(context, found, value, reader);
            }
            continue;
        };
        // If the intended pattern is not known, there is nothing to say about how it is compared.
        let normalised = normalise(value);
        if is_unclear() || *normalised != *value && is_written(&normalised) {
            continue;
        }
        compared += 1;
        if compared <= MOST_COMPARED && says_the_same(context, group, kind, &normalised) {
            continue;
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

/// Whether a line names a crawler of an operator. Those of Google's search have its name in theirs.
fn names_one_of(operator: &str, start: &Entry<'_>, context: &Context<'_, '_>) -> bool {
    let Names::Token { token, .. } = Names::of(start, context) else { return false };
    token.windows(operator.len()).any(|part| part.eq_ignore_ascii_case(operator.as_bytes()))
}

/// So many rules of a file are compared with all others of their group: one by one would be a matter of pairs.
const MOST_COMPARED: usize = 64;

/// Whether another rule of a group says the same of everything that a pattern matches once it is written right, and
/// none that says otherwise comes between. Without budget to find out, it does not.
fn says_the_same(
    context: &Context<'_, '_>,
    group: GroupView<'_, '_>,
    kind: RuleKind,
    pattern: &[u8],
) -> bool {
    if !context.spend(group.entries.len() * (8 + pattern.len())) {
        return false;
    }
    let core = |pattern| Core::of(pattern, Comparison::AsWritten);
    let (meant, _) = core(pattern);
    let others = group.rules().filter(|(_, other)| {
        can_match(&other.record) && first_difference(other.record.value).is_none()
    });
    let others: Vec<_> = others.map(|(kind, other)| (kind, core(other.record.value))).collect();
    let covering = others.iter().filter(|(other, (core, _))| *other == kind && core.covers(&meant));
    let Some(longest) = covering.map(|(_, (_, octets))| *octets).max() else { return false };
    !others.iter().any(|(other, (core, octets))| {
        *other != kind
            && *octets >= longest
            && (core.has_wildcard() || core.covers(&meant) || meant.covers(core))
    })
}

/// A character of a pattern that RFC 9309 compares the same raw and encoded and another dialect does not.
struct Spelling {
    at: usize,
    octet: u8,
    is_encoded: bool,
}

/// The first of them: a bracket, because URLs write it in both ways, or an escape of a character that is usually raw in
/// URLs.
fn first_of_two_spellings(pattern: &[u8]) -> Option<Spelling> {
    // What has a `=` and no `?` is a part of a query after a wildcard.
    let part = || memchr::memchr(b'=', pattern).map(|_| 0);
    let query = memchr::memchr2(b'?', b'&', pattern).or_else(part).unwrap_or(pattern.len());
    pattern.iter().enumerate().find_map(|(at, &octet)| match octet {
        b'[' | b']' => Some(Spelling { at, octet, is_encoded: false }),
        b'%' => {
            // A query is copied from URLs, in the one spelling that they have.
            let octet = escaped(&pattern[at + 1..]).filter(|_| at < query)?;
            let is_one = means_the_same_raw(octet);
            is_one.then_some(Spelling { at, octet, is_encoded: true })
        }
        _ => None,
    })
}

impl Spelling {
    /// The character as it is written, and in its other spelling.
    fn both(&self) -> (String, String) {
        let (raw, encoded) = (char::from(self.octet).to_string(), format!("%{:02X}", self.octet));
        if self.is_encoded { (encoded, raw) } else { (raw, encoded) }
    }

    /// The pattern with the other spelling of the character.
    fn other(&self, pattern: &[u8]) -> Vec<u8> {
        let (written, other) = self.both();
        let behind = &pattern[self.at + written.len()..];
        [&pattern[..self.at], other.as_bytes(), behind].concat()
    }

    fn report(&self, context: &Context<'_, '_>, found: &mut Found<'_>, pattern: &[u8], reader: &str) {
        let (written, other) = self.both();
        let start = context.span(pattern).start + self.at as u32;
        found.report(Span { start, end: start + written.len() as u32 }, || {
            Draft::new(
                format!("{reader} treats `{written}` and `{other}` as different"),
                format!("Crawlers that follow RFC 9309 match both `{written}` and `{other}`; {reader} matches only `{written}`."),
            )
            .with_severity(Severity::Note)
        });
    }
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

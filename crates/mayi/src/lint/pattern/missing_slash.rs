//! A pattern does not start with `/`, so it matches nothing.
//!
//! ## What is wrong
//!
//! A pattern is compared with the URL's path from the first character on, and every path starts with
//! `/`. `private/` matches no URL at all.
//!
//! ## What crawlers do
//!
//! Crawlers that follow RFC 9309, including Google's, keep the rule, but it never matches (WILD-4).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: private/
//! ```
//!
//! Write `/private/`. For something anywhere in the URL, such as `.php` or `?page=`, write `/*.php` or
//! `/*?page=`. An `Allow` is not reported if there is nothing that it could allow: no rule of its group
//! disallows anything, or, for a kind of file such as `.css`, only single files of other kinds are
//! disallowed.

use std::cell::LazyCell;
use std::collections::HashSet;

use crate::directive::RuleKind;
use crate::lint::characters::{ascii_of, is_invisible, is_regex_pattern, template_in};
use crate::lint::pattern::whole_url::path_of_url;
use crate::lint::prelude::*;
use crate::lint::rules::{can_match, patterns};
use crate::lint::syntax::markup::markup_span;
use crate::lint::syntax::missing_line_break::second_record;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P001",
    name: "missing-slash",
    summary: "a pattern does not start with `/`, so it matches nothing",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::WILD_4, Clause::REP_7],
    source: include_str!("missing_slash.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let needless = LazyCell::new(|| needless_allows(context));
    for rule in patterns(context) {
        let value = rule.record.value;
        if value.is_empty() || can_match(&rule.record) || path_of_url(value).is_some() {
            continue;
        }
        // Other lints report invisible characters, placeholders, records that are glued together and regular
        // expressions.
        let start = String::from_utf8_lossy(&value[..value.len().min(300)]);
        let is_odd = |c: char| is_invisible(c) || c == '\u{feff}';
        let is_glued = second_record(context, value).is_some();
        let is_markup = markup_span(value).is_some_and(|(from, _)| from == 0);
        let is_regex = is_regex_pattern(value);
        if start.starts_with(is_odd)
            || template_in(&start).is_some()
            || is_glued
            || is_markup
            || is_regex
            || needless.contains(&rule.line)
        {
            continue;
        }
        let span = context.span(value);
        found.report(span, || {
            // A second colon or quotation marks are not the start of the path.
            let trimmed = value.trim_ascii_start();
            // A form feed or a vertical tab is white space here, but it is still the value of the rule.
            let value = if trimmed.is_empty() { value } else { trimmed };
            let odd = value.iter().take_while(|octet| b":=\"' \t".contains(octet)).count();
            let value = if odd < value.len() { &value[odd..] } else { value };
            let slash = start.chars().next().filter(|first| *first != '/' && ascii_of(*first) == '/');
            let meant = match value {
                _ if slash.is_some() => [b"/", &value[slash.map_or(0, char::len_utf8)..]].concat(),
                [b'/' | b'*', ..] => value.to_vec(),
                [b'?' | b'.' | b'&' | b'=', ..] => [b"/*", value].concat(),
                // A parameter is somewhere in the query.
                _ if value.contains(&b'=') && !value.contains(&b'/') => [b"/*", value].concat(),
                [b'\\', ..] => {
                    value.iter().map(|octet| if *octet == b'\\' { b'/' } else { *octet }).collect()
                }
                _ => path_below_host(value).map_or_else(|| [b"/", value].concat(), <[u8]>::to_vec),
            };
            Draft::new(
                format!("{} does not start with `/`, but every path does", quoted(value)),
                "Every crawler keeps the rule, but it never matches.",
            )
            .fixed_by(Fix::unsafe_(format!("write {}", quoted(&meant)), vec![Edit::new(span, meant)]))
        });
    }
}

/// The path of an address without a scheme, where it starts with what is surely a host.
fn path_below_host(value: &[u8]) -> Option<&[u8]> {
    let (host, path) = value.split_at(memchr::memchr(b'/', value)?);
    let ends = [&b".com"[..], b".net", b".org"];
    ends.iter().any(|end| host.to_ascii_lowercase().ends_with(end)).then_some(path)
}

/// The lines of the rules that allow, and that would change nothing if they were right: no rule disallows what they could
/// open.
fn needless_allows(context: &Context<'_, '_>) -> HashSet<usize> {
    let mut needless = HashSet::new();
    for group in context.groups.iter() {
        let disallowed = || {
            let rules = group.rules().filter(|(kind, _)| *kind == RuleKind::Disallow);
            rules.map(|(_, rule)| rule.record.value).filter(|value| !value.is_empty())
        };
        // In a folder, or after a wildcard, there can be files of every kind.
        let is_one_file = |pattern: &[u8]| {
            let name = pattern.rsplit(|octet| *octet == b'/').next().unwrap_or_default();
            name.contains(&b'.') && !pattern.contains(&b'*')
        };
        let (is_open, are_files) = (disallowed().next().is_none(), disallowed().all(is_one_file));
        let is_needless = |(kind, rule): &(RuleKind, &Entry<'_>)| {
            let value = rule.record.value;
            *kind == RuleKind::Allow
                && !can_match(&rule.record)
                && (is_open || are_files && value.starts_with(b"."))
        };
        needless.extend(group.rules().filter(is_needless).map(|(_, rule)| rule.line));
    }
    needless
}

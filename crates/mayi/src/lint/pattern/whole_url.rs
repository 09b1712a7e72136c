//! A pattern is a whole URL, so it matches nothing.
//!
//! ## What is wrong
//!
//! A pattern is compared with the path and query of a URL. Scheme and host are not compared, and the
//! file is only for its own host.
//!
//! ## What crawlers do
//!
//! Crawlers that follow RFC 9309, including Google's, keep the rule, but it never matches (WILD-4).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: https://example.com/private/
//! ```
//!
//! Write `/private/`, in the file of that host.

use crate::lint::prelude::*;
use crate::lint::rules::{can_match, patterns};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P002",
    name: "whole-url",
    summary: "a pattern is a whole URL, so it matches nothing",
    severity: Severity::Error,
    other_severities: &[Severity::Warning],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::WILD_4, Clause::REP_7],
    source: include_str!("whole_url.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for rule in patterns(context) {
        let value = rule.record.value;
        let behind_slashes = value.strip_prefix(b"//").filter(|rest| path_of_url(rest).is_some());
        if let Some(rest) = behind_slashes {
            let span = context.span(value);
            found.report(span, || {
                let draft = Draft::new(
                    "the pattern starts with `//` and a host, but patterns are compared only with the path",
                    "Every crawler keeps the rule, but it matches only URLs whose path starts with all of this.",
                );
                with_fix(draft.with_severity(Severity::Warning), context, span, rest)
            });
            continue;
        }
        if can_match(&rule.record) {
            continue;
        }
        if path_of_url(value).is_none() {
            continue;
        }
        let span = context.span(value);
        found.report(span, || {
            let draft = Draft::new(
                "the pattern is a whole URL, but patterns are compared only with the path",
                "Every crawler keeps the rule, but it never matches.",
            );
            with_fix(draft, context, span, value)
        });
    }
}

/// With the path instead of the URL, if the file is of the same host. The path of another host would be a rule for
/// this site that nobody meant.
fn with_fix(mut draft: Draft, context: &Context<'_, '_>, span: Span, value: &[u8]) -> Draft {
    let Some((host, path)) = host_and_path(value) else { return draft };
    let path = if path.is_empty() { b"/" } else { path };
    let own = context.host();
    if own.is_some_and(|own| own.as_bytes().eq_ignore_ascii_case(host)) {
        let label = format!("write {}", quoted(path));
        return draft.fixed_by(Fix::unsafe_(label, vec![Edit::new(span, path)]));
    }
    let host = quoted(host);
    let advice = match own {
        Some(_) => format!(" Rules for {host} belong in the robots.txt file of that host."),
        None => format!(
            " If this is the file of {host}, write {}; if not, the rule belongs in the file of that host.",
            quoted(path)
        ),
    };
    draft.reading.to_mut().push_str(&advice);
    draft
}

/// The path of a value that is a URL, or starts with a host.
pub(in crate::lint) fn path_of_url(value: &[u8]) -> Option<&[u8]> {
    host_and_path(value).map(|(_, path)| path)
}

fn host_and_path(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let schemes = [&b"http://"[..], b"https://"];
    let has = |scheme: &&&[u8]| {
        value.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    let scheme = schemes.iter().find(has).map_or(0, |scheme| scheme.len());
    let rest = &value[scheme..];
    let length = rest.iter().position(|octet| b"/?".contains(octet)).unwrap_or(rest.len());
    let (host, path) = rest.split_at(length);
    // Without a scheme, a host needs two dots to be distinguished from a file.
    let dots = memchr::memchr_iter(b'.', host).count();
    let in_host = |octet: &u8| octet.is_ascii_alphanumeric() || b".-".contains(octet);
    let is_dotted = host.split(|octet| *octet == b'.').all(|label| !label.is_empty());
    let looks_like_one = dots >= 2 && is_dotted && host.iter().all(in_host) && !path.is_empty();
    (scheme > 0 || looks_like_one).then_some((host, path))
}

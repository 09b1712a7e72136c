//! The name of a crawler has a version, or something else, after it.
//!
//! ## What is wrong
//!
//! A crawler is named by its product token in robots.txt: `Googlebot`, not `Googlebot/2.1` or `Googlebot*`.
//! What follows the token has no meaning: the line is for every version.
//!
//! ## What crawlers do
//!
//! Crawlers that follow RFC 9309, including Google's, read the name up to there and ignore the rest
//! (REP-4). Some libraries compare the whole value, and find no such crawler.
//!
//! ## Example
//!
//! ```text
//! User-agent: ExampleBot/1.0
//! Disallow: /private/
//! ```
//!
//! Write `User-agent: ExampleBot`.

use crate::lint::prelude::*;
use crate::lint::rules::Names;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G014",
    name: "crawler-version",
    summary: "the name of a crawler has a version, or something else, after it",
    severity: Severity::Note,
    other_severities: &[],
    set: LintSet::Style,
    fixes: true,
    clauses: &[Clause::REP_4],
    source: include_str!("crawler_version.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for start in context.groups.starts() {
        let Names::Token { token, rest } = Names::of(start, context) else { continue };
        if rest.is_empty() || !is_harmless(token, rest) {
            continue;
        }
        let span = context.span(start.record.value);
        found.report(span, || {
            let name = quoted(token);
            let message = match rest {
                b"*" => "the name of a crawler has no wildcard",
                _ if is_version(rest) => "the name of a crawler has no version",
                _ => "what follows the name of a crawler has no meaning",
            };
            // What is no version may have a meaning to its author.
            let safe = (rest == b"*" || is_version(rest)) && context.is_read_alike(start);
            Draft::new(
                message,
                format!(
                    "Crawlers that follow RFC 9309 read the line as {name}; some others compare all of it, and find no such crawler."
                ),
            )
            .fixed_by(Fix { label: format!("write {name}"), edits: vec![Edit::new(span, token)], safe })
        });
    }
}

/// Whether a name is the one that was meant, although something follows it: no word follows. The User-Agent strings
/// of browsers name nobody.
pub(in crate::lint) fn is_harmless(token: &[u8], rest: &[u8]) -> bool {
    let next = rest.trim_ascii_start().first();
    let is_no_word = next.is_none_or(|octet| octet.is_ascii_digit() || b"/(+-[".contains(octet));
    rest == b"*" || is_no_word && !token.eq_ignore_ascii_case(b"Mozilla")
}

/// Whether what follows a name is a version, such as `/2.0`, `/v3` or `/1.0b`, and perhaps more words.
fn is_version(rest: &[u8]) -> bool {
    let Some(version) = rest.strip_prefix(b"/") else { return false };
    let version = version.split(|octet| b" \t".contains(octet)).next().unwrap_or_default();
    let digits = version.strip_prefix(b"v").unwrap_or(version);
    let is_part = |octet: &u8| octet.is_ascii_alphanumeric() || b".-_+".contains(octet);
    digits.first().is_some_and(u8::is_ascii_digit) && digits.iter().all(is_part)
}

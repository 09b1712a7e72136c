//! The name of a crawler has characters that a name can't have.
//!
//! ## What is wrong
//!
//! A crawler is named by its product token in robots.txt: `Googlebot`, not `Google Bot` and not the whole
//! User-Agent string. Crawlers do not compare anything from the first character on that a token can't
//! have. [G014](G014.md) reports a version, which changes nothing.
//!
//! ## What crawlers do
//!
//! They compare what is before that character: `Google Bot` is for a crawler called `Google`, and
//! `Googlebot, Bingbot` is only for Googlebot.
//!
//! ## Example
//!
//! ```text
//! User-agent: Example Bot
//! Disallow: /private/
//! ```
//!
//! Write the token from the crawler's own documentation, and one line for each crawler.

use super::crawler_version::is_harmless;
use crate::lint::prelude::*;
use crate::lint::rules::Names;
use crate::lint::syntax::look_alike::look_alike_name;
use crate::registry::Registry;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G007",
    name: "crawler-name",
    summary: "the name of a crawler has characters that a name can't have",
    severity: Severity::Warning,
    other_severities: &[Severity::Error],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_4],
    source: include_str!("crawler_name.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for start in context.groups.starts() {
        let Names::Token { token, rest } = Names::of(start, context) else { continue };
        let is_mozilla = token.eq_ignore_ascii_case(b"Mozilla");
        // `crawler-version` reports what changes nothing.
        if rest.is_empty() || is_harmless(token, rest) || look_alike_name(start.record.value).is_some()
        {
            continue;
        }
        let span = context.span(start.record.value);
        found.report(span, || {
            let (value, name) = (start.record.value, quoted(token));
            let registry = context.robots.registry();
            let reading = format!(
                "Crawlers that follow RFC 9309 read the line as {name}; some others compare all of it, and find no such crawler."
            );
            if is_mozilla {
                return Draft::new(
                    format!(
                        "{} is a whole User-Agent string, not the name of a crawler",
                        quoted(value)
                    ),
                    "Crawlers read the line as `Mozilla`, which is not the name of any crawler.",
                )
                .about(known_in(value, registry).unwrap_or_default())
                .with_severity(Severity::Error)
                .fixed_by(known_in(value, registry).map(|known| {
                    Fix::unsafe_(format!("write `{known}`"), vec![Edit::new(span, known)])
                }));
            }
            let is_list = rest.trim_ascii_start().starts_with(b",") || rest.starts_with(b";");
            if is_list {
                let message =
                    format!("a line can name only one crawler, and this one names only {name}");
                return Draft::new(message, reading);
            }
            let fix =
                spelled_apart(value, registry).filter(|known| !known.as_bytes().eq_ignore_ascii_case(token));
            let fix = fix.map(|known| {
                Fix::unsafe_(
                    format!("write `{known}`, if you mean that crawler"),
                    vec![Edit::new(span, known)],
                )
            });
            let next = quoted(
                &rest[..rest.iter().skip(1).position(u8::is_ascii).map_or(rest.len(), |at| at + 1)],
            );
            let message = if rest[0] == b' ' || rest[0] == b'\t' {
                format!("a crawler's name has no spaces: this line is for {name}")
            } else {
                format!("a crawler's name can't contain {next}: this line is for {name}")
            };
            Draft::new(message, reading).fixed_by(fix)
        });
    }
}

/// The known crawler whose name is a word of a User-Agent string.
fn known_in<'r>(value: &[u8], registry: &'r Registry) -> Option<&'r str> {
    let text = String::from_utf8_lossy(&value[..value.len().min(500)]).into_owned();
    let in_token = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let mut words = text.split(|c| !in_token(c)).filter(|word| !word.is_empty());
    words.find_map(|word| registry.agent(word)).map(|agent| &*agent.token)
}

/// The known crawler whose name the value is without its spaces, with any version behind it. A crawler that a sentence
/// mentions is perhaps not the one that is meant.
fn spelled_apart<'r>(value: &[u8], registry: &'r Registry) -> Option<&'r str> {
    let text = String::from_utf8_lossy(&value[..value.len().min(500)]).into_owned();
    let is_version = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    let name = text.split('/').next().unwrap_or_default();
    let words: Vec<_> = name.split_whitespace().filter(|word| !is_version(word)).collect();
    let (joined, dashed) = (words.concat(), words.join("-"));
    [joined, dashed].iter().find_map(|word| registry.agent(word)).map(|agent| &*agent.token)
}

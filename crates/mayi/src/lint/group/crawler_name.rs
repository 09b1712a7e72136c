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
//! Write the token from the crawler's own documentation, and one line for each crawler. Names with spaces that
//! operators document, for example `Screaming Frog SEO Spider`, are not reported, nor is a second spelling of a
//! crawler that has its right name and the same rules elsewhere in the file.

use super::crawler_version::is_harmless;
use crate::lint::groups::GroupView;
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

/// Names that the operators of crawlers ask to be written so, against REP-4.
const DOCUMENTED: &[&str] = &[
    "Algolia Crawler",
    "Screaming Frog SEO Spider",
    "Sogou blog",
    "Sogou inst spider",
    "Sogou News Spider",
    "Sogou Orion spider",
    "Sogou Pic Spider",
    "Sogou spider",
    "Sogou spider2",
    "Sogou web spider",
];

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for group in context.groups.iter() {
        check_group(context, found, group);
    }
}

fn check_group(context: &Context<'_, '_>, found: &mut Found<'_>, group: GroupView<'_, '_>) {
    let rules = context.rules_hash(group);
    for start in group.starts {
        let Names::Token { token, rest } = Names::of(start, context) else { continue };
        let is_mozilla = token.eq_ignore_ascii_case(b"Mozilla");
        // `crawler-version` reports what changes nothing.
        if rest.is_empty() || is_harmless(token, rest) || look_alike_name(start.record.value).is_some()
        {
            continue;
        }
        let is_list = rest.trim_ascii_start().starts_with(b",") || rest.starts_with(b";");
        let name = without_version(start.record.value);
        let is_documented = DOCUMENTED.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name));
        if is_documented || !is_list && is_named_too(context, start.record.value, rules) {
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

/// A name without the version after it.
fn without_version(value: &[u8]) -> &[u8] {
    value.split(|octet| *octet == b'/').next().unwrap_or_default().trim_ascii_end()
}

/// Whether the crawler that a value seems to mean has these rules elsewhere in the file, by its right name: by a word of
/// the value, or by all of its words joined. The value is one more try then.
pub(super) fn is_named_too(context: &Context<'_, '_>, value: &[u8], rules: u64) -> bool {
    let text = String::from_utf8_lossy(&value[..value.len().min(MOST_OCTETS)]);
    let words =
        || words_of(&text).filter(|word| word.len() >= 4 && !word.eq_ignore_ascii_case("Mozilla"));
    let spaced: Vec<_> = text.split('/').next().unwrap_or_default().split_whitespace().collect();
    let joined = [spaced.concat(), spaced.join("-")];
    let is_there = |name: &str| context.has_name_with_rules(name, rules);
    spaced.len() > 1 && joined.iter().any(|name| is_there(name)) || words().any(is_there)
}

/// How much of a value is looked at for names.
const MOST_OCTETS: usize = 500;

/// The parts of a text that could be names.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let in_token = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    text.split(move |c| !in_token(c)).filter(|word| !word.is_empty())
}

/// The known crawler whose name is a word of a User-Agent string.
fn known_in<'r>(value: &[u8], registry: &'r Registry) -> Option<&'r str> {
    let text = String::from_utf8_lossy(&value[..value.len().min(MOST_OCTETS)]);
    words_of(&text).find_map(|word| registry.agent(word)).map(|agent| &*agent.token)
}

/// The known crawler whose name the value is without its spaces, with any version behind it. A crawler that a sentence
/// mentions is perhaps not the one that is meant.
fn spelled_apart<'r>(value: &[u8], registry: &'r Registry) -> Option<&'r str> {
    let text = String::from_utf8_lossy(&value[..value.len().min(MOST_OCTETS)]);
    let is_version = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    let name = text.split('/').next().unwrap_or_default();
    let words: Vec<_> = name.split_whitespace().filter(|word| !is_version(word)).collect();
    let (joined, dashed) = (words.concat(), words.join("-"));
    [joined, dashed].iter().find_map(|word| registry.agent(word)).map(|agent| &*agent.token)
}

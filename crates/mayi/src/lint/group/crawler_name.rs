//! The name of a crawler has characters that a name can't have.
//!
//! ## What is wrong
//!
//! A crawler is named by its product token in robots.txt: `Googlebot`, not `Google Bot` and not the whole
//! User-Agent string. Crawlers compare only what comes before the first character that a token can't have.
//! [G014](G014.md) reports a version, which changes nothing.
//!
//! ## What crawlers do
//!
//! Crawlers compare what is before that character: `Google Bot` is for a crawler called `Google`, and
//! `Googlebot, Bingbot` is only for Googlebot.
//!
//! ## Example
//!
//! ```text
//! User-agent: Example Bot
//! Disallow: /private/
//! ```
//!
//! Write the token from the crawler's own documentation, and one line for each crawler. These are not
//! reported:
//!
//! - names that operators document as they are, for example `Screaming Frog SEO Spider`
//! - programs that files call by the first word of their names, for example `Xenu Link Sleuth`
//! - a second spelling of a crawler that has its right name and the same rules elsewhere in the file
//! - a group that says the same as the `*` group, or that disallows nothing if there is no `*` group
//! - a group for browsers that disallows nothing, because browsers do not read the file

use std::cell::LazyCell;

use super::crawler_version::is_harmless;
use super::repeats_global::{said_to_others, says_nothing_new};
use crate::directive::RuleKind;
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

/// How the names start that the operators of crawlers ask to be written so, against REP-4.
const DOCUMENTED: &[&str] = &[
    "Algolia Crawler",
    "Hatena Antenna",
    "MS Search",
    "Screaming Frog SEO Spider",
    "Sogou blog",
    "Sogou inst spider",
    "Sogou News Spider",
    "Sogou Orion spider",
    "Sogou Pic Spider",
    "Sogou spider",
    "Sogou web spider",
    "Y!J",
    "Yahoo Pipes",
    "Yahoo!-AdCrawler",
];

/// Programs that files call by the first word of their names. A line with the whole name, which is read up to the space,
/// names them as well.
const SHORT_NAMES: &[&str] = &[
    "ADmantX",
    "BackStreet",
    "Clickagy",
    "Crescent",
    "DISCo",
    "Ezooms",
    "GetWeb",
    "Linguee",
    "Openfind",
    "SISTRIX",
    "Teleport",
    "VCI",
    "Vegi",
    "Webster",
    "WeSEE",
    "Xenu",
];

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let others = LazyCell::new(|| said_to_others(context));
    for group in context.groups.iter() {
        let changes_nothing = LazyCell::new(|| says_nothing_new(context, group, others.as_ref()));
        check_group(context, found, group, || *changes_nothing);
    }
}

fn check_group(
    context: &Context<'_, '_>,
    found: &mut Found<'_>,
    group: GroupView<'_, '_>,
    changes_nothing: impl Fn() -> bool,
) {
    let registry = context.robots.registry();
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
        let value = start.record.value;
        let is_short = || SHORT_NAMES.iter().any(|name| token.eq_ignore_ascii_case(name.as_bytes()));
        if is_documented(value) || !is_list && (is_short() || is_named_too(context, value, rules)) {
            continue;
        }
        let known = if is_mozilla { known_in(value, registry) } else { spelled_apart(value, registry) };
        let known = known.filter(|known| !known.as_bytes().eq_ignore_ascii_case(token));
        // The name of a known crawler should be right when its rules change later.
        let is_string = is_mozilla && value.iter().any(|octet| b"/(;".contains(octet));
        let is_for_browsers = || is_mozilla && !is_string && !disallows_something(group);
        if !is_list && known.is_none() && (changes_nothing() || is_for_browsers()) {
            continue;
        }
        let span = context.span(value);
        found.report(span, || {
            let name = quoted(token);
            let reading = format!(
                "Crawlers that follow RFC 9309 read the line as {name}; some others compare all of it, and find no such crawler."
            );
            if is_string {
                return Draft::new(
                    format!(
                        "{} is a whole User-Agent string, not the name of a crawler",
                        quoted(value)
                    ),
                    "Crawlers read the line as `Mozilla`, which is not the name of any crawler.",
                )
                .about(known.unwrap_or_default())
                .with_severity(Severity::Error)
                .fixed_by(known.map(|known| {
                    Fix::unsafe_(format!("write `{known}`"), vec![Edit::new(span, known)])
                }));
            }
            if is_list {
                let message =
                    format!("a line can name only one crawler, and this one names only {name}");
                return Draft::new(message, reading);
            }
            let fix = known.map(|known| {
                Fix::unsafe_(
                    format!("write `{known}`, if you mean that crawler"),
                    vec![Edit::new(span, known)],
                )
            });
            let message = format!("{} can't be the name of a crawler: this line is for {name}", quoted(value));
            Draft::new(message, format!("A name has only letters, digits, `_`, `-` and `.`. {reading}")).fixed_by(fix)
        });
    }
}

fn disallows_something(group: GroupView<'_, '_>) -> bool {
    group.rules().any(|(kind, rule)| kind == RuleKind::Disallow && !rule.record.value.is_empty())
}

/// Whether the operator of a crawler documents this name; anything except more letters may follow it.
pub(super) fn is_documented(value: &[u8]) -> bool {
    DOCUMENTED.iter().any(|known| {
        value.split_at_checked(known.len()).is_some_and(|(name, behind)| {
            name.eq_ignore_ascii_case(known.as_bytes())
                && !behind.first().is_some_and(u8::is_ascii_alphabetic)
        })
    })
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

/// The known crawler whose name is a word of a User-Agent string. A string with an address after its brackets
/// is of another client, which pretends to be the one in the brackets.
fn known_in<'r>(value: &[u8], registry: &'r Registry) -> Option<&'r str> {
    let text = String::from_utf8_lossy(&value[..value.len().min(MOST_OCTETS)]);
    if text.rsplit_once(')').is_some_and(|(_, behind)| behind.contains("://")) {
        return None;
    }
    words_of(&text).find_map(|word| registry.agent(word)).map(|agent| &*agent.token)
}

/// The known crawler whose name is the value without its spaces, with any version after it. A crawler that a
/// sentence mentions may not be the one that is meant.
fn spelled_apart<'r>(value: &[u8], registry: &'r Registry) -> Option<&'r str> {
    let text = String::from_utf8_lossy(&value[..value.len().min(MOST_OCTETS)]);
    let is_version = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    let name = text.split('/').next().unwrap_or_default();
    let words: Vec<_> = name.split_whitespace().filter(|word| !is_version(word)).collect();
    let (joined, dashed) = (words.concat(), words.join("-"));
    [joined, dashed].iter().find_map(|word| registry.agent(word)).map(|agent| &*agent.token)
}

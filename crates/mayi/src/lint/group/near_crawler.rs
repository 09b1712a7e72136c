//! The name of a crawler is almost the same as a known one.
//!
//! ## What is wrong
//!
//! No known crawler has this name, but one has a name that differs by a letter or a hyphen. Or it is
//! the name of the crawler's operator (`Google`, `OpenAI`) and not the crawler's own.
//!
//! ## What crawlers do
//!
//! Crawlers compare the whole name, ignoring upper and lower case. The line does not match the crawler
//! that was meant, so that crawler uses the `*` group.
//!
//! ## Example
//!
//! ```text
//! User-agent: Goglebot
//! Disallow: /private/
//! ```
//!
//! Write `Googlebot`. A group that says the same as the `*` group is not reported: the crawler gets those
//! rules anyway. `mayi registry list agents` prints the known names, and `--registry` adds others.

use std::cell::LazyCell;

use super::repeats_global::{said_to_others, says_nothing_new};
use crate::lint::nearest::slips;
use crate::lint::prelude::*;
use crate::lint::rules::Names;
use crate::registry::Agent;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G010",
    name: "near-crawler",
    summary: "the name of a crawler is almost the same as a known one",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::WILD_6, Clause::REP_4],
    source: include_str!("near_crawler.rs"),
    check,
};

/// Names of operators that people write in place of the crawler's name, and that no crawler has.
const FAMILIES: &[(&str, &str)] = &[
    ("google", "Googlebot"),
    ("bing", "bingbot"),
    ("msn", "msnbot"),
    ("yahoo", "Slurp"),
    ("baidu", "Baiduspider"),
    ("duckduckgo", "DuckDuckBot"),
    ("apple", "Applebot"),
    ("amazon", "Amazonbot"),
    ("ahrefs", "AhrefsBot"),
    ("semrush", "SemrushBot"),
    ("majestic", "MJ12bot"),
    ("bytedance", "Bytespider"),
    ("chatgpt", "GPTBot"),
    ("openai", "GPTBot"),
    ("gpt", "GPTBot"),
    ("anthropic", "ClaudeBot"),
    ("claude", "ClaudeBot"),
    ("perplexity", "PerplexityBot"),
    ("commoncrawl", "CCBot"),
];

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let others = LazyCell::new(|| said_to_others(context));
    for group in context.groups.iter() {
        let changes_nothing = LazyCell::new(|| says_nothing_new(context, group, others.as_ref()));
        check_group(context, found, group.starts, || *changes_nothing);
    }
}

fn check_group(
    context: &Context<'_, '_>,
    found: &mut Found<'_>,
    starts: &[Entry<'_>],
    changes_nothing: impl Fn() -> bool,
) {
    let registry = context.robots.registry();
    for start in starts {
        let Names::Token { token, rest } = Names::of(start, context) else { continue };
        let Ok(name) = str::from_utf8(token) else { continue };
        // If something follows the name, `crawler-name` reports the line.
        if !rest.is_empty() || registry.agent(name).is_some() {
            continue;
        }
        let family = FAMILIES.iter().find(|(family, _)| name.eq_ignore_ascii_case(family));
        if let Some(near) = family.and_then(|(_, token)| registry.agent(token)) {
            // If the crawler is named too, the operator's name is only there for safety.
            if !context.has_name(&near.token) && !changes_nothing() {
                report(context, found, start, name, near);
            }
            continue;
        }
        if name.len() < 7 {
            continue;
        }
        let agents = registry.agents();
        if !context.spend(agents.len() * 4) {
            return;
        }
        // A name that continues a known one is of the same family, for example SemrushBot-SA.
        let family = name.rsplit_once('-').map_or("", |(family, _)| family);
        if registry.agent(family).is_some() {
            continue;
        }
        let is_about_as_long = |token: &str| token.len().abs_diff(name.len()) <= 2;
        let mut about = agents.iter().filter(|agent| is_about_as_long(&agent.token));
        let near = about.find(|agent| is_slip(name, &agent.token));
        let Some(near) = near else { continue };
        if !context.has_name(&near.token) && changes_nothing() {
            continue;
        }
        report(context, found, start, name, near);
    }
}

fn report(
    context: &Context<'_, '_>,
    found: &mut Found<'_>,
    start: &Entry<'_>,
    name: &str,
    near: &Agent,
) {
    let span = context.span(start.record.value);
    found.report(span, || {
        let (token, operator) = (&near.token, &near.operator);
        let uses = if context.has_name(token) { "the group of its own name" } else { "the `*` group" };
        Draft::new(
            format!("no crawler is known as `{name}`; {operator}'s is called `{token}`"),
            format!("The line does not match `{token}`, which uses {uses}."),
        )
        .about(name.to_ascii_lowercase())
        .fixed_by(Fix::unsafe_(format!("write `{token}`"), vec![Edit::new(span, &**token)]))
    });
}

/// Whether a name is a misspelling of a known one: one letter too many, one too few, two letters swapped,
/// or other signs between the same letters. A changed letter makes another name: there are too many
/// crawlers to call that a misspelling.
fn is_slip(name: &str, known: &str) -> bool {
    let (name, known) = (name.as_bytes(), known.as_bytes());
    if letters(name).eq(letters(known)) {
        return true;
    }
    let is_another_letter = || {
        let differ = |(a, b): &(&u8, &u8)| !a.eq_ignore_ascii_case(b);
        name.len() == known.len() && name.iter().zip(known).filter(differ).count() == 1
    };
    slips(name, known, 1).is_some() && !is_another_letter()
}

/// The letters and digits of a name, in lower case.
fn letters(name: &[u8]) -> impl Iterator<Item = u8> {
    name.iter().filter(|octet| !b"-_.".contains(octet)).map(u8::to_ascii_lowercase)
}

//! The name of a crawler is nearly one that is known.
//!
//! ## What is wrong
//!
//! No known crawler has this name, and one has a name that differs by a letter or a hyphen.
//!
//! ## What crawlers make of it
//!
//! Names are compared whole, in any case: the crawler that was meant does not find itself in the line,
//! and uses the `*` group.
//!
//! ## Example
//!
//! ```text
//! User-agent: Goglebot
//! Disallow: /private/
//! ```
//!
//! Write `Googlebot`. `mayi registry list agents` prints the names that are known, and `--registry` adds
//! to them.

use crate::lint::nearest::slips;
use crate::lint::prelude::*;
use crate::lint::rules::Names;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G010",
    name: "near-crawler",
    summary: "the name of a crawler is nearly one that is known",
    severity: Severity::Warning,
    by_default: true,
    clauses: &[Clause::WILD_6, Clause::REP_4],
    source: include_str!("near_crawler.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let registry = context.robots.registry();
    for start in context.groups.iter().flat_map(|group| &group.starts) {
        let Names::Token { token, rest } = Names::of(start, context) else { continue };
        let Ok(name) = str::from_utf8(token) else { continue };
        // With something behind it, `crawler-name` speaks of the line.
        if name.len() < 7 || !rest.is_empty() || registry.agent(name).is_some() {
            continue;
        }
        let agents = registry.agents();
        if !context.spend(agents.len() * 8) {
            return;
        }
        let plain = |name: &str| -> Vec<u8> { name.bytes().filter(|octet| !b"-_.".contains(octet)).collect() };
        let near = agents.iter().find(|agent| {
            agent.token.len().abs_diff(name.len()) <= 2
                && (slips(name.as_bytes(), agent.token.as_bytes(), 1).is_some()
                    || plain(name).eq_ignore_ascii_case(&plain(&agent.token)))
        });
        let Some(near) = near else { continue };
        let span = context.span(start.record.value);
        found.report(span, || {
            let (token, operator) = (&near.token, &near.operator);
            Draft::new(
                format!("no crawler is known as `{name}`; {operator}'s is called `{token}`"),
                format!("`{token}` does not find itself in the line, and uses the `*` group."),
            )
            .fixed_by(Fix::unsafe_(format!("write `{token}`"), vec![Edit::new(span, token.as_str())]))
        });
    }
}

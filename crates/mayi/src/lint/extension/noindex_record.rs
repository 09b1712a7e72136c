//! `Noindex` has no effect in robots.txt.
//!
//! ## What is wrong
//!
//! `Noindex` in robots.txt was never in a specification. Google supported it unofficially until
//! September 2019.
//!
//! ## What crawlers do
//!
//! Crawlers ignore it, and the pages stay in the index.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Noindex: /old/
//! ```
//!
//! Send `X-Robots-Tag: noindex` with the pages, or write `<meta name="robots" content="noindex">` into
//! them, and do not disallow them: a crawler that may not fetch a page can't read its `noindex`. The
//! lint does not report a `Noindex` line in a group that disallows everything and names only crawlers
//! that are not known as search engines.

use std::cell::LazyCell;
use std::collections::HashSet;

use crate::directive::{NOINDEX, RuleKind};
use crate::lint::groups::GroupView;
use crate::lint::prelude::*;
use crate::lint::rules::{Names, disallows_all};
use crate::registry::AgentKind;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X011",
    name: "noindex-record",
    summary: "`Noindex` has no effect in robots.txt",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::WILD_1],
    source: include_str!("noindex_record.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let of_no_index = LazyCell::new(|| -> HashSet<usize> {
        let groups = context.groups.iter().filter(|group| only_keeps_out(*group, context));
        groups.flat_map(|group| group.entries).map(|entry| entry.line).collect()
    });
    for entry in context.records_of(&NOINDEX).filter(|entry| !of_no_index.contains(&entry.line)) {
        found.report(context.span(entry.record.name), || {
            Draft::new(
                "`Noindex` has no effect in robots.txt",
                "No large search engine reads it; Google stopped in 2019. The pages stay in the index.",
            )
        });
    }
}

/// Whether a group disallows everything to crawlers that are not known to have an index of pages.
fn only_keeps_out(group: GroupView<'_, '_>, context: &Context<'_, '_>) -> bool {
    let is_of_no_index = |start: &Entry<'_>| {
        let Names::Token { token, .. } = Names::of(start, context) else { return false };
        let known = str::from_utf8(token).ok().and_then(|token| context.robots.registry().agent(token));
        known.is_none_or(|agent| !agent.serves(AgentKind::Search))
    };
    group.rules().any(|rule| disallows_all(&rule))
        && group.rules().all(|(kind, _)| kind == RuleKind::Disallow)
        && group.starts.iter().all(is_of_no_index)
}

//! The same crawler is named in two groups.
//!
//! ## What is wrong
//!
//! By RFC 9309 nothing is wrong. But the groups say different things, it is easy to change one and forget
//! the other, and not every crawler combines them.
//!
//! ## What crawlers do
//!
//! Crawlers that follow RFC 9309, including Google's, combine both groups. By draft-koster-rep-00 only
//! the first `*` group applies. Some libraries use only the first group of any name, or only the last.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /private/
//!
//! User-agent: *
//! Disallow: /tmp/
//! ```
//!
//! Write one group with both rules. [G013](G013.md) reports a name that is
//! twice in one group, and groups that say the same.

use std::cell::LazyCell;
use std::collections::HashMap;

use super::crawler_name::is_documented;
use super::crawler_version::is_harmless;
use super::repeats_global::said_by_groups;
use crate::lint::prelude::*;
use crate::lint::rules::Names;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G002",
    name: "repeated-crawler",
    summary: "the same crawler is named in two groups",
    severity: Severity::Note,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_5, Clause::REP_6],
    source: include_str!("repeated_crawler.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for_each_repeat(context, |repeat, name, first, start| {
        // `repeated-name` reports the others, and `crawler-name` what is no name.
        if repeat != Repeat::SaysOther || is_no_name(Names::of(start, context), name) {
            return;
        }
        found.report(context.span(start.record.value), || {
            let (who, line) = (quoted(name), first.line + 1);
            Draft::new(
                format!("{who} already has a group, at line {line}"),
                "Crawlers that follow RFC 9309, including Google's, combine both groups; some \
                 others use only the first, or only the last.",
            )
            .related(context.span(first.record.value), "the first group")
        });
    });
}

/// Whether a line is for no crawler that has its name.
fn is_no_name(names: Names<'_>, name: &[u8]) -> bool {
    matches!(names, Names::Token { token, rest } if !is_harmless(token, rest)) && !is_documented(name)
}

/// How a crawler is named again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// In the group that named it last.
    SameGroup,
    /// In a group that says the same as that one.
    SaysSame,
    /// In a group that has no record at all.
    SaysNothing,
    /// In a group that says something else.
    SaysOther,
}

/// Tells each group-start line that names a crawler or purpose again: how, its name, the line that named it first, and
/// the line itself.
pub(super) fn for_each_repeat(
    context: &Context<'_, '_>,
    mut tell: impl FnMut(Repeat, &[u8], &Entry<'_>, &Entry<'_>),
) {
    let mut seen: HashMap<_, (usize, &Entry<'_>)> = HashMap::new();
    let said_by = LazyCell::new(|| said_by_groups(context));
    for (group, view) in context.groups.iter().enumerate() {
        for start in view.starts {
            let Some((is_purpose, name)) = Names::of(start, context).named(start) else { continue };
            let slot = seen.entry((is_purpose, context.name_hash(name))).or_insert((group, start));
            let (last_group, first) = *slot;
            slot.0 = group;
            if std::ptr::eq(first, start) {
                continue;
            }
            let repeat = match last_group == group {
                true => Repeat::SameGroup,
                false if view.entries.is_empty() => Repeat::SaysNothing,
                false if said_by[last_group] == said_by[group] => Repeat::SaysSame,
                false => Repeat::SaysOther,
            };
            tell(repeat, name, first, start);
        }
    }
}

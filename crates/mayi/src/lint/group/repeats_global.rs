//! A group says exactly the same as the `*` group.
//!
//! ## What is wrong
//!
//! A crawler that no group names uses the `*` group. A group of its own with the same rules has no
//! effect today, and is easily forgotten when the `*` group changes.
//!
//! ## What crawlers do
//!
//! The crawler uses its own group and gets the same answers.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /private/
//!
//! User-agent: ExampleBot
//! Disallow: /private/
//! ```
//!
//! Delete the group, or write its user-agent line above the `*` group's rules. Crawlers that are known
//! to ignore `*`, such as AdsBot-Google, need their own group and are not reported.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};

use crate::lint::groups::GroupView;
use crate::lint::prelude::*;
use crate::lint::rules::Names;
use crate::pattern::PathPattern;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G003",
    name: "repeats-global",
    summary: "a group says exactly the same as the `*` group",
    severity: Severity::Note,
    other_severities: &[],
    set: LintSet::Style,
    fixes: false,
    clauses: &[Clause::REP_6],
    source: include_str!("repeats_global.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let is_global = |start: &Entry<'_>| Names::of(start, context) == Names::Global;
    let (global, named): (Vec<_>, Vec<_>) =
        context.groups.iter().partition(|group| group.starts.iter().any(is_global));
    let Some(first) = global.first() else { return };
    let Some(says) = said_to_others(context) else { return };
    let has_rules = |group: GroupView<'_, '_>| group.rules().next().is_some();
    let mut times = std::collections::HashMap::new();
    for start in context.groups.starts() {
        *times.entry(context.name_hash(start.record.value)).or_insert(0_u32) += 1;
    }
    for group in named {
        let is_plain = |start: &Entry<'_>| {
            let Names::Token { token, .. } = Names::of(start, context) else { return false };
            let known =
                str::from_utf8(token).ok().and_then(|token| context.robots.registry().agent(token));
            // A token that the crawler falls back to comes before `*`, if the file has it.
            let is_named = |token: &str| times.contains_key(&context.name_hash(token.as_bytes()));
            let goes_to_global =
                known.is_none_or(|agent| !agent.ignores_global() && !agent.fallback().any(is_named));
            goes_to_global && times.get(&context.name_hash(start.record.value)) == Some(&1)
        };
        if !group.starts.iter().all(is_plain) || said(group.entries) != says {
            continue;
        }
        // A group without rules says only that the author thought of the crawler.
        if says.is_empty() && !(has_rules(group) && global.iter().any(|group| has_rules(*group))) {
            continue;
        }
        let value = group.starts[0].record.value;
        let global_start = first.starts.iter().find(|start| is_global(start)).expect("it has one");
        found.report(context.span(value), || {
            Draft::new(
                format!("the group of {} says the same as the group of `*`", quoted(value)),
                "The crawler gets the same answers with this group and without it.",
            )
            .related(context.span(global_start.record.value), "the same rules")
        });
    }
}

/// What the groups of `*` say together, and nothing if there are none. If the file has groups of expressions or
/// purposes, a crawler without its own group might go to one of these (PUR-3), and it is not known.
pub(super) fn said_to_others(context: &Context<'_, '_>) -> Option<Said> {
    let is_between =
        |start: &Entry<'_>| matches!(Names::of(start, context), Names::Regex | Names::Purpose);
    let is_global = |group: &GroupView<'_, '_>| {
        group.starts.iter().any(|start| Names::of(start, context) == Names::Global)
    };
    let global = context.groups.iter().filter(is_global).flat_map(|group| group.entries);
    (!context.groups.starts().iter().any(is_between)).then(|| said(global))
}

/// Whether a group says what the groups of `*` say, so that its crawlers get the same answers without it. A group that is
/// one of `*` itself says it to all of them.
pub(super) fn says_nothing_new(
    context: &Context<'_, '_>,
    group: GroupView<'_, '_>,
    to_others: Option<&Said>,
) -> bool {
    let is_global = |start: &Entry<'_>| Names::of(start, context) == Names::Global;
    !group.starts.iter().any(is_global)
        && to_others.is_some_and(|said_so| said(group.entries) == *said_so)
}

/// A number for what each group says. Groups with the same number say the same.
pub(super) fn said_by_groups(context: &Context<'_, '_>) -> Vec<u64> {
    let hasher = RandomState::new();
    context.groups.iter().map(|group| hasher.hash_one(said(group.entries))).collect()
}

/// Names of directives, and their values.
pub(super) type Said = BTreeSet<(&'static str, Vec<u8>)>;

/// What the records say; their order does not matter, and a blank rule says nothing.
pub(super) fn said<'e, 'c: 'e>(entries: impl IntoIterator<Item = &'e Entry<'c>>) -> Said {
    let all = entries.into_iter().filter(|entry| !entry.record.value.is_empty());
    all.filter_map(|entry| {
        let directive = directive_of(&entry.record)?;
        let value = match entry.kind() {
            Some(_) => PathPattern::new(entry.record.value).normalised().to_vec(),
            // A record about the whole file does not belong to the group.
            None if directive.role == crate::directive::Role::FileRecord => return None,
            None => entry.record.value.to_vec(),
        };
        Some((directive.name, value))
    })
    .collect()
}

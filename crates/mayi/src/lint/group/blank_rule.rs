//! A `Disallow` or `Allow` without a value is among other rules.
//!
//! ## What is wrong
//!
//! An empty pattern matches nothing. Alone in its group, a blank `Disallow:` is the usual way to allow
//! everything. Beside a rule that disallows everything it looks as if it cancels that rule, but it does
//! not. The same is true in a second group of the same crawler, because crawlers combine the two
//! groups. Between other rules, a path is probably missing. Otherwise a blank rule that is first or
//! last in its group is not reported: its authors mean "everything else is allowed", which is true.
//!
//! ## What crawlers do
//!
//! Crawlers read it as a rule that matches no URL (REP-9). Very old crawlers read a blank `Disallow` as
//! "allow everything".
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /
//! Disallow:
//! ```
//!
//! Delete the line. If everything should be allowed, delete the other rules instead. If a path is missing,
//! write it.

use std::collections::HashMap;

use crate::directive::RuleKind;
use crate::lint::prelude::*;
use crate::lint::rules::{Names, disallows_all};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G006",
    name: "blank-rule",
    summary: "a rule without a value is among other rules and has no effect",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_9],
    source: include_str!("blank_rule.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    // For each name, the first rule that disallows everything: groups with the same name are combined (REP-5).
    let mut by_name: HashMap<u64, &Entry<'_>> = HashMap::new();
    let name_of = |start: &Entry<'_>| match Names::of(start, context) {
        Names::Global => Some(context.name_hash(b"*")),
        Names::Token { token, .. } => Some(context.name_hash(token)),
        Names::Purpose | Names::Regex | Names::Nobody => None,
    };
    let is_blank = |(_, rule): &(RuleKind, &Entry<'_>)| rule.record.value.is_empty();
    for group in context.groups.iter() {
        let Some((_, rule)) = group.rules().find(disallows_all) else { continue };
        for name in group.starts.iter().filter_map(name_of) {
            by_name.entry(name).or_insert(rule);
        }
    }
    for group in context.groups.iter() {
        if !group.rules().any(|rule| is_blank(&rule)) {
            continue;
        }
        let mut full = group.rules().filter(|rule| !is_blank(rule)).map(|(_, rule)| rule);
        let first = full.next();
        let last = full.last().map(|rule| rule.line);
        let own = group.rules().find(disallows_all).map(|(_, rule)| rule);
        let mut names = group.starts.iter().filter_map(name_of);
        let closed = own.or_else(|| names.find_map(|name| by_name.get(&name)).copied());
        for (kind, rule) in group.rules().filter(is_blank) {
            let before = first.filter(|first| first.line < rule.line && Some(rule.line) < last);
            let Some(full) = closed.or(before) else { continue };
            let is_own = own.is_some() || closed.is_none();
            let line = context.lines.at(rule.line);
            let span = context.span(rule.record.name);
            found.report(span, || {
                let name = kind.directive().name;
                let of = if is_own { "of the group" } else { "for the same crawler" };
                // It is not known which of the two was meant.
                let fix = (is_own && line.inline_rule.is_none()).then(|| {
                    Fix::unsafe_("delete the line, if the other rules are meant", vec![line.removed()])
                });
                Draft::new(
                    format!("a blank `{name}` has no effect: the other rules {of} still apply"),
                    "Crawlers read it as a rule that matches no URL; a few very old ones read a blank \
                     Disallow as \"allow everything\".",
                )
                .related(context.span(full.record.value), "this rule still applies")
                .fixed_by(fix)
            });
        }
    }
}

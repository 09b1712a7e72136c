//! A rule is before the first user-agent line.
//!
//! ## What is wrong
//!
//! A rule belongs to a group, and the user-agent lines above it say which crawlers the group is for.
//! This rule has no group. The same is true of `Crawl-delay`, `Request-rate` and `Visit-time`.
//!
//! ## What crawlers do
//!
//! Crawlers ignore it (REP-13).
//!
//! ## Example
//!
//! ```text
//! Disallow: /private/
//! User-agent: *
//! Disallow: /tmp/
//! ```
//!
//! Write `User-agent: *` above it, or move it below the user-agent line of the crawler that it is for.

use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G001",
    name: "rule-outside-group",
    summary: "a rule is before the first user-agent line",
    severity: Severity::Error,
    other_severities: &[Severity::Warning],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_13],
    source: include_str!("rule_outside_group.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let is_alone = context.groups.is_empty();
    for (index, entry) in context.groups.outside().iter().enumerate() {
        if entry.record.value.is_empty() {
            continue; // it would have no effect in a group either
        }
        let line = context.lines.at(entry.line);
        found.report(line.content_span(context.text), || {
            let is_rule = entry.role.ends_group_start();
            let what = if is_rule { "rule" } else { "record" };
            let draft = Draft::new(
                format!("there is no user-agent line above this {what}, so it is for no crawler"),
                "Every crawler ignores it.",
            );
            let draft = if is_rule { draft } else { draft.with_severity(Severity::Warning) };
            if index > 0 || !is_alone {
                return draft;
            }
            let at = line.span.start;
            let end = match &context.text[line.span.end as usize..line.next as usize] {
                b"" => &b"\n"[..],
                end => end,
            };
            let start = [b"User-agent: *", end].concat();
            let edit = Edit::new(Span { start: at, end: at }, start);
            draft.fixed_by(Fix::unsafe_("write `User-agent: *` above it", vec![edit]))
        });
    }
}

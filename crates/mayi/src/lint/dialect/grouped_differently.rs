//! Google joins two groups that other crawlers keep apart.
//!
//! ## What is wrong
//!
//! `App-Directives` and `Content-Usage` are rules of a group: a user-agent line after them starts a new
//! group. Google does not know them, so for Google there is nothing between the two user-agent lines.
//!
//! ## What crawlers do
//!
//! For crawlers that follow the drafts these are two groups (APP-1, USE-1). For Google they are one,
//! and the rules of the second group are also for the crawler of the first.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Content-Usage: train-ai=n
//!
//! User-agent: ExampleBot
//! Disallow: /
//! ```
//!
//! For Google, everything is disallowed for all crawlers. Write `Allow: /` below the first group's
//! line.

use crate::dialect::Dialect;
use crate::directive::Role;
use crate::lint::prelude::*;
use crate::lint::readings::said;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "D003",
    name: "grouped-differently",
    summary: "Google joins two groups that other crawlers keep apart",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::APP_1, Clause::USE_1],
    source: include_str!("grouped_differently.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    if context.text_start().is_none() {
        return;
    }
    for (before, after) in context.groups.iter().zip(context.groups.iter().skip(1)) {
        let (Some(start), Some(last)) = (after.starts.first(), before.starts.last()) else { continue };
        let is_rule = |line: LineView<'_>, dialect: &Dialect| {
            let said = said(context.line_text(&line), dialect);
            said.iter().any(|said| matches!(said.directive.role, Role::Rule(_)))
        };
        // A reader that finds no rule between the two reads them as one group.
        let joins = |(dialect, _): &(&Dialect, _)| {
            !context.lines.between(last.line..start.line).any(|line| is_rule(line, dialect))
        };
        let Some(statement) = before.entries.iter().find(|entry| entry.role == Role::Statement) else {
            continue;
        };
        if !after.rules().any(|(_, rule)| !rule.record.value.is_empty()) {
            continue;
        }
        let Some((_, reader)) = Dialect::met().find(joins) else { continue };
        found.report(context.span(start.record.value), || {
            let (first, second) = (quoted(last.record.value), quoted(start.record.value));
            Draft::new(
                format!("for {reader}, the rules for {second} are also for {first}"),
                format!(
                    "Crawlers that follow the drafts read two groups; {reader} does not know the record between them, and reads one group of {first} and {second}."
                ),
            )
            .related(
                context.span(statement.record.name),
                format!("for {reader} this is not a rule, so it does not end the group"),
            )
        });
    }
}

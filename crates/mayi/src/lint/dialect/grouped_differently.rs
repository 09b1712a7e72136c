//! To Google, a group goes on where it ends for others.
//!
//! ## What is wrong
//!
//! `App-Directives` and `Content-Usage` are rules of a group: a user-agent line behind them starts a new
//! one. Google does not know them, and to it nothing stands between the two user-agent lines.
//!
//! ## What crawlers make of it
//!
//! To those that read the drafts these are two groups (APP-1, USE-1). To Google they are one, and the
//! rules of the second are for the crawler of the first too.
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
//! To Google, everything is disallowed for everybody. Write `Allow: /` below the first group's line.

use crate::dialect::Dialect;
use crate::directive::Role;
use crate::lint::meaning::said;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "D003",
    name: "grouped-differently",
    summary: "to Google, a group goes on where it ends for others",
    severity: Severity::Error,
    by_default: true,
    clauses: &[Clause::APP_1, Clause::USE_1],
    source: include_str!("grouped_differently.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    if context.text_start().is_none() {
        return;
    }
    for pair in context.groups.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let (Some(start), Some(last)) = (after.starts.first(), before.starts.last()) else { continue };
        let is_rule = |line: LineView<'_>, dialect: &Dialect| {
            let said = said(context.line_text(&line), dialect);
            said.iter().any(|said| matches!(said.directive.role, Role::Rule(_)))
        };
        // Whoever finds no rule between the two takes them for one group.
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
                format!("to {reader}, the rules for {second} are for {first} too"),
                format!(
                    "Crawlers that read the drafts see two groups; {reader} does not know the record between them, \
                     and sees one group of {first} and {second}."
                ),
            )
            .related(
                context.span(statement.record.name),
                format!("to {reader} this is no rule, and ends no group"),
            )
        });
    }
}

//! A blank line between two user-agent lines does not separate their groups.
//!
//! ## What is wrong
//!
//! It looks like two groups but is one: only a rule ends the user-agent lines of a group. A blank line
//! is not a rule, and neither is `Crawl-delay`.
//!
//! ## What crawlers do
//!
//! The crawler of the first line gets all the rules below the second one (REP-1, REP-3, REP-17).
//!
//! ## Example
//!
//! ```text
//! User-agent: ExampleBot
//! Crawl-delay: 10
//!
//! User-agent: *
//! Disallow: /
//! ```
//!
//! ExampleBot may fetch nothing. To let it fetch everything, write a blank `Disallow:` below its line.

use crate::directive::RuleKind;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G005",
    name: "joined-groups",
    summary: "a blank line between two user-agent lines does not separate their groups",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_1, Clause::REP_3, Clause::REP_17],
    source: include_str!("joined_groups.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for group in context.groups.iter() {
        // A group that disallows nothing has nothing that could reach the wrong crawler.
        let matters = |entry: &Entry<'_>| {
            entry.role.ends_group_start()
                && entry.kind() != Some(RuleKind::Allow)
                && !entry.record.value.is_empty()
        };
        if !group.entries.iter().any(matters) {
            continue;
        }
        for pair in group.starts.windows(2) {
            let (before, after) = (&pair[0], &pair[1]);
            let between = || context.lines.between(before.line + 1..after.line);
            let is_blank = |line: LineView<'_>| context.line_text(&line).trim_ascii().is_empty();
            if !between().any(is_blank) {
                continue;
            }
            let span = context.span(after.record.value);
            let first = context.span(before.record.value);
            let is_same = before.record.value.eq_ignore_ascii_case(after.record.value);
            if span.is_empty() || first.is_empty() || is_same {
                continue;
            }
            found.report(span, || {
                let (above, below) = (quoted(before.record.value), quoted(after.record.value));
                let records = between().any(|line| line.record.is_some());
                let why = if records {
                    "the records between them are not rules, and only a rule ends the user-agent lines of a group"
                } else {
                    "a blank line does not end a group"
                };
                Draft::new(
                    format!("{above} and {below} look like two groups but are one: {why}"),
                    format!("Every rule below is for {above} too."),
                )
                .related(first, "this line joins the group below it")
            });
        }
    }
}

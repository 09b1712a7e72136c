//! The same crawler is named twice in one group, or in two groups that say the same.
//!
//! ## What is wrong
//!
//! The second line has no effect.
//!
//! ## What crawlers do
//!
//! Crawlers read the two lines as one (REP-5), and get the same answers from both groups.
//!
//! ## Example
//!
//! ```text
//! User-agent: ExampleBot
//! User-agent: OtherBot
//! User-agent: examplebot
//! Disallow: /private/
//! ```
//!
//! Delete one of the lines, or one of the groups.

use super::repeated_crawler::{Repeat, for_each_repeat};
use crate::lint::prelude::*;
use crate::lint::readings::MetGroups;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G013",
    name: "repeated-name",
    summary: "the same crawler is named twice, with the same rules",
    severity: Severity::Note,
    other_severities: &[],
    set: LintSet::Style,
    fixes: true,
    clauses: &[Clause::REP_5],
    source: include_str!("repeated_name.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for_each_repeat(context, |repeat, _, first, start| {
        // `repeated-crawler` reports groups that say something else.
        if matches!(repeat, Repeat::SaysOther | Repeat::SaysNothing) {
            return;
        }
        found.report(context.span(start.record.value), || {
            let is_same = repeat == Repeat::SameGroup;
            let view = context.lines.at(start.line);
            let are_together = |groups: &MetGroups<'_>| groups.are_together(first.line, start.line);
            let fix = (is_same
                && first.record.value.eq_ignore_ascii_case(start.record.value)
                && view.inline_rule.is_none()
                && context.met().iter().all(are_together)
                && context.is_read_alike(first)
                && context.is_read_alike(start))
            .then(|| Fix::safe("delete the line", vec![view.removed()]));
            let (who, line) = (quoted(start.record.value), first.line + 1);
            let (message, reading) = if is_same {
                (
                    format!("{who} is already named at line {line} of the same group"),
                    "Crawlers read the two lines as one.",
                )
            } else {
                (
                    format!("{who} already has a group at line {line}, which says the same"),
                    "Crawlers get the same answers from both groups, combined or not.",
                )
            };
            Draft::new(message, reading)
                .related(context.span(first.record.value), "named here first")
                .fixed_by(fix)
        });
    });
}

//! `App-Directives` stand in a group that is not `*`.
//!
//! ## What is wrong
//!
//! The directives name their applications themselves. In a group for one crawler they are seen only by
//! the applications of that crawler, and those then do not see the ones in the `*` group.
//!
//! ## What crawlers make of it
//!
//! An application uses the groups of its registered product token, or else those of `*` (APP-5).
//!
//! ## Example
//!
//! ```text
//! User-agent: ExampleSearch
//! App-Directives: examplesearch;widgets=?0
//! ```
//!
//! The draft advises to write them below `User-agent: *` (APP-10).

use crate::directive::APP_DIRECTIVES;
use crate::lint::prelude::*;
use crate::lint::rules::Names;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X007",
    name: "app-directives-in-named-group",
    summary: "App-Directives stand in a group that is not `*`",
    severity: Severity::Warning,
    by_default: true,
    clauses: &[Clause::APP_10, Clause::APP_5],
    source: include_str!("app_directives_in_named_group.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for group in &context.groups {
        if group.starts.iter().any(|start| Names::of(start, context) == Names::Global) {
            continue;
        }
        for entry in group.entries.iter().filter(|entry| entry.is(&APP_DIRECTIVES)) {
            found.report(context.span(entry.record.name), || {
                let who = quoted(group.starts[0].record.value);
                Draft::new(
                    format!("App-Directives belong into the group of `*`, and this is the group of {who}"),
                    format!("Only the applications of {who} see the line, and they see none of the `*` group's."),
                )
                .related(context.span(group.starts[0].record.value), "the group that it is in")
            });
        }
    }
}

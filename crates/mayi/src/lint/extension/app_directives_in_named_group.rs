//! `App-Directives` are in a group other than `*`.
//!
//! ## What is wrong
//!
//! The directives name their applications themselves. In a group for one crawler, only the applications
//! of that crawler see them, and those applications then do not see the directives of the `*` group.
//!
//! ## What crawlers do
//!
//! An application uses the groups of its registered product token; if there are none, those of `*`
//! (APP-5).
//!
//! ## Example
//!
//! ```text
//! User-agent: ExampleSearch
//! App-Directives: examplesearch;widgets=?0
//! ```
//!
//! The draft recommends writing them below `User-agent: *` (APP-10).

use crate::directive::APP_DIRECTIVES;
use crate::lint::prelude::*;
use crate::lint::rules::Names;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X007",
    name: "app-directives-in-named-group",
    summary: "App-Directives are in a group other than `*`",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::APP_10, Clause::APP_5],
    source: include_str!("app_directives_in_named_group.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for group in context.groups.iter() {
        if group.starts.iter().any(|start| Names::of(start, context) == Names::Global) {
            continue;
        }
        for entry in group.entries.iter().filter(|entry| entry.is(&APP_DIRECTIVES)) {
            found.report(context.span(entry.record.name), || {
                let who = quoted(group.starts[0].record.value);
                Draft::new(
                    format!("App-Directives belong in the group of `*`, but this is the group of {who}"),
                    format!(
                        "Only the applications of {who} see the line, and they do not see those of the `*` \
                         group."
                    ),
                )
                .related(context.span(group.starts[0].record.value), "this is its group")
            });
        }
    }
}

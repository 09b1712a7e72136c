//! The structured value of a line does not parse.
//!
//! ## What is wrong
//!
//! The value of `App-Directives` is a List of RFC 9651, and that of `Content-Usage` a Dictionary, after
//! an optional path. The syntax is strict: keys are in lower case, Strings are in double quotes, and
//! one mistake makes the whole value unreadable.
//!
//! ## What crawlers do
//!
//! Crawlers ignore only this line (REP-22, APP-4). A `Content-Usage` line still counts for its path:
//! the preferences there are unknown, and no shorter path is used instead (USE-3).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Content-Usage: Train-AI=n
//! ```
//!
//! Write `train-ai=n`.

use crate::directive::{APP_DIRECTIVES, CONTENT_USAGE};
use crate::lint::prelude::*;
use crate::lint::statements;
use crate::preference::Statement;
use crate::structured::is_list;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X002",
    name: "unreadable-value",
    summary: "the structured value of a line does not parse",
    severity: Severity::Error,
    other_severities: &[Severity::Warning],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::APP_4, Clause::USE_1, Clause::USE_3, Clause::REP_22],
    source: include_str!("unreadable_value.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let lists = statements::of(context, &APP_DIRECTIVES)
        .filter(|line| !is_list(line.value))
        .map(|line| (line, "a List, such as `examplesearch;widgets=?0`"));
    let dictionaries = statements::of(context, &CONTENT_USAGE)
        .filter(|line| Statement::parse(line.value).is_none())
        .map(|line| (line, "a Dictionary, such as `train-ai=n`"));
    for directive in [&APP_DIRECTIVES, &CONTENT_USAGE] {
        for line in statements::of(context, directive).filter(|line| line.value.trim_ascii().is_empty())
        {
            found.report(context.span(line.entry.record.name), || {
                let makes = if directive.name == CONTENT_USAGE.name {
                    "For crawlers that read such lines, the preferences for its path are unknown; others \
                     ignore the line anyway."
                } else {
                    "Crawlers that read such lines find nothing in this one; others ignore it anyway."
                };
                Draft::new(format!("`{}` has no value, so it says nothing", directive.name), makes)
                .with_severity(Severity::Warning)
            });
        }
    }
    for (line, what) in
        lists.chain(dictionaries).filter(|(line, _)| !line.value.trim_ascii().is_empty())
    {
        let span = context.span(line.value);
        found.report(span, || {
            let lower = line.value.to_ascii_lowercase();
            let parses = Statement::parse(&lower).is_some() && line.entry.is(&CONTENT_USAGE);
            let fix = (parses && lower != line.value)
                .then(|| Fix::unsafe_("write it in lower case", vec![Edit::new(span, lower.clone())]));
            let makes = if line.entry.is(&CONTENT_USAGE) {
                "For crawlers that read such lines, the preferences for its path are unknown; others ignore \
                 the line anyway."
            } else {
                "Crawlers that read such lines ignore this one; others ignore it anyway."
            };
            Draft::new(format!("{} is not {what} (RFC 9651)", quoted(line.value)), makes).fixed_by(fix)
        });
    }
}

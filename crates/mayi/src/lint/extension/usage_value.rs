//! A preference of `Content-Usage` is neither `y` nor `n`.
//!
//! ## What is wrong
//!
//! A preference is the Token `y` or the Token `n`. Anything else says nothing, including `yes`, `no`
//! and a label without a value.
//!
//! ## What crawlers do
//!
//! Crawlers read the preference as unknown (USE-2).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Content-Usage: train-ai=no
//! ```
//!
//! Write `train-ai=n`.

use crate::directive::CONTENT_USAGE;
use crate::lint::prelude::*;
use crate::lint::statements;
use crate::preference::{Preference, Statement};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X009",
    name: "usage-value",
    summary: "a preference of Content-Usage is neither `y` nor `n`",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::USE_2],
    source: include_str!("usage_value.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for line in statements::of(context, &CONTENT_USAGE) {
        let Some(statement) = Statement::parse(line.value) else { continue };
        for (label, _) in
            statement.labels().filter(|(_, preference)| *preference == Preference::Unknown)
        {
            found.report(line.span_of(label, context), || {
                Draft::new(
                    format!("the preference of `{label}` is neither `y` nor `n`"),
                    "For crawlers that read Content-Usage the preference is unknown; Google ignores the line.",
                )
            });
        }
    }
}

//! A label of `Content-Usage` is not in the vocabulary.
//!
//! ## What is wrong
//!
//! The vocabulary of AI usage preferences has the categories `train-ai` and `search`. Earlier drafts
//! had others (`ai`, `bots`, `train-genai`, `ai-output`), which were removed.
//!
//! ## What crawlers do
//!
//! Crawlers keep the label, but do not know what use it means (USE-2).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Content-Usage: ai=n
//! ```
//!
//! Write `train-ai=n`.

use crate::directive::CONTENT_USAGE;
use crate::lint::nearest;
use crate::lint::prelude::*;
use crate::lint::statements;
use crate::preference::Statement;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X008",
    name: "usage-label",
    summary: "a label of Content-Usage is not in the vocabulary",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::USE_2],
    source: include_str!("usage_label.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let registry = context.robots.registry();
    for line in statements::of(context, &CONTENT_USAGE) {
        let Some(statement) = Statement::parse(line.value) else { continue };
        for (label, _) in statement.labels().filter(|(label, _)| registry.category(label).is_none()) {
            let span = line.span_of(label, context);
            found.report(span, || {
                let known: Vec<_> = registry.categories().iter().map(|known| &*known.label).collect();
                let meant = match label {
                    "ai" | "ai-train" | "train-genai" | "genai" | "train" => Some("train-ai"),
                    other => nearest(other, known.iter().copied()),
                };
                let all = known.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(", ");
                let fix = meant.map(|meant| Fix::unsafe_(format!("write `{meant}`"), vec![Edit::new(span, meant)]));
                Draft::new(
                    format!("`{label}` is not in the vocabulary, which has {all}"),
                    "Crawlers that read Content-Usage do not know what use it means; Google ignores the \
                     line.",
                )
                .about(label)
                .fixed_by(fix)
            });
        }
    }
}

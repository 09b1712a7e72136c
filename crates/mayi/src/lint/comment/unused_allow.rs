//! A comment silences a lint that finds nothing there.
//!
//! ## What is wrong
//!
//! `# mayi: allow(S001)` on a line, or alone on the line above it, silences a lint for that line. This
//! comment silences nothing: the line was fixed, the comment was moved, or no lint has that name.
//!
//! ## What crawlers do
//!
//! Crawlers ignore it like any other comment.
//!
//! ## Example
//!
//! ```text
//! # mayi: allow(missing-colon)
//! Disallow: /private/
//! ```
//!
//! Delete the name from the comment. A comment for a lint that is switched off is not reported.

use crate::lint::prelude::*;
use crate::lint::{LINTS, nearest};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "C001",
    name: "unused-allow",
    summary: "a comment silences a lint that finds nothing there",
    severity: Severity::Note,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_3],
    source: include_str!("unused_allow.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for (span, is_known) in found.unused_silences() {
        let is_listed = found.lists_more();
        found.report(span, || {
            let name = &context.text[span.range()];
            let message = if is_known {
                format!("{} finds nothing here, so there is nothing to silence", quoted(name))
            } else {
                let text = String::from_utf8_lossy(name);
                // A comment can have very many unknown names, and looking for what was meant takes longest.
                let known = LINTS.iter().filter(|_| is_listed).flat_map(|lint| [lint.name, lint.code]);
                let near = nearest(&text, known);
                let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                format!("no lint is called {}{near}", quoted(name))
            };
            Draft::new(message, "Crawlers ignore it, as any comment.")
        });
    }
}

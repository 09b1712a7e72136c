//! A comment silences a lint that has nothing to say there.
//!
//! ## What is wrong
//!
//! `# mayi: allow(S001)` on a line, or alone on the line above it, silences a lint for that line. This
//! one silences nothing: the line was mended, the comment was moved, or no lint has that name.
//!
//! ## What crawlers make of it
//!
//! Nothing: it is a comment.
//!
//! ## Example
//!
//! ```text
//! # mayi: allow(missing-colon)
//! Disallow: /private/
//! ```
//!
//! Delete the name from the comment. A comment for a lint that is switched off is left alone.

use crate::lint::prelude::*;
use crate::lint::{LINTS, nearest};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "C001",
    name: "unused-allow",
    summary: "a comment silences a lint that has nothing to say there",
    severity: Severity::Note,
    by_default: true,
    clauses: &[Clause::REP_3],
    source: include_str!("unused_allow.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for (span, is_known) in found.unused_silences() {
        found.report(span, || {
            let name = &context.text[span.range()];
            let message = if is_known {
                format!("{} finds nothing here that could be silenced", quoted(name))
            } else {
                let text = String::from_utf8_lossy(name);
                let near = nearest(&text, LINTS.iter().flat_map(|lint| [lint.name, lint.code]));
                let near = near.map(|near| format!("; perhaps `{near}` is meant")).unwrap_or_default();
                format!("no lint is called {}{near}", quoted(name))
            };
            Draft::new(message, "To crawlers it is a comment.")
        });
    }
}

//! A line is neither a record nor a comment.
//!
//! ## What is wrong
//!
//! Every line is a name, a colon and a value; or a comment that starts with `#`; or blank. Usually the
//! `#` is missing.
//!
//! ## What crawlers do
//!
//! Crawlers ignore only this line; the lines around it still count (REP-22).
//!
//! ## Example
//!
//! ```text
//! Please do not crawl too fast
//! User-agent: *
//! Disallow: /private/
//! ```
//!
//! Write `# Please do not crawl too fast`.

use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;
use crate::lint::readings::{is_kept, said_to_another};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S004",
    name: "unreadable-line",
    summary: "a line is neither a record nor a comment",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: true,
    clauses: &[Clause::REP_22],
    source: include_str!("unreadable_line.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for line in context.lines.odd(|oddity| oddity == Oddity::Unreadable) {
        let span = line.content_span(context.text);
        found.report(span, || {
            let text = context.line_text(&line);
            let (before, after) = text.split_at((span.start - line.span.start) as usize);
            // A path alone may have lost its directive name. A comment would hide that.
            let is_path = after.starts_with(b"/");
            // A comment says nothing in any dialect.
            let is_safe = || match before {
                [] => said_to_another(text).is_none(),
                _ => is_kept(text, &[before, b"# ", after].concat(), context.robots.dialect()),
            };
            let safe = !is_path && is_safe();
            let edit = Edit::new(Span { start: span.start, end: span.start }, "# ");
            let message = if is_path {
                "the line is only a path, without `Disallow:` or `Allow:` before it"
            } else {
                "the line is neither a record (`name: value`) nor a comment"
            };
            Draft::new(message, "Every crawler ignores this line, and only this one.").fixed_by(Fix {
                label: "make it a comment with `#`".to_owned(),
                edits: vec![edit],
                safe,
            })
        });
    }
}

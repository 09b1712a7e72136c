//! A line has another character where the colon should be.
//!
//! ## What is wrong
//!
//! A full-width colon `：`, a semicolon or an equals sign follows the name. Only `:` ends a name.
//!
//! ## What crawlers do
//!
//! Crawlers find no name on the line, and ignore it. Google looks only at how a name starts, and reads
//! the second of two words, or the text after a later `:`, as the value.
//!
//! ## Example
//!
//! ```text
//! User-agent： *
//! Disallow; /private/
//! ```
//!
//! Write `User-agent: *` and `Disallow: /private/`.

use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;
use crate::lint::readings::but_read_by;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S010",
    name: "wrong-colon",
    summary: "another character is where the colon should be",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_2, Clause::REP_22],
    source: include_str!("wrong_colon.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for line in context.lines.odd(|oddity| matches!(oddity, Oddity::WrongColon { .. })) {
        let Some(Oddity::WrongColon { at, length }) = line.oddity else { continue };
        let start = line.content_span(context.text).start + u32::from(at);
        let span = Span { start, end: start + u32::from(length) };
        found.report(span, || {
            let wrong = quoted(&context.text[span.range()]);
            Draft::new(
                format!("{wrong} is where `:` should be"),
                format!(
                    "Crawlers find no name on the line and ignore it{}.",
                    but_read_by(context.line_text(&line))
                ),
            )
            .fixed_by(Fix::unsafe_("write `:`", vec![Edit::new(span, ":")]))
        });
    }
}

//! Something that looks like a colon stands where the colon should.
//!
//! ## What is wrong
//!
//! A full-width colon `：`, a semicolon or an equals sign follows the name. Only `:` ends a name.
//!
//! ## What crawlers make of it
//!
//! There is no name on the line, and it is dropped. Google takes a name by how it starts, and reads the
//! second of two words, or what follows a `:` further on, as the value.
//!
//! ## Example
//!
//! ```text
//! User-agent： *
//! Disallow; /private/
//! ```
//!
//! Write `User-agent: *` and `Disallow: /private/`.

use crate::lint::meaning::but_read_by;
use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S010",
    name: "wrong-colon",
    summary: "something else stands where the colon should",
    severity: Severity::Error,
    by_default: true,
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
                format!("{wrong} stands where `:` should"),
                format!(
                    "Crawlers find no name on the line and drop it{}.",
                    but_read_by(context.line_text(&line))
                ),
            )
            .fixed_by(Fix::unsafe_("write `:`", vec![Edit::new(span, ":")]))
        });
    }
}

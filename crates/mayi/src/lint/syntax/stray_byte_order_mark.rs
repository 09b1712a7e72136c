//! A byte order mark stands somewhere else than at the start of the file.
//!
//! ## What is wrong
//!
//! A byte order mark (the octets EF BB BF) is passed over at the very start of a file and nowhere else.
//! In the middle it is usually where one file was glued to the end of another, and it can't be seen.
//!
//! ## What crawlers make of it
//!
//! It is a part of the name or value that it touches: a `User-agent` or `Disallow` right behind it is
//! not recognised, and the line is passed over.
//!
//! ## Example
//!
//! ```text
//! Sitemap: https://example.com/sitemap.xml
//! <U+FEFF>User-agent: *
//! Disallow: /private/
//! ```
//!
//! Delete the mark. In the example the `Disallow` line is then in a group, and counts.

use memchr::memmem;

use crate::lint::meaning::{but_read_by, is_kept};
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S007",
    name: "stray-byte-order-mark",
    summary: "a byte order mark stands in the middle of the file",
    severity: Severity::Error,
    by_default: true,
    clauses: &[Clause::REP_14],
    source: include_str!("stray_byte_order_mark.rs"),
    check,
};

const MARK: &[u8] = "\u{feff}".as_bytes();

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    if memmem::find(context.text, MARK).is_none() {
        return;
    }
    for line in context.lines.iter() {
        let end = line.comment.map_or(line.span.end, |comment| comment.start);
        let body = &context.text[line.span.start as usize..end as usize];
        let Some(at) = memmem::find(body, MARK) else { continue };
        let start = line.span.start + at as u32;
        let span = Span { start, end: start + MARK.len() as u32 };
        found.report(span, || {
            let text = context.line_text(&line);
            let fixed = [&text[..at], &text[at + MARK.len()..]].concat();
            let safe = is_kept(text, &fixed, context.robots.dialect());
            let reading = match (line.oddity, safe) {
                (Some(_), false) => {
                    format!(
                        "Crawlers do not recognise the name and pass the line over{}.",
                        but_read_by(text)
                    )
                }
                (Some(_), true) => "Crawlers pass the line over, as they would without it.".to_owned(),
                (None, _) => {
                    "Crawlers take it as a part of the value, which then is another one.".to_owned()
                }
            };
            let draft =
                Draft::new("a byte order mark (U+FEFF) stands in the middle of the file", reading);
            let edits = vec![Edit::new(span, "")];
            let draft = draft.fixed_by(Fix { label: "delete the mark".to_owned(), edits, safe });
            if safe { draft.with_severity(Severity::Note) } else { draft }
        });
    }
}

//! A byte order mark is somewhere other than at the start of the file.
//!
//! ## What is wrong
//!
//! A byte order mark (the octets EF BB BF) is ignored at the very start of a file and nowhere else. A
//! mark in the middle usually shows where two files were joined. It is invisible.
//!
//! ## What crawlers do
//!
//! Crawlers read it as part of the name or value that it touches: they do not recognise a `User-agent`
//! or `Disallow` directly after it, and ignore the line.
//!
//! ## Example
//!
//! ```text
//! Sitemap: https://example.com/sitemap.xml
//! <U+FEFF>User-agent: *
//! Disallow: /private/
//! ```
//!
//! Delete the mark. In the example the `Disallow` line is then in a group, and has an effect.

use memchr::memmem;

use crate::lint::prelude::*;
use crate::lint::readings::{but_read_by, is_kept};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S007",
    name: "stray-byte-order-mark",
    summary: "a byte order mark is in the middle of the file",
    severity: Severity::Error,
    other_severities: &[Severity::Note],
    set: LintSet::Default,
    fixes: true,
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
            let edits = deletions(body, line.span.start);
            let mut fixed = Vec::with_capacity(text.len());
            let mut kept = 0;
            for at in memmem::find_iter(body, MARK) {
                fixed.extend_from_slice(&text[kept..at]);
                kept = at + MARK.len();
            }
            fixed.extend_from_slice(&text[kept..]);
            let safe = is_kept(text, &fixed, context.robots.dialect());
            let reading = match (line.oddity, safe) {
                (Some(_), false) => {
                    format!(
                        "Crawlers do not recognise the name and ignore the line{}.",
                        but_read_by(text)
                    )
                }
                (Some(_), true) => "Crawlers ignore the line, as they would without it.".to_owned(),
                (None, _) => {
                    "Crawlers read it as part of the value, which is then another value.".to_owned()
                }
            };
            let draft = Draft::new("a byte order mark (U+FEFF) is in the middle of the file", reading);
            let draft = draft.fixed_by(Fix { label: "delete the mark".to_owned(), edits, safe });
            if safe { draft.with_severity(Severity::Note) } else { draft }
        });
    }
}

/// The edits that delete all marks of a line from a place on in the text, one for those that follow each other.
fn deletions(body: &[u8], start: u32) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for at in memmem::find_iter(body, MARK) {
        let begin = start + at as u32;
        let end = begin + MARK.len() as u32;
        match edits.last_mut().filter(|last| last.span.end == begin) {
            Some(last) => last.span.end = end,
            None => edits.push(Edit::new(Span { start: begin, end }, "")),
        }
    }
    edits
}

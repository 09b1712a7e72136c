//! A line has octets that are not UTF-8 text, or control characters.
//!
//! ## What is wrong
//!
//! robots.txt is UTF-8. Octets of another encoding, such as Latin-1, and control characters such as NUL
//! are not compared as the characters that the author meant.
//!
//! ## What crawlers do
//!
//! Crawlers compare such octets as they are: `/caf` and the octet E9 matches `/caf%E9` and not
//! `/caf%C3%A9`, which is what browsers and most sites send for an é. Google ends a line at a NUL. The
//! replacement character `�` was written by a program that could not decode the original character.
//!
//! ## Example
//!
//! A file that was saved as Latin-1:
//!
//! ```text
//! User-agent: *
//! Disallow: /caf<E9>/
//! ```
//!
//! Save the file as UTF-8, or write the octets of the URLs percent-encoded. Comments are not checked,
//! because crawlers do not read them.

use crate::dialect::{Dialect, Encoding, Lines};
use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;
use crate::lint::readings::but_read_by;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S005",
    name: "not-text",
    summary: "a line has octets that are not UTF-8 text",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_14],
    source: include_str!("not_text.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for line in context.lines.known_or_odd(|oddity| oddity == Oddity::NotText) {
        let body = line.content_span(context.text);
        let octets = &context.text[body.range()];
        let Some((start, length)) = first_bad(octets) else { continue };
        // `wildcard-crawler` reports what stands after a `*`.
        if line.names_a_crawler() && line.record.is_some_and(|record| record.value.starts_with(b"*")) {
            continue;
        }
        let start = body.start + start as u32;
        let span = Span { start, end: start + length as u32 };
        found.report(span, || {
            let bad = &context.text[span.range()];
            let hex: Vec<_> = bad.iter().take(8).map(|octet| format!("{octet:02X}")).collect();
            let what = match bad {
                LOST => "replaces a character that was lost",
                [octet, ..] if *octet < 0x80 => "is a control character",
                _ if str::from_utf8(bad).is_ok() => "is a control character",
                _ => "is not UTF-8",
            };
            let reader_where = |is: fn(&Dialect) -> bool| Dialect::met().find(|(dialect, _)| is(dialect));
            let passes_marks = reader_where(|dialect| dialect.encoding == Encoding::PartialMark);
            let ends_at_nul = reader_where(|dialect| matches!(dialect.lines, Lines::Cut(_)));
            let reading = if let (Some((_, reader)), 0xEF, 0) = (passes_marks, bad[0], span.start) {
                format!(
                    "It is part of a byte order mark. {reader} skips it and reads the line; others do not recognise the name and ignore the line."
                )
            } else if let (Some((_, reader)), 0) = (ends_at_nul, bad[0]) {
                format!("Crawlers read the NUL as part of the line; {reader} ends the line at it.")
            } else if line.oddity.is_some() {
                let but = but_read_by(context.line_text(&line));
                format!("Crawlers do not recognise the name and ignore the line{but}.")
            } else if line.names_a_crawler() {
                "Crawlers read the name up to there, and ignore the rest.".to_owned()
            } else {
                "Crawlers percent-encode the octets as they are and compare them with the URL."
                    .to_owned()
            };
            Draft::new(format!("the line has {}, which {what}", hex.join(" ")), reading)
        });
    }
}

/// The replacement character, which programs write for what they can't decode.
const LOST: &[u8] = "\u{FFFD}".as_bytes();

/// The first run of octets that are not text: where it starts, and how many there are.
fn first_bad(octets: &[u8]) -> Option<(usize, usize)> {
    let is_bad = |c: char| c.is_control() && c != '\t' || c == char::REPLACEMENT_CHARACTER;
    let mut at = 0;
    for chunk in octets.utf8_chunks() {
        if let Some((place, bad)) = chunk.valid().char_indices().find(|(_, c)| is_bad(*c)) {
            return Some((at + place, bad.len_utf8()));
        }
        at += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            return Some((at, chunk.invalid().len()));
        }
    }
    None
}

//! A line has an invisible character, or white space that is not a space.
//!
//! ## What is wrong
//!
//! Zero-width spaces, no-break spaces, soft hyphens and direction marks are copied along with text from
//! a web page or a word processor. Nobody sees them, but they count.
//!
//! ## What crawlers do
//!
//! If the character is in a name, crawlers do not recognise the name and ignore the line. If it is in a
//! value, they compare it with the URL like any other character, percent-encoded, and hardly any URL
//! has it. Only spaces and tabs are white space (REP-2).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow:<U+00A0>/private/
//! ```
//!
//! Delete the character, or write a space. A joiner inside a word of another script, or inside an
//! emoji, is part of it and is not reported.

use crate::lint::characters::{is_in_its_place, is_invisible, name_of, without_invisible};
use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;
use crate::lint::readings::but_read_by;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S008",
    name: "invisible-character",
    summary: "a name or a value has an invisible character",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_2, Clause::REP_11],
    source: include_str!("invisible_character.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for line in context.lines.known_or_odd(|oddity| oddity == Oddity::Invisible) {
        let is_known = line.record.is_some() && line.oddity.is_none();
        if !is_known && line.oddity != Some(Oddity::Invisible) {
            continue;
        }
        let body = line.content_span(context.text);
        let octets = &context.text[body.range()];
        if octets.is_ascii() {
            continue;
        }
        let mut at = body.start;
        let mut first: Option<(u32, char)> = None;
        let mut edits = Vec::new();
        for chunk in octets.utf8_chunks() {
            let mut before = None;
            for character in chunk.valid().chars() {
                let length = character.len_utf8() as u32;
                if is_invisible(character) && !is_in_its_place(character, before) {
                    first.get_or_insert((at, character));
                    edits.push(Edit::new(Span { start: at, end: at + length }, ""));
                }
                before = Some(character);
                at += length;
            }
            at += chunk.invalid().len() as u32;
        }
        let Some((start, character)) = first else { continue };
        let span = Span { start, end: start + character.len_utf8() as u32 };
        found.report(span, || {
            let reading = if octets.utf8_chunks().all(|chunk| without_invisible(chunk.valid()).is_empty()) {
                "Crawlers ignore the line, which only looks blank.".to_owned()
            } else if line.names_a_crawler() {
                "Crawlers read the name up to this character, so the line does not match the crawler that was meant."
                    .to_owned()
            } else if is_known {
                "Crawlers compare it, percent-encoded, as part of the value; hardly any URL has it."
                    .to_owned()
            } else {
                let but = but_read_by(context.line_text(&line));
                format!("Crawlers do not recognise the name and ignore the line{but}.")
            };
            Draft::new(format!("the line contains a {}", name_of(character)), reading)
                .fixed_by(Fix::unsafe_("delete the invisible characters", edits))
        });
    }
}

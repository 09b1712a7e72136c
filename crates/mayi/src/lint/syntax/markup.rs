//! The file contains HTML, or an error message of PHP.
//!
//! ## What is wrong
//!
//! robots.txt is plain text. HTML in it usually comes from a plugin, from an editor that saved a web
//! page, or from an error page that is sent with the status 200.
//!
//! ## What crawlers do
//!
//! Crawlers ignore every line that is not a record, and use the others. If the file is only a page of
//! HTML, it has no records and everything is allowed. A tag or `&amp;` in a value is part of the value.
//!
//! ## Example
//!
//! ```text
//! <html><body>
//! User-agent: *
//! Disallow: /private/
//! </body></html>
//! ```
//!
//! Check what the server really sends, and send only the text. Consecutive lines are reported once. A line
//! that is a whole HTML comment is not reported, because crawlers ignore it as intended. Nor is `&amp;` if
//! the group has the same value with `&`.

use std::collections::HashSet;

use crate::lint::characters::markup_in;
use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S011",
    name: "markup",
    summary: "the file contains HTML or the output of PHP",
    severity: Severity::Warning,
    other_severities: &[Severity::Error],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_22],
    source: include_str!("markup.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let also_plain = lines_also_plain(context);
    for entry in context.known_records().filter(|entry| !also_plain.contains(&entry.line)) {
        let value = entry.record.value;
        let Some((from, to)) = markup_span(value) else { continue };
        let whole = context.span(value);
        let span = Span { start: whole.start + from, end: whole.start + to };
        found.report(span, || {
            let what = quoted(&context.text[span.range()]);
            let (label, right) = match value[from as usize..to as usize].to_ascii_lowercase().as_slice()
            {
                b"&amp;" => ("write `&`".to_owned(), "&"),
                _ => (format!("delete {what}"), ""),
            };
            Draft::new(
                format!("{what} is HTML, and robots.txt is plain text"),
                "Crawlers read it as part of the value, and hardly any URL or name has it.",
            )
            .fixed_by(Fix::unsafe_(label, vec![Edit::new(span, right)]))
        });
    }
    if context.lines.odd(|oddity| oddity == Oddity::Markup).next().is_none() {
        return;
    }
    let mut lines = context.lines.iter().peekable();
    while let Some(line) = lines.next() {
        let is_all = context.groups.is_empty();
        let is_one = |line: &LineView<'_>| {
            line.oddity == Some(Oddity::Markup) && (is_all || !is_comment(context.line_text(line)))
        };
        if !is_one(&line) {
            continue;
        }
        let count = 1 + std::iter::from_fn(|| lines.next_if(is_one)).count();
        found.report(line.content_span(context.text), || {
            let more = match count {
                1 => String::new(),
                2 => ", and so is the next one".to_owned(),
                _ => format!(", and so are the next {}", count - 1),
            };
            let message = format!("the line is HTML, or the output of a program{more}");
            if is_all {
                let reading = "Crawlers find no group in the file, so everything is allowed.";
                return Draft::new(message, reading).with_severity(Severity::Error);
            }
            Draft::new(message, "Crawlers ignore such lines, and use the others.")
        });
    }
}

/// Whether a line is a comment of HTML, and nothing else.
fn is_comment(line: &[u8]) -> bool {
    let inner = line.trim_ascii().strip_prefix(b"<!--").and_then(|rest| rest.strip_suffix(b"-->"));
    inner.is_some_and(|inner| memchr::memmem::find(inner, b"-->").is_none())
}

/// The lines with `&amp;` whose groups have the same value with `&`.
fn lines_also_plain(context: &Context<'_, '_>) -> HashSet<usize> {
    let plain = |entry: &Entry<'_>| {
        let text = str::from_utf8(entry.record.value).ok().filter(|text| text.contains("&amp;"))?;
        Some((entry.line, text.replace("&amp;", "&")))
    };
    let mut lines = HashSet::new();
    if memchr::memmem::find(context.text, b"&amp;").is_none() {
        return lines;
    }
    for group in context.groups.iter() {
        let mut written: Vec<_> = group.entries.iter().filter_map(plain).collect();
        if !written.is_empty() {
            let values: HashSet<&[u8]> = group.entries.iter().map(|entry| entry.record.value).collect();
            written.retain(|(_, plain)| values.contains(plain.as_bytes()));
            lines.extend(written.iter().map(|(line, _)| *line));
        }
    }
    lines
}

/// Where a tag or a character reference is in a value that is text up to there.
pub(in crate::lint) fn markup_span(value: &[u8]) -> Option<(u32, u32)> {
    let text = value.utf8_chunks().next()?.valid();
    let (from, to) = markup_in(&text[..text.floor_char_boundary(1000)])?;
    Some((from as u32, to as u32))
}

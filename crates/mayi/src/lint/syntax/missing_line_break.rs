//! Two records are on one line.
//!
//! ## What is wrong
//!
//! A record is one line. If a line break is lost, for example when a file is pasted into a form field,
//! the second record becomes part of the first record's value.
//!
//! ## What crawlers do
//!
//! Crawlers read one record, whose value is the rest of the line. The default dialect reads a rule
//! after a user-agent line's value as a separate line, because an example in a draft is written this
//! way (AIA-5); Google does not.
//!
//! ## Example
//!
//! ```text
//! User-agent: * Disallow: /private/
//! ```
//!
//! Write two lines.

use crate::lint::prelude::*;
use crate::lint::readings::is_kept;
use crate::syntax::RawRecord;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S015",
    name: "missing-line-break",
    summary: "two records are on one line",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: true,
    clauses: &[Clause::AIA_5, Clause::REP_22],
    source: include_str!("missing_line_break.rs"),
    check,
};

/// How a second record starts.
const NAMES: &[&str] = &["disallow:", "allow:", "user-agent:", "sitemap:", "crawl-delay:"];

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let mut lines = context.lines.known().map(|(_, line)| line).peekable();
    while let Some(line) = lines.next() {
        let Some(record) = line.record else { continue };
        // The rule is on a line of its own, too.
        let mut is_next = |rule: &RawRecord<'_>| {
            let next = lines.peek().and_then(|line| line.record);
            next.is_some_and(|next| {
                next.name.eq_ignore_ascii_case(rule.name) && next.value == rule.value
            })
        };
        if line.inline_rule.is_some_and(|rule| is_next(&rule)) {
            continue;
        }
        let inline = line.inline_rule.map(|rule| context.span(rule.name));
        let Some(second) = inline.or_else(|| second_record(context, record.value)) else { continue };
        found.report(second, || {
            let text = context.line_text(&line);
            let at = (second.start - line.span.start) as usize;
            let line_end = match &context.text[line.span.end as usize..line.next as usize] {
                b"" => &b"\n"[..],
                end => end,
            };
            let before = text[..at].trim_ascii_end();
            let fixed = [before, line_end, &text[at..]].concat();
            let safe = is_kept(text, &fixed, context.robots.dialect());
            let gap = Span { start: line.span.start + before.len() as u32, end: second.start };
            let what = quoted(&context.text[second.range()]);
            let reading = if inline.is_some() {
                "By draft-jimenez-tbd-robotstxt-update it is a rule of its own, and mayi reads it that \
                 way; Google and most others read it as part of the crawler's name, and the rule is lost."
            } else {
                "Crawlers read it as part of the value before it."
            };
            Draft::new(format!("{what} starts a second record on the same line"), reading).fixed_by(
                Fix {
                    label: "start a new line".to_owned(),
                    edits: vec![Edit::new(gap, line_end)],
                    safe,
                },
            )
        });
    }
}

/// The name of a record inside the value of another: after white space, or directly after a path.
pub(in crate::lint) fn second_record(context: &Context<'_, '_>, value: &[u8]) -> Option<Span> {
    for colon in memchr::memchr_iter(b':', value) {
        let upto = &value[..=colon];
        for name in NAMES {
            let Some(start) = upto.len().checked_sub(name.len()) else { continue };
            let (before, word) = upto.split_at(start);
            // In a query it is a parameter.
            let apart = before.last().is_none_or(|&octet| octet.is_ascii_whitespace() || octet == b'/');
            let glued = word.first().is_some_and(u8::is_ascii_uppercase)
                && before
                    .last()
                    .is_some_and(|octet| octet.is_ascii_lowercase() || b"*$".contains(octet));
            if word.eq_ignore_ascii_case(name.as_bytes()) && (apart || glued) {
                let start = context.span(word).start;
                return Some(Span { start, end: start + name.len() as u32 - 1 });
            }
        }
    }
    None
}

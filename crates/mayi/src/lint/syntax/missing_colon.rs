//! A line has a name and a value but no colon between them.
//!
//! ## What is wrong
//!
//! A record is a name, a colon and a value. Without the colon the line does not match the grammar of
//! RFC 9309.
//!
//! ## What crawlers do
//!
//! Some crawlers read a line of exactly two words as if the colon were there (Google and the default
//! dialect do); others ignore the line. All of them ignore a name alone, a name directly followed by
//! its value (`Disallow/a`) and a name with a value of more than one word.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow /private/
//! ```
//!
//! Write `Disallow: /private/`.

use crate::directive::DIRECTIVES;
use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;
use crate::lint::readings::{but_read_by, is_kept};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S001",
    name: "missing-colon",
    summary: "there is no colon between a name and a value",
    severity: Severity::Warning,
    other_severities: &[Severity::Error],
    set: LintSet::Default,
    fixes: true,
    clauses: &[Clause::WILD_2, Clause::REP_2],
    source: include_str!("missing_colon.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for line in context.lines.known_or_odd(|oddity| matches!(oddity, Oddity::MissingColon { .. })) {
        if let Some(record) = line.record.filter(|record| record.without_colon) {
            let span = context.span(record.name);
            found.report(span, || {
                let name = quoted(record.name);
                let colon = Edit::new(Span { start: span.end, end: span.end }, ":");
                let text = context.line_text(&line);
                let (before, after) = text.split_at((span.end - line.span.start) as usize);
                let fixed = [before, b":", after].concat();
                let kept = is_kept(text, &fixed, context.robots.dialect());
                Draft::new(
                    format!("there is no colon after {name}"),
                    "Some crawlers, including Google's, read the line as intended; others ignore it.",
                )
                .fixed_by(Fix {
                    label: format!("write a colon after {name}"),
                    edits: vec![colon],
                    safe: kept,
                })
            });
        } else if let Some(Oddity::MissingColon { directive, length }) = line.oddity {
            let body = line.content_span(context.text);
            found.report(body, || {
                let at = body.start + u32::from(length);
                let colon = Edit::new(Span { start: at, end: at }, ":");
                let name = DIRECTIVES[usize::from(directive)].name;
                let rest = &context.text[at as usize..body.end as usize];
                let but = but_read_by(context.line_text(&line));
                let (what, why) = match rest.first() {
                    None => ("", "a name alone is not a record"),
                    Some(b' ' | b'\t') => (
                        ", but more than one word",
                        "without a colon, a value of several words is not recognised",
                    ),
                    Some(_) => (": its value follows directly", "without a colon it has no name"),
                };
                Draft::new(
                    format!("there is no colon after `{name}`{what}"),
                    format!("Crawlers ignore the line, because {why}{but}."),
                )
                .with_severity(Severity::Error)
                .fixed_by(Fix::unsafe_(
                    "write a colon after the name, if the rest is its value",
                    vec![colon],
                ))
            });
        }
    }
}

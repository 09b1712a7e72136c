//! A line is longer than Google reads.
//!
//! ## What is wrong
//!
//! Google cuts a line after 16,663 octets, eight times the longest URL that it accepts. It ignores the
//! rest of the line, and a cut pattern matches different URLs.
//!
//! ## What crawlers do
//!
//! Crawlers that follow RFC 9309 read the whole line. Google compares the start of the pattern, which
//! matches at least as much as the whole one.
//!
//! ## Example
//!
//! A `Disallow` line with thousands of paths. Each path needs a line of its own.

use crate::dialect::{Dialect, Lines};
use crate::lint::prelude::*;
use crate::lint::readings::said;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S014",
    name: "line-too-long",
    summary: "a line is longer than Google reads",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_22],
    source: include_str!("line_too_long.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let cuts = |(dialect, reader): (&'static Dialect, _)| match dialect.lines {
        Lines::Cut(most) => Some((most, dialect, reader)),
        Lines::Whole => None,
    };
    let Some((most, dialect, reader)) = Dialect::met().find_map(cuts) else { return };
    if !context.lines.has_longer_than(most) {
        return;
    }
    for line in context.lines.iter() {
        let end = line.comment.map_or(line.span.end, |comment| comment.start);
        let length = (end - line.span.start) as usize;
        if length <= most || line.record.is_none() {
            continue;
        }
        let said = said(context.line_text(&line), dialect).into_iter().next();
        let is_known = line.record.is_some_and(|record| record.directive.is_some());
        if said.is_none() && !is_known {
            continue;
        }
        let span = Span { start: line.span.start + most as u32, end };
        found.report(span, || {
            let read = match said {
                Some(said) => {
                    let (name, octets) = (said.directive.name, said.value.len());
                    format!("for {reader} the value of `{name}` has {octets} octets")
                }
                None => format!("{reader} finds no record in the part that it reads"),
            };
            Draft::new(
                format!("the line has {length} octets, but {reader} reads only the first {most}"),
                format!("Crawlers that follow RFC 9309 read all of it; {read}."),
            )
        });
    }
}

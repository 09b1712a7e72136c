//! A line has several paths.
//!
//! ## What is wrong
//!
//! A rule has one path. If several are written on one line, the line is one path with spaces in it, and
//! hardly any URL has it.
//!
//! ## What crawlers do
//!
//! Crawlers compare the whole value with the URL (REP-7).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /banners/ /images/
//! ```
//!
//! Write a line for each path.

use crate::lint::prelude::*;
use crate::lint::rules::{can_match, patterns};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P013",
    name: "several-paths",
    summary: "a line has several paths, but a rule has one",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_7],
    source: include_str!("several_paths.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for rule in patterns(context).filter(|rule| can_match(&rule.record)) {
        let value = rule.record.value;
        if !has_several_paths(value) {
            continue;
        }
        let span = context.span(value);
        found.report(span, || {
            let line = context.lines.at(rule.line);
            let end = match &context.text[line.span.end as usize..line.next as usize] {
                b"" => &b"\n"[..],
                end => end,
            };
            let next = [end, rule.record.name, b": "].concat();
            let paths: Vec<_> = parts(value).collect();
            let lines = paths.join(&next[..]);
            let fix = line
                .inline_rule
                .is_none()
                .then(|| Fix::unsafe_("write a line for each path", vec![Edit::new(span, lines)]));
            Draft::new(
                format!("the line has {} paths, but a rule has one", paths.len()),
                "Crawlers read it as one path with spaces, which hardly any URL has.",
            )
            .fixed_by(fix)
        });
    }
}

/// Whether every word of a pattern starts as a path does, and there is more than one.
pub(in crate::lint) fn has_several_paths(pattern: &[u8]) -> bool {
    parts(pattern).nth(1).is_some() && parts(pattern).all(|part| part.starts_with(b"/"))
}

fn parts(pattern: &[u8]) -> impl Iterator<Item = &[u8]> {
    pattern.split(|octet| b" \t".contains(octet)).filter(|part| !part.is_empty())
}

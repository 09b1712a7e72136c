//! The file is larger than crawlers have to read.
//!
//! ## What is wrong
//!
//! RFC 9309 requires crawlers to read at least 500 KiB, and Google reads no more than that. The default
//! limit here is 512 KiB.
//!
//! ## What crawlers do
//!
//! Crawlers ignore everything after their limit. Usually those lines are rules that disallow.
//!
//! ## Example
//!
//! A file of 853 KB with a `Disallow` for each of its pages. A few patterns for folders, or with
//! wildcards, say the same in a hundredth of the size.

use crate::limits::Limits;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S013",
    name: "file-too-large",
    summary: "the file is larger than crawlers have to read",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_24],
    source: include_str!("file_too_large.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let octets = context.octets().len();
    let least = Limits::LEAST_FILE_OCTETS;
    if context.robots.cut().is_none() && octets <= least {
        return;
    }
    // The first line that is not wholly within what everybody has to read, if it was read here.
    let beyond = context.text_start().and_then(|start| {
        let limit = least.checked_sub(start)?;
        context.lines.iter().find(|line| line.span.end as usize > limit)
    });
    let draft = || {
        Draft::new(
            format!(
                "the file has {octets} octets, but crawlers need to read only the first {least} (500 KiB)"
            ),
            "Crawlers ignore everything after their limit, and the line that the limit cuts; Google's limit \
             is 500 KiB.",
        )
    };
    match beyond {
        Some(line) => found.report(Span { end: line.span.start, ..line.span }, || Draft {
            message: format!("{}; crawlers may ignore everything from here on", draft().message).into(),
            ..draft()
        }),
        None => found.report_whole(draft),
    }
}

//! The file is larger than crawlers have to read.
//!
//! ## What is wrong
//!
//! RFC 9309 asks crawlers for 500 KiB, and Google reads no more than that. The default here is 512 KiB.
//!
//! ## What crawlers make of it
//!
//! What is behind their limit does not exist for them, and mostly those are rules that disallow.
//!
//! ## Example
//!
//! A file of 853 KB with a `Disallow` for each of its pages. A few patterns with wildcards, or folders,
//! say the same in a hundredth of the size.

use crate::limits::Limits;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S013",
    name: "file-too-large",
    summary: "the file is larger than crawlers have to read",
    severity: Severity::Error,
    by_default: true,
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
                "the file has {octets} octets, and crawlers need to read no more than {least} (500 KiB)"
            ),
            "Crawlers ignore what is behind their limit, and the line that it cuts through; Google's is 500 KiB.",
        )
    };
    match beyond {
        Some(line) => found.report(Span { end: line.span.start, ..line.span }, || Draft {
            message: format!("{}; from here on it may not be read", draft().message),
            ..draft()
        }),
        None => found.report_whole(draft),
    }
}

//! `Noindex` has no effect in robots.txt.
//!
//! ## What is wrong
//!
//! `Noindex` in robots.txt was never in a specification. Google supported it unofficially until
//! September 2019.
//!
//! ## What crawlers do
//!
//! They ignore it, and the pages stay in the index.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Noindex: /old/
//! ```
//!
//! Send `X-Robots-Tag: noindex` with the pages, or write `<meta name="robots" content="noindex">` into
//! them, and do not disallow them: a crawler that may not fetch a page can't read its `noindex`.

use crate::directive::NOINDEX;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X011",
    name: "noindex-record",
    summary: "`Noindex` has no effect in robots.txt",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::WILD_1],
    source: include_str!("noindex_record.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for entry in context.records_of(&NOINDEX) {
        found.report(context.span(entry.record.name), || {
            Draft::new(
                "`Noindex` has no effect in robots.txt",
                "No large search engine reads it; Google stopped in 2019. The pages stay in the index.",
            )
        });
    }
}

//! The file is UTF-16, or was decoded from another charset than UTF-8.
//!
//! ## What is wrong
//!
//! robots.txt is UTF-8. Some editors save "Unicode" as UTF-16, which has a NUL beside every letter.
//!
//! ## What crawlers do
//!
//! A crawler that supports byte order marks or the charset of the Content-Type reads the file; RFC 9309
//! does not require that. Google reads the octets as they are and finds no record in them, so
//! everything is allowed.
//!
//! ## Example
//!
//! A file that starts with the octets FF FE. Save it as UTF-8.

use crate::dialect::{Dialect, Encoding};
use crate::lint::prelude::*;
use crate::robots_txt::RobotsTxt;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S006",
    name: "utf-16",
    summary: "the file is not UTF-8 and had to be decoded",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_14],
    source: include_str!("utf_16.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    if context.text_start().is_some() || context.octets().is_empty() {
        return;
    }
    let has_mark = encoding_rs::Encoding::for_bom(context.octets()).is_some();
    let charset = if has_mark { "UTF-16" } else { "the charset that was given for it" };
    let decodes_nothing = |(dialect, _): &(&Dialect, _)| dialect.encoding != Encoding::Honoured;
    let Some((dialect, reader)) = Dialect::met().find(decodes_nothing) else { return };
    let options = context.options.reading().clone().with_dialect(dialect.clone());
    let robots = RobotsTxt::read(context.octets(), &options);
    let reads_some = robots.groups().next().is_some();
    found.report_whole(|| {
        let reading = if reads_some {
            format!("Crawlers that do not decode it, including {reader}'s, compare other octets than intended.")
        } else {
            format!(
                "Crawlers that support byte order marks and charsets read it; {reader} finds no record in it, so for {reader} everything is allowed."
            )
        };
        Draft::new(format!("the file is in {charset}, not in UTF-8"), reading)
    });
}

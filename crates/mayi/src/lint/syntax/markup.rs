//! The file has HTML in it, or what PHP prints when something fails.
//!
//! ## What is wrong
//!
//! robots.txt is plain text. HTML in it comes from a plugin, from an editor that saved a web page, or
//! from an error page that is sent with the status 200.
//!
//! ## What crawlers make of it
//!
//! They drop every line that is no record and use the others. A page of HTML alone has no records, and
//! then everything is allowed.
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
//! Look at what the server really sends, and send the text alone. Lines that follow each other are
//! reported once.

use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S011",
    name: "markup",
    summary: "the file has HTML or the output of PHP in it",
    severity: Severity::Warning,
    by_default: true,
    clauses: &[Clause::REP_22],
    source: include_str!("markup.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let mut index = 0;
    while let Some(line) = context.lines.get(index) {
        let is_one = |line: &LineView<'_>| line.oddity == Some(Oddity::Markup);
        if !is_one(line) {
            index += 1;
            continue;
        }
        let count = context.lines[index..].iter().take_while(|line| is_one(line)).count();
        index += count;
        let is_all = context.groups.is_empty();
        found.report(line.content_span(context.text), || {
            let more = match count {
                1 => String::new(),
                2 => ", and so is the next one".to_owned(),
                _ => format!(", and so are the next {}", count - 1),
            };
            let message = format!("the line is HTML, or the output of a program{more}");
            if is_all {
                let reading = "Crawlers find no group in the file, and take everything as allowed.";
                return Draft::new(message, reading).with_severity(Severity::Error);
            }
            Draft::new(message, "Crawlers drop such lines, and use the others.")
        });
    }
}

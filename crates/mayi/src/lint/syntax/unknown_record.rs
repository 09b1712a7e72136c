//! A record has a name that no specification and no known convention has.
//!
//! ## What is wrong
//!
//! Nobody knows what the line says. Often it is a page rule (`nofollow`, `noarchive`), a header field
//! or a sentence with a colon in it.
//!
//! ## What crawlers make of it
//!
//! They pass it over. It ends no group and changes no decision (REP-17).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Nofollow: /private/
//! Disallow: /private/
//! ```
//!
//! Page rules belong into the page or its `X-Robots-Tag` header field; a remark belongs behind a `#`.

use crate::lint::meaning::said_to_another;
use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S003",
    name: "unknown-record",
    summary: "a record has a name that nobody knows",
    severity: Severity::Note,
    by_default: true,
    clauses: &[Clause::REP_17],
    source: include_str!("unknown_record.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for line in context.lines.odd(|oddity| oddity == Oddity::UnknownName) {
        let Some(record) = line.record else { continue };
        // What some read by its start is told by `read-differently`.
        if said_to_another(context.line_text(&line)).is_some() {
            continue;
        }
        found.report(context.span(record.name), || {
            let name = quoted(record.name);
            let at = line.content_span(context.text).start;
            let at = Span { start: at, end: at };
            if [&b"http"[..], b"https"].iter().any(|scheme| record.name.eq_ignore_ascii_case(scheme)) {
                return Draft::new(
                    "a URL stands alone on the line, with no `Sitemap:` before it",
                    "Crawlers take it as a record of an unknown name, and pass it over.",
                )
                .with_severity(Severity::Warning)
                .fixed_by(Fix::unsafe_(
                    "write `Sitemap: ` before it",
                    vec![Edit::new(at, "Sitemap: ")],
                ));
            }
            let is_page_rule = crate::page::is_page_rule(&String::from_utf8_lossy(record.name));
            let message = if is_page_rule {
                format!("{name} is a rule for pages, and robots.txt has no such record")
            } else {
                format!("no crawler is known to read a record called {name}")
            };
            let edit = Edit::new(at, "# ");
            Draft::new(message, "Crawlers pass the line over; it changes nothing.")
                .fixed_by(Fix::unsafe_("make it a comment", vec![edit]))
        });
    }
}

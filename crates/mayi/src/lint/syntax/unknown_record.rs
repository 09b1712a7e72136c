//! A record has a name that no specification and no known convention defines.
//!
//! ## What is wrong
//!
//! No crawler understands the line. Often it is a page rule (`nofollow`, `noarchive`), a header field
//! or a sentence with a colon.
//!
//! ## What crawlers do
//!
//! Crawlers ignore it. It does not end a group and does not change a decision (REP-17).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Nofollow: /private/
//! Disallow: /private/
//! ```
//!
//! Page rules belong in the page or in its `X-Robots-Tag` header field. A remark belongs after a `#`.

use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;
use crate::lint::readings::said_to_another;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S003",
    name: "unknown-record",
    summary: "a record has an unknown name",
    severity: Severity::Note,
    other_severities: &[Severity::Warning],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_17],
    source: include_str!("unknown_record.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for line in context.lines.odd(|oddity| oddity == Oddity::UnknownName) {
        let Some(record) = line.record else { continue };
        // `read-differently` reports names that some crawlers read by their start.
        if said_to_another(context.line_text(&line)).is_some() {
            continue;
        }
        found.report(context.span(record.name), || {
            let name = quoted(record.name);
            let at = line.content_span(context.text).start;
            let at = Span { start: at, end: at };
            if [&b"http"[..], b"https"].iter().any(|scheme| record.name.eq_ignore_ascii_case(scheme)) {
                return Draft::new(
                    "the line is only a URL, without `Sitemap:` before it",
                    "Crawlers read it as a record with an unknown name, and ignore it.",
                )
                .with_severity(Severity::Warning)
                .fixed_by(Fix::unsafe_(
                    "write `Sitemap: ` before it",
                    vec![Edit::new(at, "Sitemap: ")],
                ));
            }
            let is_page_rule = crate::page::is_page_rule(&String::from_utf8_lossy(record.name));
            let message = if is_page_rule {
                format!("{name} is a page rule, and robots.txt has no such record")
            } else {
                format!("no crawler is known to read a record called {name}")
            };
            let edit = Edit::new(at, "# ");
            Draft::new(message, "Crawlers ignore the line; it has no effect.")
                .about(name.to_ascii_lowercase())
                .fixed_by(Fix::unsafe_("make it a comment", vec![edit]))
        });
    }
}

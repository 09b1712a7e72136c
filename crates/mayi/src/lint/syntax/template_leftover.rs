//! A placeholder was not filled.
//!
//! ## What is wrong
//!
//! `{{ … }}`, `{% … %}`, `${…}`, `<path>` or the domain of an example (`example.com`, `yourdomain.com`)
//! is still in the file: the template that it was made from was not filled, or was copied as it was.
//!
//! ## What crawlers make of it
//!
//! They take it as it is written: a pattern that no URL has, or a sitemap of somebody else.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /{{ private_folder }}/
//! Sitemap: https://www.yourdomain.com/sitemap.xml
//! ```
//!
//! Write what was meant, or delete the line.

use crate::directive::{HOST, SITEMAP};
use crate::lint::characters::template_in;
use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S012",
    name: "template-leftover",
    summary: "a placeholder was not filled",
    severity: Severity::Warning,
    by_default: true,
    clauses: &[Clause::REP_22],
    source: include_str!("template_leftover.rs"),
    check,
};

/// Domains that stand for the reader's own.
const DOMAINS: &[&str] = &[
    "yourdomain.com",
    "your-domain.com",
    "yoursite.com",
    "your-site.com",
    "yourwebsite.com",
    "your-website.com",
    "mydomain.com",
    "example.com",
    "example.org",
    "example.net",
];

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for line in &context.lines {
        let start = line.content_span(context.text).start;
        let place = match (line.oddity, line.record) {
            (Some(Oddity::Template), _) => {
                let body = &context.text[line.content_span(context.text).range()];
                template_span(body).map(|(from, to)| (start + from, start + to))
            }
            (None, Some(record)) => {
                let value = context.span(record.value);
                let in_value = |(from, to)| (value.start + from, value.start + to);
                let is_url =
                    [&SITEMAP, &HOST].iter().any(|known| directive_of(&record) == Some(*known));
                template_span(record.value)
                    .or_else(|| is_url.then(|| domain_span(record.value, context)).flatten())
                    .map(in_value)
            }
            _ => None,
        };
        let Some((from, to)) = place else { continue };
        let span = Span { start: from, end: to };
        found.report(span, || {
            let what = quoted(&context.text[span.range()]);
            let reading = if line.oddity.is_some() {
                "Crawlers find no record that they know on the line, and drop it."
            } else {
                "Crawlers take it as it is written."
            };
            Draft::new(format!("{what} looks like a placeholder that was not filled"), reading)
        });
    }
}

/// Where a placeholder stands in octets that are text up to there.
fn template_span(octets: &[u8]) -> Option<(u32, u32)> {
    let text = octets.utf8_chunks().next()?.valid();
    let (from, to) = template_in(&text[..text.floor_char_boundary(1000)])?;
    Some((from as u32, to as u32))
}

/// Where the domain of an example stands in a URL, unless that is where the page is.
fn domain_span(value: &[u8], context: &Context<'_, '_>) -> Option<(u32, u32)> {
    let text = value.utf8_chunks().next()?.valid();
    let from = text.find("://").map_or(0, |at| at + 3);
    let host = &text[from..];
    let host = &host[..host.find(['/', ':', '?']).unwrap_or(host.len())];
    let bare = host.strip_prefix("www.").unwrap_or(host);
    let is_own = context.options.page().is_some_and(|page| page.url.contains(host));
    let is_one = DOMAINS.iter().any(|domain| bare.eq_ignore_ascii_case(domain));
    (is_one && !is_own).then_some((from as u32, (from + host.len()) as u32))
}

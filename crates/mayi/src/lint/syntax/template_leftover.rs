//! A placeholder was not filled in.
//!
//! ## What is wrong
//!
//! `{{ … }}`, `{% … %}`, `${…}`, `%%SITE%%`, `<path>`, `[your-domain]` or the domain of an example
//! (`yourdomain.com`, and `example.com` where the site is known to be another) is still in the file:
//! its template was not filled in, or was copied unchanged. A sitemap on `localhost` is left over from
//! testing the site.
//!
//! ## What crawlers do
//!
//! Crawlers read it literally: as a pattern that matches no URL, or as the sitemap of another site.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /{{ private_folder }}/
//! Sitemap: https://www.yourdomain.com/sitemap.xml
//! ```
//!
//! Write what was meant, or delete the line. A pattern with a wildcard before the placeholder is not
//! reported: it may be for URLs that really contain the placeholder.

use crate::directive::{HOST, SITEMAP};
use crate::lint::characters::template_in;
use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;
use crate::lint::syntax::markup::markup_span;
use crate::target::split_url;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S012",
    name: "template-leftover",
    summary: "a placeholder was not filled in",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_22],
    source: include_str!("template_leftover.rs"),
    check,
};

/// Names of domains that stand for the reader's own, whatever they end in.
const DOMAINS: &[&str] = &["yourdomain", "mydomain", "yourdomainname", "sitename", "mywebsite"];

/// Whole domains that do.
const HOSTS: &[&str] = &["domain.com", "domain.tld", "mysite.com", "your.domain.com"];

/// The domains of examples (RFC 2606).
const RESERVED: &[&str] = &["example.com", "example.org", "example.net"];

/// What `your…` goes on with in the name of such a domain.
const YOURS: &[&str] =
    &["domain", "site", "website", "store", "shop", "blog", "company", "brand", "business"];

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for line in context.lines.known_or_odd(|oddity| oddity == Oddity::Template) {
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
                let template = template_span(record.value);
                template
                    .filter(|_| markup_span(record.value).is_none())
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
                "Crawlers find no record that they know on the line, and ignore it."
            } else {
                "Crawlers read it literally."
            };
            let is_local = what.contains("localhost") || what.contains("0.0.");
            let message = if is_local {
                format!("{what} means the machine itself, so no crawler can reach it")
            } else {
                format!("{what} looks like a placeholder that was not filled in")
            };
            Draft::new(message, reading).about(what)
        });
    }
}

/// Where a placeholder is in octets that are text up to there.
fn template_span(octets: &[u8]) -> Option<(u32, u32)> {
    let text = octets.utf8_chunks().next()?.valid();
    let (from, to) = template_in(&text[..text.floor_char_boundary(1000)])?;
    Some((from as u32, to as u32))
}

/// Where the domain of an example is in a URL, unless the page is on that domain.
fn domain_span(value: &[u8], context: &Context<'_, '_>) -> Option<(u32, u32)> {
    let text = value.utf8_chunks().next()?.valid();
    let from = text.find("://").map_or(0, |at| at + 3);
    let host = &text[from..];
    let host = &host[..host.find(['/', ':', '?']).unwrap_or(host.len())];
    let own = context.options.site().and_then(|url| split_url(url).ok()).map(|url| url.authority);
    let is_own = own.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(host));
    let lower = host.to_ascii_lowercase();
    // People test files with the domains of examples before they publish them, so these are wrong only if
    // the site is known to be another one.
    let is_one = is_example(&lower) || own.is_some() && is_below_any(&lower, RESERVED);
    (is_one && !is_own).then_some((from as u32, (from + host.len()) as u32))
}

/// Whether a host is a placeholder: of an example, of a template, or of the machine that reads it.
fn is_example(host: &str) -> bool {
    let is_template = |label: &str| {
        let plain: String = label.chars().filter(|c| !"-_".contains(*c)).collect();
        let yours = plain.strip_prefix("your").map(|rest| rest.strip_suffix("here").unwrap_or(rest));
        DOMAINS.contains(&&*plain)
            || yours.is_some_and(|rest| YOURS.contains(&rest.strip_suffix("name").unwrap_or(rest)))
    };
    let is_local =
        ["localhost", "127.0.0.1", "0.0.0.0"].contains(&host) || host.ends_with(".localhost");
    is_local || is_below_any(host, HOSTS) || host.split('.').any(is_template)
}

/// Whether a host is one of these domains, or is below one.
fn is_below_any(host: &str, domains: &[&str]) -> bool {
    let is_below = |domain: &&str| {
        host.strip_suffix(*domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    domains.iter().any(is_below)
}

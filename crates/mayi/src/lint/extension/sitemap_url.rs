//! The value of `Sitemap` is not a whole URL.
//!
//! ## What is wrong
//!
//! `Sitemap` needs the whole URL of the sitemap, with `https://` and the host. The sitemap may be on
//! another host, and a path alone does not say on which.
//!
//! ## What crawlers do
//!
//! Some crawlers resolve a path against the URL of the file (`mayi` does, WILD-1). Others require a
//! whole URL; Google does, by its documentation.
//!
//! ## Example
//!
//! ```text
//! Sitemap: /sitemap.xml
//! ```
//!
//! Write `Sitemap: https://example.com/sitemap.xml`.

use crate::directive::SITEMAP;
use crate::lint::characters::{is_invisible, template_in};
use crate::lint::prelude::*;
use crate::target::split_url;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X013",
    name: "sitemap-url",
    summary: "the value of Sitemap is not a whole URL",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::WILD_1],
    source: include_str!("sitemap_url.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for entry in context.records_of(&SITEMAP) {
        let value = entry.record.value;
        let text = String::from_utf8_lossy(&value[..value.len().min(5000)]);
        let is_whole = split_url(&text).is_ok_and(|url| !url.authority.is_empty());
        let has_space = value.iter().any(u8::is_ascii_whitespace);
        if is_whole && !has_space {
            continue;
        }
        // Other lints report invisible characters and placeholders.
        if template_in(&text).is_some() || text.chars().any(is_invisible) {
            continue;
        }
        let span = if value.is_empty() { context.span(entry.record.name) } else { context.span(value) };
        found.report(span, || {
            let message = if value.is_empty() {
                "`Sitemap` has no value".to_owned()
            } else if has_space {
                format!("{} is more than one URL: each sitemap needs a line of its own", quoted(value))
            } else {
                format!("{} is not a whole URL with `https://` and the host", quoted(value))
            };
            let page = context.options.site().and_then(|url| split_url(url).ok());
            let fix = page.filter(|_| value.starts_with(b"/")).map(|page| {
                let whole = format!("{}://{}{text}", page.scheme, page.authority);
                Fix::unsafe_(format!("write `{whole}`"), vec![Edit::new(span, whole)])
            });
            let reading = if value.is_empty() {
                "Crawlers find no sitemap."
            } else if has_space {
                "Crawlers read the whole value as one URL, and find no sitemap."
            } else {
                "Some crawlers find the sitemap anyway; Google requires a whole URL."
            };
            Draft::new(message, reading).fixed_by(fix)
        });
    }
}

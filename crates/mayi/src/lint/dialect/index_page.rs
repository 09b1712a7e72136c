//! Google reads an `Allow` for an index page as an `Allow` for its folder too.
//!
//! ## What is wrong
//!
//! `Allow: /a/index.html` also allows `/a/` for Google, even if another rule disallows it.
//!
//! ## What crawlers do
//!
//! Crawlers that follow RFC 9309 allow only the page; Google allows the folder's own URL as well.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /
//! Allow: /index.html
//! ```
//!
//! To let all crawlers fetch the folder's URL, write `Allow: /$` too.

use crate::dialect::Dialect;
use crate::directive::RuleKind;
use crate::lint::prelude::*;
use crate::pattern::{PathPattern, index_page_folder};
use crate::target::Target;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "D005",
    name: "index-page",
    summary: "Google reads an Allow for an index page as an Allow for its folder too",
    severity: Severity::Note,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_8],
    source: include_str!("index_page.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let Some((dialect, reader)) = Dialect::met().find(|(dialect, _)| dialect.index_pages) else {
        return;
    };
    for rule in context.known_records().filter(|rule| rule.kind() == Some(RuleKind::Allow)) {
        let value = rule.record.value;
        if memchr::memmem::find(value, b"/index.htm").is_none() || value.len() > 2000 {
            continue;
        }
        let read = PathPattern::read(value, dialect.comparison);
        let Some(folder) = index_page_folder(read.normalised()) else { continue };
        let folder = String::from_utf8_lossy(&folder[..folder.len() - 1]).into_owned();
        if folder.contains('*') || !context.spend(folder.len() * 16) {
            continue;
        }
        let Ok(target) = Target::from_path(&folder) else { continue };
        let mut rules = context.rules_for().iter();
        let is_disallowed = |rules| context.decide(rules, &target).is_some_and(|it| !it.is_allowed());
        if !rules.any(|(_, rules)| is_disallowed(rules)) {
            continue;
        }
        found.report(context.span(value), || {
            let folder = quoted(folder.as_bytes());
            Draft::new(
                format!("for {reader} this also allows {folder}"),
                format!("Crawlers that follow RFC 9309 allow only the page, and disallow {folder}; {reader} allows both."),
            )
        });
    }
}

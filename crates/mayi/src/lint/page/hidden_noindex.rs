//! A page says `noindex`, but the file keeps crawlers from reading it.
//!
//! ## What is wrong
//!
//! `noindex` is in the page or in its header fields. A crawler that may not fetch the page never sees
//! it. A search engine can index a URL without fetching it, if other pages link to it.
//!
//! ## What crawlers do
//!
//! Crawlers do not fetch the page, so they do not see the `noindex`.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /private/
//! ```
//!
//! A page below `/private/` has `<meta name="robots" content="noindex">`. Allow the page until it is
//! out of the index. This lint needs a page: `--page-url` with `--html` or `--header`.

use crate::lint::prelude::*;
use crate::target::Target;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "H001",
    name: "hidden-noindex",
    summary: "a page says noindex, but the file keeps crawlers from reading it",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::USE_6, Clause::TAG_10],
    source: include_str!("hidden_noindex.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let Some(page) = context.options.page() else { return };
    let Ok(target) = Target::parse(&page.url) else { return };
    let mut reported = Vec::new();
    for (crawler, rules) in context.rules_for() {
        let decision = rules.decide(&target);
        let page_rules = page.controls.for_crawler(crawler);
        let (false, false, Some(rule)) =
            (decision.is_allowed(), page_rules.may_index(), decision.rule())
        else {
            continue;
        };
        let span = rule.span();
        if reported.contains(&span) {
            continue;
        }
        reported.push(span);
        let written = page_rules.rules().iter().find(|rule| ["noindex", "none"].contains(&rule.name()));
        found.report(span, || {
            let token = crawler.product_token();
            let who = if crawler.is_unnamed() { "a crawler that no group names".to_owned() } else { format!("`{token}`") };
            let place = written.map(|rule| format!(" ({}, {})", rule.name(), rule.found())).unwrap_or_default();
            Draft::new(
                format!("this rule keeps {who} from reading the noindex of {}{place}", page.url),
                "Crawlers do not fetch the page and never see it; the URL may be indexed if other pages link to it.",
            )
        });
    }
}

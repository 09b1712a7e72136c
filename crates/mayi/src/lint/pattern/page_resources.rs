//! Style sheets or scripts of pages may not be fetched.
//!
//! ## What is wrong
//!
//! Search engines draw a page before they judge it. Without its CSS and JavaScript it may look empty, or
//! unfit for phones, and rank accordingly.
//!
//! ## What crawlers make of it
//!
//! Those that the group is for do not fetch what the pattern matches, Google's and Bing's among them,
//! and draw pages without it.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /*.js$
//! Disallow: /css/
//! ```
//!
//! Delete the rule, or allow what pages need: `Allow: /css/`. A rule for everything (`/`) is not
//! reported, nor is one that only matches what another rule allows.

use crate::lint::prelude::*;
use crate::target::Target;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P010",
    name: "page-resources",
    summary: "style sheets or scripts of pages may not be fetched",
    severity: Severity::Warning,
    by_default: true,
    clauses: &[Clause::REP_8],
    source: include_str!("page_resources.rs"),
    check,
};

/// Folders that have hardly anything else.
const FOLDERS: &[&str] =
    &["css", "js", "javascript", "javascripts", "stylesheets", "styles", "wp-includes"];

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for rule in context.known_records() {
        let Some(crate::directive::RuleKind::Disallow) = rule.kind() else { continue };
        let Some((url, what)) = probe(rule.record.value) else { continue };
        if !context.spend(url.len() * 16) {
            return;
        }
        let Ok(target) = Target::from_path(&url) else { continue };
        let span = context.span(rule.record.value);
        let mut who = context.rules_for().iter().filter(|(_, rules)| {
            let decision = rules.decide(&target);
            !decision.is_allowed() && decision.rule().is_some_and(|decided| decided.span() == span)
        });
        let Some((crawler, _)) = who.next() else { continue };
        found.report(span, || {
            let token = crawler.product_token().as_str();
            let who = if token == crate::lint::context::NOBODY {
                "Search engines that no group names"
            } else {
                token
            };
            Draft::new(
                format!("the rule keeps {what} from crawlers that draw pages"),
                format!(
                    "{who} may not fetch, for example, {}, and draw pages without it.",
                    quoted(url.as_bytes())
                ),
            )
        });
    }
}

/// A URL that a pattern for style sheets or scripts matches, and what it is.
fn probe(pattern: &[u8]) -> Option<(String, &'static str)> {
    let pattern = str::from_utf8(pattern).ok()?;
    if pattern.len() > 200 {
        return None;
    }
    let body = pattern.strip_suffix('$').unwrap_or(pattern);
    let stem = body.trim_end_matches('*');
    let filled = |text: &str| format!("/{}", text.replace('*', "a").trim_start_matches('/'));
    for (end, what) in [(".css", "style sheets"), (".js", "scripts")] {
        // A single file may have its reasons; a kind of file is what pages need.
        if stem.ends_with(end) && stem[..stem.len() - end.len()].ends_with(['*', '/']) {
            return Some((filled(stem), what));
        }
    }
    let mut folders = stem.trim_end_matches('/').rsplit('/');
    let last = folders.next()?;
    let is_whole = stem.ends_with('/') || pattern.ends_with('*') || stem == pattern;
    let is_one = FOLDERS.iter().any(|folder| last.eq_ignore_ascii_case(folder));
    (is_whole && is_one && !pattern.ends_with('$')).then(|| {
        (
            format!(
                "{}/a.{}",
                filled(stem.trim_end_matches('/')),
                if last.contains("js") || last.contains("script") { "js" } else { "css" }
            ),
            "style sheets or scripts",
        )
    })
}

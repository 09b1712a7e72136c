//! The file's own rules disallow a sitemap that the file names.
//!
//! ## What is wrong
//!
//! The file gives crawlers the URL of a sitemap and tells them not to fetch it.
//!
//! ## What crawlers do
//!
//! The message says which crawlers may not fetch it: Google's, Bing's, or those that no group names. A
//! search engine that follows the rule does not read the sitemap.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /*.xml$
//! Sitemap: https://example.com/sitemap.xml
//! ```
//!
//! Add `Allow: /sitemap.xml`. The rules are those of this file, so the lint assumes that the sitemap is
//! on the same host. A file that disallows everything, without exception, is not reported. If some of
//! these crawlers may fetch the sitemap, it is a note.

use crate::directive::{RuleKind, SITEMAP};
use crate::lint::prelude::*;
use crate::target::{Target, split_url};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P011",
    name: "sitemap-disallowed",
    summary: "the file's own rules disallow a sitemap that it names",
    severity: Severity::Warning,
    other_severities: &[Severity::Note],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::WILD_1, Clause::REP_8],
    source: include_str!("sitemap_disallowed.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let sitemaps: Vec<_> = context.records_of(&SITEMAP).collect();
    // Sitemaps of several hosts can't all be on this host, and it is not known which of them are.
    let host = |entry: &Entry<'_>| {
        let text = str::from_utf8(entry.record.value).unwrap_or_default();
        split_url(text).map(|url| url.authority.to_ascii_lowercase()).unwrap_or_default()
    };
    let is_one_host = sitemaps.windows(2).all(|pair| host(&pair[0]) == host(&pair[1]));
    let own = context.options.site().map(split_url);
    if !is_one_host && own.is_none() {
        return;
    }
    let allows =
        |rule: &Entry<'_>| rule.kind() == Some(RuleKind::Allow) && !rule.record.value.is_empty();
    let has_exceptions = context.known_records().any(|rule| allows(&rule));
    for sitemap in sitemaps {
        let Ok(url) = str::from_utf8(sitemap.record.value) else { continue };
        if url.len() > 2000 || !context.spend(url.len() * 16) {
            continue;
        }
        let is_here = |url: &str| match (split_url(url), &own) {
            (Ok(sitemap), Some(Ok(own))) => sitemap.authority.eq_ignore_ascii_case(&own.authority),
            _ => true,
        };
        let target = Target::parse(url).or_else(|_| Target::from_path(url));
        let Ok(target) = target else { continue };
        if !is_here(url) {
            continue;
        }
        let decisions: Vec<_> = context
            .rules_for()
            .iter()
            .map_while(|(crawler, rules)| Some((crawler, context.decide(rules, &target)?)))
            .collect();
        if decisions.len() < context.rules_for().len() {
            return;
        }
        // A rule for everything is not about the sitemap, unless others make exceptions to it.
        let is_everything = |pattern: &[u8]| matches!(pattern, b"/" | b"*" | b"/*");
        let is_about_it = |pattern: &[u8]| !is_everything(pattern) || has_exceptions;
        let kept: Vec<_> = decisions
            .iter()
            .filter(|(_, decision)| !decision.is_allowed())
            .filter_map(|(crawler, decision)| Some((*crawler, decision.rule()?)))
            .filter(|(_, rule)| is_about_it(rule.pattern()))
            .collect();
        let Some((crawler, rule)) = kept.first() else { continue };
        let is_for_all = kept.len() == decisions.len();
        // A crawler that may fetch nothing at all is not meant to read the sitemap.
        if !is_for_all && is_everything(rule.pattern()) {
            continue;
        }
        let who = match crawler.product_token().as_str() {
            _ if is_for_all => "crawlers",
            _ if crawler.is_unnamed() => "crawlers that no group names",
            token => token,
        };
        let span = rule.span();
        found.report(context.span(sitemap.record.value), || {
            let pattern = quoted(rule.pattern());
            let draft = Draft::new(
                format!(
                    "`Disallow: {}` at line {} keeps {who} from fetching this sitemap",
                    pattern.trim_matches('`'),
                    rule.line()
                ),
                "Crawlers that follow the rule do not fetch the sitemap.",
            )
            .related(span, "this rule matches the sitemap's path");
            // If one search engine may fetch it, it is still useful to name the sitemap.
            if is_for_all { draft } else { draft.with_severity(Severity::Note) }
        });
    }
}

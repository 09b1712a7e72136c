//! Crawlers may not fetch style sheets or scripts of pages.
//!
//! ## What is wrong
//!
//! Search engines render a page before they rank it. Without its CSS and JavaScript the page may look
//! empty or unsuitable for phones, and may rank lower.
//!
//! ## What crawlers do
//!
//! The crawlers of the group, including Google's and Bing's, do not fetch what the pattern matches, and
//! render pages without it.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /*.js$
//! Disallow: /css/
//! ```
//!
//! Delete the rule, or allow what pages need: `Allow: /css/`. These are not reported:
//!
//! - a rule for everything (`/`)
//! - a rule for a single file
//! - a rule that matches only what another rule allows
//! - a rule beside one that allows a part of the same folder: its author knows what pages need
//! - a rule that the crawlers do not use because they have their own groups
//! - a folder in a folder that the crawlers may not fetch either
//! - a folder below `/api/`, which is for programs and not for pages

use crate::directive::RuleKind;
use crate::lint::groups::GroupView;
use crate::lint::pattern::several_paths::has_several_paths;
use crate::lint::prelude::*;
use crate::target::Target;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P010",
    name: "page-resources",
    summary: "crawlers may not fetch style sheets or scripts of pages",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_8],
    source: include_str!("page_resources.rs"),
    check,
};

/// Folders that contain hardly anything else, or that every page needs.
const FOLDERS: &[&str] = &[
    "css",
    "js",
    "javascript",
    "javascripts",
    "stylesheets",
    "styles",
    "wp-includes",
    "wp-content",
    "_next",
    "_nuxt",
];

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for group in context.groups.iter() {
        check_group(context, found, group);
    }
}

fn check_group(context: &Context<'_, '_>, found: &mut Found<'_>, group: GroupView<'_, '_>) {
    let of_kind = |wanted| group.rules().filter(move |(kind, _)| *kind == wanted).map(|(_, rule)| rule);
    let allowed = of_kind(RuleKind::Allow).count();
    for rule in of_kind(RuleKind::Disallow) {
        let Some(Probe { url, folder }) = probe(rule.record.value) else { continue };
        if !context.spend(url.len() * 16 + allowed) {
            return;
        }
        let stem = rule.record.value;
        let end = stem.iter().rposition(|octet| !b"*$/".contains(octet)).map_or(0, |last| last + 1);
        let opens_a_part = |allow: &Entry<'_>| allow.record.value.starts_with(&stem[..end]);
        if end > 1 && of_kind(RuleKind::Allow).any(opens_a_part) {
            continue;
        }
        let (Ok(target), Ok(above)) = (Target::from_path(&url), Target::from_path(&folder)) else {
            continue;
        };
        let span = context.span(rule.record.value);
        // All others matter only if no crawlers are given.
        let who = match context.rules_for() {
            [_, named @ ..] if !named.is_empty() => named,
            others => others,
        };
        let mut who = who.iter().filter(|(_, rules)| {
            let decide = |target| context.decide(rules, target);
            let (Some(decision), Some(above)) = (decide(&target), decide(&above)) else { return false };
            let decides = || decision.rule().is_some_and(|decided| decided.span() == span);
            !decision.is_allowed() && above.is_allowed() && decides()
        });
        let Some((crawler, _)) = who.next() else { continue };
        found.report(span, || {
            let who = match crawler.product_token().as_str() {
                _ if crawler.is_unnamed() => "Search engines that no group names",
                token => token,
            };
            Draft::new(
                "the rule keeps crawlers that render pages from fetching style sheets or scripts",
                format!(
                    "{who} may not fetch, for example, {}; pages that need it are rendered without it.",
                    quoted(url.as_bytes())
                ),
            )
        });
    }
}

/// A URL that a pattern for style sheets or scripts matches.
struct Probe {
    url: String,
    /// The folder of the pages that need it.
    folder: String,
}

fn probe(pattern: &[u8]) -> Option<Probe> {
    // A pattern that matches nothing disallows nothing.
    if has_several_paths(pattern) {
        return None;
    }
    let pattern = str::from_utf8(pattern).ok()?;
    if pattern.len() > 200 || pattern.split('/').any(|part| part.eq_ignore_ascii_case("api")) {
        return None;
    }
    let body = pattern.strip_suffix('$').unwrap_or(pattern);
    let stem = body.trim_end_matches('*');
    let filled = |text: &str| format!("/{}", text.replace('*', "a").trim_start_matches('/'));
    let folder = |path: &str| filled(&path[..path.rfind('/').map_or(0, |at| at + 1)]);
    // A file name with a version or the like after it is the same file.
    let (path, query) = stem.split_at(stem.find('?').unwrap_or(stem.len()));
    for end in [".css", ".js", ".mjs"] {
        let Some(before) = path.strip_suffix(end).filter(|_| query.len() <= 1) else { continue };
        // Not the versions of one file, such as `/robots.*.js`.
        let name = before.rsplit('/').next().unwrap_or_default().replace("min", "");
        let is_kind = name.bytes().all(|octet| b"*.".contains(&octet));
        return is_kind.then(|| Probe { url: filled(stem), folder: folder(path) });
    }
    let path = stem.trim_end_matches('/');
    let last = path.rsplit('/').next()?;
    let is_whole = stem.ends_with('/') || pattern.ends_with('*') || stem == pattern;
    let is_known = FOLDERS.iter().any(|folder| last.eq_ignore_ascii_case(folder))
        || path.ends_with("wp-content/themes");
    if !is_whole || pattern.ends_with('$') || !is_known {
        return None;
    }
    let last = last.to_ascii_lowercase();
    let end = if last.contains("js") || last.contains("script") { "js" } else { "css" };
    let url = format!("{}/a.{end}", filled(path));
    Some(Probe { url, folder: folder(path) })
}

//! A `Content-Signal` has a key or value that is not defined.
//!
//! ## What is wrong
//!
//! The value is a list of `key=value`, separated by commas. `search`, `ai-input` and `ai-train` are
//! `yes` or `no`; `use` is `immediate`, `reference` or `full`.
//!
//! ## What crawlers do
//!
//! Crawlers that read `Content-Signal` ignore what they do not understand, so the line says nothing
//! about that use (WILD-1).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Content-Signal: search=yes; ai-train=false
//! Allow: /
//! ```
//!
//! Write `search=yes, ai-train=no`.

use crate::directive::CONTENT_SIGNAL;
use crate::lint::nearest;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X010",
    name: "content-signal",
    summary: "a Content-Signal has a key or value that is not defined",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::WILD_1],
    source: include_str!("content_signal.rs"),
    check,
};

const KEYS: &[&str] = &["search", "ai-input", "ai-train", "use"];
const USES: &[&str] = &["immediate", "reference", "full"];

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for entry in context.records_of(&CONTENT_SIGNAL) {
        for pair in entry.record.value.split(|&octet| octet == b',') {
            let pair = pair.trim_ascii();
            let Some((at, message, fix)) = wrong(pair) else { continue };
            let at = if at.is_empty() { entry.record.name } else { at };
            let span = context.span(at);
            found.report(span, || {
                let fix = fix.map(|right| {
                    Fix::unsafe_(format!("write `{right}`"), vec![Edit::new(span, right)])
                });
                Draft::new(
                    message,
                    "Crawlers that read Content-Signal ignore it; Google ignores the whole line.",
                )
                .fixed_by(fix)
            });
        }
    }
}

/// What is wrong with one pair: which part of it, why, and what would be right.
fn wrong(pair: &[u8]) -> Option<(&[u8], String, Option<&'static str>)> {
    let Some(equals) = memchr::memchr(b'=', pair) else {
        return Some((pair, format!("{} is not `key=value`", quoted(pair)), None));
    };
    let (key, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
    let name = String::from_utf8_lossy(key).to_ascii_lowercase();
    if !KEYS.contains(&name.as_str()) {
        let near = match name.as_str() {
            "train-ai" | "ai" => Some("ai-train"),
            other => nearest(other, KEYS.iter().copied()),
        };
        let message = format!("{} is none of `search`, `ai-input`, `ai-train` and `use`", quoted(key));
        return Some((key, message, near));
    }
    let text = String::from_utf8_lossy(value).to_ascii_lowercase();
    if name == "use" {
        let is_one = USES.contains(&text.as_str());
        let message = || format!("{} is none of `immediate`, `reference` and `full`", quoted(value));
        return (!is_one).then(|| (value, message(), nearest(&text, USES.iter().copied())));
    }
    let right = match text.as_str() {
        "yes" | "no" => return None,
        "y" | "true" | "1" | "allow" | "allowed" => Some("yes"),
        "n" | "false" | "0" | "disallow" | "disallowed" => Some("no"),
        _ => None,
    };
    Some((value, format!("{} is neither `yes` nor `no`", quoted(value)), right))
}

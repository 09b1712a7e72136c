//! A pattern contains `#`, which starts a comment.
//!
//! ## What is wrong
//!
//! `#` starts a comment anywhere in a line. The pattern ends before it, and matches more URLs than it
//! seems to. Also, a fragment is never sent to a server, so no rule can distinguish `/page#a` from
//! `/page`.
//!
//! ## What crawlers do
//!
//! Crawlers read the pattern up to the `#` (REP-3).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /page#comments
//! ```
//!
//! This disallows `/page`. Delete the line. If the `#` is part of the path, write `%23`. If it starts a
//! comment, write a space before it. A path that was pasted with an id after it, such as
//! `/folder/#57934e047260`, is not reported, because its author probably means the folder.

use crate::lint::characters::template_in;
use crate::lint::prelude::*;
use crate::lint::rules::patterns;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P003",
    name: "fragment",
    summary: "a pattern contains `#`, which starts a comment",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_3, Clause::REP_7],
    source: include_str!("fragment.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for rule in patterns(context) {
        let Some(comment) = context.lines.at(rule.line).comment else { continue };
        let value = context.span(rule.record.value);
        let comment_text = &context.text[comment.range()];
        let is_blank =
            value.is_empty() && (comment_text.starts_with(b"#/") || comment_text.starts_with(b"#!"));
        if is_blank {
            found.report(comment, || {
                Draft::new(
                    format!("{} is a comment, not a pattern", quoted(comment_text.trim_ascii_end())),
                    "Every crawler reads a rule without a pattern, which matches nothing.",
                )
            });
            continue;
        }
        if value.is_empty() || value.end != comment.start {
            continue;
        }
        let start = String::from_utf8_lossy(&rule.record.value[..rule.record.value.len().min(300)]);
        if template_in(&start).is_some() {
            continue;
        }
        let text = &context.text[comment.range()];
        let is_word = |octet: &u8| octet.is_ascii_alphanumeric() || b"!/_-*".contains(octet);
        let is_pasted = || rule.record.value.ends_with(b"/") && is_id(&text[1..]);
        if !text.get(1).is_some_and(is_word) || is_pasted() {
            continue;
        }
        found.report(comment, || {
            let (read, cut) = (quoted(rule.record.value), quoted(text.trim_ascii_end()));
            Draft::new(
                format!("{cut} is a comment, not part of the pattern"),
                format!(
                    "Every crawler reads the pattern {read}, which probably matches more than intended."
                ),
            )
        });
    }
}

/// Whether a fragment is not a word but an id, as programs add it to a URL.
fn is_id(fragment: &[u8]) -> bool {
    let fragment = fragment.trim_ascii_end();
    let digits = fragment.iter().filter(|octet| octet.is_ascii_digit()).count();
    fragment.iter().all(u8::is_ascii_alphanumeric)
        && fragment.len() >= 8
        && 2 * digits >= fragment.len()
}

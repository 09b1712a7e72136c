//! Google reads a line differently from other crawlers.
//!
//! ## What is wrong
//!
//! Google looks only at how a name starts: it reads `DisallowAITraining` as `Disallow`, and
//! `User-Agent-Purpose` as `User-agent`. It also ends a line at a NUL. If a line has no colon after its
//! name, Google uses a later colon in the value.
//!
//! ## What crawlers do
//!
//! The diagnostic shows both readings: the one of RFC 9309 and the drafts (WILD-7), and Google's.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! DisallowAITraining: /
//! ```
//!
//! For Google, everything is disallowed. Use `Content-Usage: train-ai=n` instead, or give Google's
//! crawlers a group without this line.

use crate::dialect::Dialect;
use crate::directive::{Role, RuleKind};
use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;
use crate::lint::readings::{Said, said};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "D001",
    name: "read-differently",
    summary: "Google reads a line differently from other crawlers",
    severity: Severity::Warning,
    other_severities: &[Severity::Error],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::WILD_7],
    source: include_str!("read_differently.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    if context.text_start().is_none() {
        return; // `utf-16` says what others read
    }
    for line in context.lines.known_or_odd(|oddity| !matches!(oddity, Oddity::NearlyNamed(_))) {
        if line.inline_rule.is_some() || line.span.len() > 16_000 {
            continue;
        }
        let text = context.line_text(&line);
        let is_about_access =
            |said: &&Said<'_>| matches!(said.directive.role, Role::StartsGroup(_) | Role::Rule(_));
        let ours = said(text, context.robots.dialect());
        let other = Dialect::met().map(|(dialect, reader)| (said(text, dialect), reader));
        let is_another = |(theirs, _): &(Vec<Said<'_>>, _)| {
            !ours.iter().filter(is_about_access).eq(theirs.iter().filter(is_about_access))
        };
        let Some((theirs, reader)) = { other }.find(is_another) else { continue };
        found.report(line.content_span(context.text), || {
            let shown = |said: Option<&Said<'_>>| match said {
                Some(said) => {
                    let value = quoted(said.value);
                    format!("`{}: {}`", said.directive.name, value.trim_matches('`'))
                }
                None => "nothing".to_owned(),
            };
            let (here, there) = (shown(ours.first()), shown(theirs.first()));
            let draft = Draft::new(
                format!("{reader} reads this line as {there}"),
                format!(
                    "Crawlers that follow RFC 9309 and the drafts read {here}; {reader} reads {there}."
                ),
            );
            let disallows = |said: &Said<'_>| {
                said.directive.role == Role::Rule(RuleKind::Disallow) && !said.value.is_empty()
            };
            if theirs.iter().any(disallows) && !ours.iter().any(disallows) {
                draft.with_severity(Severity::Error)
            } else {
                draft
            }
        });
    }
}

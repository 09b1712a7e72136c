//! A `Disallow` or `Allow` without a value stands among other rules.
//!
//! ## What is wrong
//!
//! An empty pattern matches nothing. Alone in its group, a blank `Disallow:` is the usual way to write
//! that everything is allowed; among others it does not undo them, although it looks as if it did.
//!
//! ## What crawlers make of it
//!
//! They read it as a rule that matches no URL (REP-9). Very old ones took a blank `Disallow` as
//! "allow everything".
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /private/
//! Disallow:
//! ```
//!
//! Delete the line; or, if everything is to be allowed, the others.

use crate::directive::RuleKind;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G006",
    name: "blank-rule",
    summary: "a rule without a value stands among others and does nothing",
    severity: Severity::Warning,
    by_default: true,
    clauses: &[Clause::REP_9],
    source: include_str!("blank_rule.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for group in &context.groups {
        let full = group
            .rules()
            .find(|(kind, rule)| *kind == RuleKind::Disallow && !rule.record.value.is_empty());
        let Some((_, full)) = full else { continue };
        for (kind, rule) in group.rules().filter(|(_, rule)| rule.record.value.is_empty()) {
            let line = &context.lines[rule.line];
            let span = context.span(rule.record.name);
            found.report(span, || {
                let name = if kind == RuleKind::Allow { "Allow" } else { "Disallow" };
                let fix = (line.inline_rule.is_none() && context.google().has_rule(rule.line) && context.is_read_alike(rule)).then(|| {
                    Fix::safe("delete the line", vec![line.removed()])
                });
                Draft::new(
                    format!("a blank `{name}` does nothing: the other rules of the group still hold"),
                    "Crawlers read it as a rule that matches no URL; a few very old ones read a blank Disallow as \
                     leave for everything.",
                )
                .related(context.span(full.record.value), "this rule still holds")
                .fixed_by(fix)
            });
        }
    }
}

//! `Robots-Tag` has a page rule where the name of a crawler belongs.
//!
//! ## What is wrong
//!
//! `Robots-Tag` is a structured field: its members are crawlers, or `*`, and rules are their
//! parameters. `Robots-Tag: noindex` names a crawler called noindex. In the old field,
//! `X-Robots-Tag: noindex` is right.
//!
//! ## What crawlers do
//!
//! `mayi` reads a member that is only the name of a page rule as that rule for all crawlers (TAG-5). A
//! strict reader reads it as the name of a crawler, and the rule is lost.
//!
//! ## Example
//!
//! ```text
//! Robots-Tag: noindex
//! ```
//!
//! Write `Robots-Tag: *;noindex`. This lint needs a page: `--header`.

use crate::lint::prelude::*;
use crate::page::{bare_rules, is_page_rule};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "H002",
    name: "bare-robots-tag",
    summary: "Robots-Tag has a page rule where the name of a crawler belongs",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::TAG_5],
    source: include_str!("bare_robots_tag.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let Some(page) = context.options.page() else { return };
    let fields = page.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("robots-tag"));
    for (name, value) in fields {
        for rule in bare_rules(value).filter(|rule| is_page_rule(rule)) {
            found.report_whole(|| {
                Draft::new(
                    format!("`{rule}` in the field {name} is where the name of a crawler belongs: write `*;{rule}`"),
                    "mayi reads it as the rule for all crawlers; a strict reader reads it as a crawler's name.",
                )
            });
        }
    }
}

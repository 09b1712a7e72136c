//! A purpose is not registered.
//!
//! ## What is wrong
//!
//! The purposes of `User-Agent-Purpose` lines should be registered, so that everybody gives them the same
//! meaning. This one is not in the registry. It may be misspelled, or a purpose that only some crawlers
//! know.
//!
//! ## What crawlers do
//!
//! Crawlers that read purposes follow the line if they claim exactly this purpose. Those that accept
//! only registered purposes ignore it (PUR-2). Google reads `User-Agent-Purpose` as `User-agent`, and
//! the purpose as the name of a crawler.
//!
//! ## Example
//!
//! ```text
//! User-Agent-Purpose: EXAMPLE-PURPOSE-9
//! Disallow: /private/
//! ```
//!
//! `mayi registry list purposes` prints the registered purposes, and `--registry` adds others.

use crate::directive::{GroupStart, Role};
use crate::lint::nearest;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X001",
    name: "unregistered-purpose",
    summary: "a purpose is not registered",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::PUR_2],
    source: include_str!("unregistered_purpose.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for start in context.groups.starts() {
        let value = start.record.value;
        let is_known = str::from_utf8(value)
            .is_ok_and(|purpose| context.robots.registry().purpose(purpose).is_some());
        if start.role != Role::StartsGroup(GroupStart::Purpose) || is_known {
            continue;
        }
        let span = if value.is_empty() { context.span(start.record.name) } else { context.span(value) };
        found.report(span, || {
            let text = String::from_utf8_lossy(value);
            let purposes = context.robots.registry().purposes().iter().map(|known| &*known.token);
            let fix = nearest(&text, purposes).map(|near| {
                Fix::unsafe_(format!("write `{near}`"), vec![Edit::new(span, near)])
            });
            Draft::new(
                format!("{} is not a registered purpose", quoted(value)),
                "Only crawlers that claim exactly this purpose follow the line, and only if they accept \
                 unregistered purposes; Google reads it as the name of a crawler.",
            )
            .about(text.to_ascii_lowercase())
            .fixed_by(fix.filter(|_| !value.is_empty()))
        });
    }
}

//! A purpose is in no registry.
//!
//! ## What is wrong
//!
//! The purposes that a `User-Agent-Purpose` line may have are to be a registry, so that everybody means
//! the same by them. This one is not in it. It may be a slip, or a purpose that only some crawlers know.
//!
//! ## What crawlers make of it
//!
//! Those that read purposes heed the line where they claim this very purpose; those that want registered
//! purposes only discard it (PUR-2). Google reads `User-Agent-Purpose` as `User-agent`, and the purpose as
//! the name of a crawler.
//!
//! ## Example
//!
//! ```text
//! User-Agent-Purpose: EXAMPLE-PURPOSE-9
//! Disallow: /private/
//! ```
//!
//! `mayi registry list purposes` prints those that are known, and `--registry` adds to them.

use crate::directive::{GroupStart, Role};
use crate::lint::nearest;
use crate::lint::prelude::*;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "X001",
    name: "unregistered-purpose",
    summary: "a purpose is in no registry",
    severity: Severity::Warning,
    by_default: true,
    clauses: &[Clause::PUR_2],
    source: include_str!("unregistered_purpose.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for start in context.groups.iter().flat_map(|group| &group.starts) {
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
                format!("{} is no purpose that is registered", quoted(value)),
                "Only crawlers that claim this very purpose heed the line, and not those that want registered \
                 ones; Google takes it for the name of a crawler.",
            )
            .fixed_by(fix.filter(|_| !value.is_empty()))
        });
    }
}

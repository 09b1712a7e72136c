//! A user-agent line names no crawler.
//!
//! ## What is wrong
//!
//! The value is blank, or starts with something that no crawler's name has, such as a quotation mark.
//! The name of a crawler in robots.txt is made of letters, digits, `_`, `-` and `.`.
//!
//! ## What crawlers do
//!
//! The line matches no crawler. If no other line of the group names a crawler, no crawler ever uses the
//! group's rules.
//!
//! ## Example
//!
//! ```text
//! User-agent:
//! Disallow: /private/
//! ```
//!
//! Write `User-agent: *` for all crawlers that are not named elsewhere.

use super::crawler_name::is_named_too;
use crate::lint::prelude::*;
use crate::lint::rules::Names;
use crate::lint::syntax::look_alike::look_alike_name;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G004",
    name: "names-nobody",
    summary: "a user-agent line names no crawler",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_4],
    source: include_str!("names_nobody.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for group in context.groups.iter() {
        let is_nobody = |start: &Entry<'_>| Names::of(start, context) == Names::Nobody;
        let is_lost = group.starts.iter().all(is_nobody);
        let rules = context.rules_hash(group);
        for start in group.starts.iter().filter(|start| is_nobody(start)) {
            let value = start.record.value;
            if value.starts_with(b"*") || look_alike_name(value).is_some() {
                continue; // `wildcard-crawler` or `look-alike` knows what was meant
            }
            if is_named_too(context, value, rules) {
                continue; // one more try at a crawler that has the same rules
            }
            let (record, span) = (context.span(start.record.name), context.span(value));
            let span = if value.is_empty() { record } else { span };
            found.report(span, || {
                let reading = if is_lost {
                    "No crawler matches the group, so none uses its rules."
                } else {
                    "No crawler matches the line; the other user-agent lines of the group still count."
                };
                if value.is_empty() {
                    return Draft::new("the user-agent line has no value", reading);
                }
                let bare = value.trim_ascii();
                let inner =
                    bare.iter().filter(|octet| !b"\"'`".contains(octet)).copied().collect::<Vec<_>>();
                let fix = (inner.len() < bare.len()).then(|| {
                    let label = format!("write {}", quoted(&inner));
                    Fix::unsafe_(label, vec![Edit::new(span, inner.clone())])
                });
                Draft::new(format!("no crawler's name starts like {}", quoted(value)), reading)
                    .fixed_by(fix)
            });
        }
    }
}

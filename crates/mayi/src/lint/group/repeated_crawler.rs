//! The same crawler is named in two groups, or twice in one.
//!
//! ## What is wrong
//!
//! By RFC 9309 nothing is wrong. But it is easy to change one group and forget the other, and not every
//! crawler combines them.
//!
//! ## What crawlers do
//!
//! Those that follow RFC 9309, including Google's, combine both groups. By draft-koster-rep-00 only the
//! first `*` group applies. Some libraries use only the first group of any name, or only the last.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /private/
//!
//! User-agent: *
//! Disallow: /tmp/
//! ```
//!
//! Write one group with both rules. If a line repeats another line of its own group, delete it.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use crate::lint::prelude::*;
use crate::lint::rules::Names;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G002",
    name: "repeated-crawler",
    summary: "the same crawler is named in two groups",
    severity: Severity::Note,
    by_default: true,
    fixes: true,
    clauses: &[Clause::REP_5, Clause::REP_6],
    source: include_str!("repeated_crawler.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let mut seen: HashMap<(bool, u64), (usize, &Entry<'_>)> = HashMap::new();
    for (group, view) in context.groups.iter().enumerate() {
        for start in view.starts {
            let (is_purpose, name) = match Names::of(start, context) {
                Names::Purpose => (true, start.record.value),
                Names::Global => (false, &b"*"[..]),
                Names::Token { token, .. } => (false, token),
                Names::Regex => (false, start.record.value),
                Names::Nobody => continue,
            };
            let span = context.span(start.record.value);
            let (first_group, first_start) = match seen.entry((is_purpose, context.name_hash(name))) {
                Slot::Occupied(first) => *first.get(),
                Slot::Vacant(slot) => {
                    slot.insert((group, start));
                    continue;
                }
            };
            let first = context.span(first_start.record.value);
            found.report(span, || {
                let line = first_start.line + 1;
                let who = quoted(name);
                let view = context.lines.at(start.line);
                if first_group != group {
                    return Draft::new(
                        format!("{who} already has a group, at line {line}"),
                        "Crawlers that follow RFC 9309, including Google's, combine both groups; some \
                         others use only the first, or only the last.",
                    )
                    .related(first, "the first group");
                }
                let first_value = &context.text[first.range()];
                let fix = (first_value.eq_ignore_ascii_case(start.record.value)
                    && view.inline_rule.is_none()
                    && context
                        .met()
                        .iter()
                        .all(|groups| groups.are_together(first_start.line, start.line))
                    && context.is_read_alike(first_start)
                    && context.is_read_alike(start))
                .then(|| Fix::safe("delete the line", vec![view.removed()]));
                Draft::new(
                    format!("{who} is already named at line {line} of the same group"),
                    "Crawlers read the two lines as one.",
                )
                .related(first, "the first line")
                .fixed_by(fix)
            });
        }
    }
}

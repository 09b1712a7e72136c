//! A regular expression is only the end of a name.
//!
//! ## What is wrong
//!
//! An expression has to match the whole name of a crawler. One that starts with `-` or `_` describes
//! only the end of a name, and no whole name starts like that.
//!
//! ## What crawlers do
//!
//! For crawlers that read regular expressions (draft-jimenez-tbd-robotstxt-update) it does not match
//! (AIA-2). For all others it is a name that no crawler has.
//!
//! ## Example
//!
//! ```text
//! User-agent: -ai$
//! Disallow: /
//! ```
//!
//! Write `.*-ai$`, which allows anything before the end.

use crate::lint::prelude::*;
use crate::lint::rules::regexes;
use crate::regexes::first_word;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G012",
    name: "partial-regex",
    summary: "a regular expression is only the end of a name",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::AIA_2],
    source: include_str!("partial_regex.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for (_, start, compiled) in regexes(context) {
        let word = first_word(start.record.value);
        let first = word.iter().find(|octet| **octet != b'(');
        // `unusable-regex` reports an expression that is not used.
        if compiled.is_err() || !first.is_some_and(|octet| b"-_".contains(octet)) {
            continue;
        }
        let span = context.span(word);
        found.report(span, || {
            // Alternatives without brackets would each need what is put before them.
            let meant = if word.contains(&b'|') {
                [b".*(", word, b")"].concat()
            } else {
                [b".*", word].concat()
            };
            Draft::new(
                format!("{} matches no whole name: it describes only the end of a name", quoted(word)),
                "An expression has to match the whole name of a crawler, so this one matches none.",
            )
            .fixed_by(Fix::unsafe_(
                format!("write {}, which matches all names with that end", quoted(&meant)),
                vec![Edit::new(span, meant.clone())],
            ))
        });
    }
}

//! A regular expression is only the end of a name.
//!
//! ## What is wrong
//!
//! An expression has to match the whole name of a crawler. One that starts with `-` or `_` is written for
//! the end of a name, and no crawler's whole name is that.
//!
//! ## What crawlers make of it
//!
//! Those that read regular expressions (draft-jimenez-tbd-robotstxt-update) find that it does not match
//! them (AIA-2). To all others it is a name that nobody has.
//!
//! ## Example
//!
//! ```text
//! User-agent: -ai$
//! Disallow: /
//! ```
//!
//! Write `.*-ai$`: whatever comes before the end.

use crate::lint::prelude::*;
use crate::lint::rules::regexes;
use crate::regexes::first_word;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G012",
    name: "partial-regex",
    summary: "a regular expression is only the end of a name",
    severity: Severity::Error,
    by_default: true,
    clauses: &[Clause::AIA_2],
    source: include_str!("partial_regex.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for (_, start, compiled) in regexes(context) {
        let word = first_word(start.record.value);
        let first = word.iter().find(|octet| **octet != b'(');
        // Of one that is not used, `unusable-regex` speaks.
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
                format!("{} matches no whole name: it is only how names end", quoted(word)),
                "An expression has to match all of a crawler's name, and so this one is for nobody.",
            )
            .fixed_by(Fix::unsafe_(
                format!("write {}, for all names that end so", quoted(&meant)),
                vec![Edit::new(span, meant.clone())],
            ))
        });
    }
}

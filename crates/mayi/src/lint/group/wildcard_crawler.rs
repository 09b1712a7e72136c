//! A user-agent line has text after its `*`.
//!
//! ## What is wrong
//!
//! Only a `*` alone means all crawlers that are not named. It is not a wildcard in a name: `*bot` does
//! not mean every crawler whose name ends in `bot`.
//!
//! ## What crawlers do
//!
//! For most crawlers the line names no crawler (AIA-2). A few libraries read it as `*`, and then it is
//! for all crawlers.
//!
//! ## Example
//!
//! ```text
//! User-agent: *-ai
//! Disallow: /
//! ```
//!
//! Name the crawlers, one per line. For crawlers that read regular expressions, write `.*-ai`.

use crate::crawler::is_letter_of_token;
use crate::lint::prelude::*;
use crate::lint::rules::Names;
use crate::lint::syntax::markup::markup_span;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G009",
    name: "wildcard-crawler",
    summary: "a user-agent line has text after its `*`",
    severity: Severity::Error,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::AIA_2, Clause::REP_4],
    source: include_str!("wildcard_crawler.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let starts =
        context.groups.iter().flat_map(|group| group.starts.iter().map(move |start| (group, start)));
    for (group, start) in starts {
        let value = start.record.value;
        let is_one = Names::of(start, context) == Names::Nobody && value.starts_with(b"*");
        // `markup` reports a tag after it.
        if !is_one || markup_span(value).is_some() {
            continue;
        }
        let rest = &value[1..];
        let name = rest.strip_suffix(b"*").unwrap_or(rest);
        let is_name = name.first().is_some_and(u8::is_ascii_alphanumeric)
            && name.iter().all(|octet| is_letter_of_token(*octet) || octet.is_ascii_digit());
        // The crawler has these rules by its right name.
        let is_named_too = |name| context.has_name_with_rules(name, context.rules_hash(group));
        if is_name && str::from_utf8(name).is_ok_and(is_named_too) {
            continue;
        }
        let span = context.span(value);
        found.report(span, || {
            let has_name = rest.iter().any(u8::is_ascii_alphanumeric);
            let (label, meant) = if is_name {
                (format!("write {}", quoted(name)), name.to_vec())
            } else if has_name {
                let stem: Vec<u8> = rest.iter().copied().filter(|octet| *octet != b'*').collect();
                let end: &[u8] = if rest.ends_with(b"*") { b".*" } else { b"" };
                let meant = [b".*", &stem[..], end].concat();
                (format!("write {}, for crawlers that read regular expressions", quoted(&meant)), meant)
            } else {
                ("write `*`".to_owned(), b"*".to_vec())
            };
            Draft::new(
                format!("{} names no crawler: only a `*` alone means all crawlers", quoted(value)),
                "No crawler matches the line; a few libraries read it as `*`.",
            )
            .fixed_by(Fix::unsafe_(label, vec![Edit::new(span, meant)]))
        });
    }
}

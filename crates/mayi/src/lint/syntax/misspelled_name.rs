//! The name of a record is misspelled.
//!
//! ## What is wrong
//!
//! Crawlers compare the whole name, ignoring upper and lower case: `Disalow` is not `Disallow`.
//!
//! ## What crawlers do
//!
//! A few misspellings are so common that many crawlers read them as intended (`useragent`,
//! `user agent`, `disalow`, `dissallow`, `dissalow`, `diasllow`, `disallaw`, `site-map`). Any other is
//! a record with an unknown name, which all crawlers ignore. Google looks only at how a name starts: it
//! reads `Disallowed` as `Disallow`, and nobody else does.
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Dissalow: /private/
//! ```
//!
//! Write `Disallow: /private/`.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::directive::DIRECTIVES;
use crate::lint::oddity::Oddity;
use crate::lint::prelude::*;
use crate::lint::readings::{is_kept, said_to_another};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "S002",
    name: "misspelled-name",
    summary: "the name of a record is misspelled",
    severity: Severity::Error,
    other_severities: &[Severity::Warning],
    set: LintSet::Default,
    fixes: true,
    clauses: &[Clause::WILD_2, Clause::WILD_7],
    source: include_str!("misspelled_name.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let repeats = repeats(context);
    for line in context.lines.known_or_odd(|oddity| matches!(oddity, Oddity::NearlyNamed(_))) {
        let Some(record) = line.record else { continue };
        let (right, is_read) = match (directive_of(&record), line.oddity) {
            (Some(directive), _) if record.misspelled => (directive.name, true),
            (None, Some(Oddity::NearlyNamed(directive))) => {
                (DIRECTIVES[usize::from(directive)].name, false)
            }
            _ => continue,
        };
        let span = context.span(record.name);
        if repeats.contains(&span.start) {
            continue;
        }
        found.report(span, || {
            let text = context.line_text(&line);
            let reading = if is_read {
                "Many crawlers, including Google's, read it as intended; others ignore the line.".to_owned()
            } else if let Some((reader, said)) = said_to_another(text) {
                let name = said.directive.name;
                format!("Crawlers ignore the line as a record with an unknown name, but {reader} reads it as `{name}`.")
            } else {
                "Every crawler ignores the line as a record with an unknown name.".to_owned()
            };
            let message = format!("{} is not `{right}`", quoted(record.name));
            let start = (span.start - line.span.start) as usize;
            let end = (span.end - line.span.start) as usize;
            let fixed = [&text[..start], right.as_bytes(), &text[end..]].concat();
            let safe = is_read && is_kept(text, &fixed, context.robots.dialect());
            let label = format!("write `{right}`");
            let draft = Draft::new(message, reading)
                .about(quoted(&record.name.to_ascii_lowercase()))
                .fixed_by(Fix { label, edits: vec![Edit::new(span, right)], safe });
            if is_read { draft.with_severity(Severity::Warning) } else { draft }
        });
    }
}

/// Where the misspelt records begin whose groups have the same record, spelt correctly: the file already says what was meant.
fn repeats(context: &Context<'_, '_>) -> HashSet<u32> {
    let hasher = RandomState::new();
    let said = |entry: &Entry<'_>| {
        Some(hasher.hash_one((directive_of(&entry.record)?.name, entry.record.value)))
    };
    let mut repeats = HashSet::new();
    for group in context.groups.iter() {
        if !group.entries.iter().any(|entry| entry.record.misspelled) {
            continue;
        }
        let (misspelt, right): (Vec<_>, Vec<_>) =
            group.entries.iter().partition(|entry| entry.record.misspelled);
        let right: HashSet<_> = right.into_iter().filter_map(said).collect();
        let is_repeat = |entry: &&Entry<'_>| said(entry).is_some_and(|said| right.contains(&said));
        let found = misspelt.into_iter().filter(is_repeat);
        repeats.extend(found.map(|entry| context.span(entry.record.name).start));
    }
    repeats
}

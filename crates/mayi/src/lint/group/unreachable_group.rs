//! A crawler never uses a group that seems to be for it.
//!
//! ## What is wrong
//!
//! A crawler uses only one kind of group (PUR-3), the first of these that the file has for it:
//!
//! 1. Groups with its name.
//! 2. Groups with a regular expression that matches its name.
//! 3. Groups with its purpose.
//! 4. Groups with `*`.
//!
//! If every crawler already uses an earlier kind, a later group is never used. If a crawler has a group
//! by its name and also matches a regular expression, it uses only the group by its name. The rules of
//! the two are not combined.
//!
//! ## What crawlers do
//!
//! Crawlers that read regular expressions (draft-jimenez-tbd-robotstxt-update) never use the group.
//! Others, including Google, do not read such expressions. They read the line as the name that it
//! starts with.
//!
//! ## Example
//!
//! ```text
//! User-agent: GPTBot
//! Disallow: /private/
//!
//! User-agent: ^(GPTBot)$
//! Disallow: /drafts/
//! ```
//!
//! Move the rules to the group with the name. Other lints report groups that no crawler uses for other
//! reasons: `names-nobody` (no value, or not a name), `crawler-name` (a space or a slash in the name),
//! `wildcard-crawler` (`*-ai`), `near-crawler` (a misspelled name), `unusable-regex`,
//! `unregistered-purpose`, `joined-groups` (rules that are for more crawlers than it seems) and
//! `file-too-large` (everything after the limit).

use indexmap::IndexMap;

use crate::lint::prelude::*;
use crate::lint::rules::{Names, regexes};
use crate::regexes::Program;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "G011",
    name: "unreachable-group",
    summary: "a crawler never uses a group that seems to be for it",
    severity: Severity::Warning,
    other_severities: &[Severity::Note],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::PUR_3, Clause::AIA_4],
    source: include_str!("unreachable_group.rs"),
    check,
};

/// A regular expression of the file.
struct Expression<'g, 'c> {
    start: &'g Entry<'c>,
    group: usize,
    program: Program<'g>,
}

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let starts = || {
        let groups = context.groups.iter().enumerate();
        groups.flat_map(|(place, group)| group.starts.iter().map(move |start| (place, start)))
    };
    let expressions: Vec<Expression<'_, '_>> = regexes(context)
        .filter_map(|(group, start, program)| Some(Expression { start, group, program: program.ok()? }))
        .collect();
    if expressions.is_empty() {
        return;
    }
    // Every name, in lower case, with the group and the line that have it first.
    let mut named: IndexMap<Vec<u8>, (usize, &Entry<'_>)> = IndexMap::new();
    for (group, start) in starts() {
        if let Names::Token { token, .. } = Names::of(start, context) {
            named.entry(token.to_ascii_lowercase()).or_insert((group, start));
        }
    }
    for expression in &expressions {
        let value = expression.start.record.value;
        let all = alternatives(value);
        let is_named = |name: &String| named.contains_key(name.as_bytes());
        if !all.is_empty() && all.iter().all(is_named) {
            let own = all.iter().filter_map(|name| named.get(name.as_bytes()));
            let elsewhere: Vec<_> = own.filter(|(group, _)| *group != expression.group).collect();
            let Some((_, first)) = elsewhere.first() else { continue };
            found.report(context.span(value), || {
                Draft::new(
                    format!("no crawler uses the group of {}: every crawler that it matches has a group by its name", quoted(value)),
                    "Crawlers that read regular expressions use only the group with their name; the others \
                     do not understand the line.",
                )
                .related(context.span(first.record.value), "the group by the name takes precedence")
            });
            continue;
        }
        // Each expression is compared with all names.
        if !context.spend(named.len()) {
            break;
        }
        let others = named.iter().filter(|(_, (group, _))| *group != expression.group);
        let mut matched: Vec<_> = others
            .filter_map(|(name, (_, start))| Some((str::from_utf8(name).ok()?, *start)))
            .filter(|(name, _)| matches(expression.program, name, context))
            .collect();
        matched.sort_by_key(|(_, start)| start.line);
        let Some((_, first)) = matched.first() else { continue };
        found.report(context.span(value), || {
            let name = quoted(first.record.value);
            let more = match matched.len() - 1 {
                0 => String::new(),
                more => format!(", and neither do {more} more"),
            };
            Draft::new(
                format!("{name} matches {} but never uses this group{more}", quoted(value)),
                format!(
                    "{name} uses only the group with its own name; the rules of the two groups are not combined."
                ),
            )
            .related(context.span(first.record.value), "its own group takes precedence")
            .with_severity(Severity::Note)
        });
    }
    let Some(universal) =
        expressions.iter().find(|expression| is_universal(expression.program, context))
    else {
        return;
    };
    for (place, group) in context.groups.iter().enumerate() {
        let is_behind = |start: &Entry<'_>| {
            matches!(Names::of(start, context), Names::Global | Names::Purpose | Names::Nobody)
        };
        let is_real = |start: &&Entry<'_>| Names::of(start, context) != Names::Nobody;
        let Some(start) =
            group.starts.iter().find(is_real).filter(|_| group.starts.iter().all(is_behind))
        else {
            continue;
        };
        if place == universal.group {
            continue;
        }
        found.report(context.span(start.record.value), || {
            let (value, line) = (quoted(universal.start.record.value), universal.start.line + 1);
            Draft::new(
                format!(
                    "no crawler that reads regular expressions uses this group: {value} at line {line} \
                     matches every name"
                ),
                "Crawlers that read regular expressions use the other group; those that do not, including \
                 Google's, use this one.",
            )
            .related(context.span(universal.start.record.value), "this expression matches every name")
        });
    }
}

/// The names that an expression matches, in lower case, if it consists only of names with `|` between
/// them, perhaps in brackets; otherwise none.
fn alternatives(value: &[u8]) -> Vec<String> {
    let Ok(text) = str::from_utf8(value) else { return Vec::new() };
    let bare = text.strip_prefix('^').unwrap_or(text);
    let bare = bare.strip_suffix('$').unwrap_or(bare);
    let inner = bare.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(bare);
    let inner = inner.strip_prefix("?:").unwrap_or(inner);
    let name = |part: &str| -> Option<String> {
        // A dot stands for any character, and with a backslash for itself.
        let plain = part.replace("\\.", "\u{0}").replace("\\-", "-");
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-\u{0}".contains(c);
        let is_one = !plain.is_empty() && plain.chars().all(is_name);
        is_one.then(|| plain.replace('\u{0}', ".").to_ascii_lowercase())
    };
    inner.split('|').map(name).collect::<Option<_>>().unwrap_or_default()
}

/// Whether an expression matches every name: all of one character, and long ones.
fn is_universal(program: Program<'_>, context: &Context<'_, '_>) -> bool {
    let characters =
        (0..=127_u8).filter(|octet| octet.is_ascii_alphanumeric() || b"_-.".contains(octet));
    let one = characters.map(|octet| char::from(octet).to_string());
    one.chain(["mayi-nobody", "Googlebot-Image", "a.b_c-9.Z", "0-ai"].map(str::to_owned))
        .all(|name| matches(program, &name, context))
}

/// Whether an expression matches a name, as far as there is budget to find out.
fn matches(program: Program<'_>, name: &str, context: &Context<'_, '_>) -> bool {
    context.spend(program.cost(name)) && program.matches(name)
}

//! Two rules write the same path in different letter cases.
//!
//! ## What is wrong
//!
//! Paths are case-sensitive: `/Private/` and `/private/` are two folders. If two rules write one folder
//! in two cases (`/Shop/cart`, `/shop/checkout`), one of them may be a mistake. On many servers only
//! one of the two exists, so the other rule matches nothing. If your server has both, ignore this note.
//! [P012](P012.md) reports an exception in another case than its rule.
//!
//! ## What crawlers do
//!
//! Each rule matches only URLs in its own case (REP-7).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /Shop/cart
//! Disallow: /shop/checkout
//! ```
//!
//! Write both in the case of the URLs. If a server accepts both cases, a rule for each is right. A folder
//! that has the same rule in both cases is not reported again for each path in it.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use super::exception_in_another_case::{MOST_FOLDERS, each_exception};
use crate::lint::prelude::*;
use crate::lint::rules::{can_match, patterns};
use crate::pattern::PathPattern;

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P009",
    name: "letter-case",
    summary: "two rules write the same path in different letter cases",
    severity: Severity::Note,
    other_severities: &[],
    set: LintSet::Style,
    fixes: false,
    clauses: &[Clause::REP_7],
    source: include_str!("letter_case.rs"),
    check,
};

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let mut told = HashSet::new();
    each_exception(context, |rule, other| told.extend([rule.line, other.line]));
    folders(context, found, &told);
}

/// What is kept of a rule, as a file can have very many.
struct Rule<'c> {
    line: usize,
    value: &'c [u8],
}

/// Folders that rules of the file write in two cases, each reported once. Patterns and folders are known by their hash
/// and by the first rule that has them, as a file can have very many.
fn folders(context: &Context<'_, '_>, found: &mut Found<'_>, told: &HashSet<usize>) {
    let rules: Vec<Rule<'_>> = patterns(context)
        .filter(|rule| can_match(&rule.record) && rule.record.value.len() < 2000)
        .map(|rule| Rule { line: rule.line, value: rule.record.value })
        .collect();
    let hasher = RandomState::new();
    let normalised = |rule: &Rule<'_>| PathPattern::new(rule.value).normalised().to_vec();
    // A pattern that is there in two cases may be intended, in all of its folders: it is reported once.
    let mut meant: HashSet<Vec<u8>> = HashSet::new();
    let mut written: HashMap<u64, usize> = HashMap::new();
    let mut spelled: HashSet<u64> = HashSet::new();
    for (place, rule) in rules.iter().enumerate() {
        let pattern = normalised(rule);
        // `/Ads/` and `/ads` are meant to be the same as well.
        let end = pattern.iter().rposition(|octet| !b"/*$?".contains(octet)).map_or(0, |last| last + 1);
        let bare = &pattern[..end];
        if !spelled.insert(hasher.hash_one(bare)) {
            continue;
        }
        let first = *written.entry(hasher.hash_one(bare.to_ascii_lowercase())).or_insert(place);
        if first == place {
            continue;
        }
        meant.extend(folder_ends(&pattern).map(|end| pattern[..end].to_ascii_lowercase()));
        if !told.contains(&rule.line) {
            let first = &rules[first];
            report(context, found, (rule, rule.value), (first, first.value));
        }
    }
    drop(written);
    spelled.clear();
    let mut known: HashMap<u64, (u32, u32)> = HashMap::new();
    for (place, rule) in rules.iter().enumerate() {
        let pattern = normalised(rule);
        for end in folder_ends(&pattern) {
            let folder = &pattern[..end];
            let lower = folder.to_ascii_lowercase();
            if meant.contains(&lower) {
                break;
            }
            let here = (place as u32, end as u32);
            let first = *known.entry(hasher.hash_one(lower)).or_insert(here);
            let is_new = spelled.insert(hasher.hash_one(folder));
            if first == here || !is_new {
                continue;
            }
            if told.contains(&rule.line) {
                break;
            }
            let (first, end) = (&rules[first.0 as usize], first.1 as usize);
            report(context, found, (rule, folder), (first, &normalised(first)[..end]));
            // Folders inside it are in two cases too, which this report already covers.
            break;
        }
    }
}

/// Reports what a rule writes in another case than an earlier rule.
fn report(
    context: &Context<'_, '_>,
    found: &mut Found<'_>,
    (rule, written): (&Rule<'_>, &[u8]),
    (first, before): (&Rule<'_>, &[u8]),
) {
    found.report(context.span(rule.value), || {
        Draft::new(
            format!("{} is written {} at line {}", quoted(written), quoted(before), first.line + 1),
            "Paths are case-sensitive: each rule matches only URLs in its own case.",
        )
        .related(context.span(first.value), "written in another case")
    });
}

/// Where the folders of a pattern end, and the pattern itself, up to its query.
fn folder_ends(pattern: &[u8]) -> impl Iterator<Item = usize> {
    let plain = pattern.iter().position(|octet| b"?$".contains(octet)).unwrap_or(pattern.len());
    let is_whole = plain == pattern.len() && !pattern.ends_with(b"*");
    let ends = memchr::memchr_iter(b'/', &pattern[..plain]).filter(|at| *at > 0);
    let last = Some(plain).filter(|end| is_whole && *end > 1 && pattern[end - 1] != b'/');
    ends.take(MOST_FOLDERS).chain(last)
}

//! A rule never decides, because another rule always wins over it.
//!
//! ## What is wrong
//!
//! Of the rules that match a URL, the one with the most octets decides; at equal length, `Allow`
//! decides. Another rule says the opposite, matches every URL that this one matches, and is longer (or
//! is an `Allow` of the same length). The order of the lines does not matter. The other rule may be in
//! another group of the same crawlers, because these groups are combined.
//!
//! ## What crawlers do
//!
//! They keep the rule, but it never decides (REP-8).
//!
//! ## Example
//!
//! ```text
//! User-agent: *
//! Disallow: /
//! Allow: /*
//! ```
//!
//! Everything is allowed: `/*` is one octet longer than `/`. Delete the rule that you do not mean.

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::dialect::Comparison;
use crate::directive::RuleKind;
use crate::lint::context::GroupView;
use crate::lint::prelude::*;
use crate::lint::rules::{Core, Names, can_match};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P005",
    name: "shadowed-rule",
    summary: "a rule never decides, because another rule always wins over it",
    severity: Severity::Warning,
    by_default: true,
    fixes: false,
    clauses: &[Clause::REP_8, Clause::REP_5],
    source: include_str!("shadowed_rule.rs"),
    check,
};

struct Rule<'g, 'c> {
    kind: RuleKind,
    core: Core,
    octets: usize,
    entry: &'g Entry<'c>,
}

impl Rule<'_, '_> {
    /// Whether it wins over the other wherever both match.
    fn beats(&self, other: &Self) -> bool {
        self.octets > other.octets || self.octets == other.octets && self.kind == RuleKind::Allow
    }
}

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    for bundle in bundles(context) {
        // The bundle's own rules come first; the others apply to all of its crawlers too.
        let groups = || bundle.own.iter().chain(&bundle.others).map(|place| &context.groups[*place]);
        if !bundle.others.is_empty()
            && !context.spend(groups().map(|group| group.entries.len() * 8).sum())
        {
            return;
        }
        let rules: Vec<Rule<'_, '_>> = groups()
            .flat_map(GroupView::rules)
            .filter(|(_, rule)| can_match(&rule.record))
            .map(|(kind, entry)| {
                let (core, octets) = Core::of(entry.record.value, Comparison::Normalised);
                Rule { kind, core, octets, entry }
            })
            .collect();
        let of_own = bundle.own.iter().flat_map(|place| context.groups[*place].rules());
        let own = of_own.filter(|(_, rule)| can_match(&rule.record)).count();
        // The strongest rule for each set of URLs, and those that can cover the sets of others.
        let mut strongest: HashMap<(RuleKind, &Core), &Rule<'_, '_>> = HashMap::new();
        for rule in &rules {
            let best = strongest.entry((rule.kind, &rule.core)).or_insert(rule);
            if rule.octets > best.octets {
                *best = rule;
            }
        }
        let mut wild: Vec<&Rule<'_, '_>> =
            strongest.values().copied().filter(|r| r.core.has_wildcard()).collect();
        wild.sort_by_key(|rule| rule.entry.line);
        for rule in &rules[..own] {
            let opposite = match rule.kind {
                RuleKind::Allow => RuleKind::Disallow,
                RuleKind::Disallow => RuleKind::Allow,
            };
            let same = strongest.get(&(opposite, &rule.core)).copied();
            let same = same.filter(|other| other.beats(rule));
            let winner = same.or_else(|| {
                // Looking through them has a cost too, even if nothing is found.
                if !context.spend(wild.len()) {
                    return None;
                }
                wild.iter().copied().find(|other| {
                    other.kind == opposite
                        && other.beats(rule)
                        && context.spend(8 + other.core.text.len() + rule.core.text.len())
                        && other.core.covers(&rule.core)
                })
            });
            let Some(winner) = winner else { continue };
            let span = context.span(rule.entry.record.value);
            found.report(span, || {
                let other = quoted(winner.entry.record.value);
                let name = if winner.kind == RuleKind::Allow { "Allow" } else { "Disallow" };
                let why = if winner.octets > rule.octets {
                    "and is longer"
                } else {
                    "and `Allow` wins at equal length"
                };
                let line = winner.entry.line + 1;
                Draft::new(
                    format!(
                        "`{name}: {}` at line {line} matches every URL that this rule matches, {why}",
                        other.trim_matches('`')
                    ),
                    "Crawlers that follow RFC 9309, including Google's, never decide by this rule.",
                )
                .related(context.span(winner.entry.record.value), "this rule always wins over it")
            });
        }
    }
}

/// Groups for the same crawlers, and the groups that are for all of these and for others too: each of the
/// crawlers combines them (REP-5).
#[derive(Default)]
struct Bundle {
    own: Vec<usize>,
    others: Vec<usize>,
}

fn bundles(context: &Context<'_, '_>) -> Vec<Bundle> {
    let mut by_names: IndexMap<Vec<Vec<u8>>, Bundle> = IndexMap::new();
    let mut alone = Vec::new();
    for (place, group) in context.groups.iter().enumerate() {
        match names_of(group, context) {
            Some(names) => by_names.entry(names).or_default().own.push(place),
            None => alone.push(Bundle { own: vec![place], others: Vec::new() }),
        }
    }
    let mut naming: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (place, names) in by_names.keys().enumerate() {
        for name in names {
            naming.entry(name).or_default().push(place);
        }
    }
    let mut others: Vec<Vec<usize>> = vec![Vec::new(); by_names.len()];
    for (place, names) in by_names.keys().enumerate() {
        // A group for all of them is also a group for each of them, so it is enough to look among the groups of
        // the crawler that has the fewest.
        let rarest = names.iter().map(|name| &naming[&**name]).min_by_key(|places| places.len());
        for &wider in rarest.into_iter().flatten() {
            // If there are very many, some findings are missing, but none is wrong.
            if !context.spend(8 + names.len()) {
                break;
            }
            let (wider_names, bundle) = by_names.get_index(wider).expect("it was listed above");
            let is_wider = wider_names.len() > names.len()
                && names.iter().all(|name| wider_names.binary_search(name).is_ok());
            if is_wider {
                others[place].extend(&bundle.own);
            }
        }
    }
    for (bundle, others) in by_names.values_mut().zip(others) {
        bundle.others = others;
    }
    alone.into_iter().chain(by_names.into_values()).collect()
}

/// The crawlers that a group is for, sorted, if all of its lines give a name.
fn names_of(group: &GroupView<'_>, context: &Context<'_, '_>) -> Option<Vec<Vec<u8>>> {
    let names = group.starts.iter().map(|start| match Names::of(start, context) {
        Names::Global => Some(b"*".to_vec()),
        Names::Token { token, .. } => Some(token.to_ascii_lowercase()),
        Names::Purpose | Names::Regex | Names::Nobody => None,
    });
    let mut names: Vec<Vec<u8>> = names.collect::<Option<_>>()?;
    names.sort_unstable();
    names.dedup();
    Some(names)
}

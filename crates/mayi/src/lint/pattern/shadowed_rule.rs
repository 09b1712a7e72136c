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
//! Crawlers keep the rule, but it never decides (REP-8).
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
use std::hash::{BuildHasher, RandomState};

use indexmap::IndexSet;

use crate::dialect::Comparison;
use crate::directive::RuleKind;
use crate::lint::groups::GroupView;
use crate::lint::prelude::*;
use crate::lint::rules::{Core, Names, can_match};

pub(in crate::lint) static LINT: Lint = Lint {
    code: "P005",
    name: "shadowed-rule",
    summary: "a rule never decides, because another rule always wins over it",
    severity: Severity::Warning,
    other_severities: &[],
    set: LintSet::Default,
    fixes: false,
    clauses: &[Clause::REP_8, Clause::REP_5],
    source: include_str!("shadowed_rule.rs"),
    check,
};

struct Rule<'g, 'c> {
    kind: RuleKind,
    /// The number of its core: the same for patterns that match the same URLs.
    core: u32,
    octets: u32,
    entry: &'g Entry<'c>,
}

impl Rule<'_, '_> {
    /// Whether it wins over the other wherever both match.
    fn beats(&self, other: &Self) -> bool {
        self.octets > other.octets || self.octets == other.octets && self.kind == RuleKind::Allow
    }
}

fn check(context: &Context<'_, '_>, found: &mut Found<'_>) {
    let bundles = Bundles::of(context);
    let all = AllRules::of(context);
    for (place, own) in bundles.own() {
        // The bundle's own rules come first; the others apply to all of its crawlers too.
        let others = bundles.others_of(place, context);
        let rules = || own.iter().chain(&others).flat_map(|place| all.of_group(*place));
        // Groups that crawlers share are looked at again for each bundle of crawlers.
        if !others.is_empty() && !context.spend(12 * rules().count()) {
            return;
        }
        // The strongest rule for each set of URLs, and those that can cover the sets of others.
        let mut strongest: HashMap<(RuleKind, u32), &Rule<'_, '_>> = HashMap::new();
        for rule in rules() {
            let best = strongest.entry((rule.kind, rule.core)).or_insert(rule);
            if rule.octets > best.octets {
                *best = rule;
            }
        }
        let is_wild = |rule: &&Rule<'_, '_>| all.has_wildcard[rule.core as usize];
        let mut wild: Vec<&Rule<'_, '_>> = strongest.values().copied().filter(is_wild).collect();
        wild.sort_by_key(|rule| rule.entry.line);
        for rule in own.iter().flat_map(|place| all.of_group(*place)) {
            let opposite = match rule.kind {
                RuleKind::Allow => RuleKind::Disallow,
                RuleKind::Disallow => RuleKind::Allow,
            };
            let same = strongest.get(&(opposite, rule.core)).copied();
            let same = same.filter(|other| other.beats(rule));
            let winner = same.or_else(|| {
                // Looking through them has a cost too, even if nothing is found.
                if !context.spend(wild.len()) {
                    return None;
                }
                let core = &all.cores[rule.core as usize];
                wild.iter().copied().find(|other| {
                    let other_core = &all.cores[other.core as usize];
                    other.kind == opposite
                        && other.beats(rule)
                        && context.spend(8 + other_core.text.len() + core.text.len())
                        && other_core.covers(core)
                })
            });
            let Some(winner) = winner else { continue };
            let span = context.span(rule.entry.record.value);
            found.report(span, || {
                let other = quoted(winner.entry.record.value);
                let name = winner.kind.directive().name;
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
                .about(other)
                .related(context.span(winner.entry.record.value), "this rule always wins over it")
            });
        }
    }
}

/// The rules of all groups that can match something. Each pattern is read once, although crawlers can share groups.
struct AllRules<'g, 'c> {
    rules: Vec<Rule<'g, 'c>>,
    /// Where the rules of each group end.
    ends: Vec<u32>,
    cores: IndexSet<Core>,
    /// By the number of the core.
    has_wildcard: Vec<bool>,
}

impl<'g, 'c> AllRules<'g, 'c> {
    fn of(context: &'g Context<'c, '_>) -> Self {
        let (mut rules, mut ends, mut cores) = (Vec::new(), Vec::new(), IndexSet::new());
        for group in context.groups.iter() {
            for (kind, entry) in group.rules().filter(|(_, rule)| can_match(&rule.record)) {
                let (core, octets) = Core::of(entry.record.value, Comparison::Normalised);
                let core = cores.insert_full(core).0 as u32;
                rules.push(Rule { kind, core, octets: octets as u32, entry });
            }
            ends.push(rules.len() as u32);
        }
        let has_wildcard = cores.iter().map(Core::has_wildcard).collect();
        Self { rules, ends, cores, has_wildcard }
    }

    fn of_group(&self, place: u32) -> &[Rule<'g, 'c>] {
        let place = place as usize;
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.rules[start as usize..self.ends[place] as usize]
    }
}

/// Groups for the same crawlers, bundled: each of the crawlers combines them, and with them the groups that are for all
/// of these crawlers and for others too (REP-5). All of it is in a few lists, as a file can have tens of thousands of
/// groups.
struct Bundles {
    /// The groups, those of a bundle one after the other in the order of the file.
    groups: Vec<u32>,
    /// For each bundle where its groups end, and where its names end.
    ends: Vec<(u32, u32)>,
    /// The names of each bundle, sorted.
    names: Vec<u64>,
    /// Every name with the bundles that it is in, sorted.
    naming: Vec<(u64, u32)>,
}

impl Bundles {
    fn of(context: &Context<'_, '_>) -> Self {
        let hasher = RandomState::new();
        // A group that not only names are for is a bundle of its own.
        let mut groups: Vec<(u64, u32)> = Vec::new();
        let mut alone = Vec::new();
        for (place, group) in (0..).zip(context.groups.iter()) {
            match names_of(group, context) {
                Some(names) => groups.push((hasher.hash_one(names), place)),
                None => alone.push(place),
            }
        }
        // In the order in which their first groups stand in the file.
        groups.sort_unstable();
        let mut bundles: Vec<&[(u64, u32)]> = groups.chunk_by(|one, other| one.0 == other.0).collect();
        bundles.sort_unstable_by_key(|bundle| bundle[0].1);
        let mut all = Self { ends: Vec::new(), names: Vec::new(), naming: Vec::new(), groups: alone };
        all.ends = (1..=all.groups.len() as u32).map(|end| (end, 0)).collect();
        for bundle in bundles {
            let names = names_of(context.groups.at(bundle[0].1 as usize), context).unwrap_or_default();
            let place = all.ends.len() as u32;
            all.naming.extend(names.iter().map(|name| (*name, place)));
            all.names.extend(names);
            all.groups.extend(bundle.iter().map(|(_, group)| *group));
            all.ends.push((all.groups.len() as u32, all.names.len() as u32));
        }
        all.naming.sort_unstable();
        all
    }

    /// Each bundle's own groups, with its place.
    fn own(&self) -> impl Iterator<Item = (usize, &[u32])> {
        (0..self.ends.len()).map(|place| (place, self.own_of(place)))
    }

    fn own_of(&self, place: usize) -> &[u32] {
        let start = if place == 0 { 0 } else { self.ends[place - 1].0 };
        &self.groups[start as usize..self.ends[place].0 as usize]
    }

    fn names_of(&self, place: usize) -> &[u64] {
        let start = if place == 0 { 0 } else { self.ends[place - 1].1 };
        &self.names[start as usize..self.ends[place].1 as usize]
    }

    /// The bundles that a name is in.
    fn naming(&self, name: u64) -> &[(u64, u32)] {
        let start = self.naming.partition_point(|(known, _)| *known < name);
        let end = self.naming.partition_point(|(known, _)| *known <= name);
        &self.naming[start..end]
    }

    /// The groups of the bundles that are for all crawlers of this one and for others.
    fn others_of(&self, place: usize, context: &Context<'_, '_>) -> Vec<u32> {
        let names = self.names_of(place);
        let mut others = Vec::new();
        // A group for all of them is also a group for each of them, so it is enough to look among the groups of
        // the crawler that has the fewest.
        let rarest = names.iter().map(|name| self.naming(*name)).min_by_key(|bundles| bundles.len());
        for (_, wider) in rarest.into_iter().flatten() {
            // If there are very many, some findings are missing, but none is wrong.
            if !context.spend(8 + names.len()) {
                break;
            }
            let wider_names = self.names_of(*wider as usize);
            let is_wider = wider_names.len() > names.len()
                && names.iter().all(|name| wider_names.binary_search(name).is_ok());
            if is_wider {
                others.extend(self.own_of(*wider as usize));
            }
        }
        others
    }
}

/// The crawlers that a group is for, sorted, if all of its lines give a name.
fn names_of(group: GroupView<'_, '_>, context: &Context<'_, '_>) -> Option<Vec<u64>> {
    let names = group.starts.iter().map(|start| match Names::of(start, context) {
        Names::Global => Some(context.name_hash(b"*")),
        Names::Token { token, .. } => Some(context.name_hash(token)),
        Names::Purpose | Names::Regex | Names::Nobody => None,
    });
    let mut names: Vec<u64> = names.collect::<Option<_>>()?;
    names.sort_unstable();
    names.dedup();
    Some(names)
}

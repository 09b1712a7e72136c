//! A goal about access → the file in which it is true, and nothing else is different.
//!
//! Crawlers with groups of their own get a rule there; others get a new group, with the rules that they have now and the
//! new one. Groups of one crawler are combined (REP-5), so a crawler that shares a group gets a second group
//! if that is enough.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use indexmap::IndexMap;

use super::adapted::{Adapted, adapted, is_true};
use super::change::{Change, written};
use super::goal::AccessGoal;
use super::{Granted, Unedited, pay, read, with_work};
use crate::crawler::{Crawler, ProductToken};
use crate::directive::{ALLOW, GroupStart, Role, RuleKind};
use crate::meaning::diff_within;
use crate::meaning::rules::effective_rules;
use crate::robots_txt::{ReadOptions, Record, RobotsTxt};
use crate::selection::{Selection, cost_of_selecting, is_global, is_regex, select};
use crate::work::Work;

/// The records of the groups that a crawler gets. None if it gets none.
type Groups = Option<Vec<Range<usize>>>;

/// Crawlers that get the same groups.
struct Class {
    crawlers: Vec<ProductToken>,
    selection: Option<Selection>,
}

/// How often an edit is started again. This is necessary if crawlers of one goal share some groups but not
/// others, and if crawlers fall back to a crawler that gets a group.
const MOST_ROUNDS: usize = 8;

/// Reaches one goal.
pub(super) fn grant(
    text: &[u8],
    goal: &AccessGoal,
    options: &ReadOptions,
    work: &Work,
) -> Result<(Vec<u8>, Granted), Unedited> {
    let old = read(text, options, work)?;
    let mut granted = Granted::default();
    if goal.is_for_everybody() {
        pay(work, 4 * text.len())?;
        let new = grant_to_everybody(&old, goal)?;
        let is_changed = new != text;
        let list = if is_changed { &mut granted.changed } else { &mut granted.already };
        list.push("*".to_owned());
        check_everybody(&read(&new, options, work)?, goal)?;
        return Ok((new, granted));
    }
    let mut unmet = unmet_classes(&old, goal, work)?;
    for token in goal.crawlers() {
        let is_unmet = unmet.iter().any(|class| class.crawlers.contains(token));
        let list = if is_unmet { &mut granted.changed } else { &mut granted.already };
        list.push(token.to_string());
    }
    if unmet.is_empty() {
        return Ok((text.to_vec(), granted));
    }
    let mut new = text.to_vec();
    for _ in 0..MOST_ROUNDS {
        new = one_round(&read(&new, options, work)?, &unmet, goal, work)?;
        unmet = unmet_classes(&read(&new, options, work)?, goal, work)?;
        if unmet.is_empty() {
            break;
        }
    }
    for round in 0.. {
        let robots = read(&new, options, work)?;
        let changed = changed_others(&old, &robots, goal, work)?;
        let Some(first) = changed.first() else { break };
        if round == MOST_ROUNDS {
            return Err(Unedited::WouldChangeOthers { crawler: first.to_string() });
        }
        let after = keep_others(&old, &robots, &changed, work)?;
        drop(robots);
        new = after;
        granted.kept.extend(changed.iter().map(ToString::to_string));
    }
    check(&old, &read(&new, options, work)?, goal, options, work)?;
    Ok((new, granted))
}

/// The crawlers of a goal that is not reached for them, by the groups that they get.
fn unmet_classes(
    robots: &RobotsTxt<'_>,
    goal: &AccessGoal,
    work: &Work,
) -> Result<Vec<Class>, Unedited> {
    /// Whether groups were chosen by the crawler's own name, and which.
    type Key = Option<(bool, Vec<Range<usize>>)>;
    let mut classes: IndexMap<Key, Class> = IndexMap::new();
    for token in goal.crawlers() {
        let crawler = Crawler::from(token.clone());
        pay(work, cost_of_selecting(robots, &crawler))?;
        let selection = select(robots, &crawler, &mut ());
        let key = selection.as_ref().map(|found| (found.is_by_own_name(), found.groups.clone()));
        let class = classes.entry(key).or_insert_with(|| Class { crawlers: Vec::new(), selection });
        class.crawlers.push(token.clone());
    }
    let mut unmet = Vec::new();
    for class in classes.into_values() {
        pay(work, cost_of_rules(robots, class.selection.as_ref()))?;
        if !holds(robots, class.selection.as_ref(), goal) {
            unmet.push(class);
        }
    }
    Ok(unmet)
}

/// Makes all changes that can be made in one step, and returns the text after them.
fn one_round(
    robots: &RobotsTxt<'_>,
    classes: &[Class],
    goal: &AccessGoal,
    work: &Work,
) -> Result<Vec<u8>, Unedited> {
    pay(work, 2 * robots.text().len())?;
    let mut change = Change::of(robots);
    let mut touched = BTreeSet::new();
    for class in classes {
        let groups = class.selection.as_ref().map(|found| found.groups.clone()).unwrap_or_default();
        // What two classes share is changed for one of them; the other follows in the next round.
        if groups.iter().any(|group| touched.contains(&group.start)) {
            continue;
        }
        touched.extend(groups.iter().map(|group| group.start));
        pay(work, 2 * cost_of_rules(robots, class.selection.as_ref()))?;
        change_class(robots, class, goal, &mut change)?;
    }
    Ok(change.applied())
}

/// Changes what these crawlers get.
fn change_class(
    robots: &RobotsTxt<'_>,
    class: &Class,
    goal: &AccessGoal,
    change: &mut Change<'_, '_>,
) -> Result<(), Unedited> {
    let by_own_name = class.selection.as_ref().filter(|found| found.is_by_own_name());
    let indexes: Vec<usize> =
        class.selection.iter().flat_map(|found| &found.groups).cloned().flatten().collect();
    let adapted = adapted(robots, &indexes, goal)?;
    if let Some(selection) = by_own_name {
        let is_start = |index: &&usize| robots.records()[**index].starts_group();
        let mut starts = indexes.iter().filter(is_start);
        if starts.all(|index| names_one_of(robots, *index, goal.crawlers())) {
            return change_own_groups(robots, selection, &adapted, goal, change);
        }
        if adapted.removed.is_empty() {
            return change.add_group(vec![goal.line()], &class.crawlers);
        }
        // The rules that must be removed also apply to others: these crawlers leave the groups that they
        // share.
        for group in &selection.groups {
            leave(robots, group.clone(), &class.crawlers, change)?;
        }
    }
    let mut lines = Vec::new();
    // What may not be fetched at all needs no other lines (USE-6).
    let is_all_refused = goal.kind == RuleKind::Disallow && goal.path == "/";
    if !is_all_refused {
        let kept = indexes.iter().filter(|index| !adapted.has_removed(**index));
        lines = copied(robots, kept.copied());
    }
    if adapted.is_added || is_all_refused || !ends_group_start(robots, &indexes, &adapted.removed) {
        lines.push(goal.line());
    }
    change.add_group(lines, &class.crawlers)
}

/// Removes crawlers from a group. A group that names nobody else is removed as a whole.
fn leave(
    robots: &RobotsTxt<'_>,
    group: Range<usize>,
    crawlers: &[ProductToken],
    change: &mut Change<'_, '_>,
) -> Result<(), Unedited> {
    let role_of = |index: usize| robots.records()[index].role();
    let is_start = |index: &usize| matches!(role_of(*index), Role::StartsGroup(_));
    let names_them = |index: &usize| names_one_of(robots, *index, crawlers);
    let is_alone = group.clone().filter(is_start).all(|index| names_them(&index));
    let of_group = group.filter(|index| role_of(*index) != Role::FileRecord);
    for index in of_group.filter(|index| is_alone || is_start(index) && names_them(index)) {
        change.remove(index)?;
    }
    Ok(())
}

/// Changes groups that are only for the crawlers of the goal.
fn change_own_groups(
    robots: &RobotsTxt<'_>,
    selection: &Selection,
    adapted: &Adapted,
    goal: &AccessGoal,
    change: &mut Change<'_, '_>,
) -> Result<(), Unedited> {
    for record in &adapted.removed {
        change.remove(*record)?;
    }
    for group in &selection.groups {
        let (records, is_first) = (group.clone().collect::<Vec<_>>(), selection.groups[0] == *group);
        // Without a rule, its group-start lines would be those of the next group.
        let has_rule = ends_group_start(robots, &records, &adapted.removed);
        if !(adapted.is_added && is_first || !has_rule) {
            continue;
        }
        let is_rule = |index: &&usize| matches!(robots.records()[**index].role(), Role::Rule(_));
        let is_start = |index: &&usize| robots.records()[**index].starts_group();
        if let Some(removed) = records.iter().find(|index| adapted.has_removed(**index)) {
            change.insert_at(*removed, goal.line());
        } else if let Some(last) = records.iter().rfind(is_rule).or(records.iter().rfind(is_start)) {
            change.insert_after(*last, goal.line());
        }
    }
    Ok(())
}

/// Whether one of these records ends group-start lines, after the removals.
fn ends_group_start(robots: &RobotsTxt<'_>, records: &[usize], removed: &[usize]) -> bool {
    let mut left = records.iter().filter(|index| removed.binary_search(index).is_err());
    left.any(|index| robots.records()[*index].role().ends_group_start())
}

/// Whether a group-start line names one of these crawlers, and by its name alone.
fn names_one_of(robots: &RobotsTxt<'_>, index: usize, crawlers: &[ProductToken]) -> bool {
    let record = robots.records()[index];
    let (value, tokens) = (robots.value(record), robots.dialect().tokens);
    record.role() == Role::StartsGroup(GroupStart::ProductToken)
        && !is_global(value, robots.dialect())
        && !is_regex(value)
        && crawlers.iter().any(|token| token.is_named_by(value, tokens))
}

/// The records of groups as lines, without their group-start lines.
fn copied(robots: &RobotsTxt<'_>, indexes: impl Iterator<Item = usize>) -> Vec<Vec<u8>> {
    let records = indexes.map(|index| robots.records()[index]);
    let of_group = records
        .filter(|record| !matches!(record.role(), Role::StartsGroup(_) | Role::FileRecord))
        .map(|record| written(record.directive().name, robots.value(record)));
    of_group.collect()
}

/// Whether a goal is reached for those that get these groups.
pub(super) fn holds(robots: &RobotsTxt<'_>, selection: Option<&Selection>, goal: &AccessGoal) -> bool {
    let records = selection.into_iter().flat_map(|selection| selection.records(robots));
    let rules: Vec<_> = effective_rules(robots, records).map(|(rule, _)| rule).collect();
    is_true(&rules, &goal.rule())
}

/// What it costs to read the rules of groups, in units of work.
pub(super) fn cost_of_rules(robots: &RobotsTxt<'_>, selection: Option<&Selection>) -> usize {
    let records = selection.into_iter().flat_map(|selection| selection.records(robots));
    records.map(|record| 4 + robots.value(record).len() / 2).sum()
}

/// Adds the rule to every group, and a group of `*` where there is none.
fn grant_to_everybody(robots: &RobotsTxt<'_>, goal: &AccessGoal) -> Result<Vec<u8>, Unedited> {
    let mut change = Change::of(robots);
    let mut has_global = false;
    for group in robots.group_ranges() {
        let records: Vec<usize> = group.clone().collect();
        has_global |= records.iter().any(|index| is_global_start(robots, *index));
        let adapted = adapted(robots, &records, goal)?;
        if adapted.is_added || !adapted.removed.is_empty() {
            let selection = Selection::of_group(group);
            change_own_groups(robots, &selection, &adapted, goal, &mut change)?;
        }
    }
    if !has_global && goal.kind == RuleKind::Disallow {
        change.add_group_of_all(&[&goal.line()]);
    }
    Ok(change.applied())
}

pub(super) fn is_global_start(robots: &RobotsTxt<'_>, index: usize) -> bool {
    let record = robots.records()[index];
    record.role() == Role::StartsGroup(GroupStart::ProductToken)
        && is_global(robots.value(record), robots.dialect())
}

/// Fails if a goal for everybody is not reached in a group.
fn check_everybody(robots: &RobotsTxt<'_>, goal: &AccessGoal) -> Result<(), Unedited> {
    for group in robots.group_ranges() {
        let start = String::from_utf8_lossy(robots.value(robots.records()[group.start])).into_owned();
        if !holds(robots, Some(&Selection::of_group(group)), goal) {
            return Err(Unedited::Unproved { crawler: start });
        }
    }
    Ok(())
}

/// Adds a group, with the records that they had, for crawlers that the goal does not name and that would get others.
fn keep_others(
    old: &RobotsTxt<'_>,
    new: &RobotsTxt<'_>,
    others: &[ProductToken],
    work: &Work,
) -> Result<Vec<u8>, Unedited> {
    pay(work, 2 * new.text().len())?;
    let mut change = Change::of(new);
    for token in others {
        let selection = select(old, &token.clone().into(), &mut ());
        pay(work, cost_of_rules(old, selection.as_ref()))?;
        let indexes: Vec<usize> =
            selection.iter().flat_map(|found| &found.groups).cloned().flatten().collect();
        let mut lines = copied(old, indexes.iter().copied());
        if !ends_group_start(old, &indexes, &[]) {
            lines.push(b"Allow: /".to_vec());
        }
        change.add_group(lines, std::slice::from_ref(token))?;
    }
    Ok(change.applied())
}

/// The known crawlers that a goal does not name, and that get other rules or records after the edit.
fn changed_others(
    old: &RobotsTxt<'_>,
    new: &RobotsTxt<'_>,
    goal: &AccessGoal,
    work: &Work,
) -> Result<Vec<ProductToken>, Unedited> {
    let mut changed = Vec::new();
    // Nearly all of them get the groups of `*`, which are compared once.
    let mut compared: HashMap<[Groups; 2], bool> = HashMap::new();
    let agents = old.registry().agents().iter();
    for token in agents.filter_map(|agent| ProductToken::new(&agent.token).ok()) {
        let crawler = Crawler::from(token.clone());
        if goal.has(&crawler) {
            continue;
        }
        pay(work, cost_of_selecting(old, &crawler) + cost_of_selecting(new, &crawler))?;
        let found = [old, new].map(|robots| select(robots, &crawler, &mut ()));
        let groups = found.each_ref().map(|found| found.as_ref().map(|found| found.groups.clone()));
        let is_same = if let Some(is_same) = compared.get(&groups) {
            *is_same
        } else {
            let [of_old, of_new] = found.each_ref().map(Option::as_ref);
            pay(work, cost_of_rules(old, of_old) + cost_of_rules(new, of_new))?;
            let is_same = brought(old, of_old).eq(brought(new, of_new));
            compared.insert(groups, is_same);
            is_same
        };
        if !is_same {
            changed.push(token);
        }
    }
    Ok(changed)
}

/// What groups say to a crawler: names of directives and values, in order. A rule that allows everything counts
/// as nothing, unless the groups also disallow something: it may win over that (REP-8).
fn brought<'r>(
    robots: &'r RobotsTxt<'_>,
    selection: Option<&Selection>,
) -> impl Iterator<Item = (&'static str, &'r [u8])> {
    let said = |record: &Record| !matches!(record.role(), Role::StartsGroup(_) | Role::FileRecord);
    let records = || selection.into_iter().flat_map(|selection| selection.records(robots));
    let lines = records().filter(said);
    let lines = lines.map(|record| (record.directive().name, robots.value(record)));
    let disallows = |record: Record| record.role() == Role::Rule(RuleKind::Disallow);
    let is_all_allowed = !records().any(disallows);
    lines.filter(move |line| !is_all_allowed || *line != (ALLOW.name, b"/"))
}

/// Fails if the goal is not reached for a crawler that it names, or if something changed for another one.
fn check(
    old: &RobotsTxt<'_>,
    new: &RobotsTxt<'_>,
    goal: &AccessGoal,
    options: &ReadOptions,
    work: &Work,
) -> Result<(), Unedited> {
    if let Some(class) = unmet_classes(new, goal, work)?.first() {
        return Err(Unedited::Unproved { crawler: class.crawlers[0].to_string() });
    }
    let diff = diff_within(old, new, &with_work(options, work.left()));
    work.charge(diff.spent.units as usize, "edit");
    let mut changed = diff.crawlers.iter().flat_map(|changes| &changes.crawlers);
    let is_meant =
        |label: &str| goal.crawlers().iter().any(|token| label.eq_ignore_ascii_case(token.as_str()));
    if let Some(label) = changed.find(|label| !is_meant(label)) {
        return Err(Unedited::WouldChangeOthers { crawler: label.clone() });
    }
    if diff.left_out > 0 || !diff.regexes.is_empty() || !diff.file.is_empty() {
        return Err(Unedited::TooCostly);
    }
    Ok(())
}

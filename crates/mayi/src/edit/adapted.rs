//! Rules and a goal → which rules must be removed, and whether the goal needs a rule of its own.

use crate::directive::RuleKind;
use crate::meaning::rules::{EffectiveRule, covers, effective_rules, overlap};
use crate::robots_txt::RobotsTxt;

use super::Unedited;
use super::change::written;
use super::goal::AccessGoal;

/// How the rules of some groups change, so that a goal is reached.
pub(super) struct Adapted {
    /// The records that must be removed, in file order: they contradict the goal, and are only about its
    /// path.
    pub(super) removed: Vec<usize>,
    /// Whether the rule of the goal is needed.
    pub(super) is_added: bool,
}

impl Adapted {
    pub(super) fn has_removed(&self, record: usize) -> bool {
        self.removed.binary_search(&record).is_ok()
    }
}

/// Finds out what must be removed and what must be added.
pub(super) fn adapted(
    robots: &RobotsTxt<'_>,
    indexes: &[usize],
    goal: &AccessGoal,
) -> Result<Adapted, Unedited> {
    let own = goal.rule();
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    for &index in indexes {
        let record = robots.records()[index];
        let Some((rule, _)) = effective_rules(robots, std::iter::once(record)).next() else { continue };
        let is_opposed = rule.kind != own.kind && can_match(&rule) && overlap(&rule, &own);
        if is_opposed && covers(&own, &rule) && rule.pattern.len() >= own.pattern.len() {
            removed.push(index);
        } else if is_opposed && !covers(&own, &rule) && wins(&rule, &own) {
            let (line, value) = (robots.line_of(record).number(), robots.value(record));
            let rule = String::from_utf8_lossy(&written(record.directive().name, value)).into_owned();
            return Err(Unedited::RuleInTheWay { line, rule, path: goal.path.clone() });
        } else {
            kept.push(rule);
        }
    }
    let is_added = !is_true(&kept, &own);
    Ok(Adapted { removed, is_added })
}

/// Whether a rule wins over one that says the opposite, where both match (REP-8).
fn wins(rule: &EffectiveRule<'_>, opposed: &EffectiveRule<'_>) -> bool {
    match rule.kind {
        RuleKind::Allow => rule.pattern.len() >= opposed.pattern.len(),
        RuleKind::Disallow => rule.pattern.len() > opposed.pattern.len(),
    }
}

/// Every path starts with `/`.
fn can_match(rule: &EffectiveRule<'_>) -> bool {
    rule.pattern.starts_with(b"/") || rule.pattern.starts_with(b"*")
}

/// Whether rules surely decide about all that a rule matches as this rule would.
pub(super) fn is_true(rules: &[EffectiveRule<'_>], own: &EffectiveRule<'_>) -> bool {
    let opposed =
        || rules.iter().filter(|rule| rule.kind != own.kind && can_match(rule) && overlap(rule, own));
    if own.kind == RuleKind::Allow && opposed().next().is_none() {
        return true;
    }
    let same = rules.iter().filter(|rule| rule.kind == own.kind && covers(rule, own));
    let strongest = same.max_by_key(|rule| rule.pattern.len());
    strongest.is_some_and(|strongest| opposed().all(|rule| wins(strongest, rule)))
}

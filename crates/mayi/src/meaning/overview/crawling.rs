//! The groups of a crawler → what it may fetch: everything, a part or nothing, with the rules that say so.

use serde::{Deserialize, Serialize};

use super::super::rules::{EffectiveRule, Rules, differ_in_idle_rules, is_idle, rules_of};
use super::super::{Grounds, witness};
use super::using;
use crate::decision::{DecidingRule, Decision};
use crate::dialect::Specificity;
use crate::directive::RuleKind;
use crate::robots_txt::RobotsTxt;
use crate::ruleset::CrawlerRules;
use crate::selection::Selection;
use crate::span::LineNumber;
use crate::target::Target;
use crate::work::Work;

/// What may be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Crawling {
    /// How much.
    pub answer: Fetchable,
    /// Whether that is proved. "A part" always is; "everything" and "nothing" are not if there are rules for
    /// which neither a URL that they decide was found nor a proof that they decide none.
    pub proved: bool,
    /// Whether a URL that no particular rule is about may be fetched.
    pub otherwise: bool,
    /// What decides about such a URL.
    pub grounds: Grounds,
    /// The path of a URL that may be fetched.
    pub may: Option<String>,
    /// The path of one that may not.
    pub may_not: Option<String>,
    /// The rules that decide something, in file order; no more than a hundred.
    pub rules: Vec<RuleWithExample>,
    /// How many rules there are.
    pub rule_count: usize,
    /// How many of them were not looked at, because there are very many.
    pub rules_left_out: usize,
}

/// How much may be fetched, apart from robots.txt itself, which always may be (REP-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fetchable {
    /// Every URL.
    Everything,
    /// Some URLs and not others.
    Part,
    /// No URL.
    Nothing,
}

/// A rule, and a URL that it decides about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RuleWithExample {
    /// What it says.
    pub kind: RuleKind,
    /// The pattern as written; what is not UTF-8 is replaced.
    pub pattern: String,
    /// The line that it is on.
    pub line: u32,
    /// The path and query of a URL that it decides about.
    pub example: String,
}

/// How many rules are listed, and how many are looked at for that.
const MOST_RULES: usize = 100;
const MOST_LOOKED_AT: usize = 1000;

/// Paths that no rule is likely to be about in particular.
const PLAIN: &[&str] = &["/page", "/example", "/0", "/any-page", "/q9z"];

impl Crawling {
    pub(super) fn without_file(decision: &Decision<'_>) -> Self {
        let allowed = decision.is_allowed();
        Self {
            answer: if allowed { Fetchable::Everything } else { Fetchable::Nothing },
            proved: true,
            otherwise: allowed,
            grounds: Grounds::of(decision),
            may: allowed.then(|| "/".to_owned()),
            may_not: (!allowed).then(|| "/".to_owned()),
            rules: Vec::new(),
            rule_count: 0,
            rules_left_out: 0,
        }
    }
}

/// A file and the groups that apply, to be asked.
pub(super) struct FileOfGroups<'a, 't> {
    pub(super) robots: &'a RobotsTxt<'t>,
    pub(super) selection: Option<&'a Selection>,
    pub(super) work: &'a Work,
}

/// For further questions: prepared rules, a usual path that may be fetched, and a word that is in no pattern.
pub(super) struct Place {
    pub(super) rules: CrawlerRules,
    pub(super) path: Option<String>,
    pub(super) filler: &'static str,
    /// The patterns of statements about paths.
    pub(super) statements: Vec<Vec<u8>>,
}

/// The decisions that were made on the way.
struct Tried<'t> {
    rules: &'t CrawlerRules,
    work: &'t Work,
    may: Option<String>,
    may_not: Option<String>,
}

impl Tried<'_> {
    /// Decides about a path: whether it may be fetched, and the line that says so.
    fn decide(&mut self, path: &str) -> Option<(bool, Option<LineNumber>)> {
        let target = Target::from_path(path).ok().filter(|target| !target.is_robots_txt())?;
        let (decision, cost) = self.rules.decide_counted(&target);
        self.work.charge(cost, "rules");
        let example = if decision.is_allowed() { &mut self.may } else { &mut self.may_not };
        example.get_or_insert_with(|| path.to_owned());
        Some((decision.is_allowed(), decision.rule().map(DecidingRule::line)))
    }
}

impl FileOfGroups<'_, '_> {
    /// What may be fetched, and where to ask further.
    pub(super) fn crawling(&self, proofs: &Work) -> (Crawling, Place) {
        let rules = rules_of(self.robots, self.selection);
        let prepared = CrawlerRules::new(self.robots, self.selection);
        let statements = using::paths_of(self);
        let patterns = rules.keys().map(|rule| &*rule.pattern).chain(statements.iter().map(|it| &**it));
        let filler = witness::filler(&patterns);
        let (plain, grounds) = self.plain_path(&prepared, filler);
        let mut tried = Tried { rules: &prepared, work: self.work, may: None, may_not: None };
        let otherwise = tried.decide(&plain).is_some_and(|(allowed, _)| allowed);
        let (listed, left_out) = self.listed(&rules, &mut tried, otherwise, filler, proofs);
        let Tried { may, may_not, .. } = tried;
        let answer = match (&may, &may_not) {
            (Some(_), Some(_)) => Fetchable::Part,
            (_, None) => Fetchable::Everything,
            (None, Some(_)) => Fetchable::Nothing,
        };
        let crawling = Crawling {
            answer,
            proved: self.is_proved(answer, &rules, proofs),
            otherwise,
            grounds,
            rules: listed,
            rule_count: rules.len(),
            rules_left_out: left_out,
            may,
            may_not,
        };
        let path = if otherwise { Some(plain) } else { crawling.may.clone() };
        (crawling, Place { rules: prepared, path, filler, statements })
    }

    /// The rules that decide something, each with an example, and how many were not looked at. A rule that
    /// says the same as the usual answer is listed only if it is an exception to another rule.
    fn listed(
        &self,
        rules: &Rules<'_>,
        tried: &mut Tried<'_>,
        otherwise: bool,
        filler: &str,
        proofs: &Work,
    ) -> (Vec<RuleWithExample>, usize) {
        let mut listed: Vec<RuleWithExample> = Vec::new();
        for (place, (rule, at)) in rules.iter().enumerate() {
            let is_enough = listed.len() == MOST_RULES || place == MOST_LOOKED_AT;
            if is_enough || !self.work.spend(200 + 8 * rule.pattern.len(), "rules") {
                return (listed, rules.len() - place);
            }
            let decides =
                |path: &String| tried.decide(path).is_some_and(|(_, line)| line == Some(at.line));
            let Some(example) = witness::paths(&rule.pattern, filler).find(decides) else {
                continue;
            };
            let says_as_otherwise = otherwise == (rule.kind == RuleKind::Allow);
            if says_as_otherwise && !matches_all(rule) && !self.is_exception(rule, rules, proofs) {
                continue;
            }
            if says_as_otherwise && otherwise && matches_all(rule) {
                continue;
            }
            let told = at.told(rule.kind);
            let (kind, pattern, line) = (told.kind, told.pattern, told.line);
            listed.push(RuleWithExample { kind, pattern, line, example });
        }
        (listed, 0)
    }

    /// Whether a rule makes a difference, as far as there is something left to find out.
    fn is_exception(&self, rule: &EffectiveRule<'_>, rules: &Rules<'_>, proofs: &Work) -> bool {
        if self.robots.dialect().specificity != Specificity::Pattern {
            return true;
        }
        if !proofs.spend(4 * rules.len(), "exceptions") {
            return false;
        }
        let others: Vec<_> = rules.keys().filter(|other| !std::ptr::eq(*other, rule)).collect();
        !is_idle(rule, &others, self.robots.dialect())
    }

    /// Whether it is proved that everything or nothing may be fetched. A rule about everything that wins over all that say
    /// the opposite proves it at a glance; else the rules have to decide as those without what makes the difference.
    fn is_proved(&self, answer: Fetchable, rules: &Rules<'_>, proofs: &Work) -> bool {
        let kind = match answer {
            Fetchable::Part => return true,
            Fetchable::Everything => RuleKind::Allow,
            Fetchable::Nothing => RuleKind::Disallow,
        };
        let octets = |rule: &&EffectiveRule<'_>| rule.pattern.len();
        let about_all =
            rules.keys().filter(|rule| rule.kind == kind && matches_all(rule)).max_by_key(octets);
        let opposed =
            rules.keys().filter(|rule| rule.kind != kind).map(|rule| rule.pattern.len()).max();
        // Else the octets of patterns do not say which rule wins.
        let by_pattern = self.robots.dialect().specificity == Specificity::Pattern;
        let wins = |octets: usize| match kind {
            _ if !by_pattern => opposed.is_none(),
            RuleKind::Allow => opposed.is_none_or(|opposed| octets >= opposed),
            RuleKind::Disallow => opposed.is_none_or(|opposed| octets > opposed),
        };
        if about_all.is_some_and(|rule| wins(rule.pattern.len()))
            || kind == RuleKind::Allow && opposed.is_none()
        {
            // A rule for an index page is one for its folder too, with fewer octets.
            return true;
        }
        let kept = rules.keys().filter(|rule| match kind {
            RuleKind::Allow => rule.kind == kind,
            RuleKind::Disallow => about_all.is_some_and(|about_all| std::ptr::eq(*rule, about_all)),
        });
        (kind == RuleKind::Allow || about_all.is_some())
            && differ_in_idle_rules(rules.keys(), kept, self.robots.dialect(), proofs)
    }

    /// A path that no rule is about in particular, as far as one was found, and what decides about it: no rule, or one
    /// that is about everything.
    fn plain_path(&self, rules: &CrawlerRules, filler: &str) -> (String, Grounds) {
        let first = format!("/{filler}");
        let others = PLAIN.iter().map(|path| (*path).to_owned());
        let mut asked = std::iter::once(first).chain(others).filter_map(|path| {
            let target = Target::from_path(&path).ok()?;
            let (decision, cost) = rules.decide_counted(&target);
            self.work.charge(cost, "rules");
            let is_plain =
                decision.rule().is_none_or(|rule| matches!(rule.pattern(), b"/" | b"*" | b"/*"));
            let grounds = Grounds::of(&decision);
            Some((is_plain, path, grounds))
        });
        let (is_plain, path, grounds) = asked.next().expect("a word makes a path");
        let found = if is_plain { None } else { asked.find(|(is_plain, ..)| *is_plain) };
        found.map_or((path, grounds), |(_, path, grounds)| (path, grounds))
    }
}

fn matches_all(rule: &EffectiveRule<'_>) -> bool {
    matches!(&*rule.pattern, b"/" | b"*" | b"/*")
}

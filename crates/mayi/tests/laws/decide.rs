//! Laws 2, 3 and 4: every way to a decision gives the same one, it is the one that the clauses give,
//! and it depends on nothing but the groups that were chosen.

use mayi::directive::{GroupStart, Role};
use mayi::{Crawler, Decision, Dialect, GroupBy, Reason, RobotsTxt, RuleKind, RulesByGroups, Target};

use super::{Question, file_of, matcher, read};

/// Law 2: deciding from the text, from prepared and shared rules, from a kept copy and under watch are one
/// decision, down to the line of the rule and the lines of its groups, in every dialect. The text is
/// what the others are held to, as it is the evaluator that prepares nothing (REP-8); where rules
/// tie, the first in the file decides for all of them.
pub(crate) fn every_way_gives_the_same_decision(question: &Question) {
    let Some((crawler, target)) = question.asked() else { return };
    let header = format!("Mozilla/5.0 (compatible; x-{0}; {0}-b/1.0)", question.agent);
    let crawlers = [crawler, Crawler::from_user_agent(&header), Crawler::unnamed()];
    for (dialect, crawler) in
        Dialect::ALL.iter().flat_map(|dialect| crawlers.iter().map(move |crawler| (dialect, crawler)))
    {
        let robots = read(&question.robots, dialect);
        let decided = robots.decide(crawler, &target);
        let context = || format!("{dialect}, {crawler:?}: {question:?}");

        let prepared = robots.for_crawler(crawler);
        assert_eq!(prepared.decide(&target), decided, "prepared, {}", context());
        let kept = robots.clone().into_owned();
        assert_eq!(kept.decide(crawler, &target), decided, "kept, {}", context());
        let shared = RulesByGroups::new(kept.into());
        assert_eq!(shared.for_crawler(crawler).decide(&target), decided, "shared, {}", context());
        let explanation = robots.explain(crawler, &target);
        assert_eq!(explanation.decision(), &decided, "explained, {}", context());

        // What the explanation shows is what decided.
        let winner = explanation.winner().map(|rule| (rule.line(), rule.span(), rule.octets()));
        let rule = decided.rule().map(|rule| (rule.line(), rule.span(), rule.octets()));
        assert_eq!(winner, rule, "{}", context());
        let chosen = explanation.groups().iter().filter(|group| group.is_chosen());
        let by = decided.group().map(mayi::ChosenGroup::by);
        let starts = chosen.flat_map(mayi::ConsideredGroup::starts).filter(|start| start.by() == by);
        let mut lines: Vec<_> = starts.map(mayi::StartLine::line).collect();
        let expected = decided.group().map(|group| group.lines().to_vec()).unwrap_or_default();
        // Where names are compared as they are written, a weaker one can stand in a group that is chosen.
        if !Dialect::BY_TOKEN.contains(dialect) {
            lines.retain(|line| expected.contains(line));
        }
        assert_eq!(lines, expected, "{}", context());
    }
}

/// Law 3: the decision is what REP-1 and REP-4 to REP-10 give when they are followed word by word over
/// the lines of the file. The google dialect has a law of its own.
pub(crate) fn the_decision_is_the_naive_one(question: &Question) {
    let Some((crawler, target)) = question.asked() else { return };
    for dialect in [Dialect::RFC9309, Dialect::KOSTER_00] {
        let robots = read(&question.robots, &dialect);
        let groups = groups_of_lines(&robots);
        let listed = robots.groups().map(|group| {
            let starts = group.start_lines().map(|(line, value)| (line.number(), value));
            let rules = group.rules().map(|(line, kind, value)| (line.number(), kind, value));
            (starts.collect::<Vec<_>>(), rules.collect::<Vec<_>>())
        });
        let expected = groups.iter().map(|group| (group.starts.clone(), group.rules.clone()));
        assert!(listed.eq(expected), "REP-1, {dialect}: {question:?}");

        let mut starts = groups.iter().flat_map(|group| &group.user_agents);
        if starts.any(|(_, value)| is_regular_expression(value)) {
            continue; // AIA-2 has vectors
        }
        let Some(text) = matcher::path_and_query(&question.url) else { continue };
        let naive = Plain::naive(&groups, &question.agent, &text, &dialect);
        let decided = Plain::of(&robots.decide(&crawler, &target));
        assert_eq!(decided, naive, "{dialect}: {question:?}");
    }
}

/// Law 4: rules of groups that were not chosen, and rules before every group, can be changed, taken
/// out of sight or deleted, and the decision stays (REP-5, REP-6, REP-13). For each such line in
/// turn, the next of the choices says what happens to it.
pub(crate) fn other_groups_do_not_matter(question: &Question, choices: &[u8]) {
    let Some((crawler, target)) = question.asked() else { return };
    for dialect in Dialect::ALL {
        let robots = read(&question.robots, dialect);
        let decided = robots.decide(&crawler, &target);
        if decided.reason() == Reason::RobotsTxt {
            continue; // no group was chosen at all
        }
        let chosen = decided.group().map(mayi::ChosenGroup::lines).unwrap_or_default();
        let of_chosen_groups: Vec<_> = robots
            .groups()
            .filter(|group| group.start_lines().any(|(line, _)| chosen.contains(&line)))
            .flat_map(|group| group.rules().map(|(line, ..)| line).collect::<Vec<_>>())
            .collect();

        let mut choices = choices.iter().cycle();
        let mut changed = Vec::new();
        let mut moved = false;
        for line in robots.lines() {
            let is_rule = line.record().and_then(|record| record.directive());
            let is_rule = is_rule.is_some_and(|directive| matches!(directive.role, Role::Rule(_)));
            let text = if !is_rule || of_chosen_groups.contains(&line.number()) {
                line.text()
            } else {
                match choices.next().map(|choice| choice % 5) {
                    Some(0) => &b"Disallow: /"[..],
                    Some(1) => b"Allow: *",
                    Some(2) => b"# nothing",
                    Some(3) => {
                        moved = true;
                        continue;
                    }
                    _ => line.text(),
                }
            };
            changed.extend_from_slice(text);
            changed.extend_from_slice(line.end());
        }

        let changed = file_of(&changed);
        let changed = read(&changed, dialect);
        let mut before = Plain::of(&decided);
        let mut after = Plain::of(&changed.decide(&crawler, &target));
        if moved {
            before.forget_lines();
            after.forget_lines();
        }
        assert_eq!(after, before, "{dialect}: {question:?} became {changed:?}");
    }
}

/// A decision in plain values, to be compared where the files are not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    reason: Reason,
    allowed: bool,
    by: Option<GroupBy>,
    group_lines: Vec<u32>,
    rule: Option<PlainRule>,
}

/// The rule of a decision in plain values.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PlainRule {
    line: u32,
    kind: RuleKind,
    pattern: Vec<u8>,
    octets: usize,
}

impl Plain {
    pub(crate) fn of(decision: &Decision<'_>) -> Self {
        let lines = decision.group().map(mayi::ChosenGroup::lines).unwrap_or_default();
        Self {
            reason: decision.reason(),
            allowed: decision.is_allowed(),
            by: decision.group().map(mayi::ChosenGroup::by),
            group_lines: lines.iter().map(|line| line.number()).collect(),
            rule: decision.rule().map(|rule| PlainRule {
                line: rule.line().number(),
                kind: rule.kind(),
                pattern: rule.pattern().to_vec(),
                octets: rule.octets(),
            }),
        }
    }

    /// The same decision where its lines have other numbers.
    pub(crate) fn with_lines(mut self, number: impl Fn(u32) -> u32) -> Self {
        for line in self.group_lines.iter_mut().chain(self.rule.as_mut().map(|rule| &mut rule.line)) {
            *line = number(*line);
        }
        self
    }

    /// Leaves nothing of the line numbers.
    pub(crate) fn forget_lines(&mut self) {
        *self = self.clone().with_lines(|_| 0);
    }

    /// The decision, followed word by word.
    fn naive(groups: &[Group<'_>], agent: &str, text: &[u8], dialect: &Dialect) -> Self {
        let without_group =
            |reason| Self { reason, allowed: true, by: None, group_lines: Vec::new(), rule: None };
        if matcher::is_robots_txt(text) {
            return without_group(Reason::RobotsTxt); // REP-10
        }
        let names = |start: &(u32, &[u8])| names(start.1, agent);
        let is_global = |start: &(u32, &[u8])| is_global(start.1);
        let of_token: Vec<_> =
            groups.iter().filter(|group| group.user_agents.iter().any(names)).collect();
        let mut global: Vec<_> =
            groups.iter().filter(|group| group.user_agents.iter().any(is_global)).collect();
        if *dialect == Dialect::KOSTER_00 {
            global.truncate(1); // REP-6
        }
        let (by, chosen, group_lines): (_, _, Vec<u32>) = if !of_token.is_empty() {
            let starts = of_token.iter().flat_map(|group| &group.user_agents);
            let lines = starts.filter(|start| names(start)).map(|start| start.0);
            (GroupBy::ProductToken, &of_token, lines.collect())
        } else if !global.is_empty() {
            let starts = global.iter().flat_map(|group| &group.user_agents);
            let lines = starts.filter(|start| is_global(start)).map(|start| start.0);
            (GroupBy::Global, &global, lines.collect())
        } else {
            return without_group(Reason::NoGroup); // REP-6
        };

        let mut best: Option<PlainRule> = None;
        for &(line, kind, pattern) in chosen.iter().flat_map(|group| &group.rules) {
            if !matcher::matches(pattern, text) {
                continue;
            }
            let octets = matcher::octets(pattern);
            let wins = best.as_ref().is_none_or(|best| {
                let allow_at_equal_length = kind == RuleKind::Allow && best.kind == RuleKind::Disallow;
                octets > best.octets || octets == best.octets && allow_at_equal_length
            });
            if wins {
                best = Some(PlainRule { line, kind, pattern: pattern.to_vec(), octets });
            }
        }
        Self {
            reason: if best.is_some() { Reason::Rule } else { Reason::NoRule },
            allowed: best.as_ref().is_none_or(|best| best.kind == RuleKind::Allow),
            by: Some(by),
            group_lines,
            rule: best,
        }
    }
}

/// A group: its group-start lines and its rules, with their lines.
#[derive(Default)]
struct Group<'r> {
    starts: Vec<(u32, &'r [u8])>,
    /// Those of the group-start lines that name a crawler by its product token. Nobody here has a
    /// purpose to be named by (PUR-1).
    user_agents: Vec<(u32, &'r [u8])>,
    rules: Vec<(u32, RuleKind, &'r [u8])>,
}

/// REP-1 over the lines of a file: a group-start line behind a rule, of whatever it is a rule, starts
/// the next group, and rules before the first are of none. A rule may stand on its user-agent line
/// (AIA-5).
fn groups_of_lines<'r>(robots: &'r RobotsTxt<'_>) -> Vec<Group<'r>> {
    let mut groups: Vec<Group<'r>> = Vec::new();
    let mut behind_rule = true;
    for line in robots.lines() {
        let number = line.number().number();
        for record in line.record().into_iter().chain(line.inline_rule()) {
            match record.directive().map(|directive| directive.role) {
                Some(Role::StartsGroup(by)) => {
                    if behind_rule {
                        groups.push(Group::default());
                        behind_rule = false;
                    }
                    let group = groups.last_mut().expect("it was started");
                    group.starts.push((number, record.value()));
                    if by == GroupStart::ProductToken {
                        group.user_agents.push((number, record.value()));
                    }
                }
                Some(Role::Rule(kind)) => {
                    behind_rule = true;
                    if let Some(group) = groups.last_mut() {
                        group.rules.push((number, kind, record.value()));
                    }
                }
                Some(Role::Statement) => behind_rule = true,
                _ => {}
            }
        }
    }
    groups
}

/// AIA-2: the first word is neither a product token nor `*`, and has a sign of one.
fn is_regular_expression(value: &[u8]) -> bool {
    let value = value.split(|octet| b" \t".contains(octet)).next().unwrap_or_default();
    let value = String::from_utf8_lossy(value);
    let is_token = value.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    let signs = [".*", ".+", ".?", "[", "|", "^", "\\"];
    let has_sign = signs.iter().any(|sign| value.contains(sign)) || value.ends_with('$');
    !is_token && !is_global(value.as_bytes()) && has_sign
}

/// REP-4: the longest run of `A-Z a-z _ -`, digits and dots that the value starts with, less dots at its
/// end, is the token, ignoring case. Dots at the end of the crawler's count no more.
fn names(value: &[u8], token: &str) -> bool {
    let value = String::from_utf8_lossy(value);
    let run = value.split(|c: char| !c.is_ascii_alphanumeric() && !"_-.".contains(c)).next();
    let named = run.unwrap_or_default().trim_end_matches('.');
    named.eq_ignore_ascii_case(token.trim_end_matches('.'))
}

/// REP-4: `*`, alone or followed by white space.
fn is_global(value: &[u8]) -> bool {
    matches!(value, [b'*'] | [b'*', b' ' | b'\t', ..])
}

/// A crawler and a target for laws that ask one question of several files.
pub(crate) fn ask(robots: &RobotsTxt<'_>, crawler: &Crawler, target: &Target<'_>) -> Plain {
    Plain::of(&robots.decide(crawler, target))
}

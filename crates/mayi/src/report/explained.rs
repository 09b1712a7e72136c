//! An explanation as JSON.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::request::owned;
use crate::application::AppDirectives;
use crate::directive::RuleKind;
use crate::explanation::Explanation;
use crate::robots_txt::RobotsTxt;
use crate::selection::GroupBy;
use crate::spec::Clause;

/// How many group-start lines, matching rules and irregularities are listed at most: for some files a
/// complete list would take forty times their size, and nobody reads that.
const MOST: usize = 1000;

/// How the decision was reached. Each list has at most 1,000 lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Explained<'a> {
    /// What was compared with the patterns: one form of the target, or two (REP-12).
    pub target: Vec<String>,
    /// The groups of the file, and which were chosen.
    pub groups: Vec<ExplainedGroup<'a>>,
    /// The rules that match, the winner first and the runner-up next.
    pub matches: Vec<ExplainedRule<'a>>,
    /// The clauses that it was decided by.
    pub clauses: Vec<Clause>,
    /// The App-Directives rules that match and name an application of the crawler.
    pub applications: Vec<ExplainedApplication>,
    /// Lines that were read as intended or dropped.
    pub irregularities: Vec<ExplainedIrregularity>,
    /// How many more items each list has; absent if all lists are complete.
    #[serde(default, skip_serializing_if = "LeftOut::is_none")]
    pub left_out: LeftOut,
}

/// How much more there is than is listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// Groups. Those that were chosen are listed before others.
    pub groups: usize,
    /// Rules that match.
    pub matches: usize,
    /// Irregular lines.
    pub irregularities: usize,
}

impl LeftOut {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// A group of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExplainedGroup<'a> {
    /// Its group-start lines.
    pub starts: Vec<ExplainedStart<'a>>,
    /// Whether its rules apply to the crawler.
    pub chosen: bool,
}

/// A group-start line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExplainedStart<'a> {
    /// Its line.
    pub line: u32,
    /// Its value, as written.
    pub value: Cow<'a, str>,
    /// How it names the crawler, or null.
    pub by: Option<GroupBy>,
}

/// A rule that matches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExplainedRule<'a> {
    /// `allow` or `disallow`.
    pub kind: RuleKind,
    /// Its line.
    pub line: u32,
    /// The column of its pattern.
    pub column: u32,
    /// The pattern as written.
    pub pattern: Cow<'a, str>,
    /// The pattern as compared.
    pub normalised: String,
    /// How many octets count.
    pub octets: usize,
}

/// What decided about the directives of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExplainedApplication {
    /// The application.
    pub application: String,
    /// How its groups were found, or null if it has none.
    pub by: Option<GroupBy>,
    /// The rules that match and name it.
    pub rules: Vec<ExplainedAppRule>,
    /// Directives that are not used, as their type is not the registered one.
    pub unusable: Vec<String>,
}

/// An App-Directives rule that matches and names the application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExplainedAppRule {
    /// Its line.
    pub line: u32,
    /// How many octets its pattern has.
    pub octets: usize,
    /// Whether it applies; otherwise it lost to a longer one.
    pub applies: bool,
}

impl ExplainedApplication {
    fn of(asked: &AppDirectives) -> Self {
        let rule = |rule: &crate::AppRule| ExplainedAppRule {
            line: rule.line.number(),
            octets: rule.octets,
            applies: rule.applies,
        };
        Self {
            application: asked.application().to_owned(),
            by: asked.by(),
            rules: asked.rules().iter().map(rule).collect(),
            unusable: asked.unusable().map(|(name, _)| name.to_owned()).collect(),
        }
    }
}

/// A line that is irregular.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExplainedIrregularity {
    /// Its line.
    pub line: u32,
    /// The clause that says how it is read.
    pub clause: Clause,
    /// What happened.
    pub summary: Cow<'static, str>,
}

impl<'a> Explained<'a> {
    /// The serialisable view of an explanation, and of what the file asks of the crawler's
    /// applications.
    pub fn of(explanation: &Explanation<'a>, asked: &[AppDirectives]) -> Self {
        let text = |form: Cow<'_, [u8]>| String::from_utf8_lossy(&form).into_owned();
        // By lines, because a group may have very many; the chosen groups and the others have the same limit
        // each.
        let mut room = [MOST; 2];
        let groups: Vec<_> = explanation
            .groups()
            .iter()
            .filter(|group| {
                let room = &mut room[usize::from(group.is_chosen())];
                let lines = group.starts().len().max(1);
                let fits = lines <= *room;
                *room = room.saturating_sub(lines);
                fits
            })
            .map(ExplainedGroup::of)
            .collect();
        let irregularities =
            || explanation.robots_txt().into_iter().flat_map(RobotsTxt::irregularities);
        let left_out = LeftOut {
            groups: explanation.groups().len() - groups.len(),
            matches: explanation.matches().len().saturating_sub(MOST),
            irregularities: irregularities().count().saturating_sub(MOST),
        };
        Self {
            left_out,
            target: explanation.compared().into_iter().map(text).collect(),
            groups,
            matches: explanation.matches().iter().take(MOST).map(ExplainedRule::of).collect(),
            clauses: explanation.clauses(),
            applications: asked.iter().map(ExplainedApplication::of).collect(),
            irregularities: irregularities()
                .take(MOST)
                .map(|found| ExplainedIrregularity {
                    line: found.line().number(),
                    clause: found.clause(),
                    summary: found.summary().into(),
                })
                .collect(),
        }
    }
}

impl Explained<'_> {
    pub(super) fn into_owned(self) -> Explained<'static> {
        let start = |start: ExplainedStart<'_>| ExplainedStart {
            value: owned(start.value),
            line: start.line,
            by: start.by,
        };
        let group = |group: ExplainedGroup<'_>| ExplainedGroup {
            starts: group.starts.into_iter().map(start).collect(),
            chosen: group.chosen,
        };
        let rule = |rule: ExplainedRule<'_>| ExplainedRule {
            pattern: owned(rule.pattern),
            normalised: rule.normalised,
            kind: rule.kind,
            line: rule.line,
            column: rule.column,
            octets: rule.octets,
        };
        Explained {
            target: self.target,
            groups: self.groups.into_iter().map(group).collect(),
            matches: self.matches.into_iter().map(rule).collect(),
            clauses: self.clauses,
            applications: self.applications,
            irregularities: self.irregularities,
            left_out: self.left_out,
        }
    }
}

impl<'a> ExplainedGroup<'a> {
    fn of(group: &crate::ConsideredGroup<'a>) -> Self {
        let starts = group.starts().iter().map(|start| ExplainedStart {
            line: start.line().number(),
            value: String::from_utf8_lossy(start.value()),
            by: start.by(),
        });
        Self { starts: starts.collect(), chosen: group.is_chosen() }
    }
}

impl<'a> ExplainedRule<'a> {
    fn of(rule: &crate::MatchingRule<'a>) -> Self {
        Self {
            kind: rule.kind(),
            line: rule.line().number(),
            column: rule.column(),
            pattern: String::from_utf8_lossy(rule.pattern()),
            normalised: String::from_utf8_lossy(rule.normalised()).into_owned(),
            octets: rule.octets(),
        }
    }
}

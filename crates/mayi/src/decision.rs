//! The answer, with its evidence: allowed or not, the reason, and the rule and groups that decided.

use std::borrow::Cow;

use crate::directive::RuleKind;
use crate::selection::GroupBy;
use crate::span::{LineNumber, Span};

/// Whether the crawler may fetch the target, with the lines that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<'r> {
    reason: Reason,
    rule: Option<DecidingRule<'r>>,
    group: Option<ChosenGroup<'r>>,
}

/// Why a decision is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "report", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Reason {
    /// A rule matched, and says so (REP-8).
    Rule,
    /// A group applies, and none of its rules matches: allowed (REP-9).
    NoRule,
    /// No group applies: allowed (REP-6).
    NoGroup,
    /// The target is robots.txt itself: allowed (REP-10).
    RobotsTxt,
    /// The file is unavailable: allowed (REP-20).
    Unavailable,
    /// The file is unreachable: disallowed (REP-21).
    Unreachable,
}

impl Reason {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Rule,
        Self::NoRule,
        Self::NoGroup,
        Self::RobotsTxt,
        Self::Unavailable,
        Self::Unreachable,
    ];

    /// The reason of this name.
    ///
    /// ```
    /// assert_eq!(mayi::Reason::named("no-rule"), Some(mayi::Reason::NoRule));
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.name() == name)
    }

    /// As in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::NoRule => "no-rule",
            Self::NoGroup => "no-group",
            Self::RobotsTxt => "robots-txt",
            Self::Unavailable => "unavailable",
            Self::Unreachable => "unreachable",
        }
    }
}

impl<'r> Decision<'r> {
    /// A decision for which no group was needed.
    pub(crate) fn without_group(reason: Reason) -> Self {
        Self { reason, rule: None, group: None }
    }

    /// The decision of the groups that apply.
    pub(crate) fn of_group(group: ChosenGroup<'r>, rule: Option<DecidingRule<'r>>) -> Self {
        let reason = if rule.is_some() { Reason::Rule } else { Reason::NoRule };
        Self { reason, rule, group: Some(group) }
    }

    /// Whether the target may be fetched.
    pub fn is_allowed(&self) -> bool {
        match self.reason {
            Reason::Rule => self.rule.as_ref().is_some_and(|rule| rule.kind == RuleKind::Allow),
            Reason::Unreachable => false,
            Reason::NoRule | Reason::NoGroup | Reason::RobotsTxt | Reason::Unavailable => true,
        }
    }

    /// Why.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The rule that decided, if one did.
    pub fn rule(&self) -> Option<&DecidingRule<'r>> {
        self.rule.as_ref()
    }

    /// The groups that apply, if some do.
    pub fn group(&self) -> Option<&ChosenGroup<'r>> {
        self.group.as_ref()
    }
}

/// A rule that matched, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidingRule<'r> {
    pub(crate) kind: RuleKind,
    pub(crate) pattern: &'r [u8],
    pub(crate) octets: usize,
    pub(crate) line: LineNumber,
    pub(crate) span: Span,
}

impl<'r> DecidingRule<'r> {
    /// Allow or disallow.
    pub fn kind(&self) -> RuleKind {
        self.kind
    }

    /// Its pattern, as written.
    pub fn pattern(&self) -> &'r [u8] {
        self.pattern
    }

    /// How many octets its normalised pattern has (REP-8).
    pub fn octets(&self) -> usize {
        self.octets
    }

    /// The line that it is on.
    pub fn line(&self) -> LineNumber {
        self.line
    }

    /// Where its pattern is in the text of the file.
    pub fn span(&self) -> Span {
        self.span
    }
}

/// The groups whose rules apply to a crawler, combined (REP-5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenGroup<'r> {
    pub(crate) by: GroupBy,
    pub(crate) lines: Cow<'r, [LineNumber]>,
}

impl ChosenGroup<'_> {
    /// How they were found.
    pub fn by(&self) -> GroupBy {
        self.by
    }

    /// The group-start lines that matched, in file order.
    pub fn lines(&self) -> &[LineNumber] {
        &self.lines
    }
}

//! What a file means, compared between crawlers, dialects or two files: where readings differ.
//!
//! [`compare`] evaluates one file for several crawlers and in several dialects; [`diff`] evaluates two files for
//! the same crawlers; [`overview`] evaluates one file for every known crawler. They look for URLs with different
//! decisions, and show only URLs that were really decided. So every difference that they show is real. [`diff`] and
//! [`overview`] mark "no difference", "everything" and "nothing" as unproved unless it is proved: the rules are the
//! same, or the rules that differ can be shown to decide nothing. [`compare`] proves nothing.

mod compare;
mod diff;
mod overview;
mod parts;
mod readers;
pub(crate) mod rules;
mod witness;

pub use compare::{
    Comparison, DifferingPattern, DifferingPatterns, Reading, ReadingGrounds, ReadingOf, compare,
};
pub use diff::{Became, Change, Diff, Meaning, ReaderDiff, diff, diff_within};
pub use overview::{
    CrawlerOverview, Crawling, Fetchable, GroupAt, KindOverview, Overview, RuleWithExample,
    SharedAnswer, UseAnswer, UseElsewhere, UseGrounds, UseSource, overview,
};
pub use parts::{PartChange, ValueAt};

use serde::{Deserialize, Serialize};

use crate::decision::{Decision, Reason};
use crate::directive::RuleKind;

/// What a decision is based on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grounds {
    /// Why it is what it is.
    pub reason: Reason,
    /// The rule that decided.
    pub rule: Option<RuleAt>,
}

/// A rule and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RuleAt {
    /// What it says.
    pub kind: RuleKind,
    /// The pattern as written; what is not UTF-8 is replaced.
    pub pattern: String,
    /// The line that it is on.
    pub line: u32,
}

impl Grounds {
    fn of(decision: &Decision<'_>) -> Self {
        let rule = decision.rule().map(|rule| RuleAt {
            kind: rule.kind(),
            pattern: String::from_utf8_lossy(rule.pattern()).into_owned(),
            line: rule.line().number(),
        });
        Self { reason: decision.reason(), rule }
    }
}

//! The groups of a crawler → what it may do with what it fetches, use by use (USE-4 to USE-6).
//!
//! What may not be fetched can't be used. So a crawler that may fetch nothing may use nothing, whatever the file says
//! about uses.

use serde::{Deserialize, Serialize};

use super::super::rules::normalised_path;
use super::super::witness;
use super::crawling::{Crawling, Fetchable, FileOfGroups, Place};
use crate::access::View;
use crate::directive::{ALLOW_AI_TRAINING, CONTENT_USAGE, DISALLOW_AI_TRAINING};
use crate::preference::Preference;
use crate::span::LineNumber;
use crate::structured::split_path;
use crate::target::Target;
use crate::uses::{Response, SignalSource, Usage, Use, usage_of};

/// Whether a use is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UseAnswer {
    /// The use.
    #[serde(rename = "use")]
    pub about: Use,
    /// Whether it is allowed, for what no statement is about in particular.
    pub answer: Preference,
    /// What says so.
    pub because: Vec<UseGrounds>,
    /// Where statements about paths say something else; no more than twenty.
    pub elsewhere: Vec<UseElsewhere>,
}

/// What says something about a use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UseGrounds {
    /// What kind of thing it is.
    pub source: UseSource,
    /// What it says.
    pub says: Preference,
    /// The line that it is on, if it is a line.
    pub line: Option<u32>,
}

/// The kinds of things that say something about a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UseSource {
    /// Nothing may be fetched.
    Access,
    /// A line of the file.
    #[serde(untagged)]
    Signal(SignalSource),
}

/// A path where the answer is another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UseElsewhere {
    /// The answer there.
    pub answer: Preference,
    /// The path of such a URL.
    pub example: String,
    /// What says so.
    pub because: Vec<UseGrounds>,
}

/// How many statements about paths are looked at, and how many places are listed for a use.
const MOST_STATEMENTS: usize = 50;
const MOST_ELSEWHERE: usize = 20;

/// How many signals are listed for an answer.
const MOST_GROUNDS: usize = 10;

/// What may be done with what may be fetched.
pub(super) fn uses(
    asking: &FileOfGroups<'_, '_>,
    crawling: &Crawling,
    place: &Place,
) -> Vec<UseAnswer> {
    let Some(path) = &place.path else { return of_access(crawling) };
    let Some(usage) = usage_at(asking, path) else { return of_access(crawling) };
    let mut uses: Vec<UseAnswer> = Use::ALL.iter().map(|&about| of_usage(about, &usage)).collect();
    for pattern in &place.statements {
        let Some(path) = witness::paths(pattern, place.filler).next() else { continue };
        let Ok(target) = Target::from_path(&path) else { continue };
        let (decision, cost) = place.rules.decide_counted(&target);
        asking.work.charge(cost, "uses");
        if !decision.is_allowed() || !asking.work.spend(cost_of_usage(asking), "uses") {
            continue;
        }
        let Some(usage) = usage_at(asking, &path) else { continue };
        for answer in &mut uses {
            let there = of_usage(answer.about, &usage);
            if there.answer != answer.answer && answer.elsewhere.len() < MOST_ELSEWHERE {
                let (example, because) = (path.clone(), there.because);
                answer.elsewhere.push(UseElsewhere { answer: there.answer, example, because });
            }
        }
    }
    uses
}

/// What may be done where there is no file.
pub(super) fn without_file(crawling: &Crawling) -> Vec<UseAnswer> {
    if crawling.answer == Fetchable::Nothing {
        return of_access(crawling);
    }
    Use::ALL.iter().map(|&about| of_usage(about, &Usage::default())).collect()
}

/// Nothing may be fetched, so nothing may be used.
fn of_access(crawling: &Crawling) -> Vec<UseAnswer> {
    let line = crawling.grounds.rule.as_ref().map(|rule| rule.line);
    let because = UseGrounds { source: UseSource::Access, says: Preference::Disallowed, line };
    let refused = |&about: &Use| UseAnswer {
        about,
        answer: Preference::Disallowed,
        because: vec![because.clone()],
        elsewhere: Vec::new(),
    };
    Use::ALL.iter().map(refused).collect()
}

fn of_usage(about: Use, usage: &Usage) -> UseAnswer {
    let signals = usage.signals().iter().filter(|signal| signal.about == about);
    let because =
        signals.filter(|signal| !signal.is_overridden).take(MOST_GROUNDS).map(|signal| UseGrounds {
            source: UseSource::Signal(signal.source),
            says: signal.says,
            line: signal.line.map(LineNumber::number),
        });
    UseAnswer { about, answer: usage.answer(about), because: because.collect(), elsewhere: Vec::new() }
}

fn usage_at(asking: &FileOfGroups<'_, '_>, path: &str) -> Option<Usage> {
    let target = Target::from_path(path).ok()?;
    let view = View::of(asking.robots);
    Some(usage_of(view, asking.selection, &target, Response::default(), &[]))
}

/// A usage is a pass over the records of the groups, and their lines are counted.
fn cost_of_usage(asking: &FileOfGroups<'_, '_>) -> usize {
    let records = asking.selection.into_iter().flat_map(|selection| selection.records(asking.robots));
    records.map(|record| 10 + asking.robots.value(record).len()).sum::<usize>()
        + asking.robots.text().len() / 16
}

/// The patterns of the statements that are about some paths alone, normalised.
pub(super) fn paths_of(asking: &FileOfGroups<'_, '_>) -> Vec<Vec<u8>> {
    let robots = asking.robots;
    let comparison = robots.dialect().comparison;
    let records = asking.selection.into_iter().flat_map(|selection| selection.non_rules(robots));
    let patterns = records.filter_map(|record| {
        let value = robots.value(record);
        let pattern = if record.is(&CONTENT_USAGE) {
            split_path(value).0?
        } else if record.is(&ALLOW_AI_TRAINING) || record.is(&DISALLOW_AI_TRAINING) {
            value
        } else {
            return None;
        };
        Some(normalised_path(Some(pattern), comparison))
    });
    patterns.take(MOST_STATEMENTS).collect()
}

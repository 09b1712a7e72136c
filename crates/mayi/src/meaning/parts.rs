//! What two files say apart from access, directive by directive: what was removed, and what was added.
//!
//! Values are compared by their meaning: the delay that counts, the signals together, statements by their
//! path and labels. Their order counts only where the later one wins (APP-4).

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::rules::normalised_path;
use crate::directive::{
    ALLOW_AI_TRAINING, APP_DIRECTIVES, CONTENT_SIGNAL, CONTENT_USAGE, CRAWL_DELAY, DIRECTIVES,
    DISALLOW_AI_TRAINING, Directive, Role,
};
use crate::pattern::PathPattern;
use crate::preference::Statement;
use crate::records::{ContentSignal, content_signals};
use crate::robots_txt::{Record, RobotsTxt};
use crate::selection::{Selection, select_for_application};
use crate::span::LineCounter;
use crate::structured::{Part, Value, each_part, is_list, split_path};

/// What changed in one kind of record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PartChange {
    /// The directive.
    pub directive: Cow<'static, str>,
    /// What the old file says and the new one does not.
    pub removed: Vec<ValueAt>,
    /// What the new file says and the old one does not.
    pub added: Vec<ValueAt>,
    /// Whether only the order changed.
    pub reordered: bool,
}

/// A value and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ValueAt {
    /// The value as written; what is not UTF-8 is replaced.
    pub value: String,
    /// The line that it is on.
    pub line: u32,
}

/// What is understood of a record, and the record. A file can have tens of thousands of short ones, and how they are shown
/// takes more memory than they do: so that is made only for those that changed.
type Understood<'r> = (Cow<'r, [u8]>, Record);

fn meaning_of<'v>(value: &'v Understood<'_>) -> &'v [u8] {
    &value.0
}

/// What changed for the file as a whole.
pub(super) fn of_files(old: &RobotsTxt<'_>, new: &RobotsTxt<'_>) -> Vec<PartChange> {
    let file_records = DIRECTIVES.iter().filter(|directive| directive.role == Role::FileRecord);
    let changed = file_records.filter_map(|&directive| {
        let [of_old, of_new] =
            [old, new].map(|robots| understood(robots, directive, robots.non_rules().all(robots)));
        changed(directive, (old, of_old), (new, of_new), false)
    });
    changed.collect()
}

/// What changed for a reader with these groups.
pub(super) fn of_reader(
    old: (&RobotsTxt<'_>, Option<&Selection>),
    new: (&RobotsTxt<'_>, Option<&Selection>),
    token: &crate::ProductToken,
) -> Vec<PartChange> {
    let mut parts = Vec::new();
    for &directive in DIRECTIVES {
        if !matches!(directive.role, Role::GroupRecord | Role::Statement) {
            continue;
        }
        if *directive == CONTENT_SIGNAL {
            parts.extend(signals_changed(old, new));
            continue;
        }
        let [of_old, of_new] =
            [old, new].map(|(robots, selection)| values_of(robots, selection, directive, token));
        let in_order = *directive == APP_DIRECTIVES;
        parts.extend(changed(directive, (old.0, of_old), (new.0, of_new), in_order));
    }
    parts
}

/// The records of a directive that count for a reader with these groups, with what they mean.
fn values_of<'r>(
    robots: &'r RobotsTxt<'_>,
    selection: Option<&Selection>,
    directive: &'static Directive,
    token: &crate::ProductToken,
) -> Vec<Understood<'r>> {
    if *directive == APP_DIRECTIVES {
        let selection = select_for_application(robots, token);
        let records = selection.iter().flat_map(|selection| selection.non_rules(robots));
        return understood(robots, directive, records);
    }
    let records = selection.into_iter().flat_map(|selection| selection.non_rules(robots));
    let mut values = understood(robots, directive, records);
    if *directive == CRAWL_DELAY {
        // Only the longest counts.
        let seconds =
            |value: &Understood<'_>| f64::from_be_bytes(value.0[..].try_into().unwrap_or_default());
        let longest = values.into_iter().max_by(|one, other| seconds(one).total_cmp(&seconds(other)));
        values = longest.into_iter().collect();
    }
    values
}

/// The records of a directive that mean something, with what they mean.
fn understood<'r>(
    robots: &'r RobotsTxt<'_>,
    directive: &'static Directive,
    records: impl Iterator<Item = Record>,
) -> Vec<Understood<'r>> {
    let comparison = robots.dialect().comparison;
    records
        .filter(|record| record.is(directive))
        .filter_map(|record| {
            let value = robots.value(record);
            let meaning: Vec<u8> = if *directive == CONTENT_USAGE {
                let (path, dictionary) = split_path(value);
                let statement = Statement::parse(dictionary)?;
                let mut labels: Vec<_> = statement
                    .labels()
                    .map(|(label, says)| format!("{label}={}", says.name()))
                    .collect();
                labels.sort_unstable();
                [&normalised_path(path, comparison)[..], b" ", labels.join(",").as_bytes()].concat()
            } else if *directive == APP_DIRECTIVES {
                let (path, list) = split_path(value);
                if !is_list(list) {
                    return None;
                }
                [&normalised_path(path, comparison)[..], b" ", applications_in(list).as_bytes()]
                    .concat()
            } else if *directive == ALLOW_AI_TRAINING || *directive == DISALLOW_AI_TRAINING {
                let pattern = PathPattern::read(value, comparison);
                Some(pattern.normalised()).filter(|pattern| !pattern.is_empty())?.to_vec()
            } else if *directive == CRAWL_DELAY {
                crate::robots_txt::seconds(value)?.to_be_bytes().to_vec()
            } else {
                return Some((Cow::Borrowed(value), record));
            };
            Some((Cow::Owned(meaning), record))
        })
        .collect()
}

/// The members of a List that name applications, with their parameters, written in one way: other members say
/// nothing (APP-3).
fn applications_in(list: &[u8]) -> String {
    type Named<'t> = (&'t str, IndexMap<&'t str, sfv::BareItemFromInput<'t>>);
    let mut written = String::new();
    let mut write_down = |named: Option<Named<'_>>| {
        let Some((name, parameters)) = named else { return };
        written.push_str(name);
        for (key, value) in parameters {
            let value = Value::of(value.into());
            let _infallible = write!(written, ";{key}={value}");
        }
        written.push(',');
    };
    let mut named: Option<Named<'_>> = None;
    each_part(list, |part| match part {
        Part::Item(sfv::BareItemFromInput::Token(name)) => {
            write_down(named.replace((name.as_str(), IndexMap::new())));
        }
        Part::Item(_) | Part::InnerList => write_down(named.take()),
        Part::Parameter(key, value) => {
            if let Some((_, parameters)) = &mut named {
                parameters.insert(key, value);
            }
        }
    });
    write_down(named);
    written
}

/// What changed in what Content-Signal says, key by key, with the last line that has the key.
fn signals_changed(
    old: (&RobotsTxt<'_>, Option<&Selection>),
    new: (&RobotsTxt<'_>, Option<&Selection>),
) -> Option<PartChange> {
    let read = |(robots, selection): (&RobotsTxt<'_>, Option<&Selection>)| {
        let values = content_signals(robots, selection).map(|(_, value)| value);
        let lines = content_signals(robots, selection).map(|(line, _)| line.number());
        (ContentSignal::read(values), lines.collect::<Vec<_>>())
    };
    let ((old, old_lines), (new, new_lines)) = (read(old), read(new));
    let unlike = |one: &ContentSignal, other: &ContentSignal, lines: &[u32]| -> Vec<ValueAt> {
        let pairs = one.unlike(other);
        pairs
            .map(|(key, value, from)| ValueAt {
                value: format!("{key}={value}"),
                line: lines[from as usize],
            })
            .collect()
    };
    let (removed, added) = (unlike(&old, &new, &old_lines), unlike(&new, &old, &new_lines));
    let is_changed = !removed.is_empty() || !added.is_empty();
    is_changed.then_some(PartChange {
        directive: CONTENT_SIGNAL.name.into(),
        removed,
        added,
        reordered: false,
    })
}

/// The values that only one side has, each once.
fn only_in(
    robots: &RobotsTxt<'_>,
    values: &[Understood<'_>],
    others: &[Understood<'_>],
) -> Vec<ValueAt> {
    let others: HashSet<&[u8]> = others.iter().map(meaning_of).collect();
    let mut said = HashSet::new();
    let mut counter = LineCounter::new(robots.text());
    let mut only = Vec::new();
    for value in values {
        let meaning = meaning_of(value);
        if !others.contains(meaning) && said.insert(meaning) {
            let (_, record) = value;
            only.push(ValueAt {
                value: String::from_utf8_lossy(robots.value(*record)).into_owned(),
                line: counter.line_at(record.start()).number(),
            });
        }
    }
    only
}

/// What changed between two lists of values.
fn changed(
    directive: &'static Directive,
    (old_robots, old): (&RobotsTxt<'_>, Vec<Understood<'_>>),
    (new_robots, new): (&RobotsTxt<'_>, Vec<Understood<'_>>),
    in_order: bool,
) -> Option<PartChange> {
    if old.iter().map(meaning_of).eq(new.iter().map(meaning_of)) {
        return None;
    }
    let (removed, added) = (only_in(old_robots, &old, &new), only_in(new_robots, &new, &old));
    let reordered = removed.is_empty() && added.is_empty();
    if reordered && !in_order {
        return None;
    }
    Some(PartChange { directive: directive.name.into(), removed, added, reordered })
}

//! Records in common use that no draft defines, as the decision reports them (WILD-1).
//!
//! None of them changes access. Content-Signal and the two AI training rules are also about uses;
//! `uses` collects what they say.

use indexmap::IndexMap;

use crate::crawler::Crawler;
use crate::directive::{ALLOW_AI_TRAINING, CONTENT_SIGNAL, DIRECTIVES, DISALLOW_AI_TRAINING, Role};
use crate::forms::Forms;
use crate::pattern::PathPattern;
use crate::preference::Preference;
use crate::robots_txt::{Record, RobotsTxt};
use crate::selection::{Selection, select};
use crate::span::{LineCounter, LineNumber};

/// What a file says to a crawler besides rules and statements.
///
/// ```
/// use mayi::{Crawler, RobotsTxt};
///
/// let robots = RobotsTxt::parse(b"User-agent: *\nRequest-rate: 1/10s\nHost: www.example.com\n");
/// let records = robots.other_records(&Crawler::new("ExampleBot")?);
/// assert_eq!(records.listed("request_rate"), [b"1/10s"]);
/// assert_eq!(records.listed("host"), [b"www.example.com"]);
/// # Ok::<(), mayi::InvalidProductToken>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherRecords<'r> {
    listed: Vec<(&'static str, Vec<&'r [u8]>)>,
    content_signal: ContentSignal,
}

impl<'r> OtherRecords<'r> {
    /// The values of a kind of record, as written; kinds are called as reports call them.
    pub fn listed(&self, kind: &str) -> &[&'r [u8]] {
        let found = self.listed.iter().find(|(known, _)| *known == kind);
        found.map(|(_, values)| &**values).unwrap_or_default()
    }

    /// Every kind of record that there is, with its values.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, &[&'r [u8]])> {
        self.listed.iter().map(|(kind, values)| (*kind, &**values))
    }

    /// What Content-Signal says to the crawler.
    pub fn content_signal(&self) -> &ContentSignal {
        &self.content_signal
    }
}

impl RobotsTxt<'_> {
    /// The records in use that hold for a crawler: those of its groups, and those of the file.
    pub fn other_records(&self, crawler: &Crawler) -> OtherRecords<'_> {
        self.other_records_of(select(self, crawler, &mut ()).as_ref())
    }

    /// The same, where the groups are known already.
    pub(crate) fn other_records_of(&self, selection: Option<&Selection>) -> OtherRecords<'_> {
        // Most files have none of these, and one look at each record tells so.
        let of_file = self.records().iter().copied();
        let of_file = of_file.filter(|record| record.role() == Role::FileRecord);
        let of_groups = selection.iter().flat_map(|selection| selection.records(self));
        let of_groups = of_groups.filter(|record| record.role() != Role::FileRecord);
        let is_listed = |record: &Record| record.directive().listed_as.is_some();
        let records: Vec<Record> = of_file.chain(of_groups).filter(is_listed).collect();
        let mut listed = Vec::new();
        for &directive in DIRECTIVES.iter().filter(|_| !records.is_empty()) {
            let Some(kind) = directive.listed_as else { continue };
            let values: Vec<&[u8]> = self.values_of(directive, records.iter().copied()).collect();
            if !values.is_empty() {
                listed.push((kind, values));
            }
        }
        let signals = content_signals(self, selection).map(|(_, signal)| signal);
        let content_signal = signals.reduce(|all, signal| all.combined(&signal)).unwrap_or_default();
        OtherRecords { listed, content_signal }
    }
}

/// What Content-Signal says: its keys with their values, both in lower case.
///
/// ```
/// use mayi::{ContentSignal, Preference};
///
/// let signal = ContentSignal::parse(b"search=yes, AI-Train=no, use=reference");
/// assert_eq!(signal.preference("ai-train"), Preference::Disallowed);
/// assert_eq!(signal.preference("ai-input"), Preference::Unknown);
/// assert_eq!(signal.value("use"), Some("reference"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentSignal {
    values: IndexMap<String, String>,
}

impl ContentSignal {
    /// Reads a value: `key=value`, separated by commas. What is neither is skipped.
    pub fn parse(octets: &[u8]) -> Self {
        let text = String::from_utf8_lossy(octets).to_ascii_lowercase();
        let mut signal = Self::default();
        for pair in text.split(',') {
            if let Some((key, value)) = pair.split_once('=')
                && !key.trim().is_empty()
            {
                signal.set(key.trim(), value.trim());
            }
        }
        signal
    }

    /// All keys with their values.
    #[cfg(feature = "report")]
    pub(crate) fn into_values(self) -> impl Iterator<Item = (String, String)> {
        self.values.into_iter()
    }

    /// What was read before: keys with their values.
    #[cfg(feature = "report")]
    pub(crate) fn of_values(values: Vec<(String, String)>) -> Self {
        Self { values: values.into_iter().collect() }
    }

    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// All keys with their values.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// What the value of a key means: `yes` and `no` say so.
    pub fn preference(&self, key: &str) -> Preference {
        match self.value(key) {
            Some("yes") => Preference::Allowed,
            Some("no") => Preference::Disallowed,
            _ => Preference::Unknown,
        }
    }

    /// Both together: of two values of a key, `no` stays, and otherwise the later one.
    #[must_use]
    pub fn combined(mut self, other: &Self) -> Self {
        for (key, value) in other.values() {
            self.set(key, value);
        }
        self
    }

    fn set(&mut self, key: &str, value: &str) {
        let known = self.values.entry(key.to_owned()).or_default();
        if known != "no" {
            value.clone_into(known);
        }
    }
}

/// The Content-Signal lines that apply to a crawler: those before every group, and those of its
/// groups. A file can have very many, so each is read when it is asked for.
pub(crate) fn content_signals(
    robots: &RobotsTxt<'_>,
    selection: Option<&Selection>,
) -> impl Iterator<Item = (LineNumber, ContentSignal)> {
    let of_groups = selection.into_iter().flat_map(|selection| selection.records(robots));
    let records = robots.records_before_groups().chain(of_groups);
    let mut counter = LineCounter::new(robots.text());
    records.filter(|record| record.is(&CONTENT_SIGNAL)).map(move |record| {
        (counter.line_at(record.start()), ContentSignal::parse(robots.value(record)))
    })
}

/// What the AI training rules of a crawler's groups say about a target: the longest pattern that
/// matches, and allow at equal length.
pub(crate) fn ai_training(
    robots: &RobotsTxt<'_>,
    selection: &Selection,
    forms: &Forms<'_>,
) -> Option<(LineNumber, Preference)> {
    let mut best: Option<(usize, bool, Record)> = None;
    for record in selection.records(robots) {
        let allows = record.is(&ALLOW_AI_TRAINING);
        if !allows && !record.is(&DISALLOW_AI_TRAINING) {
            continue;
        }
        let pattern = PathPattern::read(robots.value(record), robots.dialect().comparison);
        if !pattern.matches_one_of(forms) {
            continue;
        }
        let rank = (pattern.octets(), allows);
        if best.is_none_or(|(octets, allowed, _)| rank > (octets, allowed)) {
            best = Some((pattern.octets(), allows, record));
        }
    }
    best.map(|(_, allows, record)| (robots.line_of(record), Preference::of(allows)))
}

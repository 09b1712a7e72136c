//! Records in common use that no draft defines, as the decision reports them (WILD-1).
//!
//! None of them changes access. Content-Signal and the two AI training rules are also about uses;
//! `uses` collects what they say.

use crate::crawler::Crawler;
use crate::directive::{ALLOW_AI_TRAINING, CONTENT_SIGNAL, DIRECTIVES, DISALLOW_AI_TRAINING, Role};
use crate::forms::Forms;
use crate::pattern::PathPattern;
use crate::preference::Preference;
use crate::robots_txt::{Record, RobotsTxt};
use crate::selection::{Selection, select};
use crate::span::{LineCounter, LineNumber, Span};

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
    pub(crate) content_signal: ContentSignal,
}

impl<'r> OtherRecords<'r> {
    /// The values of a kind of record, as written. The names of kinds are those of reports.
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
    /// The records that apply to a crawler: those of its groups, and those of the file.
    pub fn other_records(&self, crawler: &Crawler) -> OtherRecords<'_> {
        self.other_records_of(select(self, crawler, &mut ()).as_ref())
    }

    /// The same, where the groups are known already.
    pub(crate) fn other_records_of(&self, selection: Option<&Selection>) -> OtherRecords<'_> {
        let of_file = self.non_rules().all(self).filter(|record| record.role() == Role::FileRecord);
        let of_groups = selection.iter().flat_map(|selection| selection.non_rules(self));
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
        let signals = content_signals(self, selection).map(|(_, value)| value);
        let content_signal = ContentSignal::read(signals);
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
#[derive(Clone, Debug, Default)]
pub struct ContentSignal {
    /// Every key and value, one after the other: a line can have tens of thousands, and a text for each would take many
    /// times the memory of the line.
    text: String,
    /// Each key once, with the value that counts, in the order in which they were read.
    pairs: Vec<Pair>,
    /// The places of the pairs in the order of their keys.
    by_key: Vec<u32>,
}

/// A key and its value, as places in the text.
#[derive(Clone, Copy, Debug)]
struct Pair {
    key: Span,
    value: Span,
    /// Which of the values that were read has it, counted from 0.
    from: u32,
}

impl ContentSignal {
    /// Reads a value: `key=value`, separated by commas. Everything else is skipped.
    pub fn parse(octets: &[u8]) -> Self {
        Self::read([octets])
    }

    /// Reads values and combines them.
    pub(crate) fn read<'v>(values: impl IntoIterator<Item = &'v [u8]>) -> Self {
        let mut signal = Self::default();
        for (from, octets) in (0..).zip(values) {
            for pair in String::from_utf8_lossy(octets).split(',') {
                if let Some((key, value)) = pair.split_once('=')
                    && !key.trim().is_empty()
                {
                    signal.push(key.trim(), value.trim(), from);
                }
            }
        }
        signal.text.make_ascii_lowercase();
        signal.settled()
    }

    /// What was read before: keys with their values.
    #[cfg(feature = "report")]
    pub(crate) fn of_values(values: Vec<(String, String)>) -> Self {
        let mut signal = Self::default();
        for (key, value) in values {
            signal.push(&key, &value, 0);
        }
        signal.settled()
    }

    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<&str> {
        let key_at = |place: &u32| self.text_of(self.pairs[*place as usize].key);
        let found = self.by_key.binary_search_by(|place| key_at(place).cmp(key)).ok()?;
        Some(self.text_of(self.pairs[self.by_key[found] as usize].value))
    }

    /// All keys with their values.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|pair| (self.text_of(pair.key), self.text_of(pair.value)))
    }

    /// The keys that have another value in the other one, or none: each with its value, and with the number of the
    /// value that it was read from.
    #[cfg(feature = "report")]
    pub(crate) fn unlike<'s>(
        &'s self,
        other: &'s Self,
    ) -> impl Iterator<Item = (&'s str, &'s str, u32)> {
        let from = self.pairs.iter().map(|pair| pair.from);
        let all = self.values().zip(from).map(|((key, value), from)| (key, value, from));
        all.filter(|(key, value, _)| other.value(key) != Some(value))
    }

    /// What the value of a key means: `yes` is allowed, `no` is disallowed.
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
        let first = self.pairs.iter().map(|pair| pair.from + 1).max().unwrap_or(0);
        for (pair, (key, value)) in other.pairs.iter().zip(other.values()) {
            self.push(key, value, first + pair.from);
        }
        self.settled()
    }

    fn text_of(&self, span: Span) -> &str {
        &self.text[span.range()]
    }

    /// Adds a pair after the others. Text of more than 4 GiB is not kept.
    fn push(&mut self, key: &str, value: &str, from: u32) {
        let place = |octets: usize| u32::try_from(octets).ok();
        let start = self.text.len();
        let (Some(start), Some(middle), Some(end)) =
            (place(start), place(start + key.len()), place(start + key.len() + value.len()))
        else {
            return;
        };
        self.text += key;
        self.text += value;
        let (key, value) = (Span { start, end: middle }, Span { start: middle, end });
        self.pairs.push(Pair { key, value, from });
    }

    /// The same with each key once: of two values, `no` stays, and otherwise the later one.
    fn settled(mut self) -> Self {
        let (text, pairs) = (&self.text, &mut self.pairs);
        let mut by_key: Vec<u32> = (0..).take(pairs.len()).collect();
        by_key.sort_unstable_by_key(|place| (&text[pairs[*place as usize].key.range()], *place));
        by_key.dedup_by(|later, first| {
            let (later, first) = (pairs[*later as usize], &mut pairs[*first as usize]);
            let is_same = text[later.key.range()] == text[first.key.range()];
            if is_same && (&text[first.value.range()] != "no" || &text[later.value.range()] == "no") {
                (first.value, first.from) = (later.value, later.from);
            }
            is_same
        });
        if by_key.len() < pairs.len() {
            let mut kept = by_key.clone();
            kept.sort_unstable();
            self.pairs = kept.iter().map(|place| pairs[*place as usize]).collect();
            for place in &mut by_key {
                *place = kept.partition_point(|kept| kept < place) as u32;
            }
        }
        Self { by_key, ..self }
    }
}

/// The order of keys does not count.
impl PartialEq for ContentSignal {
    fn eq(&self, other: &Self) -> bool {
        self.pairs.len() == other.pairs.len()
            && self.values().all(|(key, value)| other.value(key) == Some(value))
    }
}

impl Eq for ContentSignal {}

/// The Content-Signal lines that apply to a crawler: those before every group, and those of its
/// groups, as written.
pub(crate) fn content_signals<'r>(
    robots: &'r RobotsTxt<'_>,
    selection: Option<&Selection>,
) -> impl Iterator<Item = (LineNumber, &'r [u8])> {
    let of_groups = selection.into_iter().flat_map(|selection| selection.non_rules(robots));
    let records = robots.non_rules().before_groups(robots).chain(of_groups);
    let mut counter = LineCounter::new(robots.text());
    let records = records.filter(|record| record.is(&CONTENT_SIGNAL));
    records.map(move |record| (counter.line_at(record.start()), robots.value(record)))
}

/// What the AI training rules of a crawler's groups say about a target: the longest pattern that
/// matches, and allow at equal length.
pub(crate) fn ai_training(
    robots: &RobotsTxt<'_>,
    selection: &Selection,
    forms: &Forms<'_>,
) -> Option<(LineNumber, Preference)> {
    let mut best: Option<(usize, bool, Record)> = None;
    for record in selection.non_rules(robots) {
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

//! Figures that can be added up in any order and from any parts: what workers count, and what a report is
//! made from.
//!
//! Memory is bounded: what grows with the log is a [`Bounded`] map or a [`Sketch`]; what grows with the
//! robots.txt files is not bounded further.

use std::collections::BTreeMap;

use crate::bounded::{Bounded, Map, Sum};
use crate::format::Unreadable;
use crate::identity::Identity;
use crate::octets::stable_hash;
use crate::sketch::Sketch;

/// How many crawlers that are not in the registry are counted separately.
pub(crate) const MOST_OTHERS: usize = 2048;
/// How many refused paths are.
pub(crate) const MOST_PATHS: usize = 8192;
/// How many addresses are.
pub(crate) const MOST_ADDRESSES: usize = 8192;
/// How many days are, for one crawler.
pub(crate) const MOST_DAYS: usize = 1024;
/// How many hosts are.
pub(crate) const MOST_HOSTS: usize = 4096;
/// How many octets of a path or of a line are kept.
pub(crate) const MOST_OCTETS: usize = 300;

/// A figure for each [`Identity`].
pub(crate) type Split = [u64; 3];

/// What was counted.
#[derive(Clone, Debug)]
pub struct AuditTally {
    pub(crate) lines: Lines,
    /// By their place in the registry.
    pub(crate) known: Vec<Option<Box<CrawlerTally>>>,
    /// By product token, in lower case.
    pub(crate) others: Bounded<Box<[u8]>, Box<CrawlerTally>>,
    pub(crate) browsers: Plain,
    pub(crate) nameless: Plain,
    /// The refused requests of crawlers, by path.
    pub(crate) paths: Bounded<Box<[u8]>, PathTally>,
    /// Those of crawlers that are not verified, by crawler and address.
    pub(crate) addresses: Bounded<Box<[u8]>, AddressTally>,
    pub(crate) hosts: Bounded<Box<[u8]>, HostTally>,
    /// Requests that the rules of the proposed file would decide, by line.
    pub(crate) proposed_rules: BTreeMap<u32, Split>,
    /// Requests that nothing was decided about because it would cost too much, now and by the proposed file.
    pub(crate) too_costly: u64,
    pub(crate) proposed_too_costly: u64,
    pub(crate) first: Option<i64>,
    pub(crate) last: Option<i64>,
}

/// What became of the lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    pub(crate) read: u64,
    pub(crate) left_out: u64,
    pub(crate) unreadable: BTreeMap<Unreadable, (u64, Place, Box<[u8]>)>,
}

/// The position of a line: the number of its log, and of the line in it.
pub(crate) type Place = (u32, u64);

/// Requests of clients that robots.txt is not for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plain {
    pub(crate) requests: u64,
    pub(crate) robots_txt: u64,
}

/// The figures of one crawler.
#[derive(Clone, Debug)]
pub(crate) struct CrawlerTally {
    /// Its product token as it was first written; of two, the one that sorts first.
    pub(crate) name: Box<str>,
    pub(crate) figures: [FigureTally; 3],
    pub(crate) rules: Map<RuleKey, RuleTally>,
    pub(crate) days: Bounded<i32, DayTally>,
    /// Of requests for robots.txt.
    pub(crate) statuses: BTreeMap<u16, Split>,
    pub(crate) addresses: [Sketch; 3],
    pub(crate) seen: [Seen; 3],
    pub(crate) proposed: ProposedTally,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FigureTally {
    pub(crate) requests: u64,
    pub(crate) allowed: u64,
    pub(crate) refused: u64,
    pub(crate) excused: u64,
    pub(crate) undecided: u64,
    pub(crate) robots_txt: u64,
}

/// A rule: the number of its file, and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RuleKey {
    pub(crate) file: u32,
    pub(crate) line: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct RuleTally {
    pub(crate) requests: Split,
    pub(crate) excused: Split,
    pub(crate) example: Example,
}

/// One of the paths: always the same one, whatever their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Example(pub(crate) Option<(u64, Box<[u8]>)>);

#[derive(Clone, Debug, Default)]
pub(crate) struct DayTally {
    pub(crate) allowed: Split,
    pub(crate) refused: Split,
    pub(crate) others: Split,
}

/// When a crawler came, and when it asked for robots.txt.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) first: Option<i64>,
    pub(crate) last: Option<i64>,
    pub(crate) first_robots_txt: Option<i64>,
    pub(crate) first_other: Option<i64>,
}

/// The same requests under the proposed file.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProposedTally {
    pub(crate) allowed: Split,
    pub(crate) refused: Split,
    pub(crate) newly_refused: Split,
    pub(crate) newly_allowed: Split,
    pub(crate) changes: Map<ChangeKey, ChangeTally>,
}

/// What decided before, what would decide, and whether the request would be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ChangeKey {
    pub(crate) is_refused: bool,
    pub(crate) now: Option<RuleKey>,
    pub(crate) then: Option<u32>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ChangeTally {
    pub(crate) requests: Split,
    pub(crate) example: Example,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct PathTally(pub(crate) Split);

#[derive(Clone, Debug, Default)]
pub(crate) struct AddressTally {
    pub(crate) requests: Split,
    pub(crate) refused: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct HostTally {
    pub(crate) allowed: Split,
    pub(crate) refused: Split,
    pub(crate) excused: Split,
    pub(crate) undecided: Split,
}

impl AuditTally {
    /// Nothing counted yet, for a registry of so many crawlers.
    pub(crate) fn new(known: usize) -> Self {
        Self {
            lines: Lines::default(),
            known: vec![None; known],
            others: Bounded::new(MOST_OTHERS),
            browsers: Plain::default(),
            nameless: Plain::default(),
            paths: Bounded::new(MOST_PATHS),
            addresses: Bounded::new(MOST_ADDRESSES),
            hosts: Bounded::new(MOST_HOSTS),
            proposed_rules: BTreeMap::new(),
            too_costly: 0,
            proposed_too_costly: 0,
            first: None,
            last: None,
        }
    }

    /// Adds what another worker has counted, in the same audit.
    pub fn merge(&mut self, other: &Self) {
        self.lines.merge(&other.lines);
        for (ours, theirs) in self.known.iter_mut().zip(&other.known) {
            match (ours, theirs) {
                (_, None) => {}
                (Some(ours), Some(theirs)) => ours.add(theirs),
                (ours @ None, Some(theirs)) => *ours = Some(theirs.clone()),
            }
        }
        self.others.merge(&other.others);
        self.browsers.add(other.browsers);
        self.nameless.add(other.nameless);
        self.paths.merge(&other.paths);
        self.addresses.merge(&other.addresses);
        self.hosts.merge(&other.hosts);
        for (line, requests) in &other.proposed_rules {
            add(self.proposed_rules.entry(*line).or_default(), requests);
        }
        self.too_costly += other.too_costly;
        self.proposed_too_costly += other.proposed_too_costly;
        self.first = earliest(self.first, other.first);
        self.last = self.last.max(other.last);
    }

    /// How many lines were read, and how many could not be.
    pub fn line_counts(&self) -> (u64, u64) {
        (self.lines.read, self.lines.unreadable.values().map(|(count, ..)| count).sum())
    }
}

impl Lines {
    pub(crate) fn unreadable(&mut self, kind: Unreadable, place: Place, line: &[u8]) {
        let cut = &line[..line.len().min(MOST_OCTETS)];
        match self.unreadable.get_mut(&kind) {
            Some((count, first, example)) => {
                *count += 1;
                if place < *first {
                    (*first, *example) = (place, cut.into());
                }
            }
            None => {
                self.unreadable.insert(kind, (1, place, cut.into()));
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        self.read += other.read;
        self.left_out += other.left_out;
        for (kind, (count, place, example)) in &other.unreadable {
            self.unreadable(*kind, *place, example);
            if let Some((total, ..)) = self.unreadable.get_mut(kind) {
                *total += count - 1;
            }
        }
    }
}

impl Plain {
    fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.robots_txt += other.robots_txt;
    }
}

impl Default for CrawlerTally {
    fn default() -> Self {
        Self {
            name: Box::default(),
            figures: Default::default(),
            rules: Map::default(),
            days: Bounded::new(MOST_DAYS),
            statuses: BTreeMap::new(),
            addresses: Default::default(),
            seen: Default::default(),
            proposed: ProposedTally::default(),
        }
    }
}

impl CrawlerTally {
    /// Records how the crawler writes its name.
    pub(crate) fn name(&mut self, name: &str) {
        if self.name.is_empty() || *name < *self.name {
            self.name = name.into();
        }
    }
}

impl Sum for Box<CrawlerTally> {
    fn add(&mut self, other: &Self) {
        if !other.name.is_empty() {
            self.name(&other.name);
        }
        for (ours, theirs) in self.figures.iter_mut().zip(&other.figures) {
            ours.add(theirs);
        }
        for (key, theirs) in &other.rules {
            let ours = self.rules.entry(*key).or_default();
            add(&mut ours.requests, &theirs.requests);
            add(&mut ours.excused, &theirs.excused);
            ours.example.merge(&theirs.example);
        }
        self.days.merge(&other.days);
        for (status, requests) in &other.statuses {
            add(self.statuses.entry(*status).or_default(), requests);
        }
        for (ours, theirs) in self.addresses.iter_mut().zip(&other.addresses) {
            ours.merge(theirs);
        }
        for (ours, theirs) in self.seen.iter_mut().zip(&other.seen) {
            ours.first = earliest(ours.first, theirs.first);
            ours.last = ours.last.max(theirs.last);
            ours.first_robots_txt = earliest(ours.first_robots_txt, theirs.first_robots_txt);
            ours.first_other = earliest(ours.first_other, theirs.first_other);
        }
        self.proposed.add(&other.proposed);
    }

    fn requests(&self) -> u64 {
        self.figures.iter().map(|figures| figures.requests).sum()
    }
}

impl FigureTally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.allowed += other.allowed;
        self.refused += other.refused;
        self.excused += other.excused;
        self.undecided += other.undecided;
        self.robots_txt += other.robots_txt;
    }
}

impl ProposedTally {
    fn add(&mut self, other: &Self) {
        add(&mut self.allowed, &other.allowed);
        add(&mut self.refused, &other.refused);
        add(&mut self.newly_refused, &other.newly_refused);
        add(&mut self.newly_allowed, &other.newly_allowed);
        for (key, theirs) in &other.changes {
            let ours = self.changes.entry(*key).or_default();
            add(&mut ours.requests, &theirs.requests);
            ours.example.merge(&theirs.example);
        }
    }
}

impl Example {
    /// Offers a path.
    pub(crate) fn offer(&mut self, path: &[u8]) {
        let path = &path[..path.len().min(MOST_OCTETS)];
        let hash = stable_hash(path);
        // Of equal hashes the lesser text counts, so that the order never does.
        let is_better = match &self.0 {
            Some((known, kept)) => (hash, path) < (*known, &**kept),
            None => true,
        };
        if is_better {
            self.0 = Some((hash, path.into()));
        }
    }

    fn merge(&mut self, other: &Self) {
        if let Some((_, path)) = &other.0 {
            self.offer(path);
        }
    }

    pub(crate) fn text(&self) -> Option<String> {
        self.0.as_ref().map(|(_, path)| String::from_utf8_lossy(path).into_owned())
    }
}

impl Sum for DayTally {
    fn add(&mut self, other: &Self) {
        add(&mut self.allowed, &other.allowed);
        add(&mut self.refused, &other.refused);
        add(&mut self.others, &other.others);
    }

    fn requests(&self) -> u64 {
        [self.allowed, self.refused, self.others].iter().flatten().sum()
    }
}

impl Sum for PathTally {
    fn add(&mut self, other: &Self) {
        add(&mut self.0, &other.0);
    }

    fn requests(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl Sum for AddressTally {
    fn add(&mut self, other: &Self) {
        add(&mut self.requests, &other.requests);
        self.refused += other.refused;
    }

    fn requests(&self) -> u64 {
        self.requests.iter().sum()
    }
}

impl Sum for HostTally {
    fn add(&mut self, other: &Self) {
        add(&mut self.allowed, &other.allowed);
        add(&mut self.refused, &other.refused);
        add(&mut self.excused, &other.excused);
        add(&mut self.undecided, &other.undecided);
    }

    fn requests(&self) -> u64 {
        [self.allowed, self.refused, self.excused, self.undecided].iter().flatten().sum()
    }
}

impl Seen {
    pub(crate) fn note(&mut self, time: i64, is_robots_txt: bool) {
        self.first = earliest(self.first, Some(time));
        self.last = self.last.max(Some(time));
        let first = if is_robots_txt { &mut self.first_robots_txt } else { &mut self.first_other };
        *first = earliest(*first, Some(time));
    }
}

/// The place of an identity in a [`Split`].
pub(crate) fn place_of(identity: Identity) -> usize {
    identity as usize
}

fn add(ours: &mut Split, theirs: &Split) {
    for (our, their) in ours.iter_mut().zip(theirs) {
        *our += their;
    }
}

fn earliest(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

//! What JSON, text, CSV and HTML all show: one shape, in one order.
//!
//! The members and what they count are documented in `docs/audit.md`, and stay as they are; new ones may
//! be added. `requests` of a crawler is `allowed` and `refused` and `excused` and `undecided` together, and
//! it is `verified` and `unverified` and `contradicted` together. The figures of crawlers are also given for
//! each of these three, because contradicted requests say nothing about the crawler.

use std::borrow::Cow;
use std::collections::BTreeMap;

use mayi::RuleKind;
use mayi::registry::AgentKind;
use serde::{Deserialize, Serialize};

use crate::format::Unreadable;
use crate::identity::Identity;

/// The report of an audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuditReport {
    /// The version of this shape.
    pub version: u32,
    /// What became of the lines.
    pub lines: LineReport,
    /// The first and the last request that was looked at.
    pub period: Option<Period>,
    /// Who asked, other than browsers: most requests first.
    pub crawlers: Vec<CrawlerReport>,
    /// Who says it is a browser.
    pub browsers: PlainReport,
    /// Who says nothing.
    pub nameless: PlainReport,
    /// The rules that decided: most requests first.
    pub rules: Vec<RuleReport>,
    /// The rules that decided about no request.
    pub unmet_rules: Vec<RuleReport>,
    /// The paths that were refused, without their queries: most requests first.
    pub paths: Vec<PathReport>,
    /// The addresses of crawlers that are contradicted, and of unverified ones that were refused.
    pub addresses: Vec<AddressReport>,
    /// The hosts, where each has its own file.
    pub hosts: Vec<HostReport>,
    /// The same traffic under another file.
    pub proposal: Option<ProposalReport>,
    /// What is an estimate, and what was left out.
    pub bounds: Bounds,
}

/// What became of the lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LineReport {
    /// Lines that are requests.
    pub read: u64,
    /// Lines that can't be read.
    pub unreadable: u64,
    /// Of those that were read, those outside the period or not of the crawlers that were asked about.
    pub left_out: u64,
    /// What was wrong with those that can't be read.
    pub problems: Vec<UnreadableReport>,
}

/// What was wrong with some lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UnreadableReport {
    /// What it was.
    pub problem: Unreadable,
    /// The same in a sentence.
    pub message: Cow<'static, str>,
    /// How many lines.
    pub lines: u64,
    /// The log of the first of them.
    pub log: String,
    /// Its line there.
    pub line: u64,
    /// How it starts.
    pub text: String,
}

/// From when to when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Period {
    /// The first request.
    pub first: String,
    /// The last one.
    pub last: String,
}

/// Requests of clients that robots.txt is not for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlainReport {
    /// All of them.
    pub requests: u64,
    /// Those for robots.txt.
    pub robots_txt_requests: u64,
}

/// What became of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Figures {
    /// All of them.
    pub requests: u64,
    /// Those that the file allowed, those for robots.txt among them (REP-10).
    pub allowed: u64,
    /// Those that the file refused.
    pub refused: u64,
    /// Those that it refused within 24 hours of a change, where an older file allowed them (REP-23).
    pub excused: u64,
    /// Those for no path (`*`, `CONNECT`), without a known file, or of which [`Bounds::too_costly`] says that they were
    /// left out.
    pub undecided: u64,
    /// Those for robots.txt.
    pub robots_txt_requests: u64,
}

/// One crawler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CrawlerReport {
    /// Its product token.
    pub crawler: String,
    /// Whether the registry has it.
    pub known: bool,
    /// Who runs it.
    pub operator: Option<String>,
    /// What it is for.
    pub kind: Option<AgentKind>,
    /// All of its requests.
    pub requests: u64,
    /// Those that were allowed.
    pub allowed: u64,
    /// Those that were refused.
    pub refused: u64,
    /// Those that were refused within 24 hours of a change.
    pub excused: u64,
    /// Those that nothing was decided about.
    pub undecided: u64,
    /// Those for robots.txt.
    pub robots_txt_requests: u64,
    /// Those from addresses of its operator.
    pub verified: u64,
    /// Those from addresses about which nothing is known.
    pub unverified: u64,
    /// Those from addresses that are not its operator's.
    pub contradicted: u64,
    /// The figures of each identity.
    pub identities: BTreeMap<Identity, IdentityReport>,
    /// Requests by status, of those for robots.txt; `identities` has them for each identity.
    pub robots_txt_statuses: BTreeMap<u16, u64>,
    /// Requests by day (UTC).
    pub days: Vec<DayReport>,
}

/// The figures of the requests of one identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct IdentityReport {
    /// What became of them.
    #[serde(flatten)]
    pub figures: Figures,
    /// Requests by status, of those for robots.txt.
    pub robots_txt_statuses: BTreeMap<u16, u64>,
    /// From how many addresses they came.
    pub addresses: u64,
    /// Whether its first request was for robots.txt.
    pub asked_for_robots_txt: AskedForRobotsTxt,
    /// Its first request.
    pub first: Option<String>,
    /// Its last one.
    pub last: Option<String>,
}

/// When robots.txt was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AskedForRobotsTxt {
    /// It was not.
    Never,
    /// Before anything else.
    Before,
    /// After something else.
    After,
}

impl AskedForRobotsTxt {
    /// As reports have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// One day of a crawler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DayReport {
    /// The day, in UTC.
    pub day: String,
    /// All requests.
    pub requests: u64,
    /// Those that were allowed.
    pub allowed: u64,
    /// Those that were refused.
    pub refused: u64,
    /// Of all, those that are verified.
    pub verified: u64,
    /// Unverified.
    pub unverified: u64,
    /// Contradicted.
    pub contradicted: u64,
    /// The figures of each identity.
    pub identities: BTreeMap<Identity, PartReport>,
}

/// The requests of one identity on a day, or of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PartReport {
    /// All of them.
    pub requests: u64,
    /// Those that were allowed.
    pub allowed: u64,
    /// Those that were refused.
    pub refused: u64,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RuleReport {
    /// Its file.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// The text of the line.
    pub text: String,
    /// What it says.
    pub kind: RuleKind,
    /// The requests that it decided about: for `disallow`, those that were refused by it.
    pub requests: u64,
    /// Of them, those that are verified.
    pub verified: u64,
    /// Unverified.
    pub unverified: u64,
    /// Contradicted.
    pub contradicted: u64,
    /// Requests that it refused within 24 hours of a change; they are not among the others.
    pub excused: u64,
    /// The crawlers that it decided about, most requests first.
    pub crawlers: Vec<String>,
    /// One of the paths.
    pub example: Option<String>,
}

/// One path that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PathReport {
    /// The path, without its query.
    pub path: String,
    /// The refused requests for it.
    pub requests: u64,
    /// Of them, those that are verified.
    pub verified: u64,
    /// Unverified.
    pub unverified: u64,
    /// Contradicted.
    pub contradicted: u64,
}

/// One address, or one range where addresses are shortened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AddressReport {
    /// Who it says it is.
    pub crawler: String,
    /// The address.
    pub address: String,
    /// Its requests that are contradicted, or unverified and refused.
    pub requests: u64,
    /// Of them, those that were refused.
    pub refused: u64,
    /// Unverified.
    pub unverified: u64,
    /// Contradicted.
    pub contradicted: u64,
}

/// One host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HostReport {
    /// Its name; empty for requests without one.
    pub host: String,
    /// The requests of crawlers.
    pub requests: u64,
    /// Those that were allowed.
    pub allowed: u64,
    /// Those that were refused.
    pub refused: u64,
    /// Those that were refused within 24 hours of a change.
    pub excused: u64,
    /// Those that nothing was decided about.
    pub undecided: u64,
    /// The figures of each identity.
    pub identities: BTreeMap<Identity, PartReport>,
}

/// The same traffic under another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProposalReport {
    /// The file.
    pub file: String,
    /// What it would mean for each crawler.
    pub crawlers: Vec<ProposedCrawler>,
    /// Its rules that would decide, most requests first.
    pub rules: Vec<RuleReport>,
    /// Its rules that would decide about no request.
    pub unmet_rules: Vec<RuleReport>,
    /// How many more of these there are.
    pub unmet_rules_left_out: u64,
    /// Requests that it was not asked about, as [`Bounds::too_costly`].
    #[serde(default)]
    pub too_costly: u64,
}

/// What another file would mean for one crawler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProposedCrawler {
    /// Its product token.
    pub crawler: String,
    /// Requests that would be allowed.
    pub allowed: u64,
    /// Requests that would be refused.
    pub refused: u64,
    /// Requests that are allowed and would be refused.
    pub newly_refused: u64,
    /// Requests that are refused and would be allowed.
    pub newly_allowed: u64,
    /// The same figures for each identity.
    pub identities: BTreeMap<Identity, ProposedPart>,
    /// What changes, most requests first.
    pub changes: Vec<ProposedChange>,
}

/// What another file would mean for the requests of one identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProposedPart {
    /// Requests that would be allowed.
    pub allowed: u64,
    /// Requests that would be refused.
    pub refused: u64,
    /// Requests that are allowed and would be refused.
    pub newly_refused: u64,
    /// Requests that are refused and would be allowed.
    pub newly_allowed: u64,
}

/// Requests whose decision changes for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProposedChange {
    /// What they become.
    pub becomes: Becomes,
    /// The rule that decides now; null where none does.
    pub now: Option<String>,
    /// The line of the proposed file that would decide; null where no rule would.
    pub line: Option<u32>,
    /// The text of that line.
    pub text: Option<String>,
    /// How many requests.
    pub requests: u64,
    /// Of them, those that are verified.
    pub verified: u64,
    /// Unverified.
    pub unverified: u64,
    /// Contradicted.
    pub contradicted: u64,
    /// One of the paths.
    pub example: Option<String>,
}

/// What requests become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Becomes {
    /// They would be allowed.
    Allowed,
    /// They would be refused.
    Refused,
}

impl Becomes {
    /// As reports have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Refused => "refused",
        }
    }
}

/// What is an estimate, and what was left out because there was too much of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Bounds {
    /// Whether a number of addresses is an estimate, about 3 % off.
    pub addresses_are_estimates: bool,
    /// Requests of crawlers that are not listed, because there are too many names.
    pub crawlers_left_out: u64,
    /// Refused requests whose paths are not among those that are listed from.
    pub paths_left_out: u64,
    /// Requests whose addresses are not among those that are listed from.
    pub addresses_left_out: u64,
    /// Requests whose days are not listed.
    pub days_left_out: u64,
    /// Rules that decided about no request and are not listed.
    pub unmet_rules_left_out: u64,
    /// Undecided requests of crawlers for which it would take too long to find out which groups of a file are for them:
    /// the file does not name them, and has many regular expressions (AIA-2), or it is read in a dialect that looks for each
    /// of its names in theirs, and has many.
    #[serde(default)]
    pub too_costly: u64,
    /// How many unregistered crawlers, paths and addresses are counted separately.
    pub most: [usize; 3],
}

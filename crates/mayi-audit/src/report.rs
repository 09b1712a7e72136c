//! What JSON, text, CSV and HTML all show: one shape, in one order.
//!
//! The members and what they count are documented in `docs/audit.md`, and stay as they are; new ones may
//! be added. `requests` of a crawler is `allowed` and `refused` and `excused` and `undecided` together, and
//! it is `verified` and `unverified` and `contradicted` together.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mayi::RuleKind;
use serde::Serialize;

use crate::audit::Audit;
use crate::files::File;
use crate::identity::Identity;
use crate::tally::{
    CrawlerTally, FigureTally, MOST_ADDRESSES, MOST_OTHERS, MOST_PATHS, RuleKey, Split, Tally,
};
use crate::time::{day_text, time_text};

/// How many paths, addresses, changes and hosts a report lists.
const MOST_LISTED: usize = 100;

/// The report of an audit.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
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
#[derive(Clone, Debug, Serialize)]
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
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct UnreadableReport {
    /// `fields`, `date`, `json`, `too-long`, `no-header` or `unknown-format`.
    pub problem: &'static str,
    /// The same in a sentence.
    pub message: &'static str,
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
#[derive(Clone, Debug, Serialize)]
pub struct Period {
    /// The first request.
    pub first: String,
    /// The last one.
    pub last: String,
}

/// Requests of whom robots.txt is not for.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct PlainReport {
    /// All of them.
    pub requests: u64,
    /// Those for robots.txt.
    pub robots_txt_requests: u64,
}

/// What became of requests.
#[derive(Clone, Copy, Debug, Default, Serialize)]
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
    /// Those for no path (`*`, `CONNECT`), or without a known file.
    pub undecided: u64,
    /// Those for robots.txt.
    pub robots_txt_requests: u64,
}

/// One crawler.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CrawlerReport {
    /// Its product token.
    pub crawler: String,
    /// Whether the registry has it.
    pub known: bool,
    /// Who runs it.
    pub operator: Option<String>,
    /// What it is for.
    pub kind: Option<&'static str>,
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
    /// Those from addresses that nothing is known of.
    pub unverified: u64,
    /// Those from addresses that are not its operator's.
    pub contradicted: u64,
    /// The figures of each identity.
    pub identities: BTreeMap<&'static str, IdentityReport>,
    /// Requests by status, of those for robots.txt.
    pub robots_txt_statuses: BTreeMap<u16, u64>,
    /// Requests by day (UTC).
    pub days: Vec<DayReport>,
}

/// What is told of the requests of one identity.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct IdentityReport {
    /// What became of them.
    #[serde(flatten)]
    pub figures: Figures,
    /// From how many addresses they came.
    pub addresses: u64,
    /// `never`, `before` (its first request was for robots.txt) or `after` (others came first).
    pub asked_for_robots_txt: &'static str,
    /// Its first request.
    pub first: Option<String>,
    /// Its last one.
    pub last: Option<String>,
}

/// One day of a crawler.
#[derive(Clone, Debug, Serialize)]
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
}

/// One rule.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RuleReport {
    /// The file that it stands in.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// The text of the line.
    pub text: String,
    /// `allow` or `disallow`.
    pub kind: &'static str,
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
#[derive(Clone, Debug, Serialize)]
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
#[derive(Clone, Debug, Serialize)]
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
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct HostReport {
    /// Its name; empty for requests without one.
    pub host: String,
    /// The requests of crawlers.
    pub requests: u64,
    /// Those that were allowed.
    pub allowed: u64,
    /// Those that were refused, excused ones included.
    pub refused: u64,
    /// Those that nothing was decided about.
    pub undecided: u64,
}

/// The same traffic under another file.
#[derive(Clone, Debug, Serialize)]
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
}

/// What another file would mean for one crawler.
#[derive(Clone, Debug, Serialize)]
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
    /// Of the newly refused, those that are verified.
    pub newly_refused_verified: u64,
    /// What changes, most requests first.
    pub changes: Vec<ProposedChange>,
    /// Refused by identity, for conditions: who is contradicted is not the crawler.
    #[serde(skip)]
    pub(crate) own: OwnProposed,
}

/// The figures of a crawler under another file without those that only say they are it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OwnProposed {
    pub(crate) allowed: u64,
    pub(crate) refused: u64,
    pub(crate) newly_refused: u64,
    pub(crate) newly_allowed: u64,
}

/// Requests whose decision changes for the same reason.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ProposedChange {
    /// `refused` or `allowed`: what they become.
    pub becomes: &'static str,
    /// The rule that decides now; null where none does.
    pub now: Option<String>,
    /// The line of the proposed file that would decide; null where no rule would.
    pub line: Option<u32>,
    /// The text of that line.
    pub text: Option<String>,
    /// How many requests.
    pub requests: u64,
    /// One of the paths.
    pub example: Option<String>,
}

/// What is an estimate, and what was left out because there was too much of it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Bounds {
    /// Whether a number of addresses is an estimate, about 3 % off.
    pub addresses_are_estimates: bool,
    /// Requests of crawlers that are not listed: there are more names than are told apart.
    pub crawlers_left_out: u64,
    /// Refused requests whose paths are not among those that are listed from.
    pub paths_left_out: u64,
    /// Requests whose addresses are not among those that are listed from.
    pub addresses_left_out: u64,
    /// Requests whose days are not listed.
    pub days_left_out: u64,
    /// How many crawlers of no registry, paths and addresses are told apart.
    pub most: [usize; 3],
}

pub(crate) fn of(audit: &Audit, tally: &Tally, sources: &[String]) -> Report {
    let mut files: HashMap<u32, Arc<File>> = HashMap::new();
    let given = audit.sites.files();
    files.extend(given.iter().map(|file| (file.number, Arc::clone(file))));
    let others = tally.others.trimmed();
    let crawlers: Vec<(CrawlerReport, &CrawlerTally)> = {
        let known = tally.known.iter().zip(audit.registry.agents()).filter_map(|(tally, agent)| {
            let tally = &**tally.as_ref()?;
            let report = crawler(&agent.token, tally);
            let (operator, kind) = (Some(agent.operator.to_string()), Some(agent.kind.name()));
            Some((CrawlerReport { known: true, operator, kind, ..report }, tally))
        });
        let others = others.iter().map(|(_, tally)| (crawler(&tally.name, tally), &**tally));
        let mut all: Vec<_> = known.chain(others).collect();
        all.sort_by(|(one, _), (other, _)| {
            (other.requests, &one.crawler).cmp(&(one.requests, &other.crawler))
        });
        all
    };
    let (rules, unmet_rules) = rules(&crawlers, &given, &files);
    let proposal = audit.proposal.as_ref().map(|file| proposal(file, &crawlers, tally, &files));
    let paths = tally.paths.trimmed();
    let addresses = tally.addresses.trimmed();
    let (read, unreadable) = tally.line_counts();
    let sketches = crawlers.iter().flat_map(|(_, tally)| &tally.addresses);
    let bounds = Bounds {
        addresses_are_estimates: sketches.clone().any(crate::sketch::Sketch::is_estimate),
        crawlers_left_out: others.left_out(),
        paths_left_out: paths.left_out(),
        addresses_left_out: addresses.left_out(),
        days_left_out: crawlers.iter().map(|(_, tally)| tally.days.trimmed().left_out()).sum(),
        most: [MOST_OTHERS, MOST_PATHS, MOST_ADDRESSES],
    };
    let period = tally.first.zip(tally.last);
    Report {
        version: 1,
        lines: LineReport {
            read,
            unreadable,
            left_out: tally.lines.left_out,
            problems: problems(tally, sources),
        },
        period: period.map(|(first, last)| Period { first: time_text(first), last: time_text(last) }),
        browsers: PlainReport {
            requests: tally.browsers.requests,
            robots_txt_requests: tally.browsers.robots_txt,
        },
        nameless: PlainReport {
            requests: tally.nameless.requests,
            robots_txt_requests: tally.nameless.robots_txt,
        },
        rules,
        unmet_rules,
        paths: listed_paths(&paths),
        addresses: listed_addresses(&addresses),
        hosts: listed_hosts(tally),
        proposal,
        bounds,
        crawlers: crawlers.into_iter().map(|(report, _)| report).collect(),
    }
}

fn problems(tally: &Tally, sources: &[String]) -> Vec<UnreadableReport> {
    let problem = |(kind, (lines, (source, line), text)): (
        &crate::format::Unreadable,
        &(u64, (u32, u64), Box<[u8]>),
    )| {
        UnreadableReport {
            problem: kind.name(),
            message: kind.sentence(),
            lines: *lines,
            log: sources.get(*source as usize).cloned().unwrap_or_default(),
            line: *line,
            text: String::from_utf8_lossy(text).into_owned(),
        }
    };
    tally.lines.unreadable.iter().map(problem).collect()
}

fn crawler(name: &str, tally: &CrawlerTally) -> CrawlerReport {
    let total = tally.figures.iter().fold(FigureTally::default(), |mut total, figures| {
        total.add(figures);
        total
    });
    let mut identities = BTreeMap::new();
    for (place, identity) in Identity::ALL.into_iter().enumerate() {
        let (figures, seen) = (tally.figures[place], tally.seen[place]);
        if figures.requests == 0 {
            continue;
        }
        let asked = match (seen.first_robots_txt, seen.first_other) {
            _ if figures.robots_txt == 0 => "never",
            (Some(robots_txt), Some(other)) if other < robots_txt => "after",
            _ => "before",
        };
        let report = IdentityReport {
            figures: Figures {
                requests: figures.requests,
                allowed: figures.allowed,
                refused: figures.refused,
                excused: figures.excused,
                undecided: figures.undecided,
                robots_txt_requests: figures.robots_txt,
            },
            addresses: tally.addresses[place].count(),
            asked_for_robots_txt: asked,
            first: seen.first.map(time_text),
            last: seen.last.map(time_text),
        };
        identities.insert(identity.name(), report);
    }
    let mut days: Vec<_> =
        tally.days.trimmed().iter().map(|(day, counts)| (*day, counts.clone())).collect();
    days.sort_by_key(|(day, _)| *day);
    let days = days.into_iter().map(|(day, counts)| {
        let of = |place: usize| counts.allowed[place] + counts.refused[place] + counts.others[place];
        DayReport {
            day: day_text(day),
            requests: of(0) + of(1) + of(2),
            allowed: counts.allowed.iter().sum(),
            refused: counts.refused.iter().sum(),
            verified: of(0),
            unverified: of(1),
            contradicted: of(2),
        }
    });
    CrawlerReport {
        crawler: name.to_owned(),
        known: false,
        operator: None,
        kind: None,
        requests: total.requests,
        allowed: total.allowed,
        refused: total.refused,
        excused: total.excused,
        undecided: total.undecided,
        robots_txt_requests: total.robots_txt,
        verified: tally.figures[0].requests,
        unverified: tally.figures[1].requests,
        contradicted: tally.figures[2].requests,
        identities,
        robots_txt_statuses: tally
            .statuses
            .iter()
            .map(|(status, split)| (*status, split.iter().sum()))
            .collect(),
        days: days.collect(),
    }
}

/// The rules that decided, and those that did not.
fn rules(
    crawlers: &[(CrawlerReport, &CrawlerTally)],
    given: &[Arc<File>],
    files: &HashMap<u32, Arc<File>>,
) -> (Vec<RuleReport>, Vec<RuleReport>) {
    let mut met: BTreeMap<RuleKey, (crate::tally::RuleTally, Vec<(u64, String)>)> = BTreeMap::new();
    for (report, tally) in crawlers {
        for (key, rule) in &tally.rules {
            let (total, of) = met.entry(*key).or_default();
            for place in 0..3 {
                total.requests[place] += rule.requests[place];
                total.excused[place] += rule.excused[place];
            }
            if let Some((_, path)) = &rule.example.0 {
                total.example.offer(path);
            }
            of.push((rule.requests.iter().sum(), report.crawler.clone()));
        }
    }
    let mut unmet = Vec::new();
    let mut kinds = HashMap::new();
    for file in given {
        for (line, kind, _) in file.all_rules() {
            let key = RuleKey { file: file.number, line };
            kinds.insert(key, kind);
            if !met.contains_key(&key) {
                unmet.push(rule_report(file, line, kind, [0; 3]));
            }
        }
    }
    let mut rules: Vec<_> = met
        .into_iter()
        .filter_map(|(key, (tally, mut of))| {
            let file = files.get(&key.file)?;
            let kind = kinds.get(&key).copied().unwrap_or(RuleKind::Disallow);
            of.sort_by(|one, other| (other.0, &one.1).cmp(&(one.0, &other.1)));
            Some(RuleReport {
                excused: tally.excused.iter().sum(),
                crawlers: of.into_iter().take(MOST_LISTED).map(|(_, name)| name).collect(),
                example: tally.example.text(),
                ..rule_report(file, key.line, kind, tally.requests)
            })
        })
        .collect();
    sort_rules(&mut rules);
    sort_rules(&mut unmet);
    (rules, unmet)
}

fn rule_report(file: &File, line: u32, kind: RuleKind, requests: Split) -> RuleReport {
    RuleReport {
        file: file.name.clone(),
        line,
        text: file.line(line),
        kind: if kind == RuleKind::Allow { "allow" } else { "disallow" },
        requests: requests.iter().sum(),
        verified: requests[0],
        unverified: requests[1],
        contradicted: requests[2],
        excused: 0,
        crawlers: Vec::new(),
        example: None,
    }
}

fn sort_rules(rules: &mut [RuleReport]) {
    rules.sort_by(|one, other| {
        (other.requests, &one.file, one.line).cmp(&(one.requests, &other.file, other.line))
    });
}

fn proposal(
    file: &Arc<File>,
    crawlers: &[(CrawlerReport, &CrawlerTally)],
    tally: &Tally,
    files: &HashMap<u32, Arc<File>>,
) -> ProposalReport {
    let of_crawler = |(report, tally): &(CrawlerReport, &CrawlerTally)| {
        let proposed = &tally.proposed;
        let total = |split: &Split| split.iter().sum();
        let own = |split: &Split| split[0] + split[1];
        let mut changes: Vec<_> = proposed
            .changes
            .iter()
            .map(|(key, change)| {
                let now = key.now.and_then(|now| {
                    let file = files.get(&now.file)?;
                    Some(format!("{}:{}: {}", file.name, now.line, file.line(now.line)))
                });
                ProposedChange {
                    becomes: if key.is_refused { "refused" } else { "allowed" },
                    now,
                    line: key.then,
                    text: key.then.map(|line| file.line(line)),
                    requests: total(&change.requests),
                    example: change.example.text(),
                }
            })
            .collect();
        changes.sort_by(|one, other| {
            (other.requests, one.becomes, one.line, &one.now).cmp(&(
                one.requests,
                other.becomes,
                other.line,
                &other.now,
            ))
        });
        changes.truncate(MOST_LISTED);
        ProposedCrawler {
            crawler: report.crawler.clone(),
            allowed: total(&proposed.allowed),
            refused: total(&proposed.refused),
            newly_refused: total(&proposed.newly_refused),
            newly_allowed: total(&proposed.newly_allowed),
            newly_refused_verified: proposed.newly_refused[0],
            changes,
            own: OwnProposed {
                allowed: own(&proposed.allowed),
                refused: own(&proposed.refused),
                newly_refused: own(&proposed.newly_refused),
                newly_allowed: own(&proposed.newly_allowed),
            },
        }
    };
    let (mut rules, mut unmet_rules) = (Vec::new(), Vec::new());
    for (line, kind, _) in file.all_rules() {
        match tally.proposed_rules.get(&line) {
            Some(requests) => rules.push(rule_report(file, line, kind, *requests)),
            None => unmet_rules.push(rule_report(file, line, kind, [0; 3])),
        }
    }
    sort_rules(&mut rules);
    sort_rules(&mut unmet_rules);
    ProposalReport {
        file: file.name.clone(),
        crawlers: crawlers.iter().map(of_crawler).collect(),
        rules,
        unmet_rules,
    }
}

fn listed_paths(
    paths: &crate::bounded::Bounded<Box<[u8]>, crate::tally::PathTally>,
) -> Vec<PathReport> {
    let path = |(path, tally): (&Box<[u8]>, &crate::tally::PathTally)| PathReport {
        path: String::from_utf8_lossy(path).into_owned(),
        requests: tally.0.iter().sum(),
        verified: tally.0[0],
        unverified: tally.0[1],
        contradicted: tally.0[2],
    };
    let mut listed: Vec<_> = paths.iter().map(path).collect();
    listed.sort_by(|one, other| (other.requests, &one.path).cmp(&(one.requests, &other.path)));
    listed.truncate(MOST_LISTED);
    listed
}

fn listed_addresses(
    addresses: &crate::bounded::Bounded<Box<[u8]>, crate::tally::AddressTally>,
) -> Vec<AddressReport> {
    let address = |(key, tally): (&Box<[u8]>, &crate::tally::AddressTally)| {
        let text = String::from_utf8_lossy(key);
        let (crawler, address) = text.split_once('\0').unwrap_or_default();
        AddressReport {
            crawler: crawler.to_owned(),
            address: address.to_owned(),
            requests: tally.requests.iter().sum(),
            refused: tally.refused,
            unverified: tally.requests[1],
            contradicted: tally.requests[2],
        }
    };
    let mut listed: Vec<_> = addresses.iter().map(address).collect();
    listed.sort_by(|one, other| {
        (other.requests, &one.crawler, &one.address).cmp(&(
            one.requests,
            &other.crawler,
            &other.address,
        ))
    });
    listed.truncate(MOST_LISTED);
    listed
}

fn listed_hosts(tally: &Tally) -> Vec<HostReport> {
    let hosts = tally.hosts.trimmed();
    let host = |(host, tally): (&Box<[u8]>, &crate::tally::HostTally)| HostReport {
        host: String::from_utf8_lossy(host).into_owned(),
        requests: tally.requests,
        allowed: tally.allowed,
        refused: tally.refused,
        undecided: tally.undecided,
    };
    let mut listed: Vec<_> = hosts.iter().map(host).collect();
    listed.sort_by(|one, other| (other.requests, &one.host).cmp(&(one.requests, &other.host)));
    listed.truncate(MOST_LISTED);
    listed
}

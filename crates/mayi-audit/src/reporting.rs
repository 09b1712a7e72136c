//! Figures → the report: sorted, with the texts of rules, and cut to what people read.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mayi::RuleKind;

use crate::address::of_key;
use crate::audit::Audit;
use crate::bounded::{Bounded, Sum as _};
use crate::files::File;
use crate::identity::Identity;
use crate::report::{
    AddressReport, AskedForRobotsTxt, AuditReport, Becomes, Bounds, CrawlerReport, DayReport, Figures,
    HostReport, IdentityReport, LineReport, PartReport, PathReport, Period, PlainReport,
    ProposalReport, ProposedChange, ProposedCrawler, ProposedPart, RuleReport, UnreadableReport,
};
use crate::tally::{
    AddressTally, AuditTally, CrawlerTally, FigureTally, MOST_ADDRESSES, MOST_OTHERS, MOST_PATHS,
    PathTally, RuleKey, RuleTally, Split,
};
use crate::time::{day_text, time_text};

/// How many paths, addresses, changes and hosts a report lists.
const MOST_LISTED: usize = 100;

/// How many rules that decided about no request a report lists. Nobody reads more of them, and a
/// report about each rule of a hostile file would take 30 times the size of the file.
const MOST_UNMET: usize = 10_000;

pub(crate) fn of(audit: &Audit, tally: &AuditTally, sources: &[String]) -> AuditReport {
    let mut files: HashMap<u32, Arc<File>> = HashMap::new();
    let given = audit.sites.files();
    files.extend(given.iter().map(|file| (file.number, Arc::clone(file))));
    let others = tally.others.trimmed();
    let crawlers: Vec<(CrawlerReport, &CrawlerTally)> = {
        let known = tally.known.iter().zip(audit.registry.agents()).filter_map(|(tally, agent)| {
            let tally = &**tally.as_ref()?;
            let report = crawler(&agent.token, tally);
            let (operator, kind) = (Some(agent.operator.to_string()), Some(agent.kind));
            Some((CrawlerReport { known: true, operator, kind, ..report }, tally))
        });
        let others = others.iter().map(|(_, tally)| (crawler(&tally.name, tally), &**tally));
        let mut all: Vec<_> = known.chain(others).collect();
        all.sort_by(|(one, _), (other, _)| {
            (other.requests, &one.crawler).cmp(&(one.requests, &other.crawler))
        });
        all
    };
    let (rules, unmet) = rules(&crawlers, &given, &files);
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
        unmet_rules_left_out: unmet.left_out,
        too_costly: tally.too_costly,
        most: [MOST_OTHERS, MOST_PATHS, MOST_ADDRESSES],
    };
    let period = tally.first.zip(tally.last);
    AuditReport {
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
        unmet_rules: unmet.listed,
        paths: listed_paths(&paths),
        addresses: listed_addresses(&addresses),
        hosts: listed_hosts(tally),
        proposal,
        bounds,
        crawlers: crawlers.into_iter().map(|(report, _)| report).collect(),
    }
}

fn problems(tally: &AuditTally, sources: &[String]) -> Vec<UnreadableReport> {
    let problems =
        tally.lines.unreadable.iter().map(|(kind, (lines, (source, line), text))| UnreadableReport {
            problem: *kind,
            message: kind.sentence().into(),
            lines: *lines,
            log: sources.get(*source as usize).cloned().unwrap_or_default(),
            line: *line,
            text: String::from_utf8_lossy(text).into_owned(),
        });
    problems.collect()
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
            _ if figures.robots_txt == 0 => AskedForRobotsTxt::Never,
            (Some(robots_txt), Some(other)) if other < robots_txt => AskedForRobotsTxt::After,
            _ => AskedForRobotsTxt::Before,
        };
        let statuses = tally.statuses.iter().filter(|(_, split)| split[place] > 0);
        let report = IdentityReport {
            robots_txt_statuses: statuses.map(|(status, split)| (*status, split[place])).collect(),
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
        identities.insert(identity, report);
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
            identities: parts(&counts.allowed, &counts.refused, &[&counts.others]),
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

/// The figures of each identity that has some.
fn parts(allowed: &Split, refused: &Split, others: &[&Split]) -> BTreeMap<Identity, PartReport> {
    let of = |(place, identity): (usize, Identity)| {
        let others: u64 = others.iter().map(|split| split[place]).sum();
        let (allowed, refused) = (allowed[place], refused[place]);
        let part = PartReport { requests: allowed + refused + others, allowed, refused };
        (part.requests > 0).then_some((identity, part))
    };
    Identity::ALL.into_iter().enumerate().filter_map(of).collect()
}

/// The rules that decided, and those that did not.
fn rules(
    crawlers: &[(CrawlerReport, &CrawlerTally)],
    given: &[Arc<File>],
    files: &HashMap<u32, Arc<File>>,
) -> (Vec<RuleReport>, Unmet) {
    let mut met: BTreeMap<RuleKey, (RuleTally, Vec<(u64, String)>)> = BTreeMap::new();
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
    let mut unmet = Unmet::default();
    let mut kinds = HashMap::new();
    for file in given {
        for (line, kind, _) in file.all_rules() {
            let key = RuleKey { file: file.number, line };
            kinds.insert(key, kind);
            if !met.contains_key(&key) {
                unmet.add(file, line, kind);
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
    sort_rules(&mut unmet.listed);
    (rules, unmet)
}

/// Rules that decided about no request.
#[derive(Default)]
struct Unmet {
    listed: Vec<RuleReport>,
    left_out: u64,
}

impl Unmet {
    fn add(&mut self, file: &File, line: u32, kind: RuleKind) {
        if self.listed.len() < MOST_UNMET {
            self.listed.push(rule_report(file, line, kind, [0; 3]));
        } else {
            self.left_out += 1;
        }
    }
}

fn rule_report(file: &File, line: u32, kind: RuleKind, requests: Split) -> RuleReport {
    RuleReport {
        file: file.name.clone(),
        line,
        text: file.line(line),
        kind,
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
    tally: &AuditTally,
    files: &HashMap<u32, Arc<File>>,
) -> ProposalReport {
    let of_crawler = |(report, tally): &(CrawlerReport, &CrawlerTally)| {
        let proposed = &tally.proposed;
        let total = |split: &Split| split.iter().sum();
        let mut changes: Vec<_> = proposed
            .changes
            .iter()
            .map(|(key, change)| {
                let now = key.now.and_then(|now| {
                    let file = files.get(&now.file)?;
                    Some(format!("{}:{}: {}", file.name, now.line, file.line(now.line)))
                });
                ProposedChange {
                    becomes: if key.is_refused { Becomes::Refused } else { Becomes::Allowed },
                    now,
                    line: key.then,
                    text: key.then.map(|line| file.line(line)),
                    requests: total(&change.requests),
                    verified: change.requests[0],
                    unverified: change.requests[1],
                    contradicted: change.requests[2],
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
            identities: Identity::ALL
                .into_iter()
                .enumerate()
                .filter(|(place, _)| tally.figures[*place].requests > 0)
                .map(|(place, identity)| {
                    let part = ProposedPart {
                        allowed: proposed.allowed[place],
                        refused: proposed.refused[place],
                        newly_refused: proposed.newly_refused[place],
                        newly_allowed: proposed.newly_allowed[place],
                    };
                    (identity, part)
                })
                .collect(),
            changes,
        }
    };
    let (mut rules, mut unmet) = (Vec::new(), Unmet::default());
    for (line, kind, _) in file.all_rules() {
        match tally.proposed_rules.get(&line) {
            Some(requests) => rules.push(rule_report(file, line, kind, *requests)),
            None => unmet.add(file, line, kind),
        }
    }
    sort_rules(&mut rules);
    ProposalReport {
        file: file.name.clone(),
        crawlers: crawlers.iter().map(of_crawler).collect(),
        rules,
        unmet_rules: unmet.listed,
        unmet_rules_left_out: unmet.left_out,
        too_costly: tally.proposed_too_costly,
    }
}

fn listed_paths(paths: &Bounded<Box<[u8]>, PathTally>) -> Vec<PathReport> {
    let listed = paths.iter().map(|(path, tally)| PathReport {
        path: String::from_utf8_lossy(path).into_owned(),
        requests: tally.0.iter().sum(),
        verified: tally.0[0],
        unverified: tally.0[1],
        contradicted: tally.0[2],
    });
    let mut listed: Vec<_> = listed.collect();
    listed.sort_by(|one, other| (other.requests, &one.path).cmp(&(one.requests, &other.path)));
    listed.truncate(MOST_LISTED);
    listed
}

fn listed_addresses(addresses: &Bounded<Box<[u8]>, AddressTally>) -> Vec<AddressReport> {
    let listed = addresses.iter().map(|(key, tally)| {
        let (crawler, address) = key.split_at(memchr::memchr(0, key).unwrap_or(key.len()));
        AddressReport {
            crawler: String::from_utf8_lossy(crawler).into_owned(),
            address: of_key(address.get(1..).unwrap_or_default()),
            requests: tally.requests.iter().sum(),
            refused: tally.refused,
            unverified: tally.requests[1],
            contradicted: tally.requests[2],
        }
    });
    let mut listed: Vec<_> = listed.collect();
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

fn listed_hosts(tally: &AuditTally) -> Vec<HostReport> {
    let hosts = tally.hosts.trimmed();
    let listed = hosts.iter().map(|(host, tally)| HostReport {
        host: String::from_utf8_lossy(host).into_owned(),
        requests: tally.requests(),
        allowed: tally.allowed.iter().sum(),
        refused: tally.refused.iter().sum(),
        excused: tally.excused.iter().sum(),
        undecided: tally.undecided.iter().sum(),
        identities: parts(&tally.allowed, &tally.refused, &[&tally.excused, &tally.undecided]),
    });
    let mut listed: Vec<_> = listed.collect();
    listed.sort_by(|one, other| (other.requests, &one.host).cmp(&(one.requests, &other.host)));
    listed.truncate(MOST_LISTED);
    listed
}

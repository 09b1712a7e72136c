//! A generator of logs with a known truth: crawlers, impostors, a change of the file, and slips. What is
//! expected is in a table that was written by hand from the clauses; the engine is not asked.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use mayi::registry::Registry;
use mayi_audit::{Audit, AuditReport, Block, File, Format, OneSite, Ranges, Site, Worker, day_text};

/// The file before the change.
pub(crate) const OLD: &str = "\
User-agent: *
Disallow: /private/
Allow: /private/press

User-agent: GPTBot
Disallow: /

User-agent: Googlebot
Disallow: /search
";

/// The file after it.
pub(crate) const NEW: &str = "\
User-agent: *
Disallow: /private/
Disallow: /drafts/

User-agent: GPTBot
Allow: /public/
Disallow: /

User-agent: Googlebot
Allow: /
";

/// When the file changed: 2026-10-10, 00:00 UTC.
pub(crate) const CHANGE: i64 = 1_791_590_400;

const DAY: i64 = 86_400;

/// What a file says: allowed or refused, by the rule on which line.
type Says = (bool, Option<u32>);

const fn yes(line: u32) -> Says {
    (true, Some(line))
}

const fn no(line: u32) -> Says {
    (false, Some(line))
}

const FREE: Says = (true, None);

/// A path, and for who is named by no group, for GPTBot and for Googlebot what the old and the new file
/// say (REP-5, REP-6, REP-8 to REP-10).
const PATHS: &[(&str, [(Says, Says); 3])] = &[
    ("/", [(FREE, FREE), (no(6), no(7)), (FREE, yes(10))]),
    ("/private/x", [(no(2), no(2)), (no(6), no(7)), (FREE, yes(10))]),
    ("/private/press/1", [(yes(3), no(2)), (no(6), no(7)), (FREE, yes(10))]),
    ("/search?q=1", [(FREE, FREE), (no(6), no(7)), (no(9), yes(10))]),
    ("/drafts/1", [(FREE, no(3)), (no(6), no(7)), (FREE, yes(10))]),
    ("/public/a", [(FREE, FREE), (no(6), yes(6)), (FREE, yes(10))]),
    ("/robots.txt", [(FREE, FREE), (FREE, FREE), (FREE, FREE)]),
];

/// Who comes: the name in the report, the User-Agent string, the group, and the start of the addresses
/// that are its operator's, where a list says so.
struct Client {
    name: &'static str,
    user_agent: &'static str,
    group: usize,
    own: Option<&'static str>,
}

const CLIENTS: &[Client] = &[
    Client {
        name: "Googlebot",
        user_agent: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        group: 2,
        own: Some("192.0.2."),
    },
    // It falls back to the group of Googlebot (WILD-6).
    Client {
        name: "Googlebot-Image",
        user_agent: "Googlebot-Image/1.0",
        group: 2,
        own: Some("192.0.2."),
    },
    Client {
        name: "GPTBot",
        user_agent: "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
        group: 1,
        own: Some("198.51.100."),
    },
    Client {
        name: "CCBot",
        user_agent: "CCBot/2.0 (https://commoncrawl.org/faq/)",
        group: 0,
        own: None,
    },
    Client { name: "FooBot", user_agent: "FooBot/0.1", group: 0, own: None },
    Client { name: "nameless", user_agent: "-", group: 0, own: None },
    // One of many strings, see below.
    Client { name: "browser", user_agent: "", group: 0, own: None },
];

/// What browsers say they are.
const BROWSERS: &[&str] = &[
    "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0",
];

/// The lists of addresses.
pub(crate) const RANGES: &[(&str, &str)] = &[
    (
        "googlebot.json",
        r#"{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8::/32"}]}"#,
    ),
    ("gptbot.json", r#"{"prefixes": [{"ipv4Prefix": "198.51.100.0/24"}]}"#),
];

/// The figures of a crawler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) requests: u64,
    pub(crate) allowed: u64,
    pub(crate) refused: u64,
    pub(crate) excused: u64,
    pub(crate) undecided: u64,
    pub(crate) robots_txt: u64,
    pub(crate) verified: u64,
    pub(crate) unverified: u64,
    pub(crate) contradicted: u64,
    /// Requests and refused ones by day.
    pub(crate) days: BTreeMap<String, (u64, u64)>,
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// What is told for each identity.
    pub(crate) parts: BTreeMap<&'static str, Part>,
}

/// The figures of a crawler for one identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// Requests, allowed, refused, excused, undecided and those for robots.txt.
    pub(crate) figures: [u64; 6],
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// Requests, allowed and refused by day.
    pub(crate) days: BTreeMap<String, [u64; 3]>,
    pub(crate) addresses: BTreeSet<String>,
    /// When it came: for robots.txt, and for anything else.
    pub(crate) times: BTreeMap<bool, BTreeSet<i64>>,
}

/// What is true of a log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    pub(crate) crawlers: BTreeMap<String, Expected>,
    /// By file and line: requests by identity, and excused ones.
    pub(crate) rules: BTreeMap<(&'static str, u32), ([u64; 3], u64)>,
    /// Refused requests by identity.
    pub(crate) paths: BTreeMap<String, [u64; 3]>,
    pub(crate) browsers: u64,
    pub(crate) nameless: u64,
    pub(crate) read: u64,
    pub(crate) unreadable: u64,
}

/// One request, or a slip.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    time: i64,
    address: String,
    target: String,
    status: u16,
    user_agent: &'static str,
    slip: Option<&'static str>,
}

/// The formats that the same requests can be written in.
pub(crate) const FORMATS: &[&str] =
    &["combined", "vhost", "nginx-json", "caddy", "cloudflare", "cloudfront", "alb", "w3c"];

/// What a log is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// How many times as often as any crawler a browser comes.
    pub(crate) browsers: usize,
    /// How many pages there are of each kind; with one, paths are those of [`PATHS`].
    pub(crate) pages: usize,
    /// One line in so many is a slip; none with 0.
    pub(crate) slips: usize,
}

/// Lines that can't be read, in any format.
const SLIPS: &[&str] = &["no line of a log", "\u{0}\u{1b}[31m", "{\"a\": ", "\" \" \""];

/// Requests with what is true of them, from a seed.
pub(crate) fn requests(seed: u64, count: usize) -> (Vec<Made>, Truth) {
    planned(Plan { seed, browsers: 1, pages: 1, slips: 0 }, count)
}

/// The same by a plan.
pub(crate) fn planned(plan: Plan, count: usize) -> (Vec<Made>, Truth) {
    let mut maker = Maker::new(plan);
    let made = (0..count).map(|_| maker.make()).collect();
    (made, maker.truth)
}

impl Plan {
    /// A target of one kind. More of a path changes no decision: every rule is about how paths start.
    fn target(&self, path: &str, random: &mut Random) -> String {
        match path {
            "/robots.txt" => path.to_owned(),
            "/" if self.pages > 1 => format!("/articles/2026/{}", random.below(self.pages)),
            path if self.pages > 1 => format!("{path}{}", random.below(self.pages)),
            path => path.to_owned(),
        }
    }
}

/// Makes requests one after the other, and knows what is true of them.
pub(crate) struct Maker {
    plan: Plan,
    random: Random,
    pub(crate) truth: Truth,
}

impl Maker {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { plan, random: Random(plan.seed | 1), truth: Truth::default() }
    }

    pub(crate) fn make(&mut self) -> Made {
        let Self { plan, random, truth } = self;
        if plan.slips > 0 && random.below(plan.slips) == 0 {
            truth.unreadable += 1;
            return Made { slip: Some(SLIPS[random.below(SLIPS.len())]), ..Made::default() };
        }
        let others = CLIENTS.len() - 1;
        let place = random.below(others + plan.browsers);
        let client = if place < others { &CLIENTS[place] } else { &CLIENTS[others] };
        let (path, says) = &PATHS[random.below(PATHS.len())];
        let time =
            CHANGE - 5 * DAY + i64::try_from(random.below(10 * DAY as usize)).expect("ten days fit");
        let is_own = random.below(4) > 0;
        let last = random.below(250);
        let address = match client.own {
            Some(own) if is_own => format!("{own}{last}"),
            _ if client.name == "browser" => {
                format!("10.{}.{}.{last}", random.below(64), random.below(256))
            }
            _ => format!("203.0.113.{last}"),
        };
        let is_asterisk = random.below(40) == 0;
        let target = if is_asterisk { "*".to_owned() } else { plan.target(path, random) };
        let status = [200, 200, 304, 404, 503][random.below(5)];
        let user_agent = match client.name {
            "browser" => BROWSERS[random.below(BROWSERS.len())],
            _ => client.user_agent,
        };
        let made = Made { time, address: address.clone(), target, status, user_agent, slip: None };
        truth.read += 1;
        match client.name {
            "browser" => truth.browsers += 1,
            "nameless" => truth.nameless += 1,
            name => {
                let (old, new) = says[client.group];
                let held = if time < CHANGE { old } else { new };
                let is_fresh = (CHANGE..CHANGE + DAY).contains(&time);
                let file = if time < CHANGE { "old.txt" } else { "new.txt" };
                let expected = truth.crawlers.entry(name.to_owned()).or_default();
                expected.requests += 1;
                let identity = match client.own {
                    Some(_) if is_own => "verified",
                    Some(_) => "contradicted",
                    None => "unverified",
                };
                *match identity {
                    "verified" => &mut expected.verified,
                    "contradicted" => &mut expected.contradicted,
                    _ => &mut expected.unverified,
                } += 1;
                let place = match identity {
                    "verified" => 0,
                    "unverified" => 1,
                    _ => 2,
                };
                let part = expected.parts.entry(identity).or_default();
                part.figures[0] += 1;
                let is_robots_txt = !is_asterisk && *path == "/robots.txt";
                part.times.entry(is_robots_txt).or_default().insert(time);
                part.addresses.insert(address);
                let part_day = part.days.entry(day_text((time.div_euclid(DAY)) as i32)).or_default();
                part_day[0] += 1;
                let day = expected.days.entry(day_text((time.div_euclid(DAY)) as i32)).or_default();
                day.0 += 1;
                if is_asterisk {
                    expected.undecided += 1;
                    part.figures[4] += 1;
                    return made;
                }
                if *path == "/robots.txt" {
                    expected.robots_txt += 1;
                    *expected.statuses.entry(status).or_default() += 1;
                    part.figures[5] += 1;
                    *part.statuses.entry(status).or_default() += 1;
                }
                let is_excused = !held.0 && is_fresh && old.0;
                if held.0 {
                    expected.allowed += 1;
                    part.figures[1] += 1;
                    part_day[1] += 1;
                } else if is_excused {
                    expected.excused += 1;
                    part.figures[3] += 1;
                } else {
                    expected.refused += 1;
                    part.figures[2] += 1;
                    part_day[2] += 1;
                    day.1 += 1;
                    truth
                        .paths
                        .entry(made.target.split('?').next().unwrap_or_default().to_owned())
                        .or_default()[place] += 1;
                }
                if let Some(line) = held.1 {
                    let rule = truth.rules.entry((file, line)).or_default();
                    if is_excused { rule.1 += 1 } else { rule.0[place] += 1 }
                }
            }
        }
        made
    }
}

/// The log of some requests in a format, with its header where it has one.
pub(crate) fn log(made: &[Made], format: &str) -> String {
    let mut log = match format {
        "cloudfront" => "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol\n".to_owned(),
        "w3c" => "#Software: Microsoft Internet Information Services 10.0\r\n#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status cs(User-Agent)\r\n".to_owned(),
        _ => String::new(),
    };
    for request in made {
        line(&mut log, request, format);
    }
    log
}

pub(crate) fn line(log: &mut String, made: &Made, format: &str) {
    let Made { time, address, target, status, user_agent, slip } = made;
    if let Some(slip) = slip {
        log.push_str(slip);
        log.push('\n');
        return;
    }
    let (day, clock) = (day_text(time.div_euclid(DAY) as i32), time.rem_euclid(DAY));
    let clock = format!("{:02}:{:02}:{:02}", clock / 3600, clock / 60 % 60, clock % 60);
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months[day[5..7].parse::<usize>().expect("a month") - 1];
    let common = format!("{}/{month}/{}:{clock} +0000", &day[8..], &day[..4]);
    let (stem, query) = target.split_once('?').unwrap_or((target, "-"));
    let method = if target == "*" { "OPTIONS" } else { "GET" };
    let written = match format {
        "combined" => writeln!(
            log,
            "{address} - - [{common}] \"{method} {target} HTTP/1.1\" {status} 512 \"-\" \"{user_agent}\""
        ),
        "vhost" => writeln!(
            log,
            "example.com:443 {address} - - [{common}] \"{method} {target} HTTP/1.1\" {status} 512 \"-\" \"{user_agent}\""
        ),
        "nginx-json" => writeln!(
            log,
            "{{\"time_iso8601\":\"{day}T{clock}+00:00\",\"remote_addr\":\"{address}\",\"request\":\"{method} {target} HTTP/1.1\",\"status\":\"{status}\",\"http_user_agent\":\"{user_agent}\"}}"
        ),
        "caddy" => writeln!(
            log,
            "{{\"ts\":{time}.25,\"request\":{{\"remote_ip\":\"{address}\",\"method\":\"{method}\",\"host\":\"example.com\",\"uri\":\"{target}\",\"headers\":{{\"User-Agent\":[\"{user_agent}\"]}}}},\"status\":{status}}}"
        ),
        "cloudflare" => writeln!(
            log,
            "{{\"ClientIP\":\"{address}\",\"ClientRequestURI\":\"{target}\",\"ClientRequestUserAgent\":\"{user_agent}\",\"EdgeStartTimestamp\":\"{day}T{clock}Z\",\"EdgeResponseStatus\":{status}}}"
        ),
        "cloudfront" => {
            let user_agent = user_agent.replace(' ', "%20");
            writeln!(
                log,
                "{day}\t{clock}\tFRA\t500\t{address}\t{method}\td.cloudfront.net\t{stem}\t{status}\t-\t{user_agent}\t{query}\t-\tHit\tid==\texample.com\thttps"
            )
        }
        "alb" => {
            let url =
                if target == "*" { "*".to_owned() } else { format!("https://example.com:443{target}") };
            writeln!(
                log,
                "https {day}T{clock}.186641Z app/x/1 {address}:2817 10.0.0.1:80 0.0 0.1 0.0 {status} 200 34 366 \"{method} {url} HTTP/1.1\" \"{user_agent}\" - -"
            )
        }
        "w3c" => {
            let user_agent = user_agent.replace(' ', "+");
            write!(log, "{day} {clock} {address} {method} {stem} {query} {status} {user_agent}\r\n")
        }
        other => panic!("no such format: {other}"),
    };
    written.expect("writing to memory does not fail");
}

/// The audit that the truth is about.
pub(crate) fn audit() -> Audit {
    let registry = Registry::built_in();
    let mut ranges = Ranges::default();
    for (name, text) in RANGES {
        ranges.add(name, text.as_bytes(), &registry).expect("a list of addresses");
    }
    let file = |name: &str, text: &str| {
        File::read(name, text.as_bytes().to_vec(), &mayi::ReadOptions::default())
    };
    let site = Site::changing(vec![(None, file("old.txt", OLD)), (Some(CHANGE), file("new.txt", NEW))]);
    Audit::new(Box::new(OneSite::new(site.expect("two times")))).with_ranges(ranges)
}

/// The report of logs, each with its format, counted by one worker for each.
pub(crate) fn report(audit: &Audit, logs: &[&[u8]]) -> AuditReport {
    let mut all = Worker::new(audit).tally().clone();
    for (source, octets) in logs.iter().enumerate() {
        let mut worker = Worker::new(audit);
        let block =
            Block { octets, source: source as u32, first_line: 1, format: &Format::detect(octets) };
        worker.take(&block);
        all.merge(worker.tally());
    }
    let sources: Vec<_> = (0..logs.len()).map(|place| format!("log {place}")).collect();
    audit.report(&all, &sources)
}

/// Checks every figure of a report.
pub(crate) fn check(report: &AuditReport, truth: &Truth) {
    assert_eq!((report.lines.read, report.lines.unreadable), (truth.read, truth.unreadable), "lines");
    assert_eq!((report.browsers.requests, report.nameless.requests), (truth.browsers, truth.nameless));
    let mut found = BTreeMap::new();
    for crawler in &report.crawlers {
        let days =
            crawler.days.iter().map(|day| (day.day.clone(), (day.requests, day.refused))).collect();
        let expected = Expected {
            requests: crawler.requests,
            allowed: crawler.allowed,
            refused: crawler.refused,
            excused: crawler.excused,
            undecided: crawler.undecided,
            robots_txt: crawler.robots_txt_requests,
            verified: crawler.verified,
            unverified: crawler.unverified,
            contradicted: crawler.contradicted,
            days,
            statuses: crawler.robots_txt_statuses.clone(),
            parts: parts(crawler, truth.crawlers.get(&crawler.crawler)),
        };
        found.insert(crawler.crawler.clone(), expected);
    }
    assert_eq!(found, truth.crawlers);
    let rules: BTreeMap<_, _> = report
        .rules
        .iter()
        .map(|rule| {
            (
                (if rule.file == "old.txt" { "old.txt" } else { "new.txt" }, rule.line),
                ([rule.verified, rule.unverified, rule.contradicted], rule.excused),
            )
        })
        .collect();
    assert_eq!(rules, truth.rules);
    for rule in &report.rules {
        assert_eq!(rule.requests, rule.verified + rule.unverified + rule.contradicted);
    }
    let paths: BTreeMap<_, _> = report
        .paths
        .iter()
        .map(|path| (path.path.clone(), [path.verified, path.unverified, path.contradicted]))
        .collect();
    assert_eq!(paths, truth.paths);
    // A rule that decided about nothing is told of, and no other one is.
    let unmet = report.unmet_rules.iter().map(|rule| (&*rule.file, rule.line));
    let unmet: BTreeSet<_> = unmet.collect();
    let all = [("old.txt", OLD), ("new.txt", NEW)].into_iter().flat_map(|(file, text)| {
        let lines = (1..).zip(text.lines());
        let rules = lines.filter(|(_, line)| line.starts_with(['A', 'D']));
        rules.map(move |(line, _)| (file, line))
    });
    let expected: BTreeSet<_> = all.filter(|rule| !truth.rules.contains_key(rule)).collect();
    assert_eq!(unmet, expected);
}

/// `2026-10-01T12:34:56Z`.
fn time_text(time: i64) -> String {
    let clock = time.rem_euclid(DAY);
    let day = day_text(time.div_euclid(DAY) as i32);
    format!("{day}T{:02}:{:02}:{:02}Z", clock / 3600, clock / 60 % 60, clock % 60)
}

/// What a report tells of a crawler for each identity. Of addresses it has the number alone: where that is the
/// expected one, the expected addresses are taken.
fn parts(
    crawler: &mayi_audit::CrawlerReport,
    truth: Option<&Expected>,
) -> BTreeMap<&'static str, Part> {
    let mut parts = BTreeMap::new();
    for (identity, of) in &crawler.identities {
        let figures = &of.figures;
        let days = crawler.days.iter().filter_map(|day| {
            let of = day.identities.get(identity)?;
            Some((day.day.clone(), [of.requests, of.allowed, of.refused]))
        });
        let expected = truth.and_then(|truth| truth.parts.get(identity.name()));
        let addresses = expected.map(|part| part.addresses.clone()).unwrap_or_default();
        // Beyond 256 it is an estimate.
        if addresses.len() <= 256 {
            assert_eq!(of.addresses, addresses.len() as u64, "addresses of {}", crawler.crawler);
        }
        let times = expected.map(|part| part.times.clone()).unwrap_or_default();
        let first = |is_robots_txt: bool| times.get(&is_robots_txt).and_then(|times| times.first());
        let asked = match (first(true), first(false)) {
            (None, _) => "never",
            (Some(robots_txt), Some(other)) if other < robots_txt => "after",
            _ => "before",
        };
        assert_eq!(of.asked_for_robots_txt.name(), asked, "{} {identity:?}", crawler.crawler);
        let whole: BTreeSet<_> = times.values().flatten().copied().collect();
        let ends = (whole.first().copied().map(time_text), whole.last().copied().map(time_text));
        assert_eq!((of.first.clone(), of.last.clone()), ends, "{} {identity:?}", crawler.crawler);
        let part = Part {
            figures: [
                figures.requests,
                figures.allowed,
                figures.refused,
                figures.excused,
                figures.undecided,
                figures.robots_txt_requests,
            ],
            statuses: of.robots_txt_statuses.clone(),
            days: days.collect(),
            addresses,
            times,
        };
        parts.insert(identity.name(), part);
    }
    parts
}

/// Numbers from a seed (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

//! A report → one page of HTML that needs nothing else: no script, no font, no picture from anywhere.
//!
//! All that comes from logs and files is escaped, control characters included. The page follows the
//! theme of the reader, fits a telephone, and prints.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use mayi::RuleKind;
use mayi::registry::AgentKind;

use crate::number::with_commas as number;
use crate::report::{AskedForRobotsTxt, AuditReport, CrawlerReport, ProposalReport, RuleReport};
use crate::svg::{Bar, Column, bars, columns};
use crate::tally::place_of;

/// How many rows a table of the page has.
const MOST_ROWS: usize = 30;

/// How many bars a chart has.
const MOST_BARS: usize = 12;

/// How many crawlers have a colour of their own.
const MOST_SERIES: usize = 7;

/// How many days the chart shows; more than that are put together.
const MOST_COLUMNS: usize = 92;

/// The page of a report.
pub fn html(report: &AuditReport) -> String {
    let mut page = Page(String::with_capacity(64 << 10));
    page.start();
    page.head(report);
    page.crawlers(report);
    page.days(report);
    page.rules(
        "Rules that were broken most",
        "No crawler requested a URL that the file disallows.",
        &broken(report),
        true,
    );
    page.paths(report);
    page.robots_txt(report);
    page.addresses(report);
    page.hosts(report);
    if let Some(proposal) = &report.proposal {
        page.proposal(proposal);
    }
    let unmet: Vec<_> = report.unmet_rules.iter().collect();
    page.rules(
        "Rules that decided no request",
        "Every rule decided at least one request.",
        &unmet,
        false,
    );
    page.problems(report);
    page.end(report);
    page.0
}

/// The legend of a bar that is divided by identity.
const IDENTITIES: &str = "<ul class=\"legend\"><li><span class=\"key good\"></span>verified</li><li><span class=\"key plain\"></span>unverified</li><li><span class=\"key wrong\"></span>contradicted</li></ul>";

/// The parts of such a bar.
fn by_identity(
    [verified, unverified, contradicted]: [u64; 3],
) -> Vec<(u64, &'static str, &'static str)> {
    vec![
        (verified, "good", "verified"),
        (unverified, "plain", "unverified"),
        (contradicted, "wrong", "contradicted"),
    ]
}

fn broken(report: &AuditReport) -> Vec<&RuleReport> {
    report.rules.iter().filter(|rule| rule.kind == RuleKind::Disallow && rule.requests > 0).collect()
}

/// Text that is safe between tags and in attributes, with invisible characters made visible.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' => safe.push(' '),
            '\u{AD}'
            | '\u{61C}'
            | '\u{180E}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E007F}' => {
                safe.extend(character.escape_unicode());
            }
            _ if character.is_control() => safe.extend(character.escape_unicode()),
            _ => safe.push(character),
        }
    }
    safe
}

struct Page(String);

impl Page {
    fn start(&mut self) {
        self.0.push_str("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
        self.0.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
        self.0.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">");
        self.0.push_str(
            "<meta name=\"robots\" content=\"noindex\"><title>Crawlers and robots.txt</title><style>",
        );
        self.0.push_str(include_str!("html.css"));
        self.0.push_str("</style></head><body><main>\n");
    }

    fn head(&mut self, report: &AuditReport) {
        self.0.push_str("<header><h1>Crawlers and robots.txt</h1>");
        if let Some(period) = &report.period {
            let (first, last) = (escaped(&period.first), escaped(&period.last));
            let _ = write!(
                self.0,
                "<p>Requests from <time>{first}</time> to <time>{last}</time> (UTC)</p>"
            );
        }
        self.0.push_str("</header><dl class=\"cards\">");
        let sum = |figure: fn(&CrawlerReport) -> u64| report.crawlers.iter().map(figure).sum::<u64>();
        for (name, figure, class) in [
            ("requests of crawlers", sum(|crawler| crawler.requests), ""),
            ("refused by robots.txt", sum(|crawler| crawler.refused), "bad"),
            ("from addresses that are not the crawler's", sum(|crawler| crawler.contradicted), "bad"),
            ("requests of browsers", report.browsers.requests, ""),
            ("lines that can't be read", report.lines.unreadable, ""),
        ] {
            let class = if figure == 0 { "" } else { class };
            let _ = write!(
                self.0,
                "<div><dt>{name}</dt><dd class=\"{class}\">{}</dd></div>",
                number(figure)
            );
        }
        self.0.push_str("</dl>\n");
    }

    fn section(&mut self, title: &str) {
        let _ = write!(self.0, "<section><h2>{}</h2>", escaped(title));
    }

    /// A table; the first cells of rows are names, and columns of figures are to the right.
    fn table(&mut self, head: &[&str], rows: &[Vec<String>], texts: usize) {
        self.0.push_str("<div class=\"wide\"><table><thead><tr>");
        for (place, name) in head.iter().enumerate() {
            let class = if place < texts { "" } else { " class=\"figure\"" };
            let _ = write!(self.0, "<th scope=\"col\"{class}>{}</th>", escaped(name));
        }
        self.0.push_str("</tr></thead><tbody>");
        for row in rows.iter().take(MOST_ROWS) {
            self.0.push_str("<tr>");
            for (place, cell) in row.iter().enumerate() {
                let class = if place < texts { "text" } else { "figure" };
                let _ = write!(self.0, "<td class=\"{class}\">{}</td>", escaped(cell));
            }
            self.0.push_str("</tr>");
        }
        self.0.push_str("</tbody></table></div>");
        if rows.len() > MOST_ROWS {
            let _ = write!(
                self.0,
                "<p class=\"more\">and {} more</p>",
                number((rows.len() - MOST_ROWS) as u64)
            );
        }
    }

    fn crawlers(&mut self, report: &AuditReport) {
        self.section("Crawlers");
        if report.crawlers.is_empty() {
            self.0.push_str("<p>No requests of crawlers.</p></section>");
            return;
        }
        let rows: Vec<_> = report
            .crawlers
            .iter()
            .take(MOST_BARS)
            .map(|crawler| Bar {
                name: &crawler.crawler,
                parts: vec![
                    (crawler.allowed, "good", "allowed"),
                    (crawler.refused, "wrong", "refused"),
                    (crawler.excused + crawler.undecided, "pale", "excused or undecided"),
                ],
            })
            .collect();
        self.0.push_str("<h3>Allowed against refused</h3>");
        self.0.push_str(&bars(&rows));
        self.0.push_str("<ul class=\"legend\"><li><span class=\"key good\"></span>allowed</li><li><span class=\"key wrong\"></span>refused</li><li><span class=\"key pale\"></span>excused (within 24 hours of a change) or undecided</li></ul>");
        let rows: Vec<_> = report
            .crawlers
            .iter()
            .map(|crawler| {
                let kind = crawler.kind.map_or("not in the registry", AgentKind::name).to_owned();
                let mut row =
                    vec![crawler.crawler.clone(), crawler.operator.clone().unwrap_or_default(), kind];
                let figures = [
                    crawler.requests,
                    crawler.allowed,
                    crawler.refused,
                    crawler.excused,
                    crawler.robots_txt_requests,
                    crawler.verified,
                    crawler.unverified,
                    crawler.contradicted,
                ];
                row.extend(figures.map(number));
                row
            })
            .collect();
        self.table(
            &[
                "Crawler",
                "Operator",
                "Kind",
                "Requests",
                "Allowed",
                "Refused",
                "Excused",
                "robots.txt",
                "Verified",
                "Unverified",
                "Contradicted",
            ],
            &rows,
            3,
        );
        self.0.push_str("</section>\n");
    }

    fn days(&mut self, report: &AuditReport) {
        let days: BTreeSet<&str> =
            report.crawlers.iter().flat_map(|crawler| &crawler.days).map(|day| &*day.day).collect();
        if days.is_empty() {
            return;
        }
        self.section("Requests by crawler and day");
        let days: Vec<_> = days.into_iter().collect();
        let together = days.len().div_ceil(MOST_COLUMNS);
        let place: BTreeMap<&str, usize> =
            days.iter().enumerate().map(|(place, day)| (*day, place / together)).collect();
        let count = days.len().div_ceil(together);
        let mut series: Vec<_> =
            report.crawlers.iter().take(MOST_SERIES).map(|crawler| crawler.crawler.clone()).collect();
        if report.crawlers.len() > MOST_SERIES {
            series.push("others".to_owned());
        }
        let mut drawn: Vec<_> = (0..count)
            .map(|column| Column {
                name: days[column * together].to_owned(),
                parts: vec![0; series.len()],
            })
            .collect();
        for (of, crawler) in report.crawlers.iter().enumerate() {
            for day in &crawler.days {
                if let Some(&column) = place.get(&*day.day) {
                    drawn[column].parts[of.min(series.len() - 1)] += day.requests;
                }
            }
        }
        self.0.push_str(&columns(&drawn, &series));
        self.0.push_str("</section>\n");
    }

    fn rules(&mut self, title: &str, none: &str, rules: &[&RuleReport], with_bars: bool) {
        self.section(title);
        if rules.is_empty() {
            let _ = write!(self.0, "<p>{none}</p></section>");
            return;
        }
        if with_bars {
            let names: Vec<_> = rules
                .iter()
                .take(MOST_BARS)
                .map(|rule| format!("{}: {}", rule.line, rule.text))
                .collect();
            let drawn: Vec<_> = rules
                .iter()
                .zip(&names)
                .map(|(rule, name)| Bar {
                    name,
                    parts: by_identity([rule.verified, rule.unverified, rule.contradicted]),
                })
                .collect();
            self.0.push_str(&bars(&drawn));
            self.0.push_str(IDENTITIES);
            let rows: Vec<_> = rules
                .iter()
                .map(|rule| {
                    let names = rule.crawlers.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
                    let place = format!("{}:{}", rule.file, rule.line);
                    vec![
                        place,
                        rule.text.clone(),
                        names,
                        rule.example.clone().unwrap_or_default(),
                        number(rule.requests),
                        number(rule.excused),
                    ]
                })
                .collect();
            self.table(&["Line", "Rule", "Crawlers", "Example", "Requests", "Excused"], &rows, 4);
        } else {
            let rows: Vec<_> = rules
                .iter()
                .map(|rule| vec![format!("{}:{}", rule.file, rule.line), rule.text.clone()])
                .collect();
            self.table(&["Line", "Rule"], &rows, 2);
        }
        self.0.push_str("</section>\n");
    }

    fn paths(&mut self, report: &AuditReport) {
        if report.paths.is_empty() {
            return;
        }
        self.section("Paths that were refused most");
        let drawn: Vec<_> = report
            .paths
            .iter()
            .take(MOST_BARS)
            .map(|path| Bar {
                name: &path.path,
                parts: by_identity([path.verified, path.unverified, path.contradicted]),
            })
            .collect();
        self.0.push_str(&bars(&drawn));
        self.0.push_str(IDENTITIES);
        let rows: Vec<_> = report
            .paths
            .iter()
            .map(|path| {
                let mut row = vec![path.path.clone()];
                row.extend(
                    [path.requests, path.verified, path.unverified, path.contradicted].map(number),
                );
                row
            })
            .collect();
        self.table(&["Path", "Requests", "Verified", "Unverified", "Contradicted"], &rows, 1);
        self.0.push_str("</section>\n");
    }

    fn robots_txt(&mut self, report: &AuditReport) {
        self.section("Crawlers that requested robots.txt, and the responses");
        let (mut rows, mut never) = (Vec::new(), Vec::new());
        for crawler in &report.crawlers {
            for (identity, of) in &crawler.identities {
                let what = match of.asked_for_robots_txt {
                    AskedForRobotsTxt::Never => {
                        let name = format!("{} ({})", crawler.crawler, identity.name());
                        never.push((
                            name,
                            of.figures.requests - of.figures.refused,
                            of.figures.refused,
                        ));
                        "never"
                    }
                    AskedForRobotsTxt::After => "after other requests",
                    AskedForRobotsTxt::Before => continue,
                };
                rows.push(vec![
                    crawler.crawler.clone(),
                    identity.name().to_owned(),
                    what.to_owned(),
                    number(of.figures.requests),
                    number(of.figures.refused),
                ]);
            }
        }
        if rows.is_empty() {
            self.0.push_str("<p>Every crawler requested robots.txt first.</p>");
        } else {
            if !never.is_empty() {
                self.0.push_str("<h3>Crawlers that never requested robots.txt</h3>");
                let drawn: Vec<_> = never
                    .iter()
                    .take(MOST_BARS)
                    .map(|(name, others, refused)| Bar {
                        name,
                        parts: vec![(*others, "plain", "not refused"), (*refused, "wrong", "refused")],
                    })
                    .collect();
                self.0.push_str(&bars(&drawn));
                self.0.push_str("<ul class=\"legend\"><li><span class=\"key plain\"></span>requests that were not refused</li><li><span class=\"key wrong\"></span>refused</li></ul>");
            }
            self.0.push_str("<h3>Crawlers that did not request it first</h3>");
            self.table(
                &["Crawler", "Identity", "Requested robots.txt", "Requests", "Refused"],
                &rows,
                3,
            );
        }
        let mut statuses: BTreeMap<u16, [u64; 3]> = BTreeMap::new();
        for (identity, of) in report.crawlers.iter().flat_map(|crawler| &crawler.identities) {
            for (status, requests) in &of.robots_txt_statuses {
                statuses.entry(*status).or_default()[place_of(*identity)] += requests;
            }
        }
        if !statuses.is_empty() {
            self.0.push_str("<h3>Status codes that crawlers got for robots.txt</h3>");
            let names: Vec<_> = statuses.keys().map(u16::to_string).collect();
            let drawn: Vec<_> = statuses
                .values()
                .zip(&names)
                .map(|(split, name)| Bar { name, parts: by_identity(*split) })
                .collect();
            self.0.push_str(&bars(&drawn));
            self.0.push_str(IDENTITIES);
        }
        self.0.push_str("</section>\n");
    }

    fn addresses(&mut self, report: &AuditReport) {
        if report.addresses.is_empty() {
            return;
        }
        self.section("Addresses: contradicted, or unverified and refused");
        let rows: Vec<_> = report
            .addresses
            .iter()
            .map(|address| {
                let mut row = vec![address.address.clone(), address.crawler.clone()];
                row.extend(
                    [address.requests, address.refused, address.unverified, address.contradicted]
                        .map(number),
                );
                row
            })
            .collect();
        self.table(
            &["Address", "Claims to be", "Requests", "Refused", "Unverified", "Contradicted"],
            &rows,
            2,
        );
        self.0.push_str("</section>\n");
    }

    fn hosts(&mut self, report: &AuditReport) {
        if report.hosts.is_empty() {
            return;
        }
        self.section("Hosts");
        let rows: Vec<_> = report
            .hosts
            .iter()
            .map(|host| {
                let mut row =
                    vec![if host.host.is_empty() { "(none)".to_owned() } else { host.host.clone() }];
                row.extend([host.requests, host.allowed, host.refused, host.undecided].map(number));
                row
            })
            .collect();
        self.table(&["Host", "Requests", "Allowed", "Refused", "No file"], &rows, 1);
        self.0.push_str("</section>\n");
    }

    fn proposal(&mut self, proposal: &ProposalReport) {
        self.section(&format!("The same traffic under {}", proposal.file));
        let changed = proposal
            .crawlers
            .iter()
            .filter(|crawler| crawler.newly_refused + crawler.newly_allowed > 0);
        let mut rows = Vec::new();
        for crawler in changed {
            for change in &crawler.changes {
                let by = match (change.line, &change.text) {
                    (Some(line), Some(text)) => format!("{line}: {text}"),
                    _ => "no rule".to_owned(),
                };
                rows.push(vec![
                    crawler.crawler.clone(),
                    change.becomes.name().to_owned(),
                    by,
                    change.now.clone().unwrap_or_else(|| "no rule".to_owned()),
                    change.example.clone().unwrap_or_default(),
                    number(change.requests),
                ]);
            }
        }
        if rows.is_empty() {
            self.0.push_str("<p>Every decision would be the same as now.</p>");
        } else {
            self.table(&["Crawler", "Becomes", "By line", "Now by", "Example", "Requests"], &rows, 5);
        }
        self.0.push_str("</section>\n");
        let unmet: Vec<_> = proposal.unmet_rules.iter().collect();
        self.rules(
            &format!("Rules of {} that decided no request", proposal.file),
            "Every rule would decide at least one request.",
            &unmet,
            false,
        );
    }

    fn problems(&mut self, report: &AuditReport) {
        if report.lines.problems.is_empty() {
            return;
        }
        self.section("Lines that can't be read");
        let rows: Vec<_> = report
            .lines
            .problems
            .iter()
            .map(|problem| {
                let first = format!("{}:{}: {}", problem.log, problem.line, problem.text);
                vec![problem.message.to_string(), first, number(problem.lines)]
            })
            .collect();
        self.table(&["What is wrong", "First line", "Lines"], &rows, 2);
        self.0.push_str("</section>\n");
    }

    fn end(&mut self, report: &AuditReport) {
        self.0.push_str("<footer><p>Days and times are UTC. A request that the file refuses is not always a violation by that crawler: a contradicted request is not from the crawler, and an unverified one may not be.");
        let bounds = &report.bounds;
        if bounds.addresses_are_estimates {
            self.0.push_str(" Numbers of addresses are estimates, about 3 % off.");
        }
        let left_out = bounds.crawlers_left_out
            + bounds.paths_left_out
            + bounds.addresses_left_out
            + bounds.days_left_out;
        if left_out > 0 {
            self.0.push_str(" There were more names, paths, addresses or days than the report counts separately; the report as JSON says how many requests this affects.");
        }
        let proposed = report.proposal.as_ref().map_or(0, |proposal| proposal.unmet_rules_left_out);
        if bounds.unmet_rules_left_out + proposed > 0 {
            self.0.push_str(" There are more rules that decided no request than are listed; the report as JSON says how many.");
        }
        let proposed = report.proposal.as_ref().map_or(0, |proposal| proposal.too_costly);
        if bounds.too_costly + proposed > 0 {
            self.0.push_str(" To find out which groups of a robots.txt are for each crawler would take too long, so some requests are undecided; the report as JSON says how many.");
        }
        self.0.push_str("</p></footer></main></body></html>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_log_is_markup() {
        assert_eq!(
            escaped("<b a='\"'>&\u{202e}\u{0}\n"),
            "&lt;b a=&#39;&quot;&#39;&gt;&amp;\\u{202e}\\u{0}\\u{a}"
        );
    }
}

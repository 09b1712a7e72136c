//! A report → text for a terminal. What comes from logs and files is escaped.

use std::collections::BTreeMap;
use std::io::{self, Write};

use mayi::RuleKind;
use mayi::registry::AgentKind;
use mayi_audit::{AskedForRobotsTxt, AuditReport, Identity, ProposalReport, RuleReport, with_commas};

use crate::text::{BAD, DIM, STRONG, clipped, counted, shown, styled};

/// How many rows of a table are shown.
const MOST_ROWS: usize = 15;

/// Why requests are undecided where there was a file.
const TOO_COSTLY: &str =
    "undecided: to find out which groups of the file are for their crawlers would take too long";

pub(crate) struct Drawing<'o, W> {
    pub(crate) out: &'o mut W,
    pub(crate) columns: usize,
    pub(crate) all: bool,
}

impl<W: Write> Drawing<'_, W> {
    pub(crate) fn draw(&mut self, report: &AuditReport) -> io::Result<()> {
        self.head(report)?;
        self.crawlers(report)?;
        self.identities(report)?;
        let broken: Vec<_> = report
            .rules
            .iter()
            .filter(|rule| rule.kind == RuleKind::Disallow && rule.requests > 0)
            .collect();
        self.rules("RULES THAT WERE BROKEN MOST", &broken)?;
        self.paths(report)?;
        self.robots_txt(report)?;
        self.addresses(report)?;
        self.hosts(report)?;
        if let Some(proposal) = &report.proposal {
            self.proposal(proposal)?;
        }
        self.problems(report)?;
        self.bounds(report)
    }

    fn head(&mut self, report: &AuditReport) -> io::Result<()> {
        let lines = &report.lines;
        write!(self.out, "{} lines read", with_commas(lines.read))?;
        if lines.left_out > 0 {
            write!(self.out, ", {} of them left out", with_commas(lines.left_out))?;
        }
        if lines.unreadable > 0 {
            write!(self.out, ", {} that can't be read", with_commas(lines.unreadable))?;
        }
        if let Some(period) = &report.period {
            write!(self.out, "; from {} to {} (UTC)", period.first, period.last)?;
        }
        writeln!(self.out)?;
        let crawlers: u64 = report.crawlers.iter().map(|crawler| crawler.requests).sum();
        writeln!(
            self.out,
            "{} requests of crawlers, {} of clients that say they are a browser, {} of clients without a name",
            with_commas(crawlers),
            with_commas(report.browsers.requests),
            with_commas(report.nameless.requests)
        )
    }

    fn title(&mut self, title: &str) -> io::Result<()> {
        writeln!(self.out, "\n{}", styled(STRONG, title))
    }

    fn rest(&mut self, count: usize) -> io::Result<()> {
        if count > 0 {
            writeln!(
                self.out,
                "{}",
                styled(DIM, format_args!("and {} (--all lists them)", counted(count, "more row")))
            )?;
        }
        Ok(())
    }

    fn most(&self) -> usize {
        if self.all { usize::MAX } else { MOST_ROWS }
    }

    fn crawlers(&mut self, report: &AuditReport) -> io::Result<()> {
        if report.crawlers.is_empty() {
            return Ok(());
        }
        let name_width =
            report.crawlers.iter().map(|crawler| crawler.crawler.len()).max().unwrap_or(7).clamp(7, 24);
        let head = format!(
            "{:<name_width$}  {:<9} {:>11} {:>11} {:>9} {:>8} {:>10}",
            "CRAWLER", "KIND", "REQUESTS", "ALLOWED", "REFUSED", "EXCUSED", "ROBOTS.TXT"
        );
        self.title(&head)?;
        for crawler in report.crawlers.iter().take(self.most()) {
            let name = clipped(&shown(crawler.crawler.as_bytes()), name_width);
            let refused = format!("{:>9}", with_commas(crawler.refused));
            let refused = if crawler.refused > 0 { styled(BAD, refused) } else { refused };
            writeln!(
                self.out,
                "{name:<name_width$}  {:<9} {:>11} {:>11} {refused} {:>8} {:>10}",
                crawler.kind.map_or("-", AgentKind::name),
                with_commas(crawler.requests),
                with_commas(crawler.allowed),
                with_commas(crawler.excused),
                with_commas(crawler.robots_txt_requests)
            )?;
        }
        self.rest(report.crawlers.len().saturating_sub(self.most()))
    }

    fn identities(&mut self, report: &AuditReport) -> io::Result<()> {
        let checked =
            |crawler: &&mayi_audit::CrawlerReport| crawler.verified + crawler.contradicted > 0;
        let rows: Vec<_> = report.crawlers.iter().filter(checked).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let width = rows.iter().map(|crawler| crawler.crawler.len()).max().unwrap_or(7).clamp(7, 24);
        self.title(&format!(
            "{:<width$}  {:>11} {:>11} {:>12}  {}",
            "WHO IT IS", "VERIFIED", "UNVERIFIED", "CONTRADICTED", "REFUSED"
        ))?;
        for crawler in rows.iter().take(self.most()) {
            let refused = |identity: Identity| {
                crawler.identities.get(&identity).map_or(0, |identity| identity.figures.refused)
            };
            let contradicted = format!("{:>12}", with_commas(crawler.contradicted));
            let contradicted =
                if crawler.contradicted > 0 { styled(BAD, contradicted) } else { contradicted };
            writeln!(
                self.out,
                "{:<width$}  {:>11} {:>11} {contradicted}  {} / {} / {}",
                clipped(&shown(crawler.crawler.as_bytes()), width),
                with_commas(crawler.verified),
                with_commas(crawler.unverified),
                with_commas(refused(Identity::Verified)),
                with_commas(refused(Identity::Unverified)),
                with_commas(refused(Identity::Contradicted))
            )?;
        }
        self.rest(rows.len().saturating_sub(self.most()))
    }

    fn rules(&mut self, title: &str, rules: &[&RuleReport]) -> io::Result<()> {
        if rules.is_empty() {
            return Ok(());
        }
        self.title(title)?;
        let room = self.columns.saturating_sub(14);
        for rule in rules.iter().take(self.most()) {
            let place = format!("{}:{}: ", shown(rule.file.as_bytes()), rule.line);
            let text = clipped(&format!("{place}{}", shown(rule.text.as_bytes())), room);
            writeln!(self.out, "{:>11}  {text}", with_commas(rule.requests))?;
            let mut more = crate::text::listed(
                &rule.crawlers.iter().map(|name| shown(name.as_bytes())).collect::<Vec<_>>(),
                room / 2,
                false,
            );
            if let Some(example) = &rule.example {
                more = format!("{more}; e.g. {}", shown(example.as_bytes()));
            }
            if !rule.crawlers.is_empty() {
                writeln!(self.out, "{:>11}  {}", "", styled(DIM, clipped(&more, room)))?;
            }
        }
        self.rest(rules.len().saturating_sub(self.most()))
    }

    fn paths(&mut self, report: &AuditReport) -> io::Result<()> {
        if report.paths.is_empty() {
            return Ok(());
        }
        self.title("PATHS THAT WERE REFUSED MOST")?;
        let room = self.columns.saturating_sub(14);
        for path in report.paths.iter().take(self.most()) {
            writeln!(
                self.out,
                "{:>11}  {}",
                with_commas(path.requests),
                clipped(&shown(path.path.as_bytes()), room)
            )?;
        }
        self.rest(report.paths.len().saturating_sub(self.most()))
    }

    fn robots_txt(&mut self, report: &AuditReport) -> io::Result<()> {
        let mut rows = Vec::new();
        for crawler in &report.crawlers {
            for (identity, of) in &crawler.identities {
                let who = match identity {
                    Identity::Unverified => String::new(),
                    identity => format!(" ({})", identity.name()),
                };
                let what = match of.asked_for_robots_txt {
                    AskedForRobotsTxt::Never => "never asked for robots.txt",
                    AskedForRobotsTxt::After => "asked for other things before robots.txt",
                    AskedForRobotsTxt::Before => continue,
                };
                let requests = of.figures.requests;
                rows.push(format!(
                    "{}{who}: {what}, {} request{}",
                    shown(crawler.crawler.as_bytes()),
                    with_commas(requests),
                    if requests == 1 { "" } else { "s" }
                ));
            }
        }
        if !rows.is_empty() {
            self.title("WHO DID NOT ASK FOR ROBOTS.TXT FIRST")?;
            for row in rows.iter().take(self.most()) {
                writeln!(self.out, "  {row}")?;
            }
            self.rest(rows.len().saturating_sub(self.most()))?;
        }
        let mut statuses: BTreeMap<Identity, BTreeMap<u16, u64>> = BTreeMap::new();
        for (identity, of) in report.crawlers.iter().flat_map(|crawler| &crawler.identities) {
            for (status, requests) in &of.robots_txt_statuses {
                *statuses.entry(*identity).or_default().entry(*status).or_default() += requests;
            }
        }
        if !statuses.is_empty() {
            self.title("WHAT CRAWLERS GOT FOR ROBOTS.TXT")?;
        }
        for identity in Identity::ALL {
            let Some(statuses) = statuses.get(&identity) else { continue };
            let listed: Vec<_> = statuses
                .iter()
                .map(|(status, requests)| format!("{status} × {}", with_commas(*requests)))
                .collect();
            writeln!(self.out, "  {:<12}  {}", identity.name(), listed.join(", "))?;
        }
        Ok(())
    }

    fn addresses(&mut self, report: &AuditReport) -> io::Result<()> {
        if report.addresses.is_empty() {
            return Ok(());
        }
        self.title("WHERE THEY CAME FROM: CONTRADICTED, OR UNVERIFIED AND REFUSED")?;
        for address in report.addresses.iter().take(self.most()) {
            let what = if address.contradicted > 0 {
                styled(BAD, "contradicted")
            } else {
                "unverified  ".to_owned()
            };
            writeln!(
                self.out,
                "{:>11}  {what}  {}  says {}",
                with_commas(address.requests),
                shown(address.address.as_bytes()),
                shown(address.crawler.as_bytes())
            )?;
        }
        self.rest(report.addresses.len().saturating_sub(self.most()))
    }

    fn hosts(&mut self, report: &AuditReport) -> io::Result<()> {
        if report.hosts.is_empty() {
            return Ok(());
        }
        self.title(&format!("{:>11} {:>11} {:>11}  HOST", "REQUESTS", "REFUSED", "NO FILE"))?;
        for host in report.hosts.iter().take(self.most()) {
            let name =
                if host.host.is_empty() { "(none)".to_owned() } else { shown(host.host.as_bytes()) };
            let counts = [host.requests, host.refused, host.undecided].map(with_commas);
            writeln!(self.out, "{:>11} {:>11} {:>11}  {name}", counts[0], counts[1], counts[2])?;
        }
        self.rest(report.hosts.len().saturating_sub(self.most()))
    }

    fn proposal(&mut self, proposal: &ProposalReport) -> io::Result<()> {
        self.title(&format!("THE SAME TRAFFIC UNDER {}", shown(proposal.file.as_bytes())))?;
        let changed: Vec<_> = proposal
            .crawlers
            .iter()
            .filter(|crawler| crawler.newly_refused + crawler.newly_allowed > 0)
            .collect();
        if changed.is_empty() {
            writeln!(self.out, "  no decision would change")?;
        }
        let room = self.columns.saturating_sub(14);
        for crawler in changed.iter().take(self.most()) {
            writeln!(
                self.out,
                "  {}: {} newly refused, {} newly allowed; {} refused in all",
                styled(STRONG, shown(crawler.crawler.as_bytes())),
                with_commas(crawler.newly_refused),
                with_commas(crawler.newly_allowed),
                with_commas(crawler.refused)
            )?;
            let part = |identity| crawler.identities.get(&identity).copied().unwrap_or_default();
            let (verified, contradicted) = (part(Identity::Verified), part(Identity::Contradicted));
            if verified.allowed + verified.refused + contradicted.allowed + contradicted.refused > 0 {
                let newly = |what: &str, figure: fn(mayi_audit::ProposedPart) -> u64| {
                    let of = Identity::ALL.map(|identity| {
                        format!("{} {}", with_commas(figure(part(identity))), identity.name())
                    });
                    format!("newly {what}: {}", of.join(", "))
                };
                let refused = newly("refused", |part| part.newly_refused);
                let allowed = newly("allowed", |part| part.newly_allowed);
                writeln!(self.out, "    {}", styled(DIM, format_args!("{refused}; {allowed}")))?;
            }
            for change in crawler.changes.iter().take(5) {
                let by = match (change.line, &change.text) {
                    (Some(line), Some(text)) => format!("by line {line}: {}", shown(text.as_bytes())),
                    _ => "by no rule".to_owned(),
                };
                let example = change
                    .example
                    .as_deref()
                    .map(|example| format!("; e.g. {}", shown(example.as_bytes())));
                let text = format!("{} {by}{}", change.becomes.name(), example.unwrap_or_default());
                writeln!(self.out, "{:>11}  {}", with_commas(change.requests), clipped(&text, room))?;
            }
        }
        self.rest(changed.len().saturating_sub(self.most()))?;
        let unmet: Vec<_> = proposal.unmet_rules.iter().collect();
        self.rules("RULES OF THAT FILE THAT DECIDED NO REQUEST", &unmet)
    }

    fn problems(&mut self, report: &AuditReport) -> io::Result<()> {
        if report.lines.problems.is_empty() {
            return Ok(());
        }
        self.title("LINES THAT CAN'T BE READ")?;
        let room = self.columns.saturating_sub(14);
        for problem in &report.lines.problems {
            writeln!(self.out, "{:>11}  {}", with_commas(problem.lines), problem.message)?;
            let first = format!(
                "{}:{}: {}",
                shown(problem.log.as_bytes()),
                problem.line,
                shown(problem.text.as_bytes())
            );
            writeln!(self.out, "{:>11}  {}", "", styled(DIM, clipped(&first, room)))?;
        }
        Ok(())
    }

    fn bounds(&mut self, report: &AuditReport) -> io::Result<()> {
        let bounds = &report.bounds;
        for (requests, what) in [
            (bounds.crawlers_left_out, "of crawlers that are not listed: too many names"),
            (bounds.paths_left_out, "whose paths are not listed: too many paths"),
            (bounds.addresses_left_out, "whose addresses are not listed: too many addresses"),
            (bounds.days_left_out, "whose days are not listed: too many days"),
            (bounds.too_costly, TOO_COSTLY),
        ] {
            if requests > 0 {
                writeln!(
                    self.out,
                    "{}",
                    styled(DIM, format_args!("{} requests {what}", with_commas(requests)))
                )?;
            }
        }
        if let Some(proposal) = report.proposal.as_ref().filter(|proposal| proposal.too_costly > 0) {
            let requests = with_commas(proposal.too_costly);
            let line = format_args!("{requests} requests by the proposed file {TOO_COSTLY}");
            writeln!(self.out, "{}", styled(DIM, line))?;
        }
        let proposed = report.proposal.as_ref().map_or(0, |proposal| proposal.unmet_rules_left_out);
        for (rules, of) in [(bounds.unmet_rules_left_out, ""), (proposed, " of the proposed file")] {
            if rules > 0 {
                let rules = with_commas(rules);
                let line = format_args!("{rules} more rules{of} that decided no request");
                writeln!(self.out, "{}", styled(DIM, line))?;
            }
        }
        Ok(())
    }
}

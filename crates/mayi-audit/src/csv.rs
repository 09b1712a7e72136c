//! A report → one of its tables as CSV (RFC 4180).
//!
//! Names and paths come from the clients of the server. A cell that a spreadsheet would read as a formula
//! gets an apostrophe before it, and control characters are escaped.

use mayi::registry::AgentKind;

use crate::report::AuditReport;

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CsvTable {
    /// A row for each crawler and identity.
    Crawlers,
    /// A row for each rule, including those that matched no request.
    Rules,
    /// A row for each crawler, day and identity.
    Days,
    /// A row for each path that was refused.
    Paths,
    /// A row for each address that is worth a look.
    Addresses,
    /// A row for each crawler, identity and status that it got for robots.txt.
    Statuses,
    /// A row for each host, if each has its own file.
    Hosts,
    /// A row for each change under a proposed file.
    Changes,
}

impl CsvTable {
    /// All of them, with their names.
    pub const ALL: &[(&str, Self)] = &[
        ("crawlers", Self::Crawlers),
        ("rules", Self::Rules),
        ("days", Self::Days),
        ("paths", Self::Paths),
        ("addresses", Self::Addresses),
        ("statuses", Self::Statuses),
        ("hosts", Self::Hosts),
        ("changes", Self::Changes),
    ];
}

/// A table of a report as CSV, with a header.
pub fn csv(report: &AuditReport, table: CsvTable) -> String {
    let mut out = Rows(String::new());
    let write = match table {
        CsvTable::Crawlers => crawlers,
        CsvTable::Rules => rules,
        CsvTable::Days => days,
        CsvTable::Paths => paths,
        CsvTable::Addresses => addresses,
        CsvTable::Statuses => statuses,
        CsvTable::Hosts => hosts,
        CsvTable::Changes => changes,
    };
    write(report, &mut out);
    out.0
}

fn crawlers(report: &AuditReport, out: &mut Rows) {
    out.row(&[
        "crawler",
        "known",
        "operator",
        "kind",
        "identity",
        "requests",
        "allowed",
        "refused",
        "excused",
        "undecided",
        "robots_txt_requests",
        "addresses",
        "asked_for_robots_txt",
        "first",
        "last",
    ]);
    for crawler in &report.crawlers {
        for (identity, of) in &crawler.identities {
            let figures = &of.figures;
            out.row(&[
                &crawler.crawler,
                if crawler.known { "true" } else { "false" },
                crawler.operator.as_deref().unwrap_or_default(),
                crawler.kind.map_or("", AgentKind::name),
                identity.name(),
                &figures.requests.to_string(),
                &figures.allowed.to_string(),
                &figures.refused.to_string(),
                &figures.excused.to_string(),
                &figures.undecided.to_string(),
                &figures.robots_txt_requests.to_string(),
                &of.addresses.to_string(),
                of.asked_for_robots_txt.name(),
                of.first.as_deref().unwrap_or_default(),
                of.last.as_deref().unwrap_or_default(),
            ]);
        }
    }
}

fn rules(report: &AuditReport, out: &mut Rows) {
    out.row(&[
        "file",
        "line",
        "text",
        "kind",
        "requests",
        "verified",
        "unverified",
        "contradicted",
        "excused",
        "example",
    ]);
    for rule in report.rules.iter().chain(&report.unmet_rules) {
        let counts = [
            u64::from(rule.line),
            rule.requests,
            rule.verified,
            rule.unverified,
            rule.contradicted,
            rule.excused,
        ]
        .map(|count| count.to_string());
        let example = rule.example.as_deref().unwrap_or_default();
        out.row(&[
            &rule.file,
            &counts[0],
            &rule.text,
            rule.kind.name(),
            &counts[1],
            &counts[2],
            &counts[3],
            &counts[4],
            &counts[5],
            example,
        ]);
    }
}

fn days(report: &AuditReport, out: &mut Rows) {
    out.row(&["day", "crawler", "identity", "requests", "allowed", "refused"]);
    for crawler in &report.crawlers {
        for day in &crawler.days {
            for (identity, of) in &day.identities {
                let counts = [of.requests, of.allowed, of.refused].map(|count| count.to_string());
                out.row(&[
                    &day.day,
                    &crawler.crawler,
                    identity.name(),
                    &counts[0],
                    &counts[1],
                    &counts[2],
                ]);
            }
        }
    }
}

fn paths(report: &AuditReport, out: &mut Rows) {
    out.row(&["path", "requests", "verified", "unverified", "contradicted"]);
    for path in &report.paths {
        let counts = [path.requests, path.verified, path.unverified, path.contradicted]
            .map(|count| count.to_string());
        out.row(&[&path.path, &counts[0], &counts[1], &counts[2], &counts[3]]);
    }
}

fn addresses(report: &AuditReport, out: &mut Rows) {
    out.row(&["crawler", "address", "requests", "refused", "unverified", "contradicted"]);
    for address in &report.addresses {
        let counts = [address.requests, address.refused, address.unverified, address.contradicted]
            .map(|count| count.to_string());
        out.row(&[&address.crawler, &address.address, &counts[0], &counts[1], &counts[2], &counts[3]]);
    }
}

fn statuses(report: &AuditReport, out: &mut Rows) {
    out.row(&["crawler", "identity", "status", "requests"]);
    for crawler in &report.crawlers {
        for (identity, of) in &crawler.identities {
            for (status, requests) in &of.robots_txt_statuses {
                out.row(&[
                    &crawler.crawler,
                    identity.name(),
                    &status.to_string(),
                    &requests.to_string(),
                ]);
            }
        }
    }
}

fn hosts(report: &AuditReport, out: &mut Rows) {
    out.row(&["host", "identity", "requests", "allowed", "refused"]);
    for host in &report.hosts {
        for (identity, of) in &host.identities {
            let counts = [of.requests, of.allowed, of.refused].map(|count| count.to_string());
            out.row(&[&host.host, identity.name(), &counts[0], &counts[1], &counts[2]]);
        }
    }
}

fn changes(report: &AuditReport, out: &mut Rows) {
    out.row(&[
        "crawler",
        "becomes",
        "requests",
        "verified",
        "unverified",
        "contradicted",
        "now",
        "line",
        "text",
        "example",
    ]);
    for crawler in report.proposal.iter().flat_map(|proposal| &proposal.crawlers) {
        for change in &crawler.changes {
            let line = change.line.map(|line| line.to_string()).unwrap_or_default();
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            out.row(&[
                &crawler.crawler,
                change.becomes.name(),
                &change.requests.to_string(),
                &change.verified.to_string(),
                &change.unverified.to_string(),
                &change.contradicted.to_string(),
                &text(&change.now),
                &line,
                &text(&change.text),
                &text(&change.example),
            ]);
        }
    }
}

struct Rows(String);

impl Rows {
    fn row(&mut self, cells: &[&str]) {
        for (place, cell) in cells.iter().enumerate() {
            if place > 0 {
                self.0.push(',');
            }
            self.cell(cell);
        }
        self.0.push_str("\r\n");
    }

    fn cell(&mut self, text: &str) {
        let mut shown = String::with_capacity(text.len());
        // A formula may also stand after blanks.
        if text.trim_start().starts_with(['=', '+', '-', '@', '|', '%', '＝', '＋', '－', '＠']) {
            shown.push('\'');
        }
        for character in text.chars() {
            if character.is_control() {
                shown.extend(character.escape_unicode());
            } else {
                shown.push(character);
            }
        }
        if shown.contains(['"', ',', ' ', ';', '\'']) {
            self.0.push('"');
            self.0.push_str(&shown.replace('"', "\"\""));
            self.0.push('"');
        } else {
            self.0.push_str(&shown);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_formula_and_no_control_character() {
        let mut rows = Rows(String::new());
        rows.row(&["=1+1", " @SUM(A1)", "a,\"b\"", "a\r\nb\tc", "plain", "-5", "＝x"]);
        assert_eq!(
            rows.0,
            "\"'=1+1\",\"' @SUM(A1)\",\"a,\"\"b\"\"\",a\\u{d}\\u{a}b\\u{9}c,plain,\"'-5\",\"'＝x\"\r\n"
        );
    }
}

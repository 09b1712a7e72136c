//! What holds for every log. Property tests and the fuzz target `audit` call the same functions.

use mayi_audit::{
    Audit, AuditReport, Block, Condition, CsvTable, File, Format, OneSite, Site, Worker, csv, html,
};

/// A file with something of everything.
pub(crate) const ROBOTS: &str = "\
User-agent: *
Disallow: /private/
Allow: /private/press
Disallow: /*.pdf$

User-agent: GPTBot
Disallow: /

User-agent: .*-ai
Disallow: /ai/
";

/// An audit by that file; with another one proposed, if wanted.
pub(crate) fn audit(proposal: Option<&str>) -> Audit {
    let file =
        |text: &str| File::read("robots.txt", text.as_bytes().to_vec(), &mayi::ReadOptions::default());
    let audit = Audit::new(Box::new(OneSite::new(Site::always(file(ROBOTS)))));
    match proposal {
        Some(text) => audit.with_proposal(file(text)),
        None => audit,
    }
}

/// The report of blocks, each counted by a worker of its own.
pub(crate) fn report(audit: &Audit, blocks: &[&[u8]], format: &Format) -> AuditReport {
    let mut all = Worker::new(audit).tally().clone();
    for octets in blocks {
        let mut worker = Worker::new(audit);
        // No block is the first of its log: a byte order mark is for the start of a file.
        worker.take(&Block { octets, source: 0, first_line: 2, format });
        all.merge(worker.tally());
    }
    audit.report(&all, &["log".to_owned()])
}

/// The report as JSON, without where the lines stand that can't be read: that is not a figure.
pub(crate) fn figures(mut report: AuditReport) -> String {
    for problem in &mut report.lines.problems {
        problem.line = 0;
        problem.text.clear();
    }
    serde_json::to_string(&report).expect("a report is JSON")
}

/// What the fuzz target `audit` and its seeds go through: all laws, with the octets as the log.
pub(crate) fn door(octets: &[u8]) {
    any_octets_are_a_log(octets);
    let format = Format::detect(octets);
    the_same_file_changes_nothing(octets, &format);
    let lines: Vec<_> = octets.split(|&octet| octet == b'\n').map(<[u8]>::to_vec).collect();
    // Directives say what the lines behind them are, so their order does matter.
    if format.after(octets).is_none() {
        parts_and_order_do_not_matter(&lines, &[1, 2], &format);
    }
}

/// Law 1: any octets are a log, in any format, and every line of it is counted once.
pub(crate) fn any_octets_are_a_log(octets: &[u8]) {
    let audit = audit(None);
    let detected = Format::detect(octets);
    let named = Format::names().iter().map(|(name, _)| Format::named(name).expect("a name"));
    let own =
        Format::named(r#"$host ${remote_addr} [$time_local] "$request" $status "$http_user_agent""#);
    for format in named.chain([detected, own.expect("a format")]) {
        let report = report(&audit, &[octets], &format);
        let is_line = |line: &&[u8]| {
            let is_directive = format.is_directive(line.strip_suffix(b"\r").unwrap_or(line));
            !line.trim_ascii().is_empty() && !is_directive
        };
        let lines = octets.split(|&octet| octet == b'\n').filter(is_line).count() as u64;
        assert_eq!(report.lines.read + report.lines.unreadable, lines, "in {}", format.name());
        the_figures_add_up(&report);
        a_report_comes_back(&report);
        nothing_raw_is_shown(&report);
    }
}

/// Law 2: figures that are said to be parts of others are.
pub(crate) fn the_figures_add_up(report: &AuditReport) {
    let mut of_crawlers = 0;
    for crawler in &report.crawlers {
        let parts = crawler.allowed + crawler.refused + crawler.excused + crawler.undecided;
        assert_eq!(parts, crawler.requests, "{}", crawler.crawler);
        assert_eq!(crawler.verified + crawler.unverified + crawler.contradicted, crawler.requests);
        assert!(crawler.robots_txt_requests <= crawler.allowed + crawler.undecided);
        of_crawlers += crawler.requests;
    }
    let counted = of_crawlers
        + report.browsers.requests
        + report.nameless.requests
        + report.bounds.crawlers_left_out;
    assert_eq!(counted + report.lines.left_out, report.lines.read);
    let refused: u64 = report.crawlers.iter().map(|crawler| crawler.refused).sum();
    let by_rules: u64 = report
        .rules
        .iter()
        .filter(|rule| rule.kind == mayi::RuleKind::Disallow)
        .map(|rule| rule.requests)
        .sum();
    assert_eq!(refused, by_rules, "what is refused is refused by a rule");
}

/// A report is the same when it is written as JSON and read again.
pub(crate) fn a_report_comes_back(report: &AuditReport) {
    let json = serde_json::to_string(report).expect("a report is JSON");
    assert_eq!(serde_json::from_str::<AuditReport>(&json).expect("it was written"), *report, "{json}");
}

/// Law 3: nothing that a log has reaches a page or a table as more than text.
pub(crate) fn nothing_raw_is_shown(report: &AuditReport) {
    let page = html(report);
    assert!(page.chars().all(|character| !character.is_control() || character == '\n'));
    assert_eq!(page.matches("<script").count(), 0);
    for (_, table) in CsvTable::ALL {
        let text = csv(report, *table);
        assert!(
            text.split("\r\n").all(|record| record.chars().all(|character| !character.is_control()))
        );
    }
}

/// Law 4: splitting a log into parts, and their order, change no figure.
pub(crate) fn parts_and_order_do_not_matter(lines: &[Vec<u8>], cuts: &[usize], format: &Format) {
    let audit = audit(Some("User-agent: *\nDisallow: /private/press\n"));
    let whole = lines.join(&b'\n');
    let expected = figures(report(&audit, &[&whole], format));
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut rest = lines;
    for cut in cuts {
        let (part, after) = rest.split_at((*cut).min(rest.len()));
        parts.push(part.join(&b'\n'));
        rest = after;
    }
    parts.push(rest.join(&b'\n'));
    let as_slices: Vec<_> = parts.iter().map(|part| &**part).collect();
    assert!(
        figures(report(&audit, &as_slices, format)) == expected,
        "a log in parts has other figures"
    );
    let backwards: Vec<_> = as_slices.iter().rev().copied().collect();
    assert!(figures(report(&audit, &backwards, format)) == expected, "the order of parts matters");
    let reversed: Vec<_> = lines.iter().rev().cloned().collect();
    assert!(
        figures(report(&audit, &[&reversed.join(&b'\n')], format)) == expected,
        "the order of lines matters"
    );
}

/// Law 5: the same file proposed changes nothing.
pub(crate) fn the_same_file_changes_nothing(octets: &[u8], format: &Format) {
    let report = report(&audit(Some(ROBOTS)), &[octets], format);
    let proposal = report.proposal.as_ref().expect("a proposal");
    for (now, then) in report.crawlers.iter().zip(&proposal.crawlers) {
        assert_eq!((then.newly_refused, then.newly_allowed), (0, 0), "{}", now.crawler);
        assert_eq!((now.allowed, now.refused), (then.allowed, then.refused), "{}", now.crawler);
        assert!(then.changes.is_empty());
    }
    let holds = |text: &str| text.parse::<Condition>().expect("a condition").holds(&report).0;
    assert!(!holds("newly-refuses * > 0") && !holds("newly-allows * > 0"));
}

//! Logs whose truth is known → every figure of the report, in every format.

mod support;

use mayi_audit::{
    Audit, AuditReport, Condition, CsvTable, File, OneSite, Selection, Site, Unreadable, csv, html,
};
use support::{FORMATS, NEW, OLD, Plan, audit, check, log, planned, report, requests};

#[test]
fn every_figure_is_true_in_every_format() {
    for seed in 1..=3 {
        let (made, truth) = requests(seed, 4_000);
        assert!(
            truth.crawlers.values().all(|crawler| crawler.requests > 300),
            "the log has something of all"
        );
        assert!(
            truth.crawlers.values().any(|crawler| crawler.excused > 5),
            "and of the day after the change"
        );
        for format in FORMATS {
            let log = log(&made, format);
            assert_eq!(mayi_audit::Format::detect(log.as_bytes()).name(), *format);
            check(&report(&audit(), &[log.as_bytes()]), &truth);
        }
    }
}

/// Slips among the lines, many pages and mostly browsers: what `examples/make_log.rs` makes, in every format.
#[test]
fn a_log_as_people_have_it_is_counted_right() {
    let plan = Plan { seed: 5, browsers: 20, pages: 9, slips: 50 };
    let (made, truth) = planned(plan, 6_000);
    assert!(truth.unreadable > 50 && truth.browsers > 3_000, "the log has something of all");
    for format in FORMATS {
        check(&report(&audit(), &[log(&made, format).as_bytes()]), &truth);
    }
}

/// A file has more regular expressions than can be tried for every name of a log. What it names is decided, and so is a
/// crawler of the registry. The rest is undecided and counted, however the log is divided.
#[test]
fn what_would_cost_too_much_is_undecided_and_counted() {
    let regexes =
        (0..400).map(|number| format!("User-agent: .*-{number}$\n")).collect::<Vec<_>>().concat();
    let text = format!("{regexes}Disallow: /\nUser-agent: named\nDisallow: /a\n");
    let file = |name| File::read(name, text.clone().into_bytes(), &mayi::ReadOptions::default());
    let audit = Audit::new(Box::new(OneSite::new(Site::always(file("robots.txt")))));
    let audit = audit.with_proposal(file("proposed.txt"));
    let line = |path: &str, who: &str| {
        format!(
            "192.0.2.1 - - [01/Oct/2026:00:00:00 +0000] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"{who}/1\"\n"
        )
    };
    let names = ["named", "GPTBot", "other-7", "another"];
    let mut lines: Vec<_> = names.iter().map(|who| line("/a", who)).collect();
    lines.push(line("/robots.txt", "another"));
    let log = lines.concat();
    let seen = report(&audit, &[log.as_bytes()]);
    let figures = |name: &str| {
        let found = seen.crawlers.iter().find(|crawler| crawler.crawler == name).expect("it is listed");
        [found.allowed, found.refused, found.undecided]
    };
    assert_eq!(figures("named"), [0, 1, 0]);
    assert_eq!(figures("GPTBot"), [1, 0, 0]);
    assert_eq!(figures("other-7"), [0, 0, 1]);
    assert_eq!(figures("another"), [1, 0, 1]);
    assert_eq!(seen.bounds.too_costly, 2);
    assert_eq!(seen.proposal.as_ref().map(|proposal| proposal.too_costly), Some(2));
    let lines: Vec<_> = log.lines().rev().map(str::as_bytes).collect();
    let divided = report(&audit, &lines);
    assert_eq!((divided.crawlers, divided.bounds), (seen.crawlers.clone(), seen.bounds.clone()));
    assert!(html(&seen).contains("would take too long, so some requests are undecided"));
}

#[test]
fn logs_of_several_formats_make_one_report() {
    let (made, truth) = requests(7, 3_000);
    let parts: Vec<_> =
        made.chunks(400).zip(FORMATS.iter().cycle()).map(|(part, format)| log(part, format)).collect();
    let parts: Vec<_> = parts.iter().map(String::as_bytes).collect();
    check(&report(&audit(), &parts), &truth);
}

#[test]
fn slips_are_counted_and_shown() {
    let (made, mut truth) = requests(9, 500);
    let mut log = log(&made, "combined");
    let slips = [
        "no line of a log",
        "192.0.2.1 - - [32/Oct/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"x\"",
        "\u{0}\u{1b}[31m",
        "\" \" \"",
    ];
    for slip in slips {
        log.push_str(slip);
        log.push('\n');
        truth.unreadable += 1;
    }
    log.push_str("\n   \n");
    let report = report(&audit(), &[log.as_bytes()]);
    check(&report, &truth);
    let problems: Vec<_> = report
        .lines
        .problems
        .iter()
        .map(|problem| (problem.problem, problem.lines, problem.line))
        .collect();
    assert_eq!(problems, [(Unreadable::Fields, 3, 501), (Unreadable::Date, 1, 502)]);
    assert_eq!(report.lines.problems[0].text, "no line of a log");
}

#[test]
fn a_proposed_file_is_told_by_crawler_and_rule() {
    let (made, truth) = requests(11, 3_000);
    let old = || File::read("old.txt", OLD.as_bytes().to_vec(), &mayi::ReadOptions::default());
    let new = File::read("new.txt", NEW.as_bytes().to_vec(), &mayi::ReadOptions::default());
    let site = mayi_audit::Site::always(old());
    let audit = mayi_audit::Audit::new(Box::new(mayi_audit::OneSite::new(site))).with_proposal(new);
    let report = report(&audit, &[log(&made, "combined").as_bytes()]);
    let proposal = report.proposal.as_ref().expect("a proposal");
    let of =
        |name: &str| proposal.crawlers.iter().find(|crawler| crawler.crawler == name).expect("it came");
    // By hand: for who is not named, /private/press/1 and /drafts/1 become refused; for GPTBot /public/a
    // becomes allowed; for Googlebot /search does.
    assert!(of("CCBot").newly_refused > 0 && of("CCBot").newly_allowed == 0);
    let lines: Vec<_> =
        of("CCBot").changes.iter().map(|change| (change.becomes.name(), change.line)).collect();
    assert!(
        lines.contains(&("refused", Some(2)))
            && lines.contains(&("refused", Some(3)))
            && lines.len() == 2,
        "{lines:?}"
    );
    let changes = &of("GPTBot").changes;
    assert_eq!(changes.len(), 1);
    assert_eq!(
        (changes[0].becomes.name(), changes[0].line, changes[0].example.as_deref()),
        ("allowed", Some(6), Some("/public/a"))
    );
    assert!(changes[0].now.as_deref().is_some_and(|now| now.starts_with("old.txt:6: ")));
    assert_eq!(of("Googlebot").refused, 0);
    assert_eq!(proposal.unmet_rules.len(), 0);
    let holds = |text: &str| text.parse::<Condition>().expect("a condition").holds(&report).0;
    assert!(!holds("refuses Googlebot > 0"));
    assert!(holds("refuses ccbot > 0"));
    assert!(holds("newly-allows kind:search > 0"));
    assert!(holds("refuses * > 10%") && !holds("refuses * > 99%"));
    assert_eq!(truth.read, report.lines.read);
    let json = serde_json::to_string(&report).expect("JSON");
    assert_eq!(serde_json::from_str::<AuditReport>(&json).expect("it was written"), report);
}

#[test]
fn a_selection_leaves_the_rest_out() {
    let (made, truth) = requests(13, 2_000);
    let log = log(&made, "combined");
    let selected = |select: &dyn Fn(&mut Selection)| {
        let mut selection = Selection::default();
        select(&mut selection);
        report(&audit().with_selection(selection), &[log.as_bytes()])
    };
    let by_name = selected(&|selection| selection.crawlers = vec!["gptbot".to_owned()]);
    assert_eq!(by_name.crawlers.len(), 1);
    assert_eq!(by_name.crawlers[0].requests, truth.crawlers["GPTBot"].requests);
    assert_eq!(by_name.lines.left_out, truth.read - truth.crawlers["GPTBot"].requests);
    let training = mayi::registry::AgentKind::Training;
    let by_kind = selected(&|selection| selection.kinds = vec![training]);
    assert!(by_kind.crawlers.iter().all(|crawler| crawler.kind == Some(training)));
    let day = "2026-10-12".parse::<mayi_audit::Moment>().expect("a day");
    let by_day = selected(&|selection| {
        (selection.since, selection.until) = (Some(day.start()), Some(day.end()));
    });
    for crawler in &by_day.crawlers {
        let expected = truth.crawlers[&crawler.crawler].days["2026-10-12"];
        assert_eq!((crawler.requests, crawler.refused), expected, "{}", crawler.crawler);
    }
}

/// Nothing of a hostile line reaches a page, a table or the JSON as more than text.
#[test]
fn hostile_lines_are_text_everywhere() {
    let evil = "<script>alert(1)</script>\u{1b}[31m\u{202e}=cmd|' /C calc'!A0";
    let endless = "a".repeat(10 << 20);
    let line = |path: &str, agent: &str| {
        format!(
            "192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"{agent}\"\n"
        )
    };
    let mut log = line("/private/ok", "=SUM(1)-Bot");
    log.push_str(&line(&format!("/private/{evil}"), &format!("{evil}Bot/1 <img src=x>")));
    log.push_str(&line("/private/\u{0}\u{7}", "@bot"));
    log.push_str(&line(&format!("/private/{endless}"), "x"));
    log.push_str(evil);
    log.push('\n');
    let report = report(&audit(), &[log.as_bytes()]);
    assert_eq!((report.lines.read, report.lines.unreadable), (3, 2));
    let page = html(&report);
    assert!(!page.contains("<script") && !page.contains("<img"));
    assert!(page.chars().all(|character| !character.is_control() || character == '\n'));
    assert!(!page.contains('\u{202e}'));
    for (_, table) in CsvTable::ALL {
        for record in csv(&report, *table).split("\r\n") {
            assert!(record.chars().all(|character| !character.is_control()), "{record:?}");
            for cell in record.split(',') {
                let cell = cell.trim_start_matches('"');
                assert!(!cell.starts_with(['=', '+', '-', '@']), "{record:?}");
            }
        }
    }
}

/// REP-10: robots.txt itself is allowed, whether or not somebody knows the file.
#[test]
fn robots_txt_is_allowed_without_a_known_file() {
    let file = File::read("new.txt", NEW.as_bytes().to_vec(), &mayi::ReadOptions::default());
    let site = mayi_audit::Site::changing(vec![(Some(support::CHANGE), file)]).expect("one time");
    let audit = mayi_audit::Audit::new(Box::new(mayi_audit::OneSite::new(site)));
    let line = |path: &str| {
        format!(
            "192.0.2.1 - - [01/Oct/2026:00:00:00 +0000] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"GPTBot/1\"\n"
        )
    };
    let report = report(&audit, &[[line("/robots.txt"), line("/a")].concat().as_bytes()]);
    let gptbot = &report.crawlers[0];
    assert_eq!(
        (gptbot.requests, gptbot.allowed, gptbot.undecided, gptbot.robots_txt_requests),
        (2, 1, 1, 1)
    );
}

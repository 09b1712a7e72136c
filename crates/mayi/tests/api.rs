//! The public interface in use: what the examples in the documentation do not show is shown here, and
//! nothing public is shown nowhere.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mayi::access::{AccessResult, MOST_FRESH, NoFile, Origin, SiteFile, fresh_for};
use mayi::directive::{
    ALLOW, ALLOW_AI_TRAINING, APP_DIRECTIVES, CLEAN_PARAM, CONTENT_SIGNAL, CONTENT_USAGE, CRAWL_DELAY,
    DIRECTIVES, DISALLOW, DISALLOW_AI_TRAINING, Directive, GroupStart, HOST, LICENSE, NOINDEX,
    REQUEST_RATE, Role, USER_AGENT, USER_AGENT_PURPOSE, VISIT_TIME,
};
use mayi::edit::{EditReport, Goal, Refusal};
use mayi::meaning::{
    Became, Change, Comparison, Diff, DifferingPattern, DifferingPatterns, Grounds, Meaning,
    PartChange, ReaderDiff, Reading, ReadingGrounds, ReadingOf, RuleAt, ValueAt, compare, diff,
};
use mayi::page::{FoundAt, Loss, LossKind, PageControls, PageOptions, PageRule};
use mayi::registry::{AgentKind, Application, Category, Overrides, Registry, RegistryError, Status};
use mayi::report::{
    AppliedGroups, CopyReport, ErrorBody, ErrorCode, Explained, ExplainedAppRule, ExplainedApplication,
    ExplainedGroup, ExplainedIrregularity, ExplainedRule, ExplainedStart, FileHop, FileReport,
    FileSource, FoundRule, GroupReport, HtmlInput, LeftOut, OverrideReport, PageInput, PageRuleValue,
    PageRuleValues, Prepared, Report, Request, RobotsInput, RuleLine, Severities, SignalReport,
    Signals, SiteReport, StartReport, Timestamp, UsageReport, Uses, WarningCode, WarningPlace,
    WarningSource, answer,
};
use mayi::{
    AppDirectives, AppRule, ChosenGroup, Crawler, CrawlerRules, Cut, DecidingRule, Dialect, Formatted,
    Group, GroupBy, InvalidCrawler, Irregularity, IrregularityKind, Line, LineNumber, LineRecord,
    OtherRecords, Override, Preference, ReadOptions, RobotsTxt, RuleKind, SignalSource, Span, Spent,
    StartLine, Target, Unformatted, UnreadableUsage, Use, ValueType, edit,
};

const FILE: &[u8] = b"disalow /a b\nuseragent: ExampleBot Disallow: /a\nContent-Signal: ai-train=no\n\
    Request-rate: 1/5\n\nUser-agent: *\nDisallow /b\nApp-Directives: exampleassistant;learn=?0\n";

fn crawler() -> Crawler {
    Crawler::new("ExampleBot").expect("a token")
}

fn target() -> Target<'static> {
    Target::parse("https://example.com/a?u=x:y").expect("a URL")
}

#[test]
fn lines_have_records_and_places() {
    let robots = RobotsTxt::parse(FILE);
    let lines: Vec<Line<'_>> = robots.lines().collect();
    assert!(lines[0].is_unreadable());
    assert_eq!(lines[0].number(), LineNumber::FIRST);
    let record: LineRecord<'_> = lines[1].record().expect("a record");
    assert!(record.is_misspelled() && !record.lacks_colon());
    assert_eq!(record.value_span(), Span { start: 24, end: 34 });
    let rule = lines[1].inline_rule().expect("a rule");
    assert_eq!((rule.name(), rule.value()), (&b"Disallow"[..], &b"/a"[..]));
    assert!(lines[6].record().is_some_and(|record| record.lacks_colon()));
    let groups: Vec<Group<'_>> = robots.groups().collect();
    assert_eq!(groups.len(), 2);
    let found: Vec<Irregularity> = robots.irregularities().collect();
    assert_eq!(found[0].kind(), IrregularityKind::Unreadable);
    let none: Option<Cut> = robots.cut();
    assert_eq!(none, None);
}

#[test]
fn decisions_have_evidence() {
    let (robots, crawler, target) = (RobotsTxt::parse(FILE), crawler(), target());
    assert!(target.normalised().starts_with(b"/") && !target.is_robots_txt());
    let decision = robots.decide(&crawler, &target);
    let rule: &DecidingRule<'_> = decision.rule().expect("a rule");
    let group: &ChosenGroup<'_> = decision.group().expect("a group");
    assert_eq!((rule.line().number(), group.lines()[0].number()), (2, 2));
    let explanation = robots.explain(&crawler, &target);
    let start: &StartLine<'_> = &explanation.groups()[0].starts()[0];
    assert_eq!(start.value(), b"ExampleBot");
    let rules: CrawlerRules = robots.for_crawler(&crawler);
    let same = Target::from_path("/a?u=x:y").expect("a path");
    assert_eq!(rules.decide(&same), decision);
    assert_eq!(Dialect::GOOGLE.name(), "google");
    let exempt = Crawler::new("OtherBot").expect("a token").ignoring_global(true);
    assert_eq!(robots.decide(&exempt, &target).reason().name(), "no-group");
}

#[test]
fn every_directive_has_its_role() {
    let named: [&Directive; 16] = [
        &ALLOW,
        &ALLOW_AI_TRAINING,
        &APP_DIRECTIVES,
        &CLEAN_PARAM,
        &CONTENT_SIGNAL,
        &CONTENT_USAGE,
        &CRAWL_DELAY,
        &DISALLOW,
        &DISALLOW_AI_TRAINING,
        &HOST,
        &LICENSE,
        &NOINDEX,
        &REQUEST_RATE,
        &USER_AGENT,
        &USER_AGENT_PURPOSE,
        &VISIT_TIME,
    ];
    assert!(named.iter().all(|directive| DIRECTIVES.contains(directive)));
    assert_eq!(APP_DIRECTIVES.aliases, ["App-Directive"]);
    assert_eq!(HOST.listed_as, Some("host"));
    assert_eq!(USER_AGENT_PURPOSE.role, Role::StartsGroup(GroupStart::Purpose));
    let ends = |directive: &Directive| directive.role.ends_group_start();
    assert!(ends(&DISALLOW) && ends(&CONTENT_USAGE) && !ends(&CONTENT_SIGNAL));
}

#[test]
fn the_other_parts_of_a_decision() {
    let (robots, target) = (RobotsTxt::parse(FILE), target());
    let crawler = crawler().with_application("exampleassistant").expect("a token");
    let asked: Vec<AppDirectives> = robots.app_directives(&crawler, &target);
    let rules: &[AppRule] = asked[0].rules();
    assert!(rules[0].applies);
    assert_eq!(asked[0].value("learn").map(mayi::Value::value_type), Some(ValueType::Boolean));
    let stating = [FILE, b"Content-Usage: train-ai=y\n"].concat();
    let usage = RobotsTxt::parse(&stating).usage(&crawler, &target, &[]);
    let overrides: &[Override] = usage.overrides();
    assert!(overrides.is_empty(), "the group of ExampleBot states nothing");
    let stating =
        b"User-agent: *\nContent-Usage: train-ai=y\nApp-Directives: exampleassistant;learn=?0\n";
    let usage = RobotsTxt::parse(stating).usage(&crawler, &target, &[]);
    assert_eq!(usage.overrides()[0].outcome, Preference::Disallowed);
    let usage = robots.usage(&crawler, &target, &[]);
    assert!(usage.signals().iter().any(|signal| signal.source == SignalSource::ContentSignal));
    assert_eq!(usage.answer(Use::Train), Preference::Disallowed);
    let records: OtherRecords<'_> = robots.other_records(&crawler);
    assert_eq!(records.content_signal().value("ai-train"), Some("no"));

    let controls = PageControls::read(&[("X-Robots-Tag", "noai")], b"");
    let rules = controls.for_crawler(&crawler);
    assert!(rules.has_noai());
    let rule: &PageRule = &rules.rules()[0];
    let expected = FoundAt::Field { name: "X-Robots-Tag".to_owned(), line: 1, member: 1 };
    assert_eq!(rule.found(), &expected);
    assert_eq!(fresh_for([], std::time::SystemTime::UNIX_EPOCH), MOST_FRESH);
}

#[test]
fn registries_have_entries_and_errors() {
    let registry = Registry::built_in();
    let application: &Application = registry.application("exampleassistant").expect("it is shipped");
    assert_eq!(application.product_token.as_str(), "ExampleAssistant");
    let directive = registry.directive("exampleassistant", "learn").expect("it is shipped");
    assert_eq!(directive.status, Status::Active);
    let overrides: &Overrides = directive.overrides.as_ref().expect("it overrides");
    let category: &Category = registry.category(&overrides.category).expect("it is shipped");
    assert_eq!(category.label, "train-ai");
    assert_eq!(registry.agent("GPTBot").map(|agent| agent.kind), Some(AgentKind::Training));
    let errors = registry
        .extended("mine.toml", "[[category]]\nlabel = \"A\"\nname = \"\"\ndescription = \"\"")
        .expect_err("labels are in lower case");
    let first: &RegistryError = errors.iter().next().expect("one at least");
    assert_eq!((first.file(), first.line()), ("mine.toml", 2));
    // A file can have an error for every few octets: some are listed, all are counted.
    let wrong = "[[purpose]]\ntoken = \"\"\ndescription = \"\"\n".repeat(1_000);
    let errors = registry.extended("mine.toml", &wrong).expect_err("a token is not empty");
    let listed = errors.iter().count();
    assert_eq!((listed, listed + errors.left_out()), (100, 1_000));
    assert!(errors.to_string().ends_with("\n900 more errors are not listed"), "{errors}");
    let errors =
        registry.extended("mine.toml", &"#".repeat((1 << 20) + 1)).expect_err("it is too long");
    let expected = "mine.toml:1: the file has 1048577 octets; a registry file has at most 1048576";
    assert_eq!(errors.to_string(), expected);
    assert!(registry.extended("mine.toml", &"#".repeat(1 << 20)).is_ok());
}

#[test]
fn wrong_crawlers_say_what_is_wrong() {
    let purpose: InvalidCrawler = crawler().with_purpose(" ").expect_err("no token");
    let application = crawler().with_application("1").expect_err("no token");
    let user_agent = crawler().with_user_agent("OtherBot").expect_err("another name");
    assert!(purpose.is_purpose() && application.is_application() && user_agent.is_user_agent());
}

#[test]
fn reports_have_their_shapes() {
    let json = r#"{"url": "https://example.com/a", "agent": "ExampleBot", "explain": true, "apps": ["exampleassistant"],
        "robots": "User-agent: *\nallow: /\nContent-Usage: train-ai=y\nApp-Directives: exampleassistant;learn=?0\nx",
        "page": {"headers": [["Robots-Tag", "*;noai, x"]], "html": "<p>"}}"#;
    let request = Request::from_json(json.as_bytes()).expect("a request");
    let page: &PageInput<'_> = request.page.as_ref().expect("a page");
    assert!(matches!(page.html, Some(HtmlInput::Text(_))));
    assert!(matches!(request.robots, Some(RobotsInput::Text(_))));
    let answer = answer(&request).expect("an answer");
    let report = answer.report();
    let group: &AppliedGroups = report.access.group.as_ref().expect("a group");
    let uses: &Uses = &report.uses;
    assert_eq!((group.by, uses.train), (GroupBy::Global, Preference::Disallowed));
    let signals: &Signals = &report.signals;
    let (about, spoke): (Use, &[SignalReport]) = signals.iter().next().expect("something spoke");
    assert_eq!((about, spoke.len()), (Use::Train, 3));
    let usage: &UsageReport = report.usage.as_ref().expect("it may be fetched");
    let (train, _) = usage.categories().first().expect("the vocabulary has categories");
    assert!(usage.other().is_empty() && !train.is_empty());
    let over: &OverrideReport = &report.overrides[0];
    assert_eq!(over.directive, "learn");
    let page = report.page.as_ref().expect("a page");
    let values: &PageRuleValues = &page.rules;
    assert!(values.iter().eq([("noai", &PageRuleValue::Set(true))]));
    let found: &FoundRule = &page.found.as_ref().expect("explained")[0];
    assert_eq!(found.rule, "noai");
    let explained: &Explained<'_> = report.explanation.as_ref().expect("asked for");
    let considered: &ExplainedGroup<'_> = &explained.groups[0];
    let start: &ExplainedStart<'_> = &considered.starts[0];
    let rule: &ExplainedRule<'_> = &explained.matches[0];
    let irregular: &ExplainedIrregularity = &explained.irregularities[0];
    assert_eq!((start.line, rule.line, irregular.line), (1, 2, 5));
    let application: &ExplainedApplication = &explained.applications[0];
    let app_rule: &ExplainedAppRule = &application.rules[0];
    assert!(app_rule.applies && app_rule.line == 4);
    let error = Request::from_json(b"[]").expect_err("no object");
    let body: ErrorBody<'_> = error.report().error;
    assert_eq!(body.code, ErrorCode::InvalidRequest);
}

/// A file that is not there is no empty file: it has its reason, and everything that was prepared keeps it.
#[test]
fn no_file_is_not_an_empty_one() {
    let options = ReadOptions::default();
    assert!(SiteFile::ended(AccessResult::Successful, &options).is_none());
    let file = SiteFile::ended(AccessResult::of_status(503), &options).expect("there is none");
    assert!(matches!(&file, SiteFile::Ended(none) if { let _: &NoFile = none; true }));
    assert!(file.robots_txt().is_none() && file.dialect().name() == "rfc9309");
    let (crawler, target) = (crawler(), target());
    let robots_txt = Target::parse("https://example.com/robots.txt").expect("a URL");
    let explanation = file.explain(&crawler, &target);
    assert!(explanation.robots_txt().is_none() && explanation.groups().is_empty());
    let report: Report<'_> = file.report(&crawler, &target);
    let prepared = Prepared::new(file.clone(), crawler.clone(), None);
    assert_eq!(prepared.report(&target, &[], None), report);
    assert_eq!((prepared.file().access(), prepared.crawler()), (file.access(), &crawler));
    for target in [&target, &robots_txt] {
        let decision = file.decide(&crawler, target);
        assert_eq!(decision.is_allowed(), std::ptr::eq(target, &raw const robots_txt));
        assert_eq!(file.for_crawler(&crawler).decide(target), decision);
        assert_eq!(file.explain(&crawler, target).decision(), &decision);
    }
}

fn comes_back<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(it: &T) {
    let json = serde_json::to_string(it).expect("JSON");
    assert_eq!(serde_json::from_str::<T>(&json).expect("it was written"), *it, "{json}");
}

/// What is known of a site, and what the registries have, is the same when it is written and read again.
#[test]
fn sites_and_registries_come_back() {
    let origin = Origin::of_url("https://example.com").expect("an origin");
    let at =
        Timestamp::from(SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(1_700_000_000_500));
    let result = AccessResult::of_status(503);
    let mut report = SiteReport::new(&origin, &result, at);
    comes_back(&report);
    report.failing_since = Some(at);
    report.asked = vec![FileHop::new("https://example.com/robots.txt", Some(503), None)];
    let mut story = FileReport::new(FileSource::StaleUnreachable, &result);
    story.fresh_until = Some(at);
    story.hops = vec![FileHop::new("https://example.com/robots.txt", None, Some("timeout"))];
    report.file = Some(story);
    for (body, content_type, is_text) in [
        (&b"User-agent: *\nDisallow: /caf\xC3\xA9\n"[..], None, true),
        (b"User-agent: *\nDisallow: /caf\xE9\nx\n", Some("text/plain; charset=iso-8859-1"), false),
        (b"\xFF\xFEU\0", Some("text/plain"), false),
    ] {
        let copy: CopyReport = CopyReport::new(&report.url, at).with_body(body, content_type);
        assert_eq!(matches!(copy.robots, Some(RobotsInput::Text(_))), is_text);
        assert_eq!(copy.text.is_none(), is_text);
        report.earlier.push(copy);
        report.copy = report.earlier.first().cloned();
        report = report.with_file(&RobotsTxt::parse(body));
        comes_back(&report);
    }
    let robots = RobotsTxt::parse(b"User-agent: a\nDisallow: /\nSitemap: s\n");
    let report = report.with_file(&robots);
    let group: &GroupReport = &report.groups[0];
    let (start, rule): (&StartReport, &RuleLine) = (&group.starts[0], &group.rules[0]);
    assert_eq!((&*start.value, &*rule.pattern, report.sitemaps.len()), ("a", "/", 1));

    let registry = Registry::built_in();
    registry.purposes().iter().for_each(comes_back);
    registry.applications().iter().for_each(comes_back);
    registry.directives().iter().for_each(comes_back);
    registry.categories().iter().for_each(comes_back);
    registry.agents().iter().for_each(comes_back);
    let wrong = r#"{"identifier":"a","product_token":"a b","change_controller":"c"}"#;
    assert!(serde_json::from_str::<Application>(wrong).is_err(), "it is no product token");
}

/// Every vector's request, report and error is the same when it is written and read again; and the words of
/// an answer in JSON are those of its types.
#[test]
fn requests_and_reports_come_back() {
    let mut reports = 0;
    for case in mayi_vectors::all().cases {
        let json = case.request.to_string();
        match Request::from_json(json.as_bytes()) {
            Err(error) => comes_back(&error.report()),
            Ok(request) => {
                let written = serde_json::to_string(&request).expect("JSON");
                assert_eq!(Request::from_json(written.as_bytes()).as_ref(), Ok(&request), "{json}");
                let Ok(answer) = answer(&request) else { continue };
                let report = answer.report();
                comes_back(&report);
                assert_eq!(report.clone().into_owned(), report);
                let value = serde_json::to_value(&report).expect("JSON");
                assert_eq!(value["access"]["reason"], report.access.reason.name());
                let by = report.access.group.as_ref().map(|group| group.by.name());
                assert_eq!(value["access"]["group"]["by"].as_str(), by);
                for (about, signals) in report.signals.iter() {
                    assert_eq!(value["signals"][about.name()][0]["signal"], signals[0].signal.name());
                    assert_eq!(value["signals"][about.name()][0]["says"], signals[0].says.name());
                }
                reports += 1;
            }
        }
    }
    assert!(reports > 1000, "{reports} vectors have an answer");
}

/// An edit that is made and one that is refused are the same when they are written and read again.
#[test]
fn edits_come_back() {
    let registry = Registry::built_in();
    let goals = [Goal::refuse(&["ExampleBot"], "/a/", &registry).expect("a goal")];
    for (file, refused) in [
        (&b"User-agent: *\nDisallow: /b\nContent-Signal: search=yes\n"[..], None),
        (b"User-agent: ExampleBot\nAllow: /*/b\n", Some("rule-in-the-way")),
        (b"\xFF", Some("encoding")),
    ] {
        let mut report: EditReport = edit::report(file, &goals, &ReadOptions::default());
        assert_eq!(report.refused.as_ref().map(|why: &Refusal| &*why.code), refused);
        if let Some(diff) = &mut report.diff {
            // What it cost is not written.
            diff.spent = Spent::default();
        }
        comes_back(&report);
    }
}

/// What a request can't say of a fetch is written as something that is decided alike.
#[test]
fn every_end_of_a_fetch_is_decided_alike_when_it_is_read_again() {
    use mayi::access::{Unavailable, Unreachable};
    for result in [
        AccessResult::of_status(404),
        AccessResult::of_status(503),
        AccessResult::of_error("timeout"),
        AccessResult::of_error("redirect-loop"),
        AccessResult::of_error("too-many-redirects"),
        AccessResult::Unavailable(Unavailable::RedirectElsewhere),
        AccessResult::Unavailable(Unavailable::UnreachableForLong),
        AccessResult::Unavailable(Unavailable::Status(503)),
        AccessResult::Unreachable(Unreachable::Status(404)),
        AccessResult::Unreachable(Unreachable::Status(7)),
        AccessResult::Unreachable(Unreachable::Network("redirect-loop".into())),
    ] {
        let mut request = Request::new("https://example.com/", "ExampleBot");
        request.robots = Some(RobotsInput::Ended(result));
        let written = serde_json::to_string(&request).expect("JSON");
        let read = Request::from_json(written.as_bytes()).expect("it was written");
        let reason = |request| answer(request).expect("an answer").report().access.reason;
        assert_eq!(reason(&read), reason(&request), "{written}");
    }
}

#[test]
fn differences_have_their_shapes() {
    let file = b"User-agent: *\nDisallow: /a\nSitemap: s\n\nUser-agent: b\nDisallow: /\n";
    let comparison: Comparison = compare(file, &ReadOptions::default(), Dialect::BY_TOKEN, None);
    let reading: &Reading = &comparison.readings[1];
    let of: &ReadingOf = &reading.of[0];
    assert_eq!((&*reading.name, &*of.crawler, of.every_dialect), ("B", "b", true));
    let row: &DifferingPatterns = &comparison.rows[0];
    let pattern: &DifferingPattern = &row.patterns[0];
    assert_eq!((&*pattern.pattern, &*pattern.example, row.pattern_count), ("/", "/", 1));
    let why: &ReadingGrounds = &row.why[1];
    let grounds: &Grounds = &why.grounds;
    let rule: &RuleAt = grounds.rule.as_ref().expect("a rule");
    assert_eq!((why.allowed, rule.kind, rule.line), (false, RuleKind::Disallow, 6));
    assert_eq!((comparison.pattern_count, comparison.patterns_left_out), (2, 0));
    assert_eq!(comparison.crawlers_left_out, 0);

    let old = RobotsTxt::parse(file);
    let new = RobotsTxt::parse(b"User-agent: *\nDisallow: /*a\n");
    let found: Diff = diff(&old, &new);
    assert_eq!((found.meaning, &*found.dialect, found.same_text), (Meaning::Changed, "rfc9309", false));
    assert_eq!((found.asked, found.left_out), (2, 0));
    let readers: &ReaderDiff = &found.crawlers[0];
    let change: &Change = &readers.changes[0];
    assert_eq!((change.became, &*change.example), (Became::Disallowed, "/xa"));
    assert_eq!((readers.change_count, readers.unproved.len(), readers.records.len()), (1, 0, 0));
    let part: &PartChange = &found.file[0];
    let value: &ValueAt = &part.removed[0];
    assert_eq!(
        (&*part.directive, &*value.value, value.line, part.reordered),
        ("Sitemap", "s", 3, false)
    );

    let formatted: Formatted<'_> = mayi::format(b"allow:/");
    assert_eq!(formatted.unformatted(), None::<Unformatted>);
    assert_eq!(&*formatted.into_octets(), b"Allow: /\n");
}

/// What was lost is told by the library as it is by reports.
#[test]
fn what_was_lost() {
    let robots = RobotsTxt::parse(b"User-agent: *\nContent-Usage: /a\n");
    let usage = robots.usage(&crawler(), &target(), &[]);
    let unreadable: &UnreadableUsage = &usage.unreadable()[0];
    assert_eq!((unreadable.line.map(LineNumber::number), unreadable.is_missing), (Some(2), true));

    let mut options = PageOptions::default();
    options.now = Some(SystemTime::UNIX_EPOCH);
    let fields = [
        ("Robots-Tag", "*;noindex, @@"),
        ("X-Robots-Tag", "unavailable_after: 1 Jan 1980 00:00:00 GMT"),
    ];
    let rules = PageControls::read_with(&fields, b"", options).for_crawler(&crawler());
    let loss: &Loss = &rules.losses()[0];
    assert_eq!(loss.kind, LossKind::UnreadableMember);
    assert!(!rules.is_unavailable(), "its time has not come");

    let mut request = Request::new("https://example.com/a", "ExampleBot");
    request.complete_now(|| unreachable!("nothing of it ends"));
    assert_eq!(request.now, None);
    request.robots = Some(RobotsInput::Text("User-agent: *\nContent-Usage: /a\nx\n".into()));
    request.explain = true;
    let answer = answer(&request).expect("an answer");
    let report = answer.report();
    let place: &WarningPlace = &report.warnings[0].place;
    assert_eq!((place.within, place.line), (WarningSource::RobotsTxt, Some(2)));
    assert_eq!(report.warnings[0].code, WarningCode::UnreadableContentUsage);
    let linted = mayi::lint::lint(b"x\n", &mayi::lint::Options::default());
    let severities: Severities = mayi::report::LintReport::of("robots.txt", &linted).severities;
    assert!(severities.error + severities.warning + severities.note > 0);
    let explained: &Explained<'_> = report.explanation.as_ref().expect("it was asked for");
    let left_out: LeftOut = explained.left_out;
    assert_eq!((left_out.groups, left_out.matches, left_out.irregularities), (0, 0, 0));
}

/// What a site's owner asks: who may do what, and an edit that changes it.
#[test]
fn an_owner_can_name_every_part_of_an_overview_and_an_edit() {
    use mayi::edit::{AccessGoal, Carrier, Goal, GoalInput, NewFile, Preferences, Refusal, report};
    use mayi::meaning::{
        CrawlerOverview, GroupAt, RuleWithExample, UseElsewhere, UseGrounds, overview,
    };
    use mayi::registry::Registry;
    use mayi::report::{AgentReport, KnownAgent, LivePageReport, RobotsInput};

    let options = mayi::ReadOptions::default();
    let text =
        "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a train-ai=y\nDisallow: /cart/\n";
    let given = RobotsInput::Text(text.into());
    let said = overview(&given.site_file(&options).expect("a file"), &options);
    let training = said.kinds.iter().find(|kind| kind.kind == "training").expect("a kind");
    let gptbot: &CrawlerOverview =
        training.crawlers.iter().find(|crawler| crawler.token == "GPTBot").expect("it is known");
    let group: GroupAt = gptbot.group.expect("the group of `*`");
    assert_eq!((group.by, group.line), (GroupBy::Global, 1));
    let answer = &said.answers[gptbot.answer];
    let rule: &RuleWithExample = &answer.crawling.rules[0];
    assert_eq!((rule.kind, &*rule.pattern, rule.line), (RuleKind::Disallow, "/cart/", 4));
    let train = answer.uses.iter().find(|it| it.about == mayi::Use::Train).expect("it is spoken of");
    let because: &UseGrounds = &train.because[0];
    assert_eq!((train.answer, because.line), (mayi::Preference::Disallowed, Some(2)));
    let elsewhere: &UseElsewhere = &train.elsewhere[0];
    assert_eq!((elsewhere.answer, elsewhere.because[0].line), (mayi::Preference::Allowed, Some(3)));

    let goal: GoalInput =
        serde_json::from_str(r#"{"say": "refuse", "who": ["GPTBot"], "path": "/p/"}"#).expect("a goal");
    let goal = goal.goal(&Registry::built_in()).expect("a right one");
    let Goal::Access(of_access) = &goal else { panic!("{goal:?}") };
    let of_access: &AccessGoal = of_access;
    assert_eq!((of_access.path(), of_access.is_to_allow()), ("/p/", false));
    let in_the_way = report(b"User-agent: GPTBot\nAllow: /*.html$\n", &[goal], &options);
    let refusal: Refusal = in_the_way.refused.expect("a rule is in the way");
    assert_eq!((&*refusal.code, refusal.line), ("rule-in-the-way", Some(2)));
    let mut preferences = Preferences::default();
    preferences.train = mayi::Preference::Disallowed;
    let prefer = Goal::prefer(Carrier::ContentUsage, preferences).expect("a right one");
    let text = NewFile::default().text().expect("a right one");
    let said = report(text.as_bytes(), &[prefer], &options);
    assert_eq!(said.robots.as_deref(), Some("User-agent: *\nContent-Usage: train-ai=n\nDisallow:\n"));

    let agent = AgentReport::of("Mozilla/5.0 (compatible; GPTBot/1.2)", &Registry::built_in(), None);
    let known: &KnownAgent = &agent.known[0];
    assert_eq!((&*known.token, known.operator.as_deref()), ("GPTBot", Some("OpenAI")));

    let page = LivePageReport::new("https://example.com/", "ExampleBot", Vec::new(), String::new());
    let crawler = Crawler::new("ExampleBot").expect("a token");
    let fields = [("Content-Type", "text/html"), ("X-Robots-Tag", "noindex")];
    let page = page.with_answer(200, &fields, (b"<p>", false), &crawler, PageOptions::default());
    assert!(!page.page.expect("it was read").index);
}

/// Every public item is named in an example of the documentation, in a test or in the command.
#[test]
fn nothing_public_is_shown_nowhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut shown = String::new();
    let mut items = Vec::new();
    for path in rust_files(&root.join("src")) {
        let text = fs::read_to_string(&path).expect("a source file");
        for line in text.lines().map(str::trim).filter(|line| line.starts_with("//")) {
            writeln!(shown, "{line}").expect("writing to memory does not fail");
        }
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        items.extend(text.lines().filter_map(public_item).map(|item| (item.to_owned(), path.clone())));
    }
    for folder in ["tests", "../mayi-fetch/src", "../mayi-cli/src", "../mayi-cli/tests"] {
        for path in rust_files(&root.join(folder)) {
            shown += &fs::read_to_string(&path).expect("a source file");
        }
    }
    assert!(items.len() > 200, "only {} items were found", items.len());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words: std::collections::HashSet<&str> = shown.split(|c| !is_word(c)).collect();
    let missing: Vec<_> = items.iter().filter(|(item, _)| !words.contains(item.as_str())).collect();
    assert!(missing.is_empty(), "shown nowhere: {missing:?}");
}

fn public_item(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("const fn ").map_or(rest, |name| name);
    let rest = ["fn ", "struct ", "enum ", "static ", "const "]
        .iter()
        .find_map(|kind| rest.strip_prefix(kind))
        .unwrap_or(rest);
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    let is_item =
        ["fn ", "struct ", "enum ", "static ", "const "].iter().any(|kind| line.contains(kind));
    (is_item && !name.is_empty()).then_some(name)
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

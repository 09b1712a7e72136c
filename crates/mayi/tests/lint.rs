//! Lints against what `vectors/lint/` says that they must find and must not, and their documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use mayi::lint::{
    Diagnostic, Fix, LINTS, Lint, Linted, Options, Page, Place, Related, Severity, Tally, fix, lint,
};
use mayi::page::PageControls;
use mayi::report::{DiagnosticReport, EditReport, FixReport, LintReport, PlaceReport, RelatedReport};
use mayi_vectors::{LintCase, LintFound};

fn options_of(case: &LintCase) -> Options {
    let Some(page) = &case.page else { return Options::default() };
    let fields: Vec<_> = page.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    Options::default().with_page(Page {
        url: page.url.clone(),
        controls: PageControls::read(&fields, page.html.as_bytes()),
        fields: page.headers.clone(),
    })
}

fn found_of(linted: &Linted<'_>, found: &Diagnostic) -> LintFound {
    let place: Option<Place> = found.place;
    let text = place.map(|place| &linted.robots().text()[place.span.range()]).unwrap_or_default();
    let safety = |fix: &Fix| if fix.safe { "safe" } else { "unsafe" }.to_owned();
    LintFound {
        line: place.map_or(0, |place| place.line.number()),
        column: place.map_or(0, |place| place.column),
        text: String::from_utf8_lossy(text).into_owned(),
        severity: found.severity.name().to_owned(),
        fix: found.fix.as_ref().map(safety),
    }
}

#[test]
fn every_case_is_found_as_expected() {
    let mut failures = Vec::new();
    for case in mayi_vectors::all().lint {
        let octets = case.octets();
        let linted = lint(&octets, &options_of(&case));
        let of_code = linted.diagnostics().iter().filter(|found| found.lint.code == case.code);
        let found: Vec<_> = of_code.map(|found| found_of(&linted, found)).collect();
        let start = String::from_utf8_lossy(&octets[..octets.len().min(200)]).into_owned();
        if found != case.found {
            failures.push(format!("{} ({}):\n{start}\n  found {found:#?}\n", case.code, case.why));
        }
        if case.clean && !linted.diagnostics().is_empty() {
            let others: Vec<_> =
                linted.diagnostics().iter().map(|found| (found.lint, &found.message)).collect();
            failures
                .push(format!("{} ({}) is not clean:\n{start}\n  {others:?}\n", case.code, case.why));
        }
    }
    assert!(failures.is_empty(), "{} cases fail:\n{}", failures.len(), failures.join("\n"));
}

/// A lint that nobody has shown to find something, and to leave something alone, is no lint.
#[test]
fn every_lint_has_a_case_and_a_near_miss() {
    let (mut shown, mut missed) = (BTreeSet::new(), BTreeSet::new());
    for case in mayi_vectors::all().lint {
        assert!(Lint::named(&case.code).is_some(), "{} is no lint", case.code);
        if case.found.is_empty() {
            missed.insert(case.code)
        } else {
            shown.insert(case.code)
        };
    }
    for lint in LINTS {
        assert!(shown.contains(lint.code), "{lint:?} has no case that it finds something in");
        assert!(missed.contains(lint.code), "{lint:?} has no near miss");
    }
}

/// A list has a sensible length, and says what it leaves out. What is counted and what is fixed has no limit.
#[test]
fn a_file_with_a_finding_on_every_line_has_a_list_of_a_sensible_length() {
    let file = "User-agent: *\nDisallow: /\n".to_owned() + &"x\nDisallow /a\n".repeat(7000);
    let linted = lint(file.as_bytes(), &Options::default().with_most_of_each(usize::MAX));
    let shown =
        |code: &str| linted.diagnostics().iter().filter(|found| found.lint.code == code).count();
    assert_eq!((linted.totals()["S001"], shown("S001")), (7000, 1000));
    assert_eq!((linted.totals()["S004"], shown("S004")), (7000, 1000));
    let all: usize = linted.totals().values().sum();
    assert_eq!(linted.left_out(), all - linted.diagnostics().len());
    assert_eq!(Severity::ALL.iter().map(|severity| linted.count(*severity)).sum::<usize>(), all);
    let report = serde_json::to_value(LintReport::of("robots.txt", &linted)).expect("JSON");
    assert_eq!(report["left_out"], linted.left_out());
    assert_eq!(report["severities"]["warning"], linted.count(Severity::Warning));

    let fixed = fix(file.as_bytes(), &Options::default());
    assert_eq!((fixed.applied["S001"], fixed.applied["S004"]), (7000, 7000));
}

#[test]
fn diagnostics_can_be_capped_and_are_counted() {
    let file = format!("User-agent: *\n{}", "Disallow: a\n".repeat(50));
    let linted = lint(file.as_bytes(), &Options::default().with_most_of_each(3));
    assert_eq!(linted.diagnostics().iter().filter(|found| found.lint.code == "P001").count(), 3);
    assert_eq!(linted.totals()["P001"], 50);
    let none = lint(file.as_bytes(), &Options::default().with_agents(Vec::new()).with_most_of_each(0));
    assert!(none.diagnostics().is_empty() && none.totals()["P001"] == 50);
}

/// What counts is how severe a finding is, not whether it is listed.
#[test]
fn what_is_not_listed_counts_by_its_severity() {
    let file = format!("{}User-agent: Example Bot\nDisallow: /\n", "User-agent: a/1\n".repeat(3));
    let linted = lint(file.as_bytes(), &Options::default().with_most_of_each(1));
    let tally: Tally = linted.tallies()["G007"];
    assert_eq!(
        (tally.total(), tally.of(Severity::Note), tally.worst()),
        (4, 3, Some(Severity::Warning))
    );
    assert_eq!(tally.safe_fixes(), 3);
    let mut options = Options::default().with_most_of_each(0);
    options.set_severity("G007", Severity::Error).expect("a lint");
    assert_eq!(lint(file.as_bytes(), &options).tallies()["G007"].of(Severity::Error), 4);
}

/// What is said that crawlers make of a line is true of Google too.
#[test]
fn sentences_say_what_google_reads() {
    let of = |file: &str, code: &str| -> String {
        let linted = lint(file.as_bytes(), &Options::default());
        let found = linted.diagnostics().iter().find(|found| found.lint.code == code);
        found.map(|found| found.reading.clone()).unwrap_or_default()
    };
    let file = |line: &str| format!("User-agent: *\nDisallow: /b\n{line}\n");
    assert!(of(&file("Disallow; /a"), "S010").ends_with(", but Google reads `Disallow: /a`."));
    assert!(of(&file("Disallow = /a"), "S010").ends_with(" and ignore it."));
    assert!(of(&file("Disallow\u{200b}: /a"), "S008").contains("Google reads `Disallow: /a`"));
    assert!(of(&file("Dis\u{200b}allow: /a"), "S008").ends_with("and ignore the line."));
    assert!(of(&file("User-agent: ExampleBot[x]"), "D004").ends_with("it is the name `ExampleBot`."));
    assert!(of(&file("User-agent: .*-ai"), "D004").ends_with("it is a name that no crawler has."));
    assert!(of(&file("User-agent: Example.*["), "G008").ends_with("it is the name `Example`."));
    assert!(of(&file("Disallow: /%7e"), "D002").contains("Google compares `%7E`"));
}

#[test]
fn related_places_and_severities_are_given() {
    let linted = lint(b"User-agent: *\nDisallow: /a\nAllow: /a\n", &Options::default());
    let found = &linted.diagnostics()[0];
    let related: &Related = &found.related[0];
    assert_eq!((related.place.line.number(), related.place.column), (3, 8));
    assert_eq!(Severity::ALL.iter().copied().max(), Some(Severity::Error));
    assert_eq!(Severity::named("warning"), Some(found.severity));
}

#[test]
fn reports_have_their_shapes() {
    let linted = lint(b"User-agent: *\nDisallow: /a\nDisallow: /a\n", &Options::default());
    let report = LintReport::of("robots.txt", &linted);
    let found: &DiagnosticReport<'_> = &report.diagnostics[0];
    let place: PlaceReport = found.place.expect("it is in the file");
    let related: &RelatedReport<'_> = &found.related[0];
    assert_eq!((&*found.code, place.line, related.place.line), ("P004", 3, 2));
    let fix: &FixReport<'_> = found.fix.as_ref().expect("it can be fixed");
    let edit: &EditReport<'_> = &fix.edits[0];
    assert_eq!((edit.start, edit.end, &*edit.replacement), (27, 40, ""));
}

/// `docs/lints/` has the manual page of every lint and an index. To write them anew, run the tests
/// with `MAYI_WRITE_DOCS=1`.
#[test]
fn the_manual_pages_are_as_documented() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lints");
    let mut pages: BTreeMap<String, String> =
        LINTS.iter().map(|lint| (format!("{}.md", lint.code), lint.manual())).collect();
    let mut index = String::from(
        "# Lints\n\nThe tests make this page from the sources of the lints; do not edit it here. `mayi lint --explain CODE`\n\
         prints a page. A code never changes. Its letter is its subject: S syntax, G groups, P patterns,\n\
         X extensions, D dialects, H pages, C comments.\n\n| code | name | severity | what is wrong |\n| --- | --- | --- | --- |\n",
    );
    for lint in LINTS {
        let off = if lint.by_default { "" } else { ", off by default" };
        let (code, name, severity, summary) = (lint.code, lint.name, lint.severity, lint.summary);
        writeln!(index, "| [{code}]({code}.md) | {name} | {severity}{off} | {summary} |")
            .expect("text");
    }
    pages.insert("README.md".to_owned(), index);
    if std::env::var_os("MAYI_WRITE_DOCS").is_some() {
        fs::create_dir_all(&folder).expect("the folder can be made");
        for (name, page) in &pages {
            fs::write(folder.join(name), page).expect("a page can be written");
        }
    }
    let written: BTreeSet<_> = fs::read_dir(&folder)
        .expect("the pages are there")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert!(written.iter().eq(pages.keys()), "docs/lints has other pages: run with MAYI_WRITE_DOCS=1");
    for (name, page) in &pages {
        let written = fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(written == *page, "docs/lints/{name} is stale: run the tests with MAYI_WRITE_DOCS=1");
    }
}

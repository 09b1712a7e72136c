//! Lints against what `vectors/lint/` says that they must find and must not, and their documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use mayi::lint::{
    Diagnostic, Fix, LINTS, Lint, LintSet, Linted, Options, Page, Place, Related, Severity, Tally, fix,
    lint,
};
use mayi::page::PageControls;
use mayi::report::{
    DiagnosticReport, FixReport, LintReport, PlaceReport, RelatedReport, ReplacementReport,
};
use mayi_vectors::{LintCase, LintFound};

/// Every lint, of every set.
fn all_lints() -> Options {
    let mut options = Options::default();
    options.choose(&LintSet::ALL.iter().map(|set| set.name()).collect::<Vec<_>>(), &[]).expect("sets");
    options
}

fn options_of(case: &LintCase) -> Options {
    let Some(page) = &case.page else { return all_lints() };
    let fields: Vec<_> = page.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    all_lints().with_page(Page {
        url: page.url.clone(),
        controls: PageControls::read(&fields, page.html.as_bytes()),
        fields: page.headers.clone(),
    })
}

fn found_of(linted: &Linted<'_>, found: &Diagnostic, place: Option<Place>) -> LintFound {
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
        // A case lists every place, whether or not they are of one cause.
        let mut found: Vec<_> = of_code
            .flat_map(|found| {
                assert_eq!(found.count, 1 + found.others.len(), "{found:?}");
                let others = found.others.iter().copied().map(Some);
                let places = std::iter::once(found.place).chain(others);
                places.map(|place| found_of(&linted, found, place)).collect::<Vec<_>>()
            })
            .collect();
        found.sort_by_key(|found| (found.line, found.column));
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
    let of = |code: &str| {
        linted.diagnostics().iter().find(|found| found.lint.code == code).expect("it is listed")
    };
    for code in ["S001", "S004"] {
        assert_eq!((linted.totals()[code], of(code).count), (7000, 7000));
        assert_eq!((of(code).others.len(), of(code).lines().len()), (999, 1000));
    }
    assert_eq!((linted.diagnostics().len(), linted.left_out()), (2, 0));
    let all: usize = linted.totals().values().sum();
    assert_eq!(Severity::ALL.iter().map(|severity| linted.count(*severity)).sum::<usize>(), all);
    let report = serde_json::to_value(LintReport::of("robots.txt", &linted)).expect("JSON");
    assert_eq!(report["left_out"], linted.left_out());
    assert_eq!(report["severities"]["warning"], linted.count(Severity::Warning));

    let fixed = fix(file.as_bytes(), &Options::default());
    assert_eq!((fixed.applied["S001"], fixed.applied["S004"]), (7000, 7000));
}

/// Different causes of one lint are different findings, and those can be very many.
#[test]
fn diagnostics_can_be_capped_and_are_counted() {
    let mut file = String::from("User-agent: *\nDisallow: /\n");
    (0..7000).for_each(|number| {
        let name: String = format!("{number:04}").bytes().map(|digit| char::from(digit + 49)).collect();
        writeln!(file, "zz{name}zz: x").expect("text");
    });
    let capped = lint(file.as_bytes(), &Options::default().with_most_of_each(3));
    assert_eq!((capped.diagnostics().len(), capped.totals()["S003"]), (3, 7000));
    assert_eq!(capped.left_out(), 6997);
    let most = lint(file.as_bytes(), &Options::default().with_most_of_each(usize::MAX));
    assert_eq!((most.diagnostics().len(), most.left_out()), (1000, 6000));
    let none = lint(file.as_bytes(), &Options::default().with_agents(Vec::new()).with_most_of_each(0));
    assert!(none.diagnostics().is_empty() && none.totals()["S003"] == 7000);
}

/// One cause that is in many places is one finding, with its lines and with one fix for all of them.
#[test]
fn one_cause_is_one_finding() {
    let file = "User-agent: *\nDisallow: private/\nDisallow: /a\nDisallow: tmp/\nDisallow: cgi-bin/\n";
    let linted = lint(file.as_bytes(), &Options::default());
    let [found] = linted.diagnostics() else { panic!("{:?}", linted.diagnostics()) };
    let report = serde_json::to_value(LintReport::of("robots.txt", &linted)).expect("JSON");
    let shown = &report["diagnostics"][0];
    assert_eq!((&shown["count"], &shown["lines"]), (&3.into(), &serde_json::json!([2, 4, 5])));
    assert_eq!((shown["place"]["line"].as_u64(), &report["totals"]["P001"]), (Some(2), &3.into()));
    let fix = found.fix.as_ref().expect("it can be fixed");
    assert_eq!(fix.label, "write `/private/`, and the same in 2 other places");
    let places: Vec<_> = fix.edits.iter().map(|edit| edit.span.start).collect();
    assert_eq!(places, [24, 56, 71]);

    // What differs in more than what is quoted from the file is another cause.
    let file = "User-agent: *\nDisallow: /\nNoarchive: /a\nFoo: /b\nFoo: /c\n";
    let linted = lint(file.as_bytes(), &Options::default());
    let counts: Vec<_> = linted.diagnostics().iter().map(|found| found.count).collect();
    assert_eq!(counts, [1, 2], "{:?}", linted.diagnostics());
}

/// A setting for a lint overrides a setting for its set, whatever the order.
#[test]
fn lints_are_chosen_one_by_one_and_in_sets() {
    let codes = |select: &[&str], ignore: &[&str]| -> Vec<&str> {
        let mut options = Options::default();
        options.choose(select, ignore).expect("they are known");
        let linted = lint(b"User-agent: *\nDisallow: /a*\nDisallow: /a*\nDisallow b\n", &options);
        linted.totals().keys().copied().collect()
    };
    assert_eq!(codes(&[], &[]), ["P001", "S001"]);
    assert_eq!(codes(&["style"], &[]), ["P001", "P004", "P006", "S001"]);
    assert_eq!(codes(&["Style"], &["P006", "missing-slash"]), ["P004", "S001"]);
    assert_eq!(codes(&["P006"], &["style", "default"]), ["P006"]);
    assert_eq!(codes(&["p006"], &["P006"]), ["P001", "P006", "S001"]);
    let unknown = Options::default().choose(&["styel"], &[]).expect_err("there is no such set");
    assert!(unknown.to_string().contains("did you mean `style`?"), "{unknown}");
}

/// What a fix writes is what was meant.
#[test]
fn fixes_write_what_was_meant() {
    for (line, label) in [
        ("Disallow: nocache=", "write `/*nocache=`"),
        ("Disallow: catalogId=10001", "write `/*catalogId=10001`"),
        ("Disallow: example.com/wo/", "write `/wo/`"),
        ("Disallow: index.php/a", "write `/index.php/a`"),
        ("Disallow: a=b/c", "write `/a=b/c`"),
        ("Disallow: \\private\\press\\", "write `/private/press/`"),
        ("User-agent: *ExampleBot*", "write `ExampleBot`"),
        ("User-agent: *-ai", "write `.*-ai`, for crawlers that read regular expressions"),
        ("Disallow: /a/ /b/", "write a line for each path"),
    ] {
        let file = format!("User-agent: *\nDisallow: /a\n{line}\n");
        let linted = lint(file.as_bytes(), &Options::default());
        let labels: Vec<_> =
            linted.diagnostics().iter().filter_map(|found| Some(&*found.fix.as_ref()?.label)).collect();
        assert_eq!(labels, [label], "{line}");
    }
}

/// One mark of a line was deleted in a round of fixes, and after forty rounds the others stayed.
#[test]
fn all_byte_order_marks_of_a_line_are_deleted() {
    let marks = "\u{feff}".repeat(100);
    let file = format!("User-agent: *\nDisallow: /a\n{marks}# {marks}\n{marks}x{marks}y\n");
    let fixed = fix(file.as_bytes(), &Options::default());
    // What is left of the last line is no record, and becomes a comment.
    assert_eq!(fixed.octets, format!("User-agent: *\nDisallow: /a\n# {marks}\n# xy\n").as_bytes());
}

/// Whoever fixes a file fixes what is selected.
#[test]
fn fixes_are_those_of_the_selected_lints() {
    let file = b"User-agent: *\nDisallow /a*\nDisallow /a*\n";
    assert_eq!(fix(file, &Options::default()).octets, b"User-agent: *\nDisallow: /a*\nDisallow: /a*\n");
    assert_eq!(fix(file, &all_lints()).octets, b"User-agent: *\nDisallow: /a\n");
}

/// What counts is how severe a finding is, not whether it is listed.
#[test]
fn what_is_not_listed_counts_by_its_severity() {
    let file = "User-agent: *\nDissallow: /a\nDisalow: /b\nDisalloww: /c\n";
    let linted = lint(file.as_bytes(), &Options::default().with_most_of_each(1));
    let tally: Tally = linted.tallies()["S002"];
    assert_eq!(
        (tally.total(), tally.of(Severity::Warning), tally.worst()),
        (3, 2, Some(Severity::Error))
    );
    assert_eq!(tally.safe_fixes(), 2);
    let mut options = Options::default().with_most_of_each(0);
    options.set_severity("S002", Severity::Note).expect("a lint");
    assert_eq!(lint(file.as_bytes(), &options).tallies()["S002"].of(Severity::Note), 3);
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
    let linted = lint(b"User-agent: *\nDisallow: /a\nDisallow: /a\n", &all_lints());
    let report = LintReport::of("robots.txt", &linted);
    let found: &DiagnosticReport<'_> = &report.diagnostics[0];
    let place: PlaceReport = found.place.expect("it is in the file");
    let related: &RelatedReport<'_> = &found.related[0];
    assert_eq!((&*found.code, place.line, related.place.line), ("P004", 3, 2));
    let fix: &FixReport<'_> = found.fix.as_ref().expect("it can be fixed");
    let edit: &ReplacementReport<'_> = &fix.edits[0];
    assert_eq!((edit.start, edit.end, &*edit.replacement), (27, 40, ""));
}

/// `docs/lints/` has the manual page of every lint and an index. To write them again, run the tests
/// with `MAYI_WRITE_DOCS=1`.
#[test]
fn the_manual_pages_are_as_documented() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lints");
    let mut pages: BTreeMap<String, String> =
        LINTS.iter().map(|lint| (format!("{}.md", lint.code), lint.manual())).collect();
    let mut index = String::from(
        "# Lints\n\nThe tests make this page from the sources of the lints; do not edit it here. `mayi lint --explain CODE`\n\
         prints a page. A code never changes. Its letter is its subject: S syntax, G groups, P patterns,\n\
         X extensions, D dialects, H pages, C comments.\n\n\
         A lint belongs to one of two sets. `default` has what an owner wants to know: what changes a decision in some\n\
         crawler, what is certainly a mistake, and lines that nobody reads. `style` has what could be written more simply\n\
         and changes nothing. It is off; `--select style`, or `select = [\"style\"]` in mayi.toml, switches it on. `--select` and\n\
         `--ignore` also take single lints, by code or name. One cause in many places is one finding, with a count and\n\
         its lines.\n\n\
         | code | name | set | severity | what is wrong |\n| --- | --- | --- | --- | --- |\n",
    );
    for lint in LINTS {
        let (code, name, set, summary) = (lint.code, lint.name, lint.set.name(), lint.summary);
        let severities = lint.severities_in_words();
        writeln!(index, "| [{code}]({code}.md) | {name} | {set} | {severities} | {summary} |")
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

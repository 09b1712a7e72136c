//! The laws of linting: it is total and bounded, and what it calls safe is safe.

use mayi::lint::{LINTS, Linted, Options, fix, lint};
use mayi::report::LintReport;
use mayi::{Crawler, Dialect, RobotsTxt};

use super::{Question, json, read};

/// Every lint, of every set.
fn all_lints() -> Options {
    let mut options = Options::default();
    options.choose(&["style"], &[]).expect("it is a set");
    options
}

/// Any octets can be linted: every place is in the text and on one line, edits are in order, totals
/// are not less than what is listed, and no more work is done than the length allows for.
pub(crate) fn any_octets_can_be_linted(octets: &[u8]) {
    let linted = lint(octets, &all_lints());
    let report = LintReport::of("robots.txt", &linted);
    json::comes_back(&report);
    assert_eq!(report.clone().into_owned(), report);
    let text = linted.robots().text();
    let is_within = |start: u32, end: u32| start <= end && end as usize <= text.len();
    let mut last = None;
    for found in linted.diagnostics() {
        let lines = found.lines();
        assert!(lines.is_sorted() && found.count > found.others.len(), "{found:?}");
        let related = found.related.iter().map(|other| other.place);
        for place in found.place.into_iter().chain(related).chain(found.others.iter().copied()) {
            assert!(is_within(place.span.start, place.span.end), "{found:?}");
            let pointed = &text[place.span.range()];
            assert!(!pointed.contains(&b'\n') && !pointed.contains(&b'\r'), "{found:?}");
            let line = linted.robots().line(place.line).expect("a line of the file");
            let whole = line.span();
            assert!(whole.start <= place.span.start && place.span.end <= whole.end, "{found:?}");
            assert!(place.column >= 1 && place.column <= place.end_column, "{found:?}");
        }
        let start = found.place.map(|place| place.span.start);
        assert!(last <= start, "in the order of the file: {found:?}");
        last = start;
        let edits = found.fix.iter().flat_map(|fix| &fix.edits);
        let mut end = 0;
        for edit in edits {
            assert!(is_within(edit.span.start, edit.span.end) && edit.span.start >= end, "{found:?}");
            end = edit.span.end;
        }
        assert!(!found.message.is_empty() && found.reading.ends_with('.'), "{found:?}");
    }
    for known in LINTS {
        let of_lint = linted.diagnostics().iter().filter(|found| found.lint == *known);
        let count: usize = of_lint.map(|found| found.count).sum();
        assert!(count <= linted.totals().get(known.code).copied().unwrap_or_default(), "{known:?}");
    }
    work_is_bounded(octets, &linted);
}

fn work_is_bounded(octets: &[u8], linted: &Linted<'_>) {
    // What is decoded can be three times as long.
    let most = 8_000_000 + 3 * 12 * octets.len() as u64;
    let units = linted.spent().units;
    assert!(units <= most, "{units} units for {} octets", octets.len());
}

/// Safe fixes leave nothing behind that they could fix, change no decision for any crawler in any dialect
/// that compares product tokens, and keep comments and line ends.
pub(crate) fn safe_fixes_are_safe(question: &Question) {
    let octets = &question.robots;
    let fixed = fix(octets, &all_lints());
    let again = fix(&fixed.octets, &all_lints());
    assert_eq!(again.octets, fixed.octets, "fixed twice: {question:?}");
    let after = lint(&fixed.octets, &all_lints().with_most_of_each(usize::MAX));
    if after.robots().cut().is_none() && after.text_start().is_some() {
        let left =
            after.diagnostics().iter().find(|found| found.fix.as_ref().is_some_and(|fix| fix.safe));
        assert_eq!(left, None, "left behind: {question:?} became {:?}", after.robots());
    }
    if fixed.applied.is_empty() {
        assert_eq!(fixed.octets, *octets);
        return;
    }
    for dialect in Dialect::BY_TOKEN {
        let (before, after) = (read(octets, dialect), read(&fixed.octets, dialect));
        let names = ["a", "b", "ab", "a-b", "MJ12bot", "Googlebot", question.agent.as_str()];
        for crawler in names.into_iter().filter_map(|name| Crawler::new(name).ok()) {
            let Ok(target) = mayi::Target::parse(&question.url) else { return };
            let (one, other) = (
                before.decide(&crawler, &target).is_allowed(),
                after.decide(&crawler, &target).is_allowed(),
            );
            let name = crawler.product_token();
            assert_eq!(one, other, "{dialect} for {name}: {question:?} became {after:?}");
        }
    }
    let (before, after) = (RobotsTxt::parse(octets), RobotsTxt::parse(&fixed.octets));
    // What was made a comment has its own comment at its end.
    let mut comments = after.lines().filter_map(|line| comment_of(line.text()));
    for comment in before.lines().filter_map(|line| comment_of(line.text())) {
        assert!(comments.any(|kept| kept.ends_with(&comment)), "a comment is lost: {question:?}");
    }
    let ends = |robots: &RobotsTxt<'_>| -> Vec<Vec<u8>> {
        robots.lines().map(|line| line.end().to_vec()).filter(|end| !end.is_empty()).collect()
    };
    let known = ends(&before);
    // Where a line between CR and LF goes, these become one end.
    let has_both = known.contains(&b"\r".to_vec()) && known.contains(&b"\n".to_vec());
    let is_known = |end: &Vec<u8>| known.contains(end) || has_both || known.is_empty();
    assert!(ends(&after).iter().all(is_known), "other line ends: {question:?} became {after:?}");
}

fn comment_of(line: &[u8]) -> Option<Vec<u8>> {
    let hash = line.iter().position(|octet| *octet == b'#')?;
    Some(line[hash..].to_vec())
}

/// What repeats costs in proportion: ten times the file takes no more than ten times the steps, and a
/// little.
pub(crate) fn what_repeats_is_linted_soon(start: &[u8], unit: &[u8]) {
    let file = |times: usize| {
        let body = unit.repeat(times);
        [b"User-agent: *\n", start, &body[..]].concat()
    };
    let length = 20_000 / unit.len().max(1);
    for octets in [file(length), file(length * 10)] {
        let linted = lint(&octets, &Options::default());
        work_is_bounded(&octets, &linted);
    }
}

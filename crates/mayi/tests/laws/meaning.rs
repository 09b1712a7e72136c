//! Laws 14 and 15: what is said to differ does, and what is said to be the same is.

use std::collections::BTreeSet;

use mayi::meaning::{Became, Meaning, compare, diff};
use mayi::{Crawler, Dialect, ReadOptions, RobotsTxt, Spent, Target, Use};

use super::json::comes_back;
use super::{Question, extensions, read};

/// Law 14: a file does not differ from itself; each change that is told is one, by deciding; and files
/// that are said to mean the same do so to the crawlers and about the URLs of both questions.
pub(crate) fn a_diff_is_true(one: &Question, other: &Question) {
    for dialect in Dialect::ALL {
        let (old, new) = (read(&one.robots, dialect), read(&other.robots, dialect));
        let context = || format!("{dialect}: {one:?} and {other:?}");
        let itself = diff(&old, &old);
        assert_eq!(itself.meaning, Meaning::Same, "itself, {}", context());
        assert!(itself.same_text && itself.crawlers.is_empty() && itself.file.is_empty());

        let mut found = diff(&old, &new);
        found.spent = Spent::default();
        comes_back(&found);
        for readers in &found.crawlers {
            assert!(readers.change_count >= readers.changes.len());
            for (label, change) in readers
                .crawlers
                .iter()
                .flat_map(|label| readers.changes.iter().map(move |c| (label, c)))
            {
                let Some(crawler) = crawler_of(label) else { continue };
                let target = Target::from_path(&change.example).expect("a path");
                let [before, after] =
                    [&old, &new].map(|robots| robots.decide(&crawler, &target).is_allowed());
                assert_ne!(before, after, "{label}, {change:?}, {}", context());
                assert_eq!(
                    after,
                    change.became == Became::Allowed,
                    "{label}, {change:?}, {}",
                    context()
                );
            }
        }
        if found.meaning == Meaning::Same {
            assert!(found.crawlers.is_empty() && found.file.is_empty(), "{}", context());
            for question in [one, other] {
                means_the_same(&old, &new, question);
            }
        }
    }
}

/// Every part of the decision is the same, but for order and places.
fn means_the_same(old: &RobotsTxt<'_>, new: &RobotsTxt<'_>, question: &Question) {
    let Some((plain, target)) = question.asked() else { return };
    let Some(extended) = extensions::crawler(question) else { return };
    let context = || {
        let (dialect, new) = (old.dialect(), new.text().escape_ascii());
        format!("{dialect}: b\"{}\" and b\"{new}\", {question:?}", old.text().escape_ascii())
    };
    for crawler in [plain, extended] {
        let parts = |robots: &RobotsTxt<'_>| {
            let usage = robots.usage(&crawler, &target, &[]);
            let labels: BTreeSet<_> = usage
                .categories()
                .chain(usage.other())
                .map(|(label, says)| (label.to_owned(), says))
                .collect();
            let records = robots.other_records(&crawler);
            let listed: BTreeSet<_> = records
                .kinds()
                .flat_map(|(kind, values)| values.iter().map(move |value| (kind, value.to_vec())))
                .collect();
            let signals: BTreeSet<_> =
                records.content_signal().values().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
            let asked = robots.app_directives(&crawler, &target);
            let asked: Vec<_> = asked
                .iter()
                .map(|asked| format!("{:?}", asked.directives().collect::<Vec<_>>()))
                .collect();
            (
                robots.decide(&crawler, &target).is_allowed(),
                Use::ALL.iter().map(|about| usage.answer(*about)).collect::<Vec<_>>(),
                labels,
                robots.crawl_delay(&crawler),
                robots.sitemaps().map(<[u8]>::to_vec).collect::<BTreeSet<_>>(),
                listed,
                signals,
                asked,
            )
        };
        assert_eq!(parts(old), parts(new), "{}", context());
    }
}

/// The crawler that a label stands for, if it is one by its token alone.
fn crawler_of(label: &str) -> Option<Crawler> {
    if label == "*" { Some(Crawler::unnamed()) } else { Crawler::new(label).ok() }
}

/// A file that is nearly the same: for each line in turn, the next of the choices says what happens.
pub(crate) fn nearly_the_same(robots: &[u8], choices: &[u8]) -> Vec<u8> {
    let robots = RobotsTxt::parse(robots);
    let mut choices = choices.iter().cycle();
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for line in robots.lines() {
        let text = line.text().to_vec();
        match choices.next().map(|choice| choice % 12) {
            Some(0) => {}
            Some(1) => lines.extend([text.clone(), text]),
            Some(2) => lines.insert(lines.len().saturating_sub(1), text),
            Some(3) => lines.extend([text, b"Disallow: /a/b".to_vec()]),
            Some(4) => lines.extend([b"# here".to_vec(), text]),
            Some(5) => lines.push([&b" "[..], &text].concat()),
            _ => lines.push(text),
        }
    }
    super::file_of(&lines.join(&b"\n"[..]))
}

/// Law 15: each reading that is told decides about each example as it is told.
pub(crate) fn a_comparison_is_true(question: &Question) {
    let mut comparison = compare(&question.robots, &ReadOptions::default(), Dialect::BY_TOKEN, None);
    comparison.spent = Spent::default();
    comes_back(&comparison);
    for row in &comparison.rows {
        assert!(!row.may.is_empty() && !row.may_not.is_empty(), "{question:?}");
        assert_eq!(row.why.len(), row.may.len() + row.may_not.len(), "{question:?}");
        for example in row.patterns.iter().map(|pattern| &pattern.example) {
            let target = Target::from_path(example).expect("a path");
            for reading in &comparison.readings {
                let may = row.may.contains(&reading.name);
                assert_ne!(may, row.may_not.contains(&reading.name), "{question:?}");
                for of in &reading.of {
                    let Some(crawler) = crawler_of(&of.crawler) else { continue };
                    for name in &of.dialects {
                        let dialect = Dialect::named(name).expect("a dialect");
                        let robots = read(&question.robots, &dialect);
                        let allowed = robots.decide(&crawler, &target).is_allowed();
                        let who = &of.crawler;
                        assert_eq!(allowed, may, "{who} in {name} about {example}: {question:?}");
                    }
                }
            }
        }
    }
}

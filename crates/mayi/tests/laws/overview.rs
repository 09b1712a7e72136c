//! Law 17: what an overview says is what is decided.

use mayi::access::SiteFile;
use mayi::meaning::{CrawlerOverview, Fetchable, overview};
use mayi::{Crawler, Dialect, Preference, ReadOptions, RuleKind, Spent, Target};

use super::Question;
use super::json::comes_back;

/// Law 17: a crawler that may fetch everything, as is proved, may fetch every URL that is asked about, and one that may
/// fetch nothing none; a part has an example for both; each rule that is listed decides about its example; and a crawler
/// that may fetch nothing may use nothing.
pub(crate) fn an_overview_is_true(question: &Question, choices: &[u8]) {
    let choice = usize::from(choices.first().copied().unwrap_or_default());
    let dialect = &Dialect::ALL[choice % Dialect::ALL.len()];
    let options = ReadOptions::default().with_dialect(dialect.clone());
    let file = SiteFile::read(&*question.robots, &options);
    let mut overview = overview(&file, &options);
    overview.spent = Spent::default();
    comes_back(&overview);
    let context = || format!("{dialect}: {question:?}");
    assert!(!overview.summary.is_empty(), "{}", context());
    let kinds = overview.kinds.iter();
    for kind in kinds.clone() {
        let counted = kind.everything + kind.part + kind.nothing;
        assert_eq!(counted, kind.crawlers.len(), "{}, {}", kind.kind, context());
    }
    for crawler in kinds.flat_map(|kind| &kind.crawlers) {
        let answer = &overview.answers[crawler.answer];
        let Some(asked) = crawler_of(crawler) else { continue };
        let decide = |path: &str| {
            let target = Target::from_path(path).expect("an example is a path");
            let decision = file.decide(&asked, &target);
            (decision.is_allowed(), decision.rule().map(|rule| rule.line().number()))
        };
        let who = &crawler.token;
        for (example, may) in [(&answer.crawling.may, true), (&answer.crawling.may_not, false)] {
            if let Some(path) = example {
                assert_eq!(decide(path).0, may, "{who}, {path}, {}", context());
            }
        }
        let (may, may_not) = (answer.crawling.may.is_some(), answer.crawling.may_not.is_some());
        let sides = match answer.crawling.answer {
            Fetchable::Everything => !may_not,
            Fetchable::Nothing => !may && may_not,
            Fetchable::Part => may && may_not,
        };
        assert!(sides, "{who}, {:?}, {}", answer.crawling, context());
        for rule in &answer.crawling.rules {
            let expected = (rule.kind == RuleKind::Allow, Some(rule.line));
            assert_eq!(decide(&rule.example), expected, "{who}, {rule:?}, {}", context());
        }
        for url in [&*question.url, "https://h/", "https://h/a", "https://h/a/b?c"] {
            let Ok(target) = Target::parse(url) else { continue };
            let is_said = answer.crawling.proved && !target.is_robots_txt();
            let allowed = file.decide(&asked, &target).is_allowed();
            match answer.crawling.answer {
                Fetchable::Everything if is_said => assert!(allowed, "{who}, {url}, {}", context()),
                Fetchable::Nothing if is_said => assert!(!allowed, "{who}, {url}, {}", context()),
                _ => {}
            }
        }
        if answer.crawling.answer == Fetchable::Nothing {
            let are_refused = answer.uses.iter().all(|it| it.answer == Preference::Disallowed);
            assert!(are_refused, "{who}, {:?}, {}", answer.uses, context());
        }
    }
}

/// The crawler of a row, if it is one by its token alone: purposes and regular expressions are in words.
fn crawler_of(crawler: &CrawlerOverview) -> Option<Crawler> {
    if crawler.token == "*" { Some(Crawler::unnamed()) } else { Crawler::new(&crawler.token).ok() }
}

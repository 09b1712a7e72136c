//! Law 16: an edit does what was asked, and nothing else.

use mayi::edit::{Carrier, Edited, Goal, Preferences, edit};
use mayi::registry::Registry;
use mayi::{Crawler, PathPattern, Preference, ReadOptions, RobotsTxt, SignalSource, Target, Use};

use super::Question;

/// Law 16: after an edit, the crawlers of the goal get what was asked for the URLs of its path, and what they got before
/// for all others; everybody else gets what they got before. The same goal again changes nothing.
pub(crate) fn an_edit_does_what_was_asked(question: &Question, choices: &[u8]) {
    let registry = Registry::built_in();
    let choice = |place: usize| usize::from(choices.get(place).copied().unwrap_or_default());
    let who = match choice(0) % 6 {
        0 => vec!["*"],
        1 => vec!["training"],
        2 => vec!["Googlebot"],
        3 => vec![&*question.agent, "Googlebot"],
        _ => vec![&*question.agent],
    };
    let path = path_of(question, choice(1), choice(2));
    let goal = if choice(3) % 2 == 0 {
        Goal::refuse(&who, &path, &registry)
    } else {
        Goal::allow(&who, &path, &registry)
    };
    let Ok(goal) = goal else { return };
    let Some(edited) = edited(question, &goal) else { return };
    let context = || format!("{goal:?} of {question:?} gives b\"{}\"", edited.octets.escape_ascii());
    let Goal::Access(goal) = &goal else { unreachable!("it is about access") };

    let (old, new) = (RobotsTxt::parse(&question.robots), RobotsTxt::parse(&edited.octets));
    let pattern = PathPattern::new(goal.path().as_bytes());
    let path_url = format!("https://h{path}");
    let urls = [&*question.url, &*path_url, "https://h/", "https://h/a", "https://h/robots.txt"];
    for target in urls.into_iter().filter_map(|url| Target::parse(url).ok()) {
        for crawler in crawlers(question, &registry) {
            let [before, after] = [&old, &new].map(|robots| robots.decide(&crawler, &target));
            let token = crawler.product_token();
            // Dots at the end do not count (REP-4).
            let is_it =
                |wanted: &str| wanted.eq_ignore_ascii_case(token.as_str().trim_end_matches('.'));
            let is_meant = goal.is_for_everybody() && !ignores_everybody(&crawler, &registry)
                || goal.crawlers().iter().any(|wanted| is_it(wanted.as_str().trim_end_matches('.')));
            let is_always_allowed = after.reason() == mayi::Reason::RobotsTxt;
            if is_meant && pattern.matches(&target) && !is_always_allowed {
                assert_eq!(
                    after.is_allowed(),
                    goal.is_to_allow(),
                    "{token}, {target:?}, {}",
                    context()
                );
            } else if !goal.is_for_everybody() || !pattern.matches(&target) {
                assert_eq!(
                    after.is_allowed(),
                    before.is_allowed(),
                    "{token}, {target:?}, {}",
                    context()
                );
            }
        }
    }
}

/// Law 16: after an edit about what else a file says, it says so to everybody who may fetch something, and everything else
/// is as it was: every decision, every signal of another kind, every other record.
pub(crate) fn a_statement_is_said_and_nothing_else(question: &Question, choices: &[u8]) {
    let choice = |place: usize| usize::from(choices.get(place).copied().unwrap_or_default());
    let says = |place: usize| match choice(place) % 3 {
        0 => Preference::Disallowed,
        1 => Preference::Allowed,
        _ => Preference::Unknown,
    };
    let mut preferences = Preferences::default();
    (preferences.train, preferences.search, preferences.ai_input) = (says(1), says(2), says(3));
    let goal = match choice(0) % 6 {
        0 => Goal::sitemap("https://h/sitemap.xml"),
        1 => Goal::refuse_purposes(&["SHOPPING"]),
        2 | 3 => Goal::prefer(Carrier::ContentUsage, preferences),
        _ => Goal::prefer(Carrier::ContentSignal, preferences),
    };
    let Ok(goal) = goal else { return };
    let Some(edited) = edited(question, &goal) else { return };
    let context = || format!("{goal:?} of {question:?} gives b\"{}\"", edited.octets.escape_ascii());
    let source = match &goal {
        Goal::Prefer(Carrier::ContentUsage, _) => Some(SignalSource::ContentUsage),
        Goal::Prefer(..) => Some(SignalSource::ContentSignal),
        _ => None,
    };
    let (old, new) = (RobotsTxt::parse(&question.robots), RobotsTxt::parse(&edited.octets));
    let mut sitemaps: Vec<_> = new.sitemaps().collect();
    if matches!(goal, Goal::Sitemap(_)) && !old.sitemaps().eq(sitemaps.iter().copied()) {
        let added = sitemaps.iter().rposition(|url| *url == b"https://h/sitemap.xml");
        sitemaps.remove(added.unwrap_or_else(|| panic!("it is named, {}", context())));
    }
    assert!(old.sitemaps().eq(sitemaps), "{}", context());
    let registry = Registry::built_in();
    for crawler in crawlers(question, &registry) {
        assert_eq!(old.crawl_delay(&crawler), new.crawl_delay(&crawler), "{}", context());
        for url in [&*question.url, "https://h/", "https://h/a", "https://h/robots.txt"] {
            let Ok(target) = Target::parse(url) else { continue };
            let [before, after] = [&old, &new].map(|robots| robots.decide(&crawler, &target));
            assert_eq!(before.is_allowed(), after.is_allowed(), "{url}, {}", context());
            let [before, after] = [&old, &new].map(|robots| robots.usage(&crawler, &target, &[]));
            let of_others = |usage: &mayi::Usage| -> Vec<_> {
                let others = usage.signals().iter().filter(|signal| Some(signal.source) != source);
                others.map(|signal| (signal.about, signal.source, signal.says)).collect()
            };
            assert_eq!(of_others(&before), of_others(&after), "{url}, {}", context());
            // What may not be fetched has no preferences (USE-4).
            let may_fetch = new.decide(&crawler, &target).is_allowed();
            let is_told =
                may_fetch && !ignores_everybody(&crawler, &registry) && !target.is_robots_txt();
            let Some(source) = source.filter(|_| is_told) else { continue };
            for (about, wanted) in
                [(Use::Train, says(1)), (Use::Search, says(2)), (Use::AiInput, says(3))]
            {
                let is_it = |signal: &&mayi::Signal| signal.source == source && signal.about == about;
                let said = after.signals().iter().filter(is_it).map(|signal| signal.says);
                let said = said.fold(Preference::Unknown, Preference::most_restrictive);
                let has_word = source == SignalSource::ContentSignal || about != Use::AiInput;
                if wanted != Preference::Unknown && has_word {
                    assert_eq!(said, wanted, "{about:?} at {url} for {crawler:?}, {}", context());
                }
            }
        }
    }
    // A crawler with the purpose may fetch nothing, unless the file names it.
    if let Goal::RefusePurposes(_) = goal {
        let crawler = Crawler::unnamed().with_purpose("shopping").expect("a purpose");
        let target = Target::parse("https://h/a").expect("a URL");
        assert!(!new.decide(&crawler, &target).is_allowed(), "{}", context());
    }
}

/// The file after the edit, if it is made. The same goal again changes nothing.
fn edited(question: &Question, goal: &Goal) -> Option<Edited> {
    let goal = std::slice::from_ref(goal);
    let edited = edit(&question.robots, goal, &ReadOptions::default()).ok()?;
    let again = edit(&edited.octets, goal, &ReadOptions::default());
    let context = || format!("again, {goal:?} of {question:?} gives {edited:?}");
    assert_eq!(again.map(|again| again.octets).as_deref(), Ok(&*edited.octets), "{}", context());
    Some(edited)
}

/// A path that has to do with the file and the URL: the path of the URL, or a pattern of the file, or a part of one.
fn path_of(question: &Question, kind: usize, octets: usize) -> String {
    let of_url = question.url.strip_prefix("https://h").unwrap_or("/");
    let text = String::from_utf8_lossy(&question.robots);
    let of_file = text.split_whitespace().filter(|word| word.starts_with('/')).nth(octets % 4);
    let whole = match kind % 4 {
        0 => "/",
        1 => of_file.unwrap_or("/a"),
        _ => of_url,
    };
    let end = (1..=whole.len().min(1 + octets)).rev().find(|end| whole.is_char_boundary(*end));
    whole[..end.unwrap_or_default()].to_owned()
}

/// Those who may be hit by mistake: the one that is asked about, those that fall back to others, those that the file
/// names, and one that nobody names.
fn crawlers(question: &Question, registry: &Registry) -> Vec<Crawler> {
    let text = String::from_utf8_lossy(&question.robots);
    let named = text.split(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).take(40);
    let falling = registry.agents().iter().filter(|agent| agent.fallback().next().is_some());
    let known = falling.map(|agent| &*agent.token).chain(["GPTBot", "Googlebot", "AdsBot-Google", "x"]);
    let tokens = known.chain(named).chain([&*question.agent]);
    tokens.filter_map(|token| Crawler::new(token).ok()).chain([Crawler::unnamed()]).collect()
}

/// Whether a crawler may have no group at all although there is one of `*`.
fn ignores_everybody(crawler: &Crawler, registry: &Registry) -> bool {
    registry.agent(crawler.product_token().as_str()).is_some_and(mayi::registry::Agent::ignores_global)
}

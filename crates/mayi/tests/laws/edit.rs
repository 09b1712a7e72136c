//! Law 16: an edit does what was wished, and nothing else.

use mayi::edit::{Wish, edit};
use mayi::registry::Registry;
use mayi::{Crawler, PathPattern, ReadOptions, RobotsTxt, Target};

use super::Question;

/// Law 16: after an edit, the crawlers of the wish get what was wished for the URLs of its path, and what they got before
/// for all others; everybody else gets what they got before. The same wish again changes nothing.
pub(crate) fn an_edit_does_what_was_wished(question: &Question, choices: &[u8]) {
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
    let wish = if choice(3) % 2 == 0 {
        Wish::refuse(&who, &path, &registry)
    } else {
        Wish::allow(&who, &path, &registry)
    };
    let Ok(wish) = wish else { return };
    let Ok(edited) = edit(&question.robots, std::slice::from_ref(&wish), &ReadOptions::default())
    else {
        return;
    };
    let context = || format!("{wish:?} of {question:?} gives b\"{}\"", edited.octets.escape_ascii());
    let again = edit(&edited.octets, std::slice::from_ref(&wish), &ReadOptions::default());
    assert_eq!(again.map(|again| again.octets).as_deref(), Ok(&*edited.octets), "again, {}", context());

    let (old, new) = (RobotsTxt::parse(&question.robots), RobotsTxt::parse(&edited.octets));
    let pattern = PathPattern::new(wish.path().as_bytes());
    let path_url = format!("https://h{path}");
    let urls = [&*question.url, &*path_url, "https://h/", "https://h/a", "https://h/robots.txt"];
    for target in urls.into_iter().filter_map(|url| Target::parse(url).ok()) {
        for crawler in crawlers(question, &registry) {
            let [before, after] = [&old, &new].map(|robots| robots.decide(&crawler, &target));
            let token = crawler.product_token();
            // Dots at the end do not count (REP-4).
            let is_it =
                |wished: &str| wished.eq_ignore_ascii_case(token.as_str().trim_end_matches('.'));
            let is_wished = wish.is_for_everybody() && !ignores_everybody(&crawler, &registry)
                || wish.crawlers().iter().any(|wished| is_it(wished.as_str().trim_end_matches('.')));
            let is_always_allowed = after.reason() == mayi::Reason::RobotsTxt;
            if is_wished && pattern.matches(&target) && !is_always_allowed {
                assert_eq!(
                    after.is_allowed(),
                    wish.is_to_allow(),
                    "{token}, {target:?}, {}",
                    context()
                );
            } else if !wish.is_for_everybody() || !pattern.matches(&target) {
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

//! Answers → plain sentences: what each kind of crawler may fetch, and what may be done with it.

use indexmap::IndexMap;

use super::{CrawlerOverview, Crawling, Fetchable, KindOverview, SharedAnswer};
use crate::access::{AccessResult, SiteFile};
use crate::directive::RuleKind;
use crate::preference::Preference;
use crate::registry::AgentKind;
use crate::uses::Use;

/// How many patterns a sentence names, and how much of each.
const MOST_PATTERNS: usize = 3;
const MOST_CHARACTERS: usize = 60;

/// How many different answers a sentence lists.
const MOST_ANSWERS: usize = 3;

/// What people call the crawlers of a kind.
pub(super) fn label(kind: &str) -> &'static str {
    match AgentKind::ALL.iter().find(|known| known.name() == kind) {
        Some(AgentKind::Search) => "search engines",
        Some(AgentKind::AiSearch) => "AI search engines",
        Some(AgentKind::Training) => "AI training crawlers",
        Some(AgentKind::Assistant) => "AI assistants",
        Some(AgentKind::Archive) => "archives",
        Some(AgentKind::Tool) => "tools",
        None => "other crawlers",
    }
}

/// What crawlers of a kind may fetch.
pub(super) fn of_kind(kind: &str, crawlers: &[CrawlerOverview], answers: &[SharedAnswer]) -> String {
    let crawlers: Vec<_> = crawlers.iter().collect();
    let mut sentences = of_crawlers(label(kind), &crawlers, answers);
    let is_refused = matches!(&phrases(&crawlers, answers)[..], [(phrase, _)] if phrase.is_refusal());
    if is_refused && kind == AgentKind::Training.name() {
        sentences = vec![format!(
            "{} may fetch nothing, so they may not use this site for training.",
            capitalised(label(kind))
        )];
    }
    sentences.join(" ")
}

/// What some crawlers may fetch. Those to which `*` does not apply are described separately (WILD-6), because
/// otherwise sentences about usual files would be long.
fn of_crawlers(label: &str, crawlers: &[&CrawlerOverview], answers: &[SharedAnswer]) -> Vec<String> {
    let is_exempt = |crawler: &&CrawlerOverview| crawler.ignores_global && crawler.group.is_none();
    let (mut exempt, mut heeding): (Vec<_>, Vec<_>) = crawlers.iter().copied().partition(is_exempt);
    if heeding.is_empty() || phrases(crawlers, answers).len() == 1 {
        heeding.append(&mut exempt);
    }
    let phrases = phrases(&heeding, answers);
    let mut sentences = match &phrases[..] {
        [] => Vec::new(),
        [(phrase, _)] => vec![format!("{} {}.", capitalised(label), phrase.of_all())],
        _ => vec![format!("Of {} {label}, {}.", heeding.len(), counted(phrases))],
    };
    let count = exempt.len();
    match count {
        0 => {}
        1 => sentences.push("1 more ignores `*` and may fetch everything.".to_owned()),
        _ => sentences.push(format!("{count} more ignore `*` and may fetch everything.")),
    }
    sentences
}

/// What a file says, in sentences: one for all crawlers or one for each kind, and one for each use that it speaks of.
pub(super) fn of_file(
    file: &SiteFile<'_>,
    kinds: &[KindOverview],
    answers: &[SharedAnswer],
) -> Vec<String> {
    match file.access() {
        AccessResult::Successful => {}
        AccessResult::Unavailable(_) => {
            return vec!["There is no robots.txt, so every crawler may fetch everything.".to_owned()];
        }
        AccessResult::Unreachable(_) => {
            return vec![
                "The robots.txt can't be reached, so no crawler may fetch anything.".to_owned(),
            ];
        }
    }
    let all = kinds.iter().flat_map(|kind| &kind.crawlers);
    let all: Vec<&CrawlerOverview> = all.filter(|crawler| !crawler.by_use).collect();
    let of_all = of_crawlers("crawlers", &all, answers);
    let is_one = of_all.first().is_some_and(|sentence| !sentence.starts_with("Of "));
    let mut sentences = if is_one {
        of_all
    } else {
        let kinds = kinds.iter().filter(|kind| !kind.crawlers.is_empty());
        kinds.map(|kind| kind.summary.clone()).collect()
    };
    sentences.extend(Use::ALL.iter().filter_map(|about| of_use(*about, &all, answers)));
    sentences
}

/// What may be done with what is fetched, where the file says something about it.
fn of_use(about: Use, crawlers: &[&CrawlerOverview], answers: &[SharedAnswer]) -> Option<String> {
    let of_answers = answers.iter().map(|answer| {
        let may_fetch = answer.crawling.answer != Fetchable::Nothing;
        answer.uses.iter().find(|answer| may_fetch && answer.about == about)
    });
    let of_answers: Vec<_> = of_answers.collect();
    let of_crawlers: Vec<_> =
        crawlers.iter().filter_map(|crawler| of_answers[crawler.answer]).collect();
    let count = |says: Preference| of_crawlers.iter().filter(|answer| answer.answer == says).count();
    let (allowed, disallowed) = (count(Preference::Allowed), count(Preference::Disallowed));
    let may = |says| if says == Preference::Allowed { "may" } else { "may not" };
    let what = match about {
        Use::Train => "used to train AI models",
        Use::Search => "shown in search results",
        Use::AiInput => "given to AI models as input",
    };
    let says = if disallowed > 0 { Preference::Disallowed } else { Preference::Allowed };
    let counted = if disallowed > 0 { disallowed } else { allowed };
    let mut sentence = match counted {
        0 => String::new(),
        count if count == of_crawlers.len() => {
            let because = of_answers.iter().flatten().flat_map(|answer| &answer.because);
            let mut lines: Vec<u32> =
                because.filter(|because| because.says == says).filter_map(|it| it.line).collect();
            lines.sort_unstable();
            lines.dedup();
            let at = match &lines[..] {
                [] => String::new(),
                [line] => format!(" (line {line})"),
                [first, second] => format!(" (lines {first} and {second})"),
                [first, ..] => format!(" (line {first} and {} more)", lines.len() - 1),
            };
            format!("What is fetched {} be {what}{at}.", may(says))
        }
        count => {
            let whose = if count == 1 { "it fetches" } else { "they fetch" };
            let all = of_crawlers.len();
            format!("For {count} of {all} crawlers, what {whose} {} be {what}.", may(says))
        }
    };
    let is_elsewhere = of_answers.iter().flatten().any(|answer| !answer.elsewhere.is_empty());
    if is_elsewhere && sentence.is_empty() {
        sentence = format!("On some paths, the file says whether what is fetched may be {what}.");
    } else if is_elsewhere {
        sentence.push_str(" On some paths it is different.");
    }
    (!sentence.is_empty()).then_some(sentence)
}

/// What is said of crawlers with one answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phrase {
    Refused { proved: bool },
    May(String),
}

impl Phrase {
    fn of(crawling: &Crawling) -> Self {
        if crawling.answer == Fetchable::Nothing {
            return Self::Refused { proved: crawling.proved };
        }
        let surely = if crawling.proved { "" } else { "probably " };
        if crawling.answer == Fetchable::Everything {
            return Self::May(format!("may {surely}fetch everything"));
        }
        // The rules against the usual answer, and whether they have exceptions.
        let (start, exception) = if crawling.otherwise {
            ("everything", RuleKind::Disallow)
        } else {
            ("nothing", RuleKind::Allow)
        };
        let patterns: Vec<_> = crawling.rules.iter().filter(|rule| rule.kind == exception).collect();
        if patterns.is_empty() {
            return Self::some();
        }
        let is_about_all = |pattern: &str| matches!(pattern, "/" | "*" | "/*");
        let mut others = crawling.rules.iter().filter(|rule| rule.kind != exception);
        let has_exceptions = others.any(|rule| !is_about_all(&rule.pattern));
        let listed = if patterns.len() <= MOST_PATTERNS && crawling.rules_left_out == 0 {
            patterns.len()
        } else {
            MOST_PATTERNS - 1
        };
        let mut names: Vec<String> =
            patterns.iter().take(listed).map(|rule| clipped(&rule.pattern)).collect();
        if crawling.rules_left_out > 0 {
            names.push("more".to_owned());
        } else if patterns.len() > listed {
            names.push(format!("{} more", patterns.len() - listed));
        }
        let exceptions = if has_exceptions { " (with exceptions)" } else { "" };
        Self::May(format!("may fetch {start} but {}{exceptions}", joined(&names)))
    }

    fn some() -> Self {
        Self::May("may fetch a part".to_owned())
    }

    fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }

    /// Of all crawlers that are spoken of.
    fn of_all(&self) -> &str {
        match self {
            Self::Refused { proved: true } => "may fetch nothing",
            Self::Refused { proved: false } => "may probably fetch nothing",
            Self::May(text) => text,
        }
    }

    /// Of some of them.
    fn of_some(&self, count: usize) -> &str {
        match self {
            Self::Refused { proved: true } if count == 1 => "is refused",
            Self::Refused { proved: true } => "are refused",
            other => other.of_all(),
        }
    }
}

/// The phrases for some crawlers, each with how many it is about: refusals first, and the rest by their number.
fn phrases(crawlers: &[&CrawlerOverview], answers: &[SharedAnswer]) -> Vec<(Phrase, usize)> {
    let of_answers: Vec<Phrase> = answers.iter().map(|answer| Phrase::of(&answer.crawling)).collect();
    let mut counts: IndexMap<&Phrase, usize> = IndexMap::new();
    for crawler in crawlers {
        *counts.entry(&of_answers[crawler.answer]).or_default() += 1;
    }
    let some = Phrase::some();
    if counts.len() > MOST_ANSWERS {
        // Too many for one sentence: parts are merged.
        let mut fewer: IndexMap<&Phrase, usize> = IndexMap::new();
        for (phrase, count) in counts {
            let is_part = !phrase.is_refusal() && !phrase.of_all().ends_with("everything");
            *fewer.entry(if is_part { &some } else { phrase }).or_default() += count;
        }
        counts = fewer;
    }
    let mut phrases: Vec<_> =
        counts.into_iter().map(|(phrase, count)| (phrase.clone(), count)).collect();
    phrases.sort_by_key(|(phrase, count)| (!phrase.is_refusal(), *count));
    phrases
}

/// `2 are refused; the other 21 may fetch everything`: the phrase about the most comes last.
fn counted(mut phrases: Vec<(Phrase, usize)>) -> String {
    let most = phrases.iter().map(|(_, count)| *count).max().unwrap_or_default();
    let last = phrases.iter().rposition(|(_, count)| *count == most).unwrap_or_default();
    let last = phrases.remove(last);
    let mut parts: Vec<String> =
        phrases.iter().map(|(phrase, count)| format!("{count} {}", phrase.of_some(*count))).collect();
    let other = if last.1 == 1 { "the other one".to_owned() } else { format!("the other {}", last.1) };
    parts.push(format!("{other} {}", last.0.of_some(last.1)));
    parts.join("; ")
}

fn joined(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn clipped(pattern: &str) -> String {
    match pattern.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &pattern[..end]),
        None => pattern.to_owned(),
    }
}

fn capitalised(label: &str) -> String {
    let (first, rest) = label.split_at(1);
    format!("{}{rest}", first.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::super::overview;
    use super::*;
    use crate::robots_txt::ReadOptions;

    #[track_caller]
    fn check(file: &str, expected: &[&str]) {
        let options = ReadOptions::default();
        let summary = overview(&SiteFile::read(file.as_bytes(), &options), &options).summary;
        for sentence in expected {
            assert!(summary.iter().any(|it| it == sentence), "{sentence}\n{summary:#?}");
        }
    }

    fn count(kind: AgentKind) -> usize {
        let registry = crate::registry::Registry::built_in();
        registry.agents().iter().filter(|agent| agent.serves(kind)).count()
    }

    #[test]
    fn one_sentence_for_all() {
        check("", &["Crawlers may fetch everything."]);
        let registry = crate::registry::Registry::built_in();
        let exempt = registry.agents().iter().filter(|agent| agent.ignores_global()).count();
        check(
            "User-agent: *\nDisallow: /a\n",
            &[
                "Crawlers may fetch everything but /a.",
                &format!("{exempt} more ignore `*` and may fetch everything."),
            ],
        );
        check("User-agent: *\nDisallow: /\n", &["Crawlers may fetch nothing."]);
    }

    #[test]
    fn patterns_are_named() {
        let check_all = |rules: &str, expected: &str| {
            check(&format!("User-agent: *\n{rules}\nUser-agent: GPTBot\nAllow: /\n"), &[expected]);
        };
        check_all("Disallow: /a\nDisallow: /b\n", "Archives may fetch everything but /a and /b.");
        check_all(
            "Disallow: /a\nDisallow: /b\nDisallow: /c\nDisallow: /d\n",
            "Archives may fetch everything but /a, /b and 2 more.",
        );
        check_all(
            "Disallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n",
            "Archives may fetch everything but /wp-admin/ (with exceptions).",
        );
        check_all("Disallow: /\nAllow: /press/\n", "Archives may fetch nothing but /press/.");
    }

    #[test]
    fn some_are_refused() {
        let all = count(AgentKind::Training);
        check(
            "User-agent: GPTBot\nUser-agent: ClaudeBot\nDisallow: /\n",
            &[
                &format!(
                    "Of {all} AI training crawlers, 2 are refused; the other {} may fetch everything.",
                    all - 2
                ),
                "Search engines may fetch everything.",
            ],
        );
        check(
            "User-agent: GPTBot\nDisallow: /\n",
            &[&format!(
                "Of {all} AI training crawlers, 1 is refused; the other {} may fetch everything.",
                all - 1
            )],
        );
    }

    #[test]
    fn training_crawlers_that_may_fetch_nothing_may_not_train() {
        check(
            "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /\n",
            &["AI training crawlers may fetch nothing, so they may not use this site for training."],
        );
    }

    #[test]
    fn uses_are_told() {
        check(
            "Content-Signal: ai-train=no, search=yes\nUser-agent: *\nAllow: /\n",
            &[
                "What is fetched may not be used to train AI models (line 1).",
                "What is fetched may be shown in search results (line 1).",
            ],
        );
        check(
            "User-agent: *\nUser-agent: AdsBot-Google\nUser-agent: Googlebot\nContent-Usage: /free/ train-ai=y\n",
            &["On some paths, the file says whether what is fetched may be used to train AI models."],
        );
    }
}

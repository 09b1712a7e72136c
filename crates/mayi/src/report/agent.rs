//! Text that a person enters as a crawler → the product token that is meant. The text is a token, or a whole
//! User-Agent string with tokens that the registry or a file knows.
//!
//! People copy User-Agent strings out of logs, and robots.txt uses product tokens (REP-4). It can be unclear
//! which of the names in a string is the crawler's, so one is chosen, and all known ones are offered.

use serde::{Deserialize, Serialize};

use crate::crawler::ProductToken;
use crate::directive::{GroupStart, Role};
use crate::registry::{AgentKind, Registry, names_in};
use crate::robots_txt::RobotsTxt;

/// Which product token a text means.
///
/// ```
/// use mayi::registry::Registry;
/// use mayi::report::AgentReport;
///
/// let text = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
/// let report = AgentReport::of(text, &Registry::built_in(), None);
/// assert_eq!(report.agent.as_deref(), Some("bingbot"));
/// assert_eq!(AgentReport::of("MyBot", &Registry::built_in(), None).agent.as_deref(), Some("MyBot"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentReport {
    /// The product token that was chosen, or null if the text names no crawler.
    pub agent: Option<String>,
    /// Whether the text is a product token itself, so that there was nothing to find.
    pub is_token: bool,
    /// The product tokens in the text that are known, in its order; no more than twenty.
    pub known: Vec<KnownAgent>,
    /// What was done, in a sentence.
    pub message: String,
}

/// A product token that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KnownAgent {
    /// The product token.
    pub token: String,
    /// Whether the file names it.
    pub in_file: bool,
    /// Its operator, if the registry has it.
    pub operator: Option<String>,
    /// What it is for, if the registry has it.
    pub kind: Option<AgentKind>,
}

/// How much of a text is looked at: no honest User-Agent string is longer.
const MOST_OCTETS: usize = 4096;

/// How many of its words are looked up in the file, and how many tokens are offered.
const MOST_WORDS: usize = 100;
const MOST_KNOWN: usize = 20;

impl AgentReport {
    /// Which product token a text means, by a registry and by a file, if there is one.
    pub fn of(text: &str, registry: &Registry, robots: Option<&RobotsTxt<'_>>) -> Self {
        let text = text.trim();
        let text = &text[..text.floor_char_boundary(MOST_OCTETS)];
        let is_token = ProductToken::new(text).is_ok();
        let mut known: Vec<KnownAgent> = Vec::new();
        for word in names_in(text).take(MOST_WORDS) {
            let agent = registry.agent_named(word);
            let in_file = robots.is_some_and(|robots| names(robots, word));
            // A crawler is offered by the name that the file has for it.
            let token = match agent {
                Some(agent) if !in_file => agent.token.to_string(),
                _ => word.to_owned(),
            };
            let is_new = known.iter().all(|it| !it.token.eq_ignore_ascii_case(&token));
            if (agent.is_some() || in_file) && is_new && known.len() < MOST_KNOWN {
                let operator = agent.map(|agent| agent.operator.to_string());
                known.push(KnownAgent {
                    token,
                    in_file,
                    operator,
                    kind: agent.map(|agent| agent.kind),
                });
            }
        }
        let agent = if is_token { Some(text.to_owned()) } else { taken(text, registry, &known) };
        let message = message(agent.as_deref(), is_token, &known);
        Self { agent, is_token, known, message }
    }
}

/// The name that is chosen: that of the sender of the string (RFC 9110 §10.1.5), unless only other names in
/// it are known.
fn taken(text: &str, registry: &Registry, known: &[KnownAgent]) -> Option<String> {
    let crawler = registry.crawler(text);
    let token = crawler.product_token().as_str();
    let is_known = known.iter().any(|it| it.token.eq_ignore_ascii_case(token));
    match known.first() {
        Some(first) if crawler.is_unnamed() || !is_known && is_browser(text) => {
            Some(first.token.clone())
        }
        _ if crawler.is_unnamed() => None,
        _ => Some(token.to_owned()),
    }
}

/// Whether a string starts as that of a browser does, so that its first product says nothing.
fn is_browser(text: &str) -> bool {
    text.starts_with("Mozilla/") || text.starts_with("Opera/")
}

fn message(agent: Option<&str>, is_token: bool, known: &[KnownAgent]) -> String {
    let Some(agent) = agent else {
        return "This names no crawler. Give its product token: letters, digits, `-`, `_` and `.`"
            .to_owned();
    };
    if is_token {
        return format!("`{agent}` is a product token.");
    }
    let others = known.iter().filter(|it| !it.token.eq_ignore_ascii_case(agent));
    let others: Vec<_> = others.map(|it| format!("`{}`", it.token)).collect();
    if others.is_empty() {
        format!("This is read as the crawler `{agent}`.")
    } else {
        format!("This is read as the crawler `{agent}`. It also names {}.", others.join(", "))
    }
}

/// Whether a file has a group-start line with this product token.
fn names(robots: &RobotsTxt<'_>, word: &str) -> bool {
    let Ok(token) = ProductToken::new(word) else { return false };
    robots.records().iter().any(|record| {
        record.role() == Role::StartsGroup(GroupStart::ProductToken)
            && token.is_named_by(robots.value(*record), robots.dialect().tokens)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, file: Option<&str>) -> AgentReport {
        let robots = file.map(|file| RobotsTxt::parse(file.as_bytes()));
        AgentReport::of(text, &Registry::built_in(), robots.as_ref())
    }

    fn tokens(report: &AgentReport) -> Vec<&str> {
        report.known.iter().map(|it| &*it.token).collect()
    }

    #[test]
    fn a_token_is_itself() {
        let report = of(" SomeBot ", None);
        assert_eq!((report.agent.as_deref(), report.is_token), (Some("SomeBot"), true));
        assert_eq!(report.known, []);
        let report = of("gptbot", None);
        assert_eq!((report.agent.as_deref(), tokens(&report)), (Some("gptbot"), vec!["GPTBot"]));
    }

    #[test]
    fn one_is_taken_and_several_are_offered() {
        let text = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)";
        let report = of(text, None);
        assert_eq!((report.agent.as_deref(), tokens(&report)), (Some("GPTBot"), vec!["GPTBot"]));
        assert_eq!(report.known[0].kind, Some(AgentKind::Training));
        let report = of("Mozilla/5.0 (compatible; Googlebot/2.1; bingbot/2.0)", None);
        assert_eq!(
            (report.agent.as_deref(), tokens(&report)),
            (Some("Googlebot"), vec!["Googlebot", "bingbot"])
        );
        assert_eq!(report.message, "This is read as the crawler `Googlebot`. It also names `bingbot`.");
        assert_eq!(of("MyBot/1.0 (not Googlebot)", None).agent.as_deref(), Some("MyBot"));
    }

    #[test]
    fn the_file_knows_names_too() {
        let text = "Mozilla/5.0 (compatible; acme-fetch/3; +https://acme.example/)";
        assert_eq!(tokens(&of(text, None)), Vec::<&str>::new());
        let report = of(text, Some("User-agent: Acme-Fetch\nDisallow: /\n"));
        assert_eq!((report.agent.as_deref(), report.known[0].in_file), (Some("acme-fetch"), true));
        assert_eq!(report.known[0].operator, None);
    }

    #[test]
    fn nothing_is_found_in_a_browser() {
        let report = of("Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0", None);
        assert_eq!((report.agent, report.is_token), (None, false));
        assert_eq!(of("", None).agent, None);
    }

    #[test]
    fn long_texts_are_cut() {
        let report = of(&"Googlebot bingbot é ".repeat(100_000), None);
        assert_eq!(report.known.len(), 2);
        assert_eq!(of(&"a1/ ".repeat(100_000), Some("User-agent: a1\n")).known.len(), 1);
    }
}

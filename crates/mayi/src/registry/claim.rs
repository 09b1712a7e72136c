//! A whole User-Agent string → what it claims to be: a known crawler, a browser, or something else.
//!
//! Logs have User-Agent strings, robots.txt has product tokens (REP-4). A known crawler is found by its
//! product token anywhere in the string, but not in a URL or a mail address: these say where to read
//! more, not which crawler it is. The claim is not verified: anybody can send any string.

use super::{Agent, Registry};
use crate::crawler::{Crawler, ProductToken};

/// Which client a User-Agent string claims to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim<'r, 'u> {
    /// A crawler of the registry.
    Known(&'r Agent),
    /// A program that is not in the registry, by its most likely product token.
    Other(&'u str),
    /// A browser with a person in front of it.
    Browser,
    /// It gives no name.
    Nothing,
}

/// The longest name that is taken from a string: a longer one is cut there.
const MOST_OCTETS: usize = 64;

/// Words that only a program without a person uses in its name.
const MACHINES: [&[u8]; 4] = [b"bot", b"crawl", b"spider", b"scrape"];

/// Words that every browser has in its string, one or the other.
const ENGINES: [&[u8]; 6] = [b"Gecko", b"AppleWebKit", b"KHTML", b"Trident", b"MSIE", b"Presto"];

impl Registry {
    /// Which client a User-Agent string claims to be. Of several known crawlers in one string, the first
    /// counts; a name that goes on after a hyphen (`DuckDuckBot-Https`) is the longest known one that
    /// it starts with.
    ///
    /// ```
    /// use mayi::registry::{Claim, Registry};
    ///
    /// let registry = Registry::built_in();
    /// let claim = registry.claim(b"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)");
    /// assert!(matches!(claim, Claim::Known(agent) if agent.token == "bingbot"));
    /// let firefox = b"Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0";
    /// assert_eq!(registry.claim(firefox), Claim::Browser);
    /// assert_eq!(registry.claim(b"ExampleBot/1.0 (+https://example.com/)"), Claim::Other("ExampleBot"));
    /// assert_eq!(registry.claim(b"-"), Claim::Nothing);
    /// ```
    pub fn claim<'r, 'u>(&'r self, user_agent: &'u [u8]) -> Claim<'r, 'u> {
        let mut seen = Seen::default();
        for word in words(user_agent) {
            if let Some(agent) = self.agent_named(word) {
                return Claim::Known(agent);
            }
            seen.note(word);
        }
        let is_web = user_agent.starts_with(b"Mozilla/") || user_agent.starts_with(b"Opera/");
        let has_url = memchr::memmem::find(user_agent, b"://").is_some();
        match seen.machine {
            Some(machine) => Claim::Other(machine),
            None if is_web && seen.engine && !has_url => Claim::Browser,
            None => seen.subject(is_web).map_or(Claim::Nothing, Claim::Other),
        }
    }

    /// The crawler that sends a User-Agent string: the product that the string starts with (RFC 9110 §10.1.5), or, if it
    /// starts as a browser's does, the crawler that it claims to be. If it claims to be none, it is
    /// [unnamed](Crawler::unnamed) in a dialect that compares product tokens; a dialect that compares names
    /// as they are written uses the string itself.
    ///
    /// ```
    /// let registry = mayi::registry::Registry::built_in();
    /// let token = |user_agent| registry.crawler(user_agent).product_token().to_string();
    /// assert_eq!(token("MyBot/1.0 (not Googlebot)"), "MyBot");
    /// assert_eq!(token("Mozilla/5.0 (compatible; MyBot/1.0)"), "MyBot");
    /// assert_eq!(token(""), "*");
    /// ```
    pub fn crawler(&self, user_agent: &str) -> Crawler {
        let ends_product = |c: char| c.is_whitespace() || matches!(c, '/' | '(' | ';' | ',');
        let product = user_agent.trim_start().split(ends_product).next().unwrap_or_default();
        let is_browser = matches!(product, "Mozilla" | "Opera");
        // `-` stands for a missing header in logs.
        let is_name = product.bytes().any(|octet| octet.is_ascii_alphabetic())
            && ProductToken::new(product).is_ok();
        let claimed = match self.claim(user_agent.as_bytes()) {
            _ if !is_browser && is_name => product,
            Claim::Known(agent) => &agent.token,
            Claim::Other(name) if product.is_ascii() => name,
            // Lines of files are read up to the first character that a product token can't have, too (REP-4).
            Claim::Other(_) => product.split(|c: char| !c.is_ascii()).next().unwrap_or_default(),
            Claim::Browser | Claim::Nothing => "",
        };
        Crawler::new(claimed).unwrap_or_else(|_| Crawler::unnamed()).sending(user_agent)
    }

    /// The known crawler that a word names: exactly, or by what is before one of its hyphens.
    pub(crate) fn agent_named(&self, word: &str) -> Option<&Agent> {
        let mut name = word;
        loop {
            if let Some(agent) = self.agent(name) {
                return Some(agent);
            }
            name = &name[..name.rfind('-')?];
        }
    }
}

impl Crawler {
    /// The crawler that sends a User-Agent string, as far as the registry that is built in can tell: see
    /// [`Registry::crawler`].
    ///
    /// ```
    /// use mayi::Crawler;
    ///
    /// let crawler = Crawler::from_user_agent("Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)");
    /// assert_eq!(crawler.product_token().as_str(), "bingbot");
    /// assert_eq!(Crawler::from_user_agent("-").product_token().as_str(), "*");
    /// ```
    pub fn from_user_agent(user_agent: &str) -> Self {
        Registry::built_in().crawler(user_agent)
    }
}

/// What was found in a string without a known crawler.
#[derive(Default)]
struct Seen<'u> {
    first: Option<&'u str>,
    /// What follows `compatible`, which introduces the real name after `Mozilla`.
    compatible: Option<&'u str>,
    machine: Option<&'u str>,
    engine: bool,
    after_compatible: bool,
}

impl<'u> Seen<'u> {
    fn note(&mut self, word: &'u str) {
        let octets = word.as_bytes();
        self.engine |= ENGINES.contains(&octets);
        if !octets.iter().any(u8::is_ascii_alphabetic) {
            return;
        }
        if self.after_compatible && self.compatible.is_none() {
            self.compatible = Some(word);
        }
        self.after_compatible |= octets.eq_ignore_ascii_case(b"compatible");
        self.first = self.first.or(Some(word));
        if self.machine.is_none() && is_machine(octets) {
            self.machine = Some(word);
        }
    }

    /// The name of something that does not say it is a machine.
    fn subject(&self, is_web: bool) -> Option<&'u str> {
        if is_web { self.compatible.or(self.first) } else { self.first }
    }
}

fn is_machine(word: &[u8]) -> bool {
    let has = |part: &[u8]| word.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part));
    // Cubot makes telephones.
    let is_telephone = word.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"cubot"));
    !is_telephone && MACHINES.iter().any(|part| has(part))
}

/// The words of a text that may be product tokens.
#[cfg(feature = "report")]
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    words(text.as_bytes())
}

/// The words of a string that may be product tokens, without those of URLs and mail addresses.
fn words(user_agent: &[u8]) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + user_agent[at..].iter().position(|&octet| is_token(octet))?;
            let rest = &user_agent[start..];
            let length = rest.iter().position(|&octet| !is_token(octet)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(length);
            at = start + length;
            if behind.starts_with(b"://") || behind.starts_with(b"@") {
                // No crawler is named inside a URL; it ends at the first character that can't be in a URL.
                at += behind
                    .iter()
                    .position(|octet| b" \t;,()<>\"'".contains(octet))
                    .unwrap_or(behind.len());
                continue;
            }
            let dots = word.iter().rev().take_while(|&&octet| octet == b'.').count();
            let word = &word[..word.len() - dots];
            let word = std::str::from_utf8(&word[..word.len().min(MOST_OCTETS)]).unwrap_or_default();
            if !word.is_empty() {
                return Some(word);
            }
        }
    })
}

const fn is_token(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'_' | b'-' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed(user_agent: &str) -> String {
        match Registry::built_in().claim(user_agent.as_bytes()) {
            Claim::Known(agent) => agent.token.to_string(),
            Claim::Other(token) => format!("other {token}"),
            Claim::Browser => "browser".to_owned(),
            Claim::Nothing => "nothing".to_owned(),
        }
    }

    /// Strings as the operators publish them.
    #[test]
    fn known_crawlers_are_found_anywhere() {
        let chrome = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ";
        for (user_agent, token) in [
            ("Googlebot/2.1 (+http://www.google.com/bot.html)", "Googlebot"),
            (
                &format!(
                    "{chrome}Googlebot/2.1; +http://www.google.com/bot.html) Chrome/1 Safari/537.36"
                ),
                "Googlebot",
            ),
            ("Googlebot-Image/1.0", "Googlebot-Image"),
            ("googlebot-image/1.0", "Googlebot-Image"),
            ("AdsBot-Google (+http://www.google.com/adsbot.html)", "AdsBot-Google"),
            (&format!("{chrome}GPTBot/1.2; +https://openai.com/gptbot)"), "GPTBot"),
            (&format!("{chrome}ClaudeBot/1.0; +claudebot@anthropic.com)"), "ClaudeBot"),
            ("CCBot/2.0 (https://commoncrawl.org/faq/)", "CCBot"),
            (
                "Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)",
                "Slurp",
            ),
            (
                "Mozilla/5.0 (compatible; DuckDuckBot-Https/1.1; https://duckduckgo.com/duckduckbot)",
                "DuckDuckBot",
            ),
            ("Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.com/)", "MJ12bot"),
            (
                "Mozilla/5.0 (compatible; Linux x86_64; Mail.RU_Bot/2.0; +https://help.mail.ru/)",
                "Mail.RU_Bot",
            ),
            ("panscient.com", "panscient.com"),
            ("Mozilla/5.0 (compatible; bingbot/2.0.", "bingbot"),
            ("facebookexternalhit/1.1 Facebot Twitterbot/1.0", "facebookexternalhit"),
        ] {
            assert_eq!(claimed(user_agent), token, "{user_agent}");
        }
    }

    #[test]
    fn a_url_and_a_mail_address_name_nobody() {
        assert_eq!(claimed("Foo/1.0 (+https://example.com/Googlebot)"), "other Foo");
        assert_eq!(claimed("Foo/1.0 (Googlebot@example.com)"), "other Foo");
        assert_eq!(claimed("Foo/1.0 (https://example.com/) Googlebot"), "Googlebot");
        assert_eq!(claimed("NotGooglebot/1.0"), "other NotGooglebot");
    }

    #[test]
    fn browsers_and_programs_are_told_apart() {
        for (user_agent, claim) in [
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
                "browser",
            ),
            (
                "Mozilla/5.0 (Linux; Android 9; CUBOT_X19) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/99.0 Mobile Safari/537.36",
                "browser",
            ),
            ("Opera/9.80 (Windows NT 6.1) Presto/2.12.388 Version/12.18", "browser"),
            ("curl/8.5.0", "other curl"),
            ("python-requests/2.32.3", "other python-requests"),
            ("Mozilla/5.0 (compatible; FooBot/1.0; +https://foo.example/)", "other FooBot"),
            ("Mozilla/5.0 (compatible; Foo/1.0)", "other Foo"),
            (
                "Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) FooCrawler/2",
                "other FooCrawler",
            ),
            ("Mozilla/5.0", "other Mozilla"),
            ("", "nothing"),
            ("-", "nothing"),
            ("1.0 2.0 \u{7f}\u{0}", "nothing"),
        ] {
            assert_eq!(claimed(user_agent), claim, "{user_agent}");
        }
    }

    #[test]
    fn octets_of_any_kind_are_a_claim() {
        let registry = Registry::built_in();
        assert_eq!(
            registry.claim(b"\xff\xfe Googlebot\xff"),
            Claim::Known(registry.agent("Googlebot").expect("known"))
        );
        let long = "a".repeat(1 << 20);
        assert_eq!(registry.claim(long.as_bytes()), Claim::Other(&long[..MOST_OCTETS]));
        let hyphens = "-".repeat(1 << 16);
        assert_eq!(registry.claim(hyphens.as_bytes()), Claim::Nothing);
    }
}

//! A crawler: its product token, its purposes and the applications that it crawls for (REP-4, WILD-5,
//! PUR-4, APP-5, WILD-6).

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::str::FromStr;

use crate::dialect::Tokens;

/// A crawler, as robots.txt knows it.
///
/// ```
/// use mayi::{Crawler, ProductToken};
///
/// let crawler = Crawler::new("ExampleBot-Image")?
///     .with_purpose("EXAMPLE-PURPOSE-1")?
///     .with_application("examplesearch")?
///     .with_fallback(ProductToken::new("ExampleBot")?)
///     .with_user_agent("ExampleBot-Image/1.0 (EXAMPLE-PURPOSE-1; https://example.com/bot)")?;
/// assert_eq!(crawler.product_token().as_str(), "ExampleBot-Image");
/// assert!(!crawler.is_for_training());
/// assert!(Crawler::new("ExampleBot/1.0").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Crawler {
    product_token: ProductToken,
    purposes: Vec<Box<str>>,
    /// Whether only registered purposes are accepted.
    registered_purposes_only: bool,
    applications: Vec<Box<str>>,
    /// The fallbacks and exemptions that the caller gives; default: those of the registry.
    manners: Option<Manners>,
    /// The text that is compared with names in dialects that compare names as they are written, if it is not
    /// the product token.
    sent: Option<Box<str>>,
}

/// How many octets of a User-Agent string are kept. The limit bounds the work, because each octet is compared
/// with each name of a file.
const MOST_SENT: usize = 1024;

/// The parts of a crawler, for [`Crawler::of_parts`].
///
/// ```
/// use mayi::{Crawler, CrawlerParts};
///
/// let parts = CrawlerParts { purposes: &["EXAMPLE-PURPOSE-1"], ..CrawlerParts::new("ExampleBot") };
/// assert_eq!(Crawler::of_parts(parts)?.purposes().count(), 1);
/// let error = Crawler::of_parts(CrawlerParts::<&str>::new("Example Bot")).unwrap_err();
/// assert!(error.is_product_token());
/// # Ok::<(), mayi::InvalidCrawler>(())
/// ```
#[derive(Debug)]
pub struct CrawlerParts<'a, S> {
    /// Its name in the protocol.
    pub product_token: &'a str,
    /// What it crawls for.
    pub purposes: &'a [S],
    /// Whether its purposes count only if they are registered (PUR-2).
    pub registered_purposes_only: bool,
    /// The applications that it collects data for.
    pub applications: &'a [S],
    /// The User-Agent string that it sends, which must contain its product token and its purposes.
    pub user_agent: Option<&'a str>,
}

// Derived, these would ask the same of the texts, of which there are only references here.
impl<S> Copy for CrawlerParts<'_, S> {}

impl<S> Clone for CrawlerParts<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, S> CrawlerParts<'a, S> {
    /// Only a name, without any other part.
    pub fn new(product_token: &'a str) -> Self {
        Self {
            product_token,
            purposes: &[],
            registered_purposes_only: false,
            applications: &[],
            user_agent: None,
        }
    }
}

/// How a crawler finds its group when no line has its product token (WILD-6).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Manners {
    /// Tokens that are tried in turn.
    #[cfg_attr(feature = "report", serde(rename = "fallback"))]
    pub(crate) fallbacks: Cow<'static, [ProductToken]>,
    /// Whether `*` does not apply to it.
    pub(crate) ignores_global: bool,
}

impl Crawler {
    /// A crawler with this product token.
    ///
    /// # Errors
    /// When it is not a product token.
    pub fn new(product_token: &str) -> Result<Self, InvalidProductToken> {
        Ok(ProductToken::new(product_token)?.into())
    }

    /// A crawler without a product token. No line of a file can name it, not even a regular expression that
    /// matches everything. Only the groups of `*`, and those of its purposes, apply to it (REP-6).
    ///
    /// ```
    /// use mayi::{Crawler, RobotsTxt, Target};
    ///
    /// let robots = RobotsTxt::parse(b"User-agent: *\nDisallow: /a\nUser-agent: .*\nDisallow: /\n");
    /// let crawler = Crawler::unnamed();
    /// assert!(crawler.is_unnamed());
    /// assert_eq!(crawler.product_token().as_str(), "*");
    /// assert!(robots.decide(&crawler, &Target::parse("https://example.com/b")?).is_allowed());
    /// assert!(!robots.decide(&crawler, &Target::parse("https://example.com/a")?).is_allowed());
    /// # Ok::<(), mayi::InvalidUrl>(())
    /// ```
    pub fn unnamed() -> Self {
        ProductToken(Cow::Borrowed(GLOBAL)).into()
    }

    /// A crawler with all its parts, as they are in a request, a row or a command line.
    ///
    /// # Errors
    /// When a part is not what it should be.
    pub fn of_parts<S: AsRef<str>>(parts: CrawlerParts<'_, S>) -> Result<Self, InvalidCrawler> {
        let token = parts.product_token;
        let crawler = Self::new(token)
            .map_err(|_| InvalidCrawler { part: Part::ProductToken, given: token.into() })?;
        crawler.with_parts(parts)
    }

    /// The same crawler with all these parts but the product token, which it has.
    ///
    /// ```
    /// use mayi::{Crawler, CrawlerParts};
    ///
    /// let crawler = Crawler::from_user_agent("Mozilla/5.0 (compatible; ExampleBot/1.0)");
    /// let parts = CrawlerParts { purposes: &["EXAMPLE-PURPOSE-1"], ..CrawlerParts::new("") };
    /// assert_eq!(crawler.with_parts(parts)?.product_token().as_str(), "ExampleBot");
    /// # Ok::<(), mayi::InvalidCrawler>(())
    /// ```
    ///
    /// # Errors
    /// When a part is not what it should be.
    pub fn with_parts<S: AsRef<str>>(self, parts: CrawlerParts<'_, S>) -> Result<Self, InvalidCrawler> {
        let CrawlerParts { purposes, applications, user_agent, .. } = parts;
        let crawler = purposes.iter().try_fold(self, |it, word| it.with_purpose(word.as_ref()))?;
        let crawler = crawler.with_registered_purposes_only(parts.registered_purposes_only);
        let with = |it: Self, word: &S| it.with_application(word.as_ref());
        let crawler = applications.iter().try_fold(crawler, with)?;
        match user_agent {
            Some(user_agent) => crawler.with_user_agent(user_agent),
            None => Ok(crawler),
        }
    }

    /// The same crawler with one more purpose.
    ///
    /// # Errors
    /// When the purpose is empty or has white space or control characters.
    pub fn with_purpose(mut self, purpose: &str) -> Result<Self, InvalidCrawler> {
        if purpose.is_empty() || purpose.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(InvalidCrawler { part: Part::Purpose, given: purpose.into() });
        }
        self.purposes.push(purpose.into());
        Ok(self)
    }

    /// The same crawler, whose purposes count only if they are registered, or always (PUR-2).
    ///
    /// ```
    /// use mayi::{Crawler, RobotsTxt, Target};
    ///
    /// let robots = RobotsTxt::parse(b"User-Agent-Purpose: shopping\nDisallow: /\n");
    /// let target = Target::parse("https://example.com/")?;
    /// let crawler = Crawler::new("ExampleBot")?.with_purpose("shopping")?;
    /// assert!(!robots.decide(&crawler, &target).is_allowed());
    /// let strict = crawler.with_registered_purposes_only(true);
    /// assert!(robots.decide(&strict, &target).is_allowed());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_registered_purposes_only(self, only: bool) -> Self {
        Self { registered_purposes_only: only, ..self }
    }

    /// The same crawler, crawling for one more application.
    ///
    /// # Errors
    /// When the identifier is not a Structured Fields Token.
    pub fn with_application(mut self, identifier: &str) -> Result<Self, InvalidCrawler> {
        if sfv::TokenRef::from_str(identifier).is_err() {
            return Err(InvalidCrawler { part: Part::Application, given: identifier.into() });
        }
        self.applications.push(identifier.into());
        Ok(self)
    }

    /// The same crawler, with another token whose groups it falls back to before those of `*`. What the
    /// registry of known crawlers says about it no longer counts.
    #[must_use]
    pub fn with_fallback(mut self, token: ProductToken) -> Self {
        self.manners.get_or_insert_default().fallbacks.to_mut().push(token);
        self
    }

    /// The same crawler; `*` groups do not apply to it, or do. What the registry of known crawlers says about
    /// it no longer counts.
    #[must_use]
    pub fn ignoring_global(mut self, ignores: bool) -> Self {
        self.manners.get_or_insert_default().ignores_global = ignores;
        self
    }

    /// The same crawler, checked against the User-Agent string that it sends: the string must contain its
    /// product token and its purposes (PUR-4).
    ///
    /// # Errors
    /// When one of them is missing.
    pub fn with_user_agent(self, user_agent: &str) -> Result<Self, InvalidCrawler> {
        let sent = user_agent.to_ascii_lowercase();
        let name = self.product_token.to_be_named().map(ProductToken::as_str);
        let mut tokens = self.purposes.iter().map(|purpose| &**purpose).chain(name);
        if let Some(missing) = tokens.find(|token| !sent.contains(&token.to_ascii_lowercase())) {
            return Err(InvalidCrawler { part: Part::UserAgent, given: missing.into() });
        }
        drop(tokens);
        Ok(self)
    }

    /// Whether it is [unnamed](Self::unnamed).
    pub fn is_unnamed(&self) -> bool {
        self.product_token.to_be_named().is_none()
    }

    /// Its name in the protocol; `*` for one that is [unnamed](Self::unnamed).
    pub fn product_token(&self) -> &ProductToken {
        &self.product_token
    }

    /// What it crawls for.
    pub fn purposes(&self) -> impl Iterator<Item = &str> {
        self.purposes.iter().map(|purpose| &**purpose)
    }

    /// Whether only registered purposes are accepted.
    pub(crate) fn has_registered_purposes_only(&self) -> bool {
        self.registered_purposes_only
    }

    /// The applications that it crawls for.
    pub fn applications(&self) -> impl Iterator<Item = &str> {
        self.applications.iter().map(|identifier| &**identifier)
    }

    /// Whether its name says that it collects data for training: it ends in `-ai` (AIA-1).
    pub fn is_for_training(&self) -> bool {
        let token = self.product_token.as_str().as_bytes();
        token.len() >= 3 && token[token.len() - 3..].eq_ignore_ascii_case(b"-ai")
    }

    /// The same crawler, which sends this text as its User-Agent.
    pub(crate) fn sending(self, user_agent: &str) -> Self {
        let sent = &user_agent[..user_agent.floor_char_boundary(MOST_SENT)];
        Self { sent: Some(sent.trim().into()), ..self }
    }

    /// The text for dialects that compare names as they are written: what it sends, or else its product
    /// token.
    pub(crate) fn sent(&self) -> &str {
        self.sent.as_deref().unwrap_or(self.product_token.as_str())
    }

    pub(crate) fn manners(&self) -> Option<&Manners> {
        self.manners.as_ref()
    }
}

impl From<ProductToken> for Crawler {
    fn from(product_token: ProductToken) -> Self {
        Self {
            product_token,
            purposes: Vec::new(),
            registered_purposes_only: false,
            applications: Vec::new(),
            manners: None,
            sent: None,
        }
    }
}

/// A part of a crawler that is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCrawler {
    part: Part,
    given: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    ProductToken,
    Purpose,
    Application,
    UserAgent,
}

impl InvalidCrawler {
    /// Whether its name is wrong.
    pub fn is_product_token(&self) -> bool {
        self.part == Part::ProductToken
    }

    /// Whether a purpose is wrong.
    pub fn is_purpose(&self) -> bool {
        self.part == Part::Purpose
    }

    /// Whether an application identifier is wrong.
    pub fn is_application(&self) -> bool {
        self.part == Part::Application
    }

    /// Whether the User-Agent string lacks a token.
    pub fn is_user_agent(&self) -> bool {
        self.part == Part::UserAgent
    }
}

impl fmt::Display for InvalidCrawler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = self.given.escape_debug();
        match self.part {
            Part::ProductToken => InvalidProductToken { token: self.given.clone() }.fmt(f),
            Part::Purpose => write!(
                f,
                "`{given}` is not a purpose token: a purpose token is not empty and has no white space (PUR-2)"
            ),
            Part::Application => write!(
                f,
                "`{given}` is not an application identifier: it is a Token of RFC 9651 §3.3.4, which \
                 starts with a letter or `*` and has no white space (APP-3)"
            ),
            Part::UserAgent => write!(
                f,
                "the User-Agent string does not have `{given}` in it: a crawler sends its product token \
                 and its purposes there (PUR-4)"
            ),
        }
    }
}

impl Error for InvalidCrawler {}

/// The name of a crawler in the protocol: one or more of `A-Z a-z _ -`, digits and dots. Dots at its end
/// are ignored, as in a file, and dots alone are not a name.
///
/// ```
/// use mayi::ProductToken;
///
/// assert!("MJ12bot".parse::<ProductToken>().is_ok());
/// let error = ProductToken::new("Example Bot").unwrap_err();
/// assert!(error.to_string().contains("A-Z a-z 0-9 _ - ."));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProductToken(Cow<'static, str>);

/// The token for all crawlers on a group-start line; it is also shown for a crawler without a product token.
const GLOBAL: &str = "*";

impl ProductToken {
    /// Checks a product token.
    ///
    /// # Errors
    /// When it is empty or has another character.
    pub fn new(token: &str) -> Result<Self, InvalidProductToken> {
        if token.trim_end_matches('.').is_empty() || !token.bytes().all(is_in_token) {
            return Err(InvalidProductToken { token: token.into() });
        }
        Ok(Self(Cow::Owned(token.to_owned())))
    }

    /// The token that somebody gives for a crawler, without white space around it; none for `*`, which stands for
    /// crawlers that no file names.
    ///
    /// # Errors
    /// When it is neither.
    pub fn unless_global(text: &str) -> Result<Option<Self>, InvalidProductToken> {
        match text.trim() {
            GLOBAL => Ok(None),
            token => Self::new(token).map(Some),
        }
    }

    /// A token of the shipped registries, which a test has checked.
    pub(crate) const fn shipped(token: &'static str) -> Self {
        Self(Cow::Borrowed(token))
    }

    /// The token as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The token, unless it is that of a crawler without one, which no line can name.
    pub(crate) fn to_be_named(&self) -> Option<&Self> {
        Some(self).filter(|token| token.0 != GLOBAL)
    }

    /// The token as the values of group-start lines are compared with it.
    pub(crate) fn compared(&self, tokens: Tokens) -> &str {
        match tokens {
            Tokens::WithDigitsAndDots => self.0.trim_end_matches('.'),
            Tokens::LettersOnly => &self.0,
        }
    }

    /// Whether a group-start line's value names this token (REP-4).
    pub(crate) fn is_named_by(&self, value: &[u8], tokens: Tokens) -> bool {
        let token = self.compared(tokens);
        let Some((start, rest)) = value.split_at_checked(token.len()) else { return false };
        start.eq_ignore_ascii_case(token.as_bytes())
            && match tokens {
                Tokens::WithDigitsAndDots => {
                    let next = rest.iter().find(|octet| **octet != b'.');
                    !next.is_some_and(|&octet| is_in_token(octet))
                }
                Tokens::LettersOnly => {
                    token.bytes().all(is_letter_of_token)
                        && !rest.first().is_some_and(|&octet| is_letter_of_token(octet))
                }
            }
    }
}

/// The product token that a value starts with, which may be empty, and what follows it (REP-4).
pub(crate) fn split_token(value: &[u8]) -> (&[u8], &[u8]) {
    let run = value.iter().position(|&octet| !is_in_token(octet)).unwrap_or(value.len());
    let last = value[..run].iter().rposition(|&octet| octet != b'.');
    value.split_at(last.map_or(0, |last| last + 1))
}

/// The only token that a value names: [`ProductToken::is_named_by`] is true of a token that is compared as this one, in
/// any case of its letters, and of no other.
pub(crate) fn token_named_by(value: &[u8], tokens: Tokens) -> &[u8] {
    match tokens {
        Tokens::WithDigitsAndDots => split_token(value).0,
        Tokens::LettersOnly => {
            let end = value.iter().position(|&octet| !is_letter_of_token(octet));
            &value[..end.unwrap_or(value.len())]
        }
    }
}

/// What a product token has: `A-Z a-z _ -`, digits and dots (WILD-5).
pub(crate) const fn is_in_token(octet: u8) -> bool {
    IN_TOKEN[octet as usize]
}

/// Whether each octet is one of these: names are read octet by octet.
static IN_TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut octet = 0;
    while octet < 256 {
        let is = octet as u8;
        table[octet] = is_letter_of_token(is) || is.is_ascii_digit() || is == b'.';
        octet += 1;
    }
    table
};

/// What draft-koster-rep-00 lets a product token have: `A-Z a-z _ -`.
pub(crate) const fn is_letter_of_token(octet: u8) -> bool {
    octet.is_ascii_alphabetic() || octet == b'_' || octet == b'-'
}

impl FromStr for ProductToken {
    type Err = InvalidProductToken;

    fn from_str(token: &str) -> Result<Self, Self::Err> {
        Self::new(token)
    }
}

impl fmt::Display for ProductToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Text that is not a product token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidProductToken {
    token: Box<str>,
}

impl fmt::Display for InvalidProductToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = self.token.escape_debug();
        write!(
            f,
            "`{token}` is not a product token: a product token is one or more of A-Z a-z 0-9 _ - . (REP-4)"
        )?;
        // The likeliest mistakes are a whole User-Agent string and a version after the name.
        let start = &self.token[..split_token(self.token.as_bytes()).0.len()];
        if *self.token == *GLOBAL {
            write!(f, "; `*` means all crawlers in a file, but a question is about one crawler")?;
        } else if !start.is_empty() && start != "Mozilla" {
            write!(f, "; did you mean `{start}`?")?;
        }
        Ok(())
    }
}

impl Error for InvalidProductToken {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crawler_without_a_name_has_its_purposes_checked() {
        let parts = |purpose, user_agent| CrawlerParts {
            purposes: purpose,
            user_agent: Some(user_agent),
            ..CrawlerParts::new("")
        };
        let sent = "Mozilla/5.0 (compatible; EXAMPLE-PURPOSE-1)";
        assert!(Crawler::unnamed().with_parts(parts(&["EXAMPLE-PURPOSE-1"], sent)).is_ok());
        let missing = Crawler::unnamed().with_parts(parts(&["EXAMPLE-PURPOSE-2"], sent));
        assert!(missing.is_err_and(|error| error.is_user_agent()));
        assert_eq!(ProductToken::unless_global(" * "), Ok(None));
        assert_eq!(ProductToken::unless_global("a"), Ok(Some(ProductToken::shipped("a"))));
        assert!(ProductToken::unless_global("").is_err());
    }

    #[test]
    fn which_lines_name_a_token() {
        let names = |token: &str, value: &str, tokens: Tokens| {
            ProductToken::new(token).expect("a token").is_named_by(value.as_bytes(), tokens)
        };
        for tokens in [Tokens::WithDigitsAndDots, Tokens::LettersOnly] {
            let values =
                ["ExampleBot", "examplebot", "ExampleBot/1.0", "ExampleBot*", "ExampleBot extra"];
            for value in values {
                assert!(names("ExampleBot", value, tokens), "{value}");
            }
            for value in
                ["ExampleBotNews", "ExampleBot-News", "ExampleBot_", "Example", "*", "", "aExampleBot"]
            {
                assert!(!names("ExampleBot", value, tokens), "{value}");
            }
        }
        for (token, value, by_letters) in [
            ("MJ", "MJ12bot", true),
            ("Foo", "Foo.com", true),
            ("Foo", "Foo..com", true),
            ("a.", "a.b", false),
        ] {
            assert!(!names(token, value, Tokens::WithDigitsAndDots), "{token} {value}");
            assert_eq!(names(token, value, Tokens::LettersOnly), by_letters, "{token} {value}");
        }
        for (token, value, by_letters) in [
            ("MJ12bot", "mj12BOT", false),
            ("quillbot.com", "quillbot.com/1", false),
            ("Foo", "Foo./1", true),
            ("Foo.", "Foo", false),
            ("Foo.", "foo..", false),
        ] {
            assert!(names(token, value, Tokens::WithDigitsAndDots), "{token} {value}");
            assert_eq!(names(token, value, Tokens::LettersOnly), by_letters, "{token} {value}");
        }
    }

    #[test]
    fn which_token_a_value_starts_with() {
        for (value, token) in [
            ("MJ12bot/1", "MJ12bot"),
            ("a.b. c", "a.b"),
            ("a..", "a"),
            (".*", ""),
            ("..a", "..a"),
            ("", ""),
        ] {
            let (start, rest) = split_token(value.as_bytes());
            assert_eq!(start, token.as_bytes());
            assert_eq!([start, rest].concat(), value.as_bytes());
        }
    }

    #[test]
    fn what_is_no_token() {
        for token in ["", "Example Bot", "ExampleBot/1.0", "*", "Exämple", "a\n", "."] {
            assert!(ProductToken::new(token).is_err(), "{token:?}");
        }
        let message = ProductToken::new("ExampleBot/1.0").unwrap_err().to_string();
        assert!(message.contains("did you mean `ExampleBot`?"), "{message}");
    }
}

//! Who asks: a crawler and its product token (REP-4, WILD-5).

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// A crawler, as robots.txt knows it.
///
/// ```
/// use mayi::Crawler;
///
/// let crawler = Crawler::new("ExampleBot")?;
/// assert_eq!(crawler.product_token().as_str(), "ExampleBot");
/// assert!(Crawler::new("ExampleBot/1.0").is_err());
/// # Ok::<(), mayi::InvalidProductToken>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Crawler {
    product_token: ProductToken,
}

impl Crawler {
    /// A crawler with this product token.
    ///
    /// # Errors
    /// When it is not a product token.
    pub fn new(product_token: &str) -> Result<Self, InvalidProductToken> {
        Ok(ProductToken::new(product_token)?.into())
    }

    /// Its name in the protocol.
    pub fn product_token(&self) -> &ProductToken {
        &self.product_token
    }
}

impl From<ProductToken> for Crawler {
    fn from(product_token: ProductToken) -> Self {
        Self { product_token }
    }
}

/// The name of a crawler in the protocol: one or more of `A-Z a-z _ -`, digits and dots.
///
/// ```
/// use mayi::ProductToken;
///
/// assert!("MJ12bot".parse::<ProductToken>().is_ok());
/// let error = ProductToken::new("Example Bot").unwrap_err();
/// assert!(error.to_string().contains("A-Z a-z 0-9 _ - ."));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProductToken(Box<str>);

impl ProductToken {
    /// Checks a product token.
    ///
    /// # Errors
    /// When it is empty or has another character.
    pub fn new(token: &str) -> Result<Self, InvalidProductToken> {
        let legal = |octet: u8| continues_token(octet) || octet.is_ascii_digit() || octet == b'.';
        if token.is_empty() || !token.bytes().all(legal) {
            return Err(InvalidProductToken { token: token.into() });
        }
        Ok(Self(token.into()))
    }

    /// The token as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it has nothing but what draft-koster-rep-00 lets a product token have.
    pub(crate) fn is_letters_only(&self) -> bool {
        self.0.bytes().all(continues_token)
    }

    /// Whether a group-start line's value names this token (REP-4).
    pub(crate) fn is_named_by(&self, value: &[u8]) -> bool {
        let token = self.0.as_bytes();
        let Some((start, rest)) = value.split_at_checked(token.len()) else { return false };
        start.eq_ignore_ascii_case(token) && !rest.first().is_some_and(|&octet| continues_token(octet))
    }
}

/// Whether an octet behind a token makes it a longer one: `A-Z a-z _ -`.
pub(crate) const fn continues_token(octet: u8) -> bool {
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

/// Text that is no product token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidProductToken {
    token: Box<str>,
}

impl fmt::Display for InvalidProductToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = self.token.escape_debug();
        write!(f, "`{token}` is not a product token: it is one or more of A-Z a-z 0-9 _ - . (REP-4)")?;
        // The likeliest mistakes are a whole User-Agent string and a version behind the name.
        let legal = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let start: &str = self.token.split(|c| !legal(c)).next().unwrap_or_default();
        if *self.token == *"*" {
            write!(f, "; `*` stands for all crawlers in a file, but one of them asks")?;
        } else if !start.is_empty() && start != "Mozilla" {
            write!(f, "; perhaps `{start}` is meant")?;
        }
        Ok(())
    }
}

impl Error for InvalidProductToken {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_lines_name_a_token() {
        let names = |token: &str, value: &str| {
            ProductToken::new(token).expect("a token").is_named_by(value.as_bytes())
        };
        for value in ["ExampleBot", "examplebot", "ExampleBot/1.0", "ExampleBot*", "ExampleBot extra"] {
            assert!(names("ExampleBot", value), "{value}");
        }
        for value in
            ["ExampleBotNews", "ExampleBot-News", "ExampleBot_", "Example", "*", "", "aExampleBot"]
        {
            assert!(!names("ExampleBot", value), "{value}");
        }
        assert!(names("MJ12bot", "mj12BOT"));
        assert!(names("Foo", "Foo2"));
        assert!(names("quillbot.com", "quillbot.com"));
    }

    #[test]
    fn what_is_no_token() {
        for token in ["", "Example Bot", "ExampleBot/1.0", "*", "Exämple", "a\n"] {
            assert!(ProductToken::new(token).is_err(), "{token:?}");
        }
        let message = ProductToken::new("ExampleBot/1.0").unwrap_err().to_string();
        assert!(message.contains("perhaps `ExampleBot` is meant"), "{message}");
    }
}

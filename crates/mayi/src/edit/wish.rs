//! What a site's owner wishes: who may or may not fetch what.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::crawler::{Crawler, ProductToken};
use crate::dialect::Dialect;
use crate::directive::RuleKind;
use crate::meaning::rules::EffectiveRule;
use crate::pattern::PathPattern;
use crate::registry::{AgentKind, Registry};

/// A wish: these crawlers may, or may not, fetch what starts with this path.
///
/// ```
/// use mayi::edit::Wish;
/// use mayi::registry::Registry;
///
/// let wish = Wish::refuse(&["training", "ExampleBot"], "/", &Registry::built_in())?;
/// assert!(wish.crawlers().iter().any(|token| token.as_str() == "GPTBot"));
/// assert!(Wish::allow(&["ExampleBot"], "press", &Registry::built_in()).is_err());
/// # Ok::<(), mayi::edit::InvalidWish>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    pub(super) kind: RuleKind,
    /// None means everybody.
    pub(super) crawlers: Option<Vec<ProductToken>>,
    pub(super) path: String,
}

impl Wish {
    /// They may not fetch it. Each of `who` is a product token, a kind of crawlers as the registry has them
    /// (`training`), or `*` for everybody.
    ///
    /// # Errors
    ///
    /// If one of `who` is none of these, or if the path can't stand in a rule.
    pub fn refuse<S: AsRef<str>>(
        who: &[S],
        path: &str,
        registry: &Registry,
    ) -> Result<Self, InvalidWish> {
        Self::new(RuleKind::Disallow, who, path, registry)
    }

    /// They may fetch it. `who` is as in [`refuse`](Self::refuse).
    ///
    /// # Errors
    ///
    /// As in [`refuse`](Self::refuse).
    pub fn allow<S: AsRef<str>>(
        who: &[S],
        path: &str,
        registry: &Registry,
    ) -> Result<Self, InvalidWish> {
        Self::new(RuleKind::Allow, who, path, registry)
    }

    fn new<S: AsRef<str>>(
        kind: RuleKind,
        who: &[S],
        path: &str,
        registry: &Registry,
    ) -> Result<Self, InvalidWish> {
        let path = path_of(path)?;
        if who.is_empty() {
            return Err(InvalidWish::Nobody);
        }
        if who.len() > MOST_NAMES {
            return Err(InvalidWish::TooMany);
        }
        let mut crawlers: Vec<ProductToken> = Vec::new();
        for word in who.iter().map(AsRef::as_ref) {
            if word == "*" {
                return Ok(Self { kind, crawlers: None, path });
            }
            let add = |crawlers: &mut Vec<ProductToken>, token: ProductToken| {
                if !crawlers.iter().any(|known| known.as_str().eq_ignore_ascii_case(token.as_str())) {
                    crawlers.push(token);
                }
            };
            match AgentKind::ALL.iter().find(|kind| kind.name() == word) {
                Some(kind) => {
                    let of_kind = registry.agents().iter().filter(|agent| agent.kind == *kind);
                    for token in of_kind.filter_map(|agent| ProductToken::new(&agent.token).ok()) {
                        add(&mut crawlers, token);
                    }
                }
                None => match ProductToken::new(word) {
                    Ok(token) => add(&mut crawlers, token),
                    Err(_) => return Err(InvalidWish::Who(word.to_owned())),
                },
            }
        }
        Ok(Self { kind, crawlers: Some(crawlers), path })
    }

    /// The crawlers that it is about, in the order in which they were named. Empty for everybody.
    pub fn crawlers(&self) -> &[ProductToken] {
        self.crawlers.as_deref().unwrap_or_default()
    }

    /// Whether it is about everybody.
    pub fn is_for_everybody(&self) -> bool {
        self.crawlers.is_none()
    }

    /// The path that it is about.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether it is a wish to allow.
    pub fn is_to_allow(&self) -> bool {
        self.kind == RuleKind::Allow
    }

    pub(super) fn has(&self, crawler: &Crawler) -> bool {
        let token = crawler.product_token().as_str();
        self.crawlers().iter().any(|known| known.as_str().eq_ignore_ascii_case(token))
    }

    /// The rule that says it.
    pub(super) fn rule(&self) -> EffectiveRule<'_> {
        let pattern =
            PathPattern::read(self.path.as_bytes(), Dialect::default().comparison).into_normalised();
        EffectiveRule::new(self.kind, pattern)
    }

    /// The same as a line.
    pub(super) fn line(&self) -> Vec<u8> {
        let name = if self.is_to_allow() { "Allow" } else { "Disallow" };
        format!("{name}: {}", self.path).into_bytes()
    }
}

/// How many words a wish may name crawlers with.
const MOST_NAMES: usize = 100;

/// The longest path of a wish. No site needs a longer one, and a rule of this length fits on a screen.
const LONGEST_PATH: usize = 2000;

/// A path as it can stand in a rule.
pub(super) fn path_of(path: &str) -> Result<String, InvalidWish> {
    let wrong = |why| Err(InvalidWish::Path { path: path.to_owned(), why });
    if !path.starts_with('/') {
        return wrong("it has to start with `/`");
    }
    if path.len() > LONGEST_PATH {
        return wrong("it is longer than 2,000 octets");
    }
    if path.contains('#') {
        return wrong("`#` starts a comment; write %23");
    }
    if path.chars().any(|character| character.is_whitespace() || character.is_control()) {
        return wrong("it has white space or a control character; write a space as %20");
    }
    Ok(path.to_owned())
}

/// What is wrong with a wish.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidWish {
    /// It names nobody.
    Nobody,
    /// It names more than a hundred crawlers or kinds.
    TooMany,
    /// This is no product token, no kind of crawlers and not `*`.
    Who(String),
    /// The path can't stand in a rule.
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl fmt::Display for InvalidWish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => f.write_str("the wish names no crawler"),
            Self::TooMany => {
                write!(f, "the wish names more than {MOST_NAMES} crawlers: make several wishes")
            }
            Self::Who(word) => {
                let kinds: Vec<_> = AgentKind::ALL.iter().map(|kind| kind.name()).collect();
                write!(
                    f,
                    "`{word}` is no crawler: give a product token such as GPTBot, a kind of crawlers ({}), or `*` for all",
                    kinds.join(", ")
                )
            }
            Self::Path { path, why } => write!(f, "`{path}` is no path for a rule: {why}"),
        }
    }
}

impl std::error::Error for InvalidWish {}

/// A wish as JSON has it: `{"say": "refuse", "who": ["training"], "path": "/"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct WishInput<'a> {
    /// What is wished.
    pub say: Say,
    /// Product tokens, kinds of crawlers, or `*`.
    #[serde(borrow)]
    pub who: Vec<Cow<'a, str>>,
    /// The path; all of the site if it is not given.
    #[serde(borrow, default, deserialize_with = "there", skip_serializing_if = "Option::is_none")]
    pub path: Option<Cow<'a, str>>,
}

/// A member that may be absent but not null.
pub(super) fn there<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// What is wished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Say {
    /// They may not fetch it.
    Refuse,
    /// They may fetch it.
    Allow,
}

impl WishInput<'_> {
    /// The wish.
    ///
    /// # Errors
    ///
    /// As in [`Wish::refuse`].
    pub fn wish(&self, registry: &Registry) -> Result<Wish, InvalidWish> {
        let path = self.path.as_deref().unwrap_or("/");
        match self.say {
            Say::Refuse => Wish::refuse(&self.who, path, registry),
            Say::Allow => Wish::allow(&self.who, path, registry),
        }
    }
}

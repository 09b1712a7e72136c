//! What a site's owner wants from an edit: who may or may not fetch what, and what else the file should say.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::crawler::{Crawler, ProductToken};
use crate::dialect::Dialect;
use crate::directive::{CONTENT_SIGNAL, CONTENT_USAGE, Directive, RuleKind};
use crate::meaning::rules::EffectiveRule;
use crate::pattern::PathPattern;
use crate::preference::Preference;
use crate::registry::{AgentKind, Registry};
use crate::target::Target;

/// A goal of a site's owner.
///
/// ```
/// use mayi::edit::Goal;
/// use mayi::registry::Registry;
///
/// let Goal::Access(goal) = Goal::refuse(&["training", "ExampleBot"], "/", &Registry::built_in())? else {
///     unreachable!()
/// };
/// assert!(goal.crawlers().iter().any(|token| token.as_str() == "GPTBot"));
/// assert!(Goal::allow(&["ExampleBot"], "press", &Registry::built_in()).is_err());
/// # Ok::<(), mayi::edit::InvalidGoal>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Goal {
    /// These crawlers may, or may not, fetch what starts with a path.
    Access(AccessGoal),
    /// Everybody is told what may be done with what is fetched, by lines of this kind.
    Prefer(Carrier, Preferences),
    /// Crawlers with one of these purposes may fetch nothing (PUR-1).
    RefusePurposes(Vec<String>),
    /// The file names this sitemap.
    Sitemap(String),
}

impl Goal {
    /// They may not fetch it. Each of `who` is a product token, a kind of crawlers as the registry has them
    /// (`training`), or `*` for everybody. A kind is all crawlers that [serve](crate::registry::Agent::serves) it.
    ///
    /// # Errors
    ///
    /// If one of `who` is none of these, or if the path can't be written in a rule.
    pub fn refuse<S: AsRef<str>>(
        who: &[S],
        path: &str,
        registry: &Registry,
    ) -> Result<Self, InvalidGoal> {
        AccessGoal::new(RuleKind::Disallow, who, path, registry).map(Self::Access)
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
    ) -> Result<Self, InvalidGoal> {
        AccessGoal::new(RuleKind::Allow, who, path, registry).map(Self::Access)
    }

    /// What is fetched may, or may not, be put to these uses.
    ///
    /// ```
    /// use mayi::edit::{Carrier, Preferences, Goal, edit};
    /// use mayi::{Preference, ReadOptions};
    ///
    /// let mut preferences = Preferences::default();
    /// preferences.train = Preference::Disallowed;
    /// let goal = Goal::prefer(Carrier::ContentUsage, preferences)?;
    /// let edited = edit(b"User-agent: *\nDisallow: /a\n", &[goal], &ReadOptions::default())?;
    /// assert_eq!(edited.octets, b"User-agent: *\nContent-Usage: train-ai=n\nDisallow: /a\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If such lines have a word for none of these uses.
    pub fn prefer(carrier: Carrier, preferences: Preferences) -> Result<Self, InvalidGoal> {
        if carrier.members(preferences).next().is_none() {
            return Err(InvalidGoal::NoUse(carrier));
        }
        Ok(Self::Prefer(carrier, preferences))
    }

    /// Crawlers with one of these purposes may fetch nothing.
    ///
    /// # Errors
    ///
    /// If there is none, or if one can't be written in a file.
    pub fn refuse_purposes<S: AsRef<str>>(purposes: &[S]) -> Result<Self, InvalidGoal> {
        let is_wrong =
            |text: &str| text.contains('#') || Crawler::unnamed().with_purpose(text).is_err();
        let purposes: Vec<String> = purposes.iter().map(|text| text.as_ref().to_owned()).collect();
        if purposes.len() > MOST_NAMES {
            return Err(InvalidGoal::TooMany);
        }
        match purposes.iter().find(|text| is_wrong(text)) {
            Some(wrong) => Err(InvalidGoal::Purpose(wrong.clone())),
            None if purposes.is_empty() => Err(InvalidGoal::Purpose(String::new())),
            None => Ok(Self::RefusePurposes(purposes)),
        }
    }

    /// The file names this sitemap.
    ///
    /// # Errors
    ///
    /// If it is not an absolute URL, or can't be written in a file.
    pub fn sitemap(url: &str) -> Result<Self, InvalidGoal> {
        let is_whole = url.starts_with("http://") || url.starts_with("https://");
        let is_one_word = !url.contains(|c: char| c.is_whitespace() || c.is_control() || c == '#');
        if !is_whole || !is_one_word || url.len() > LONGEST_PATH || Target::parse(url).is_err() {
            return Err(InvalidGoal::Sitemap(url.to_owned()));
        }
        Ok(Self::Sitemap(url.to_owned()))
    }
}

/// The directive that says what may be done with what is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Carrier {
    /// `Content-Usage` (draft-ietf-aipref-attach).
    ContentUsage,
    /// `Content-Signal`, in use by customers of Cloudflare.
    ContentSignal,
}

impl Carrier {
    /// As it is written in a file.
    pub fn name(self) -> &'static str {
        self.directive().name
    }

    pub(super) fn directive(self) -> &'static Directive {
        match self {
            Self::ContentUsage => &CONTENT_USAGE,
            Self::ContentSignal => &CONTENT_SIGNAL,
        }
    }

    /// What is said about each use that it has a word for: its label, the preference, and the word for that.
    pub(super) fn members(
        self,
        preferences: Preferences,
    ) -> impl Iterator<Item = (&'static str, Preference, &'static str)> + use<> {
        let Preferences { search, ai_input, train } = preferences;
        let (said, yes, no) = match self {
            Self::ContentUsage => (vec![("search", search), ("train-ai", train)], "y", "n"),
            Self::ContentSignal => {
                (vec![("search", search), ("ai-input", ai_input), ("ai-train", train)], "yes", "no")
            }
        };
        said.into_iter().filter_map(move |(label, preference)| match preference {
            Preference::Unknown => None,
            Preference::Allowed => Some((label, preference, yes)),
            Preference::Disallowed => Some((label, preference, no)),
        })
    }
}

/// What may be done with what is fetched. Unknown uses are not written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Preferences {
    /// To show it in search results.
    pub search: Preference,
    /// To give it to a model as input. `Content-Usage` has no word for it.
    pub ai_input: Preference,
    /// To train models with it.
    pub train: Preference,
}

/// A goal about access: these crawlers may, or may not, fetch what starts with this path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessGoal {
    pub(super) kind: RuleKind,
    /// None means everybody.
    pub(super) crawlers: Option<Vec<ProductToken>>,
    pub(super) path: String,
}

impl AccessGoal {
    /// Nobody may fetch anything.
    pub(super) fn refuse_all() -> Self {
        Self { kind: RuleKind::Disallow, crawlers: None, path: "/".to_owned() }
    }

    fn new<S: AsRef<str>>(
        kind: RuleKind,
        who: &[S],
        path: &str,
        registry: &Registry,
    ) -> Result<Self, InvalidGoal> {
        let path = path_of(path)?;
        if who.is_empty() {
            return Err(InvalidGoal::Nobody);
        }
        if who.len() > MOST_NAMES {
            return Err(InvalidGoal::TooMany);
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
                    let of_kind = registry.agents().iter().filter(|agent| agent.serves(*kind));
                    for token in of_kind.filter_map(|agent| ProductToken::new(&agent.token).ok()) {
                        add(&mut crawlers, token);
                    }
                }
                None => match ProductToken::new(word) {
                    Ok(token) => add(&mut crawlers, token),
                    Err(_) => return Err(InvalidGoal::Who(word.to_owned())),
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

    /// Whether it is a goal to allow.
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
        let name = self.kind.directive().name;
        format!("{name}: {}", self.path).into_bytes()
    }
}

/// The maximum number of words that name crawlers in a goal.
const MOST_NAMES: usize = 100;

/// The longest path of a goal. No site needs a longer one, and a rule of this length fits on a screen.
const LONGEST_PATH: usize = 2000;

/// A path as it can be written in a rule.
pub(super) fn path_of(path: &str) -> Result<String, InvalidGoal> {
    let wrong = |why| Err(InvalidGoal::Path { path: path.to_owned(), why });
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

/// What is wrong with a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidGoal {
    /// It names nobody.
    Nobody,
    /// It names more than a hundred crawlers or kinds.
    TooMany,
    /// This is neither a product token nor a kind of crawlers nor `*`.
    Who(String),
    /// Lines of this kind have a word for none of the uses.
    NoUse(Carrier),
    /// This is no purpose.
    Purpose(String),
    /// This is not the URL of a sitemap.
    Sitemap(String),
    /// The path can't be written in a rule.
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl fmt::Display for InvalidGoal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => f.write_str("no crawler is named"),
            Self::TooMany => {
                write!(f, "more than {MOST_NAMES} crawlers are named: make several changes")
            }
            Self::Who(word) => {
                let kinds: Vec<_> = AgentKind::ALL.iter().map(|kind| kind.name()).collect();
                write!(
                    f,
                    "`{word}` is not a crawler: give a product token such as GPTBot, a kind of crawlers ({}), or `*` for all",
                    kinds.join(", ")
                )
            }
            Self::NoUse(carrier) => {
                let uses = match carrier {
                    Carrier::ContentUsage => "search or train",
                    Carrier::ContentSignal => "search, ai-input or train",
                };
                write!(f, "give a value for {uses}, for the {} lines", carrier.name())
            }
            Self::Purpose(purpose) => write!(f, "`{purpose}` is not a purpose: give one word"),
            Self::Sitemap(url) => write!(
                f,
                "`{url}` is not the URL of a sitemap: give a whole URL such as https://example.com/sitemap.xml"
            ),
            Self::Path { path, why } => write!(f, "`{path}` is not a path for a rule: {why}"),
        }
    }
}

impl std::error::Error for InvalidGoal {}

/// A goal as JSON: `{"say": "refuse", "who": ["training"], "path": "/"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum GoalInput {
    /// They may not fetch it.
    Refuse {
        /// Product tokens, kinds of crawlers, or `*`.
        who: Vec<String>,
        /// The path; all of the site if it is not given.
        #[serde(default, deserialize_with = "there", skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// They may fetch it.
    Allow {
        /// Product tokens, kinds of crawlers, or `*`.
        who: Vec<String>,
        /// The path; all of the site if it is not given.
        #[serde(default, deserialize_with = "there", skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// Everybody is told what may be done with what is fetched.
    Prefer {
        /// The directive that says so.
        by: Carrier,
        /// What may be done.
        uses: Preferences,
    },
    /// Crawlers with one of these purposes may fetch nothing.
    RefusePurposes {
        /// The purposes.
        purposes: Vec<String>,
    },
    /// The file names a sitemap.
    Sitemap {
        /// Its address.
        url: String,
    },
}

/// A member that may be absent but not null.
fn there<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl GoalInput {
    /// The goal.
    ///
    /// # Errors
    ///
    /// As in [`Goal::refuse`] and the others.
    pub fn goal(&self, registry: &Registry) -> Result<Goal, InvalidGoal> {
        let all = |path: &Option<String>| path.as_deref().unwrap_or("/").to_owned();
        match self {
            Self::Refuse { who, path } => Goal::refuse(who, &all(path), registry),
            Self::Allow { who, path } => Goal::allow(who, &all(path), registry),
            Self::Prefer { by, uses } => Goal::prefer(*by, *uses),
            Self::RefusePurposes { purposes } => Goal::refuse_purposes(purposes),
            Self::Sitemap { url } => Goal::sitemap(url),
        }
    }
}

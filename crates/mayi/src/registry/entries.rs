//! The entries of the registries, with the fields that the drafts give them.
//!
//! A text is borrowed in an entry that is shipped, and owned in one of a user's file.

use std::borrow::Cow;

use crate::crawler::Manners;
use crate::preference::Preference;
use crate::structured::{Value, ValueType};

/// A purpose token (PUR-2).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Purpose {
    /// The token; it is compared case-insensitively.
    pub token: Cow<'static, str>,
    /// What it stands for.
    pub description: Cow<'static, str>,
}

/// An application and the crawler that crawls for it (APP-8).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Application {
    /// Its identifier, a Structured Fields Token.
    pub identifier: Cow<'static, str>,
    /// The product token of its crawler.
    pub product_token: crate::ProductToken,
    /// Who may change it.
    pub change_controller: Cow<'static, str>,
}

/// A directive of an application (APP-8).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ApplicationDirective {
    /// The application that it belongs to.
    pub application: Cow<'static, str>,
    /// Its name, a Structured Fields key.
    pub name: Cow<'static, str>,
    /// The type that its values have.
    #[cfg_attr(feature = "report", serde(rename = "type"))]
    pub value_type: ValueType,
    /// What it means.
    pub description: Cow<'static, str>,
    /// Where it is documented.
    pub documentation: Cow<'static, str>,
    /// Whether it is in use.
    pub status: Status,
    /// The usage category that it is about, if any (APP-9).
    pub overrides: Option<Overrides>,
}

/// Whether a directive is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "report", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Status {
    /// It is.
    Active,
    /// It is deprecated.
    Deprecated,
}

impl Status {
    /// As in registries.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Deprecated => "deprecated",
        }
    }
}

/// What a directive's values mean for a usage category (APP-9).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Overrides {
    /// The label of the category.
    pub category: Cow<'static, str>,
    /// Values and what each means; other values mean nothing.
    #[cfg_attr(feature = "report", serde(with = "super::meanings"))]
    pub values: Cow<'static, [(Value, Preference)]>,
}

impl Overrides {
    /// What a value means for the category.
    pub fn meaning(&self, value: &Value) -> Option<Preference> {
        self.values.iter().find(|(known, _)| known == value).map(|(_, meaning)| *meaning)
    }
}

/// A usage category (USE-2).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Category {
    /// Its label in a Dictionary.
    pub label: Cow<'static, str>,
    /// Its name.
    pub name: Cow<'static, str>,
    /// What it covers.
    pub description: Cow<'static, str>,
}

/// A known crawler (WILD-6).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Agent {
    /// Its product token.
    pub token: Cow<'static, str>,
    /// Its operator.
    pub operator: Cow<'static, str>,
    /// What it is for.
    pub kind: AgentKind,
    /// What others use the data for that it collects.
    pub used_for: Cow<'static, [AgentKind]>,
    /// Whether the token is only for robots.txt: no request is made with it.
    pub control_only: bool,
    /// The source of this entry.
    pub source: Cow<'static, str>,
    #[cfg_attr(feature = "report", serde(flatten))]
    pub(crate) manners: Manners,
}

impl Agent {
    /// Whether this is what it is for, or what its data is used for.
    ///
    /// ```
    /// use mayi::registry::{AgentKind, Registry};
    ///
    /// let registry = Registry::built_in();
    /// let archive = registry.agent("CCBot").expect("it is well known");
    /// assert!(archive.serves(AgentKind::Archive) && archive.serves(AgentKind::Training));
    /// ```
    pub fn serves(&self, kind: AgentKind) -> bool {
        self.kind == kind || self.used_for.contains(&kind)
    }

    /// The tokens whose groups it uses in turn when none has its own.
    pub fn fallback(&self) -> impl Iterator<Item = &str> {
        self.manners.fallbacks.iter().map(crate::ProductToken::as_str)
    }

    /// Whether the groups of `*` do not apply to it.
    pub fn ignores_global(&self) -> bool {
        self.manners.ignores_global
    }
}

/// What a crawler is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "report", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum AgentKind {
    /// It builds a search index for people.
    Search,
    /// It builds a search index for the answers of AI models.
    AiSearch,
    /// It collects data for training.
    Training,
    /// It fetches for an assistant's user.
    Assistant,
    /// It keeps pages for archives and research.
    Archive,
    /// It checks, previews, monitors or measures.
    Tool,
}

impl AgentKind {
    /// All of them.
    pub const ALL: &[Self] =
        &[Self::Search, Self::AiSearch, Self::Training, Self::Assistant, Self::Archive, Self::Tool];

    /// As in registries.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::AiSearch => "ai-search",
            Self::Training => "training",
            Self::Assistant => "assistant",
            Self::Archive => "archive",
            Self::Tool => "tool",
        }
    }
}

//! What a dialect may read beyond the Robots Exclusion Protocol, each part by its name.

use std::fmt;

/// A part of the system that can be switched off by itself.
///
/// ```
/// use mayi::Extension;
///
/// assert_eq!(Extension::named("purposes"), Some(Extension::Purposes));
/// assert_eq!(Extension::named("PUR"), Some(Extension::Purposes));
/// assert_eq!(Extension::AiAgents.name(), "ai-agents");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Extension {
    /// User-Agent-Purpose groups (PUR).
    Purposes,
    /// Regular expressions and rules on user-agent lines (AIA).
    AiAgents,
    /// App-Directives (APP).
    AppDirectives,
    /// Content-Usage (USE).
    UsagePreferences,
    /// Other records in use: Crawl-delay, Content-Signal, DisallowAITraining and more (WILD-1).
    Records,
    /// Misspelled names and missing colons, read as intended (WILD-2).
    Misspellings,
    /// The registry of known crawlers: fallbacks and exemptions (WILD-6).
    Agents,
}

impl Extension {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Purposes,
        Self::AiAgents,
        Self::AppDirectives,
        Self::UsagePreferences,
        Self::Records,
        Self::Misspellings,
        Self::Agents,
    ];

    /// Its name on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Purposes => "purposes",
            Self::AiAgents => "ai-agents",
            Self::AppDirectives => "app-directives",
            Self::UsagePreferences => "usage-preferences",
            Self::Records => "records",
            Self::Misspellings => "misspellings",
            Self::Agents => "agents",
        }
    }

    /// Its clauses: a prefix, or one clause.
    pub const fn clauses(self) -> &'static str {
        match self {
            Self::Purposes => "PUR",
            Self::AiAgents => "AIA",
            Self::AppDirectives => "APP",
            Self::UsagePreferences => "USE",
            Self::Records => "WILD-1",
            Self::Misspellings => "WILD-2",
            Self::Agents => "WILD-6",
        }
    }

    /// What it is, in a line.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Purposes => "User-Agent-Purpose groups",
            Self::AiAgents => "regular expressions and rules on user-agent lines",
            Self::AppDirectives => "App-Directives",
            Self::UsagePreferences => "Content-Usage",
            Self::Records => "other records in use, such as Crawl-delay and Content-Signal",
            Self::Misspellings => "misspelled names and missing colons",
            Self::Agents => "fallbacks and exemptions of known crawlers",
        }
    }

    /// The extension of this name, or of these clauses, ignoring case.
    pub fn named(name: &str) -> Option<Self> {
        let is = |extension: &&Self| {
            extension.name().eq_ignore_ascii_case(name)
                || extension.clauses().eq_ignore_ascii_case(name)
        };
        Self::ALL.iter().find(is).copied()
    }

    /// The same.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(name: &str) -> Result<Self, UnknownName> {
        Self::named(name).ok_or_else(|| {
            UnknownName::new("extension", name, Self::ALL.iter().map(|known| known.name()))
        })
    }
}

/// A dialect or an extension that does not exist, and the names of those that do.
///
/// ```
/// use mayi::{Dialect, UnknownName};
///
/// let error: UnknownName = Dialect::find("gogle").unwrap_err();
/// assert!(error.to_string().starts_with("no dialect is called `gogle`; there are rfc9309, "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    known: String,
}

impl UnknownName {
    pub(crate) fn new(
        kind: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        let known: Vec<_> = known.into_iter().collect();
        Self { kind, name: name.to_owned(), known: known.join(", ") }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, known } = self;
        write!(f, "no {kind} is called `{}`; there are {known}", name.escape_debug())
    }
}

impl std::error::Error for UnknownName {}

/// A set of extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Extensions(u8);

impl Extensions {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ALL: Self = {
        let mut all = Self::NONE;
        let mut index = 0;
        while index < Extension::ALL.len() {
            all = all.with(Extension::ALL[index]);
            index += 1;
        }
        all
    };

    pub(crate) const fn with(self, extension: Extension) -> Self {
        Self(self.0 | 1 << extension as u8)
    }

    pub(crate) const fn without(self, extension: Extension) -> Self {
        Self(self.0 & !(1 << extension as u8))
    }

    pub(crate) const fn has(self, extension: Extension) -> bool {
        self.0 & 1 << extension as u8 != 0
    }
}

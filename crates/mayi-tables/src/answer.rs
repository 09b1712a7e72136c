//! What can be answered about a row, by name.

/// The answers that can be written about a URL, in addition to its input columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RowAnswer {
    /// The URL of the question.
    Url,
    /// The product token of the crawler.
    Agent,
    /// Scheme, host and port of the URL, normalised.
    Origin,
    /// Whether the crawler may fetch it.
    Allowed,
    /// Why.
    Reason,
    /// The path pattern that decides, as written.
    Rule,
    /// Its line.
    RuleLine,
    /// How specific it is.
    Octets,
    /// How the group was chosen.
    Group,
    /// Whether models may be trained with it.
    Train,
    /// Whether it may be found by a search engine.
    Search,
    /// Whether it may be given to a model with a question.
    AiInput,
    /// Why there is no answer.
    Error,
}

impl RowAnswer {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Url,
        Self::Agent,
        Self::Origin,
        Self::Allowed,
        Self::Reason,
        Self::Rule,
        Self::RuleLine,
        Self::Octets,
        Self::Group,
        Self::Train,
        Self::Search,
        Self::AiInput,
        Self::Error,
    ];

    /// Its column's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Agent => "agent",
            Self::Origin => "origin",
            Self::Allowed => "allowed",
            Self::Reason => "reason",
            Self::Rule => "rule",
            Self::RuleLine => "rule_line",
            Self::Octets => "octets",
            Self::Group => "group",
            Self::Train => "train",
            Self::Search => "search",
            Self::AiInput => "ai-input",
            Self::Error => "error",
        }
    }

    /// Its name as a field of a struct, which is an identifier in every language: `ai_input`. The line of a
    /// rule is called `line` there.
    pub const fn field_name(self) -> &'static str {
        match self {
            Self::RuleLine => "line",
            Self::AiInput => "ai_input",
            other => other.name(),
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.name() == name)
    }

    /// Whether every crawler has its own answer.
    pub const fn is_of_crawler(self) -> bool {
        !matches!(self, Self::Url | Self::Origin | Self::Error)
    }

    /// Whether it is about a use, which needs the file itself.
    pub const fn is_use(self) -> bool {
        matches!(self, Self::Train | Self::Search | Self::AiInput)
    }

    /// The use that it is about, if any.
    pub const fn of_use(self) -> Option<mayi::Use> {
        match self {
            Self::Train => Some(mayi::Use::Train),
            Self::Search => Some(mayi::Use::Search),
            Self::AiInput => Some(mayi::Use::AiInput),
            _ => None,
        }
    }
}

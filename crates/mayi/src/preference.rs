//! Usage preferences: Content-Usage in a file and as a header (USE-1 to USE-5).

use indexmap::IndexMap;

use crate::directive::CONTENT_USAGE;
use crate::forms::Forms;
use crate::robots_txt::{Record, RobotsTxt};
use crate::selection::Selection;
use crate::span::{LineCounter, LineNumber};
use crate::structured::{octets_of_path, split_path};

/// What a site prefers about a use of its content.
///
/// ```
/// use mayi::Preference;
///
/// let combined = Preference::Allowed.most_restrictive(Preference::Disallowed);
/// assert_eq!(combined, Preference::Disallowed);
/// assert_eq!(Preference::Unknown.most_restrictive(Preference::Allowed), Preference::Allowed);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Preference {
    /// Nothing was said about it.
    #[default]
    Unknown,
    /// It may be.
    Allowed,
    /// It may not be.
    Disallowed,
}

impl Preference {
    /// As reports have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Allowed => "allowed",
            Self::Disallowed => "disallowed",
        }
    }

    /// Both together: disallowed if one is, or else allowed if one is (USE-3).
    #[must_use]
    pub fn most_restrictive(self, other: Self) -> Self {
        self.max(other)
    }

    /// `allowed` for true, `disallowed` for false.
    pub(crate) const fn of(allowed: bool) -> Self {
        if allowed { Self::Allowed } else { Self::Disallowed }
    }
}

/// The preferences for labels, in the order in which they were first named. A label that is not
/// here is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    labels: IndexMap<String, Preference>,
}

impl Statement {
    /// Reads a Dictionary. One that does not parse says nothing, and `None` says so.
    ///
    /// ```
    /// use mayi::{Preference, Statement};
    ///
    /// let statement = Statement::parse(b"train-ai=n, search=y;x").expect("a Dictionary");
    /// assert_eq!(statement.preference("train-ai"), Preference::Disallowed);
    /// assert_eq!(statement.preference("search"), Preference::Allowed);
    /// assert_eq!(Statement::parse(b"Train-AI=n"), None);
    /// ```
    pub fn parse(octets: &[u8]) -> Option<Self> {
        let dictionary: sfv::Dictionary = sfv::Parser::new(octets).parse().ok()?;
        let preference = |entry: &sfv::ListEntry| match entry {
            sfv::ListEntry::Item(item) => match item.bare_item.as_token().map(sfv::TokenRef::as_str) {
                Some("y") => Preference::Allowed,
                Some("n") => Preference::Disallowed,
                _ => Preference::Unknown,
            },
            sfv::ListEntry::InnerList(_) => Preference::Unknown,
        };
        let labels = dictionary.iter().map(|(key, entry)| (key.as_str().to_owned(), preference(entry)));
        Some(Self { labels: labels.collect() })
    }

    /// The preference for a label.
    pub fn preference(&self, label: &str) -> Preference {
        self.labels.get(label).copied().unwrap_or_default()
    }

    /// Every label that was named, with its preference.
    pub fn labels(&self) -> impl Iterator<Item = (&str, Preference)> {
        self.labels.iter().map(|(label, preference)| (label.as_str(), *preference))
    }

    /// Both together, the most restrictive winning label by label.
    #[must_use]
    pub fn combined(mut self, other: &Self) -> Self {
        for (label, preference) in other.labels() {
            let known = self.labels.entry(label.to_owned()).or_default();
            *known = known.most_restrictive(preference);
        }
        self
    }
}

/// The Content-Usage rules of a file that decide about a target: the longest that match, combined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FilePreferences {
    /// Each with its line, in file order.
    pub(crate) deciding: Vec<(LineNumber, Said)>,
}

/// What a Content-Usage rule says. One that can't be read still stands for its path: no shorter path
/// answers in its place (USE-3).
pub(crate) type Said = Result<Statement, Unread>;

/// Why nothing can be read from a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Its Dictionary does not parse.
    NoDictionary,
    /// It has none.
    Missing,
}

impl FilePreferences {
    /// What the rules say together. What could not be read is unknown, which leaves to the others of
    /// the same path what they say.
    pub(crate) fn combined(&self) -> Statement {
        let all = self.deciding.iter().filter_map(|(_, said)| said.as_ref().ok());
        all.fold(Statement::default(), Statement::combined)
    }
}

/// What the groups of a crawler say about a target.
pub(crate) fn of_file(
    robots: &RobotsTxt<'_>,
    selection: &Selection,
    forms: &Forms<'_>,
) -> FilePreferences {
    let mut deciding = Vec::new();
    let mut most = 0;
    for record in selection.records(robots).filter(|record| record.is(&CONTENT_USAGE)) {
        let (path, dictionary) = split_path(robots.value(record));
        let Some(octets) = octets_of_path(path, forms, robots.dialect().comparison) else { continue };
        if octets < most {
            continue;
        }
        if octets > most {
            deciding.clear();
            most = octets;
        }
        deciding.push((record, dictionary));
    }
    let mut counter = LineCounter::new(robots.text());
    let with_line = |(record, dictionary): (Record, &[u8])| {
        let said = match Statement::parse(dictionary) {
            _ if dictionary.is_empty() => Err(Unread::Missing),
            Some(statement) => Ok(statement),
            None => Err(Unread::NoDictionary),
        };
        (counter.line_at(record.start()), said)
    };
    FilePreferences { deciding: deciding.into_iter().map(with_line).collect() }
}

/// The values of a header field, joined as one (RFC 9651 §4.2).
pub(crate) fn joined_header(fields: &[(&str, &str)], name: &str) -> Option<String> {
    let values = fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
    let values: Vec<_> = values.map(|(_, value)| *value).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

//! Usage preferences: what a Dictionary of Content-Usage says, label by label (USE-1 to USE-5).
//!
//! Whether the Dictionary is in a file or in a header does not matter here: `content_usage` and `uses` know.

use std::convert::Infallible;

use indexmap::IndexMap;
use sfv::visitor::{
    DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor, ParameterVisitor,
};

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
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "report", serde(rename_all = "kebab-case"))]
pub enum Preference {
    /// Nothing is stated about it.
    #[default]
    Unknown,
    /// It may be.
    Allowed,
    /// It may not be.
    Disallowed,
}

impl Preference {
    /// As in reports.
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

/// A Dictionary is read label by label, because storing all of it takes forty times its size.
impl<'t> DictionaryVisitor<'t> for Statement {
    type Out = Self;
    type Error = Infallible;

    fn entry(&mut self, label: &'t sfv::KeyRef) -> Result<impl EntryVisitor<'t>, Infallible> {
        // Of two entries with one label, the later one counts.
        let preference = self.labels.entry(label.as_str().to_owned()).or_default();
        *preference = Preference::Unknown;
        Ok(Entry(preference))
    }

    fn finish(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}

/// What the value of a label means.
struct Entry<'p>(&'p mut Preference);

impl<'t> EntryVisitor<'t> for Entry<'_> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'t>, Infallible> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'t>, Infallible> {
        Ok(Ignored)
    }
}

impl<'t> ItemVisitor<'t> for Entry<'_> {
    type Out = ();
    type Error = Infallible;

    fn bare_item(
        self,
        item: sfv::BareItemFromInput<'t>,
    ) -> Result<impl ParameterVisitor<'t, Out = ()>, Infallible> {
        *self.0 = match item.as_token().map(sfv::TokenRef::as_str) {
            Some("y") => Preference::Allowed,
            Some("n") => Preference::Disallowed,
            _ => Preference::Unknown,
        };
        Ok(Ignored)
    }
}

impl Statement {
    /// Reads a Dictionary; `None` if it does not parse.
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
        sfv::Parser::new(octets).parse_dictionary_with_visitor(Self::default()).ok()
    }

    /// The preference for a label.
    pub fn preference(&self, label: &str) -> Preference {
        self.labels.get(label).copied().unwrap_or_default()
    }

    /// Every label that was named, with its preference.
    pub fn labels(&self) -> impl Iterator<Item = (&str, Preference)> {
        self.labels.iter().map(|(label, preference)| (label.as_str(), *preference))
    }

    /// Both together: for each label the most restrictive preference wins.
    #[must_use]
    pub fn combined(mut self, other: &Self) -> Self {
        for (label, preference) in other.labels() {
            let known = self.labels.entry(label.to_owned()).or_default();
            *known = known.most_restrictive(preference);
        }
        self
    }
}

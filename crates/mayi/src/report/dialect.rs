//! A dialect as JSON.

use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;
use crate::extension::Extension;

/// A dialect, as `/v1/dialects` lists it.
///
/// ```
/// use mayi::Dialect;
/// use mayi::report::DialectEntry;
///
/// let entry = DialectEntry::of(&Dialect::RFC9309, "rfc9309");
/// assert!(entry.default && entry.extensions.contains(&"purposes".to_owned()));
/// let json = serde_json::to_string(&entry).expect("JSON");
/// assert_eq!(serde_json::from_str::<DialectEntry>(&json).expect("an entry"), entry);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DialectEntry {
    /// Its name.
    pub name: String,
    /// What it is, in a sentence.
    pub summary: String,
    /// Whether it is used for requests that name no dialect.
    pub default: bool,
    /// The names of the extensions that it reads.
    pub extensions: Vec<String>,
}

impl DialectEntry {
    /// The serialisable view of a dialect. `default` is the name of the dialect for requests that name none.
    pub fn of(dialect: &Dialect, default: &str) -> Self {
        let read = Extension::ALL.iter().filter(|extension| dialect.reads(**extension));
        Self {
            name: dialect.name().to_owned(),
            summary: dialect.summary().to_owned(),
            default: dialect.name() == default,
            extensions: read.map(|extension| extension.name().to_owned()).collect(),
        }
    }
}

//! Where a file came from, as JSON: the history of a fetch.

use serde::{Deserialize, Serialize};

use super::time::Timestamp;
use crate::access::AccessResult;

/// Where the file of a decision came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileReport {
    /// Whether it was fetched, cached, or does not exist.
    pub from: FileSource,
    /// The result of the last attempt: `successful`, `unavailable: …` or `unreachable: …`.
    pub access: String,
    /// Where it was found, after all redirects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<Box<str>>,
    /// When it was received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched: Option<Timestamp>,
    /// When it was last checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<Timestamp>,
    /// Until when it is fresh, or, if there is no file, when it will be requested again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh_until: Option<Timestamp>,
    /// Since when it can't be fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<Timestamp>,
    /// The requests of the last attempt, if there were several or if it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<FileHop>,
}

impl FileReport {
    /// A file from this source, after an attempt with this result.
    pub fn new(from: FileSource, result: &AccessResult) -> Self {
        Self {
            from,
            access: result.to_string(),
            url: None,
            fetched: None,
            checked: None,
            fresh_until: None,
            failing_since: None,
            hops: Vec::new(),
        }
    }

    /// A sentence for people: where the file came from.
    pub fn sentence(&self) -> String {
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string()).unwrap_or_default();
        match self.from {
            FileSource::Fetched => "fetched now".to_owned(),
            FileSource::Revalidated => "revalidated now, unchanged".to_owned(),
            FileSource::Fresh => format!("cached, fresh until {}", time(self.fresh_until)),
            FileSource::StaleWhileRevalidating => {
                format!("cached since {}, being revalidated", time(self.checked))
            }
            FileSource::StaleOffline => {
                format!("cached since {}, stale since {}", time(self.checked), time(self.fresh_until))
            }
            FileSource::StaleUnreachable => format!(
                "cached since {}, unreachable since {} ({})",
                time(self.checked),
                time(self.failing_since),
                self.access
            ),
            FileSource::StaleUnavailable => {
                format!("cached since {}, no longer available ({})", time(self.checked), self.access)
            }
            FileSource::None => format!("none ({})", self.access),
        }
    }
}

/// Where a file came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FileSource {
    /// From its server, for this question.
    Fetched,
    /// From the cache; its server says that it is unchanged.
    Revalidated,
    /// From the cache, still fresh.
    Fresh,
    /// From the cache, while it is revalidated.
    StaleWhileRevalidating,
    /// From the cache, stale, because no server may be asked.
    StaleOffline,
    /// From the cache, because its server can't be reached (REP-21).
    StaleUnreachable,
    /// From the cache, although the server no longer has it (REP-20, by option).
    StaleUnavailable,
    /// There is none.
    None,
}

/// One request of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileHop {
    /// What was asked for.
    pub url: Box<str>,
    /// The status that came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<str>>,
}

impl FileHop {
    /// A request that got this status, or this error.
    pub fn new(url: &str, status: Option<u16>, error: Option<&str>) -> Self {
        Self { url: url.into(), status, error: error.map(Into::into) }
    }
}

//! All that is known about a site's file, as JSON: what applies, where it came from, which requests were
//! made, the cached copies, and what is in the file.

use serde::{Deserialize, Deserializer, Serialize};

use super::file::{FileHop, FileReport};
use super::request::RobotsInput;
use super::time::Timestamp;
use crate::access::{AccessResult, Origin};
use crate::directive::RuleKind;
use crate::robots_txt::{Group, ReadOptions, RobotsTxt};
use crate::span::LineNumber;

/// What is known about a site's file. `mayi fetch --json`, `mayi cache` and `GET /v1/robots` give this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SiteReport {
    /// The site.
    pub origin: String,
    /// Where its robots.txt is.
    pub url: String,
    /// What applies: `successful` if there is a file, or why there is none.
    pub access: String,
    /// Where the file came from, if it was requested just now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileReport>,
    /// The requests of the last attempt, in order.
    pub asked: Vec<FileHop>,
    /// When the last attempt ended.
    pub at: Timestamp,
    /// When the file may be requested again.
    pub not_before: Timestamp,
    /// Since when attempts have failed.
    pub failing_since: Option<Timestamp>,
    /// The last good copy, whatever has happened since.
    pub copy: Option<CopyReport>,
    /// The copies before it that had another text, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<CopyReport>,
    /// The groups of the file that applies.
    pub groups: Vec<GroupReport>,
    /// Its sitemaps, as written.
    pub sitemaps: Vec<String>,
    /// How many of its lines are irregular.
    pub irregularities: usize,
}

/// A copy of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CopyReport {
    /// Where it was found, after all redirects.
    pub url: String,
    /// The Content-Type that came with it.
    pub content_type: Option<String>,
    /// Whether the file is longer than what is cached.
    pub is_cut: bool,
    /// When this text was first received.
    pub since: Timestamp,
    /// When it was received.
    pub fetched: Timestamp,
    /// When it was last known to be current.
    pub checked: Timestamp,
    /// Until when it is fresh.
    pub fresh_until: Timestamp,
    /// The file in the form of `robots` in a request: its text, or its octets if they are not UTF-8. It is
    /// left out in lists.
    #[serde(default, deserialize_with = "owned_input", skip_serializing_if = "Option::is_none")]
    pub robots: Option<RobotsInput<'static>>,
    /// Its text, if it was decoded from another charset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl CopyReport {
    /// A copy that was found at a URL; the caller sets the rest.
    pub fn new(url: &str, fetched: Timestamp) -> Self {
        Self {
            url: url.to_owned(),
            content_type: None,
            is_cut: false,
            since: fetched,
            fetched,
            checked: fetched,
            fresh_until: fetched,
            robots: None,
            text: None,
        }
    }

    /// The same with the octets of the file and the Content-Type that came with them.
    #[must_use]
    pub fn with_body(mut self, body: &[u8], content_type: Option<&str>) -> Self {
        let options = ReadOptions::default();
        let options = match content_type {
            Some(content_type) => options.with_content_type(content_type),
            None => options,
        };
        let read = RobotsTxt::read(body, &options);
        let behind_mark = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
        let is_as_it_came = behind_mark.starts_with(read.text());
        self.robots = Some(match std::str::from_utf8(body) {
            Ok(text) if is_as_it_came => RobotsInput::Text(text.to_owned().into()),
            _ => {
                let charset = options.charset().map(str::to_owned);
                RobotsInput::Octets { octets: body.to_vec(), charset }
            }
        });
        if !is_as_it_came {
            self.text = String::from_utf8(read.text().to_vec()).ok();
        }
        self.content_type = content_type.map(str::to_owned);
        self
    }
}

fn owned_input<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<RobotsInput<'static>>, D::Error> {
    Option::<RobotsInput<'_>>::deserialize(deserializer).map(|it| it.map(RobotsInput::into_owned))
}

/// A group of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupReport {
    /// Its group-start lines.
    pub starts: Vec<StartReport>,
    /// Its rules.
    pub rules: Vec<RuleLine>,
}

impl GroupReport {
    /// The serialisable view of a group.
    pub fn of(group: &Group<'_>) -> Self {
        let start = |(line, value): (LineNumber, &[u8])| StartReport {
            line: line.number(),
            value: text(value),
        };
        let rule = |(line, kind, pattern): (LineNumber, RuleKind, &[u8])| RuleLine {
            line: line.number(),
            kind,
            pattern: text(pattern),
        };
        Self {
            starts: group.start_lines().map(start).collect(),
            rules: group.rules().map(rule).collect(),
        }
    }
}

fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

/// A group-start line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StartReport {
    /// Its line.
    pub line: u32,
    /// Its value, as written.
    pub value: String,
}

/// A rule of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RuleLine {
    /// Its line.
    pub line: u32,
    /// `allow` or `disallow`.
    pub kind: RuleKind,
    /// Its pattern, as written.
    pub pattern: String,
}

impl SiteReport {
    /// A site about which this is known after an attempt that ended at this time; the caller sets the rest.
    pub fn new(origin: &Origin, result: &AccessResult, at: Timestamp) -> Self {
        Self {
            origin: origin.to_string(),
            url: origin.robots_url(),
            access: result.to_string(),
            file: None,
            asked: Vec::new(),
            at,
            not_before: at,
            failing_since: None,
            copy: None,
            earlier: Vec::new(),
            groups: Vec::new(),
            sitemaps: Vec::new(),
            irregularities: 0,
        }
    }

    /// The same with the contents of the file that applies.
    #[must_use]
    pub fn with_file(mut self, robots: &RobotsTxt<'_>) -> Self {
        self.groups = robots.groups().map(|group| GroupReport::of(&group)).collect();
        self.sitemaps = robots.sitemaps().map(text).collect();
        self.irregularities = robots.irregularities().count();
        self
    }
}

//! The one serialisable view: a request and its decision as JSON.
//!
//! Every front end takes a [`Request`] and gives a [`Report`], or an [`ErrorReport`] in its place.
//! The shapes stand here alone, apart from the types that they are made from, so that a field of one
//! is never by accident a promise about the other.
//!
//! ```
//! use mayi::report::{Request, answer};
//!
//! let request = r#"{"url": "https://example.com/a?b", "agent": "ExampleBot",
//!                   "robots": "User-Agent: *\nDisallow: /a\n"}"#;
//! let request: Request = serde_json::from_str(request)?;
//! let report = serde_json::to_value(answer(&request)?)?;
//! assert_eq!(report["access"]["allowed"], false);
//! assert_eq!(report["access"]["rule"]["line"], 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod explained;
mod request;

pub use error::{ErrorCode, ErrorReport, RequestError};
pub use explained::Explained;
pub use request::{Request, RobotsInput};

use std::borrow::Cow;

use serde::Serialize;

use crate::crawler::Crawler;
use crate::decision::Decision;
use crate::dialect::Dialect;
use crate::robots_txt::{ReadOptions, RobotsTxt};
use crate::target::Target;

/// A decision, as JSON has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report<'a> {
    /// The URL that was asked about, as it was given.
    pub url: &'a str,
    /// The product token of the crawler that asked.
    pub agent: &'a str,
    /// The dialect that the file was read in.
    pub dialect: &'a str,
    /// May it be fetched?
    pub access: Access<'a>,
    /// What else the file says to this crawler.
    pub records: Records<'a>,
    /// Why, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explained<'a>>,
}

/// May the crawler fetch the URL?
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Access<'a> {
    /// Whether it may.
    pub allowed: bool,
    /// `rule`, `no-rule`, `no-group`, `robots-txt`, `unavailable` or `unreachable`.
    pub reason: &'static str,
    /// The rule that decided.
    pub rule: Option<Rule<'a>>,
    /// The groups that apply.
    pub group: Option<Group>,
}

/// The rule that decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rule<'a> {
    /// `allow` or `disallow`.
    pub kind: &'static str,
    /// The pattern as written; what is not UTF-8 is replaced.
    pub pattern: Cow<'a, str>,
    /// The octets of the normalised pattern.
    pub octets: usize,
    /// The line that it stands on.
    pub line: u32,
}

/// The groups that apply.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Group {
    /// `product-token` or `global`.
    pub by: &'static str,
    /// The group-start lines that matched.
    pub lines: Vec<u32>,
}

/// What the file says besides rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Records<'a> {
    /// The sitemaps of the file.
    pub sitemaps: Vec<Cow<'a, str>>,
    /// The seconds to wait between requests.
    pub crawl_delay: Option<f64>,
}

impl<'a> Access<'a> {
    /// The serialisable view of a decision.
    pub fn of(decision: &Decision<'a>) -> Self {
        Self {
            allowed: decision.is_allowed(),
            reason: decision.reason().name(),
            rule: decision.rule().map(|rule| Rule {
                kind: rule.kind().name(),
                pattern: String::from_utf8_lossy(rule.pattern()),
                octets: rule.octets(),
                line: rule.line().number(),
            }),
            group: decision.group().map(|group| Group {
                by: group.by().name(),
                lines: group.lines().iter().map(|line| line.number()).collect(),
            }),
        }
    }
}

/// Answers a request that carries its file.
///
/// # Errors
/// When the request is wrong, or carries no file.
pub fn answer<'a>(request: &'a Request<'_>) -> Result<Answer<'a>, RequestError> {
    let crawler = request.crawler()?;
    let target = request.target()?;
    let dialect = request.dialect()?;
    let file = match &request.robots {
        None => {
            let message = "the request has no `robots`, and files are not fetched here";
            return Err(RequestError::new(ErrorCode::NoRobots, message));
        }
        Some(RobotsInput::Text(text)) => File::Read(read(text.as_bytes(), &dialect, None)),
        Some(RobotsInput::Octets { octets, charset }) => {
            File::Read(read(octets, &dialect, charset.as_deref()))
        }
        Some(RobotsInput::Ended(result)) => File::Ended(result.decide(&target).ok_or_else(|| {
            let message = "a successful status comes with the file: give its text as `robots`";
            RequestError::new(ErrorCode::InvalidRobots, message)
        })?),
    };
    Ok(Answer { request, crawler, target, dialect, file })
}

fn read<'t>(octets: &'t [u8], dialect: &Dialect, charset: Option<&str>) -> RobotsTxt<'t> {
    let options = ReadOptions::default().with_dialect(dialect.clone());
    let options = match charset {
        Some(charset) => options.with_charset(charset),
        None => options,
    };
    RobotsTxt::read(octets, &options)
}

/// A request that can be answered. It holds what its [`report`](Self::report) borrows, and serialises
/// as that.
#[derive(Debug)]
pub struct Answer<'a> {
    request: &'a Request<'a>,
    crawler: Crawler,
    target: Target<'a>,
    dialect: Dialect,
    file: File<'a>,
}

#[derive(Debug)]
enum File<'a> {
    Read(RobotsTxt<'a>),
    Ended(Decision<'static>),
}

impl Answer<'_> {
    /// The decision, with an explanation where the request asks for one.
    pub fn report(&self) -> Report<'_> {
        let report = |access, records, explanation| Report {
            url: &self.request.url,
            agent: &self.request.agent,
            dialect: self.dialect.name(),
            access,
            records,
            explanation,
        };
        match &self.file {
            File::Ended(decision) => report(Access::of(decision), Records::default(), None),
            File::Read(robots) => {
                let records = Records {
                    sitemaps: robots.sitemaps().map(String::from_utf8_lossy).collect(),
                    crawl_delay: robots.crawl_delay(&self.crawler),
                };
                if self.request.explain {
                    let explanation = robots.explain(&self.crawler, &self.target);
                    let access = Access::of(explanation.decision());
                    return report(access, records, Some(Explained::of(&explanation)));
                }
                report(Access::of(&robots.decide(&self.crawler, &self.target)), records, None)
            }
        }
    }
}

impl Serialize for Answer<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report().serialize(serializer)
    }
}

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
    pub dialect: &'static str,
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

impl<'a> Report<'a> {
    /// The decision of a file.
    pub fn new(robots: &'a RobotsTxt<'a>, crawler: &'a Crawler, target: &'a Target<'a>) -> Self {
        Self::of_decision(&robots.decide(crawler, target), robots, crawler, target)
    }

    /// The decision of a file, with its explanation.
    pub fn explained(robots: &'a RobotsTxt<'a>, crawler: &'a Crawler, target: &'a Target<'a>) -> Self {
        let explanation = robots.explain(crawler, target);
        let report = Self::of_decision(explanation.decision(), robots, crawler, target);
        Self { explanation: Some(Explained::of(&explanation)), ..report }
    }

    /// A decision that was made already, by this file or by rules that it prepared.
    pub fn of_decision(
        decision: &Decision<'a>,
        robots: &'a RobotsTxt<'_>,
        crawler: &'a Crawler,
        target: &'a Target<'_>,
    ) -> Self {
        let records = Records {
            sitemaps: robots.sitemaps().map(String::from_utf8_lossy).collect(),
            crawl_delay: robots.crawl_delay(crawler),
        };
        Self { records, ..Self::without_file(decision, crawler, target, robots.dialect()) }
    }

    /// A decision for which there was no file.
    pub fn without_file(
        decision: &Decision<'a>,
        crawler: &'a Crawler,
        target: &'a Target<'_>,
        dialect: &Dialect,
    ) -> Self {
        Self {
            url: target.url(),
            agent: crawler.product_token().as_str(),
            dialect: dialect.name(),
            access: Access::of(decision),
            records: Records::default(),
            explanation: None,
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
        match &self.file {
            File::Read(robots) if self.request.explain => {
                Report::explained(robots, &self.crawler, &self.target)
            }
            File::Read(robots) => Report::new(robots, &self.crawler, &self.target),
            File::Ended(decision) => {
                Report::without_file(decision, &self.crawler, &self.target, &self.dialect)
            }
        }
    }
}

impl Serialize for Answer<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report().serialize(serializer)
    }
}

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
mod lint;
mod page;
mod parts;
mod request;

pub use error::{ErrorBody, ErrorCode, ErrorReport, RequestError};
pub use explained::{
    Explained, ExplainedAppRule, ExplainedApplication, ExplainedGroup, ExplainedIrregularity,
    ExplainedRule, ExplainedStart,
};
pub use lint::{DiagnosticReport, EditReport, FixReport, LintReport, PlaceReport, RelatedReport};
pub use page::{FoundRule, PageReport, PageRuleValues};
pub use parts::{Directives, OverrideReport, Records, SignalReport, Signals, UsageReport, Uses};
pub use request::{HtmlInput, PageInput, Request, RobotsInput};

use std::borrow::Cow;

use serde::Serialize;

use crate::crawler::Crawler;
use crate::decision::Decision;
use crate::dialect::Dialect;
use crate::explanation::Explanation;
use crate::extension::Extension;
use crate::page::{PageOptions, PageRules};
use crate::robots_txt::{ReadOptions, RobotsTxt};
use crate::selection::select;
use crate::target::Target;
use crate::uses::{Response, usage_of};

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
    /// What the file asks of the crawler's applications.
    pub directives: Directives,
    /// The usage preferences that hold, or null where the URL may not be fetched.
    pub usage: Option<UsageReport>,
    /// The directives that override preferences, where there are some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<OverrideReport>,
    /// What may be done with the page, or null where no page was given.
    pub page: Option<PageReport>,
    /// One answer for each use.
    pub uses: Uses,
    /// What spoke about each use but crawling.
    pub signals: Signals,
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
    /// Whether the crawler's name says that it gathers for training (AIA-1).
    pub training: bool,
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
    /// `product-token`, `regex`, `purpose` or `global`.
    pub by: &'static str,
    /// The group-start lines that matched.
    pub lines: Vec<u32>,
}

impl<'a> Access<'a> {
    /// The serialisable view of a decision.
    pub fn of(decision: &Decision<'a>, crawler: &Crawler) -> Self {
        Self {
            allowed: decision.is_allowed(),
            reason: decision.reason().name(),
            training: crawler.is_for_training(),
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

/// A question to a file: who asks, what about, and what is known of the page already.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The file.
    pub robots: &'a RobotsTxt<'a>,
    /// Who asks.
    pub crawler: &'a Crawler,
    /// What about.
    pub target: &'a Target<'a>,
    /// The header fields of the response, if there is one already.
    pub fields: &'a [(&'a str, &'a str)],
    /// The page rules of the response that hold for the crawler, if there is one already.
    pub page: Option<&'a PageRules>,
}

impl<'a> Question<'a> {
    /// The decision in all its parts.
    pub fn report(self) -> Report<'a> {
        self.report_of(&self.robots.decide(self.crawler, self.target))
    }

    /// The decision in all its parts, with its explanation.
    pub fn explained(self) -> Report<'a> {
        let explanation = self.robots.explain(self.crawler, self.target);
        let report = self.report_of(explanation.decision());
        Report {
            explanation: Some(Explained::of(
                &explanation,
                &self.robots.app_directives(self.crawler, self.target),
            )),
            page: self.page.map(PageReport::explained),
            ..report
        }
    }

    /// The same for a decision that was made already: by rules that the file has prepared, or
    /// without a file, in which case `robots` is an empty one.
    pub fn report_of(self, decision: &Decision<'a>) -> Report<'a> {
        let Self { robots, crawler, target, fields, page } = self;
        let response = Response { fields, page };
        let selection = select(robots, crawler, &mut ());
        let selection = selection.as_ref();
        let asked = robots.app_directives(crawler, target);
        // What can't be fetched has no preferences (USE-4).
        let usage = || usage_of(robots, crawler, selection, target, response, &asked);
        let usage = decision.is_allowed().then(usage);
        Report {
            url: target.url(),
            agent: crawler.product_token().as_str(),
            dialect: robots.dialect().name(),
            access: Access::of(decision, crawler),
            directives: Directives::of(&asked),
            overrides: usage.as_ref().map(OverrideReport::all).unwrap_or_default(),
            page: page.map(PageReport::of),
            uses: Uses::of(decision, usage.as_ref(), page),
            signals: usage.as_ref().map(Signals::of).unwrap_or_default(),
            usage: usage.as_ref().map(UsageReport::of),
            records: Records::of(robots, selection, target),
            explanation: None,
        }
    }
}

/// What a front end answers requests with, beside what is in them.
///
/// ```
/// use mayi::report::{Answering, Request};
///
/// let request = Request::from_json(br#"{"url": "https://example.com/", "agent": "ExampleBot", "robots": ""}"#)?;
/// let answer = Answering::default().answer(&request)?;
/// assert!(answer.report().access.allowed);
/// # Ok::<(), mayi::report::RequestError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Answering {
    options: ReadOptions,
    page: PageOptions,
    without: Vec<Extension>,
}

impl Answering {
    /// Reads files with these options; a request's own dialect and charset go before them.
    #[must_use]
    pub fn with_options(self, options: ReadOptions) -> Self {
        Self { options, ..self }
    }

    /// Reads pages with these options.
    #[must_use]
    pub fn with_page_options(self, page: PageOptions) -> Self {
        Self { page, ..self }
    }

    /// Reads every dialect without an extension.
    #[must_use]
    pub fn without(mut self, extension: Extension) -> Self {
        self.without.push(extension);
        self
    }

    /// Answers a request that carries its file.
    ///
    /// # Errors
    /// When the request is wrong, or carries no file.
    pub fn answer<'a>(&self, request: &'a Request<'_>) -> Result<Answer<'a>, RequestError> {
        let crawler = request.crawler()?;
        let target = request.target()?;
        let dialect = request.dialect(self.options.dialect())?;
        let dialect = self.without.iter().copied().fold(dialect, Dialect::without);
        let read = |octets: &'a [u8], charset: Option<&str>| {
            let options = self.options.clone().with_dialect(dialect.clone());
            let options = match charset {
                Some(charset) => options.with_charset(charset),
                None => options,
            };
            RobotsTxt::read(octets, &options)
        };
        let mut ended = None;
        let robots = match &request.robots {
            None => {
                let message = "the request has no `robots`, and files are not fetched here";
                return Err(RequestError::new(ErrorCode::NoRobots, message));
            }
            Some(RobotsInput::Text(text)) => read(text.as_bytes(), None),
            Some(RobotsInput::Octets { octets, charset }) => read(octets, charset.as_deref()),
            Some(RobotsInput::Ended(result)) => {
                ended = Some(result.decide(&target).ok_or_else(|| {
                    let message = "a successful status comes with the file: give its text as `robots`";
                    RequestError::new(ErrorCode::InvalidRobots, message)
                })?);
                read(b"", None)
            }
        };
        let fields = request.fields();
        let page = request.page_rules(&fields, &crawler, self.page);
        Ok(Answer { crawler, target, robots, ended, fields, page, explain: request.explain })
    }
}

/// Answers a request that carries its file, with nothing but what is in it.
///
/// # Errors
/// When the request is wrong, or carries no file.
pub fn answer<'a>(request: &'a Request<'_>) -> Result<Answer<'a>, RequestError> {
    Answering::default().answer(request)
}

/// A request that can be answered. It holds what its [`report`](Self::report) borrows, and serialises
/// as that.
#[derive(Debug)]
pub struct Answer<'a> {
    crawler: Crawler,
    target: Target<'a>,
    /// The file; an empty one where there is none.
    robots: RobotsTxt<'a>,
    /// What was decided without a file.
    ended: Option<Decision<'static>>,
    fields: Vec<(&'a str, &'a str)>,
    page: Option<PageRules>,
    explain: bool,
}

impl Answer<'_> {
    /// The decision, with an explanation where the request asks for one.
    pub fn report(&self) -> Report<'_> {
        let Self { robots, crawler, target, fields, .. } = self;
        let page = self.page.as_ref();
        let question = Question { robots, crawler, target, fields, page };
        match &self.ended {
            None if self.explain => question.explained(),
            None => question.report(),
            Some(decision) => {
                let explanation = Explanation::without_file(robots, target, decision.clone());
                let report = question.report_of(decision);
                if !self.explain {
                    return report;
                }
                let page = page.map(PageReport::explained);
                Report { explanation: Some(Explained::of(&explanation, &[])), page, ..report }
            }
        }
    }
}

impl Serialize for Answer<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report().serialize(serializer)
    }
}

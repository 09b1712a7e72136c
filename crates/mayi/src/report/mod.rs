//! The one serialisable view: a request and its decision as JSON.
//!
//! Every front end takes a [`Request`] and gives a [`Report`], or an [`ErrorReport`] in its place. The
//! shapes are separate from the types that they are made from, so that a field of such a type never
//! becomes part of the JSON by accident.
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

mod carried;
mod error;
mod explained;
mod file;
mod lint;
mod page;
mod parts;
mod prepared;
mod request;
mod time;
mod warning;

pub use error::{ErrorBody, ErrorCode, ErrorReport, RequestError};
pub use explained::{
    Explained, ExplainedAppRule, ExplainedApplication, ExplainedGroup, ExplainedIrregularity,
    ExplainedRule, ExplainedStart, LeftOut,
};
pub use file::{FileHop, FileReport, FileSource};
pub use lint::{DiagnosticReport, EditReport, FixReport, LintReport, PlaceReport, RelatedReport};
pub use page::{FoundRule, PageReport, PageRuleValues};
pub use parts::{Directives, OverrideReport, Records, SignalReport, Signals, UsageReport, Uses};
pub use prepared::Prepared;
pub use request::{HtmlInput, PageInput, Request, RobotsInput};
pub use time::{rfc3339_of, time_of_rfc3339};
pub use warning::{Warning, WarningPlace};

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;

use crate::access::AccessResult;

use crate::crawler::Crawler;
use crate::decision::{DecidingRule, Decision};
use crate::dialect::Dialect;
use crate::evaluation::decide_selected;
use crate::explanation::Explanation;
use crate::extension::Extension;
use crate::limits::Limits;
use crate::page::{PageOptions, PageRules};
use crate::robots_txt::{ReadOptions, RobotsTxt};
use crate::selection::{Selection, select};
use crate::target::Target;
use crate::uses::{Response, usage_of};

/// A decision, as JSON.
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
    /// The usage preferences that apply, or null if the URL may not be fetched.
    pub usage: Option<UsageReport>,
    /// The directives that override preferences, if there are some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<OverrideReport>,
    /// What may be done with the page, or null if no page was given.
    pub page: Option<PageReport>,
    /// One answer for each use.
    pub uses: Uses,
    /// The signals about each use except crawling.
    pub signals: Signals,
    /// What else the file says to this crawler.
    pub records: Records<'a>,
    /// What was not read, or could not be read. At most [`Warning::MOST`] are listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Where the file came from, if it was not part of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileReport>,
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
    /// Whether the crawler's name says that it collects data for training (AIA-1).
    pub for_training: bool,
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
    /// The line that it is on.
    pub line: u32,
}

impl<'a> Rule<'a> {
    fn of(rule: &DecidingRule<'a>) -> Self {
        Self {
            kind: rule.kind().name(),
            pattern: String::from_utf8_lossy(rule.pattern()),
            octets: rule.octets(),
            line: rule.line().number(),
        }
    }
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
            for_training: crawler.is_for_training(),
            rule: decision.rule().map(Rule::of),
            group: decision.group().map(|group| Group {
                by: group.by().name(),
                lines: group.lines().iter().map(|line| line.number()).collect(),
            }),
        }
    }
}

/// A question to a file: the crawler, the target, and what is already known of the page.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The file.
    pub robots: &'a RobotsTxt<'a>,
    /// The crawler.
    pub crawler: &'a Crawler,
    /// The target.
    pub target: &'a Target<'a>,
    /// The header fields of the response, if there is one already.
    pub fields: &'a [(&'a str, &'a str)],
    /// The page rules of the response that hold for the crawler, if there is one already.
    pub page: Option<&'a PageRules>,
}

impl<'a> Question<'a> {
    /// The decision in all its parts.
    pub fn report(self) -> Report<'a> {
        let selection = select(self.robots, self.crawler, &mut ());
        let decision = decide_selected(self.robots, selection.as_ref(), self.target);
        self.report_selected(&decision, selection.as_ref())
    }

    /// The decision in all its parts, with its explanation.
    pub fn explained(self) -> Report<'a> {
        self.explained_by(&self.robots.explain(self.crawler, self.target))
    }

    /// The same for an explanation that there is already: where there is no file, it is
    /// [`Explanation::without_file`], and `robots` is an empty one.
    pub fn explained_by(self, explanation: &Explanation<'a>) -> Report<'a> {
        let report = self.report_of(explanation.decision());
        let asked = self.robots.app_directives(self.crawler, self.target);
        Report {
            explanation: Some(Explained::of(explanation, &asked)),
            page: self.page.map(PageReport::explained),
            ..report
        }
    }

    /// The same for a decision that was made already: by rules that the file has prepared, or
    /// without a file, in which case `robots` is an empty one.
    pub fn report_of(self, decision: &Decision<'a>) -> Report<'a> {
        self.report_selected(decision, select(self.robots, self.crawler, &mut ()).as_ref())
    }

    /// The same by groups that were selected for the crawler already.
    fn report_selected(self, decision: &Decision<'a>, selection: Option<&Selection>) -> Report<'a> {
        let Self { robots, crawler, target, fields, page } = self;
        let response = Response { fields, page };
        let asked = robots.app_directives(crawler, target);
        // What can't be fetched has no preferences (USE-4).
        let usage = || usage_of(robots, selection, target, response, &asked);
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
            warnings: Warning::all(self, selection, usage.as_ref()),
            usage: usage.as_ref().map(UsageReport::of),
            records: Records::of(robots, selection, target),
            file: None,
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
    registered_purposes_only: bool,
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

    /// Accepts only registered purposes, for every request (PUR-2).
    #[must_use]
    pub fn with_registered_purposes_only(self, only: bool) -> Self {
        Self { registered_purposes_only: only, ..self }
    }

    /// Reads every dialect without an extension.
    #[must_use]
    pub fn without(mut self, extension: Extension) -> Self {
        self.without.push(extension);
        self
    }

    /// The dialect to answer a request in, without what is switched off.
    ///
    /// # Errors
    /// When the request names a dialect that there is not.
    pub fn dialect_of(&self, request: &Request<'_>) -> Result<Dialect, RequestError> {
        let dialect = request.dialect(self.options.dialect())?;
        Ok(self.without.iter().copied().fold(dialect, Dialect::without))
    }

    /// The crawler, with all that a request says of it.
    ///
    /// # Errors
    /// When one of those is not what it should be.
    pub fn crawler_of(&self, request: &Request<'_>) -> Result<Crawler, RequestError> {
        let crawler = request.crawler()?;
        let only = self.registered_purposes_only || request.registered_purposes_only;
        Ok(crawler.with_registered_purposes_only(only))
    }

    /// The dialect to answer in where a request names none.
    pub fn dialect(&self) -> Dialect {
        self.without.iter().copied().fold(self.options.dialect().clone(), Dialect::without)
    }

    /// The limits that files are read within.
    pub fn limits(&self) -> Limits {
        self.options.limits()
    }

    /// How to read a file that is asked in this dialect and came with this Content-Type.
    pub fn reading(&self, dialect: Dialect, content_type: Option<&str>) -> ReadOptions {
        let options = self.options.clone().with_dialect(dialect);
        match content_type {
            Some(content_type) => options.with_content_type(content_type),
            None => options,
        }
    }

    /// Answers a request that carries its file.
    ///
    /// # Errors
    /// When the request is wrong, or carries no file.
    pub fn answer<'a>(&self, request: &'a Request<'_>) -> Result<Answer<'a>, RequestError> {
        self.answer_from(request).map_err(|error| request.wrong(error))
    }

    fn answer_from<'a>(&self, request: &'a Request<'_>) -> Result<Answer<'a>, RequestError> {
        let (crawler, target) = (self.crawler_of(request)?, request.target()?);
        let options = self.options.clone().with_dialect(self.dialect_of(request)?);
        let (robots, ended) = match &request.robots {
            None => {
                let message = "the request has no `robots`, and fetching is not available here";
                return Err(RequestError::new(ErrorCode::NoRobots, message));
            }
            Some(RobotsInput::Text(text)) => (RobotsTxt::read(text.as_bytes(), &options), None),
            Some(RobotsInput::Octets { octets, charset }) => {
                let options = match charset {
                    Some(charset) => options.with_charset(charset),
                    None => options,
                };
                (RobotsTxt::read(&**octets, &options), None)
            }
            Some(RobotsInput::Ended(result)) => {
                let ended = result.decide(&target).ok_or_else(|| {
                    let message = "a successful status needs the file: give its text as `robots`";
                    RequestError::new(ErrorCode::InvalidRobots, message)
                })?;
                (RobotsTxt::read(&b""[..], &options), Some(ended))
            }
        };
        Ok(self.answer_of(request, crawler, target, Held::Own(robots), ended))
    }

    /// Answers a request about a file that was fetched for it: the result of the request for it, the file
    /// (an empty one if there is none), and its story.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use mayi::access::AccessResult;
    /// use mayi::report::{Answering, FileReport, FileSource, Request};
    /// use mayi::RobotsTxt;
    ///
    /// let request = Request::new("https://example.com/a", "ExampleBot");
    /// let answering = Answering::default();
    /// let robots = RobotsTxt::read(b"", &answering.reading(answering.dialect_of(&request)?, None));
    /// let result = AccessResult::of_status(503);
    /// let story = FileReport::new(FileSource::None, &result);
    /// let answer = answering.answer_about(&request, Arc::new(robots), &result, story)?;
    /// assert_eq!(answer.report().access.reason, "unreachable");
    /// # Ok::<(), mayi::report::RequestError>(())
    /// ```
    ///
    /// # Errors
    /// When the request is wrong.
    pub fn answer_about<'a>(
        &self,
        request: &'a Request<'_>,
        robots: Arc<RobotsTxt<'static>>,
        result: &AccessResult,
        file: FileReport,
    ) -> Result<Answer<'a>, RequestError> {
        let wrong = |error| request.wrong(error);
        let (crawler, target) =
            (self.crawler_of(request).map_err(wrong)?, request.target().map_err(wrong)?);
        let ended = result.decide(&target);
        let answer = self.answer_of(request, crawler, target, Held::Shared(robots), ended);
        Ok(Answer { file: Some(file), ..answer })
    }

    fn answer_of<'a>(
        &self,
        request: &'a Request<'_>,
        crawler: Crawler,
        target: Target<'a>,
        robots: Held<'a>,
        ended: Option<Decision<'static>>,
    ) -> Answer<'a> {
        let fields = request.fields();
        let page = request.page_rules(&fields, &crawler, self.page);
        Answer { crawler, target, robots, ended, fields, page, file: None, explain: request.explain }
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
    /// The file; an empty one if there is none.
    robots: Held<'a>,
    /// What was decided without a file.
    ended: Option<Decision<'static>>,
    fields: Vec<(&'a str, &'a str)>,
    page: Option<PageRules>,
    file: Option<FileReport>,
    explain: bool,
}

/// A file that is the answer's own, or somebody else's too.
#[derive(Debug)]
enum Held<'a> {
    Own(RobotsTxt<'a>),
    Shared(Arc<RobotsTxt<'static>>),
}

impl Answer<'_> {
    /// The decision, with an explanation where the request asks for one.
    pub fn report(&self) -> Report<'_> {
        Report { file: self.file.clone(), ..self.report_without_file() }
    }

    fn report_without_file(&self) -> Report<'_> {
        let Self { crawler, target, fields, .. } = self;
        let robots = match &self.robots {
            Held::Own(robots) => robots,
            Held::Shared(robots) => robots,
        };
        let page = self.page.as_ref();
        let question = Question { robots, crawler, target, fields, page };
        match (&self.ended, self.explain) {
            (None, true) => question.explained(),
            (None, false) => question.report(),
            (Some(decision), false) => question.report_of(decision),
            (Some(decision), true) => {
                question.explained_by(&Explanation::without_file(robots, target, decision.clone()))
            }
        }
    }
}

impl Serialize for Answer<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report().serialize(serializer)
    }
}

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

mod agent;
mod carried;
mod dialect;
mod error;
mod explained;
mod file;
mod format;
#[cfg(feature = "lint")]
mod lint;
mod members;
mod page;
mod parts;
mod prepared;
mod request;
mod site;
mod time;
mod value;
mod warning;

pub use agent::{AgentReport, KnownAgent};
pub use dialect::DialectEntry;
pub use error::{ErrorBody, ErrorCode, ErrorReport, RequestError};
pub use explained::{
    Explained, ExplainedAppRule, ExplainedApplication, ExplainedGroup, ExplainedIrregularity,
    ExplainedRule, ExplainedStart, LeftOut,
};
pub use file::{FileHop, FileReport, FileSource};
pub use format::FormatReport;
#[cfg(feature = "lint")]
pub use lint::{
    DiagnosticReport, FixReport, LintCount, LintEntry, LintReport, LintSummary, PlaceReport,
    RelatedReport, ReplacementReport, Severities,
};
pub use page::{FoundRule, LivePageReport, PageReport, PageRuleValue, PageRuleValues};
pub use parts::{Directives, OverrideReport, Records, SignalReport, Signals, UsageReport, Uses};
pub use prepared::{Prepared, PreparedFile};
pub use request::{HtmlInput, PageInput, Request, RobotsInput};
pub use site::{CopyReport, GroupReport, RuleLine, SiteReport, StartReport};
pub use time::{Timestamp, rfc3339_of, time_of_rfc3339};
pub use warning::{Warning, WarningCode, WarningPlace, WarningSource};

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use self::request::owned;
use crate::RuleKind;
use crate::access::{SiteFile, View};
use crate::application::app_directives_of;
use crate::crawler::Crawler;
use crate::decision::{DecidingRule, Decision, Reason};
use crate::dialect::Dialect;
use crate::evaluation::decide_selected;
use crate::explanation::Explanation;
use crate::extension::{Extension, UnknownName};
use crate::limits::Limits;
use crate::page::{PageOptions, PageRules};
use crate::robots_txt::ReadOptions;
use crate::selection::{GroupBy, Selection, select};
use crate::target::Target;
use crate::uses::{Response, usage_of};

/// A decision, as JSON. A report that is written and read again is equal.
///
/// ```
/// use mayi::report::{Report, Request, answer};
///
/// let request = Request::from_json(br#"{"url": "https://example.com/", "agent": "ExampleBot", "robots": ""}"#)?;
/// let answer = answer(&request)?;
/// let json = serde_json::to_string(&answer)?;
/// let read: Report<'static> = serde_json::from_str(&json)?;
/// assert_eq!(read, answer.report());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report<'a> {
    /// The URL of the question, as it was given.
    pub url: Cow<'a, str>,
    /// The product token of the crawler.
    pub agent: Cow<'a, str>,
    /// The dialect that the file was read in.
    pub dialect: Cow<'a, str>,
    /// May it be fetched?
    pub access: Access<'a>,
    /// What the file asks of the crawler's applications.
    pub directives: Directives,
    /// The usage preferences that apply, or null if the URL may not be fetched.
    pub usage: Option<UsageReport>,
    /// The directives that override preferences, if there are some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Where the file came from, if it was not part of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileReport>,
    /// The explanation, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explained<'a>>,
}

impl Report<'_> {
    /// The same without what it borrows.
    pub fn into_owned(self) -> Report<'static> {
        Report {
            url: owned(self.url),
            agent: owned(self.agent),
            dialect: owned(self.dialect),
            access: Access { rule: self.access.rule.map(Rule::into_owned), ..self.access },
            directives: self.directives,
            usage: self.usage,
            overrides: self.overrides,
            page: self.page,
            uses: self.uses,
            signals: self.signals,
            records: self.records.into_owned(),
            warnings: self.warnings,
            file: self.file,
            explanation: self.explanation.map(Explained::into_owned),
        }
    }
}

/// May the crawler fetch the URL?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Access<'a> {
    /// Whether it may.
    pub allowed: bool,
    /// Why.
    pub reason: Reason,
    /// Whether the crawler's name says that it collects data for training (AIA-1).
    pub for_training: bool,
    /// The rule that decided.
    pub rule: Option<Rule<'a>>,
    /// The groups that apply.
    pub group: Option<AppliedGroups>,
}

/// The rule that decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rule<'a> {
    /// `allow` or `disallow`.
    pub kind: RuleKind,
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
            kind: rule.kind(),
            pattern: String::from_utf8_lossy(rule.pattern()),
            octets: rule.octets(),
            line: rule.line().number(),
        }
    }

    fn into_owned(self) -> Rule<'static> {
        Rule { pattern: owned(self.pattern), kind: self.kind, octets: self.octets, line: self.line }
    }
}

/// The groups that apply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AppliedGroups {
    /// How they were found.
    pub by: GroupBy,
    /// The group-start lines that matched.
    pub lines: Vec<u32>,
}

impl<'a> Access<'a> {
    /// The serialisable view of a decision.
    pub fn of(decision: &Decision<'a>, crawler: &Crawler) -> Self {
        Self {
            allowed: decision.is_allowed(),
            reason: decision.reason(),
            for_training: crawler.is_for_training(),
            rule: decision.rule().map(Rule::of),
            group: decision.group().map(|group| AppliedGroups {
                by: group.by(),
                lines: group.lines().iter().map(|line| line.number()).collect(),
            }),
        }
    }
}

impl SiteFile<'_> {
    /// The decision about a target with all its parts. [`Question`] can also take a page into account.
    pub fn report<'a>(&'a self, crawler: &'a Crawler, target: &'a Target<'a>) -> Report<'a> {
        Question { file: self, crawler, target, fields: &[], page: None }.report()
    }
}

/// A question to a file: the crawler, the target, and what is already known about the page.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The file, or why there is none.
    pub file: &'a SiteFile<'a>,
    /// The crawler.
    pub crawler: &'a Crawler,
    /// The target.
    pub target: &'a Target<'a>,
    /// The header fields of the response, if there already is one.
    pub fields: &'a [(&'a str, &'a str)],
    /// The page rules of the response that apply to the crawler, if there already is one.
    pub page: Option<&'a PageRules>,
}

impl<'a> Question<'a> {
    /// The decision in all its parts.
    pub fn report(self) -> Report<'a> {
        let Self { file, crawler, target, .. } = self;
        let Some(robots) = file.robots_txt() else {
            return self.report_of(&file.decide(crawler, target), None);
        };
        let selection = select(robots, crawler, &mut ());
        let decision = decide_selected(robots, selection.as_ref(), target, &mut ());
        self.report_of(&decision, selection.as_ref())
    }

    /// The decision in all its parts, with its explanation.
    pub fn explained(self) -> Report<'a> {
        self.explained_by(&self.file.explain(self.crawler, self.target))
    }

    /// The same from an existing explanation of this question.
    pub fn explained_by(self, explanation: &Explanation<'a>) -> Report<'a> {
        self.answered(explanation.decision(), explanation.selection(), Some(explanation))
    }

    /// The same from an existing decision and its selected groups.
    fn report_of(self, decision: &Decision<'a>, selection: Option<&Selection>) -> Report<'a> {
        self.answered(decision, selection, None)
    }

    fn answered(
        self,
        decision: &Decision<'a>,
        selection: Option<&Selection>,
        explanation: Option<&Explanation<'a>>,
    ) -> Report<'a> {
        let Self { file, crawler, target, fields, page } = self;
        let view = file.view();
        let View { robots, dialect, .. } = view;
        let response = Response { fields, has_noai: page.is_some_and(PageRules::has_noai) };
        let asked = app_directives_of(view, crawler, target);
        // What can't be fetched has no preferences (USE-4).
        let usage = || usage_of(view, selection, target, response, &asked);
        let usage = decision.is_allowed().then(usage);
        let page_report = if explanation.is_some() { PageReport::explained } else { PageReport::of };
        Report {
            url: target.url().into(),
            agent: crawler.product_token().as_str().into(),
            dialect: dialect.name().into(),
            access: Access::of(decision, crawler),
            directives: Directives::of(&asked),
            overrides: usage.as_ref().map(OverrideReport::all).unwrap_or_default(),
            page: page.map(page_report),
            uses: Uses::of(decision, usage.as_ref(), page),
            signals: usage.as_ref().map(Signals::of).unwrap_or_default(),
            warnings: Warning::all(self, selection, usage.as_ref()),
            usage: usage.as_ref().map(UsageReport::of),
            records: robots.map(|it| Records::of(it, selection, target)).unwrap_or_default(),
            file: None,
            explanation: explanation.map(|explanation| Explained::of(explanation, &asked)),
        }
    }
}

/// The settings with which a front end answers requests.
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
    /// Reads files with these options; the dialect and charset of a request override them.
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

    /// The dialect of this name, or the default one, without what is switched off.
    ///
    /// ```
    /// let answering = mayi::report::Answering::default();
    /// assert_eq!(answering.dialect_named(None)?.name(), "rfc9309");
    /// assert!(answering.dialect_named(Some("gogle")).is_err());
    /// # Ok::<(), mayi::report::RequestError>(())
    /// ```
    ///
    /// # Errors
    /// When there is no dialect of this name.
    pub fn dialect_named(&self, name: Option<&str>) -> Result<Dialect, RequestError> {
        let unknown =
            |error: UnknownName| RequestError::new(ErrorCode::UnknownDialect, error.to_string());
        let dialect = match name {
            Some(name) => Dialect::find(name).map_err(unknown)?,
            None => self.options.dialect().clone(),
        };
        Ok(self.without.iter().copied().fold(dialect, Dialect::without))
    }

    /// The dialect to answer a request in, without what is switched off.
    ///
    /// # Errors
    /// When the request names an unknown dialect.
    pub fn dialect_of(&self, request: &Request<'_>) -> Result<Dialect, RequestError> {
        self.dialect_named(request.dialect.as_deref())
    }

    /// The crawler, with all that a request says about it.
    ///
    /// # Errors
    /// When one of those is not what it should be.
    pub fn crawler_of(&self, request: &Request<'_>) -> Result<Crawler, RequestError> {
        let crawler = request.crawler()?;
        let only = self.registered_purposes_only || request.registered_purposes_only;
        Ok(crawler.with_registered_purposes_only(only))
    }

    /// The dialect for requests that name none.
    pub fn dialect(&self) -> Dialect {
        self.without.iter().copied().fold(self.options.dialect().clone(), Dialect::without)
    }

    /// The limits that files are read within.
    pub fn limits(&self) -> Limits {
        self.options.limits()
    }

    /// How to read a file in this dialect that came with this Content-Type.
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
        let file = match &request.robots {
            None => {
                let message = "the request has no `robots`, and fetching is not available here";
                return Err(RequestError::new(ErrorCode::NoRobots, message));
            }
            Some(robots) => robots.site_file(&options)?,
        };
        Ok(self.answer_of(request, crawler, target, file))
    }

    /// Answers a request about a file that was fetched for it, and reports where the file came from.
    ///
    /// ```
    /// use mayi::access::{AccessResult, SiteFile};
    /// use mayi::report::{Answering, FileReport, FileSource, Request};
    /// use mayi::Reason;
    ///
    /// let request = Request::new("https://example.com/a", "ExampleBot");
    /// let answering = Answering::default();
    /// let result = AccessResult::of_status(503);
    /// let story = FileReport::new(FileSource::None, &result);
    /// let options = answering.reading(answering.dialect_of(&request)?, None);
    /// let file = SiteFile::ended(result, &options).expect("there is none");
    /// let answer = answering.answer_about(&request, file, story)?;
    /// assert_eq!(answer.report().access.reason, Reason::Unreachable);
    /// # Ok::<(), mayi::report::RequestError>(())
    /// ```
    ///
    /// # Errors
    /// When the request is wrong.
    pub fn answer_about<'a>(
        &self,
        request: &'a Request<'_>,
        file: SiteFile<'a>,
        story: FileReport,
    ) -> Result<Answer<'a>, RequestError> {
        let wrong = |error| request.wrong(error);
        let (crawler, target) =
            (self.crawler_of(request).map_err(wrong)?, request.target().map_err(wrong)?);
        let answer = self.answer_of(request, crawler, target, file);
        Ok(Answer { story: Some(story), ..answer })
    }

    fn answer_of<'a>(
        &self,
        request: &'a Request<'_>,
        crawler: Crawler,
        target: Target<'a>,
        file: SiteFile<'a>,
    ) -> Answer<'a> {
        let fields = request.fields();
        let page = request.page_rules(&fields, &crawler, self.page);
        Answer { crawler, target, file, fields, page, story: None, explain: request.explain }
    }
}

/// Answers a request that includes its file, with default settings.
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
    file: SiteFile<'a>,
    fields: Vec<(&'a str, &'a str)>,
    page: Option<PageRules>,
    /// Where the file came from, if it was not part of the request.
    story: Option<FileReport>,
    explain: bool,
}

impl Answer<'_> {
    /// The decision, with an explanation if the request asks for one.
    pub fn report(&self) -> Report<'_> {
        let Self { crawler, target, fields, file, .. } = self;
        let question = Question { file, crawler, target, fields, page: self.page.as_ref() };
        let report = if self.explain { question.explained() } else { question.report() };
        Report { file: self.story.clone(), ..report }
    }
}

impl Serialize for Answer<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report().serialize(serializer)
    }
}

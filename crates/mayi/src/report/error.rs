//! The answer to an invalid request, instead of a decision.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::request::owned;
use crate::crawler::InvalidCrawler;
use crate::spec::Clause;
use crate::target::InvalidUrl;

/// What is wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ErrorCode {
    /// `invalid-json`: the text is not JSON.
    InvalidJson,
    /// `invalid-request`: a member is missing, unknown, given twice or of the wrong type.
    InvalidRequest,
    /// `invalid-url`: the URL is not absolute.
    InvalidUrl,
    /// `unsupported-scheme`: the URL's scheme has no robots.txt.
    UnsupportedScheme,
    /// `invalid-agent`: the crawler's name is not a product token.
    InvalidAgent,
    /// `invalid-user-agent`: the User-Agent string lacks the product token or a purpose.
    InvalidUserAgent,
    /// `invalid-purpose`: a purpose is not a token.
    InvalidPurpose,
    /// `invalid-app`: an application identifier is not a token.
    InvalidApp,
    /// `invalid-robots`: the request says that there is a file, but does not include it.
    InvalidRobots,
    /// `unknown-dialect`: no dialect has that name.
    UnknownDialect,
    /// `internal`: an error of the engine, not of the request.
    Internal,
    /// `no-robots`: the request has no file, and none is fetched here.
    NoRobots,
    /// `too-costly`: the answer would take more work than a row of a table may.
    TooCostly,
}

impl ErrorCode {
    /// As in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid-json",
            Self::InvalidRequest => "invalid-request",
            Self::InvalidUrl => "invalid-url",
            Self::UnsupportedScheme => "unsupported-scheme",
            Self::InvalidAgent => "invalid-agent",
            Self::InvalidUserAgent => "invalid-user-agent",
            Self::InvalidPurpose => "invalid-purpose",
            Self::InvalidApp => "invalid-app",
            Self::InvalidRobots => "invalid-robots",
            Self::UnknownDialect => "unknown-dialect",
            Self::Internal => "internal",
            Self::NoRobots => "no-robots",
            Self::TooCostly => "too-costly",
        }
    }

    /// The clause that says what would be right, if there is one.
    ///
    /// ```
    /// use mayi::{Clause, report::ErrorCode};
    ///
    /// assert_eq!(ErrorCode::InvalidAgent.clause(), Some(Clause::REP_4));
    /// ```
    pub const fn clause(self) -> Option<Clause> {
        match self {
            Self::InvalidUrl | Self::UnsupportedScheme => Some(Clause::REP_18),
            Self::InvalidAgent => Some(Clause::REP_4),
            Self::InvalidUserAgent => Some(Clause::PUR_4),
            Self::InvalidPurpose => Some(Clause::PUR_2),
            Self::InvalidApp => Some(Clause::APP_3),
            _ => None,
        }
    }
}

/// A request that can't be answered, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestError {
    code: ErrorCode,
    message: String,
    /// What the request names, as far as it could be read.
    names: Option<Box<Names>>,
}

/// The URL and the crawler that a request names, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) url: Option<String>,
    pub(super) agent: Option<String>,
}

impl RequestError {
    /// An error with its message.
    pub fn new(code: ErrorCode, message: impl fmt::Display) -> Self {
        Self { code, message: message.to_string(), names: None }
    }

    /// Its code.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The same error with the URL and the crawler of its request, so that a client with many requests finds
    /// the wrong one. What is already known stays.
    ///
    /// ```
    /// use mayi::report::{ErrorCode, RequestError};
    ///
    /// let error = RequestError::new(ErrorCode::InvalidUrl, "no scheme").about("example.com", "ExampleBot");
    /// assert_eq!(error.url(), Some("example.com"));
    /// ```
    #[must_use]
    pub fn about(self, url: &str, agent: &str) -> Self {
        if self.names.is_some() {
            return self;
        }
        self.naming(Names { url: Some(url.to_owned()), agent: Some(agent.to_owned()) })
    }

    pub(super) fn naming(self, names: Names) -> Self {
        Self { names: Some(Box::new(names)), ..self }
    }

    /// The URL of the request, if it could be read.
    pub fn url(&self) -> Option<&str> {
        self.names.as_ref()?.url.as_deref()
    }

    /// The crawler of the request, if it could be read.
    pub fn agent(&self) -> Option<&str> {
        self.names.as_ref()?.agent.as_deref()
    }

    /// The error as JSON: `{"error": {"code": "…", "message": "…"}}`, with the `url` and the `agent`
    /// of the request if they could be read.
    pub fn report(&self) -> ErrorReport<'_> {
        let error = ErrorBody { code: self.code, message: self.message.as_str().into() };
        ErrorReport { url: self.url().map(Cow::from), agent: self.agent().map(Cow::from), error }
    }
}

impl From<InvalidUrl> for RequestError {
    fn from(error: InvalidUrl) -> Self {
        let scheme = error.is_unsupported_scheme();
        let code = if scheme { ErrorCode::UnsupportedScheme } else { ErrorCode::InvalidUrl };
        Self::new(code, error)
    }
}

impl From<InvalidCrawler> for RequestError {
    fn from(error: InvalidCrawler) -> Self {
        let code = if error.is_product_token() {
            ErrorCode::InvalidAgent
        } else if error.is_purpose() {
            ErrorCode::InvalidPurpose
        } else if error.is_application() {
            ErrorCode::InvalidApp
        } else {
            ErrorCode::InvalidUserAgent
        };
        Self::new(code, error)
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for RequestError {}

/// The answer instead of a [`Report`](super::Report).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ErrorReport<'a> {
    /// The URL of the request, if it could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<Cow<'a, str>>,
    /// The crawler of the request, if it could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Cow<'a, str>>,
    /// What is wrong.
    pub error: ErrorBody<'a>,
}

impl ErrorReport<'_> {
    /// The same without what it borrows.
    pub fn into_owned(self) -> ErrorReport<'static> {
        ErrorReport {
            url: self.url.map(owned),
            agent: self.agent.map(owned),
            error: ErrorBody { code: self.error.code, message: owned(self.error.message) },
        }
    }
}

/// What is wrong, for programs and for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ErrorBody<'a> {
    /// What is wrong.
    pub code: ErrorCode,
    /// What is wrong and what would be right.
    pub message: Cow<'a, str>,
}

//! The text of a `mayi.toml` → what it says about lints, or the first thing that is wrong with it and where.
//!
//! Where the file is looked for, and what the command line says beside it, is for the front ends.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::options::LintChoice;
use super::{Lint, Options, Severity, UnknownLint, nearest};
use crate::crawler::Crawler;
use crate::span::{LineNumber, Span, line_at};

/// What a `mayi.toml` says about lints.
///
/// ```
/// use mayi::lint::{Configuration, FailOn, Options, Severity, lint};
///
/// let text = "[lint]\nselect = [\"style\"]\nignore = [\"S001\"]\nfail-on = \"note\"\n";
/// let configuration = Configuration::parse(text)?;
/// assert_eq!(configuration.fail_on(), Some(FailOn::Note));
/// let options = configuration.over(Options::default());
/// assert!(lint(b"User-agent: *\nDisallow /private/\n", &options).diagnostics().is_empty());
///
/// let error = Configuration::parse("[lint]\nselct = []\n").unwrap_err();
/// assert_eq!((error.line().number(), &error.to_string()[..7]), (2, "line 2:"));
/// assert!(error.message().contains("did you mean `select`?"));
/// # Ok::<(), mayi::lint::InvalidConfiguration>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    select: Vec<LintChoice>,
    ignore: Vec<LintChoice>,
    severities: Vec<(&'static Lint, Severity)>,
    agents: Vec<Crawler>,
    fail_on: Option<FailOn>,
}

impl Configuration {
    /// Reads the text of a `mayi.toml`.
    ///
    /// # Errors
    /// When it is not TOML, or has an unknown key, an unknown lint, or a value of the wrong type.
    pub fn parse(text: &str) -> Result<Self, InvalidConfiguration> {
        let file: File = toml::from_str(text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            let meant = meant_by_key(text, &span);
            let meant = meant.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            InvalidConfiguration::at(text, &span, format!("{}{meant}", error.message()))
        })?;
        let read = file.lint.unwrap_or_default();
        let unknown = |name: &Spanned<String>, error: UnknownLint| {
            InvalidConfiguration::at(text, &name.span(), error.to_string())
        };
        let choices = |names: &[Spanned<String>]| {
            let choice = |name: &Spanned<String>| {
                LintChoice::named(name.get_ref()).map_err(|error| unknown(name, error))
            };
            names.iter().map(choice).collect::<Result<Vec<_>, _>>()
        };
        let (select, ignore) = (choices(&read.select)?, choices(&read.ignore)?);
        let mut configuration = Self { select, ignore, fail_on: read.fail_on, ..Self::default() };
        for (name, severity) in &read.severity {
            let named = Severity::named(severity.get_ref()).ok_or_else(|| {
                let message =
                    format!("`{}` is not a severity: give note, warning or error", severity.get_ref());
                InvalidConfiguration::at(text, &severity.span(), message)
            })?;
            let lint = Lint::find(name.get_ref()).map_err(|error| unknown(name, error))?;
            configuration.severities.push((lint, named));
        }
        for name in &read.agents {
            let agent = Crawler::new(name.get_ref())
                .map_err(|error| InvalidConfiguration::at(text, &name.span(), error.to_string()))?;
            configuration.agents.push(agent);
        }
        Ok(configuration)
    }

    /// From which severity on diagnostics are a failure, if the file says so.
    pub fn fail_on(&self) -> Option<FailOn> {
        self.fail_on
    }

    /// These options, overridden by what the file says.
    #[must_use]
    pub fn over(&self, mut options: Options) -> Options {
        options.switch(&self.select, &self.ignore);
        for (lint, severity) in &self.severities {
            options.weigh(lint, *severity);
        }
        if self.agents.is_empty() { options } else { options.with_agents(self.agents.clone()) }
    }
}

/// From which severity on diagnostics are a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailOn {
    /// Every diagnostic is.
    Note,
    /// Warnings and errors are.
    Warning,
    /// Errors are.
    Error,
    /// None is.
    Never,
}

impl FailOn {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Note, Self::Warning, Self::Error, Self::Never];

    /// `note`, `warning`, `error` or `never`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Never => "never",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fail_on| fail_on.name() == name)
    }

    /// Whether a diagnostic of this severity is a failure.
    pub fn is_reached_by(self, severity: Severity) -> bool {
        match self {
            Self::Note => true,
            Self::Warning => severity >= Severity::Warning,
            Self::Error => severity >= Severity::Error,
            Self::Never => false,
        }
    }
}

/// What is wrong with a configuration, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidConfiguration {
    span: Span,
    line: LineNumber,
    message: String,
}

impl InvalidConfiguration {
    fn at(text: &str, range: &Range<usize>, message: String) -> Self {
        let offset = |at: usize| u32::try_from(at.min(text.len())).unwrap_or(u32::MAX);
        let span = Span { start: offset(range.start), end: offset(range.end) };
        Self { span, line: line_at(text.as_bytes(), span.start), message }
    }

    /// Where it is in the text.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The line that it is on.
    pub fn line(&self) -> LineNumber {
        self.line
    }

    /// What is wrong and what would be right.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for InvalidConfiguration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl Error for InvalidConfiguration {}

/// A file as it is read; a text keeps its place, so that an error can name it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    lint: Option<Table>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct Table {
    /// Once called `enable`.
    #[serde(alias = "enable")]
    select: Vec<Spanned<String>>,
    /// Once called `disable`.
    #[serde(alias = "disable")]
    ignore: Vec<Spanned<String>>,
    fail_on: Option<FailOn>,
    severity: BTreeMap<Spanned<String>, Spanned<String>>,
    agents: Vec<Spanned<String>>,
}

/// The keys of a file, to suggest one for a misspelled key.
const KEYS: &[&str] = &["lint", "select", "ignore", "fail-on", "severity", "agents"];

/// The key that is probably meant, if the wrong part of the text is an unknown key.
fn meant_by_key(text: &str, range: &Range<usize>) -> Option<&'static str> {
    let is_key = text.get(range.end..)?.trim_start().starts_with(['=', ']', '.']);
    let key = text.get(range.clone()).filter(|_| is_key)?.trim_matches(['"', '\'']);
    nearest(key, KEYS.iter().copied()).filter(|near| *near != key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, line: u32, message: &str) {
        let error = Configuration::parse(text).expect_err("it is wrong");
        assert_eq!(error.line().number(), line, "{error}");
        assert!(error.message().contains(message) && !error.message().contains('\n'), "{error}");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        check("[lnit]", 1, "unknown field `lnit`, expected `lint`; did you mean `lint`?");
        check("[lint]\nselct = []", 2, "did you mean `select`?");
        check("[lint]\nx = 1", 2, "expected one of `");
        check("[lint]\nselect = [\"styl\"]", 2, "did you mean `style`?");
        check("[lint]\nx =\n", 2, "");
        check("[lint]\n\nignore = [\n  \"S001\",\n  \"missing-colons\",\n]", 5, "`missing-colon`");
        check("[lint]\nfail-on = \"bad\"", 2, "`never`");
        check("[lint]\nseverity = { S001 = 1 }", 2, "expected a string");
        check("[lint]\n[lint.severity]\nS001 = \"note\"\nS002 = \"bad\"", 4, "`bad` is not a severity");
        check("[lint]\n[lint.severity]\nS001 = \"note\"\nS0O2 = \"note\"", 4, "S0O2");
        check("[lint]\nagents = [\"a\", \"a b\"]", 2, "is not a product token");
        check("lint = 1", 1, "expected struct");
    }

    #[test]
    fn what_it_says_is_laid_over_options() {
        let text = "[lint]\nselect = [\"style\"]\nignore = [\"S003\", \"P006\"]\nseverity = { S001 = \"error\" }\n";
        let options = Configuration::parse(text).expect("it is right").over(Options::default());
        let index = |name| Lint::named(name).expect("it is known").index();
        assert!(options.is_enabled(index("P004")) && !options.is_enabled(index("P006")));
        assert!(options.is_enabled(index("P010")) && !options.is_enabled(index("S003")));
        assert_eq!(options.severity(index("S001")), Some(Severity::Error));
        assert_eq!(Configuration::parse("").expect("nothing is right too").fail_on(), None);
    }
}

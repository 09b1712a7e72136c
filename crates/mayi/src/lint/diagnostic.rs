//! One finding, with everything that a person needs to act on it.

use std::borrow::Cow;

use super::{Lint, Severity};
use crate::span::{LineNumber, Span};

/// One finding of a lint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The lint that found it.
    pub lint: &'static Lint,
    /// How much it matters.
    pub severity: Severity,
    /// Where it is; none if it is about the page or the file as a whole.
    pub place: Option<Place>,
    /// How often it is in the file.
    pub count: usize,
    /// The other places where it is, in the order of the file. There are fewer than `count` says if the list
    /// would become too long.
    pub others: Vec<Place>,
    /// What is wrong, in a sentence; if there are several places, about the first.
    pub message: String,
    /// What crawlers do with it: those that follow RFC 9309, and Google's if they differ.
    pub reading: String,
    /// What would fix it, if that is known.
    pub fix: Option<Fix>,
    /// Related places.
    pub related: Vec<Related>,
}

impl Diagnostic {
    /// The lines where it is, each once, as far as they are listed.
    pub fn lines(&self) -> Vec<LineNumber> {
        let places = self.place.iter().chain(&self.others);
        let mut lines: Vec<_> = places.map(|place| place.line).collect();
        lines.dedup();
        lines
    }
}

/// How often a lint found something in a file, including what is not listed.
///
/// ```
/// use mayi::lint::{Options, Severity, lint};
///
/// let options = Options::default().with_most_of_each(1);
/// let linted = lint(b"User-agent: *\nDissallow: /a\nDisalloww: /b\n", &options);
/// let tally = linted.tallies()["S002"];
/// assert_eq!((tally.total(), tally.of(Severity::Warning), tally.safe_fixes()), (2, 1, 1));
/// assert_eq!(tally.worst(), Some(Severity::Error));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    by_severity: [usize; Severity::ALL.len()],
    safe_fixes: usize,
}

impl Tally {
    pub(super) fn add(&mut self, severity: Severity, has_safe_fix: bool) {
        self.by_severity[severity as usize] += 1;
        self.safe_fixes += usize::from(has_safe_fix);
    }

    /// How many there are.
    pub fn total(&self) -> usize {
        self.by_severity.iter().sum()
    }

    /// How many of a severity.
    pub fn of(&self, severity: Severity) -> usize {
        self.by_severity[severity as usize]
    }

    /// The highest severity among them.
    pub fn worst(&self) -> Option<Severity> {
        Severity::ALL.iter().rev().copied().find(|severity| self.of(*severity) > 0)
    }

    /// How many of them have a fix that is safe.
    pub fn safe_fixes(&self) -> usize {
        self.safe_fixes
    }
}

/// A place in the text of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Its octets.
    pub span: Span,
    /// The line that it is on; no place goes over the end of its line.
    pub line: LineNumber,
    /// The column that it starts at, counted from 1 in characters.
    pub column: u32,
    /// The column after its last character.
    pub end_column: u32,
    /// The column that it starts at, counted from 1 in units of UTF-16: what the language server protocol counts in,
    /// from 0.
    pub utf16_column: u32,
    /// The column after its last character, in units of UTF-16.
    pub utf16_end_column: u32,
}

/// A place that is related to a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Related {
    /// Where it is.
    pub place: Place,
    /// How it is related.
    pub message: String,
}

/// Edits that fix a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fix {
    /// What they do, as an instruction: "write `Disallow:`".
    pub label: String,
    /// The edits, which do not overlap, in the order of the text.
    pub edits: Vec<Edit>,
    /// Whether they change no decision, for any crawler and any URL, in any dialect that compares product
    /// tokens. Only such a fix is applied by [`fix`](super::fix).
    pub safe: bool,
}

/// Octets that replace others.
///
/// ```
/// use mayi::{Span, lint::Edit};
///
/// let edit = Edit { span: Span { start: 8, end: 8 }, replacement: b":".to_vec() };
/// assert_eq!(edit.replacement, b":");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; an empty span is a place to insert at.
    pub span: Span,
    /// The replacement.
    pub replacement: Vec<u8>,
}

impl Edit {
    pub(super) fn new(span: Span, replacement: impl Into<Vec<u8>>) -> Self {
        Self { span, replacement: replacement.into() }
    }
}

impl Fix {
    /// A fix that changes no decision.
    pub(super) fn safe(label: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self { label: label.into(), edits, safe: true }
    }

    /// A fix that changes what the file says, so the owner of the file has to decide about it.
    pub(super) fn unsafe_(label: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self { label: label.into(), edits, safe: false }
    }
}

/// What a lint says of a finding, before its places are counted out. There can be one for every line, so texts that
/// are always the same are not copied.
pub(super) struct Draft {
    pub(super) span: Option<Span>,
    pub(super) severity: Option<Severity>,
    pub(super) message: Cow<'static, str>,
    pub(super) reading: Cow<'static, str>,
    pub(super) fix: Option<Fix>,
    pub(super) related: Vec<(Span, String)>,
    /// What it is about, where findings about different things have different causes.
    pub(super) subject: Option<String>,
}

impl Draft {
    /// What is wrong, and what crawlers do with it.
    pub(super) fn new(
        message: impl Into<Cow<'static, str>>,
        reading: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (message, reading) = (message.into(), reading.into());
        let (fix, related, subject) = (None, Vec::new(), None);
        Self { span: None, severity: None, message, reading, fix, related, subject }
    }

    /// About this: findings about other things have another cause, and are not counted together with it.
    pub(super) fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// With a fix.
    pub(super) fn fixed_by(mut self, fix: impl Into<Option<Fix>>) -> Self {
        self.fix = fix.into();
        self
    }

    /// With another place that has to do with it.
    pub(super) fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push((span, message.into()));
        self
    }

    /// With another severity than the lint's own, if this finding matters more or less.
    pub(super) fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }
}

//! The findings of lints as JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::request::owned;
use crate::lint::{Diagnostic, Edit, Fix, Lint, Linted, Place, Severity};
use crate::span::LineNumber;
use crate::spec::Clause;

/// The diagnostics of a file.
///
/// ```
/// use mayi::lint::{Options, lint};
/// use mayi::report::LintReport;
///
/// let linted = lint(b"User-agent: *\nDisallow /a\n", &Options::default());
/// let report = serde_json::to_value(LintReport::of("robots.txt", &linted)).expect("JSON");
/// assert_eq!(report["diagnostics"][0]["code"], "S001");
/// assert_eq!(report["diagnostics"][0]["place"]["line"], 2);
/// assert_eq!(report["totals"]["S001"], 1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LintReport<'l> {
    /// How the file is called.
    pub file: Cow<'l, str>,
    /// What was found, in the order of the file, one for each cause.
    pub diagnostics: Vec<DiagnosticReport<'l>>,
    /// How many places there are of each code, including those that are not listed.
    pub totals: BTreeMap<Cow<'l, str>, usize>,
    /// How many places there are of each severity, including those that are not listed.
    pub severities: Severities,
    /// How many places are in none of the diagnostics.
    pub left_out: usize,
    /// How many octets of the file come before its text: spans count from there. Null if the file
    /// had to be decoded.
    pub text_start: Option<usize>,
    /// The lint that may not have found everything, because the budget was used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<Cow<'l, str>>,
}

/// How many places there are of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Severities {
    /// The file does not do what it says.
    pub error: usize,
    /// The file could be simpler.
    pub note: usize,
    /// Some crawlers read it differently from how it looks.
    pub warning: usize,
}

/// A lint with its manual page, as `/v1/registry/lints` lists it.
///
/// ```
/// use mayi::lint::Lint;
/// use mayi::report::LintEntry;
///
/// let entry = LintEntry::of(Lint::named("S001").expect("a lint"));
/// let json = serde_json::to_string(&entry).expect("JSON");
/// assert_eq!(serde_json::from_str::<LintEntry>(&json).expect("an entry"), entry);
/// assert_eq!(entry.name, "missing-colon");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LintEntry {
    /// Its code.
    pub code: String,
    /// Its name.
    pub name: String,
    /// What is wrong, in a sentence.
    pub summary: String,
    /// The severity of most of its findings.
    pub severity: Severity,
    /// The clauses that it is about.
    pub clauses: Vec<Clause>,
    /// Its manual page, in Markdown.
    pub manual: String,
}

impl LintEntry {
    /// The serialisable view of a lint.
    pub fn of(lint: &Lint) -> Self {
        Self {
            code: lint.code.to_owned(),
            name: lint.name.to_owned(),
            summary: lint.summary.to_owned(),
            severity: lint.severity,
            clauses: lint.clauses.to_vec(),
            manual: lint.manual(),
        }
    }
}

/// How often each lint found something in many files, as `mayi lint --summary --json` prints it.
///
/// ```
/// use mayi::lint::{Lint, Severity};
/// use mayi::report::{LintCount, LintSummary};
///
/// let mut summary = LintSummary::default();
/// summary.add([(Lint::named("S001").expect("a lint"), Severity::Warning, 3)]);
/// summary.add([]);
/// let count: &LintCount = &summary.lints["S001"];
/// assert_eq!((summary.files, summary.clean, count.findings), (2, 1, 3));
/// let json = serde_json::to_string(&summary).expect("JSON");
/// assert_eq!(serde_json::from_str::<LintSummary>(&json).expect("a summary"), summary);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LintSummary {
    /// How many files there are.
    pub files: usize,
    /// How many of them have nothing to report.
    pub clean: usize,
    /// The lints that found something, by code.
    pub lints: BTreeMap<String, LintCount>,
}

/// How often a lint found something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LintCount {
    /// Its name.
    pub name: String,
    /// The worst severity of its findings.
    pub severity: Severity,
    /// How many places it found.
    pub findings: usize,
    /// In how many files.
    pub files: usize,
}

impl LintSummary {
    /// Adds a file: each lint that found something, its worst severity there, and how many places it found.
    pub fn add<'l>(&mut self, found: impl IntoIterator<Item = (&'l Lint, Severity, usize)>) {
        self.files += 1;
        let mut is_clean = true;
        for (lint, severity, findings) in found {
            is_clean = false;
            let count = self.lints.entry(lint.code.to_owned()).or_insert_with(|| LintCount {
                name: lint.name.to_owned(),
                severity,
                findings: 0,
                files: 0,
            });
            count.severity = count.severity.max(severity);
            count.findings += findings;
            count.files += 1;
        }
        self.clean += usize::from(is_clean);
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DiagnosticReport<'l> {
    /// The code of the lint.
    pub code: Cow<'l, str>,
    /// Its name.
    pub name: Cow<'l, str>,
    /// `note`, `warning` or `error`.
    pub severity: Severity,
    /// The clauses that it is about.
    pub clauses: Vec<Clause>,
    /// Where it is first; null if it is about the page or the whole file.
    pub place: Option<PlaceReport>,
    /// How often it is in the file.
    pub count: usize,
    /// The lines where it is, each once. A long list is cut, and `count` is then larger.
    pub lines: Vec<u32>,
    /// What is wrong.
    pub message: Cow<'l, str>,
    /// What crawlers do with it.
    pub reading: Cow<'l, str>,
    /// What would fix it, if that is known.
    pub fix: Option<FixReport<'l>>,
    /// Related places.
    pub related: Vec<RelatedReport<'l>>,
}

/// A place in the text of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlaceReport {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1 in characters.
    pub column: u32,
    /// The column after the last character.
    pub end_column: u32,
    /// The offset of the first octet in the text.
    pub start: u32,
    /// The offset after the last one.
    pub end: u32,
}

/// A related place, and how it is related.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RelatedReport<'l> {
    /// Where it is.
    pub place: PlaceReport,
    /// How it is related.
    pub message: Cow<'l, str>,
}

/// Edits that fix a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FixReport<'l> {
    /// What they do.
    pub label: Cow<'l, str>,
    /// Whether they change no decision.
    pub safe: bool,
    /// The edits.
    pub edits: Vec<ReplacementReport<'l>>,
}

/// Octets that replace others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReplacementReport<'l> {
    /// The offset of the first octet that is replaced.
    pub start: u32,
    /// The offset after the last one.
    pub end: u32,
    /// The replacement.
    pub replacement: Cow<'l, str>,
}

impl<'l> LintReport<'l> {
    /// The serialisable view of what was found in a file.
    pub fn of(file: &'l str, linted: &'l Linted<'_>) -> Self {
        Self {
            file: file.into(),
            diagnostics: linted.diagnostics().iter().map(DiagnosticReport::of).collect(),
            totals: linted
                .totals()
                .iter()
                .map(|(code, count)| (Cow::Borrowed(*code), *count))
                .collect(),
            severities: Severities {
                error: linted.count(Severity::Error),
                note: linted.count(Severity::Note),
                warning: linted.count(Severity::Warning),
            },
            left_out: linted.left_out(),
            text_start: linted.text_start(),
            ended_early: linted.spent().ran_out.map(Cow::Borrowed),
        }
    }
}

impl LintReport<'_> {
    /// The same without what it borrows.
    pub fn into_owned(self) -> LintReport<'static> {
        let totals = self.totals.into_iter().map(|(code, count)| (owned(code), count));
        LintReport {
            file: owned(self.file),
            diagnostics: self.diagnostics.into_iter().map(DiagnosticReport::into_owned).collect(),
            totals: totals.collect(),
            severities: self.severities,
            left_out: self.left_out,
            text_start: self.text_start,
            ended_early: self.ended_early.map(owned),
        }
    }
}

impl DiagnosticReport<'_> {
    /// The same without what it borrows.
    pub fn into_owned(self) -> DiagnosticReport<'static> {
        let edit = |edit: ReplacementReport<'_>| ReplacementReport {
            start: edit.start,
            end: edit.end,
            replacement: owned(edit.replacement),
        };
        let fix = |fix: FixReport<'_>| FixReport {
            label: owned(fix.label),
            safe: fix.safe,
            edits: fix.edits.into_iter().map(edit).collect(),
        };
        let related = |other: RelatedReport<'_>| RelatedReport {
            place: other.place,
            message: owned(other.message),
        };
        DiagnosticReport {
            code: owned(self.code),
            name: owned(self.name),
            severity: self.severity,
            clauses: self.clauses,
            place: self.place,
            count: self.count,
            lines: self.lines,
            message: owned(self.message),
            reading: owned(self.reading),
            fix: self.fix.map(fix),
            related: self.related.into_iter().map(related).collect(),
        }
    }
}

impl<'l> DiagnosticReport<'l> {
    /// The serialisable view of one finding.
    pub fn of(found: &'l Diagnostic) -> Self {
        Self {
            code: found.lint.code.into(),
            name: found.lint.name.into(),
            severity: found.severity,
            clauses: found.lint.clauses.to_vec(),
            place: found.place.map(PlaceReport::of),
            count: found.count,
            lines: found.lines().into_iter().map(LineNumber::number).collect(),
            message: Cow::Borrowed(&found.message),
            reading: Cow::Borrowed(&found.reading),
            fix: found.fix.as_ref().map(FixReport::of),
            related: found
                .related
                .iter()
                .map(|other| RelatedReport {
                    place: PlaceReport::of(other.place),
                    message: Cow::Borrowed(&other.message),
                })
                .collect(),
        }
    }
}

impl PlaceReport {
    fn of(place: Place) -> Self {
        Self {
            line: place.line.number(),
            column: place.column,
            end_column: place.end_column,
            start: place.span.start,
            end: place.span.end,
        }
    }
}

impl<'l> FixReport<'l> {
    fn of(fix: &'l Fix) -> Self {
        let edit = |edit: &'l Edit| ReplacementReport {
            start: edit.span.start,
            end: edit.span.end,
            replacement: String::from_utf8_lossy(&edit.replacement),
        };
        Self {
            label: Cow::Borrowed(&fix.label),
            safe: fix.safe,
            edits: fix.edits.iter().map(edit).collect(),
        }
    }
}

//! The findings of lints as JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::lint::{Diagnostic, Edit, Fix, Linted, Place, Severity};

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
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LintReport<'l> {
    /// How the file is called.
    pub file: &'l str,
    /// What was found, in the order of the file.
    pub diagnostics: Vec<DiagnosticReport<'l>>,
    /// How many there are of each code, including those that are not listed.
    pub totals: &'l BTreeMap<&'static str, usize>,
    /// How many there are of each severity, including those that are not listed.
    pub severities: BTreeMap<&'static str, usize>,
    /// How many were found and are not listed.
    pub left_out: usize,
    /// How many octets of the file stand before its text: spans count from there. Null if the file
    /// had to be decoded.
    pub text_start: Option<usize>,
    /// The lint that may not have found everything, as it would have cost more than it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<&'static str>,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiagnosticReport<'l> {
    /// The code of the lint.
    pub code: &'static str,
    /// Its name.
    pub name: &'static str,
    /// `note`, `warning` or `error`.
    pub severity: &'static str,
    /// The clauses that it is about.
    pub clauses: Vec<&'static str>,
    /// Where it is; null if it is about the page or the whole file.
    pub place: Option<PlaceReport>,
    /// What is wrong.
    pub message: &'l str,
    /// What crawlers do with it.
    pub reading: &'l str,
    /// What would make it go away, if that is known.
    pub fix: Option<FixReport<'l>>,
    /// Other places that have to do with it.
    pub related: Vec<RelatedReport<'l>>,
}

/// A place in the text of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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

/// Another place, and what it has to do with the finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RelatedReport<'l> {
    /// Where it is.
    pub place: PlaceReport,
    /// What it has to do with it.
    pub message: &'l str,
}

/// Edits that make a finding go away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FixReport<'l> {
    /// What they do.
    pub label: &'l str,
    /// Whether no decision changes by them.
    pub safe: bool,
    /// The edits.
    pub edits: Vec<EditReport<'l>>,
}

/// Octets to put in the place of others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EditReport<'l> {
    /// The offset of the first octet that is replaced.
    pub start: u32,
    /// The offset after the last one.
    pub end: u32,
    /// What stands there instead.
    pub replacement: Cow<'l, str>,
}

impl<'l> LintReport<'l> {
    /// The serialisable view of what was found in a file.
    pub fn of(file: &'l str, linted: &'l Linted<'_>) -> Self {
        Self {
            file,
            diagnostics: linted.diagnostics().iter().map(DiagnosticReport::of).collect(),
            totals: linted.totals(),
            severities: Severity::ALL.iter().map(|&one| (one.name(), linted.count(one))).collect(),
            left_out: linted.left_out(),
            text_start: linted.text_start(),
            ended_early: linted.spent().ran_out,
        }
    }
}

impl<'l> DiagnosticReport<'l> {
    /// The serialisable view of one finding.
    pub fn of(found: &'l Diagnostic) -> Self {
        Self {
            code: found.lint.code,
            name: found.lint.name,
            severity: found.severity.name(),
            clauses: found.lint.clauses.iter().map(|clause| clause.id()).collect(),
            place: found.place.map(PlaceReport::of),
            message: &found.message,
            reading: &found.reading,
            fix: found.fix.as_ref().map(FixReport::of),
            related: found
                .related
                .iter()
                .map(|other| RelatedReport {
                    place: PlaceReport::of(other.place),
                    message: &other.message,
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
        let edit = |edit: &'l Edit| EditReport {
            start: edit.span.start,
            end: edit.span.end,
            replacement: String::from_utf8_lossy(&edit.replacement),
        };
        Self { label: &fix.label, safe: fix.safe, edits: fix.edits.iter().map(edit).collect() }
    }
}

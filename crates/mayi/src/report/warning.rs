//! What a decision could not take into account, as JSON: a file or a field that was cut at its limit,
//! and what could not be read. A decision always lists these warnings, if there are any. Only the
//! explanation says why lines were read as they were.

use serde::{Deserialize, Serialize};

use super::Question;
use crate::crawler::Crawler;
use crate::page::{FoundAt, Loss, LossKind, PageRules};
use crate::regexes::LONGEST_TOKEN;
use crate::robots_txt::{Record, RobotsTxt};
use crate::selection::{Selection, first_not_run};
use crate::span;
use crate::uses::{UnreadableUsage, Usage};

/// Something that was not read, or could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Warning {
    /// What kind of loss it is.
    pub code: WarningCode,
    /// What was lost, and what that means.
    pub message: String,
    /// Where.
    pub place: WarningPlace,
}

/// A kind of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WarningCode {
    /// The file is larger than the limit (REP-24).
    FileCut,
    /// The product token is too long for regular expressions (AIA-3).
    TokenTooLong,
    /// A header field is longer than the limit (TAG-6).
    FieldCut,
    /// The head of the HTML is longer than the limit (TAG-8).
    HtmlCut,
    /// A member of a header field can't be read (TAG-2).
    UnreadableField,
    /// A Content-Usage can't be read (USE-3, USE-5).
    UnreadableContentUsage,
}

/// Where something was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum WarningSource {
    /// The file.
    #[serde(rename = "robots.txt")]
    RobotsTxt,
    /// The header of the response.
    Header,
    /// Its HTML.
    Html,
}

/// Where something was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WarningPlace {
    /// In which part.
    #[serde(rename = "in")]
    pub within: WarningSource,
    /// The name of the header field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The line of the file or of the HTML, or the number of the field's line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column of the HTML, from 1 in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The number of the member in the field's line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<usize>,
}

impl WarningPlace {
    fn within(within: WarningSource) -> Self {
        Self { within, field: None, line: None, column: None, member: None }
    }
}

impl Warning {
    /// How many are reported at most: a file or a field can have very many of a kind.
    pub const MOST: usize = 20;

    /// Everything that was lost for a decision.
    pub(super) fn all(
        Question { file, crawler, page, .. }: Question<'_>,
        selection: Option<&Selection>,
        usage: Option<&Usage>,
    ) -> Vec<Self> {
        // Nearly always there is nothing, and nothing is done for it.
        let of_file = file.robots_txt().into_iter().flat_map(|robots| {
            let of_token = first_not_run(robots, crawler, selection);
            let of_token = of_token.map(|regex| Self::of_token(robots, crawler, regex));
            Self::of_cut(robots).into_iter().chain(of_token)
        });
        let of_usage =
            usage.map(Usage::unreadable).unwrap_or_default().iter().copied().map(Self::of_usage);
        let of_page = page.map(PageRules::losses).unwrap_or_default().iter().map(Self::of_loss);
        of_file.chain(of_usage).chain(of_page).take(Self::MOST).collect()
    }

    /// All that was lost of a page.
    pub(super) fn of_page(page: &PageRules) -> Vec<Self> {
        page.losses().iter().map(Self::of_loss).take(Self::MOST).collect()
    }

    fn of_cut(robots: &RobotsTxt<'_>) -> Option<Self> {
        let cut = robots.cut()?;
        let line = span::line_at(robots.text(), robots.text().len() as u32);
        let message = format!(
            "the file has more than {} octets; the rest was not read, and rules in it have no effect (REP-24)",
            cut.read_octets
        );
        let place = WarningPlace {
            line: Some(line.number() as usize),
            ..WarningPlace::within(WarningSource::RobotsTxt)
        };
        Some(Self { code: WarningCode::FileCut, message, place })
    }

    fn of_token(robots: &RobotsTxt<'_>, crawler: &Crawler, regex: Record) -> Self {
        let message = format!(
            "the product token has {} octets, but regular expressions are matched with at most \
             {LONGEST_TOKEN}: no group with a regular expression was chosen for it (AIA-3)",
            crawler.product_token().as_str().len()
        );
        let line = Some(robots.line_of(regex).number() as usize);
        let place = WarningPlace { line, ..WarningPlace::within(WarningSource::RobotsTxt) };
        Self { code: WarningCode::TokenTooLong, message, place }
    }

    fn of_usage(usage: UnreadableUsage) -> Self {
        let code = WarningCode::UnreadableContentUsage;
        let Some(line) = usage.line else {
            let message = "the field Content-Usage is not a Dictionary of RFC 9651: its preferences are \
                           unknown (USE-5)";
            let place = WarningPlace {
                field: Some("Content-Usage".to_owned()),
                ..WarningPlace::within(WarningSource::Header)
            };
            return Self { code, message: message.to_owned(), place };
        };
        let what =
            if usage.is_missing { "has no Dictionary" } else { "is not a Dictionary of RFC 9651" };
        let message = format!(
            "a Content-Usage line {what}: its preferences are unknown, and no rule with a shorter path is \
             used instead (USE-3)"
        );
        let place = WarningPlace {
            line: Some(line.number() as usize),
            ..WarningPlace::within(WarningSource::RobotsTxt)
        };
        Self { code, message, place }
    }

    fn of_loss(loss: &Loss) -> Self {
        let place = match &loss.found {
            FoundAt::Field { name, line, member } => WarningPlace {
                field: Some(name.clone()),
                line: Some(*line),
                member: Some(*member),
                ..WarningPlace::within(WarningSource::Header)
            },
            FoundAt::Meta { line, column } => WarningPlace {
                line: Some(*line as usize),
                column: Some(*column),
                ..WarningPlace::within(WarningSource::Html)
            },
        };
        let field = place.field.as_deref().unwrap_or_default();
        let (code, message) = match loss.kind {
            LossKind::FieldCut => (
                WarningCode::FieldCut,
                format!(
                    "the field {field} is longer than its limit: this member and the rest were not read (TAG-6)"
                ),
            ),
            LossKind::UnreadableMember => (
                WarningCode::UnreadableField,
                format!("a member of the field {field} can't be read, and was ignored (TAG-2)"),
            ),
            LossKind::HtmlCut => (
                WarningCode::HtmlCut,
                "the head of the HTML does not end within its limit: the rest was not read (TAG-8)"
                    .to_owned(),
            ),
        };
        Self { code, message, place }
    }
}

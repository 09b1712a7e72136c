//! What a decision could not take into account, as JSON: a file or a field that was cut at its limit,
//! and what could not be read. A decision always lists these warnings, if there are any. Only the
//! explanation says why lines were read as they were.

use serde::Serialize;

use super::Question;
use crate::crawler::Crawler;
use crate::page::{FoundAt, Loss, LossKind, PageRules};
use crate::regexes::LONGEST_TOKEN;
use crate::robots_txt::{Record, RobotsTxt};
use crate::selection::{Selection, first_not_run};
use crate::span;
use crate::uses::{UnreadableUsage, Usage};

/// Something that was not read, or could not be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Warning {
    /// `file-cut`, `token-too-long`, `field-cut`, `html-cut`, `unreadable-field` or `unreadable-content-usage`.
    pub code: &'static str,
    /// What was lost, and what that means.
    pub message: String,
    /// Where.
    pub place: WarningPlace,
}

/// Where something was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WarningPlace {
    /// `robots.txt`, `header` or `html`.
    #[serde(rename = "in")]
    pub within: &'static str,
    /// The name of the header field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The line of the file or of the HTML, or the number of the field's line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column of the HTML, from 1 in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The number of the member in the field's line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<usize>,
}

impl WarningPlace {
    fn within(within: &'static str) -> Self {
        Self { within, field: None, line: None, column: None, member: None }
    }
}

impl Warning {
    /// How many are reported at most: a file or a field can have very many of a kind.
    pub const MOST: usize = 20;

    /// All that was lost on the way to a decision.
    pub(super) fn all(
        Question { robots, crawler, page, .. }: Question<'_>,
        selection: Option<&Selection>,
        usage: Option<&Usage>,
    ) -> Vec<Self> {
        // Nearly always there is nothing, and nothing is done for it.
        let of_token = first_not_run(robots, crawler, selection);
        let of_token = of_token.map(|regex| Self::of_token(robots, crawler, regex));
        let of_file = Self::of_cut(robots).into_iter().chain(of_token);
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
        let place =
            WarningPlace { line: Some(line.number() as usize), ..WarningPlace::within("robots.txt") };
        Some(Self { code: "file-cut", message, place })
    }

    fn of_token(robots: &RobotsTxt<'_>, crawler: &Crawler, regex: Record) -> Self {
        let message = format!(
            "the product token has {} octets, but regular expressions are matched with at most \
             {LONGEST_TOKEN}: no group with a regular expression was chosen for it (AIA-3)",
            crawler.product_token().as_str().len()
        );
        let line = Some(robots.line_of(regex).number() as usize);
        let place = WarningPlace { line, ..WarningPlace::within("robots.txt") };
        Self { code: "token-too-long", message, place }
    }

    fn of_usage(usage: UnreadableUsage) -> Self {
        let code = "unreadable-content-usage";
        let Some(line) = usage.line else {
            let message = "the field Content-Usage is not a Dictionary of RFC 9651: its preferences are \
                           unknown (USE-5)";
            let place = WarningPlace {
                field: Some("Content-Usage".to_owned()),
                ..WarningPlace::within("header")
            };
            return Self { code, message: message.to_owned(), place };
        };
        let what =
            if usage.is_missing { "has no Dictionary" } else { "is not a Dictionary of RFC 9651" };
        let message = format!(
            "a Content-Usage line {what}: its preferences are unknown, and no rule with a shorter path is \
             used instead (USE-3)"
        );
        let place =
            WarningPlace { line: Some(line.number() as usize), ..WarningPlace::within("robots.txt") };
        Self { code, message, place }
    }

    fn of_loss(loss: &Loss) -> Self {
        let place = match &loss.found {
            FoundAt::Field { name, line, member } => WarningPlace {
                field: Some(name.clone()),
                line: Some(*line),
                member: Some(*member),
                ..WarningPlace::within("header")
            },
            FoundAt::Meta { line, column } => WarningPlace {
                line: Some(*line as usize),
                column: Some(*column),
                ..WarningPlace::within("html")
            },
        };
        let field = place.field.as_deref().unwrap_or_default();
        let (code, message) = match loss.kind {
            LossKind::FieldCut => (
                "field-cut",
                format!(
                    "the field {field} is longer than its limit: this member and the rest were not read (TAG-6)"
                ),
            ),
            LossKind::UnreadableMember => (
                "unreadable-field",
                format!("a member of the field {field} can't be read, and was ignored (TAG-2)"),
            ),
            LossKind::HtmlCut => (
                "html-cut",
                "the head of the HTML does not end within its limit: the rest was not read (TAG-8)"
                    .to_owned(),
            ),
        };
        Self { code, message, place }
    }
}

//! Why a file is not edited.

use std::fmt;

use super::MOST_GOALS;

/// Why a file is not edited.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unedited {
    /// It is, or would be, larger than what every crawler reads (REP-24).
    TooLarge,
    /// It is not UTF-8 text, so that some crawlers read other lines than others (REP-14).
    Encoding,
    /// There are more than [`MOST_GOALS`].
    TooManyGoals,
    /// A line has a group-start line and a rule (AIA-5), and only one of them would have to be removed.
    TwoOnOneLine {
        /// The line.
        line: u32,
    },
    /// A rule decides about a part of the path, and about more than the path: it can't be removed, and it
    /// wins over the new one.
    RuleInTheWay {
        /// The line of the rule.
        line: u32,
        /// The rule as it is written.
        rule: String,
        /// The path of the goal.
        path: String,
    },
    /// A statement says something else about a part of the site, or can't be read.
    StatementInTheWay {
        /// The line of the statement.
        line: u32,
        /// The statement as it is written.
        statement: String,
    },
    /// There is a group for the purpose, and its rules allow something.
    PurposeInTheWay {
        /// The line that names the purpose.
        line: u32,
        /// The purpose.
        purpose: String,
    },
    /// The edit would change something for a crawler that the goal does not name.
    WouldChangeOthers {
        /// The crawler.
        crawler: String,
    },
    /// It can't be shown that the goal would be reached for a crawler.
    Unproved {
        /// The crawler.
        crawler: String,
    },
    /// The check would take more work than a file of this size may take.
    TooCostly,
}

impl fmt::Display for Unedited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => {
                f.write_str("the file is larger than 500 KiB, or would be: crawlers need not read more")
            }
            Self::Encoding => f.write_str("the file is not UTF-8 text: save it as UTF-8 first"),
            Self::TooManyGoals => {
                write!(
                    f,
                    "there are more than {MOST_GOALS} requested changes: make the edit in several \
                     steps"
                )
            }
            Self::TwoOnOneLine { line } => write!(
                f,
                "line {line} has a User-agent and a rule on one line, and only one of them should change: write them on two lines first"
            ),
            Self::RuleInTheWay { line, rule, path } => write!(
                f,
                "line {line} (`{rule}`) decides about URLs in {path} and about others too: change this line by hand, or choose another path"
            ),
            Self::StatementInTheWay { line, statement } => write!(
                f,
                "line {line} (`{statement}`) is an exception for a part of the site, or can't be read: change this line by hand first"
            ),
            Self::PurposeInTheWay { line, purpose } => write!(
                f,
                "line {line} starts a group for {purpose} that allows something: change this group by hand"
            ),
            Self::WouldChangeOthers { crawler } => write!(
                f,
                "the edit would change something for {crawler}, which was not named: change the file by hand"
            ),
            Self::Unproved { crawler } => write!(
                f,
                "it can't be proved that the edit does what you ask for {crawler}: change the file by \
                 hand"
            ),
            Self::TooCostly => f.write_str(
                "the file has too many groups or regular expressions for an edit: change it by hand",
            ),
        }
    }
}

impl std::error::Error for Unedited {}

impl Unedited {
    /// The line that is in the way, if it is one.
    pub const fn line(&self) -> Option<u32> {
        match self {
            Self::TwoOnOneLine { line }
            | Self::RuleInTheWay { line, .. }
            | Self::StatementInTheWay { line, .. }
            | Self::PurposeInTheWay { line, .. } => Some(*line),
            _ => None,
        }
    }

    /// A name for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge => "too-large",
            Self::Encoding => "encoding",
            Self::TooManyGoals => "too-many-wishes",
            Self::TwoOnOneLine { .. } => "two-on-one-line",
            Self::RuleInTheWay { .. } => "rule-in-the-way",
            Self::StatementInTheWay { .. } => "statement-in-the-way",
            Self::PurposeInTheWay { .. } => "purpose-in-the-way",
            Self::WouldChangeOthers { .. } => "would-change-others",
            Self::Unproved { .. } => "unproved",
            Self::TooCostly => "too-costly",
        }
    }
}

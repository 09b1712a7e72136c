//! An edit as JSON: the new file, the result of each goal, and what the change means.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Goal, Granted, Unedited, budget, edit_within, with_work};
use crate::meaning::{Diff, diff_within};
use crate::robots_txt::{ReadOptions, RobotsTxt};

/// An edit, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EditReport {
    /// Whether the file was changed.
    pub changed: bool,
    /// The file after the edit. None if it was refused.
    pub robots: Option<String>,
    /// The result of each goal, in order. In JSON the member is still called `wishes`.
    #[serde(rename = "wishes")]
    pub goals: Vec<Granted>,
    /// What the change means for crawlers. None if it was refused.
    pub diff: Option<Diff>,
    /// Why there is no edit.
    pub refused: Option<Refusal>,
}

/// Why a file is not edited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Refusal {
    /// A name for programs.
    pub code: Cow<'static, str>,
    /// The same in words.
    pub message: String,
    /// The line that is in the way, if it is one.
    pub line: Option<u32>,
}

/// Edits a file, and says all about it.
///
/// ```
/// use mayi::ReadOptions;
/// use mayi::edit::{Goal, report};
/// use mayi::registry::Registry;
///
/// let goal = Goal::allow(&["ExampleBot"], "/a/", &Registry::built_in())?;
/// let said = report(b"User-agent: ExampleBot\nDisallow: /a/b\n", &[goal], &ReadOptions::default());
/// assert_eq!(said.robots.as_deref(), Some("User-agent: ExampleBot\nAllow: /a/\n"));
/// assert_eq!(said.goals[0].changed, ["ExampleBot"]);
/// # Ok::<(), mayi::edit::InvalidGoal>(())
/// ```
pub fn report(octets: &[u8], goals: &[Goal], options: &ReadOptions) -> EditReport {
    let work = budget(octets, options);
    let edited = edit_within(octets, goals, options, &work);
    match edited.and_then(|edited| Ok((text_of(&edited.octets)?, edited.granted))) {
        Ok((robots, goals)) => {
            let (old, new) =
                (RobotsTxt::read(octets, options), RobotsTxt::read(robots.as_bytes(), options));
            // What is left is for this. It is at least what a small file gets.
            let rest = work.left().max(options.work_for(0).left());
            let diff = diff_within(&old, &new, &with_work(options, rest));
            let changed = robots.as_bytes() != octets;
            EditReport { changed, goals, diff: Some(diff), refused: None, robots: Some(robots) }
        }
        Err(why) => {
            let refusal =
                Refusal { code: why.code().into(), message: why.to_string(), line: why.line() };
            let refused = Some(refusal);
            EditReport { changed: false, robots: None, goals: Vec::new(), diff: None, refused }
        }
    }
}

fn text_of(octets: &[u8]) -> Result<String, Unedited> {
    String::from_utf8(octets.to_vec()).map_err(|_| Unedited::Encoding)
}

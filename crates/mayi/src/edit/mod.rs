//! Goals of a site's owner → the smallest edit of a file that reaches them and changes nothing else.
//!
//! An edit adds, changes and removes whole lines: `access` for goals about who may fetch what, `statement` for what a file
//! says to everybody besides rules.
//!
//! Every edit is checked before it is returned: the named crawlers get what the goal says for every URL, and the
//! rules and records of all others do not change. If this can't be shown, nothing is edited: [`Unedited`]
//! says why, and which line is in the way. Files are read in the default dialect.

mod access;
mod adapted;
mod change;
mod error;
mod goal;
mod new_file;
mod report;
mod statement;

use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;
use crate::limits::Limits;
use crate::robots_txt::{ReadOptions, RobotsTxt};
use crate::work::Work;

pub use error::Unedited;
pub use goal::{AccessGoal, Carrier, Goal, GoalInput, InvalidGoal, Preferences};
pub use new_file::{InvalidFile, NewFile};
pub use report::{EditReport, Refusal, report};

/// The maximum number of goals for one edit. Each is a few passes over the file.
pub const MOST_GOALS: usize = 32;

/// Edits a file for one goal after the other: of two that contradict each other, the later one counts.
///
/// # Errors
///
/// If a line is in the way, or if it can't be shown that the edit does what was asked and nothing else.
///
/// ```
/// use mayi::edit::{Goal, edit};
/// use mayi::{Crawler, ReadOptions, RobotsTxt, Target};
/// use mayi::registry::Registry;
///
/// let file = b"User-agent: *\nDisallow: /cart/\n";
/// let goal = Goal::refuse(&["ExampleBot"], "/drafts/", &Registry::built_in())?;
/// let edited = edit(file, &[goal], &ReadOptions::default())?;
/// assert_eq!(
///     edited.octets,
///     b"User-agent: *\nDisallow: /cart/\n\nUser-agent: ExampleBot\nDisallow: /cart/\nDisallow: /drafts/\n",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn edit(octets: &[u8], goals: &[Goal], options: &ReadOptions) -> Result<Edited, Unedited> {
    edit_within(octets, goals, options, &budget(octets, options))
}

/// What an edit may cost, all of its goals together. A file of some hundred names is compared twice for each of them
/// and for every known crawler: that is as much as an answer about this many octets more may cost.
fn budget(octets: &[u8], options: &ReadOptions) -> Work {
    const FOR_KNOWN_CRAWLERS: usize = 200_000;
    options.work_for(octets.len() + FOR_KNOWN_CRAWLERS)
}

/// The same with one budget for all goals, and for what comes after.
fn edit_within(
    octets: &[u8],
    goals: &[Goal],
    options: &ReadOptions,
    work: &Work,
) -> Result<Edited, Unedited> {
    if goals.len() > MOST_GOALS {
        return Err(Unedited::TooManyGoals);
    }
    let options = options.clone().with_dialect(Dialect::default());
    let mark = if octets.starts_with(MARK) { MARK } else { b"" };
    let mut text = octets[mark.len()..].to_vec();
    let mut granted = Vec::new();
    for goal in goals {
        let (after, of_goal) = match goal {
            Goal::Access(goal) => access::grant(&text, goal, &options, work)?,
            _ => statement::grant(&text, goal, &options, work)?,
        };
        text = after;
        granted.push(of_goal);
    }
    if text.len() > Limits::LEAST_FILE_OCTETS {
        return Err(Unedited::TooLarge);
    }
    let octets = if mark.is_empty() { text } else { [mark, &text].concat() };
    Ok(Edited { octets, granted })
}

/// A byte order mark in UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// A file after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edited {
    /// The file.
    pub octets: Vec<u8>,
    /// The result of each goal.
    pub granted: Vec<Granted>,
}

/// What became of a goal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Granted {
    /// The crawlers for which something was changed; `*` for everybody.
    pub changed: Vec<String>,
    /// The crawlers for which it was already true.
    pub already: Vec<String>,
    /// Crawlers that use the groups of another crawler, which the goal is about. They got a group of their own with the
    /// rules that they had, so that nothing changes for them.
    pub kept: Vec<String>,
}

/// Takes units of work for the next step, or ends the edit.
fn pay(work: &Work, units: usize) -> Result<(), Unedited> {
    if work.spend(units, "edit") { Ok(()) } else { Err(Unedited::TooCostly) }
}

/// Options with which an answer costs no more than this.
fn with_work(options: &ReadOptions, units: u64) -> ReadOptions {
    options.clone().with_limits(options.limits().with_work(units))
}

fn read<'t>(text: &'t [u8], options: &ReadOptions, work: &Work) -> Result<RobotsTxt<'t>, Unedited> {
    pay(work, text.len() / 4)?;
    let robots = RobotsTxt::read(text, options);
    if robots.cut().is_some() {
        return Err(Unedited::TooLarge);
    }
    if robots.text() != text || std::str::from_utf8(text).is_err() {
        return Err(Unedited::Encoding);
    }
    Ok(robots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    fn granted(file: &str, say: &str, who: &[&str], path: &str) -> Result<String, Unedited> {
        let registry = Registry::built_in();
        let goal = match say {
            "refuse" => Goal::refuse(who, path, &registry),
            _ => Goal::allow(who, path, &registry),
        };
        let edited = edit(file.as_bytes(), &[goal.expect("a goal")], &ReadOptions::default())?;
        Ok(String::from_utf8(edited.octets).expect("text"))
    }

    #[track_caller]
    fn check(file: &str, say: &str, who: &[&str], path: &str, expected: &str) {
        let edited = granted(file, say, who, path).expect("it can be edited");
        assert_eq!(edited, expected, "{say} {who:?} {path} in {file:?}");
    }

    #[test]
    fn a_crawler_without_a_group_gets_one_with_what_it_has() {
        check("", "refuse", &["A"], "/", "User-agent: A\nDisallow: /\n");
        check(
            "User-agent: *\r\nDisallow: /x\r\nCrawl-delay: 2\r\nSitemap: https://h/s\r\n",
            "refuse",
            &["A", "B"],
            "/p/",
            "User-agent: *\r\nDisallow: /x\r\nCrawl-delay: 2\r\nSitemap: https://h/s\r\n\r\n\
             User-agent: A\r\nUser-agent: B\r\nDisallow: /x\r\nCrawl-delay: 2\r\nDisallow: /p/\r\n",
        );
        // All of the site needs none of the other lines.
        check(
            "User-agent: *\nDisallow: /x",
            "refuse",
            &["A"],
            "/",
            "User-agent: *\nDisallow: /x\n\nUser-agent: A\nDisallow: /\n",
        );
    }

    /// `Allow: /` says something where `Disallow: /` is beside it: it wins over it (REP-8).
    #[test]
    fn who_falls_back_to_a_refused_crawler_keeps_an_allow_that_wins() {
        let edited = granted("User-agent: *\nDisallow: /\nAllow: /\n", "refuse", &["Googlebot"], "/");
        let edited = edited.expect("it can be edited");
        let robots = RobotsTxt::parse(edited.as_bytes());
        let target = crate::Target::parse("https://example.com/").expect("a URL");
        let may = |token: &str| {
            robots.decide(&crate::Crawler::new(token).expect("a token"), &target).is_allowed()
        };
        assert_eq!((may("Googlebot"), may("Applebot")), (false, true), "{edited}");
    }

    #[test]
    fn a_crawler_with_a_group_of_its_own_gets_a_rule_there() {
        check(
            "User-agent: A\nDisallow: /x\n\nUser-agent: *\nDisallow:\n",
            "refuse",
            &["a"],
            "/p/",
            "User-agent: A\nDisallow: /x\nDisallow: /p/\n\nUser-agent: *\nDisallow:\n",
        );
        check(
            "User-agent: A\nAllow: /x\nAllow: /y # why\nDisallow: /z\n",
            "refuse",
            &["A"],
            "/",
            "User-agent: A\nDisallow: /\nDisallow: /z\n",
        );
        check("User-agent: A\nDisallow: /\n", "allow", &["A"], "/", "User-agent: A\nAllow: /\n");
        check(
            "User-agent: A\nDisallow: /\nCrawl-delay: 1\n",
            "allow",
            &["A"],
            "/press/",
            "User-agent: A\nDisallow: /\nAllow: /press/\nCrawl-delay: 1\n",
        );
    }

    #[test]
    fn a_crawler_that_shares_a_group_gets_a_second_one_or_leaves() {
        let shared = "User-agent: A\nUser-agent: B\nDisallow: /x\nAllow: /x/y\n";
        check(shared, "refuse", &["A"], "/p/", &format!("{shared}\nUser-agent: A\nDisallow: /p/\n"));
        check(
            shared,
            "refuse",
            &["A"],
            "/x/",
            "User-agent: B\nDisallow: /x\nAllow: /x/y\n\nUser-agent: A\nDisallow: /x\n",
        );
        check(shared, "refuse", &["A", "B"], "/p/", &shared.replace("/x/y\n", "/x/y\nDisallow: /p/\n"));
    }

    #[test]
    fn a_group_that_says_the_same_is_joined() {
        check(
            "User-agent: *\nDisallow: /x\n\nUser-agent: A\nDisallow: /\n",
            "refuse",
            &["B"],
            "/",
            "User-agent: *\nDisallow: /x\n\nUser-agent: A\nUser-agent: B\nDisallow: /\n",
        );
    }

    #[test]
    fn what_is_so_already_is_left_alone() {
        for (file, say, path) in [
            ("User-agent: *\nDisallow: /\n", "refuse", "/p/"),
            ("User-agent: *\nDisallow: /p\n", "refuse", "/p/"),
            ("User-agent: *\nDisallow: /x\n", "allow", "/p/"),
            ("", "allow", "/"),
        ] {
            check(file, say, &["A"], path, file);
        }
    }

    #[test]
    fn a_crawler_that_falls_back_to_a_named_one_keeps_what_it_has() {
        let file = "User-agent: *\nDisallow: /x\n";
        let edited = granted(file, "refuse", &["Googlebot"], "/").expect("it can be edited");
        assert!(edited.ends_with("\nDisallow: /x\n\nUser-agent: Googlebot\nDisallow: /\n"), "{edited}");
        let names = edited.split_once("\nDisallow: /x").expect("a rule").0;
        assert!(names.contains("User-agent: *\n") && names.contains("\nUser-agent: Googlebot-Image\n"));
    }

    #[test]
    fn group_start_lines_at_the_end_are_not_joined() {
        check(
            "User-agent: *\nDisallow: /x\n\nUser-agent: Z\n",
            "refuse",
            &["A"],
            "/",
            "User-agent: *\nDisallow: /x\n\nUser-agent: A\nDisallow: /\n\nUser-agent: Z\n",
        );
    }

    #[test]
    fn everybody_is_every_group_and_those_without_one() {
        check(
            "User-agent: A\nDisallow: /x\n",
            "refuse",
            &["*"],
            "/p/",
            "User-agent: A\nDisallow: /x\nDisallow: /p/\n\nUser-agent: *\nDisallow: /p/\n",
        );
        check("User-agent: *\nDisallow: /p/x\n", "allow", &["*"], "/p/", "User-agent: *\nAllow: /p/\n");
    }

    #[test]
    fn what_is_not_understood_is_not_touched() {
        let refused =
            |file: &str, say: &str, path: &str| granted(file, say, &["A"], path).expect_err("no");
        let why = refused("User-agent: A\nAllow: /*.html$\n", "refuse", "/p/");
        assert_eq!(why.line(), Some(2));
        assert_eq!(why.code(), "rule-in-the-way");
        let why = refused("User-agent: A Allow: /p/x\n", "refuse", "/p/");
        assert_eq!(why, Unedited::TwoOnOneLine { line: 1 });
        let why = granted("User-agent: A\nDisallow: /\u{0}\n", "refuse", &["A"], "/p/");
        assert!(why.is_ok(), "control characters are text");
        let utf16 = edit(b"\xFF\xFEU\0", &[], &ReadOptions::default());
        assert!(utf16.is_ok(), "no goal, no reading");
        let goal = Goal::refuse(&["A"], "/", &Registry::built_in()).expect("a goal");
        let utf16 = edit(b"\xFF\xFEU\0", std::slice::from_ref(&goal), &ReadOptions::default());
        assert_eq!(utf16, Err(Unedited::Encoding));
        let large = b"Disallow: /abcdefgh\n".repeat(30_000);
        assert_eq!(edit(&large, &[goal], &ReadOptions::default()), Err(Unedited::TooLarge));
    }
}

//! The bodies of the laws: plain functions that take an input and assert.
//!
//! Two doors lead to them. `tests/laws.rs` calls them with what proptest generates, on every test
//! run; the targets in `fuzz/` call them with what libFuzzer finds, through [`doors`]. The bodies know
//! the public interface of the library and nothing of either door, and what they compare it with is
//! written a second time from the clauses.

pub(crate) mod access;
pub(crate) mod decide;
pub(crate) mod doors;
pub(crate) mod edit;
pub(crate) mod extensions;
pub(crate) mod format;
pub(crate) mod google;
pub(crate) mod json;
pub(crate) mod lint;
pub(crate) mod matcher;
pub(crate) mod meaning;
pub(crate) mod overview;
pub(crate) mod page;
pub(crate) mod text;
pub(crate) mod url;
pub(crate) mod uses;

use std::fmt;

use mayi::{Crawler, Dialect, ReadOptions, RobotsTxt, Target};

/// One question: a file, who asks, and what about.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) robots: Vec<u8>,
    pub(crate) agent: String,
    pub(crate) url: String,
}

impl Question {
    /// The crawler and the target, or nothing where the caller would be told that they are wrong. What
    /// a registry says of crawlers that happen to have this name does not count (WILD-6).
    pub(crate) fn asked(&self) -> Option<(Crawler, Target<'_>)> {
        let crawler = Crawler::new(&self.agent).ok()?.ignoring_global(false);
        Some((crawler, Target::parse(&self.url).ok()?))
    }
}

/// As it would be written in a test.
impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { robots, agent, url } = self;
        write!(f, "b\"{}\" asked by {agent:?} about {url:?}", robots.escape_ascii())
    }
}

/// Reads a file in a dialect.
pub(crate) fn read<'t>(octets: &'t [u8], dialect: &Dialect) -> RobotsTxt<'t> {
    RobotsTxt::read(octets, &ReadOptions::default().with_dialect(dialect.clone()))
}

/// A text as a file that is read as exactly this text, in every dialect: a byte order mark stands
/// before it, so that an octet which looks like a part of one is not taken for it.
pub(crate) fn file_of(text: &[u8]) -> Vec<u8> {
    [b"\xEF\xBB\xBF", text].concat()
}

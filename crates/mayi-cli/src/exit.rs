//! How the command ends.

use std::fmt;
use std::io;

use mayi::Reason;

use crate::text::shown;

/// How a command ended, from the best to the worst: of several questions, the worst counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Everything is allowed, or the work is done.
    Allowed,
    /// No rule forbids anything, but a site's robots.txt can't be reached, so nothing may be fetched there.
    Unreachable,
    /// Something is not allowed.
    Disallowed,
    /// There is no answer to at least one question.
    NoAnswer,
}

impl Exit {
    /// The exit for a decision with this reason.
    pub(crate) fn of(is_allowed: bool, reason: Reason) -> Self {
        match (is_allowed, reason) {
            (true, _) => Self::Allowed,
            (false, Reason::Unreachable) => Self::Unreachable,
            (false, _) => Self::Disallowed,
        }
    }

    /// The exit status of the process.
    pub(crate) fn status(self) -> u8 {
        match self {
            Self::Allowed => 0,
            Self::Disallowed => 1,
            Self::NoAnswer => 2,
            Self::Unreachable => 3,
        }
    }
}

/// Why the command could not go on.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Standard output was closed: its reader has seen enough.
    BrokenPipe,
    /// What to tell the caller.
    Message(String),
}

impl Failure {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self::Message(message.to_string())
    }
}

/// The exit status of a command that ended in this way. The error is printed on standard error.
pub(crate) fn status_of(ended: Result<Exit, Failure>) -> u8 {
    let exit = match ended {
        Ok(exit) => exit,
        Err(Failure::BrokenPipe) => Exit::Allowed, // the reader has seen enough
        Err(Failure::Message(message)) => {
            // A message may quote a file, so control characters are escaped for the terminal.
            let lines: Vec<_> = message.lines().map(|line| shown(line.as_bytes())).collect();
            anstream::eprintln!("mayi: {}", lines.join("\n"));
            Exit::NoAnswer
        }
    };
    exit.status()
}

/// An error while writing an answer.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::BrokenPipe;
        }
        Self::Message(format!("the answer could not be written: {error}"))
    }
}

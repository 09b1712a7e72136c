//! How the command ends.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// The exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Exit {
    /// All is allowed, or all is done.
    Allowed = 0,
    /// Something is not allowed.
    Disallowed = 1,
    /// There is no answer, to at least one question.
    NoAnswer = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why the command could not go on.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody reads standard output any more.
    BrokenPipe,
    /// What to tell the caller.
    Message(String),
}

impl Failure {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self::Message(message.to_string())
    }
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

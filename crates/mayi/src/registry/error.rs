//! What is wrong with a registry file.

use std::error::Error;
use std::fmt;

/// One thing that is wrong, where, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryError {
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) message: String,
}

impl RegistryError {
    /// The file, as the caller called it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// What is wrong and what would be right.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl Error for RegistryError {}

/// What is wrong with a file, in the order of its lines. No more than a hundred errors are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryErrors {
    pub(super) listed: Vec<RegistryError>,
    pub(super) left_out: usize,
}

impl RegistryErrors {
    /// Each of those that are listed; there is at least one.
    pub fn iter(&self) -> impl Iterator<Item = &RegistryError> {
        self.listed.iter()
    }

    /// How many more there are.
    pub fn left_out(&self) -> usize {
        self.left_out
    }
}

impl fmt::Display for RegistryErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, error) in self.listed.iter().enumerate() {
            if place > 0 {
                writeln!(f)?;
            }
            error.fmt(f)?;
        }
        match self.left_out {
            0 => Ok(()),
            1 => f.write_str("\n1 more error is not listed"),
            more => write!(f, "\n{more} more errors are not listed"),
        }
    }
}

impl Error for RegistryErrors {}

//! The access method as pure logic: where the file is, the result of the request for it, and how long
//! that result may be used (REP-18 to REP-21, REP-23).
//!
//! No socket and no clock: a fetcher does the next step of [`Attempt`] and passes it the result; the
//! time is an argument.
//!
//! ```
//! use mayi::access::{AccessResult, Attempt, Origin, Step};
//!
//! let origin = Origin::of_url("https://Example.com:443/a/b")?;
//! assert_eq!(origin.robots_url(), "https://example.com/robots.txt");
//!
//! let mut attempt = Attempt::new(&origin);
//! assert_eq!(attempt.url(), "https://example.com/robots.txt");
//! let step = attempt.answered(301, Some("https://www.example.com/robots.txt"));
//! assert_eq!(step, Step::Get("https://www.example.com/robots.txt".to_owned()));
//! assert_eq!(attempt.answered(200, None), Step::Done(AccessResult::Successful));
//! # Ok::<(), mayi::InvalidUrl>(())
//! ```

mod attempt;
mod freshness;
mod keeping;
mod origin;
mod site_file;

pub use attempt::{Attempt, AttemptOptions, Step};
#[cfg(feature = "page")]
pub(crate) use freshness::lifetime_from_date;
pub use freshness::{
    MOST_FRESH, Validators, explicit_fresh_for, fresh_for, retry_after, stale_while_revalidate,
};
pub use keeping::{AfterUnreachable, InForce, Keeping, Outcome};
pub use origin::Origin;
pub(crate) use site_file::View;
pub use site_file::{NoFile, SiteFile};

use std::fmt;

use crate::decision::Reason;

/// The result of the request for a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AccessResult {
    /// There is a file, and its rules apply.
    Successful,
    /// There is no file for this client: everything is allowed (REP-20).
    Unavailable(Unavailable),
    /// It is not known: everything is disallowed (REP-21).
    Unreachable(Unreachable),
}

/// Why there is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unavailable {
    /// A status from 400 to 499.
    Status(u16),
    /// More redirects in a row than are followed (REP-19).
    TooManyRedirects,
    /// A redirect to a URL that was requested before.
    RedirectLoop,
    /// A redirect to something that is not http or https.
    RedirectElsewhere,
    /// Unreachable for so long that it counts as unavailable, by option (REP-21).
    UnreachableForLong,
}

/// Why it is not known whether there is a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unreachable {
    /// A status from 500 to 599, or one with no meaning here.
    Status(u16),
    /// The network or the server gave no complete response.
    Network(Box<str>),
}

impl AccessResult {
    /// The access result of a final status: not a redirect that is still to be followed.
    ///
    /// ```
    /// use mayi::access::AccessResult;
    ///
    /// assert_eq!(AccessResult::of_status(204), AccessResult::Successful);
    /// assert!(matches!(AccessResult::of_status(404), AccessResult::Unavailable(_)));
    /// assert!(matches!(AccessResult::of_status(503), AccessResult::Unreachable(_)));
    /// ```
    pub fn of_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Successful,
            400..=499 => Self::Unavailable(Unavailable::Status(status)),
            _ => Self::Unreachable(Unreachable::Status(status)),
        }
    }

    /// The access result of a fetch that ended in an error, by its name or message:
    /// `too-many-redirects` and `redirect-loop` are unavailable, everything else is unreachable.
    pub fn of_error(error: &str) -> Self {
        match error {
            "too-many-redirects" => Self::Unavailable(Unavailable::TooManyRedirects),
            "redirect-loop" => Self::Unavailable(Unavailable::RedirectLoop),
            _ => Self::Unreachable(Unreachable::Network(error.into())),
        }
    }

    /// The reason of all decisions, except for robots.txt itself, if there is no file.
    pub(crate) fn reason(&self) -> Option<Reason> {
        match self {
            Self::Successful => None,
            Self::Unavailable(_) => Some(Reason::Unavailable),
            Self::Unreachable(_) => Some(Reason::Unreachable),
        }
    }

    /// `successful`, `unavailable` or `unreachable`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Successful => "successful",
            Self::Unavailable(_) => "unavailable",
            Self::Unreachable(_) => "unreachable",
        }
    }
}

impl fmt::Display for AccessResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Successful => Ok(()),
            Self::Unavailable(Unavailable::Status(status))
            | Self::Unreachable(Unreachable::Status(status)) => write!(f, ": status {status}"),
            Self::Unavailable(Unavailable::TooManyRedirects) => f.write_str(": too many redirects"),
            Self::Unavailable(Unavailable::RedirectLoop) => f.write_str(": a loop of redirects"),
            Self::Unavailable(Unavailable::RedirectElsewhere) => {
                f.write_str(": a redirect to a scheme other than http and https")
            }
            Self::Unavailable(Unavailable::UnreachableForLong) => {
                f.write_str(": unreachable for longer than the time limit")
            }
            Self::Unreachable(Unreachable::Network(error)) => write!(f, ": {}", error.escape_debug()),
        }
    }
}

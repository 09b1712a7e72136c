//! The cached copy, the result of the last attempt, and the time → the rules that apply (REP-20,
//! REP-21).

use std::time::{Duration, SystemTime};

use super::freshness::MOST_FRESH;

/// How long cached answers apply.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use mayi::access::{InForce, Keeping, Outcome};
///
/// let then = SystemTime::UNIX_EPOCH;
/// let now = then + Duration::from_hours(48);
/// let down = Outcome::Unreachable { since: then };
/// assert_eq!(Keeping::default().in_force(&down, Some(then), now), InForce::Copy);
/// assert_eq!(Keeping::default().in_force(&down, None, now), InForce::DisallowAll);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keeping {
    /// Whether a copy that is at most 24 hours old is used while the file is unavailable (REP-20).
    pub unavailable_uses_copy: bool,
    /// How long a file may be unreachable before [`after_unreachable`](Self::after_unreachable) applies
    /// (REP-21).
    pub unreachable_for: Duration,
    /// What applies then.
    pub after_unreachable: AfterUnreachable,
}

impl Default for Keeping {
    /// A file is unavailable when its server says so. The last copy is used while the file is unreachable.
    /// The time for `after_unreachable` is 30 days.
    fn default() -> Self {
        Self {
            unavailable_uses_copy: false,
            unreachable_for: Duration::from_hours(30 * 24),
            after_unreachable: AfterUnreachable::Copy,
        }
    }
}

/// What applies when a file has been unreachable for a long time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AfterUnreachable {
    /// The copy is still used; without one, everything stays disallowed.
    Copy,
    /// The file counts as unavailable.
    Unavailable,
}

/// The result of the last attempt at a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was fetched or found unchanged.
    Successful,
    /// The server has no file for this client.
    Unavailable,
    /// It has been unreachable since then.
    Unreachable {
        /// When the first attempt of this run of failures was made.
        since: SystemTime,
    },
}

/// Which rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InForce {
    /// The copy's.
    Copy,
    /// Everything is allowed.
    AllowAll,
    /// Everything is disallowed.
    DisallowAll,
}

impl Keeping {
    /// Which rules are in force now, given the result of the last attempt and when the copy that is
    /// kept, if there is one, was fetched.
    pub fn in_force(&self, last: &Outcome, copy: Option<SystemTime>, now: SystemTime) -> InForce {
        let elapsed = |then| now.duration_since(then).unwrap_or_default();
        match (last, copy) {
            (Outcome::Successful, Some(_)) => InForce::Copy,
            // A success whose copy was lost counts as no attempt.
            (Outcome::Successful, None) => InForce::DisallowAll,
            (Outcome::Unavailable, Some(fetched))
                if self.unavailable_uses_copy && elapsed(fetched) <= MOST_FRESH =>
            {
                InForce::Copy
            }
            (Outcome::Unavailable, _) => InForce::AllowAll,
            (Outcome::Unreachable { since }, copy) => {
                let is_long = elapsed(*since) > self.unreachable_for;
                match (self.after_unreachable, copy) {
                    (AfterUnreachable::Unavailable, _) if is_long => InForce::AllowAll,
                    (_, Some(_)) => InForce::Copy,
                    (_, None) => InForce::DisallowAll,
                }
            }
        }
    }
}

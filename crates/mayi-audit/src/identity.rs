//! Whether a crawler is who it says: verified, unverified, or contradicted.

use std::net::IpAddr;

use mayi::registry::Agent;

/// Whether a request came from who its User-Agent string names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Identity {
    /// The address is one of the operator's.
    Verified,
    /// Nothing is known that would tell.
    Unverified,
    /// The address is not one of the operator's.
    Contradicted,
}

impl Identity {
    /// All of them, in the order of figures.
    pub const ALL: [Self; 3] = [Self::Verified, Self::Unverified, Self::Contradicted];

    /// As reports have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Unverified => "unverified",
            Self::Contradicted => "contradicted",
        }
    }

    /// What two ways of looking say together: one that verifies is enough, and one that contradicts is
    /// more than one that knows nothing.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Verified, _) | (_, Self::Verified) => Self::Verified,
            (Self::Contradicted, _) | (_, Self::Contradicted) => Self::Contradicted,
            _ => Self::Unverified,
        }
    }
}

/// What somebody outside has found out about addresses, by reverse DNS. It answers at once, from what is
/// known already.
pub trait Confirmations: Send + Sync {
    /// Whether an address is the crawler's operator's.
    fn identity(&self, agent: &Agent, address: IpAddr) -> Identity;
}

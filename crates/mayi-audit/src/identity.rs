//! Whether a crawler is the one that it claims to be: verified, unverified, or contradicted.

use std::net::IpAddr;

use mayi::registry::Agent;
use serde::{Deserialize, Serialize};

/// Whether a request came from the crawler that its User-Agent string names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Identity {
    /// The address is one of the operator's.
    Verified,
    /// It is not known.
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

    /// The result of two checks together: one that verifies is enough, and a contradiction counts more than
    /// no result.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Verified, _) | (_, Self::Verified) => Self::Verified,
            (Self::Contradicted, _) | (_, Self::Contradicted) => Self::Contradicted,
            _ => Self::Unverified,
        }
    }
}

/// By name, as reports list them.
impl Ord for Identity {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.name().cmp(other.name())
    }
}

impl PartialOrd for Identity {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The results of reverse DNS for addresses. It answers at once, from results that are already known.
pub trait Confirmations: Send + Sync {
    /// Whether an address is the crawler's operator's.
    fn identity(&self, agent: &Agent, address: IpAddr) -> Identity;
}

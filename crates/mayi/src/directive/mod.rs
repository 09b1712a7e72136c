//! The registry of directives: the kinds of line that mean something.
//!
//! One file a directive, one word in [`DIRECTIVES`]; look-up, the parser and the documentation
//! derive from it. The parser knows *roles*, never names: what a line does to the groups around it
//! is said here and nowhere else. A record whose directive the dialect has not adopted is an other
//! record: kept, shown, and unable to close a group or sway a decision (REP-17).

mod allow;
mod crawl_delay;
mod disallow;
mod sitemap;
mod user_agent;

pub use allow::ALLOW;
pub use crawl_delay::CRAWL_DELAY;
pub use disallow::DISALLOW;
pub use sitemap::SITEMAP;
pub use user_agent::USER_AGENT;

use crate::spec::Clause;

/// Every directive, the most frequent first.
pub static DIRECTIVES: &[&Directive] = &[&DISALLOW, &ALLOW, &USER_AGENT, &SITEMAP, &CRAWL_DELAY];

/// One kind of line.
///
/// ```
/// use mayi::directive::{DIRECTIVES, Role, SITEMAP};
///
/// assert!(DIRECTIVES.iter().any(|directive| directive.name == "Disallow"));
/// assert_eq!(SITEMAP.role, Role::FileRecord);
/// ```
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Directive {
    /// Its name in canonical spelling; a record's name is compared in any case.
    pub name: &'static str,
    /// Spellings that are read as meant (WILD-2).
    pub misspellings: &'static [&'static str],
    /// What a record of it does.
    pub role: Role,
    /// Where it comes from; a dialect adopts specs.
    pub spec: Spec,
    /// The clause that it is read by.
    pub clause: Clause,
    /// What it says, in a sentence.
    pub summary: &'static str,
}

/// What a record does to the groups of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// It starts a group, or joins the group-start lines above it.
    StartsGroup,
    /// It is a rule about access, of the group above it.
    Rule(RuleKind),
    /// It is a record of the group above it, and no rule.
    GroupRecord,
    /// It belongs to the file as a whole.
    FileRecord,
}

/// What a rule says about the URLs that its pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleKind {
    /// The URL may be fetched. It comes first, as it wins at equal length (REP-8).
    Allow,
    /// The URL may not be fetched.
    Disallow,
}

impl RuleKind {
    /// `allow` or `disallow`, as reports have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Disallow => "disallow",
        }
    }
}

/// A specification that directives come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Spec {
    /// The Robots Exclusion Protocol.
    Rep,
    /// What sites write although no draft says so.
    Wild,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_directives_share_a_spelling() {
        let mut spellings: Vec<String> = DIRECTIVES
            .iter()
            .flat_map(|directive| directive.misspellings.iter().chain([&directive.name]))
            .map(|spelling| spelling.to_ascii_lowercase())
            .collect();
        let count = spellings.len();
        spellings.sort_unstable();
        spellings.dedup();
        assert_eq!(spellings.len(), count);
    }
}

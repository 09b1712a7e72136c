//! The registry of directives: the kinds of line that mean something.
//!
//! One file a directive, one word in [`DIRECTIVES`]; look-up, the parser and the documentation
//! derive from it. The parser knows *roles*, never names: what a line does to the groups around it
//! is said here and nowhere else. A record whose directive the dialect has not adopted is an other
//! record: kept, shown, and unable to close a group or sway a decision (REP-17).

use crate::extension::Extension;
use crate::spec::Clause;

/// Declares the file of each directive, makes it public, and puts it into the registry.
macro_rules! directives {
    ($($file:ident::$directive:ident,)*) => {
        $(
            mod $file;
            pub use $file::$directive;
        )*

        /// Every directive, the most frequent first.
        pub static DIRECTIVES: &[&Directive] = &[$(&$directive,)*];
    };
}

directives! {
    disallow::DISALLOW,
    allow::ALLOW,
    user_agent::USER_AGENT,
    sitemap::SITEMAP,
    crawl_delay::CRAWL_DELAY,
    content_signal::CONTENT_SIGNAL,
    content_usage::CONTENT_USAGE,
    user_agent_purpose::USER_AGENT_PURPOSE,
    app_directives::APP_DIRECTIVES,
    disallow_ai_training::DISALLOW_AI_TRAINING,
    allow_ai_training::ALLOW_AI_TRAINING,
    request_rate::REQUEST_RATE,
    visit_time::VISIT_TIME,
    clean_param::CLEAN_PARAM,
    host::HOST,
    noindex::NOINDEX,
    license::LICENSE,
}

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
    /// Other names that are as good.
    pub aliases: &'static [&'static str],
    /// Spellings that are read as meant (WILD-2).
    pub misspellings: &'static [&'static str],
    /// What a record of it does.
    pub role: Role,
    /// The extension that it belongs to; a dialect adopts extensions. Without one it is REP's own.
    pub extension: Option<Extension>,
    /// The member of a report's `records` that lists its values as written, for records that nothing
    /// else is made of: those of the crawler's groups, or of the file, as the role says.
    pub listed_as: Option<&'static str>,
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
    StartsGroup(GroupStart),
    /// It is a rule about access, of the group above it.
    Rule(RuleKind),
    /// It is a rule about something else, of the group above it.
    Statement,
    /// It is a record of the group above it, and no rule: it does not end the group-start lines.
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

/// What a group-start line names crawlers by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GroupStart {
    /// Their product tokens.
    ProductToken,
    /// Their purposes.
    Purpose,
}

impl Role {
    /// Whether a group-start line behind such a record starts a new group (REP-1, APP-1, USE-1).
    pub const fn ends_group_start(self) -> bool {
        matches!(self, Self::Rule(_) | Self::Statement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_directives_share_a_spelling() {
        assert!(DIRECTIVES.len() < usize::from(u8::MAX), "a record has 8 bits for its directive");
        let mut spellings: Vec<String> = DIRECTIVES
            .iter()
            .flat_map(|directive| {
                directive.misspellings.iter().chain(directive.aliases).chain([&directive.name])
            })
            .map(|spelling| spelling.to_ascii_lowercase())
            .collect();
        let count = spellings.len();
        spellings.sort_unstable();
        spellings.dedup();
        assert_eq!(spellings.len(), count);
    }
}

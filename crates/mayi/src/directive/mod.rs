//! The registry of directives: the kinds of line that mean something.
//!
//! One file per directive, one word in [`DIRECTIVES`]; look-up, the parser and the documentation derive
//! from it. The parser knows *roles*, never names: what a line does to the groups around it is defined
//! only here. A record whose directive the dialect has not adopted is an other record: kept and shown,
//! but it never ends a group or changes a decision (REP-17).

use std::sync::LazyLock;

use crate::extension::Extension;
use crate::octets::{first_eight, mask_of};
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

        /// Their roles as a table: the role of every record of a file is looked up here.
        static ROLES: &[Role] = &[$($directive.role,)*];
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

/// The role of the directive at this place of [`DIRECTIVES`].
pub(crate) fn role_of(directive: u8) -> Role {
    ROLES[usize::from(directive)]
}

/// A name of a directive, ready to be compared with the name of a record.
pub(crate) struct Spelling {
    /// The first octets, with the bit of lower case set: most names differ in them.
    head: u64,
    /// Which bits of a line's first octets belong to a name of this length.
    mask: u64,
    head_is_plain: bool,
    pub(crate) text: &'static str,
    /// The place of the directive in [`DIRECTIVES`].
    pub(crate) directive: u8,
    pub(crate) extension: Option<Extension>,
    pub(crate) is_misspelled: bool,
}

/// The names that nearly every line starts with, and that every dialect reads as they are: those of REP's own
/// directives. They are at the start of [`Spelling::all`] too.
pub(crate) static FREQUENT: [Spelling; 4] = [
    Spelling::new(&DISALLOW, 0, DISALLOW.name, false),
    Spelling::new(&ALLOW, 1, ALLOW.name, false),
    Spelling::new(&USER_AGENT, 2, USER_AGENT.name, false),
    Spelling::new(&SITEMAP, 3, SITEMAP.name, false),
];

impl Spelling {
    const fn new(known: &Directive, directive: u8, text: &'static str, is_misspelled: bool) -> Self {
        let octets = text.as_bytes();
        let (mut head, mut head_is_plain, mut place) = (0, true, 0);
        while place < 8 {
            let octet = if place < octets.len() { octets[place] } else { 0 };
            head |= (octet as u64 | 0x20) << (8 * place);
            head_is_plain &= place >= octets.len() || octet.is_ascii_alphabetic() || octet == b'-';
            place += 1;
        }
        let mask = mask_of(octets.len());
        let extension = known.extension;
        Self { head, mask, head_is_plain, text, directive, extension, is_misspelled }
    }

    /// Every name of every directive: those that are right first.
    pub(crate) fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<Spelling>> = LazyLock::new(|| {
            let spell = |is_misspelled| {
                DIRECTIVES.iter().zip(0..).flat_map(move |(known, directive)| {
                    let right = std::iter::once(&known.name).chain(known.aliases);
                    let names: Vec<&'static str> = if is_misspelled {
                        known.misspellings.to_vec()
                    } else {
                        right.copied().collect()
                    };
                    names
                        .into_iter()
                        .map(move |text| Spelling::new(known, directive, text, is_misspelled))
                })
            };
            spell(false).chain(spell(true)).collect()
        });
        &ALL
    }

    /// Whether a line starts with it, ignoring case, and has a colon right after it; `head` is
    /// [`head_of`] the line.
    pub(crate) fn starts(&self, line: &[u8], head: u64) -> bool {
        (self.head ^ head) & self.mask == 0
            && line.get(self.text.len()) == Some(&b':')
            && self.has_rest_of(&line[..self.text.len()])
    }

    /// Whether it is this name, ignoring case; `head` is [`head_of`] the name.
    pub(crate) fn is(&self, name: &[u8], head: u64) -> bool {
        self.head == head && self.text.len() == name.len() && self.has_rest_of(name)
    }

    /// Whether it is this name, if the heads are the same and the lengths too.
    fn has_rest_of(&self, name: &[u8]) -> bool {
        // Only a letter or `-` gives these octets with that bit set, because no line has a CR. So a head of
        // only these octets has already been compared.
        let compared = if self.head_is_plain { name.len().min(8) } else { 0 };
        name[compared..].eq_ignore_ascii_case(&self.text.as_bytes()[compared..])
    }
}

/// The first eight octets of a name as a number, with the bit of lower case set in each.
pub(crate) fn head_of(name: &[u8]) -> u64 {
    first_eight(name) | 0x2020_2020_2020_2020
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
    /// Its name in canonical spelling; a record's name is compared case-insensitively.
    pub name: &'static str,
    /// Other names with the same meaning.
    pub aliases: &'static [&'static str],
    /// Spellings that are read as intended (WILD-2).
    pub misspellings: &'static [&'static str],
    /// What a record of it does.
    pub role: Role,
    /// The extension that it belongs to; a dialect adopts extensions. None for a directive of REP itself.
    pub extension: Option<Extension>,
    /// The member of a report's `records` that lists its values as written, for records that are not
    /// evaluated otherwise. The role says whether these are the values of the crawler's groups or of the
    /// file.
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
    /// It is a record of the group above it, but not a rule: it does not end the group-start lines.
    GroupRecord,
    /// It belongs to the file as a whole.
    FileRecord,
}

/// What a rule says about the URLs that its pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "report", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "report", serde(rename_all = "kebab-case"))]
pub enum RuleKind {
    /// The URL may be fetched. It comes first, as it wins at equal length (REP-8).
    Allow,
    /// The URL may not be fetched.
    Disallow,
}

impl RuleKind {
    /// `allow` or `disallow`, as in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Disallow => "disallow",
        }
    }

    /// The directive of such rules.
    pub const fn directive(self) -> &'static Directive {
        match self {
            Self::Allow => &ALLOW,
            Self::Disallow => &DISALLOW,
        }
    }
}

/// By what a group-start line names crawlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GroupStart {
    /// Their product tokens.
    ProductToken,
    /// Their purposes.
    Purpose,
}

/// The walk over the records of a file that makes groups (REP-1): a group starts at its first group-start
/// line and ends before the next group-start line after a rule. Records that are not rules never end it
/// (REP-17).
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupWalk {
    /// Whether other records of groups end the group-start lines too, as in some dialects.
    records_end_start: bool,
    has_group: bool,
    behind_rule: bool,
}

/// The position of a record among the groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupStep {
    /// It is the first line of a group.
    Starts,
    /// It is another group-start line of the same group.
    Joins,
    /// It follows the group-start lines.
    Within,
    /// No group has started yet.
    Outside,
}

impl GroupWalk {
    /// The state before the first record.
    pub(crate) fn new(records_end_start: bool) -> Self {
        Self { records_end_start, has_group: false, behind_rule: false }
    }

    /// Goes on to the next record.
    #[inline]
    pub(crate) fn step(&mut self, role: Role) -> GroupStep {
        if let Role::StartsGroup(_) = role {
            let starts = !self.has_group || self.behind_rule;
            (self.has_group, self.behind_rule) = (true, false);
            return if starts { GroupStep::Starts } else { GroupStep::Joins };
        }
        self.behind_rule |=
            role.ends_group_start() || self.records_end_start && role == Role::GroupRecord;
        if self.has_group { GroupStep::Within } else { GroupStep::Outside }
    }

    /// Whether there was a rule since the last group-start line.
    pub(crate) fn is_behind_rule(self) -> bool {
        self.behind_rule
    }
}

impl Role {
    /// Whether a group-start line after such a record starts a new group (REP-1, APP-1, USE-1).
    pub const fn ends_group_start(self) -> bool {
        matches!(self, Self::Rule(_) | Self::Statement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_names_are_those_that_every_dialect_reads() {
        let always = |spelling: &&Spelling| spelling.extension.is_none() && !spelling.is_misspelled;
        let of_all = Spelling::all().iter().filter(always);
        let parts = |spelling: &Spelling| (spelling.text, spelling.directive, spelling.head);
        assert!(of_all.map(parts).eq(FREQUENT.iter().map(parts)));
        for spelling in Spelling::all() {
            assert_eq!(spelling.head, head_of(spelling.text.as_bytes()), "{}", spelling.text);
        }
    }

    #[test]
    fn no_frequent_name_starts_with_one_that_goes_before_it() {
        for (place, spelling) in FREQUENT.iter().enumerate() {
            let before = |other: &Spelling| spelling.text.starts_with(other.text);
            assert!(!FREQUENT[..place].iter().any(before), "{}", spelling.text);
        }
    }

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

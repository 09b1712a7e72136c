//! What lints about groups and patterns share: which crawlers a line names, and what a pattern matches.

use std::borrow::Cow;

use super::context::{Context, Entry};
use super::group::crawler_version::is_harmless;
use super::quoted;
use crate::crawler::{is_letter_of_token, split_token};
use crate::dialect::Comparison;
use crate::directive::{ALLOW_AI_TRAINING, DISALLOW_AI_TRAINING, GroupStart, Role, RuleKind};
use crate::extension::Extension;
use crate::pattern::{PathPattern, Shape, matches};
use crate::places::SearchedText;
use crate::regexes::{Program, Unused};
use crate::selection::{is_global, is_regex};
use crate::syntax::RawRecord;

/// Who a group-start line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names<'c> {
    /// Crawlers with a purpose.
    Purpose,
    /// All that are not named.
    Global,
    /// Those that a regular expression matches.
    Regex,
    /// Those of a product token; what follows it is ignored.
    Token { token: &'c [u8], rest: &'c [u8] },
    /// Nobody.
    Nobody,
}

impl<'c> Names<'c> {
    /// Reads the value of a group-start line (REP-4, AIA-2).
    pub(super) fn of(entry: &Entry<'c>, context: &Context<'_, '_>) -> Self {
        let (value, dialect) = (entry.record.value, context.robots.dialect());
        if entry.role == Role::StartsGroup(GroupStart::Purpose) {
            return Self::Purpose;
        }
        if is_global(value, dialect) {
            return Self::Global;
        }
        if dialect.reads(Extension::AiAgents) && is_regex(value) {
            return Self::Regex;
        }
        let (token, rest) = split_token(value);
        if token.is_empty() { Self::Nobody } else { Self::Token { token, rest } }
    }

    /// What all lines for the same crawlers have in common: whether it is a purpose, and the name. Names with more words
    /// only start alike, and are meant for different crawlers.
    pub(super) fn named(self, entry: &Entry<'c>) -> Option<(bool, &'c [u8])> {
        let value = entry.record.value;
        match self {
            Self::Purpose => Some((true, value)),
            Self::Global => Some((false, b"*")),
            Self::Token { token, rest } if is_harmless(token, rest) => Some((false, token)),
            Self::Token { .. } | Self::Regex => Some((false, value)),
            Self::Nobody => None,
        }
    }
}

/// The group-start lines of a file that are regular expressions, with the groups that they start, each as
/// it is used, or why it is not.
pub(super) fn regexes<'x, 'c>(
    context: &'x Context<'c, '_>,
) -> impl Iterator<Item = (usize, &'x Entry<'c>, Result<Program<'x>, Unused>)> {
    let groups = context.groups.iter().enumerate();
    let starts = groups.flat_map(|(place, group)| group.starts.iter().map(move |start| (place, start)));
    let expressions = starts.filter(|(_, start)| Names::of(start, context) == Names::Regex);
    let compiled = |(place, (group, start))| (group, start, context.robots.regexes().get(place));
    expressions.enumerate().map(compiled)
}

/// What a regular expression is to crawlers that read none: the name that it starts with (REP-4).
pub(super) fn read_as_a_name(value: &[u8]) -> String {
    let name = &value[..value.iter().take_while(|octet| is_letter_of_token(**octet)).count()];
    if name.is_empty() {
        "a name that no crawler has".to_owned()
    } else {
        format!("the name {}", quoted(name))
    }
}

/// Every record whose value is a path pattern: rules about access and about AI training.
pub(super) fn patterns<'c>(context: &Context<'c, '_>) -> impl Iterator<Item = Entry<'c>> {
    context.known_records().filter(|entry| has_pattern(entry))
}

fn has_pattern(entry: &Entry<'_>) -> bool {
    matches!(entry.role, Role::Rule(_))
        || entry.is(&DISALLOW_AI_TRAINING)
        || entry.is(&ALLOW_AI_TRAINING)
}

/// Whether the pattern can match something: it starts as a path does (WILD-4).
pub(super) fn can_match(record: &RawRecord<'_>) -> bool {
    record.value.first().is_some_and(|octet| b"/*".contains(octet))
}

/// Whether a rule disallows every path, as it is usually written.
pub(super) fn disallows_all((kind, rule): &(RuleKind, &Entry<'_>)) -> bool {
    *kind == RuleKind::Disallow && matches!(rule.record.value, b"/" | b"/*" | b"*")
}

/// A pattern without what does not change what it matches: wildcards that follow each other, one at the
/// end, and which of two spellings it has (REP-12, REP-16).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Core {
    pub(super) text: Vec<u8>,
    pub(super) anchored: bool,
}

impl Core {
    /// The core of a pattern, and how many octets the pattern counts for.
    pub(super) fn of(pattern: &[u8], comparison: Comparison) -> (Self, usize) {
        let read = PathPattern::read(pattern, comparison);
        let octets = read.octets();
        let normalised = read.normalised();
        let anchored = normalised.last() == Some(&b'$');
        let mut text = read.folded(&normalised[..normalised.len() - usize::from(anchored)]);
        text.dedup_by(|one, other| *one == b'*' && *other == b'*');
        let ends_wild = text.len() > 1 && text.last() == Some(&b'*');
        if ends_wild {
            text.pop();
        }
        (Self { text, anchored: anchored && !ends_wild }, octets)
    }

    pub(super) fn has_wildcard(&self) -> bool {
        self.text.contains(&b'*')
    }

    /// Whether it certainly matches everything that the other one does.
    pub(super) fn covers(&self, other: &Self) -> bool {
        if self.anchored && !other.anchored {
            return false;
        }
        // The other matches two spellings of each delimiter after its `?` (REP-12), and wildcards may have
        // led to a place where only one is meant.
        let query = memchr::memchr(b'?', &other.text).map_or(&[][..], |mark| &other.text[mark + 1..]);
        if self.has_wildcard() && query.iter().any(|octet| b"/?#".contains(octet)) {
            return false;
        }
        let shape = Shape::of(&self.text, self.anchored);
        // The other's wildcards are octets that only a wildcard matches.
        matches(&self.text, shape, &SearchedText::new(Cow::Borrowed(&other.text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_covers_what() {
        let core = |pattern: &str| Core::of(pattern.as_bytes(), Comparison::Normalised).0;
        for (one, other, expected) in [
            ("/*", "/", true),
            ("/", "/*", true),
            ("*", "/a", true),
            ("/*foo", "/foo", true),
            ("/*/foo", "/foo", false),
            ("/a", "/ab", true),
            ("/ab", "/a", false),
            ("/*.php$", "/a.php$", true),
            ("/*.php$", "/a.php", false),
            ("/*.php", "/a.php$", true),
            ("/a*c", "/a*b*c", true),
            ("/a*b*c", "/a*c", false),
            ("/a*$", "/ab", true),
            ("/%2A*", "/*", false),
            ("/%2A", "/%2Ab", true),
            ("/*2A", "/%2A", false),
            ("/a$b", "/a%24bc", true),
            ("/a?b=/", "/a?b=%2Fc", true),
            ("/*/public", "/a?b=/public", false),
            ("/*/public", "/a/public?b", true),
            ("/*?b", "/a?b=c", true),
        ] {
            assert_eq!(core(one).covers(&core(other)), expected, "{one} and {other}");
        }
    }
}

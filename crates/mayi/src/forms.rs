//! A target → the forms of it that patterns are compared with (REP-11, REP-12, REP-16).
//!
//! A pattern is compared with the normalised target, unless it has something that matches two
//! spellings: a `?` of its own, after which a delimiter is the same raw and encoded, or a literal `*`
//! or `$`. Then it is compared with a form in which both spellings are the same. A form is made when
//! the first pattern needs it, and is reused by all later ones.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::{BitAnd, BitOr};

use memchr::{memchr, memmem};

use crate::crossing::{Crossing, SortedMarks};
use crate::dialect::Comparison;
use crate::octets::{Signs, first_pair};
use crate::places::SearchedText;
use crate::target::Target;

/// Which spellings are one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folds(u8);

/// Stands for a literal `*`, however it is written, because a raw `*` of a pattern is a wildcard. No
/// normalised text has control characters, so this one is free. A `$` needs no such octet, because the end
/// anchor of a pattern is not part of the compared text.
const STAR: u8 = 1;

impl Folds {
    pub(crate) const NONE: Self = Self(0);
    /// `/`, `?` and `#` after the first `?`, raw and encoded (REP-12).
    pub(crate) const QUERY: Self = Self(1);
    /// `*` and `%2A` (REP-16).
    pub(crate) const STARS: Self = Self(2);
    /// `$` and `%24` (REP-16).
    pub(crate) const DOLLARS: Self = Self(4);

    /// What a normalised pattern, without its end anchor, needs.
    pub(crate) fn of_pattern(text: &[u8]) -> Self {
        let has = |octet| memchr(octet, text).is_some();
        Self::QUERY.only_if(has(b'?'))
            | Self::STARS.only_if(has_escape(text, *b"%2A"))
            | Self::DOLLARS.only_if(has(b'$') || has_escape(text, *b"%24"))
    }

    /// What changes a normalised target. Whether it has a star is not checked, because few patterns need to
    /// know it.
    pub(crate) fn of_target(text: &[u8]) -> Self {
        let query = memchr(b'?', text).map_or(&[][..], |mark| &text[mark..]);
        let has_escape = memchr::memchr_iter(b'%', query).any(|at| delimiter(&query[at..]).is_some());
        Self::STARS
            | Self::QUERY.only_if(has_escape)
            | Self::DOLLARS.only_if(memmem::find(text, b"%24").is_some())
    }

    /// What changes a target without any `%`.
    pub(crate) const fn of_plain_target() -> Self {
        Self::STARS
    }

    /// The set as a number of three bits.
    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    /// The set that has these [`bits`](Self::bits).
    pub(crate) const fn from_bits(bits: u8) -> Self {
        Self(bits & (Self::QUERY.0 | Self::STARS.0 | Self::DOLLARS.0))
    }

    fn only_if(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }

    pub(crate) fn has(self, other: Self) -> bool {
        self & other != Self::NONE
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Every set of some of these, or of none.
    pub(crate) fn subsets(self) -> impl Iterator<Item = Self> {
        (0..=self.0).filter(move |bits| bits & !self.0 == 0).map(Self)
    }

    /// The text of a normalised pattern, without its end anchor, with two spellings made one. Its
    /// wildcards stay.
    pub(crate) fn fold_pattern(self, text: &[u8]) -> Vec<u8> {
        self.fold(text, b'*')
    }

    /// A normalised target with two spellings made one.
    fn fold_target(self, text: &[u8]) -> Vec<u8> {
        self.fold(text, if self.has(Self::STARS) { STAR } else { b'*' })
    }

    fn fold(self, text: &[u8], raw_star: u8) -> Vec<u8> {
        let mut folded = Vec::with_capacity(text.len());
        let mut in_query = false;
        let mut rest = text;
        while let Some((&octet, after)) = rest.split_first() {
            let literal = match rest {
                [b'%', b'2', b'A', ..] if self.has(Self::STARS) => Some(STAR),
                [b'%', b'2', b'4', ..] if self.has(Self::DOLLARS) => Some(b'$'),
                [b'%', ..] if in_query => delimiter(rest),
                _ => None,
            };
            if let Some(literal) = literal {
                folded.push(literal);
                rest = &after[2..];
                continue;
            }
            in_query |= octet == b'?' && self.has(Self::QUERY);
            folded.push(if octet == b'*' { raw_star } else { octet });
            rest = after;
        }
        folded
    }
}

impl BitAnd for Folds {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Folds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Whether a normalised pattern has this escape. Few have its digits, and these are found in fewer steps than a general
/// search takes to start.
fn has_escape(text: &[u8], escape: [u8; 3]) -> bool {
    let [_, high, low] = escape;
    first_pair(text, [high, low]).is_some() && memmem::find(text, &escape).is_some()
}

/// The delimiter of a query whose escape a normalised text starts with.
pub(crate) fn delimiter(text: &[u8]) -> Option<u8> {
    match text {
        [b'%', b'2', b'F', ..] => Some(b'/'),
        [b'%', b'3', b'F', ..] => Some(b'?'),
        [b'%', b'2', b'3', ..] => Some(b'#'),
        _ => None,
    }
}

/// The forms of one target.
pub(crate) struct Forms<'u> {
    text: SearchedText<'u>,
    /// What makes a form that differs from the text.
    folds: Folds,
    /// The signs that a form may have.
    signs: Signs,
    folded: OnceCell<Box<Folded>>,
}

/// Texts with two spellings made one, and the order of the `?` in them, by the folds that made them.
#[derive(Default)]
struct Folded {
    texts: [OnceCell<SearchedText<'static>>; 8],
    /// The text as it is, from its end to its start.
    reversed: OnceCell<SearchedText<'static>>,
    marks: [SortedMarks; 8],
}

impl<'u> Forms<'u> {
    /// The forms that a dialect compares patterns with.
    pub(crate) fn of(target: &'u Target<'_>, comparison: Comparison) -> Self {
        match comparison {
            Comparison::Normalised => {
                let text = SearchedText::new(Cow::Borrowed(target.normalised()));
                Self { text, folds: target.folds(), signs: target.signs(), folded: OnceCell::new() }
            }
            Comparison::AsWritten => {
                let text = SearchedText::new(target.as_written());
                Self { text, folds: Folds::NONE, signs: Signs::ALL, folded: OnceCell::new() }
            }
            Comparison::Decoded(decoding) => {
                let text = SearchedText::new(Cow::Owned(decoding.target(target.behind_authority())));
                Self { text, folds: Folds::NONE, signs: Signs::ALL, folded: OnceCell::new() }
            }
        }
    }

    /// The signs that a form of it may have.
    pub(crate) fn signs(&self) -> Signs {
        self.signs
    }

    /// The text as it is.
    pub(crate) fn text(&self) -> &[u8] {
        self.text.octets()
    }

    /// What makes a form that differs from the text.
    pub(crate) fn folds(&self) -> Folds {
        self.folds
    }

    /// The folds that a pattern needs and that make a difference for this target.
    pub(crate) fn that_matter(&self, folds: Folds) -> Folds {
        folds & self.folds
    }

    /// The text with two spellings made one. `folds` are among those that matter.
    pub(crate) fn folded(&self, folds: Folds) -> &SearchedText<'_> {
        if folds == Folds::NONE {
            return &self.text;
        }
        let forms = self.folded.get_or_init(Box::default);
        let fold = || SearchedText::new(Cow::Owned(folds.fold_target(self.text())));
        forms.texts[usize::from(folds.0)].get_or_init(fold)
    }

    /// Where the last occurrence of a piece in the text ends. This is the first occurrence in the reversed
    /// text, which is searched in the same way as the text, because there can be many pieces.
    pub(crate) fn end_of_last(&self, piece: &[u8]) -> Option<usize> {
        let backwards = |octets: &[u8]| octets.iter().rev().copied().collect::<Vec<u8>>();
        let reverse = || SearchedText::new(Cow::Owned(backwards(self.text())));
        let reversed = self.folded.get_or_init(Box::default).reversed.get_or_init(reverse);
        Some(self.text().len() - reversed.find(&backwards(piece), 0)?)
    }

    /// The text that a pattern with these folds is compared with, if it needs the query's delimiters only
    /// after its own `?`.
    pub(crate) fn crossing(&self, folds: Folds) -> Crossing<'_> {
        let marks = &self.folded.get_or_init(Box::default).marks[usize::from(folds.0)];
        Crossing::new(self.folded(folds.without(Folds::QUERY)), self.folded(folds), marks)
    }

    /// The text as it is, and with its query's delimiters raw where that is something else: what
    /// nearly all patterns are compared with.
    pub(crate) fn into_usual(self) -> Vec<Cow<'u, [u8]>> {
        let query = self.that_matter(Folds::QUERY);
        let folded = (query != Folds::NONE).then(|| query.fold_target(self.text()));
        std::iter::once(self.text.into_octets()).chain(folded.map(Cow::Owned)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pattern_asks_for() {
        assert_eq!(Folds::of_pattern(b"/a/*b%2F"), Folds::NONE);
        assert_eq!(Folds::of_pattern(b"/a?"), Folds::QUERY);
        assert_eq!(Folds::of_pattern(b"/a%24"), Folds::of_pattern(b"/a$b"));
        assert_eq!(Folds::of_pattern(b"/?%2A$"), Folds(7));
        assert_eq!(Folds(5).subsets().map(|folds| folds.0).collect::<Vec<_>>(), [0, 1, 4, 5]);
    }

    #[test]
    fn what_changes_a_target() {
        assert_eq!(Folds::of_target(b"/%2F?a/b"), Folds::STARS);
        assert_eq!(Folds::of_target(b"/?%23"), Folds::STARS | Folds::QUERY);
        assert_eq!(Folds::of_target(b"/%24?%26"), Folds::STARS | Folds::DOLLARS);
    }

    #[test]
    fn each_form_is_what_it_should_be() {
        let target = Target::from_path("/%2F$%24*%2A?%2F?%3F%23%26%24").expect("a path");
        let forms = Forms::of(&target, Comparison::Normalised);
        let folded = |bits| String::from_utf8_lossy(forms.folded(Folds(bits)).octets()).into_owned();
        assert_eq!(folded(0), "/%2F$%24*%2A?%2F?%3F%23%26%24");
        assert_eq!(folded(1), "/%2F$%24*%2A?/??#%26%24");
        assert_eq!(folded(2), "/%2F$%24\u{1}\u{1}?%2F?%3F%23%26%24");
        assert_eq!(folded(4), "/%2F$$*%2A?%2F?%3F%23%26$");
        assert_eq!(folded(7), "/%2F$$\u{1}\u{1}?/??#%26$");
        assert_eq!(Folds(7).fold_pattern(b"/%2A*$%24?%2F"), b"/\x01*$$?/");
    }
}

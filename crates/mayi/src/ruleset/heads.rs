//! A list of rules, tried from the top by the first octets of each, or by the octets after its
//! wildcard.
//!
//! A few octets are enough to see that most rules do not match a target. One octet of each rule is
//! stored in a row, so that sixteen rules are checked in one step; the few that are left are checked by
//! a few more octets. Other code decides whether a rule really matches.

use std::ops::ControlFlow;

use super::rule::{Compared, Rules};
use crate::forms::Folds;
use crate::octets::{SIXTEEN, Signs, first_pair, places_of_either, try_each_sign};

/// What a target has to have to match each rule, by rank.
#[derive(Default)]
pub(super) struct Heads {
    /// The octet after the first `/` of each rule, or [`OPEN`]; the end is padded, so that sixteen can always
    /// be read in one step.
    firsts: Box<[u8]>,
    /// For a rule whose first octet is known, the [`Next`] ones; for one where it is open, what it [`Needs`].
    more: Box<[u32]>,
}

/// Takes the place of the first octet if nothing of a rule is known before its first wildcard.
const OPEN: u8 = 0;

/// Up to three octets after the first one, highest first. The low eight bits say how far a number has to be
/// shifted for only as many as there are to be left.
#[derive(Clone, Copy)]
struct Next(u32);

impl Next {
    #[inline]
    fn of(octets: &[u8]) -> Self {
        if let Some(&[one, two, three]) = octets.first_chunk() {
            return Self(u32::from_be_bytes([one, two, three, 8]));
        }
        Self(three_octets(octets) | (32 - 8 * octets.len() as u32))
    }

    /// Whether a text may match whose next octets are these.
    #[inline]
    fn admits(self, octets: u32) -> bool {
        u64::from(self.0 ^ octets) >> (self.0 & 63) == 0
    }
}

/// What a target needs to match a rule that starts with a wildcard: two octets side by side, or zeros where
/// none are known, and the signs after them.
#[derive(Clone, Copy)]
struct Needs(u32);

impl Needs {
    fn of(rule: Compared<'_>) -> Self {
        // A literal `*` means itself in only one form, so it is not used here.
        if rule.folds.has(Folds::STARS) {
            return Self(0);
        }
        let pairs = rule.wild_part_of_one_form().array_windows();
        let rarest = pairs.copied().min_by_key(|pair| frequency(*pair));
        let [one, other] = rarest.filter(|pair| !pair.contains(&b'*')).unwrap_or_default();
        let mut signs = Signs::NONE;
        let _all = try_each_sign(rule.body, 0..rule.body.len(), |_, octet| {
            if octet != b'*' {
                signs = signs.with(octet);
            }
            ControlFlow::<()>::Continue(())
        });
        Self(u32::from_be_bytes([one, other, 0, 0]) | u32::from(signs.bits()))
    }

    /// Whether a text that has no other signs than these may match.
    #[inline]
    fn admits(self, text: &[u8], signs: Signs) -> bool {
        /// A text that is longer than this is better searched once and for all pieces of a rule.
        const SHORT: usize = 256;
        let [one, other, _, _] = self.0.to_be_bytes();
        signs.may_have(Signs::from_bits(self.0 as u16))
            && (text.len() > SHORT || one == 0 || first_pair(text, [one, other]).is_some())
    }
}

/// About how often two octets are side by side in a URL, as a number to compare with others. A wildcard is more
/// frequent than all others.
fn frequency(pair: [u8; 2]) -> u32 {
    pair.map(|octet| u32::from(FREQUENCIES[usize::from(octet)])).iter().product()
}

static FREQUENCIES: [u8; 256] = {
    let mut frequencies = [1; 256];
    let mut octet = 0;
    while octet < 256 {
        frequencies[octet] = match octet as u8 {
            b'e' | b'a' | b't' | b's' | b'i' | b'o' | b'r' | b'n' | b'/' => 8,
            b'l' | b'c' | b'd' | b'p' | b'm' | b'u' | b'-' => 5,
            b'*' => u8::MAX,
            b'h' | b'g' | b'b' | b'f' | b'w' | b'y' | b'.' | b'_' | b'0'..=b'9' => 3,
            _ => 1,
        };
        octet += 1;
    }
    frequencies
};

/// The first three octets of a text as the high bits of a number, the first one highest.
#[inline]
fn three_octets(text: &[u8]) -> u32 {
    if let Some(&[one, two, three]) = text.first_chunk() {
        return u32::from_be_bytes([one, two, three, 0]);
    }
    let octet = |place: usize| text.get(place).copied().unwrap_or_default();
    u32::from_be_bytes([octet(0), octet(1), octet(2), 0])
}

impl Heads {
    pub(super) fn new(rules: &Rules) -> Self {
        Self::of(rules.len(), |rank| rules.head(rank), |rank| rules.compared(rank))
    }

    fn of<'r>(
        count: usize,
        head: impl Fn(usize) -> &'r [u8],
        rule: impl Fn(usize) -> Compared<'r>,
    ) -> Self {
        let mut firsts = vec![OPEN; count.next_multiple_of(SIXTEEN)].into_boxed_slice();
        let more = (0..count).zip(&mut firsts).map(|(rank, first)| match head(rank) {
            [b'/', known, next @ ..] if *known != OPEN => {
                *first = *known;
                Next::of(next).0
            }
            _ => Needs::of(rule(rank)).0,
        });
        let more = more.collect();
        Self { firsts, more }
    }

    /// How many octets of memory they take.
    pub(super) fn octets(&self) -> usize {
        size_of_val(&*self.firsts) + size_of_val(&*self.more)
    }

    /// The lowest rank below `best` whose rule matches, or else `best`. The text has no other signs than these.
    pub(super) fn first_match(
        &self,
        text: &[u8],
        signs: Signs,
        best: usize,
        matches: impl Fn(usize) -> bool,
    ) -> usize {
        let first = text.get(1).copied().unwrap_or(OPEN);
        let next = three_octets(text.get(2..).unwrap_or_default());
        let (sixteens, _) = self.firsts.as_chunks::<SIXTEEN>();
        for (start, firsts) in (0..best).step_by(SIXTEEN).zip(sixteens) {
            let mut places = places_of_either(firsts, first, OPEN);
            while places != 0 {
                let place = places.trailing_zeros() as usize;
                places &= places - 1;
                let rank = start + place;
                if rank >= best {
                    return best;
                }
                let more = self.more[rank];
                let is_admitted = if firsts[place & (SIXTEEN - 1)] == OPEN {
                    Needs(more).admits(text, signs)
                } else {
                    Next(more).admits(next)
                };
                if is_admitted && matches(rank) {
                    return rank;
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Shape;

    #[test]
    fn what_starts_as_a_rule_does_is_admitted() {
        let texts = ["", "a", "b", "ab", "abc", "abcd", "abx", "\0", "\0\0\0"];
        for known in ["", "a", "ab", "abc", "abcdef", "b"] {
            for text in texts {
                let expected = text.as_bytes().starts_with(&known.as_bytes()[..known.len().min(3)]);
                let next = Next::of(known.as_bytes());
                assert_eq!(next.admits(three_octets(text.as_bytes())), expected, "{known} {text:?}");
            }
        }
    }

    #[test]
    fn every_rule_that_may_match_is_tried() {
        let bodies =
            ["/", "/a", "/ab*c", "/*", "*", "abc", "/abcdefg", "/*?x=", "/*%2F", "/a*&", "/\0"];
        let compared = |body: &'static str| {
            let shape = Shape::of(body.as_bytes(), false);
            Compared { body: body.as_bytes(), shape, folds: Folds::NONE }
        };
        for rules in [&bodies[..1], &bodies, &bodies.repeat(3)] {
            let heads = Heads::of(
                rules.len(),
                |rank| compared(rules[rank]).head(),
                |rank| compared(rules[rank]),
            );
            for text in ["/", "/a", "/abc", "/abcdefgh", "/x?x=1", "", "abc", "/%2F", "/\0"] {
                let is_sign = |octet: &u8| !octet.is_ascii_alphanumeric() && *octet != b'/';
                let signs = text.bytes().filter(is_sign).fold(Signs::NONE, Signs::with);
                for signs in [Signs::ALL, signs] {
                    let tried = std::cell::RefCell::new(Vec::new());
                    let found = heads.first_match(text.as_bytes(), signs, rules.len(), |rank| {
                        tried.borrow_mut().push(rank);
                        false
                    });
                    assert_eq!(found, rules.len());
                    let tried = tried.into_inner();
                    for (rank, body) in rules.iter().enumerate() {
                        let shape = Shape::of(body.as_bytes(), false);
                        let searched = crate::places::SearchedText::new(text.as_bytes().into());
                        if crate::pattern::matches(body.as_bytes(), shape, &searched) {
                            assert!(tried.contains(&rank), "{body} for {text}");
                            assert_eq!(
                                heads.first_match(text.as_bytes(), signs, rules.len(), |it| it == rank),
                                rank
                            );
                            assert_eq!(
                                heads.first_match(text.as_bytes(), signs, rank, |it| it >= rank),
                                rank
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_sign_or_a_pair_that_is_not_there_is_enough() {
        let shape = Shape::of(b"/*?x=", false);
        let rule = |_| Compared { body: b"/*?x=", shape, folds: Folds::NONE };
        let heads = Heads::of(1, |rank| rule(rank).head(), rule);
        let tried = |signs| heads.first_match(b"/a/?x=", signs, 1, |_| true) == 0;
        assert!(tried(Signs::ALL) && tried(Signs::NONE.with(b'?').with(b'=')));
        assert!(!tried(Signs::NONE.with(b'?')) && !tried(Signs::NONE));
        assert_eq!(heads.first_match(b"/?y=x", Signs::ALL, 1, |_| true), 1);
    }
}

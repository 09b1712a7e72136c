//! What there is to know of a rule ⇄ twelve octets.
//!
//! Nearly every rule has a pattern that is not very long and is compared as it is written, in a file that is not
//! very large. Such a rule is packed into three numbers. What does not fit is stored elsewhere in full, as an odd
//! rule, and its twelve octets say where. It knows nothing of how rules compete or are found.

use std::ops::Range;

use crate::directive::RuleKind;
use crate::forms::Folds;
use crate::pattern::{Plain, Shape, Wildcards};
use crate::span::LineNumber;

/// A rule whose pattern has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) kind: RuleKind,
    /// Where the pattern is in the file, and on which line.
    pub(super) start: u32,
    pub(super) line: LineNumber,
    /// Where the pattern as written stands in the arena, how many octets are written, and how many count (REP-8).
    pub(super) written_at: u32,
    pub(super) written: u32,
    pub(super) octets: u32,
    /// Where what is compared stands in the arena, and how long it is: mostly a start of the written pattern.
    pub(super) body_at: u32,
    pub(super) body: u32,
    pub(super) shape: Shape,
    pub(super) folds: Folds,
}

/// Where a rule is in its file.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) start: u32,
    pub(super) line: LineNumber,
}

impl Rule {
    /// One with a pattern of this many octets that is compared as it is written.
    #[inline]
    pub(super) fn as_written(
        kind: RuleKind,
        octets: usize,
        plain: Plain,
        written_at: usize,
        place: Place,
    ) -> Self {
        Self {
            kind,
            start: place.start,
            line: place.line,
            written_at: written_at as u32,
            written: octets as u32,
            octets: octets as u32,
            body_at: written_at as u32,
            body: plain.compared as u32,
            shape: plain.shape,
            folds: plain.folds,
        }
    }
}

/// A [`Rule`], or the place of one among the odd ones.
#[derive(Clone, Copy, Default)]
pub(super) struct Packed {
    /// The octets before the first wildcard, and where the pattern stands in the arena.
    head: Run,
    /// The octets that are written, and where they are in the file.
    written: Run,
    /// From the lowest bit on: the kind, whether anchored, wildcards, folds, the octets at the end that are not
    /// compared, and the line. Or the place among the odd rules, and a bit that says so.
    marks: u32,
}

/// How many octets there are, in eight bits, and from where on, in the others.
#[derive(Clone, Copy, Default)]
struct Run(u32);

impl Run {
    const OCTETS: u32 = 8;
    const START: u32 = 32 - Self::OCTETS;

    #[inline]
    fn new(start: u32, octets: u32) -> Self {
        Self(start << Self::OCTETS | octets)
    }

    #[inline]
    fn start(self) -> u32 {
        self.0 >> Self::OCTETS
    }

    #[inline]
    fn octets(self) -> u32 {
        self.0 & ((1 << Self::OCTETS) - 1)
    }
}

impl Packed {
    const ODD: u32 = 1 << 31;
    const ANCHORED: u32 = 1;
    const WILDCARDS: u32 = 2;
    const FOLDS: u32 = 4;
    const TAIL: u32 = 7;
    const LINE: u32 = 9;

    /// The rule in twelve octets, if it fits.
    #[inline]
    pub(super) fn new(rule: Rule) -> Option<Self> {
        let Rule { kind, start, line, written_at, written, octets, body_at, body, shape, folds } = rule;
        let tail = written.wrapping_sub(body);
        let line = line.number();
        // What is left of each number where it has too many bits.
        let too_much = (start | written_at) >> Run::START
            | written >> Run::OCTETS
            | tail >> (Self::LINE - Self::TAIL)
            | line >> (31 - Self::LINE);
        if octets != written || body_at != written_at || too_much != 0 {
            return None;
        }
        let marks = u32::from(kind == RuleKind::Disallow)
            | u32::from(shape.anchored) << Self::ANCHORED
            | (shape.wildcards as u32) << Self::WILDCARDS
            | u32::from(folds.bits()) << Self::FOLDS
            | tail << Self::TAIL
            | line << Self::LINE;
        let head = Run::new(written_at, shape.head);
        Some(Self { head, written: Run::new(start, written), marks })
    }

    /// The odd rule at this place.
    pub(super) fn odd(place: usize) -> Self {
        Self { marks: Self::ODD | place as u32, ..Self::default() }
    }

    /// Itself, where it is not odd; or else its place among the odd ones.
    #[inline]
    fn not_odd(self) -> Result<Self, usize> {
        if self.marks & Self::ODD == 0 { Ok(self) } else { Err((self.marks & !Self::ODD) as usize) }
    }

    /// Where in the arena is all that is compared, if there is no wildcard, no anchor and none of these folds.
    #[inline]
    pub(super) fn plain_prefix(self, folds: Folds) -> Option<Range<usize>> {
        const MORE: u32 = Packed::ODD | 1 << Packed::ANCHORED | 3 << Packed::WILDCARDS;
        let more = MORE | u32::from(folds.bits()) << Self::FOLDS;
        // Without a wildcard, what is before the first one is all that is compared.
        (self.marks & more == 0).then(|| self.head_range())
    }

    #[inline]
    fn head_range(self) -> Range<usize> {
        let start = self.head.start() as usize;
        start..start + self.head.octets() as usize
    }

    /// Where in the arena is what is before the first wildcard.
    #[inline]
    pub(super) fn head(self) -> Result<Range<usize>, usize> {
        Ok(self.not_odd()?.head_range())
    }

    /// Whether there is a wildcard that is compared.
    #[inline]
    pub(super) fn has_wildcard(self) -> Result<bool, usize> {
        Ok(self.not_odd()?.marks >> Self::WILDCARDS & 3 != 0)
    }

    /// What it competes by: how many octets count, and its kind.
    #[inline]
    pub(super) fn competes_by(self) -> Result<(u32, RuleKind), usize> {
        let rule = self.not_odd()?;
        Ok((rule.written.octets(), rule.kind()))
    }

    #[inline]
    fn kind(self) -> RuleKind {
        if self.marks & 1 != 0 { RuleKind::Disallow } else { RuleKind::Allow }
    }

    /// The whole rule, or its place among the odd ones.
    #[inline]
    pub(super) fn unpack(self) -> Result<Rule, usize> {
        let Self { head, written, .. } = self.not_odd()?;
        let shape = Shape {
            head: head.octets(),
            wildcards: match self.mark(Self::WILDCARDS, Self::FOLDS) {
                0 => Wildcards::None,
                1 => Wildcards::One,
                _ => Wildcards::Several,
            },
            anchored: self.mark(Self::ANCHORED, Self::WILDCARDS) != 0,
        };
        Ok(Rule {
            kind: self.kind(),
            start: written.start(),
            line: LineNumber::new(self.mark(Self::LINE, 31)).unwrap_or(LineNumber::FIRST),
            written_at: head.start(),
            written: written.octets(),
            octets: written.octets(),
            body_at: head.start(),
            body: written.octets() - self.mark(Self::TAIL, Self::LINE),
            shape,
            folds: Folds::from_bits(self.mark(Self::FOLDS, Self::TAIL) as u8),
        })
    }

    /// The marks from one bit up to another.
    #[inline]
    fn mark(self, from: u32, to: u32) -> u32 {
        self.marks >> from & ((1 << (to - from)) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_twelve_octets() {
        assert_eq!(size_of::<Packed>(), 12);
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let line = |number| LineNumber::new(number).expect("not 0");
        let rule = Rule {
            kind: RuleKind::Allow,
            start: 14,
            line: line(2),
            written_at: 7,
            written: 9,
            octets: 9,
            body_at: 7,
            body: 8,
            shape: Shape { head: 3, wildcards: Wildcards::One, anchored: true },
            folds: Folds::NONE,
        };
        let several = Shape { head: 0, wildcards: Wildcards::Several, anchored: false };
        let all_folds = Folds::QUERY | Folds::STARS | Folds::DOLLARS;
        let large = (1 << 24) - 1;
        let fitting = [
            rule,
            Rule { kind: RuleKind::Disallow, shape: several, folds: all_folds, body: 6, ..rule },
            Rule { start: large, line: line((1 << 22) - 1), ..rule },
            Rule { written_at: large, body_at: large, written: 255, octets: 255, body: 254, ..rule },
        ];
        for rule in fitting {
            let packed = Packed::new(rule).expect("it fits");
            assert_eq!(packed.unpack(), Ok(rule));
            assert_eq!(packed.competes_by(), Ok((rule.octets, rule.kind)));
            assert_eq!(packed.has_wildcard(), Ok(true));
            let head = rule.written_at as usize..(rule.written_at + rule.shape.head) as usize;
            assert_eq!(packed.head(), Ok(head));
        }
        let odd = [
            Rule { start: large + 1, ..rule },
            Rule { line: line(1 << 22), ..rule },
            Rule { written_at: large + 1, body_at: large + 1, ..rule },
            Rule { written: 256, octets: 256, body: 255, ..rule },
            Rule { octets: 8, ..rule },
            Rule { body_at: 16, ..rule },
            Rule { body: 5, ..rule },
            Rule { body: 10, ..rule },
        ];
        for rule in odd {
            assert!(Packed::new(rule).is_none(), "{rule:?}");
        }
        assert_eq!(Packed::odd(5).unpack(), Err(5));
        assert!(Packed::odd(5).plain_prefix(Folds::NONE).is_none());
    }

    #[test]
    fn a_plain_prefix_has_nothing_else_to_compare() {
        let shape = Shape { head: 4, wildcards: Wildcards::None, anchored: false };
        let plain = Plain { compared: 4, shape, folds: Folds::QUERY };
        let place = Place { start: 14, line: LineNumber::FIRST };
        let of = |plain| {
            Packed::new(Rule::as_written(RuleKind::Allow, 5, plain, 2, place)).expect("it fits")
        };
        assert_eq!(of(plain).plain_prefix(Folds::DOLLARS), Some(2..6));
        assert_eq!(of(plain).plain_prefix(Folds::QUERY), None);
        let anchored = Shape { anchored: true, ..shape };
        assert_eq!(of(Plain { shape: anchored, ..plain }).plain_prefix(Folds::NONE), None);
        let wild = Shape { wildcards: Wildcards::One, ..shape };
        assert_eq!(of(Plain { shape: wild, ..plain }).plain_prefix(Folds::NONE), None);
    }
}

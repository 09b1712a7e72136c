//! The rules of a crawler, ranked, beside the text of their patterns.
//!
//! A file can have tens of thousands of rules, and many files are cached: so a rule takes twelve octets (`packed`),
//! and the patterns stand in one text. It knows nothing of how the rules worth trying are found.

use std::cmp::Reverse;
use std::ops::Range;

use memchr::memchr;

use super::packed::{Packed, Place, Rule};
use crate::dialect::Comparison;
use crate::directive::RuleKind;
use crate::forms::Folds;
use crate::octets::{FEW, signs_but_dots, signs_but_dots_of_twice};
use crate::pattern::{PathPattern, Plain, Shape};
use crate::span::LineNumber;

/// The rules of a crawler by rank, and the texts of their patterns.
#[derive(Default)]
pub(super) struct Rules {
    by_rank: Box<[Packed]>,
    /// Those that are too much for twelve octets.
    odd: Box<[Rule]>,
    arena: Box<[u8]>,
    folds: Folds,
}

/// A rule as it was found.
#[derive(Clone, Copy)]
pub(super) struct Found<'r> {
    pub(super) kind: RuleKind,
    pub(super) pattern: &'r [u8],
    pub(super) octets: u32,
    pub(super) start: u32,
    pub(super) line: LineNumber,
}

/// What is compared of a rule.
#[derive(Clone, Copy)]
pub(super) struct Compared<'r> {
    pub(super) body: &'r [u8],
    pub(super) shape: Shape,
    pub(super) folds: Folds,
}

impl<'r> Compared<'r> {
    /// What is before the first wildcard.
    pub(super) fn head(&self) -> &'r [u8] {
        &self.body[..self.shape.head as usize]
    }

    /// The pieces after the first wildcard. One that reaches over a `?` is two: what is before it may be in
    /// another form of the target than what follows it (REP-12).
    pub(super) fn pieces(self) -> impl Iterator<Item = &'r [u8]> {
        let (before, behind) = self.wild_parts();
        [before, behind].into_iter().flat_map(|part| part.split(|&octet| octet == b'*'))
    }

    /// What follows the head, without what may be in another form than most of it.
    pub(super) fn wild_part_of_one_form(self) -> &'r [u8] {
        let (before, behind) = self.wild_parts();
        if behind.is_empty() { before } else { behind }
    }

    /// What follows the head up to the pattern's own `?`, where that makes a difference, and from there on.
    fn wild_parts(self) -> (&'r [u8], &'r [u8]) {
        let behind_head = &self.body[self.shape.head as usize..];
        let mark = if self.folds.has(Folds::QUERY) { memchr(b'?', behind_head) } else { None };
        behind_head.split_at(mark.unwrap_or(behind_head.len()))
    }
}

impl Rules {
    pub(super) fn len(&self) -> usize {
        self.by_rank.len()
    }

    /// What is compared of the rule at this rank.
    #[inline]
    pub(super) fn compared(&self, rank: usize) -> Compared<'_> {
        let Rule { body_at, body, shape, folds, .. } = self.rule(self.by_rank[rank]);
        Compared { body: &self.arena[body_at as usize..][..body as usize], shape, folds }
    }

    /// The text of the rule at this rank, where that is all there is to compare: a target of which these
    /// folds make another form matches if it starts with it, as it is.
    #[inline]
    pub(super) fn plain_prefix(&self, rank: usize, folds: Folds) -> Option<&[u8]> {
        Some(&self.arena[self.by_rank[rank].plain_prefix(folds)?])
    }

    /// What is before the first wildcard of the rule at this rank.
    #[inline]
    pub(super) fn head(&self, rank: usize) -> &[u8] {
        match self.by_rank[rank].head() {
            Ok(range) => &self.arena[range],
            Err(_) => self.compared(rank).head(),
        }
    }

    /// Whether the rule at this rank has a wildcard that is compared.
    #[inline]
    pub(super) fn has_wildcard(&self, rank: usize) -> bool {
        let of_odd = |place: usize| self.odd[place].shape.has_wildcard();
        self.by_rank[rank].has_wildcard().unwrap_or_else(of_odd)
    }

    /// What any of the rules asks for.
    pub(super) fn folds(&self) -> Folds {
        self.folds
    }

    /// How many octets of memory they take.
    pub(super) fn octets(&self) -> usize {
        size_of_val(&*self.by_rank) + size_of_val(&*self.odd) + self.arena.len()
    }

    pub(super) fn found(&self, rank: usize) -> Option<Found<'_>> {
        let Rule { kind, written_at, written, octets, start, line, .. } =
            self.rule(*self.by_rank.get(rank)?);
        let pattern = &self.arena[written_at as usize..][..written as usize];
        Some(Found { kind, pattern, octets, start, line })
    }

    #[inline]
    fn rule(&self, packed: Packed) -> Rule {
        packed.unpack().unwrap_or_else(|place| self.odd[place])
    }
}

/// Collects rules in the order of the file.
pub(super) struct RulesBuilder {
    rules: Vec<Packed>,
    odd: Vec<Rule>,
    arena: Vec<u8>,
    folds: Folds,
}

impl RulesBuilder {
    /// Room for this many rules, with this many octets of patterns.
    pub(super) fn new(rules: usize, octets: usize) -> Self {
        Self {
            rules: Vec::with_capacity(rules),
            odd: Vec::new(),
            arena: Vec::with_capacity(octets + 2 * FEW),
            folds: Folds::NONE,
        }
    }

    /// Adds a rule whose pattern stands in this range of the text of a file, in a dialect that compares patterns
    /// normalised.
    #[inline]
    pub(super) fn add(&mut self, kind: RuleKind, text: &[u8], range: Range<usize>, line: LineNumber) {
        let place = Place { start: range.start as u32, line };
        let octets = range.len();
        if octets <= FEW
            && let Some(few) = text[range.start..].first_chunk()
        {
            let signs = signs_but_dots(few, octets);
            // Most patterns are short and have no sign but dots: what is known of such a rule is mostly constant.
            if signs == 0 {
                let plain = Plain::of_words(octets);
                self.push(Rule::as_written(kind, octets, plain, self.arena.len(), place));
                return self.copy_few(few, octets);
            }
            return self.add_few(kind, few, octets, signs, place);
        }
        self.add_other(kind, text, range, place);
    }

    /// The same for a short pattern that has signs.
    #[inline(never)]
    fn add_few(&mut self, kind: RuleKind, few: &[u8; FEW], octets: usize, signs: u32, place: Place) {
        let written = &few[..octets];
        let Some(plain) = Plain::read_with_places(written, u64::from(signs)) else {
            return self.add_changed(kind, written, place);
        };
        self.push(Rule::as_written(kind, octets, plain, self.arena.len(), place));
        self.copy_few(few, octets);
    }

    /// The same for a pattern that is long or stands at the end of the text.
    #[inline(never)]
    fn add_other(&mut self, kind: RuleKind, text: &[u8], range: Range<usize>, place: Place) {
        let written = &text[range.clone()];
        let octets = written.len();
        let twice =
            if octets <= 2 * FEW { text[range.start..].first_chunk::<{ 2 * FEW }>() } else { None };
        let plain = match twice {
            Some(twice) => Plain::read_with_places(written, signs_but_dots_of_twice(twice, octets)),
            None => Plain::read(text, range),
        };
        let Some(plain) = plain else { return self.add_changed(kind, written, place) };
        self.push(Rule::as_written(kind, octets, plain, self.arena.len(), place));
        match twice {
            Some(twice) => self.copy_few(twice, octets),
            None => self.arena.extend_from_slice(written),
        }
    }

    /// The same for a pattern that is not compared as it is written.
    fn add_changed(&mut self, kind: RuleKind, written: &[u8], place: Place) {
        let pattern = PathPattern::read_changed(written, Comparison::Normalised);
        self.add_pattern(kind, written, &pattern, place);
    }

    /// Copies the first of a few octets. Copying all of them and dropping the excess takes fewer steps than copying
    /// the exact number.
    #[inline]
    fn copy_few(&mut self, few: &[u8], octets: usize) {
        let end = self.arena.len() + octets;
        self.arena.extend_from_slice(few);
        self.arena.truncate(end);
    }

    /// Adds a rule whose pattern may be compared in another form than it is written.
    pub(super) fn add_pattern(
        &mut self,
        kind: RuleKind,
        written: &[u8],
        pattern: &PathPattern<'_>,
        place: Place,
    ) {
        let (compared, shape, folds) = (pattern.body().len(), pattern.shape(), pattern.folds());
        let plain = Plain { compared, shape, folds };
        let rule = Rule::as_written(kind, written.len(), plain, self.arena.len(), place);
        let octets = pattern.octets() as u32;
        self.arena.extend_from_slice(written);
        if pattern.is_start_of(written) {
            return self.push(Rule { octets, ..rule });
        }
        self.push(Rule { octets, body_at: self.arena.len() as u32, ..rule });
        self.arena.extend_from_slice(pattern.body());
    }

    /// It is inlined by order: in the loop over all rules, most of what is known of a rule is constant.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn push(&mut self, rule: Rule) {
        self.folds = self.folds | rule.folds;
        let packed = Packed::new(rule).unwrap_or_else(|| self.odd(rule));
        self.rules.push(packed);
    }

    #[cold]
    fn odd(&mut self, rule: Rule) -> Packed {
        self.odd.push(rule);
        Packed::odd(self.odd.len() - 1)
    }

    /// The rules by rank.
    pub(super) fn finish(self) -> Rules {
        let competes_by = |packed: Packed| {
            let of_odd = |place: usize| (self.odd[place].octets, self.odd[place].kind);
            packed.competes_by().unwrap_or_else(of_odd)
        };
        let by_rank = ranked(self.rules, competes_by).into();
        Rules { by_rank, odd: self.odd.into(), arena: self.arena.into(), folds: self.folds }
    }
}

/// Ranks what competes by octets and kind: the most octets first, then allow, then what comes first (REP-8). Nearly
/// all patterns are short: so each rule is put where those of its length and kind go, in one pass, and only the long
/// ones are compared.
fn ranked<T: Copy>(mut rules: Vec<T>, competes_by: impl Fn(T) -> (u32, RuleKind)) -> Vec<T> {
    /// Up to here, comparing takes less than counting.
    const FEW_RULES: usize = 8;
    /// From so many octets on, lengths share a place.
    const LONG: u32 = 63;
    const PLACES: usize = 2 * (LONG as usize + 1);
    let by_comparing = |rules: &mut [T]| {
        rules.sort_by_key(|&rule| {
            let (octets, kind) = competes_by(rule);
            (Reverse(octets), kind)
        });
    };
    if rules.len() <= FEW_RULES {
        by_comparing(&mut rules);
        return rules;
    }
    let place_of = |rule: T| {
        let (octets, kind) = competes_by(rule);
        (LONG - octets.min(LONG)) as usize * 2 + usize::from(kind == RuleKind::Disallow)
    };
    let mut starts = [0_u32; PLACES];
    for &rule in &rules {
        starts[place_of(rule)] += 1;
    }
    let mut start = 0;
    for count in &mut starts {
        (*count, start) = (start, start + *count);
    }
    let long_ones = starts[2] as usize;
    // Any rule will do until all are at their places.
    let mut by_rank = vec![rules[0]; rules.len()];
    for rule in rules {
        let start = &mut starts[place_of(rule)];
        by_rank[*start as usize] = rule;
        *start += 1;
    }
    by_comparing(&mut by_rank[..long_ones]);
    by_rank
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { start: 7, line: LineNumber::FIRST };

    #[test]
    fn what_is_added_is_found() {
        let long = format!("/{}*b$", "a".repeat(3000));
        let fitting = format!("/{}$", "a".repeat(253));
        let few = format!("/{}", "a".repeat(31));
        for written in [
            "/",
            "*",
            "/a.b-c_d/1",
            "/a*",
            "/a***",
            "/a****",
            "/a*b$",
            "/a*b*$",
            "/%61",
            "/a?b$c%24",
            &few,
            &fitting,
            &long,
        ] {
            for kind in [RuleKind::Allow, RuleKind::Disallow] {
                let pattern = PathPattern::new(written.as_bytes());
                let mut builder = RulesBuilder::new(0, 0);
                builder.add_pattern(kind, written.as_bytes(), &pattern, PLACE);
                // In the middle of a text, and at its end.
                for after in ["", "\nDisallow: /and-so-on?with=a*few#signs"] {
                    let text = format!("Allow: {written}{after}");
                    builder.add(kind, text.as_bytes(), 7..7 + written.len(), LineNumber::FIRST);
                }
                let rules = builder.finish();
                assert_eq!(rules.len(), 3);
                for rank in 0..3 {
                    let compared = rules.compared(rank);
                    assert_eq!((compared.body, compared.shape), (pattern.body(), pattern.shape()));
                    assert!(compared.folds == pattern.folds());
                    assert_eq!(rules.head(rank), compared.head());
                    assert_eq!(rules.has_wildcard(rank), compared.shape.has_wildcard());
                    let found = rules.found(rank).expect("it was added");
                    assert_eq!((found.kind, found.pattern), (kind, written.as_bytes()));
                    assert_eq!((found.start, found.line), (7, LineNumber::FIRST));
                    assert_eq!(found.octets as usize, pattern.octets());
                }
            }
        }
    }

    #[test]
    fn ranking_many_is_sorting_them() {
        let mut state = 1u32;
        for count in [0, 1, 8, 9, 100, 1000] {
            for longest in [3, 64, 65, 200] {
                let rules: Vec<_> = (0..count)
                    .map(|place| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        ((state >> 8) % longest, state >> 31, place)
                    })
                    .collect();
                let kind = |bit| if bit == 0 { RuleKind::Allow } else { RuleKind::Disallow };
                let mut expected = rules.clone();
                expected.sort_unstable_by_key(|&(octets, kind, place)| (Reverse(octets), kind, place));
                let ranked = ranked(rules, |(octets, bit, _)| (octets, kind(bit)));
                assert_eq!(ranked, expected, "{count} up to {longest}");
            }
        }
    }

    #[test]
    fn ranks_are_by_octets_then_kind_then_place() {
        let mut builder = RulesBuilder::new(0, 0);
        let added = [
            ("/b", RuleKind::Disallow),
            ("/a", RuleKind::Allow),
            ("/abc", RuleKind::Disallow),
            ("/d", RuleKind::Allow),
        ];
        for ((written, kind), start) in added.into_iter().zip(0..) {
            let written = written.as_bytes();
            builder.add_pattern(kind, written, &PathPattern::new(written), Place { start, ..PLACE });
        }
        let rules = builder.finish();
        let starts = (0..4).filter_map(|rank| rules.found(rank)).map(|found| found.start);
        assert!(starts.eq([2, 1, 3, 0]));
    }
}

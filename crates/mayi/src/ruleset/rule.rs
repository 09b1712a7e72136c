//! Rules whose patterns have been read → 16 octets each, beside the text of their patterns.
//!
//! A file can have tens of thousands of rules, and many files are cached. Nearly every rule has a
//! pattern that is already normalised and not very long: such a rule is packed into one number. Other
//! rules are stored separately, in full. It knows nothing of how the rules worth trying are found.

use std::ops::Range;

use memchr::memchr;

use crate::directive::RuleKind;
use crate::forms::Folds;
use crate::octets::SIXTEEN;
use crate::pattern::{PathPattern, Plain, Shape, Wildcards};
use crate::span::LineNumber;

/// The rules of a crawler by rank, and the texts of their patterns.
#[derive(Default)]
pub(super) struct Rules {
    by_rank: Box<[Rule]>,
    odd: Box<[Form]>,
    arena: Box<[u8]>,
    folds: Folds,
}

/// A rule of those, without what is in its number.
#[derive(Clone, Copy)]
struct Rule {
    /// Where the pattern is in the file, and on which line.
    start: u32,
    line: LineNumber,
    /// Where the pattern as written stands in the arena.
    written_at: u32,
    form: Packed,
}

/// What there is to know of a rule's pattern and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    kind: RuleKind,
    /// How many octets are written, and how many count (REP-8).
    written: u32,
    octets: u32,
    /// Where in the arena, from where the written pattern is, what is compared starts, and how long it
    /// is. It is the start of the written pattern, or stands right after it where it is something else.
    body_at: u32,
    body: u32,
    shape: Shape,
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

    /// The same without what may be in another form than most of it.
    pub(super) fn pieces_of_one_form(self) -> impl Iterator<Item = &'r [u8]> {
        let (before, behind) = self.wild_parts();
        let part = if behind.is_empty() { before } else { behind };
        part.split(|&octet| octet == b'*')
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
        let rule = &self.by_rank[rank];
        let start = rule.written_at as usize;
        match rule.form.compared() {
            Ok((octets, shape, folds)) => {
                Compared { body: &self.arena[start..start + octets], shape, folds }
            }
            Err(place) => {
                let Form { body_at, body, shape, folds, .. } = self.odd[place];
                let start = start + body_at as usize;
                Compared { body: &self.arena[start..start + body as usize], shape, folds }
            }
        }
    }

    /// The text of the rule at this rank, where that is all there is to compare: a target of which these
    /// folds make another form matches if it starts with it, as it is.
    #[inline]
    pub(super) fn plain_prefix(&self, rank: usize, folds: Folds) -> Option<&[u8]> {
        let rule = &self.by_rank[rank];
        let start = rule.written_at as usize;
        Some(&self.arena[start..start + rule.form.octets_of_plain_prefix(folds)?])
    }

    /// What is before the first wildcard of the rule at this rank, where that is quickly said.
    #[inline]
    pub(super) fn short_head(&self, rank: usize) -> Option<&[u8]> {
        let rule = &self.by_rank[rank];
        let start = rule.written_at as usize;
        Some(&self.arena[start..start + rule.form.head()?])
    }

    /// What any of the rules asks for.
    pub(super) fn folds(&self) -> Folds {
        self.folds
    }

    /// All of them, by rank.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Compared<'_>> {
        (0..self.len()).map(|rank| self.compared(rank))
    }

    /// How many octets of memory they take.
    pub(super) fn octets(&self) -> usize {
        size_of_val(&*self.by_rank) + size_of_val(&*self.odd) + self.arena.len()
    }

    /// How many octets all patterns have.
    pub(super) fn arena_octets(&self) -> usize {
        self.arena.len()
    }

    pub(super) fn found(&self, rank: usize) -> Option<Found<'_>> {
        let rule = self.by_rank.get(rank)?;
        let form = self.form(rule);
        let start = rule.written_at as usize;
        Some(Found {
            kind: form.kind,
            pattern: &self.arena[start..start + form.written as usize],
            octets: form.octets,
            start: rule.start,
            line: rule.line,
        })
    }

    #[inline]
    fn form(&self, rule: &Rule) -> Form {
        rule.form.unpack().unwrap_or_else(|place| self.odd[place])
    }
}

/// Collects rules in the order of the file.
pub(super) struct RulesBuilder {
    rules: Vec<Rule>,
    odd: Vec<Form>,
    arena: Vec<u8>,
    /// How each rule competes, as a number whose order is that of ranks: the most octets first, then allow,
    /// then what comes first in the file (REP-8).
    ranking: Vec<u64>,
    folds: Folds,
}

impl RulesBuilder {
    /// Room for this many rules, with this many octets of patterns.
    pub(super) fn new(rules: usize, octets: usize) -> Self {
        Self {
            rules: Vec::with_capacity(rules),
            odd: Vec::new(),
            arena: Vec::with_capacity(octets + SIXTEEN),
            ranking: Vec::with_capacity(rules),
            folds: Folds::NONE,
        }
    }

    /// Adds a rule whose pattern stands in this range of the text of a file, and is compared as it is written.
    #[inline]
    pub(super) fn add_plain(
        &mut self,
        kind: RuleKind,
        text: &[u8],
        range: Range<usize>,
        plain: Plain,
        line: LineNumber,
    ) {
        let start = range.start as u32;
        let Some(form) = Packed::plain(kind, range.len() as u32, plain) else {
            return self.add_long(kind, &text[range], plain, (start, line));
        };
        let written_at = self.arena.len() as u32;
        // To copy sixteen octets and to drop those that are too many takes fewer steps than to copy as many as there are.
        match text[range.start..].first_chunk::<SIXTEEN>() {
            Some(sixteen) if range.len() <= SIXTEEN => {
                self.arena.extend_from_slice(sixteen);
                self.arena.truncate(written_at as usize + range.len());
            }
            _ => self.arena.extend_from_slice(&text[range.clone()]),
        }
        self.folds = self.folds | plain.folds;
        self.rank(kind, range.len() as u32);
        self.rules.push(Rule { start, line, written_at, form });
    }

    /// The same for one that is too long to be packed.
    #[cold]
    fn add_long(&mut self, kind: RuleKind, written: &[u8], plain: Plain, place: (u32, LineNumber)) {
        let Plain { compared, shape, folds } = plain;
        let octets = written.len() as u32;
        let body = compared as u32;
        let form = Form { kind, written: octets, octets, body_at: 0, body, shape, folds };
        self.push(form, written, &[], place);
    }

    /// Adds a rule whose pattern may be compared in another form.
    pub(super) fn add(
        &mut self,
        kind: RuleKind,
        written: &[u8],
        pattern: &PathPattern<'_>,
        place: (u32, LineNumber),
    ) {
        let is_start = pattern.is_start_of(written);
        let form = Form {
            kind,
            written: written.len() as u32,
            octets: pattern.octets() as u32,
            body_at: if is_start { 0 } else { written.len() as u32 },
            body: pattern.body().len() as u32,
            shape: pattern.shape(),
            folds: pattern.folds(),
        };
        self.push(form, written, if is_start { &[] } else { pattern.body() }, place);
    }

    /// Adds a rule with what is written, and what is compared where that is something else.
    fn push(&mut self, form: Form, written: &[u8], body: &[u8], (start, line): (u32, LineNumber)) {
        let written_at = self.arena.len() as u32;
        self.arena.extend_from_slice(written);
        if !body.is_empty() {
            self.arena.extend_from_slice(body);
        }
        self.folds = self.folds | form.folds;
        self.rank(form.kind, form.octets);
        let form = Packed::new(form).unwrap_or_else(|| {
            self.odd.push(form);
            Packed::odd(self.odd.len() - 1)
        });
        self.rules.push(Rule { start, line, written_at, form });
    }

    /// How the next rule competes.
    #[inline]
    fn rank(&mut self, kind: RuleKind, octets: u32) {
        let place = self.rules.len() as u64;
        let allow_first = u64::from(kind == RuleKind::Disallow);
        self.ranking.push(u64::from(u32::MAX - octets) << 32 | allow_first << 31 | place);
    }

    /// The rules by rank.
    pub(super) fn finish(self) -> Rules {
        let place = |ranked: &u64| (*ranked & u64::from(u32::MAX >> 1)) as usize;
        let ranking = sorted(self.ranking);
        let by_rank = ranking.iter().map(|ranked| self.rules[place(ranked)]).collect();
        Rules { by_rank, odd: self.odd.into(), arena: self.arena.into(), folds: self.folds }
    }
}

/// Sorts the numbers by which rules are ranked. They come in file order, and nearly all patterns are short: so each is
/// put where the rules of its length and kind go, in one pass, and only the long ones are compared.
fn sorted(mut ranking: Vec<u64>) -> Vec<u64> {
    /// Up to here, comparing takes less than counting.
    const FEW: usize = 24;
    /// From so many octets on, lengths share a place.
    const LONG: u64 = 63;
    const PLACES: usize = 2 * (LONG as usize + 1);
    if ranking.len() <= FEW {
        ranking.sort_unstable();
        return ranking;
    }
    // The longest first, allow before disallow: as the numbers themselves are.
    let place_of = |ranked: u64| {
        let octets = (u64::from(u32::MAX) - (ranked >> 32)).min(LONG);
        ((LONG - octets) << 1 | ranked >> 31 & 1) as usize & (PLACES - 1)
    };
    let mut starts = [0_u32; PLACES];
    for &ranked in &ranking {
        starts[place_of(ranked)] += 1;
    }
    let mut start = 0;
    for count in &mut starts {
        (*count, start) = (start, start + *count);
    }
    let long_ones = starts[2] as usize;
    let mut by_rank = vec![0; ranking.len()];
    for ranked in ranking {
        let start = &mut starts[place_of(ranked)];
        by_rank[*start as usize] = ranked;
        *start += 1;
    }
    by_rank[..long_ones].sort_unstable();
    by_rank
}

/// A [`Form`] in 31 bits, or the place of one among the odd ones.
#[derive(Clone, Copy)]
struct Packed(u32);

impl Packed {
    const ODD: u32 = 1 << 31;
    /// From the lowest bit on: the kind, whether anchored, wildcards, folds, the octets at the end that are not
    /// compared, then the octets that are written and those before the first wildcard.
    const ANCHORED: u32 = 1;
    const WILDCARDS: u32 = 2;
    const FOLDS: u32 = 4;
    const TAIL: u32 = 7;
    const WRITTEN: u32 = 9;
    const HEAD: u32 = 20;
    const MOST_TAIL: u32 = 3;
    const MOST_OCTETS: u32 = (1 << 11) - 1;

    fn new(form: Form) -> Option<Self> {
        let Form { kind, written, octets, body_at, body, shape, folds } = form;
        let tail = written.checked_sub(body)?;
        let fits = body_at == 0
            && octets == written
            && written <= Self::MOST_OCTETS
            && tail <= Self::MOST_TAIL;
        fits.then(|| Self::of(kind, written, tail, shape, folds))
    }

    /// A pattern of this many octets that is compared as it is written.
    #[inline]
    fn plain(kind: RuleKind, written: u32, plain: Plain) -> Option<Self> {
        let Plain { compared, shape, folds } = plain;
        let tail = written - compared as u32;
        let fits = written <= Self::MOST_OCTETS && tail <= Self::MOST_TAIL;
        fits.then(|| Self::of(kind, written, tail, shape, folds))
    }

    #[inline]
    fn of(kind: RuleKind, written: u32, tail: u32, shape: Shape, folds: Folds) -> Self {
        Self(
            u32::from(kind == RuleKind::Disallow)
                | u32::from(shape.anchored) << Self::ANCHORED
                | (shape.wildcards as u32) << Self::WILDCARDS
                | u32::from(folds.bits()) << Self::FOLDS
                | tail << Self::TAIL
                | written << Self::WRITTEN
                | shape.head << Self::HEAD,
        )
    }

    fn odd(place: usize) -> Self {
        Self(Self::ODD | place as u32)
    }

    /// How many octets are compared, where there is no wildcard, no anchor and none of these folds.
    #[inline]
    fn octets_of_plain_prefix(self, folds: Folds) -> Option<usize> {
        const MORE: u32 = Packed::ODD | 1 << Packed::ANCHORED | 3 << Packed::WILDCARDS;
        let more = MORE | u32::from(folds.bits()) << Self::FOLDS;
        // Without a wildcard, what is before the first one is all that is compared.
        (self.0 & more == 0).then_some((self.0 >> Self::HEAD) as usize)
    }

    /// How many octets are before the first wildcard, where the form is not an odd one.
    #[inline]
    fn head(self) -> Option<usize> {
        (self.0 & Self::ODD == 0).then_some((self.0 >> Self::HEAD) as usize)
    }

    /// How many octets from the start of the written pattern are compared, and how; or the place of the form
    /// among the odd ones.
    #[inline]
    fn compared(self) -> Result<(usize, Shape, Folds), usize> {
        if self.0 & Self::ODD != 0 {
            return Err((self.0 & !Self::ODD) as usize);
        }
        let part = |from: u32, most: u32| self.0 >> from & most;
        let octets = part(Self::WRITTEN, Self::MOST_OCTETS) - part(Self::TAIL, Self::MOST_TAIL);
        let shape = Shape {
            head: part(Self::HEAD, Self::MOST_OCTETS),
            wildcards: match part(Self::WILDCARDS, 3) {
                0 => Wildcards::None,
                1 => Wildcards::One,
                _ => Wildcards::Several,
            },
            anchored: part(Self::ANCHORED, 1) != 0,
        };
        Ok((octets as usize, shape, Folds::from_bits(part(Self::FOLDS, 7) as u8)))
    }

    /// The form, or its place among the odd ones.
    #[inline]
    fn unpack(self) -> Result<Form, usize> {
        let (body, shape, folds) = self.compared()?;
        let written = self.0 >> Self::WRITTEN & Self::MOST_OCTETS;
        let kind = if self.0 & 1 != 0 { RuleKind::Disallow } else { RuleKind::Allow };
        Ok(Form { kind, written, octets: written, body_at: 0, body: body as u32, shape, folds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_sixteen_octets() {
        assert_eq!(size_of::<Rule>(), 16);
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let long = format!("/{}*b$", "a".repeat(3000));
        let fitting = format!("/{}$", "a".repeat(2045));
        for written in [
            "/",
            "*",
            "/a*",
            "/a***",
            "/a****",
            "/a*b$",
            "/a*b*$",
            "/%61",
            "/a?b$c%24",
            &fitting,
            &long,
        ] {
            for kind in [RuleKind::Allow, RuleKind::Disallow] {
                let written = written.as_bytes();
                let pattern = PathPattern::new(written);
                let mut builder = RulesBuilder::new(0, 0);
                builder.add(
                    RuleKind::Allow,
                    b"/other",
                    &PathPattern::new(b"/other"),
                    (3, LineNumber::FIRST),
                );
                builder.add(kind, written, &pattern, (7, LineNumber::FIRST));
                let rules = builder.finish();
                let is_it = |rank: &usize| rules.found(*rank).is_some_and(|found| found.start == 7);
                let rank = (0..2).find(is_it).expect("it was added");
                let compared = rules.compared(rank);
                assert_eq!((compared.body, compared.shape), (pattern.body(), pattern.shape()));
                assert!(compared.folds == pattern.folds());
                let found = rules.found(rank).expect("it was added");
                assert_eq!((found.kind, found.pattern), (kind, written));
                assert_eq!(found.octets as usize, pattern.octets());
            }
        }
    }

    #[test]
    fn ranking_many_is_sorting_them() {
        let mut state = 1u32;
        for count in [0, 1, 24, 25, 100, 1000] {
            for longest in [3, 64, 65, 200] {
                let mut builder = RulesBuilder::new(0, 0);
                for place in 0..count {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let kind = if state >> 31 == 0 { RuleKind::Allow } else { RuleKind::Disallow };
                    builder.rank(kind, (state >> 8) % longest);
                    let form = Packed(0);
                    builder.rules.push(Rule {
                        start: place,
                        line: LineNumber::FIRST,
                        written_at: 0,
                        form,
                    });
                }
                let mut expected = builder.ranking.clone();
                expected.sort_unstable();
                assert_eq!(sorted(builder.ranking), expected, "{count} up to {longest}");
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
            builder.add(kind, written, &PathPattern::new(written), (start, LineNumber::FIRST));
        }
        let rules = builder.finish();
        let starts = (0..4).filter_map(|rank| rules.found(rank)).map(|found| found.start);
        assert!(starts.eq([2, 1, 3, 0]));
    }
}

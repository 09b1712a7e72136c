//! Octets, several at a time: how the parser and the matchers look at text.
//!
//! It knows nothing of lines or patterns. Each function does what a loop over single octets would do,
//! in fewer steps and without `unsafe`; the tests below compare each with that loop.

mod block;

use std::ops::{ControlFlow, Range};

pub(crate) use block::{BLOCK, Block, SIXTEEN, places_of_either};
use block::{others_than_words, places_of_pair};

/// The first eight octets of a text as a number, the first one lowest; a shorter text is filled with zeros.
pub(crate) fn first_eight(text: &[u8]) -> u64 {
    match text.first_chunk::<8>() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => text.iter().rev().fold(0, |number, &octet| number << 8 | u64::from(octet)),
    }
}

/// The number of [`first_eight`] of the same octets in lower case.
#[inline]
pub(crate) const fn eight_in_lower_case(octets: u64) -> u64 {
    const fn every_octet(octet: u8) -> u64 {
        u64::from_le_bytes([octet; 8])
    }
    // Sums of seven bits each have the high bit of an octet set where it is not before `A`, or is after `Z`.
    let ascii = octets & every_octet(0x7F);
    let from_a = ascii + every_octet(0x80 - b'A');
    let after_z = ascii + every_octet(0x7F - b'Z');
    let upper_case = from_a & !after_z & !octets & every_octet(0x80);
    octets | upper_case >> 2
}

/// A number of [`first_eight`] that has all bits set in this many octets, and none after them.
pub(crate) const fn mask_of(octets: usize) -> u64 {
    if octets >= 8 { u64::MAX } else { (1 << (8 * octets)) - 1 }
}

/// How many octets two texts have in common at their start, if the numbers are their [`first_eight`].
pub(crate) fn common_of_first_eight(one: u64, other: u64) -> usize {
    ((one ^ other).trailing_zeros() / 8) as usize
}

/// A set of octets, of which most texts have few.
pub(crate) struct OctetSet {
    table: [bool; 256],
    /// The first octet of the range up to `9` of which none is in the set, so that the range can be skipped.
    digits_from: u8,
}

impl OctetSet {
    /// The octets for which `table` has `true`. Letters, digits, `-` and `_` can't be among them: these are
    /// what is skipped sixteen at a time.
    pub(crate) const fn new(table: [bool; 256]) -> Self {
        let mut octet = 0;
        while octet < 256 {
            let is_passed_over =
                (octet as u8).is_ascii_alphanumeric() || octet as u8 == b'-' || octet as u8 == b'_';
            assert!(!(is_passed_over && table[octet]), "it is passed over");
            octet += 1;
        }
        let digits_from = if table[b'/' as usize] { b'0' } else { b'/' };
        Self { table, digits_from }
    }

    pub(crate) fn has(&self, octet: u8) -> bool {
        self.table[usize::from(octet)]
    }

    /// The place of the first octet that is in the set.
    pub(crate) fn first_in(&self, text: &[u8]) -> Option<usize> {
        let Some(last) = text.last_chunk::<SIXTEEN>() else {
            return text.iter().position(|&octet| self.has(octet));
        };
        let (sixteens, _) = text.as_chunks::<SIXTEEN>();
        let at = sixteens
            .iter()
            .enumerate()
            .find_map(|(place, sixteen)| Some(place * SIXTEEN + self.first_of_sixteen(sixteen)?));
        // The rest is read together with the octets before it, none of which is in the set.
        at.or_else(|| Some(text.len() - SIXTEEN + self.first_of_sixteen(last)?))
    }

    #[inline]
    fn first_of_sixteen(&self, octets: &[u8; SIXTEEN]) -> Option<usize> {
        let mut others = others_than_words(octets, self.digits_from);
        while others != 0 {
            let place = others.trailing_zeros() as usize;
            if self.has(octets[place & (SIXTEEN - 1)]) {
                return Some(place);
            }
            others &= others - 1;
        }
        None
    }
}

/// Which signs a text has: octets that are not letters, digits, `-`, `_` or `/`. Two different signs may
/// share a bit, so a set is certain only about the signs that a text does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signs(u16);

impl Signs {
    pub(crate) const NONE: Self = Self(0);
    /// What to assume of a text that was not looked at.
    pub(crate) const ALL: Self = Self(u16::MAX);

    #[inline]
    pub(crate) fn with(self, sign: u8) -> Self {
        Self(self.0 | 1 << (sign & 15))
    }

    /// Whether all of these may be among them.
    #[inline]
    pub(crate) fn may_have(self, others: Self) -> bool {
        others.0 & !self.0 == 0
    }

    /// The set as a number.
    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    /// The set that has these [`bits`](Self::bits).
    pub(crate) const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }
}

/// Visits the signs (see [`Signs`]) in this range of a text, with the place of each, until the visitor
/// breaks. Octets around the range may be read, but are never reported.
#[inline(always)]
#[allow(clippy::inline_always)] // the callers are loops over octets
pub(crate) fn try_each_sign<B>(
    text: &[u8],
    range: Range<usize>,
    tell: impl FnMut(usize, u8) -> ControlFlow<B>,
) -> ControlFlow<B> {
    try_each_from::<b'/', B>(text, range, tell)
}

/// The same without dots, which many texts have and few callers need.
#[inline(always)]
#[allow(clippy::inline_always)] // the callers are loops over octets
pub(crate) fn try_each_sign_but_dots<B>(
    text: &[u8],
    range: Range<usize>,
    tell: impl FnMut(usize, u8) -> ControlFlow<B>,
) -> ControlFlow<B> {
    try_each_from::<b'.', B>(text, range, tell)
}

/// Goes over what is neither a letter, `-` nor `_`, nor from `FROM` up to `9`.
#[inline(always)]
#[allow(clippy::inline_always)] // the callers are loops over octets
fn try_each_from<const FROM: u8, B>(
    text: &[u8],
    range: Range<usize>,
    mut tell: impl FnMut(usize, u8) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let Some(last) = text.last_chunk::<SIXTEEN>() else {
        for (place, &octet) in text[..range.end].iter().enumerate().skip(range.start) {
            let is_word = octet.is_ascii_alphabetic()
                || matches!(octet, b'-' | b'_')
                || (FROM..=b'9').contains(&octet);
            if !is_word {
                tell(place, octet)?;
            }
        }
        return ControlFlow::Continue(());
    };
    let mut at = range.start;
    while at < range.end {
        // The next sixteen octets, or the last ones, of which some have been looked at before.
        let next = text[at..].first_chunk().map(|sixteen| (at, sixteen));
        let (start, sixteen) = next.unwrap_or((text.len() - SIXTEEN, last));
        let mut signs = others_than_words(sixteen, FROM) & u32::MAX << (at - start);
        if range.end - start < SIXTEEN {
            signs &= (1 << (range.end - start)) - 1;
        }
        while signs != 0 {
            let place = signs.trailing_zeros() as usize;
            tell(start + place, sixteen[place & (SIXTEEN - 1)])?;
            signs &= signs - 1;
        }
        at = start + SIXTEEN;
    }
    ControlFlow::Continue(())
}

/// How many octets [`signs_but_dots`] looks at.
pub(crate) const FEW: usize = 2 * SIXTEEN;

/// Where signs (see [`Signs`]) but dots are among the first of a few octets, one bit each.
#[inline]
pub(crate) fn signs_but_dots(octets: &[u8; FEW], count: usize) -> u32 {
    let (sixteens, _) = octets.as_chunks();
    let mut signs = others_than_words(&sixteens[0], b'.');
    if count > SIXTEEN {
        signs |= others_than_words(&sixteens[1], b'.') << SIXTEEN;
    }
    signs & ((1_u64 << count) - 1) as u32
}

/// The same of twice as many octets.
#[inline]
pub(crate) fn signs_but_dots_of_twice(octets: &[u8; 2 * FEW], count: usize) -> u64 {
    let (fews, _) = octets.as_chunks();
    let signs = signs_but_dots(&fews[0], count.min(FEW));
    u64::from(signs) | u64::from(signs_but_dots(&fews[1], count.saturating_sub(FEW))) << FEW
}

/// The first place where these two octets are side by side.
#[inline]
pub(crate) fn first_pair(text: &[u8], pair: [u8; 2]) -> Option<usize> {
    let Some(last) = text.last_chunk() else {
        return text.windows(2).position(|two| two == pair);
    };
    let mut at = 0;
    while let Some(octets) = text[at..].first_chunk() {
        let places = places_of_pair(octets, pair);
        if places != 0 {
            return Some(at + places.trailing_zeros() as usize);
        }
        at += SIXTEEN;
    }
    // The rest is read together with the octets before it, where the pair does not occur.
    let places = places_of_pair(last, pair);
    (places != 0).then(|| text.len() - (SIXTEEN + 1) + places.trailing_zeros() as usize)
}

/// The place of the first line feed or carriage return.
pub(crate) fn first_line_end(text: &[u8]) -> Option<usize> {
    /// If a line is longer than this many times eight octets, its end is found faster by a search that takes
    /// longer to start.
    const SHORT: usize = 8;
    let every_octet = |octet: u8| u64::from_le_bytes([octet; 8]);
    let (eights, _) = text.as_chunks::<8>();
    let mut at = 0;
    for eight in eights.iter().take(SHORT) {
        let octets = u64::from_le_bytes(*eight);
        // The high bit of each octet that is less than 0x0E, up to and with the first such octet;
        // after that one, a bit may be set for others.
        let mut low = octets.wrapping_sub(every_octet(0x0E)) & !octets & every_octet(0x80);
        while low != 0 {
            let place = (low.trailing_zeros() / 8) as usize;
            if matches!(eight[place], b'\n' | b'\r') {
                return Some(at + place);
            }
            low &= low - 1;
        }
        at += 8;
    }
    let rest = &text[at..];
    let found = if rest.len() < 8 {
        rest.iter().position(|octet| matches!(octet, b'\n' | b'\r'))
    } else {
        memchr::memchr2(b'\n', b'\r', rest)
    };
    found.map(|place| at + place)
}

/// Counts the line ends in a text: CR, LF, and CRLF as one (REP-2).
pub(crate) fn count_line_ends(text: &[u8]) -> u32 {
    // An octet ends a line unless it is the CR of a CRLF. Sums of so few fit into an octet, which lets
    // the compiler add up many at a time.
    const FEW: usize = 255;
    let Some((&last, _)) = text.split_last() else { return 0 };
    let ends =
        |octet: u8, next: u8| u8::from(octet == b'\n') | u8::from(octet == b'\r' && next != b'\n');
    let mut count = u32::from(ends(last, 0));
    for (octets, nexts) in text[..text.len() - 1].chunks(FEW).zip(text[1..].chunks(FEW)) {
        let pairs = octets.iter().zip(nexts);
        count += u32::from(pairs.fold(0, |sum: u8, (&octet, &next)| sum + ends(octet, next)));
    }
    count
}

/// Which of the first octets of a text, up to a block of them, end a line: LF, CR, and of CRLF the CR.
pub(crate) fn line_ends_of_block(text: &[u8]) -> u64 {
    let mut copied = [0; BLOCK];
    let octets = text.first_chunk().unwrap_or_else(|| {
        copied[..text.len()].copy_from_slice(text);
        &copied
    });
    let block = Block::new(octets);
    let returns = block.places_of(b'\r');
    returns | block.places_of(b'\n') & !(returns << 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_made_lower_case_as_one_number() {
        for octet in 0..=u8::MAX {
            for place in 0..8 {
                let mut text = *b"aZ@[\xC1\0z_";
                text[place] = octet;
                let expected = first_eight(&text.to_ascii_lowercase());
                assert_eq!(eight_in_lower_case(first_eight(&text)), expected, "{octet} at {place}");
            }
        }
    }

    #[test]
    fn signs_among_a_few_octets_are_found_where_they_are() {
        let words = *b"/abc.DEF-012_xyz/abc.DEF-012_xyz";
        assert_eq!(signs_but_dots(&words, FEW), 0);
        for sign in [b'*', b'%', b' ', b'\n', 0, 0x80] {
            for place in 0..words.len() {
                let mut octets = words;
                octets[place] = sign;
                for count in 0..=words.len() {
                    let expected = if place < count { 1 << place } else { 0 };
                    assert_eq!(signs_but_dots(&octets, count), expected, "{sign} at {place}");
                    for before in [0, FEW] {
                        let mut twice = [b'a'; 2 * FEW];
                        twice[before..before + FEW].copy_from_slice(&octets);
                        let signs = signs_but_dots_of_twice(&twice, before + count);
                        assert_eq!(signs, u64::from(expected) << before, "{sign} at {place} of twice");
                    }
                }
            }
        }
    }

    /// Texts of all lengths up to a few blocks, with an octet of interest at each place.
    fn texts() -> impl Iterator<Item = Vec<u8>> {
        let octets = [
            0, b'\t', b'\n', 0x0B, b'\r', 0x0E, b' ', b'/', b'9', b'a', b'~', 0x7F, 0x80, 0x8A, 0x8D,
            0xFF,
        ];
        (0..100).flat_map(move |length| {
            (0..=length).step_by(7).flat_map(move |place| {
                octets.into_iter().map(move |octet| {
                    let mut text = vec![b'x'; length];
                    text[place..].iter_mut().step_by(3).for_each(|spot| *spot = octet);
                    text
                })
            })
        })
    }

    #[test]
    fn line_ends_are_found_where_they_are() {
        for text in texts() {
            let expected = text.iter().position(|octet| matches!(octet, b'\n' | b'\r'));
            assert_eq!(first_line_end(&text), expected, "{text:?}");
        }
    }

    #[test]
    fn members_of_a_set_are_found_where_they_are() {
        for others in [&b"\xFF\t"[..], b"/ ", b"\x0E\x80~"] {
            let mut table = [false; 256];
            for &octet in others {
                table[usize::from(octet)] = true;
            }
            let set = OctetSet::new(table);
            for text in texts() {
                let expected = text.iter().position(|&octet| set.has(octet));
                assert_eq!(set.first_in(&text), expected, "{text:?}");
            }
        }
    }

    #[test]
    fn signs_are_told_of_in_order() {
        for text in texts() {
            let is_word = |octet: u8| octet.is_ascii_alphanumeric() || b"-_/".contains(&octet);
            for start in (0..=text.len()).step_by(5) {
                for end in (start..=text.len()).step_by(9).chain([text.len()]) {
                    let mut told = Vec::new();
                    let all = try_each_sign(&text, start..end, |place, octet| {
                        told.push((place, octet));
                        ControlFlow::<()>::Continue(())
                    });
                    assert!(all.is_continue());
                    let octets = text[..end].iter().copied().enumerate().skip(start);
                    let expected: Vec<_> = octets.filter(|(_, octet)| !is_word(*octet)).collect();
                    assert_eq!(told, expected, "{text:?} {start} {end}");
                    let mut others = Vec::new();
                    let all = try_each_sign_but_dots(&text, start..end, |place, octet| {
                        others.push((place, octet));
                        ControlFlow::<()>::Continue(())
                    });
                    assert!(all.is_continue() && !others.iter().any(|(_, octet)| *octet == b'.'));
                    told.retain(|(_, octet)| *octet != b'.');
                    assert_eq!(others, told, "{text:?} {start} {end}");
                    let first = try_each_sign(&text, start..end, |place, _| ControlFlow::Break(place));
                    assert_eq!(first.break_value(), expected.first().map(|(place, _)| *place));
                }
            }
        }
    }

    #[test]
    fn pairs_are_found_where_they_are() {
        for text in texts() {
            for pair in [[b'x', b'x'], [b'x', b'/'], [b'/', b'x'], [b'a', 0xFF], [0, 0]] {
                let expected = text.windows(2).position(|two| two == pair);
                assert_eq!(first_pair(&text, pair), expected, "{text:?} {pair:?}");
            }
        }
    }

    #[test]
    fn sets_of_signs() {
        let signs = Signs::NONE.with(b'?').with(b'.');
        assert!(signs.may_have(Signs::NONE.with(b'?')) && signs.may_have(Signs::NONE));
        assert!(!signs.may_have(Signs::NONE.with(b'=')) && Signs::ALL.may_have(signs));
        assert_eq!(Signs::from_bits(signs.bits()), signs);
    }

    #[test]
    fn line_ends_are_counted_once_each() {
        assert_eq!(count_line_ends(b""), 0);
        assert_eq!(count_line_ends(b"a\nb\rc\r\nd\n\re"), 5);
        assert_eq!(count_line_ends(b"\r\r\n\n"), 3);
        assert_eq!(count_line_ends(&b"\r\n".repeat(1000)), 1000);
        assert_eq!(count_line_ends(&b"\r".repeat(1000)), 1000);
        assert_eq!(count_line_ends(&b"\n\r".repeat(1000)), 1000 + 1);
        for text in texts() {
            let without_pairs = String::from_utf8_lossy(&text).replace("\r\n", "\n");
            let expected = without_pairs.matches(['\n', '\r']).count();
            assert_eq!(count_line_ends(&text) as usize, expected, "{text:?}");
        }
    }

    #[test]
    fn eight_octets_as_a_number() {
        assert_eq!(first_eight(b""), 0);
        assert_eq!(first_eight(b"ab"), u64::from_le_bytes(*b"ab\0\0\0\0\0\0"));
        assert_eq!(first_eight(b"abcdefghi"), u64::from_le_bytes(*b"abcdefgh"));
        assert_eq!(mask_of(0), 0);
        assert_eq!(first_eight(b"abcdefgh") & mask_of(3), first_eight(b"abc"));
        assert_eq!(mask_of(8), mask_of(1000));
        assert_eq!(common_of_first_eight(first_eight(b"abcd"), first_eight(b"abxd")), 2);
        assert_eq!(common_of_first_eight(7, 7), 8);
    }
}

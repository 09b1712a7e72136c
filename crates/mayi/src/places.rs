//! A text → where pieces of it are, for many pieces at a cost that does not depend on the length of the
//! text.
//!
//! A search for one piece reads the text. That is the quickest way for a few pieces. But a file can
//! have tens of thousands of them, and a URL can be long, so all searches together would cost the
//! product of both. Then the text is sorted once: its suffixes in order (a suffix array), and over
//! their places a wavelet matrix, which finds the first place after another one among the places of a
//! piece.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::ops::Range;

use memchr::{memchr, memmem};

use crate::octets::first_pair;

/// A text that pieces are looked for in.
#[derive(Debug)]
pub(crate) struct SearchedText<'t> {
    octets: Cow<'t, [u8]>,
    /// How many octets all searches have read.
    read: Cell<usize>,
    places: OnceCell<Places>,
}

impl<'t> SearchedText<'t> {
    pub(crate) fn new(octets: Cow<'t, [u8]>) -> Self {
        Self { octets, read: Cell::new(0), places: OnceCell::new() }
    }

    pub(crate) fn octets(&self) -> &[u8] {
        &self.octets
    }

    pub(crate) fn into_octets(self) -> Cow<'t, [u8]> {
        self.octets
    }

    /// The first place of a piece at or after `from`.
    #[inline]
    pub(crate) fn find(&self, piece: &[u8], from: usize) -> Option<usize> {
        /// How much is read before the code checks whether a text is worth sorting.
        const MUCH: usize = 1 << 20;
        let read = self.read.get();
        if read > MUCH {
            return self.find_again(piece, from);
        }
        let found = find(&self.octets[from..], piece).map(|at| from + at);
        self.read.set(read + found.map_or(self.octets.len(), |at| at + piece.len()) - from);
        found
    }

    /// The same where much has been read already: the text is sorted if it has been read often.
    #[cold]
    fn find_again(&self, piece: &[u8], from: usize) -> Option<usize> {
        /// How often a text is read before it is worth sorting.
        const OFTEN: usize = 256;
        if piece.is_empty() {
            return Some(from);
        }
        if self.read.get() / OFTEN > self.octets.len() {
            return self.places().first(&self.octets, piece, from);
        }
        let found = find(&self.octets[from..], piece).map(|at| from + at);
        let read = found.map_or(self.octets.len(), |at| at + piece.len()) - from;
        self.read.set(self.read.get() + read);
        found
    }

    /// The places of all pieces, if the text has been read often.
    pub(crate) fn places(&self) -> &Places {
        self.places.get_or_init(|| Places::of(&self.octets))
    }
}

/// The first place of `piece` in `text`, by reading it, in linear time.
fn find(text: &[u8], piece: &[u8]) -> Option<usize> {
    /// How many places are tried by hand. Paths are short: the preparations of a search that is linear
    /// for any piece take longer than most searches.
    const TRIES: usize = 8;
    /// The maximum length of a text for which this is done.
    const SHORT: usize = 256;
    let (pair, others) = match piece {
        [] => return Some(0),
        [octet] => return memchr(*octet, text),
        [one, other, others @ ..] => ([*one, *other], others),
    };
    let last_place = text.len().checked_sub(piece.len())?;
    let mut at = 0;
    if text.len() <= SHORT {
        for _ in 0..TRIES {
            at += first_pair(text.get(at..last_place + 2)?, pair)?;
            if text[at + 2..].starts_with(others) {
                return Some(at);
            }
            at += 1;
        }
    }
    // A piece can't be where its last octet is not: a quick check before the search is prepared.
    let (mut rest, last) = (&text[at..], *piece.last()?);
    memchr(last, rest.get(piece.len() - 1..)?)?;
    // Nor where its last few octets are not. For these the preparation is short and the search is fast,
    // however long the piece is.
    if let Some((before, end)) = piece.split_last_chunk::<16>() {
        let finder = memmem::Finder::new(end);
        for _ in 0..TRIES {
            let place = finder.find(rest.get(before.len()..)?)?;
            if rest[place..].starts_with(before) {
                return Some(at + place);
            }
            rest = &rest[place + 1..];
            at += place + 1;
        }
    }
    memmem::find(rest, piece).map(|place| at + place)
}

/// The places of all pieces of a text.
#[derive(Debug)]
pub(crate) struct Places {
    /// The start of each suffix, by the order of the suffixes.
    suffixes: Vec<u32>,
    ordered: WaveletMatrix,
}

impl Places {
    fn of(text: &[u8]) -> Self {
        let mut suffixes = sorted_suffixes(text);
        let ordered = WaveletMatrix::of(&mut suffixes);
        Self { suffixes, ordered }
    }

    /// The starts of all suffixes that are not empty, by the order of the suffixes.
    pub(crate) fn suffixes(&self) -> &[u32] {
        &self.suffixes
    }

    /// The first place at or after `from` where the piece is. `text` is what this was made of.
    fn first(&self, text: &[u8], piece: &[u8], from: usize) -> Option<usize> {
        let start_of = |suffix: &u32| {
            let suffix = &text[*suffix as usize..];
            &suffix[..suffix.len().min(piece.len())]
        };
        let start = self.suffixes.partition_point(|suffix| start_of(suffix) < piece);
        let many = self.suffixes[start..].partition_point(|suffix| start_of(suffix) == piece);
        let from = u32::try_from(from).ok()?;
        self.ordered.least_from(start..start + many, from).map(|place| place as usize)
    }
}

/// The starts of all suffixes of a text in the order of the suffixes, by the method of Larsson and Sadakane:
/// from the order by some number of octets follows the order by twice as many, and suffixes that are already
/// in order are skipped. Besides the result it needs one number for each octet, because a text can be long.
fn sorted_suffixes(text: &[u8]) -> Vec<u32> {
    let mut suffixes: Vec<u32> = (0..text.len() as u32).collect();
    suffixes.sort_by_key(|start| text[*start as usize]);
    // Suffixes that are equal so far form a run; the rank of each is the start of its run.
    let mut ranks = vec![0; text.len()];
    let mut starts = Bits::none(text.len());
    let mut run = 0;
    for (place, start) in suffixes.iter().enumerate() {
        let octet_at = |place: usize| text[suffixes[place] as usize];
        if place == 0 || octet_at(place - 1) != octet_at(place) {
            run = place;
            starts.set(place);
        }
        ranks[*start as usize] = run as u32;
    }
    let mut octets = 1;
    loop {
        let mut is_done = true;
        let mut start = 0;
        while let Some(run) = starts.next_run(start, 2) {
            start = run.end;
            is_done = false;
            sort_run(&mut suffixes, &mut ranks, &mut starts, run, octets);
        }
        if is_done {
            return suffixes;
        }
        octets *= 2;
    }
}

/// Sorts a run of suffixes that are the same in this many octets by as many more.
fn sort_run(
    suffixes: &mut [u32],
    ranks: &mut [u32],
    starts: &mut Bits,
    run: Range<usize>,
    octets: usize,
) {
    let suffixes = &mut suffixes[run.clone()];
    // A suffix that ends there comes first.
    suffixes.sort_unstable_by_key(|start| ranks.get(*start as usize + octets));
    let rank_behind = |start: u32| ranks.get(start as usize + octets);
    for (place, pair) in (run.start + 1..).zip(suffixes.windows(2)) {
        if rank_behind(pair[0]) != rank_behind(pair[1]) {
            starts.set(place);
        }
    }
    let mut rank = run.start;
    for (place, start) in run.zip(&*suffixes) {
        if starts.has(place) {
            rank = place;
        }
        ranks[*start as usize] = rank as u32;
    }
}

/// A bit for each of some places.
#[derive(Debug)]
struct Bits {
    words: Vec<u64>,
    places: usize,
}

impl Bits {
    fn none(places: usize) -> Self {
        Self { words: vec![0; places / 64 + 1], places }
    }

    fn set(&mut self, place: usize) {
        self.words[place / 64] |= 1 << (place % 64);
    }

    fn has(&self, place: usize) -> bool {
        self.words[place / 64] >> (place % 64) & 1 == 1
    }

    /// The first place at or after another one that has its bit set.
    fn next(&self, from: usize) -> Option<usize> {
        let first = self.words.get(from / 64)? & (u64::MAX << (from % 64));
        let words = std::iter::once(&first).chain(&self.words[from / 64 + 1..]);
        let (word, bits) = words.enumerate().find(|(_, bits)| **bits != 0)?;
        Some(64 * (from / 64 + word) + bits.trailing_zeros() as usize)
    }

    /// The first run of this many places or more that starts at or after a place, from one bit to the next.
    fn next_run(&self, from: usize, least: usize) -> Option<Range<usize>> {
        let mut start = self.next(from)?;
        loop {
            let end = self.next(start + 1).unwrap_or(self.places);
            if end - start >= least {
                return Some(start..end);
            }
            start = end;
            if start >= self.places {
                return None;
            }
        }
    }
}

/// A wavelet matrix: finds the least number in a range of positions that is not below a limit, in one step
/// per bit. For each bit, from the highest on, it stores which numbers have the bit; then the numbers without
/// it are moved before those with it.
#[derive(Debug)]
pub(crate) struct WaveletMatrix {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    /// Whether each number has the bit, and how many before each word of 64 do not.
    bits: Bits,
    before: Vec<u32>,
    /// How many do not have it.
    without: u32,
}

impl Level {
    fn of(numbers: &[u32], bit: u32) -> Self {
        let mut bits = Bits::none(numbers.len());
        for (place, _) in numbers.iter().enumerate().filter(|(_, number)| has_bit(**number, bit)) {
            bits.set(place);
        }
        let mut without = 0;
        let mut before = Vec::with_capacity(bits.words.len());
        for (place, word) in bits.words.iter().enumerate() {
            before.push(without);
            without += (numbers.len() - 64 * place).min(64) as u32 - word.count_ones();
        }
        Self { bits, before, without }
    }

    /// How many before a place do not have the bit.
    fn without_before(&self, place: usize) -> usize {
        let (word, before) = (self.bits.words[place / 64], self.before[place / 64]);
        let in_word = (!word & ((1 << (place % 64)) - 1)).count_ones();
        (before + in_word) as usize
    }

    /// Moves numbers that have the bit after those that do not, each in their order.
    fn part(numbers: &mut [u32], bit: u32) {
        let ones: Vec<u32> = numbers.iter().copied().filter(|number| has_bit(*number, bit)).collect();
        let mut kept = 0;
        for place in 0..numbers.len() {
            if !has_bit(numbers[place], bit) {
                numbers[kept] = numbers[place];
                kept += 1;
            }
        }
        numbers[kept..].copy_from_slice(&ones);
    }

    /// Moves them back.
    fn join(&self, numbers: &mut [u32]) {
        let mut zeros = self.without as usize;
        let mut ones = numbers[zeros..].to_vec();
        for place in (0..numbers.len()).rev() {
            if self.bits.has(place) {
                numbers[place] = ones.pop().expect("there are as many as bits are set");
            } else {
                zeros -= 1;
                numbers[place] = numbers[zeros];
            }
        }
    }
}

fn has_bit(number: u32, bit: u32) -> bool {
    number >> bit & 1 == 1
}

impl WaveletMatrix {
    /// The numbers are moved in place, and are in their first order again at the end: a copy would take as
    /// much memory as the whole matrix.
    pub(crate) fn of(numbers: &mut [u32]) -> Self {
        let bits = u32::BITS - numbers.iter().max().copied().unwrap_or_default().leading_zeros();
        let mut levels = Vec::with_capacity(bits as usize);
        for bit in (0..bits).rev() {
            levels.push(Level::of(numbers, bit));
            Level::part(numbers, bit);
        }
        for level in levels.iter().rev() {
            level.join(numbers);
        }
        Self { levels }
    }

    /// The least number in a range of places that is not below `least`.
    pub(crate) fn least_from(&self, range: Range<usize>, least: u32) -> Option<u32> {
        let (below, many) = (self.count_below(range.clone(), least), range.len());
        (below < many).then(|| self.nth_smallest(range, below))
    }

    /// How many numbers in a range of places are below a limit.
    fn count_below(&self, mut range: Range<usize>, limit: u32) -> usize {
        if u64::from(limit) >= 1 << self.levels.len() {
            return range.len();
        }
        let mut below = 0;
        for (place, level) in self.levels.iter().enumerate() {
            let bit = limit >> (self.levels.len() - 1 - place) & 1;
            let without = level.without_before(range.start)..level.without_before(range.end);
            if bit == 1 {
                below += without.len();
                range = level.with(&range, &without);
            } else {
                range = without;
            }
        }
        below
    }

    /// The number in a range of places that has this many others below it.
    fn nth_smallest(&self, mut range: Range<usize>, mut below: usize) -> u32 {
        let mut number = 0;
        for level in &self.levels {
            let without = level.without_before(range.start)..level.without_before(range.end);
            number <<= 1;
            if below < without.len() {
                range = without;
            } else {
                below -= without.len();
                number |= 1;
                range = level.with(&range, &without);
            }
        }
        number
    }
}

impl Level {
    /// The new range of the numbers that have the bit, if the numbers without it are now in the range
    /// `without`.
    fn with(&self, range: &Range<usize>, without: &Range<usize>) -> Range<usize> {
        let zeros = self.without as usize;
        zeros + range.start - without.start..zeros + range.end - without.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts that come again and again in themselves, and one that does not.
    fn texts() -> Vec<Vec<u8>> {
        let mixed: Vec<u8> = (0..300_u32).map(|at| (at * at * 7 % 251 % 5) as u8 + b'a').collect();
        let mut texts = vec![b"".to_vec(), b"a".to_vec(), b"/a?b".to_vec(), mixed];
        texts.extend([b"a".repeat(130), b"ab".repeat(64), b"aab/".repeat(33), b"\0\xFF\x01".repeat(9)]);
        texts
    }

    #[test]
    fn a_text_that_is_searched_often_is_sorted() {
        for octets in texts() {
            let text = SearchedText::new(Cow::Borrowed(&octets));
            let searches = || {
                [b"ab".as_slice(), b"x", b"", b"a/a"].map(|piece| text.find(piece, octets.len() / 3))
            };
            let at_first = searches();
            while text.places.get().is_none() && octets.len() > 1 {
                text.find(b"no such piece", 0);
                text.find(b"x", 0);
            }
            assert_eq!(searches(), at_first);
        }
    }

    #[test]
    fn many_searches_read_no_more_than_some() {
        let octets = b"/xx".repeat(20_000);
        let text = SearchedText::new(Cow::Borrowed(&octets));
        for piece in 0..20_000 {
            assert_eq!(text.find(format!("x/x{piece}").as_bytes(), 1), None);
        }
        assert!(text.read.get() <= 258 * octets.len(), "{}", text.read.get());
    }

    #[test]
    fn suffixes_are_in_order() {
        for text in texts() {
            let mut expected: Vec<u32> = (0..text.len() as u32).collect();
            expected.sort_by_key(|start| &text[*start as usize..]);
            assert_eq!(sorted_suffixes(&text), expected, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn the_first_place_is_the_first_one() {
        for text in texts() {
            let places = Places::of(&text);
            let pieces = (0..text.len()).step_by(3).flat_map(|start| {
                [0, 1, 2, 5, 64].map(|length| text[start..text.len().min(start + length)].to_vec())
            });
            for piece in pieces.chain([b"x".to_vec(), [&text[..], b"a"].concat()]) {
                for from in (0..=text.len()).step_by(7) {
                    let expected = memchr::memmem::find(&text[from..], &piece).map(|at| from + at);
                    // Nothing at all is found at the end too, where no suffix starts.
                    let found = places.first(&text, &piece, from);
                    if !piece.is_empty() || from < text.len() {
                        assert_eq!(found, expected, "{} {from}", piece.escape_ascii());
                    }
                }
            }
        }
    }
}

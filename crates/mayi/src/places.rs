//! A text → where pieces of it are, for many pieces at a price that does not depend on how long the text is.
//!
//! A search for one piece reads the text. That is the quickest way for a few of them; a file can have tens of
//! thousands, and a URL can be long, so that all searches together would take the product of both. Then
//! the text is sorted once: its suffixes in order (a suffix array, by doubling prefixes), and over their
//! places a wavelet matrix, which finds the first place behind another one among those that a piece has.

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

    /// The first place of a piece at or behind `from`.
    #[inline]
    pub(crate) fn find(&self, piece: &[u8], from: usize) -> Option<usize> {
        /// How much is read before it is asked whether a text is worth sorting.
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

    /// The places of all pieces, for those who have read the text often.
    pub(crate) fn places(&self) -> &Places {
        self.places.get_or_init(|| Places::of(&self.octets))
    }
}

/// The first place of `piece` in `text`, by reading it, in linear time.
fn find(text: &[u8], piece: &[u8]) -> Option<usize> {
    /// How many places are tried by hand. Paths are short: the preparations of a search that is linear
    /// for any piece take longer than most searches.
    const TRIES: usize = 8;
    /// How long a text is that this is done for.
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
    // A piece can't be where its last octet is not: a quick look, before the preparations are made.
    let (mut rest, last) = (&text[at..], *piece.last()?);
    memchr(last, rest.get(piece.len() - 1..)?)?;
    // Nor where its last few octets are not, for which preparations are short and the search is quick
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
        let suffixes = sorted_suffixes(text);
        let ordered = WaveletMatrix::of(suffixes.clone());
        Self { suffixes, ordered }
    }

    /// The starts of all suffixes that are not empty, by the order of the suffixes.
    pub(crate) fn suffixes(&self) -> &[u32] {
        &self.suffixes
    }

    /// The first place at or behind `from` where the piece is. `text` is what this was made of.
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

/// The starts of all suffixes of a text in the order of the suffixes. The order by the first octets is known
/// at once, and from the order by so many octets follows that by twice as many: each time, one pass sorts.
fn sorted_suffixes(text: &[u8]) -> Vec<u32> {
    let length = text.len();
    let mut suffixes: Vec<u32> = (0..length as u32).collect();
    let mut ranks: Vec<u32> = text.iter().map(|octet| u32::from(*octet)).collect();
    let mut kinds = 256;
    let mut counts = Vec::new();
    let mut sorted = vec![0; length];
    let mut octets = 0;
    loop {
        // By the second half first: suffixes that have none come first, and the others as they are sorted.
        let halves = (length.saturating_sub(octets)..length).map(|start| start as u32);
        let behind = suffixes.iter().filter(|start| **start as usize >= octets);
        let by_second = halves.chain(behind.map(|start| start - octets as u32));
        // Then by the first half, where equals stay in order.
        counts.clear();
        counts.resize(kinds + 1, 0_u32);
        for rank in &ranks {
            counts[*rank as usize + 1] += 1;
        }
        for kind in 0..kinds {
            counts[kind + 1] += counts[kind];
        }
        for start in by_second {
            let place = &mut counts[ranks[start as usize] as usize];
            sorted[*place as usize] = start;
            *place += 1;
        }
        std::mem::swap(&mut suffixes, &mut sorted);
        // Equal in both halves is equal.
        let halves = |start: u32| (ranks[start as usize], ranks.get(start as usize + octets));
        let mut kind = 0;
        let mut next = vec![0; length];
        for pair in suffixes.windows(2) {
            kind += u32::from(
                octets == 0 && ranks[pair[0] as usize] != ranks[pair[1] as usize]
                    || octets > 0 && halves(pair[0]) != halves(pair[1]),
            );
            next[pair[1] as usize] = kind;
        }
        ranks = next;
        kinds = kind as usize + 1;
        if kinds >= length {
            return suffixes;
        }
        octets = if octets == 0 { 1 } else { 2 * octets };
    }
}

/// Numbers in an order, such that the least of those in a range that is not below another one is found in a
/// step for each bit: for each bit, from the highest on, which numbers have it, with those that do not moved
/// before those that do.
#[derive(Debug)]
pub(crate) struct WaveletMatrix {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    /// Whether each number has the bit, 64 to a word, and how many before each word do not.
    words: Vec<(u64, u32)>,
    /// How many do not have it.
    without: u32,
}

impl Level {
    /// How many before a place do not have the bit.
    fn without_before(&self, place: usize) -> usize {
        let (word, before) = self.words[place / 64];
        let in_word = (!word & ((1 << (place % 64)) - 1)).count_ones();
        (before + in_word) as usize
    }
}

impl WaveletMatrix {
    pub(crate) fn of(mut numbers: Vec<u32>) -> Self {
        let bits = u32::BITS - numbers.iter().max().copied().unwrap_or_default().leading_zeros();
        let mut levels = Vec::new();
        for bit in (0..bits).rev() {
            let has = |number: &u32| number >> bit & 1 == 1;
            let mut words = vec![(0, 0); numbers.len() / 64 + 1];
            for (place, _) in numbers.iter().enumerate().filter(|(_, number)| has(number)) {
                words[place / 64].0 |= 1_u64 << (place % 64);
            }
            let mut without = 0;
            for (place, (word, before)) in words.iter_mut().enumerate() {
                *before = without;
                let numbers_here = (numbers.len() - 64 * place).min(64) as u32;
                without += numbers_here - word.count_ones();
            }
            let (zeros, ones): (Vec<u32>, Vec<u32>) = numbers.iter().partition(|number| !has(number));
            numbers = [zeros, ones].concat();
            levels.push(Level { words, without });
        }
        Self { levels }
    }

    /// The least number in a range of places that is not below `least`.
    pub(crate) fn least_from(&self, range: Range<usize>, least: u32) -> Option<u32> {
        let (below, many) = (self.count_below(range.clone(), least), range.len());
        (below < many).then(|| self.so_manieth(range, below))
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

    /// The number in a range of places that so many others there are below.
    fn so_manieth(&self, mut range: Range<usize>, mut below: usize) -> u32 {
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
    /// Where the numbers of a range that have the bit went, if those that do not went `without`.
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

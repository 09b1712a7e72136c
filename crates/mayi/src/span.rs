//! Where something is in a file: line numbers, columns and spans of octets.
//!
//! Turns an offset into a line and a column. It knows what ends a line (REP-2), but not what a line means.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::Range;

use crate::octets::{BLOCK, count_line_ends, line_ends_of_block};

/// The number of a line in its file, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineNumber(NonZeroU32);

impl LineNumber {
    /// The first line of a file.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// The line with this number, or `None` for 0.
    pub const fn new(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// The number itself.
    pub const fn number(self) -> u32 {
        self.0.get()
    }

    /// The line this many lines further down.
    #[must_use]
    pub const fn plus(self, lines: u32) -> Self {
        Self(self.0.saturating_add(lines))
    }
}

impl fmt::Display for LineNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A run of octets in the text of a file: from `start` up to and without `end`.
///
/// Offsets are 32 bits wide; [`Limits`](crate::Limits) keeps every text below that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The offset of the first octet.
    pub start: u32,
    /// The offset after the last octet.
    pub end: u32,
}

impl Span {
    /// The span of `part`, which must be a slice of `whole`.
    ///
    /// # Panics
    /// When `part` is not a slice of `whole`.
    pub(crate) fn of(part: &[u8], whole: &[u8]) -> Self {
        let start = part.as_ptr().addr() - whole.as_ptr().addr();
        assert!(start + part.len() <= whole.len(), "not a part of the text");
        Self { start: start as u32, end: (start + part.len()) as u32 }
    }

    /// The span as a range, for slicing.
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// How many octets it covers.
    pub const fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether it covers nothing.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A place in a text: its line and its column, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: LineNumber,
    /// In characters.
    pub(crate) column: u32,
    /// In units of UTF-16.
    pub(crate) utf16_column: u32,
}

/// From this many octets on, counting all that is between two places is quicker than going block by block.
const FAR: usize = 8 * BLOCK;

/// Counts lines and columns from one place in a text to the next, forwards, so that finding many
/// places takes one pass over the text.
#[derive(Clone)]
pub(crate) struct LineCounter<'t> {
    text: &'t [u8],
    at: usize,
    line: LineNumber,
    /// Where the block of octets that is being counted starts, and which of those from `at` on end a line.
    block: usize,
    ends: u64,
    /// Characters of the line before the last place whose column was asked for, and that place.
    characters: u32,
    /// The same in units of UTF-16.
    utf16_units: u32,
    characters_at: usize,
}

impl<'t> LineCounter<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        let ends = line_ends_of_block(text);
        Self {
            text,
            at: 0,
            line: LineNumber::FIRST,
            block: 0,
            ends,
            characters: 0,
            utf16_units: 0,
            characters_at: 0,
        }
    }

    /// The line and the column of the octet at `offset`, which is not before the last one asked for.
    pub(crate) fn position_at(&mut self, offset: u32) -> Position {
        let before = self.line;
        let line = self.line_at(offset);
        let mut from = self.characters_at;
        if line != before {
            let skipped = &self.text[from..self.at];
            from += memchr::memrchr2(b'\n', b'\r', skipped).map_or(0, |end| end + 1);
            (self.characters, self.utf16_units) = (0, 0);
        }
        let between = String::from_utf8_lossy(&self.text[from..self.at]);
        for character in between.chars() {
            self.characters += 1;
            self.utf16_units += character.len_utf16() as u32;
        }
        self.characters_at = self.at;
        Position { line, column: self.characters + 1, utf16_column: self.utf16_units + 1 }
    }

    /// The line of the octet at `offset`, which must not be before the last one asked for, nor in the middle
    /// of a CRLF.
    pub(crate) fn line_at(&mut self, offset: u32) -> LineNumber {
        let offset = offset as usize;
        if offset - self.block >= FAR {
            self.line = self.line.plus(count_line_ends(&self.text[self.at..offset]));
            self.block = offset;
            self.ends = line_ends_of_block(&self.text[offset..]);
        }
        while offset - self.block >= BLOCK {
            let ends_in_return = self.text[self.block + BLOCK - 1] == b'\r';
            self.line = self.line.plus(count_few(self.ends));
            self.block += BLOCK;
            self.ends = line_ends_of_block(&self.text[self.block..]);
            if ends_in_return && self.text.get(self.block) == Some(&b'\n') {
                self.ends &= !1;
            }
        }
        let before = self.ends & ((1 << (offset - self.block)) - 1);
        self.line = self.line.plus(count_few(before));
        self.ends ^= before;
        self.at = offset;
        self.line
    }
}

/// How many bits are set, where few are: not every processor of the target counts them in one step.
#[inline]
fn count_few(mut bits: u64) -> u32 {
    let mut count = 0;
    while bits != 0 {
        bits &= bits - 1;
        count += 1;
    }
    count
}

/// The line of the octet at `offset`.
pub(crate) fn line_at(text: &[u8], offset: u32) -> LineNumber {
    LineCounter::new(text).line_at(offset)
}

/// The column of the octet at `offset`, counted from 1 in characters as UTF-8 has them.
pub(crate) fn column_at(text: &[u8], offset: u32) -> u32 {
    let before = &text[..offset as usize];
    let line_start = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |at| at + 1);
    1 + String::from_utf8_lossy(&before[line_start..]).chars().count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        assert_eq!(column_at("a\néb".as_bytes(), 4), 2);
        assert_eq!(column_at(b"ab", 0), 1);
        assert_eq!(column_at(b"\xff\xffb", 2), 3);
    }

    #[test]
    fn places_are_found_in_one_pass() {
        let text = "ab\né\r\nxyz\n".as_bytes();
        let mut counter = LineCounter::new(text);
        for (offset, expected) in [(0, (1, 1)), (1, (1, 2)), (3, (2, 1)), (7, (3, 1)), (9, (3, 3))] {
            let at = counter.position_at(offset);
            assert_eq!((at.line.number(), at.column), expected, "at {offset}");
            assert_eq!(at.column, column_at(text, offset), "at {offset}");
        }
    }

    #[test]
    fn a_character_outside_the_first_plane_is_two_units_of_utf_16() {
        let text = "\u{1F600}é\n\u{1F600}x\u{1F600}y".as_bytes();
        let mut counter = LineCounter::new(text);
        for (offset, expected) in [(4, (2, 3)), (6, (3, 4)), (11, (2, 3)), (12, (3, 4)), (16, (4, 6))] {
            let at = counter.position_at(offset);
            assert_eq!((at.column, at.utf16_column), expected, "at {offset}");
        }
    }

    #[test]
    fn lines_are_counted_in_steps_of_any_size() {
        let text = "ab\r\n\n\rcd\n\r\n".repeat(200).into_bytes();
        for step in [1, 2, 3, 7, 60, 64, 65, 130, 200, 511, 512, 600] {
            let mut counter = LineCounter::new(&text);
            for offset in (0..=text.len()).step_by(step) {
                if text[..offset].ends_with(b"\r") && text[offset..].starts_with(b"\n") {
                    continue;
                }
                let expected = 1 + count_line_ends(&text[..offset]);
                assert_eq!(counter.line_at(offset as u32).number(), expected, "at {offset} by {step}");
            }
        }
    }

    #[test]
    fn a_span_is_found_from_the_slice() {
        let whole = b"Disallow: /a";
        let span = Span::of(&whole[10..], whole);
        assert_eq!((span.start, span.end, span.len(), span.is_empty()), (10, 12, 2, false));
        assert_eq!(&whole[span.range()], b"/a");
    }
}

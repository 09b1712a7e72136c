//! A pattern with a wildcard before its own `?` → whether it matches a target with delimiters encoded
//! in its query (REP-12).
//!
//! Its `?` can match any raw `?` of the target. Before it, the pattern is compared with the target as
//! it is; after it, with the delimiters of the query decoded. For a few patterns the two texts are read
//! side by side, each octet once. A file can have tens of thousands of them, so after some of them the
//! raw `?` of the target are sorted, by the text before each and by the text after it. A search for the
//! first one that is right on both sides then takes no longer for a long target than for a short one.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use memchr::memchr;

use crate::forms::delimiter;
use crate::pattern::{Shape, are_pieces_in};
use crate::places::{SearchedText, WaveletMatrix};

/// The two texts of a target, and where its raw `?` are.
pub(crate) struct Crossing<'f> {
    as_it_stands: &'f SearchedText<'f>,
    folded: &'f SearchedText<'f>,
    sorted: &'f SortedMarks,
}

/// The raw `?` of a target, sorted once they have been read often.
#[derive(Debug, Default)]
pub(crate) struct SortedMarks {
    read: Cell<usize>,
    order: OnceCell<Order>,
}

/// How often the marks are read before it is worth sorting them.
const OFTEN: usize = 64;

impl<'f> Crossing<'f> {
    pub(crate) fn new(
        as_it_stands: &'f SearchedText<'f>,
        folded: &'f SearchedText<'f>,
        sorted: &'f SortedMarks,
    ) -> Self {
        Self { as_it_stands, folded, sorted }
    }

    /// Whether the text of a pattern matches. Its first `?` is at `mark`, after a wildcard.
    pub(crate) fn matches(&self, body: &[u8], mark: usize, shape: Shape) -> bool {
        let (head, before) = body[..mark].split_at(shape.head as usize);
        if !self.as_it_stands.octets().starts_with(head) {
            return false;
        }
        let mut before = &before[1..];
        let mut reached = head.len();
        while let Some(star) = memchr(b'*', before) {
            let Some(at) = self.as_it_stands.find(&before[..star], reached) else { return false };
            reached = at + star;
            before = &before[star + 1..];
        }
        let behind = &body[mark + 1..];
        let (first, others) = match memchr(b'*', behind) {
            Some(star) => (&behind[..star], Some(&behind[star + 1..])),
            None => (behind, None),
        };
        // If the text right before or right after the `?` does not occur at all, nothing has to be read.
        let around = [&body[mark - before.len()..=mark], &body[mark..=mark + first.len()]];
        if self.as_it_stands.find(around[0], reached).is_none()
            || self.folded.find(around[1], head.len()).is_none()
        {
            return false;
        }
        let is_at_end = shape.anchored && others.is_none();
        let sides = Sides { before, reached, first, is_at_end };
        let Some(end) = self.first_end(&sides) else { return false };
        others.is_none_or(|pieces| are_pieces_in(pieces, shape.anchored, self.folded, end))
    }

    /// Where what follows the first right `?` ends, in the folded text.
    fn first_end(&self, sides: &Sides<'_>) -> Option<usize> {
        let (read, octets) = (self.sorted.read.get(), self.folded.octets().len());
        if read / OFTEN <= octets {
            self.sorted.read.set(read + octets);
            return self.first_end_by_reading(sides);
        }
        let order = self.sorted.order.get_or_init(|| Order::of(self.as_it_stands, self.folded));
        order.first_end(sides, self.as_it_stands.octets(), self.folded.octets())
    }

    fn first_end_by_reading(&self, sides: &Sides<'_>) -> Option<usize> {
        let (text, folded_text) = (self.as_it_stands.octets(), self.folded.octets());
        let Sides { before, mut reached, first, is_at_end } = *sides;
        let mut starts = Starts::new(first, folded_text);
        let mut marks = Marks::new(text).filter(|&(mark, _)| {
            let is_behind_it = text.get(reached..mark).is_some_and(|between| between.ends_with(before));
            // It has no `?` itself, so each octet is read for only one mark.
            reached = reached.max(mark + 1);
            is_behind_it
        });
        let is_there = |&(_, mark): &(usize, usize)| {
            let ends_well = !is_at_end || mark + 1 + first.len() == folded_text.len();
            ends_well && starts.is_one(mark + 1)
        };
        let (_, mark) = marks.find(is_there)?;
        Some(mark + 1 + first.len())
    }
}

/// What is around the `?` of a pattern, up to the next wildcards.
#[derive(Clone, Copy)]
struct Sides<'p> {
    before: &'p [u8],
    /// The place in the unchanged target from which on `before` must be.
    reached: usize,
    first: &'p [u8],
    /// Whether the target has to end after `first`.
    is_at_end: bool,
}

/// How many marks are looked through one by one.
const FEW: usize = 32;

/// The raw `?` of a target in order.
#[derive(Debug)]
struct Order {
    /// Where each is, in the unchanged and in the folded target.
    marks: Vec<(u32, u32)>,
    /// Marks sorted by the text between the previous mark and the mark, read backwards.
    by_before: Vec<u32>,
    /// For each mark, its place in the order of what follows it, folded.
    rank_behind: Vec<u32>,
    /// The marks after a text, by what follows them. A mark is in as many of them as there are
    /// octets since the mark before, and one, so that all of them together are no larger than the target.
    known: RefCell<HashMap<Range<usize>, Rc<Marked>>>,
}

/// The marks that come right after a text, sorted by what follows them.
#[derive(Debug)]
struct Marked {
    sorted: Vec<u32>,
    ordered: WaveletMatrix,
}

impl Order {
    fn of(as_it_stands: &SearchedText<'_>, folded: &SearchedText<'_>) -> Self {
        let text = as_it_stands.octets();
        let marks: Vec<(u32, u32)> =
            Marks::new(text).map(|(mark, folded)| (mark as u32, folded as u32)).collect();
        // Each octet belongs to the text before one mark, so sorting compares each octet only a few times.
        let mut by_before: Vec<u32> = (0..marks.len() as u32).collect();
        by_before
            .sort_by(|one, other| backwards(text, &marks, *one).cmp(backwards(text, &marks, *other)));
        let mut rank_behind = vec![0; marks.len()];
        let mut rank = 0;
        // The empty text sorts first, and is not among the sorted suffixes.
        let at_end = folded.octets().len() as u32;
        let suffixes = folded.places().suffixes();
        for &start in std::iter::once(&at_end).chain(suffixes) {
            if let Ok(mark) = marks.binary_search_by_key(&Some(start), |(_, mark)| mark.checked_add(1))
            {
                rank_behind[mark] = rank;
                rank += 1;
            }
        }
        Self { marks, by_before, rank_behind, known: RefCell::default() }
    }

    /// Where what follows the first right `?` ends, in the folded text.
    fn first_end(&self, sides: &Sides<'_>, text: &[u8], folded: &[u8]) -> Option<usize> {
        let Sides { before, reached, first, is_at_end } = *sides;
        let least = self.marks.partition_point(|(mark, _)| (*mark as usize) < reached + before.len());
        let behind = |mark: u32| &folded[self.marks[mark as usize].1 as usize + 1..];
        let end_of = |mark: u32| self.marks[mark as usize].1 as usize + 1 + first.len();
        if is_at_end {
            let place = folded.len().checked_sub(first.len() + 1)?;
            let mark = self.marks.binary_search_by_key(&place, |(_, mark)| *mark as usize).ok()?;
            let is_right = mark >= least
                && folded.ends_with(first)
                && backwards(text, &self.marks, mark as u32).take(before.len()).eq(before.iter().rev());
            return is_right.then_some(folded.len());
        }
        let marks = self.range_behind(before, text);
        if marks.len() <= FEW {
            let right = self.by_before[marks].iter().copied();
            let right =
                right.filter(|mark| *mark as usize >= least && behind(*mark).starts_with(first));
            return right.min().map(end_of);
        }
        let marked = self.behind(marks);
        let start_of = |mark: &u32| {
            let behind = behind(*mark);
            &behind[..behind.len().min(first.len())]
        };
        let start = marked.sorted.partition_point(|mark| start_of(mark) < first);
        let many = marked.sorted[start..].partition_point(|mark| start_of(mark) == first);
        marked.ordered.least_from(start..start + many, least as u32).map(end_of)
    }

    /// The marks that a text is right before, as places in their order.
    fn range_behind(&self, before: &[u8], text: &[u8]) -> Range<usize> {
        let end_of = |mark: &u32| backwards(text, &self.marks, *mark).take(before.len());
        let start = self.by_before.partition_point(|mark| end_of(mark).lt(before.iter().rev()));
        let many = self.by_before[start..].partition_point(|mark| end_of(mark).eq(before.iter().rev()));
        start..start + many
    }

    /// The same marks by what follows them.
    fn behind(&self, range: Range<usize>) -> Rc<Marked> {
        let mut known = self.known.borrow_mut();
        let marked = known.entry(range.clone()).or_insert_with(|| {
            let mut sorted = self.by_before[range].to_vec();
            sorted.sort_unstable_by_key(|mark| self.rank_behind[*mark as usize]);
            Rc::new(Marked { ordered: WaveletMatrix::of(&mut sorted), sorted })
        });
        Rc::clone(marked)
    }
}

/// What is before a mark, up to the mark before it, read backwards.
fn backwards<'t>(text: &'t [u8], marks: &[(u32, u32)], mark: u32) -> impl Iterator<Item = &'t u8> {
    let mark = mark as usize;
    let start = mark.checked_sub(1).map_or(0, |before| marks[before].0 as usize + 1);
    text[start..marks[mark].0 as usize].iter().rev()
}

/// Where the raw `?` of a target are, as it is and with the delimiters of its query raw.
struct Marks<'t> {
    text: &'t [u8],
    at: usize,
    /// How many octets fewer the other text has had up to there.
    fewer: usize,
}

impl<'t> Marks<'t> {
    fn new(text: &'t [u8]) -> Self {
        let at = memchr(b'?', text).unwrap_or(text.len());
        Self { text, at, fewer: 0 }
    }
}

impl Iterator for Marks<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(&octet) = self.text.get(self.at) {
            let at = self.at;
            self.at += 1;
            if octet == b'?' {
                return Some((at, at - self.fewer));
            }
            if octet == b'%' && delimiter(&self.text[at..]).is_some() {
                self.at += 2;
                self.fewer += 2;
            }
        }
        None
    }
}

/// The places where a piece starts in a text, queried from left to right. This is the search of Knuth, Morris
/// and Pratt, which reads the text once, however often parts of the piece are repeated.
struct Starts<'t> {
    piece: &'t [u8],
    text: &'t [u8],
    /// For each prefix of the piece: the length of its longest shorter suffix that is also a prefix.
    borders: Vec<usize>,
    /// How much of the text has been read, and how long the prefix of the piece is that it ends with.
    read: usize,
    met: usize,
}

impl<'t> Starts<'t> {
    fn new(piece: &'t [u8], text: &'t [u8]) -> Self {
        let mut borders = vec![0; piece.len()];
        for at in 1..piece.len() {
            borders[at] = longer(piece, &borders, borders[at - 1], piece[at]);
        }
        Self { piece, text, borders, read: 0, met: 0 }
    }

    /// Whether the piece starts at this place. Places must be queried in ascending order.
    fn is_one(&mut self, place: usize) -> bool {
        let Some(text) = self.text.get(..place + self.piece.len()) else { return false };
        if self.piece.is_empty() {
            return true;
        }
        for &octet in &text[self.read.min(text.len())..] {
            let met = if self.met == self.piece.len() { self.borders[self.met - 1] } else { self.met };
            self.met = longer(self.piece, &self.borders, met, octet);
        }
        self.read = text.len();
        self.met == self.piece.len()
    }
}

/// How long the prefix of the piece at the end of a text is after one more octet, if it was `met` before.
fn longer(piece: &[u8], borders: &[usize], mut met: usize, octet: u8) -> usize {
    while met > 0 && piece[met] != octet {
        met = borders[met - 1];
    }
    met + usize::from(piece[met] == octet)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    /// Texts as they stand: `?` with much of the same around them, delimiters encoded and not.
    fn texts() -> Vec<String> {
        let parts = ["a", "?", "%2F", "/", "b", "?a", "aa", "%3F", "?/"];
        let mixed = (0..200_usize).map(|at| parts[at * at * 7 % 31 % parts.len()]);
        let mut texts =
            vec!["/?%2F".to_owned(), "/a".to_owned(), format!("/{}", mixed.collect::<String>())];
        texts.extend(
            ["?", "a?%2F", "?a%2Fa?", "aa?/", "%3F?", "?%23"]
                .map(|part| format!("/{}", part.repeat(60))),
        );
        texts
    }

    fn folded(text: &str) -> String {
        let Some(mark) = text.find('?') else { return text.to_owned() };
        let (path, query) = text.split_at(mark);
        format!("{path}{}", query.replace("%2F", "/").replace("%3F", "?").replace("%23", "#"))
    }

    #[test]
    fn sorted_marks_are_found_as_by_reading() {
        for text in texts() {
            let folded = folded(&text);
            let [as_it_stands, folded] =
                [&text, &folded].map(|text| SearchedText::new(Cow::Borrowed(text.as_bytes())));
            let marks = SortedMarks::default();
            let crossing = Crossing::new(&as_it_stands, &folded, &marks);
            let order = Order::of(&as_it_stands, &folded);
            let (text, folded) = (as_it_stands.octets(), folded.octets());
            for before in ["", "a", "aa", "F", "%2F", "a%2Fa", "b", "x"] {
                for first in ["", "a", "/", "/a", "?", "a/a?a", "a/a?a/a?a/a?", "?/??", "#?#", "x"] {
                    for reached in (0..text.len()).step_by(5) {
                        for is_at_end in [false, true] {
                            let (before, first) = (before.as_bytes(), first.as_bytes());
                            let sides = Sides { before, reached, first, is_at_end };
                            let expected = crossing.first_end_by_reading(&sides);
                            let found = order.first_end(&sides, text, folded);
                            let sides = (before.escape_ascii(), first.escape_ascii());
                            assert_eq!(found, expected, "{sides:?} {reached} {}", text.escape_ascii());
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn marks_that_are_read_often_are_sorted() {
        let text = format!("/{}", "a?b%2F".repeat(100));
        let folded = folded(&text);
        let [as_it_stands, folded] =
            [&text, &folded].map(|text| SearchedText::new(Cow::Borrowed(text.as_bytes())));
        let marks = SortedMarks::default();
        let crossing = Crossing::new(&as_it_stands, &folded, &marks);
        for number in 0..1000 {
            let body = format!("/*a?b/*{number}b");
            let shape = Shape::of(body.as_bytes(), false);
            assert!(!crossing.matches(body.as_bytes(), 3, shape), "{body}");
            let body = b"/*/a?b/a*b/";
            assert!(!crossing.matches(body, 4, Shape::of(body, false)));
            let body = b"/*Fa?b/a*b/";
            assert!(crossing.matches(body, 4, Shape::of(body, false)));
        }
        assert!(marks.order.get().is_some());
        assert!(marks.read.get() <= 66 * text.len(), "{}", marks.read.get());
    }
}

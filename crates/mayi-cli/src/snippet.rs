//! A line of a file and a place in it → the line for people, with marks below the place.
//!
//! Everything is counted in the columns of a terminal: a wide character takes two, a combining mark none, a
//! tab one, and a control character as many as its escape has. Of a long line, what is around the place is
//! shown.

use std::io::{self, Write};
use std::ops::Range;

use anstyle::Style;
use mayi::LineNumber;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::text::{DIM, shown, styled};

/// How many columns of a line are shown before the place, in it, and after it.
const AROUND: usize = 60;

/// Writes a line that has no place in it.
pub(crate) fn write_line(
    out: &mut impl Write,
    lead: &str,
    number: LineNumber,
    line: &[u8],
) -> io::Result<()> {
    let text = Cut::of(line, 0..0).after;
    writeln!(out, "{lead}{} {text}", bar(&number))
}

/// Writes a line with marks in a style below the place, which is given in octets. `lead` is written before
/// the number of the line, and `below` before the marks.
pub(crate) fn write_marked(
    out: &mut impl Write,
    (lead, below): (&str, &str),
    number: LineNumber,
    line: &[u8],
    place: Range<usize>,
    style: Style,
) -> io::Result<()> {
    let cut = Cut::of(line, place);
    writeln!(out, "{lead}{} {}{}{}", bar(&number), cut.before, cut.marked, cut.after)?;
    let (indent, marks) = cut.columns();
    let marks = styled(style, "^".repeat(marks));
    writeln!(out, "{below}{} {:indent$}{marks}", bar(&""), "")
}

fn bar(number: &impl ToString) -> String {
    styled(DIM, format_args!("{:>5} |", number.to_string()))
}

/// A line as it is shown, in three parts.
struct Cut {
    before: String,
    marked: String,
    after: String,
}

impl Cut {
    fn of(line: &[u8], place: Range<usize>) -> Self {
        let start = base_of(line, place.start);
        let (before, marked, after) =
            (&line[..start], &line[start..place.end.max(start)], &line[place.end.max(start)..]);
        // Without a place, the line may be as long as three parts.
        let room = if line.len() == after.len() { 2 * AROUND } else { AROUND };
        Self { before: last(before), marked: first(marked, AROUND), after: first(after, room) }
    }

    /// How many columns are before the marks, and how many marks there are.
    fn columns(&self) -> (usize, usize) {
        let indent = self.before.width();
        // What stands next to each other can be narrower than its parts.
        let end = format!("{}{}", self.before, self.marked).width();
        (indent, end.saturating_sub(indent).max(1))
    }
}

/// Where the character starts that the one at `at` is drawn on, if that is a combining mark.
fn base_of(line: &[u8], at: usize) -> usize {
    let behind = line[at..].utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    let is_combining = |character: char| character.width() == Some(0);
    if !behind.is_some_and(is_combining) {
        return at;
    }
    let before = last_octets(&line[..at]).utf8_chunks().last();
    let Some(chunk) = before.filter(|chunk| chunk.invalid().is_empty()) else { return at };
    let base = chunk.valid().char_indices().rfind(|(_, character)| !is_combining(*character));
    base.map_or(at, |(start, _)| at - (chunk.valid().len() - start))
}

/// No more octets than could be shown, so that a long line costs no more than a short one.
fn first_octets(octets: &[u8], columns: usize) -> &[u8] {
    let mut end = octets.len().min(8 * columns);
    // Not in the middle of a character.
    while end < octets.len() && end > 0 && octets[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    &octets[..end]
}

fn last_octets(octets: &[u8]) -> &[u8] {
    let mut start = octets.len().saturating_sub(8 * AROUND);
    // Not in the middle of a character.
    while start > 0 && start < octets.len() && octets[start] & 0xC0 == 0x80 {
        start += 1;
    }
    &octets[start..]
}

/// The start of a text, in so many columns.
fn first(octets: &[u8], columns: usize) -> String {
    let mut text = shown(first_octets(octets, columns));
    let mut room = columns;
    let is_over = |character: char| {
        let width = character.width().unwrap_or(0);
        let is_over = width > room;
        room = room.saturating_sub(width);
        is_over
    };
    if let Some(end) = text.find(is_over) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The end of a text, in as many.
fn last(octets: &[u8]) -> String {
    let text = shown(last_octets(octets));
    let mut room = AROUND;
    let is_over = |character: char| {
        let width = character.width().unwrap_or(0);
        let is_over = width > room;
        room = room.saturating_sub(width);
        is_over
    };
    match text.rfind(is_over) {
        Some(at) => {
            let end = &text[at..];
            let behind = end.chars().next().map_or(0, char::len_utf8);
            format!("…{}", end[behind..].trim_start_matches(|it: char| it.width() == Some(0)))
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line and the marks below it, without colours.
    fn drawn(before: &str, marked: &str, after: &str) -> (String, String) {
        let line = format!("{before}{marked}{after}");
        let place = before.len()..before.len() + marked.len();
        let mut out = Vec::new();
        let number = LineNumber::new(7).expect("a number");
        write_marked(&mut out, ("", ""), number, line.as_bytes(), place, Style::new()).expect("memory");
        let text = anstream::adapter::strip_bytes(&out).into_vec();
        let text = String::from_utf8(text).expect("text");
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        let behind = |line: &str, bar: &str| line.strip_prefix(bar).expect(bar).to_owned();
        (behind(&lines[0], "    7 | "), behind(&lines[1], "      | "))
    }

    #[track_caller]
    fn check(parts: [&str; 3], line: &str, marks: &str) {
        let [before, marked, after] = parts;
        let (seen, seen_marks) = drawn(before, marked, after);
        assert_eq!((&*seen, &*seen_marks), (line, marks));
    }

    #[test]
    fn marks_are_below_the_place() {
        check(["Disallow: ", "/a", " # b"], "Disallow: /a # b", "          ^^");
        check(["", "x", ""], "x", "^");
        check(["a", "", "b"], "ab", " ^");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        check(["Disallow: /", "日本", "x"], "Disallow: /日本x", "           ^^^^");
        check(["日本 ", "/a", ""], "日本 /a", "     ^^");
    }

    #[test]
    fn combining_marks_take_none() {
        check(["e\u{301}", "/a", ""], "e\u{301}/a", " ^^");
        check(["/", "e\u{301}x", ""], "/e\u{301}x", " ^^");
        // The place is the mark alone: it is drawn on what stands before it.
        check(["/e", "\u{301}", "x"], "/e\u{301}x", " ^");
    }

    #[test]
    fn tabs_and_control_characters_are_as_wide_as_they_are_shown() {
        check(["a\t", "/b", ""], "a /b", "  ^^");
        check(["a\u{1b}", "/b", ""], "a\\u{1b}/b", "       ^^");
        check(["a", "\u{7}", "b"], "a\\u{7}b", " ^^^^^");
        check(["a\u{200b}", "/b", ""], "a\\u{200b}/b", "         ^^");
    }

    #[test]
    fn of_a_long_line_what_is_around_the_place_is_shown() {
        let long = "x".repeat(1000);
        let (line, marks) = drawn(&long, "/a", &long);
        assert_eq!(line, format!("…{0}/a{0}…", "x".repeat(AROUND)));
        assert_eq!(marks, format!("{}^^", " ".repeat(AROUND + 1)));
        let wide = "日".repeat(1000);
        let (line, marks) = drawn(&wide, &wide, &wide);
        let part = "日".repeat(AROUND / 2);
        assert_eq!(line, format!("…{part}{part}…{part}…"));
        assert_eq!(marks, format!("{}{}", " ".repeat(AROUND + 1), "^".repeat(AROUND + 1)));
    }

    #[test]
    fn octets_that_are_no_text_are_escaped() {
        let mut out = Vec::new();
        let number = LineNumber::new(7).expect("a number");
        write_marked(&mut out, ("", ""), number, b"\xff/\xfe", 1..3, Style::new()).expect("memory");
        let text = String::from_utf8(anstream::adapter::strip_bytes(&out).into_vec()).expect("text");
        assert_eq!(text, "    7 | \\xFF/\\xFE\n      |     ^^^^^\n");
    }
}

//! The lines of a file as lints look at them.
//!
//! A file can have half a million lines, nearly all of them empty. So only this is stored for a line:
//! where it starts, whether a directive knows its record, and if crawlers ignore it, why (this takes
//! longest to find out). The rest of a line is read again for each lint that looks at it, so a lint
//! should ask only for the lines that it needs.

use std::ops::Range;

use super::context::directive_of;
use super::diagnostic::Edit;
use super::oddity::{Oddity, oddity_of};
use crate::dialect::Dialect;
use crate::directive::{DIRECTIVES, Directive, Role};
use crate::span::Span;
use crate::syntax::{self, Content, RawRecord};

/// The lines of a text.
pub(super) struct Lines<'c> {
    text: &'c [u8],
    dialect: &'c Dialect,
    starts: Vec<u32>,
    /// The lines with a record that a directive knows, by their index.
    known: Vec<u32>,
    /// The directive of each of them, by its place in the registry.
    directives: Vec<u8>,
    /// The lines that crawlers ignore, by their index, and why.
    odd: Vec<(u32, Oddity)>,
}

/// A line and what is on it.
#[derive(Clone, Copy)]
pub(super) struct LineView<'c> {
    /// Its octets, without those that end it.
    pub(super) span: Span,
    /// Where the next one starts.
    pub(super) next: u32,
    /// From `#` to its end.
    pub(super) comment: Option<Span>,
    /// The record on it, known or not, without a rule that follows a user-agent.
    pub(super) record: Option<RawRecord<'c>>,
    /// The rule that follows a user-agent on it (AIA-5).
    pub(super) inline_rule: Option<RawRecord<'c>>,
    /// Why crawlers ignore it, if they do.
    pub(super) oddity: Option<Oddity>,
}

impl<'c> Lines<'c> {
    pub(super) fn of(text: &'c [u8], dialect: &'c Dialect) -> Self {
        let mut lines = Self {
            text,
            dialect,
            starts: Vec::new(),
            known: Vec::new(),
            directives: Vec::new(),
            odd: Vec::new(),
        };
        let mut at = 0;
        while let Some(raw) = syntax::line_from(text, at) {
            at = raw.next;
            let (line, is_read) = lines.read(raw.start, raw.next);
            if let Some(directive) = line.record.and_then(|record| record.directive) {
                lines.known.push(lines.starts.len() as u32);
                lines.directives.push(directive);
            }
            if !is_read {
                let end = line.comment.map_or(raw.end, |comment| comment.start as usize);
                let oddity = oddity_from(&text[raw.start..end], raw.start, &line, dialect);
                lines.odd.push((lines.starts.len() as u32, oddity));
            }
            lines.starts.push(raw.start as u32);
        }
        lines.starts.shrink_to_fit();
        lines
    }

    /// The dialect that they are read in.
    pub(super) fn dialect(&self) -> &'c Dialect {
        self.dialect
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The line of this index.
    pub(super) fn at(&self, index: usize) -> LineView<'c> {
        let odd = self.odd.binary_search_by_key(&index, |(line, _)| *line as usize);
        let oddity = odd.ok().map(|place| self.odd[place].1);
        LineView { oddity, ..self.read_at(index) }
    }

    /// The index of the line that an offset is on.
    pub(super) fn index_at(&self, offset: u32) -> usize {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// Where the second line starts, or the text ends.
    pub(super) fn end_of_first(&self) -> u32 {
        self.starts.get(1).copied().unwrap_or(self.text.len() as u32)
    }

    /// The text of each, without what ends it.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'c [u8]> {
        (0..self.len()).map(|index| {
            let next = self.starts.get(index + 1).map_or(self.text.len(), |next| *next as usize);
            without_end(&self.text[self.starts[index] as usize..next])
        })
    }

    /// Whether one has more octets than this.
    pub(super) fn has_longer_than(&self, octets: usize) -> bool {
        self.texts().any(|line| line.len() > octets)
    }

    /// Those with a record that a directive knows, with their index.
    pub(super) fn known(&self) -> impl Iterator<Item = (usize, LineView<'c>)> {
        self.known.iter().map(|index| (*index as usize, self.read_at(*index as usize)))
    }

    /// Those with a record of a directive, with their index. No other line is read again.
    pub(super) fn of_directive(
        &self,
        directive: &'static Directive,
    ) -> impl Iterator<Item = (usize, LineView<'c>)> {
        let is_one = move |place: u8| std::ptr::eq(DIRECTIVES[usize::from(place)], directive);
        let lines = self.known.iter().zip(&self.directives).filter(move |(_, place)| is_one(**place));
        lines.map(|(index, _)| (*index as usize, self.read_at(*index as usize)))
    }

    /// How many lines with a known record have such a role, and how many another.
    pub(super) fn count_known(&self, is_one: impl Fn(Role) -> bool) -> (usize, usize) {
        let roles = self.directives.iter().map(|place| DIRECTIVES[usize::from(*place)].role);
        let count = roles.filter(|role| is_one(*role)).count();
        (count, self.known.len() - count)
    }

    /// The lines that crawlers ignore for such a reason.
    pub(super) fn odd(&self, is_one: impl Fn(Oddity) -> bool) -> impl Iterator<Item = LineView<'c>> {
        let odd = self.odd.iter().filter(move |(_, oddity)| is_one(*oddity));
        odd.map(|(index, oddity)| LineView { oddity: Some(*oddity), ..self.read_at(*index as usize) })
    }

    /// Both of these, those with a known record first.
    pub(super) fn known_or_odd(
        &self,
        is_one: impl Fn(Oddity) -> bool,
    ) -> impl Iterator<Item = LineView<'c>> {
        self.known().map(|(_, line)| line).chain(self.odd(is_one))
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = LineView<'c>> {
        self.between(0..self.len())
    }

    /// Those of a range.
    pub(super) fn between(&self, range: Range<usize>) -> impl Iterator<Item = LineView<'c>> {
        let first_odd = self.odd.partition_point(|(line, _)| (*line as usize) < range.start);
        let mut odd = self.odd[first_odd..].iter().peekable();
        range.map(move |index| {
            let oddity = odd.next_if(|(line, _)| *line as usize == index).map(|(_, oddity)| *oddity);
            LineView { oddity, ..self.read_at(index) }
        })
    }

    fn read_at(&self, index: usize) -> LineView<'c> {
        let next = self.starts.get(index + 1).map_or(self.text.len(), |next| *next as usize);
        self.read(self.starts[index] as usize, next).0
    }

    /// Reads the line from one place to where the next one starts, and returns whether crawlers read it or
    /// there is nothing to read.
    fn read(&self, start: usize, next: usize) -> (LineView<'c>, bool) {
        let line = without_end(&self.text[start..next]);
        let end = start + line.len();
        let span = |start: usize| Span { start: start as u32, end: end as u32 };
        let content = syntax::read_line(line, self.dialect);
        let mut record = if let Content::Record(record) = content { Some(record) } else { None };
        let inline = record.as_ref().and_then(|record| syntax::inline_rule(record, self.dialect));
        if let (Some(record), Some((value, _))) = (&mut record, &inline) {
            record.value = value;
        }
        let is_known = record.is_some_and(|record| record.directive.is_some());
        let view = LineView {
            span: span(start),
            next: next as u32,
            comment: memchr::memchr(b'#', line).map(|hash| span(start + hash)),
            record,
            inline_rule: inline.map(|(_, rule)| rule),
            oddity: None,
        };
        (view, is_known || content == Content::Nothing)
    }
}

/// A line without what ends it.
fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Why crawlers ignore a line, given without its comment.
fn oddity_from(octets: &[u8], start: usize, line: &LineView<'_>, dialect: &Dialect) -> Oddity {
    // A part of a byte order mark is not a slip in a name.
    let starts_badly = octets.utf8_chunks().next().is_some_and(|chunk| chunk.valid().is_empty());
    if start == 0 && octets.starts_with(b"\xEF") && starts_badly {
        return Oddity::NotText;
    }
    oddity_of(octets, line.record.as_ref(), dialect)
}

impl LineView<'_> {
    /// The span without white space at its ends and without its comment.
    pub(super) fn content_span(&self, text: &[u8]) -> Span {
        let end = self.comment.map_or(self.span.end, |comment| comment.start);
        let content = &text[self.span.start as usize..end as usize];
        let trimmed = content.trim_ascii();
        if trimmed.is_empty() { Span { start: self.span.start, end } } else { Span::of(trimmed, text) }
    }

    /// Whether it is a group-start line.
    pub(super) fn names_a_crawler(&self) -> bool {
        let directive = self.record.as_ref().and_then(directive_of);
        directive.is_some_and(|directive| matches!(directive.role, Role::StartsGroup(_)))
    }

    /// The edit that takes the line out of the file, but for its comment.
    pub(super) fn removed(&self) -> Edit {
        let end = self.comment.map_or(self.next, |comment| comment.start);
        Edit::new(Span { start: self.span.start, end }, "")
    }
}

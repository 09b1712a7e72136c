//! What a file is made of, for those who read it: its lines, their records, and its groups.

use std::fmt;
use std::ops::Range;

use super::RobotsTxt;
use super::record::{Record, RecordLines, start_lines};
use crate::directive::{DIRECTIVES, Directive, Role};
use crate::span::{LineNumber, Span};
use crate::syntax::{self, Content};

impl RobotsTxt<'_> {
    /// Every line of the text, in order.
    ///
    /// ```
    /// let robots = mayi::RobotsTxt::parse(b"User-agent: *\r\n\r\nDisallow: /a # here");
    /// let last = robots.lines().last().expect("there are three");
    /// assert_eq!(last.number().number(), 3);
    /// assert_eq!(last.text(), b"Disallow: /a # here");
    /// assert_eq!(last.record().expect("it is a record").value(), b"/a");
    /// ```
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let mut next = 0;
        let mut number = LineNumber::FIRST;
        std::iter::from_fn(move || {
            let raw = syntax::line_from(&self.text, next)?;
            next = raw.next;
            let span = Span { start: raw.start as u32, end: raw.end as u32 };
            let line = Line { robots: self, number, span, next: raw.next as u32 };
            number = number.plus(1);
            Some(line)
        })
    }

    /// The line with this number.
    pub fn line(&self, number: LineNumber) -> Option<Line<'_>> {
        self.lines().nth(number.number() as usize - 1)
    }

    /// The groups of the file, in order.
    ///
    /// ```
    /// let robots = mayi::RobotsTxt::parse(b"User-agent: a\nUser-agent: b\nDisallow: /\n\nUser-agent: *\n");
    /// let starts: Vec<_> = robots.groups().map(|group| group.start_lines().count()).collect();
    /// assert_eq!(starts, [2, 1]);
    /// ```
    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        // Lines are counted on from group to group, not from the start of the file for each.
        let mut counter = self.record_lines();
        let firsts = start_lines(&self.records, &self.dialect).filter(|(.., is_first)| *is_first);
        let mut firsts = firsts.map(|(index, ..)| index).peekable();
        std::iter::from_fn(move || {
            let start = firsts.next()?;
            let records = start..firsts.peek().copied().unwrap_or(self.records.len());
            counter.line_of(start);
            Some(Group { robots: self, records, counter: counter.clone() })
        })
    }

    /// The records of each group, in order.
    #[cfg(feature = "report")]
    pub(crate) fn group_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.groups().map(|group| group.records)
    }
}

/// A line of a file, with everything on it.
#[derive(Clone, Copy)]
pub struct Line<'r> {
    robots: &'r RobotsTxt<'r>,
    number: LineNumber,
    span: Span,
    next: u32,
}

impl fmt::Debug for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(self.text());
        f.debug_struct("Line").field("number", &self.number.number()).field("text", &text).finish()
    }
}

impl<'r> Line<'r> {
    /// Its number, counted from 1.
    pub fn number(&self) -> LineNumber {
        self.number
    }

    /// Where it is in the text, without the octets that end it.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Its text, without the octets that end it.
    pub fn text(&self) -> &'r [u8] {
        &self.robots.text[self.span.range()]
    }

    /// The octets that end it: CR, LF, CRLF, or none at the end of the file.
    pub fn end(&self) -> &'r [u8] {
        &self.robots.text[self.span.end as usize..self.next as usize]
    }

    /// The record on it, whether or not a directive of the dialect knows its name.
    pub fn record(&self) -> Option<LineRecord<'r>> {
        match self.content() {
            Content::Record(mut read) => {
                if let Some((value, _)) = syntax::inline_rule(&read, &self.robots.dialect) {
                    read.value = value;
                }
                Some(LineRecord { robots: self.robots, read })
            }
            Content::Nothing | Content::Unreadable => None,
        }
    }

    /// The rule that follows the user-agent on its own line (AIA-5); the record is then the
    /// user-agent line without it.
    pub fn inline_rule(&self) -> Option<LineRecord<'r>> {
        match self.content() {
            Content::Record(read) => {
                let (_, rule) = syntax::inline_rule(&read, &self.robots.dialect)?;
                Some(LineRecord { robots: self.robots, read: rule })
            }
            Content::Nothing | Content::Unreadable => None,
        }
    }

    /// Whether there is something on it that is neither a record nor a comment.
    pub fn is_unreadable(&self) -> bool {
        self.content() == Content::Unreadable
    }

    fn content(&self) -> Content<'r> {
        syntax::read_line(self.text(), &self.robots.dialect)
    }
}

/// The record on a line: a name and a value.
#[derive(Clone, Copy)]
pub struct LineRecord<'r> {
    robots: &'r RobotsTxt<'r>,
    read: syntax::RawRecord<'r>,
}

impl fmt::Debug for LineRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy;
        f.debug_struct("LineRecord")
            .field("name", &text(self.name()))
            .field("value", &text(self.value()))
            .finish()
    }
}

impl<'r> LineRecord<'r> {
    /// Its name, as written.
    pub fn name(&self) -> &'r [u8] {
        self.read.name
    }

    /// Its value, as written, without comment and white space around it.
    pub fn value(&self) -> &'r [u8] {
        self.read.value
    }

    /// Where the value is in the text.
    pub fn value_span(&self) -> Span {
        Span::of(self.read.value, &self.robots.text)
    }

    /// The directive that it is a record of, in the dialect of the file.
    pub fn directive(&self) -> Option<&'static Directive> {
        Some(DIRECTIVES[usize::from(self.read.directive?)])
    }

    /// Whether its name is known by a misspelling (WILD-2).
    pub fn is_misspelled(&self) -> bool {
        self.read.misspelled
    }

    /// Whether there is white space instead of the colon (WILD-2).
    pub fn lacks_colon(&self) -> bool {
        self.read.without_colon
    }
}

/// A group of a file: its group-start lines and what follows them.
#[derive(Clone)]
pub struct Group<'r> {
    robots: &'r RobotsTxt<'r>,
    records: Range<usize>,
    /// Has counted up to its first line.
    counter: RecordLines<'r>,
}

impl fmt::Debug for Group<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let starts = self.start_lines().map(|(_, value)| String::from_utf8_lossy(value));
        let starts: Vec<_> = starts.collect();
        f.debug_struct("Group").field("starts", &starts).field("records", &self.records.len()).finish()
    }
}

impl<'r> Group<'r> {
    /// The values of its group-start lines, with the lines that they are on.
    pub fn start_lines(&self) -> impl Iterator<Item = (LineNumber, &'r [u8])> {
        self.with_lines(|role| matches!(role, Role::StartsGroup(_)).then_some(()))
            .map(|(line, value, ())| (line, value))
    }

    /// Its rules: kind and pattern as written, with the lines that they are on.
    pub fn rules(&self) -> impl Iterator<Item = (LineNumber, crate::RuleKind, &'r [u8])> {
        let kind = |role| if let Role::Rule(kind) = role { Some(kind) } else { None };
        self.with_lines(kind).map(|(line, value, kind)| (line, kind, value))
    }

    /// The seconds that it asks crawlers to wait between requests, as [`RobotsTxt::crawl_delay`] has them.
    pub fn crawl_delay(&self) -> Option<f64> {
        self.robots.longest_delay(self.robots.records[self.records.clone()].iter().copied())
    }

    /// The values of its records of a kind, as written. The names of kinds are those of reports.
    ///
    /// ```
    /// let robots = mayi::RobotsTxt::parse(b"User-agent: *\nCrawl-delay: 2\nRequest-rate: 1/10s\n");
    /// let group = robots.groups().next().expect("there is one");
    /// assert_eq!(group.crawl_delay(), Some(2.0));
    /// assert!(group.listed("request_rate").eq([b"1/10s"]));
    /// ```
    pub fn listed(&self, kind: &str) -> impl Iterator<Item = &'r [u8]> {
        let records = self.robots.records[self.records.clone()].iter();
        let is_one = move |record: &&Record| record.directive().listed_as == Some(kind);
        let values = records.filter(is_one).map(|record| self.robots.value(*record));
        values.filter(|value| !value.is_empty())
    }

    fn with_lines<K>(
        &self,
        wanted: impl Fn(Role) -> Option<K>,
    ) -> impl Iterator<Item = (LineNumber, &'r [u8], K)> {
        let robots = self.robots;
        let mut counter = self.counter.clone();
        self.records.clone().filter_map(move |index| {
            let record = robots.records[index];
            let kind = wanted(record.role())?;
            Some((counter.line_of(index), robots.value(record), kind))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_records_do_not_end_a_group() {
        let robots = RobotsTxt::parse(
            b"User-agent: a\nSitemap: s\nCrawl-delay: 1\nX: y\nUser-agent: b\nDisallow: /\nUser-agent: c",
        );
        let starts: Vec<Vec<u32>> = robots
            .groups()
            .map(|group| group.start_lines().map(|(line, _)| line.number()).collect())
            .collect();
        assert_eq!(starts, [vec![1, 5], vec![7]]);
    }
}

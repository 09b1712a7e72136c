//! Lines → records of 8 octets, with what they are found by: the value of each, and the line that it is on.

use std::ops::Range;

use super::RobotsTxt;
use crate::dialect::{Dialect, Lines};
use crate::directive::{DIRECTIVES, Directive, GroupStart, GroupStep, Role, role_of};
use crate::octets::{count_line_ends, first_eight};
use crate::span::{LineNumber, Span, line_at};
use crate::syntax::{self, Content};

/// One line read as a directive's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Where the value starts.
    start: u32,
    /// How long it is; [`LONG`](Self::LONG) where that does not fit.
    length: u16,
    /// Its place in the registry.
    directive: u8,
    /// How many lines it is below the record before it, or below the first line; [`FAR`](Self::FAR) where that does
    /// not fit.
    lines: u8,
}

impl Record {
    const LONG: u16 = u16::MAX;
    const FAR: u8 = u8::MAX;

    fn new(value: &[u8], text: &[u8], directive: u8, lines: u32) -> Self {
        let start = Span::of(value, text).start;
        let length = u16::try_from(value.len()).unwrap_or(Self::LONG);
        Self { start, length, directive, lines: u8::try_from(lines).unwrap_or(Self::FAR) }
    }

    pub(crate) fn directive(self) -> &'static Directive {
        DIRECTIVES[usize::from(self.directive)]
    }

    pub(crate) fn role(self) -> Role {
        role_of(self.directive)
    }

    pub(crate) fn starts_group(self) -> bool {
        matches!(self.role(), Role::StartsGroup(_))
    }

    /// Whether it is neither a rule nor starts a group.
    fn is_non_rule(self) -> bool {
        !matches!(self.role(), Role::Rule(_) | Role::StartsGroup(_))
    }

    pub(crate) fn start(self) -> u32 {
        self.start
    }

    pub(crate) fn is(self, directive: &'static Directive) -> bool {
        std::ptr::eq(self.directive(), directive)
    }
}

pub(super) fn read_records(text: &[u8], dialect: &Dialect) -> Vec<Record> {
    match dialect.lines {
        Lines::Whole => read_lines::<false>(text, dialect),
        Lines::Cut(_) => read_lines::<true>(text, dialect),
    }
}

/// A loop for each kind of line, so that a dialect is asked for its own once per file and not once per line.
fn read_lines<const CUT: bool>(text: &[u8], dialect: &Dialect) -> Vec<Record> {
    // In most files a record has more octets than this. Unused memory is returned.
    const OCTETS_A_RECORD: usize = 20;
    let lines = if CUT { dialect.lines } else { Lines::Whole };
    let mut records = Vec::with_capacity(text.len() / OCTETS_A_RECORD);
    syntax::for_each_content(text, lines, |content, lines_above| {
        let Content::Record(read) = syntax::read_content(content, lines, dialect) else { return };
        let Some(directive) = read.directive else { return };
        let inline = syntax::inline_rule(&read, dialect);
        let value = inline.as_ref().map_or(read.value, |(value, _)| *value);
        records.push(Record::new(value, text, directive, std::mem::take(lines_above)));
        if let Some((_, rule)) = inline
            && let Some(directive) = rule.directive
        {
            records.push(Record::new(rule.value, text, directive, 0));
        }
    });
    records.shrink_to_fit();
    records
}

/// The records of a file that are not rules and start no group, by their indexes; and how many there are of the others. A file has few of them, but can have tens
/// of thousands of rules, and every report asks for several kinds of them.
#[derive(Clone, Debug)]
pub(crate) struct NonRules {
    /// In file order.
    indexes: Box<[u32]>,
    /// How many of them are before the first group.
    before_groups: usize,
    /// How many records start groups, and how many octets their values have together.
    starts: usize,
    octets_of_starts: usize,
}

impl NonRules {
    pub(super) fn of(robots: &RobotsTxt<'_>) -> Self {
        let records = robots.records();
        let first = records.iter().position(|record| record.starts_group()).unwrap_or(records.len());
        let indexes = (0..).zip(records).filter(|(_, record)| record.is_non_rule());
        let indexes: Box<[u32]> = indexes.map(|(index, _)| index).collect();
        let before_groups = indexes.partition_point(|index| (*index as usize) < first);
        let starts = records.iter().filter(|record| record.starts_group());
        let octets_of_starts = starts.clone().map(|record| robots.value(*record).len()).sum();
        Self { indexes, before_groups, starts: starts.count(), octets_of_starts }
    }

    /// How many records start groups, and how many octets their values have together.
    #[cfg(feature = "report")]
    pub(crate) fn starts(&self) -> (usize, usize) {
        (self.starts, self.octets_of_starts)
    }

    /// How many octets of memory it takes for these records.
    pub(super) fn octets_for(records: &[Record]) -> usize {
        records.iter().filter(|record| record.is_non_rule()).count() * size_of::<u32>()
    }

    /// All of them.
    pub(crate) fn all<'r>(
        &'r self,
        robots: &'r RobotsTxt<'_>,
    ) -> impl Iterator<Item = Record> + use<'r> {
        let records = robots.records();
        self.indexes.iter().map(move |index| records[*index as usize])
    }

    /// Those before the first group, which are for everybody.
    pub(crate) fn before_groups<'r>(
        &'r self,
        robots: &'r RobotsTxt<'_>,
    ) -> impl Iterator<Item = Record> + use<'r> {
        let records = robots.records();
        self.indexes[..self.before_groups].iter().map(move |index| records[*index as usize])
    }

    /// Those of some groups. Groups without any, and those of other groups, cost nothing or nearly nothing.
    pub(crate) fn of_groups<'r, 'g>(
        &'r self,
        robots: &'r RobotsTxt<'_>,
        mut groups: &'g [Range<usize>],
    ) -> impl Iterator<Item = Record> + use<'r, 'g> {
        let records = robots.records();
        let mut indexes = &*self.indexes;
        std::iter::from_fn(move || {
            loop {
                let index = *indexes.first()? as usize;
                groups = &groups[groups.partition_point(|group| group.end <= index)..];
                let start = groups.first()?.start;
                if index >= start {
                    indexes = &indexes[1..];
                    return Some(records[index]);
                }
                indexes = &indexes[indexes.partition_point(|index| (*index as usize) < start)..];
            }
        })
    }
}

/// Counts the lines of records from one to the next, forwards.
#[derive(Clone)]
pub(crate) struct RecordLines<'r> {
    robots: &'r RobotsTxt<'r>,
    next: usize,
    /// How many lines are above the record before the next one.
    above: u32,
}

impl<'r> RecordLines<'r> {
    /// Counts on from after the record with this index, which is on this line.
    pub(crate) fn behind(robots: &'r RobotsTxt<'r>, index: usize, line: LineNumber) -> Self {
        Self { robots, next: index + 1, above: line.number() - LineNumber::FIRST.number() }
    }

    /// The line of the record with this index, which is not before the last one asked for.
    pub(crate) fn line_of(&mut self, index: usize) -> LineNumber {
        let passed = self.next..(index + 1).max(self.next);
        self.of_records(passed).for_each(drop);
        LineNumber::FIRST.plus(self.above)
    }

    /// The records in this range, none of which is before the last one asked for, with their lines.
    #[inline]
    pub(crate) fn of_records(
        &mut self,
        range: Range<usize>,
    ) -> impl Iterator<Item = (Record, LineNumber)> + use<'_, 'r> {
        let (passed, wanted) =
            self.robots.records[self.next..range.end].split_at(range.start - self.next);
        for &record in passed {
            self.pass(record);
        }
        wanted.iter().map(|&record| {
            self.pass(record);
            (record, LineNumber::FIRST.plus(self.above))
        })
    }

    #[inline]
    fn pass(&mut self, next: Record) {
        let lines =
            if next.lines == Record::FAR { self.lines_between() } else { u32::from(next.lines) };
        self.above += lines;
        self.next += 1;
    }

    /// How many lines the next record is below the one before it.
    #[cold]
    fn lines_between(&self) -> u32 {
        let records = &self.robots.records;
        let from = self.next.checked_sub(1).map_or(0, |before| records[before].start);
        count_line_ends(&self.robots.text[from as usize..records[self.next].start as usize])
    }
}

/// The group-start lines among records: where each is, what it names crawlers by, and whether it is the first of
/// its group.
pub(crate) fn start_lines(
    records: &[Record],
    dialect: &Dialect,
) -> impl Iterator<Item = (usize, GroupStart, bool)> {
    let mut walk = dialect.group_walk();
    let mut next = 0;
    std::iter::from_fn(move || {
        loop {
            // Behind a rule, nothing but a group-start line makes a difference.
            if walk.is_behind_rule() {
                next += records[next..].iter().position(|record| record.starts_group())?;
            }
            let index = next;
            let role = records.get(index)?.role();
            next += 1;
            let step = walk.step(role);
            if let Role::StartsGroup(start) = role {
                return Some((index, start, step == GroupStep::Starts));
            }
        }
    })
}

impl RobotsTxt<'_> {
    /// The value of a record, as written.
    #[inline]
    pub(crate) fn value(&self, record: Record) -> &[u8] {
        if record.length == Record::LONG {
            return self.long_value(record);
        }
        let start = record.start as usize;
        &self.text[start..start + usize::from(record.length)]
    }

    /// Where in the text the value of a record is.
    #[inline]
    pub(crate) fn range(&self, record: Record) -> Range<usize> {
        let is_long = record.length == Record::LONG;
        let length = if is_long { self.long_value(record).len() } else { usize::from(record.length) };
        let start = record.start as usize;
        start..start + length
    }

    #[cold]
    fn long_value(&self, record: Record) -> &[u8] {
        let value = syntax::long_value(&self.text, record.start as usize, &self.dialect);
        syntax::before_inline_rule(value, record.directive, &self.dialect)
    }

    /// About how many octets the values of these records have, without those of very long ones.
    pub(crate) fn octets_of_values(&self, records: Range<usize>) -> usize {
        self.records[records].iter().map(|record| usize::from(record.length)).sum()
    }

    /// The first eight octets from where the value of a record starts, whether or not they are its.
    pub(crate) fn first_eight_of(&self, record: Record) -> u64 {
        first_eight(&self.text[record.start as usize..])
    }

    pub(crate) fn line_of(&self, record: Record) -> LineNumber {
        line_at(&self.text, record.start)
    }

    /// The lines of records in file order, counted on from one to the next.
    pub(crate) fn lines_of(&self, records: impl Iterator<Item = usize>) -> Vec<LineNumber> {
        let mut counter = self.record_lines();
        records.map(|index| counter.line_of(index)).collect()
    }

    /// Counts the lines of records.
    pub(crate) fn record_lines(&self) -> RecordLines<'_> {
        RecordLines { robots: self, next: 0, above: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_records_are_those_of_the_text() {
        let far = "\r\n".repeat(254);
        let farther = "# a\n\r\r\n".repeat(200);
        let text = format!(
            "\n{far}User-agent: *\r\nDisallow: /a\r{far}\rAllow:\n\n{farther}Disallow: /b#c\n\rAllow: /\r\n"
        );
        for start in 0..3 {
            let text = &text.as_bytes()[start..];
            let robots = RobotsTxt::parse(text);
            assert_eq!(robots.records().len(), 5);
            let expected: Vec<_> = robots.records().iter().map(|it| line_at(text, it.start)).collect();
            assert_eq!(robots.lines_of(0..5), expected);
            for index in 0..5 {
                assert_eq!(robots.record_lines().line_of(index), expected[index]);
                let mut lines = robots.record_lines();
                assert!(
                    lines
                        .of_records(index..5)
                        .map(|(_, line)| line)
                        .eq(expected[index..].iter().copied())
                );
                assert_eq!(lines.line_of(4), expected[4]);
            }
        }
    }

    #[test]
    fn a_record_is_eight_octets() {
        assert_eq!(size_of::<Record>(), 8);
    }

    #[test]
    fn long_values_are_read_again() {
        let pattern = format!("/{}", "a".repeat(70_000));
        let file = format!("User-agent: *\nDisallow:  {pattern} # long\nAllow: /b");
        let robots = RobotsTxt::parse(file.as_bytes());
        let group = robots.groups().next().expect("a group");
        let file = format!("User-agent: {} Disallow: /x", "a".repeat(70_000));
        let inline = RobotsTxt::parse(file.as_bytes());
        let start = inline.groups().next().and_then(|group| group.start_lines().next());
        assert_eq!(start.map(|(_, value)| value.len()), Some(70_000));
        let rules: Vec<_> = group.rules().collect();
        assert_eq!(rules[0].2, pattern.as_bytes());
        assert_eq!((rules[1].0.number(), rules[1].2), (3, &b"/b"[..]));
    }
}

//! Lines → records and groups; the file that decisions are made from.
//!
//! Parsing never fails: any octets are a file, and lines that can't be used are ignored (REP-22). What
//! is kept is the text and 8 octets for each record that a directive knows; lines, groups and
//! irregularities are read from the text again when they are needed. So a stored file is hardly larger
//! than its text, and nothing in it can disagree with the text.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::crawler::Crawler;
use crate::dialect::{Dialect, Lines};
use crate::directive::{
    CRAWL_DELAY, DIRECTIVES, Directive, GroupStart, GroupStep, Role, SITEMAP, role_of,
};
use crate::encoding::{self, Cut};
use crate::limits::Limits;
use crate::octets::{count_line_ends, first_eight};
use crate::regexes::Regexes;
use crate::registry::Registry;
use crate::selection::{self, Selection};
use crate::span::{LineNumber, Span, column_at, line_at};
use crate::syntax::{self, Content};
use crate::work::{Stop, Work};

/// A robots.txt file, read once and asked often, by any number of crawlers and threads.
///
/// ```
/// use mayi::{Crawler, RobotsTxt, Target};
///
/// let robots = RobotsTxt::parse(b"User-agent: *\nDisallow: /private/\nAllow: /private/press\n");
/// let crawler = Crawler::new("ExampleBot")?;
///
/// let decision = robots.decide(&crawler, &Target::parse("https://example.com/private/x")?);
/// assert!(!decision.is_allowed());
/// let rule = decision.rule().expect("a rule decided");
/// assert_eq!((rule.line().number(), rule.pattern()), (2, &b"/private/"[..]));
///
/// let decision = robots.decide(&crawler, &Target::parse("https://example.com/private/press")?);
/// assert!(decision.is_allowed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RobotsTxt<'t> {
    text: Cow<'t, [u8]>,
    records: Vec<Record>,
    dialect: Dialect,
    registry: Arc<Registry>,
    cut: Option<Cut>,
    /// The regular expressions of group-start lines, compiled when first needed.
    regexes: OnceLock<Arc<Regexes>>,
}

/// How a file is to be read.
///
/// ```
/// use mayi::{Dialect, Limits, ReadOptions, RobotsTxt};
///
/// let options = ReadOptions::default()
///     .with_dialect(Dialect::KOSTER_00)
///     .with_charset("iso-8859-1")
///     .with_limits(Limits::with_file_octets(1 << 20)?);
/// let robots = RobotsTxt::read(b"User-agent: *\nDisallow: /caf\xE9\n", &options);
/// assert_eq!(robots.dialect().name(), "koster-00");
/// # Ok::<(), mayi::InvalidLimit>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    dialect: Dialect,
    limits: Limits,
    charset: Option<Box<str>>,
    registry: Option<Arc<Registry>>,
    stop: Option<Stop>,
}

impl ReadOptions {
    /// Reads in this dialect.
    #[must_use]
    pub fn with_dialect(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }

    /// The dialect that is read.
    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Reads within these limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Asks this registry instead of the one that is built in.
    #[must_use]
    pub fn with_registry(self, registry: Arc<Registry>) -> Self {
        Self { registry: Some(registry), ..self }
    }

    /// Decodes the octets from this charset, the one that came with the file's Content-Type. A byte
    /// order mark goes before it, and a label that nobody knows is skipped (REP-14).
    #[must_use]
    pub fn with_charset(self, label: &str) -> Self {
        Self { charset: Some(label.into()), ..self }
    }

    /// The charset that is decoded from, where one was named.
    #[cfg(feature = "report")]
    pub(crate) fn charset(&self) -> Option<&str> {
        self.charset.as_deref()
    }

    /// The same with the charset of a whole Content-Type, if it has one.
    ///
    /// ```
    /// use mayi::{ReadOptions, RobotsTxt};
    ///
    /// let options = ReadOptions::default().with_content_type("text/plain; charset=ISO-8859-1");
    /// let robots = RobotsTxt::read(b"# caf\xE9", &options);
    /// assert_eq!(robots.text(), "# café".as_bytes());
    /// ```
    #[must_use]
    pub fn with_content_type(self, content_type: &str) -> Self {
        match encoding::charset_in(content_type) {
            Some(charset) => self.with_charset(charset.name()),
            None => self,
        }
    }

    /// Lets what is more than a pass over its input be ended from another thread.
    #[must_use]
    pub fn with_stop(self, stop: Stop) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// The limits that are read within.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The registry that is asked.
    pub fn registry(&self) -> Arc<Registry> {
        self.registry.clone().unwrap_or_else(Registry::built_in)
    }

    /// The budget for an answer about input of this many octets.
    pub(crate) fn work_for(&self, octets: usize) -> Work {
        self.limits.work_for(octets).until(self.stop.clone())
    }
}

impl<'t> RobotsTxt<'t> {
    /// Reads a file in the default dialect. It can't fail.
    pub fn parse(octets: &'t [u8]) -> Self {
        Self::read(octets, &ReadOptions::default())
    }

    /// Reads a file, borrowed (`&[u8]`) or owned (`Vec<u8>`). It can't fail.
    pub fn read(octets: impl Into<Octets<'t>>, options: &ReadOptions) -> Self {
        let dialect = options.dialect.clone();
        let octets = octets.into().0;
        let text =
            encoding::text_of(octets, options.charset.as_deref(), dialect.encoding, options.limits);
        let records = read_records(&text.octets, &dialect);
        Self {
            text: text.octets,
            records,
            dialect,
            registry: options.registry(),
            cut: text.cut,
            regexes: OnceLock::new(),
        }
    }

    /// The same file with its text copied, for keeping.
    pub fn into_owned(self) -> RobotsTxt<'static> {
        RobotsTxt {
            text: Cow::Owned(self.text.into_owned()),
            records: self.records,
            dialect: self.dialect,
            registry: self.registry,
            cut: self.cut,
            regexes: self.regexes,
        }
    }

    /// The dialect that it was read in.
    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// The registry that it asks.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The text that was read: up to the limit, decoded, without a byte order mark.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// How many octets of memory it takes, about and at most: its text, its records, and the regular expressions of its
    /// group-start lines, which are compiled when they are first needed. For a cache that has a bound.
    ///
    /// ```
    /// let file = mayi::RobotsTxt::parse(b"User-agent: *\nDisallow: /a\n");
    /// assert!((40..1000).contains(&file.octets_in_memory()));
    /// ```
    pub fn octets_in_memory(&self) -> usize {
        let records = self.records.capacity() * size_of::<Record>();
        size_of::<Self>() + self.text.len() + records + selection::most_octets_of_regexes(self)
    }

    /// What the size limit took away, if it did (REP-24).
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

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

    /// The records before the first group, which are for everybody.
    pub(crate) fn records_before_groups(&self) -> impl Iterator<Item = Record> {
        let is_start = |record: &&Record| matches!(record.role(), Role::StartsGroup(_));
        self.records.iter().take_while(move |record| !is_start(record)).copied()
    }

    /// The records of each group, in order.
    #[cfg(feature = "report")]
    pub(crate) fn group_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.groups().map(|group| group.records)
    }

    /// The values of the `Sitemap` lines, wherever they are; a line without one names nothing.
    ///
    /// ```
    /// let robots = mayi::RobotsTxt::parse(b"Sitemap: https://example.com/s.xml\nSitemap:\n");
    /// assert!(robots.sitemaps().eq([b"https://example.com/s.xml"]));
    /// ```
    pub fn sitemaps(&self) -> impl Iterator<Item = &[u8]> {
        self.values_of(&SITEMAP, self.records.iter().copied())
    }

    /// The seconds that the crawler's groups ask it to wait between requests: the longest of the
    /// values that are numbers.
    ///
    /// ```
    /// let robots = mayi::RobotsTxt::parse(b"User-agent: *\nCrawl-delay: 2.5\n");
    /// assert_eq!(robots.crawl_delay(&mayi::Crawler::new("ExampleBot")?), Some(2.5));
    /// # Ok::<(), mayi::InvalidProductToken>(())
    /// ```
    pub fn crawl_delay(&self, crawler: &Crawler) -> Option<f64> {
        self.crawl_delay_of(selection::select(self, crawler, &mut ()).as_ref())
    }

    /// The same, where the groups are known already.
    pub(crate) fn crawl_delay_of(&self, selection: Option<&Selection>) -> Option<f64> {
        self.longest_delay(selection?.records(self))
    }

    fn longest_delay(&self, records: impl Iterator<Item = Record>) -> Option<f64> {
        self.values_of(&CRAWL_DELAY, records).filter_map(seconds).max_by(f64::total_cmp)
    }

    /// The values of those records that are of a directive; a record without a value says nothing.
    pub(crate) fn values_of(
        &self,
        directive: &'static Directive,
        records: impl Iterator<Item = Record>,
    ) -> impl Iterator<Item = &[u8]> {
        let values =
            records.filter(move |record| record.is(directive)).map(|record| self.value(record));
        values.filter(|value| !value.is_empty())
    }

    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    /// The first few regular expressions of the file, in order, where they can be used (AIA-3).
    pub(crate) fn regexes(&self) -> &Regexes {
        self.regexes.get_or_init(|| Arc::new(selection::regexes_of(self)))
    }

    /// The same with the regular expressions of another reading, which has the same ones: they are compiled once for both.
    #[cfg(feature = "report")]
    pub(crate) fn with_regexes_of(mut self, other: &RobotsTxt<'_>) -> Self {
        other.regexes();
        self.regexes = other.regexes.clone();
        self
    }

    /// The value of a record, as written.
    #[inline]
    pub(crate) fn value(&self, record: Record) -> &[u8] {
        if record.length == Record::LONG {
            return self.long_value(record);
        }
        let start = record.start as usize;
        &self.text[start..start + usize::from(record.length)]
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

    pub(crate) fn column_of(&self, span: Span) -> u32 {
        column_at(&self.text, span.start)
    }
}

impl fmt::Debug for RobotsTxt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RobotsTxt")
            .field("text", &String::from_utf8_lossy(&self.text))
            .field("records", &self.records.len())
            .field("dialect", &self.dialect.name())
            .field("cut", &self.cut)
            .finish()
    }
}

/// The octets of a file, borrowed or owned: what [`RobotsTxt::read`] takes.
#[derive(Clone, Debug)]
pub struct Octets<'t>(Cow<'t, [u8]>);

impl<'t> From<&'t [u8]> for Octets<'t> {
    fn from(octets: &'t [u8]) -> Self {
        Self(Cow::Borrowed(octets))
    }
}

impl<'t, const N: usize> From<&'t [u8; N]> for Octets<'t> {
    fn from(octets: &'t [u8; N]) -> Self {
        Self(Cow::Borrowed(octets))
    }
}

impl From<Vec<u8>> for Octets<'static> {
    fn from(octets: Vec<u8>) -> Self {
        Self(Cow::Owned(octets))
    }
}

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

    pub(crate) fn start(self) -> u32 {
        self.start
    }

    pub(crate) fn is(self, directive: &'static Directive) -> bool {
        std::ptr::eq(self.directive(), directive)
    }
}

fn read_records(text: &[u8], dialect: &Dialect) -> Vec<Record> {
    match dialect.lines {
        Lines::Whole => read_lines::<false>(text, dialect),
        Lines::Cut(_) => read_lines::<true>(text, dialect),
    }
}

/// A loop for each kind of line, so that a dialect is asked for its own once per file and not once per line.
fn read_lines<const CUT: bool>(text: &[u8], dialect: &Dialect) -> Vec<Record> {
    // In most files, more octets than this go to a record. What is too much is given back.
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

/// Counts the lines of records from one to the next, forwards.
#[derive(Clone)]
pub(crate) struct RecordLines<'r> {
    robots: &'r RobotsTxt<'r>,
    next: usize,
    /// How many lines are above the record before the next one.
    above: u32,
}

impl<'r> RecordLines<'r> {
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
    records.iter().enumerate().filter_map(move |(index, record)| {
        let role = record.role();
        let step = walk.step(role);
        let Role::StartsGroup(start) = role else { return None };
        Some((index, start, step == GroupStep::Starts))
    })
}

pub(crate) fn seconds(value: &[u8]) -> Option<f64> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

/// A line of a file, with all that stands on it.
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

    /// Whether white space stands where the colon should (WILD-2).
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

    /// The values of its records of a kind, as written; kinds are called as reports call them.
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

    #[test]
    fn it_is_shared_across_threads() {
        fn check<T: Send + Sync + 'static>() {}
        check::<RobotsTxt<'static>>();
        check::<crate::CrawlerRules>();
    }

    #[test]
    fn odd_delays_are_passed_over() {
        let crawler = Crawler::new("ExampleBot").expect("a token");
        for (value, expected) in
            [("0", Some(0.0)), ("-1", None), ("NaN", None), ("inf", None), ("5 s", None)]
        {
            let file = format!("User-agent: *\nCrawl-delay: {value}\n");
            assert_eq!(RobotsTxt::parse(file.as_bytes()).crawl_delay(&crawler), expected, "{value}");
        }
    }
}

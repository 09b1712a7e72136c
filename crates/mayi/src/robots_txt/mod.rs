//! Lines → records and groups; the file that decisions are made from.
//!
//! Parsing never fails: any octets are a file, and lines that can't be used are ignored (REP-22). What
//! is kept is the text and 8 octets for each record that a directive knows; lines, groups and
//! irregularities are read from the text again when they are needed. So a stored file is hardly larger
//! than its text, and nothing in it can disagree with the text.

mod record;
mod view;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use self::record::read_records;
pub(crate) use self::record::{NonRules, Record, RecordLines, start_lines};
pub use self::view::{Group, Line, LineRecord};
use crate::crawler::Crawler;
use crate::dialect::Dialect;
use crate::directive::{CRAWL_DELAY, Directive, SITEMAP};
use crate::encoding::{self, Cut};
use crate::limits::Limits;
use crate::regexes::Regexes;
use crate::registry::Registry;
use crate::selection::{self, Selection};
use crate::span::{Span, column_at};
use crate::work::{Stop, Work};

/// A robots.txt file, read once, for any number of questions, crawlers and threads.
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
    /// The records that are not rules, listed when first needed.
    non_rules: OnceLock<NonRules>,
    /// The regular expressions of group-start lines, compiled when first needed.
    regexes: OnceLock<Arc<Regexes>>,
    /// How many octets these two take at most.
    octets_when_needed: OnceLock<usize>,
}

/// How a file is read.
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

    /// Uses this registry instead of the built-in one.
    #[must_use]
    pub fn with_registry(self, registry: Arc<Registry>) -> Self {
        Self { registry: Some(registry), ..self }
    }

    /// Decodes the octets from this charset, the one that came with the file's Content-Type. A byte order
    /// mark overrides it, and an unknown label is ignored (REP-14).
    #[must_use]
    pub fn with_charset(self, label: &str) -> Self {
        Self { charset: Some(label.into()), ..self }
    }

    /// The charset to decode from, if one was named.
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

    /// Lets another thread end work that is more than a pass over its input.
    #[must_use]
    pub fn with_stop(self, stop: Stop) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// The limits for reading.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The registry that is used.
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
            non_rules: OnceLock::new(),
            regexes: OnceLock::new(),
            octets_when_needed: OnceLock::new(),
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
            non_rules: self.non_rules,
            regexes: self.regexes,
            octets_when_needed: self.octets_when_needed,
        }
    }

    /// The dialect that it was read in.
    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// The registry that it uses.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The text that was read: up to the limit, decoded, without a byte order mark.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// An upper estimate of the octets of memory that it takes: its text, its records, and what is made when it is
    /// first needed, such as the regular expressions of its group-start lines. For a bounded cache.
    ///
    /// ```
    /// let file = mayi::RobotsTxt::parse(b"User-agent: *\nDisallow: /a\n");
    /// assert!((40..1000).contains(&file.octets_in_memory()));
    /// ```
    pub fn octets_in_memory(&self) -> usize {
        // A cache asks for every crawler of a file, and the file can have tens of thousands of lines.
        let when_needed = self.octets_when_needed.get_or_init(|| {
            NonRules::octets_for(&self.records) + selection::most_octets_of_regexes(self)
        });
        let records = self.records.capacity() * size_of::<Record>();
        size_of::<Self>() + self.text.len() + records + when_needed
    }

    /// What was lost because of the size limit, if anything (REP-24).
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// The values of the `Sitemap` lines, wherever they are; a line without one names nothing.
    ///
    /// ```
    /// let robots = mayi::RobotsTxt::parse(b"Sitemap: https://example.com/s.xml\nSitemap:\n");
    /// assert!(robots.sitemaps().eq([b"https://example.com/s.xml"]));
    /// ```
    pub fn sitemaps(&self) -> impl Iterator<Item = &[u8]> {
        self.values_of(&SITEMAP, self.non_rules().all(self))
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
        self.longest_delay(selection?.non_rules(self))
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

    /// The records that are not rules and start no group.
    pub(crate) fn non_rules(&self) -> &NonRules {
        self.non_rules.get_or_init(|| NonRules::of(self))
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

pub(crate) fn seconds(value: &[u8]) -> Option<f64> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

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

//! A dialect is a value: a named set of readings.
//!
//! The default is [`Dialect::RFC9309`]. Where dialects differ, the code uses properties of the dialect; there
//! is no second parser and no second matcher. Another dialect is another value.
//!
//! No other file knows a dialect by its name, and a test checks this. Code that has to know how others read a
//! file (`format`, lints) uses the dialects that have a reader.

use std::fmt;

use crate::directive::{FREQUENT, GroupWalk, RuleKind, Spelling, head_of};
use crate::extension::{Extension, Extensions, UnknownName};

/// How a file is read and compared.
///
/// ```
/// use mayi::{Crawler, Dialect, ReadOptions, RobotsTxt, Target};
///
/// let file = b"User-agent: *\nDisallowed: /a\n";
/// let crawler = Crawler::new("ExampleBot")?;
/// let target = Target::parse("https://example.com/a")?;
/// assert!(RobotsTxt::parse(file).decide(&crawler, &target).is_allowed());
///
/// let google = Dialect::named("google").expect("it is built in");
/// let robots = RobotsTxt::read(file, &ReadOptions::default().with_dialect(google));
/// assert!(!robots.decide(&crawler, &target).is_allowed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a difference between dialects, and independent of the others"
)]
pub struct Dialect {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    /// Who reads all files in this dialect, as a word for a sentence. The crawlers that follow the standard
    /// need no word. A dialect that is used only for comparison or on request has none.
    pub(crate) reader: Option<&'static str>,
    /// What is read beyond REP; the directives of other extensions are other records.
    pub(crate) extensions: Extensions,
    pub(crate) names: Names,
    pub(crate) missing_colon: MissingColon,
    pub(crate) global_groups: GlobalGroups,
    pub(crate) tokens: Tokens,
    pub(crate) naming: Naming,
    /// Whether records of a group that are no rules, such as Crawl-delay, end its group-start lines too (REP-17).
    pub(crate) records_end_start: bool,
    pub(crate) comparison: Comparison,
    pub(crate) specificity: Specificity,
    pub(crate) encoding: Encoding,
    pub(crate) lines: Lines,
    /// REP-10.
    pub(crate) allows_robots_txt: bool,
    /// An allow rule for an index page allows its folder too.
    pub(crate) index_pages: bool,
    /// A `$` at the end of a pattern is a plain `$` too: the rule counts twice (REP-15).
    pub(crate) plain_dollars: bool,
    /// A pattern that is a whole URL matches paths that have this URL after their first `/` (WILD-4).
    pub(crate) whole_urls: bool,
}

/// How the name of a record finds its directive (WILD-7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    Whole,
    /// A name that starts with a directive's name is that directive.
    Prefix,
    /// As a whole, and a space may replace a hyphen of the directive's name.
    Words,
}

/// When white space counts as a colon, if misspellings are read (WILD-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingColon {
    /// Between exactly two words, when the line has no colon at all.
    WithoutAny,
    /// Between exactly two words, the first of which is a name, even if the second contains a colon, as every
    /// Sitemap URL does.
    AfterAName,
    /// After a name of one or two words, whatever follows, even nothing. But a colon at the end of the line,
    /// or before white space, is used as the colon.
    Anywhere,
}

/// Which groups apply to a crawler that none names (REP-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GlobalGroups {
    Combined,
    First,
}

/// Which octets a product token may have (REP-4, WILD-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tokens {
    WithDigitsAndDots,
    LettersOnly,
}

/// How the names on group-start lines choose the groups of a crawler.
///
/// ```
/// use mayi::{Crawler, Dialect, Naming, ReadOptions, RobotsTxt, Target};
///
/// let file = "User-agent: ÜberBot/2\nDisallow: /\n";
/// let crawler = Crawler::from_user_agent("ÜberBot/2.1 (+https://example.com/)");
/// let target = Target::parse("https://example.com/")?;
/// let robots = RobotsTxt::parse(file.as_bytes());
/// assert!(robots.decide(&crawler, &target).is_allowed(), "its name is no product token");
///
/// let options = ReadOptions::default().with_dialect(Dialect::RFC9309.with_naming(Naming::LongestWithin));
/// let robots = RobotsTxt::read(file.as_bytes(), &options);
/// assert!(!robots.decide(&crawler, &target).is_allowed());
/// # Ok::<(), mayi::InvalidUrl>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Naming {
    /// A line names the crawler whose product token its value starts with (REP-4).
    Token,
    /// Names are whole values, ignoring case. A name that equals the crawler's User-Agent is used; if there is
    /// none, the first name in the file that occurs anywhere in the User-Agent before its first `/`.
    FirstWithin,
    /// Names are whole values, ignoring case. The longest name that occurs in the crawler's User-Agent, with no
    /// letter, digit, `-` or `_` before it, is used. A `*` in a name is ignored.
    LongestWithin,
}

/// In which form pattern and target are compared (REP-7, REP-11, REP-12, REP-16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// Both in one form, whichever way a character is written.
    Normalised,
    /// As they are written, except that octets outside ASCII are encoded in the pattern.
    AsWritten,
    /// Both with every escape decoded first, so that even a reserved character and its escape are the same.
    Decoded(&'static Decoding),
}

/// How escapes are decoded and encoded again, in dialects that decode all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decoding {
    /// The characters whose escapes are left alone.
    pub(crate) kept: &'static [u8],
    /// The characters that are written raw, beside letters, digits and `-._~`.
    pub(crate) raw: &'static [u8],
    /// The characters that stay raw after the first `?`, if they are written raw. If there are none, a `?` is
    /// a character like any other.
    pub(crate) query: &'static [u8],
    /// Whether the fragment of a URL is compared too.
    pub(crate) fragment: bool,
    pub(crate) dollars: Dollars,
}

/// What a `$` means that does not end its pattern (REP-15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dollars {
    /// A character like others.
    Plain,
    /// It makes the rule invalid. Several at the end of a pattern, with or without wildcards between them,
    /// count as one.
    OnlyAtTheEnd,
}

/// Which octets decide which rule is the most specific (REP-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Specificity {
    /// Those of the normalised pattern.
    Pattern,
    /// Those of the target that it matches; a wildcard matches as many as it can.
    Matched,
}

/// How octets that are not plain UTF-8 are read (REP-14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Byte order marks and the caller's charset are used.
    Honoured,
    /// Octets are read as they are; a UTF-8 byte order mark, or the start of one, is skipped.
    PartialMark,
}

/// What belongs to a line, and what around its parts is white space (REP-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// All of it, with spaces and tabs as white space.
    Whole,
    /// Up to this many octets and not past a NUL, with all of ASCII's white space.
    Cut(usize),
}

impl Dialect {
    /// RFC 9309 and its extensions, as the clauses say.
    pub const RFC9309: Self = Self {
        name: "rfc9309",
        summary: "RFC 9309 and the drafts that extend it; the default",
        reader: None,
        extensions: Extensions::ALL,
        names: Names::Whole,
        missing_colon: MissingColon::AfterAName,
        global_groups: GlobalGroups::Combined,
        tokens: Tokens::WithDigitsAndDots,
        naming: Naming::Token,
        records_end_start: false,
        comparison: Comparison::Normalised,
        specificity: Specificity::Pattern,
        encoding: Encoding::Honoured,
        lines: Lines::Whole,
        allows_robots_txt: true,
        index_pages: false,
        plain_dollars: false,
        whole_urls: false,
    };

    /// draft-koster-rep-00 where it differs: only the first global group counts (REP-6).
    pub const KOSTER_00: Self = Self {
        name: "koster-00",
        summary: "rfc9309, but of several `*` groups only the first applies (REP-6)",
        global_groups: GlobalGroups::First,
        ..Self::RFC9309
    };

    /// The decisions of google/robotstxt, one for one.
    pub const GOOGLE: Self = Self {
        name: "google",
        summary: "exactly the decisions of google/robotstxt",
        reader: Some("Google"),
        extensions: Extensions::NONE.with(Extension::Misspellings),
        names: Names::Prefix,
        missing_colon: MissingColon::WithoutAny,
        global_groups: GlobalGroups::Combined,
        tokens: Tokens::LettersOnly,
        naming: Naming::Token,
        records_end_start: false,
        comparison: Comparison::AsWritten,
        specificity: Specificity::Pattern,
        encoding: Encoding::PartialMark,
        lines: Lines::Cut(16_663),
        allows_robots_txt: false,
        index_pages: true,
        plain_dollars: false,
        whole_urls: false,
    };

    /// As Python's urllib.robotparser reads files (3.13.14, 3.14.5 and later): it chooses groups by names
    /// that occur in the crawler's name, decodes every escape, and ranks rules by the octets that they match.
    /// The only extension is records such as Crawl-delay.
    ///
    /// ```
    /// use mayi::{Crawler, Dialect, ReadOptions, RobotsTxt, Target};
    ///
    /// let file = b"User-agent: bot\nDisallow: /\n";
    /// let crawler = Crawler::from_user_agent("MyBot/1.0");
    /// let target = Target::parse("https://example.com/")?;
    /// let allows = |dialect| {
    ///     let robots = RobotsTxt::read(file, &ReadOptions::default().with_dialect(dialect));
    ///     robots.decide(&crawler, &target).is_allowed()
    /// };
    /// assert!(!allows(Dialect::URLLIB));
    /// assert!(allows(Dialect::PROTEGO) && allows(Dialect::RFC9309));
    /// # Ok::<(), mayi::InvalidUrl>(())
    /// ```
    pub const URLLIB: Self = Self {
        name: "urllib",
        summary: "as Python's urllib.robotparser reads files since 3.13.14 and 3.14.5",
        extensions: Extensions::NONE.with(Extension::Records),
        naming: Naming::FirstWithin,
        records_end_start: true,
        comparison: Comparison::Decoded(&Decoding {
            kept: b"",
            raw: b"/",
            query: b"=&",
            fragment: true,
            dollars: Dollars::OnlyAtTheEnd,
        }),
        specificity: Specificity::Matched,
        ..Self::RFC9309
    };

    /// As Protego 0.7, the parser of Scrapy, reads files: it chooses groups by the longest name that occurs
    /// in the crawler's name, decodes all escapes except those of `/` and `%`, and reads index pages, `$` and
    /// whole URLs in its own way. The only extensions are misspellings and records such as Crawl-delay.
    pub const PROTEGO: Self = Self {
        name: "protego",
        summary: "as Protego 0.7 (Scrapy) reads files",
        extensions: Extensions::NONE.with(Extension::Records).with(Extension::Misspellings),
        names: Names::Words,
        missing_colon: MissingColon::Anywhere,
        naming: Naming::LongestWithin,
        records_end_start: true,
        comparison: Comparison::Decoded(&Decoding {
            kept: b"/%",
            raw: b"/%=",
            query: b"",
            fragment: false,
            dollars: Dollars::Plain,
        }),
        index_pages: true,
        plain_dollars: true,
        whole_urls: true,
        ..Self::RFC9309
    };

    /// The dialects that are built in.
    pub const ALL: &[Self] =
        &[Self::RFC9309, Self::KOSTER_00, Self::GOOGLE, Self::URLLIB, Self::PROTEGO];

    /// Those that identify a crawler by its product token, as the standard says. They are compared if no
    /// dialects are given.
    pub const BY_TOKEN: &[Self] = &[Self::RFC9309, Self::KOSTER_00, Self::GOOGLE];

    /// The built-in dialect of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|dialect| dialect.name == name).cloned()
    }

    /// The same.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(name: &str) -> Result<Self, UnknownName> {
        Self::named(name)
            .ok_or_else(|| UnknownName::new("dialect", name, Self::ALL.iter().map(Self::name)))
    }

    /// The dialects other than the default that have a reader, each with its reader.
    pub(crate) fn met() -> impl Iterator<Item = (&'static Self, &'static str)> {
        Self::ALL.iter().filter_map(|dialect| Some((dialect, dialect.reader?)))
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is, in a line.
    pub fn summary(&self) -> &'static str {
        self.summary
    }

    /// The same dialect without an extension.
    ///
    /// ```
    /// use mayi::{Dialect, Extension};
    ///
    /// let plain = Dialect::RFC9309.without(Extension::Misspellings);
    /// assert!(!plain.reads(Extension::Misspellings));
    /// assert!(plain.reads(Extension::Purposes));
    /// ```
    #[must_use]
    pub fn without(self, extension: Extension) -> Self {
        Self { extensions: self.extensions.without(extension), ..self }
    }

    /// The same dialect with another way to choose the groups of a crawler.
    #[must_use]
    pub fn with_naming(self, naming: Naming) -> Self {
        Self { naming, ..self }
    }

    /// Whether it compares the product token of a crawler with the names in a file. Other dialects look for these names in
    /// all that the crawler sends as its User-Agent.
    ///
    /// ```
    /// use mayi::Dialect;
    ///
    /// assert!(Dialect::RFC9309.compares_product_tokens());
    /// assert!(!Dialect::URLLIB.compares_product_tokens());
    /// ```
    pub fn compares_product_tokens(&self) -> bool {
        self.naming == Naming::Token
    }

    /// Whether a rule of this kind can have more patterns than its own (see `pattern::other_patterns`). If an
    /// allow rule can't, no rule can.
    pub(crate) fn has_other_patterns(&self, kind: RuleKind) -> bool {
        self.plain_dollars || self.whole_urls || self.index_pages && kind == RuleKind::Allow
    }

    /// Whether it splits lines into names and values like another dialect, whatever extensions both read.
    pub(crate) fn reads_lines_as(&self, other: &Self) -> bool {
        let cuts = |dialect: &Self| (dialect.names, dialect.missing_colon, dialect.lines);
        cuts(self) == cuts(other)
    }

    /// The walk over the records of a file that makes groups (REP-1).
    pub(crate) fn group_walk(&self) -> GroupWalk {
        GroupWalk::new(self.records_end_start)
    }

    /// Whether it reads an extension.
    pub fn reads(&self, extension: Extension) -> bool {
        self.extensions.has(extension)
    }

    /// The directive of a line that starts with its right name and a colon right after it, as nearly
    /// every record does, and the length of the name. Only frequent names are looked for.
    // A part of the loop that reads a file: see `syntax::read_content`.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub(crate) fn directive_at_start(line: &[u8]) -> Option<(u8, usize)> {
        let head = head_of(line);
        let found = FREQUENT.iter().find(|spelling| spelling.starts(line, head))?;
        Some((found.directive, found.text.len()))
    }

    /// The directive that a record of this name is, and whether the name is misspelled.
    pub(crate) fn directive(&self, name: &[u8]) -> Option<(u8, bool)> {
        // All of them start with a letter. A file can have hundreds of thousands of lines that do not.
        if !name.first().is_some_and(u8::is_ascii_alphabetic) {
            return None;
        }
        if self.names == Names::Words && name.contains(&b' ') {
            let hyphened: Vec<u8> =
                name.iter().map(|&octet| if octet == b' ' { b'-' } else { octet }).collect();
            let found = self.directive(&hyphened);
            return found.map(|(directive, _)| (directive, true));
        }
        let head = head_of(name);
        let is = |spelling: &&Spelling| match self.names {
            Names::Whole | Names::Words => spelling.is(name, head),
            Names::Prefix => name
                .get(..spelling.text.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(spelling.text.as_bytes())),
        };
        let reads = |spelling: &&Spelling| {
            spelling.extension.is_none_or(|extension| self.reads(extension))
                && (!spelling.is_misspelled || self.reads(Extension::Misspellings))
        };
        let found = Spelling::all().iter().filter(is).find(reads)?;
        Some((found.directive, found.is_misspelled))
    }
}

impl Default for Dialect {
    fn default() -> Self {
        Self::RFC9309
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directive::DIRECTIVES;

    fn name_of(dialect: &Dialect, name: &str) -> Option<(&'static str, bool)> {
        let (id, misspelled) = dialect.directive(name.as_bytes())?;
        Some((DIRECTIVES[id as usize].name, misspelled))
    }

    #[test]
    fn names_start_with_a_letter() {
        assert!(
            Spelling::all().iter().all(|spelling| spelling.text.as_bytes()[0].is_ascii_alphabetic())
        );
    }

    #[test]
    fn names_are_found_by_dialect() {
        let rfc = Dialect::RFC9309;
        assert_eq!(name_of(&rfc, "DISALLOW"), Some(("Disallow", false)));
        assert_eq!(name_of(&rfc, "User Agent"), Some(("User-agent", true)));
        assert_eq!(name_of(&rfc, "DisallowAITraining"), Some(("DisallowAITraining", false)));
        assert_eq!(name_of(&rfc, "Disallowed"), None);
        let plain = rfc.without(Extension::Misspellings).without(Extension::Records);
        assert_eq!(name_of(&plain, "useragent"), None);
        assert_eq!(name_of(&plain, "DisallowAITraining"), None);

        let google = Dialect::GOOGLE;
        assert_eq!(name_of(&google, "DisallowAITraining"), Some(("Disallow", false)));
        assert_eq!(name_of(&google, "User-Agent-Purpose"), Some(("User-agent", false)));
        assert_eq!(name_of(&google, "Content-Usage"), None);
        assert_eq!(name_of(&google, "site-mapped"), Some(("Sitemap", true)));
        assert_eq!(name_of(&google, "Crawl-delay"), None);
    }

    #[test]
    fn built_in_dialects_are_found_by_name() {
        for dialect in Dialect::ALL {
            assert_eq!(Dialect::named(dialect.name()).as_ref(), Some(dialect));
            let is_by_token = dialect.naming == Naming::Token;
            assert_eq!(Dialect::BY_TOKEN.contains(dialect), is_by_token, "{dialect}");
        }
        assert_eq!(Dialect::named("bing"), None);
    }
}

//! A file → the same file, formatted: canonical names, `Name: value`, one blank line between groups.
//!
//! The meaning of the file never changes: access, statements, preferences and records stay the same in
//! every dialect, with every extension on or off (only line numbers differ). This is checked, not
//! assumed. Each formatted line is read before and after in every dialect, and is left unchanged if one
//! of them differs; then the same is done for the whole file.
//!
//! So it does not correct any content. A misspelled name is not corrected, because a strict reader ignores it
//! (WILD-2). No line is moved, no groups are merged (koster-00 uses only the first `*` group, REP-6),
//! and no blank line is inserted where it would end a group for crawlers that follow the convention of
//! 1994.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memchr;

use crate::dialect::Dialect;
use crate::directive::{DIRECTIVES, GroupStep, GroupWalk, Role};
use crate::extension::Extension;
use crate::limits::Limits;
use crate::robots_txt::{ReadOptions, RobotsTxt};
use crate::syntax::{self, Content, RawRecord};

/// Formats a file.
///
/// Names of directives get their canonical spelling, `Name: value` its one space, and lines end as most
/// of them do. Blanks around lines, more than one blank line in a row, and blank lines at the start and
/// the end go; one comes between two groups. Comments stay with their lines.
///
/// ```
/// let formatted = mayi::format(b"user-agent:*\ndisallow :/a   # why\nSITEMAP:https://example.com/s.xml\n\n");
/// assert_eq!(
///     formatted.octets(),
///     b"User-agent: *\nDisallow: /a # why\n\nSitemap: https://example.com/s.xml\n",
/// );
/// assert!(formatted.is_changed());
/// assert!(!mayi::format(formatted.octets()).is_changed());
/// ```
pub fn format(octets: &[u8]) -> Formatted<'_> {
    let unchanged = |why| Formatted { octets: Cow::Borrowed(octets), is_changed: false, why };
    if octets.starts_with(b"\xFF\xFE") || octets.starts_with(b"\xFE\xFF") {
        return unchanged(Some(Unformatted::Utf16));
    }
    // No crawler may have a smaller limit, so files up to this size are read completely.
    if octets.len() > Limits::LEAST_FILE_OCTETS {
        return unchanged(Some(Unformatted::TooLarge));
    }
    let text = octets.strip_prefix(MARK).unwrap_or(octets);
    let mut laid_out = octets[..octets.len() - text.len()].to_vec();
    write_lines(&mut laid_out, text);
    if laid_out == octets {
        return unchanged(None);
    }
    if laid_out.len() > Limits::LEAST_FILE_OCTETS {
        return unchanged(Some(Unformatted::TooLarge));
    }
    // The new first octets may be the start of a mark, and must not be read as one.
    let first = |octets: &[u8]| octets.first().copied().filter(|octet| *octet >= MARK[0]);
    if first(octets) != first(&laid_out) || !reads_the_same(octets, &laid_out) {
        return unchanged(Some(Unformatted::WouldChange));
    }
    Formatted { octets: Cow::Owned(laid_out), is_changed: true, why: None }
}

/// A file that was formatted, or left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formatted<'f> {
    octets: Cow<'f, [u8]>,
    is_changed: bool,
    why: Option<Unformatted>,
}

impl<'f> Formatted<'f> {
    /// The file.
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// The file, to be kept.
    pub fn into_octets(self) -> Cow<'f, [u8]> {
        self.octets
    }

    /// Whether the file was changed.
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Why the file as a whole could not be formatted, if it could not.
    pub fn unformatted(&self) -> Option<Unformatted> {
        self.why
    }
}

/// Why a file is left as it is.
///
/// ```
/// use mayi::Unformatted;
///
/// let large = b"disallow:/\n".repeat(60_000);
/// assert_eq!(mayi::format(&large).unformatted(), Some(Unformatted::TooLarge));
/// assert_eq!(mayi::format(b"\xFF\xFEa\0").unformatted(), Some(Unformatted::Utf16));
/// assert!(Unformatted::WouldChange.summary().contains("read"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unformatted {
    /// It is, or would be, larger than what every crawler reads: how much they read of it would change
    /// (REP-24).
    TooLarge,
    /// It is UTF-16, which some crawlers decode and others do not (REP-14).
    Utf16,
    /// Its first octets would become a byte order mark, or would no longer be one (REP-14).
    WouldChange,
}

impl Unformatted {
    /// What it is, as a part of a sentence.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::TooLarge => {
                "larger than 500 KiB, which is all that crawlers need to read: formatting could change \
                 what they read"
            }
            Self::Utf16 => "in UTF-16, which not every crawler can read; save it as UTF-8 first",
            Self::WouldChange => {
                "after formatting, its first octets would be read as another byte order mark"
            }
        }
    }
}

/// A byte order mark in UTF-8. It stays: without it a charset of the transport would count (REP-14).
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// The ways to read a line. Extensions are read each by its own names, so that leaving each out, and
/// all of them, shows what any choice of them would.
static READINGS: LazyLock<Vec<Dialect>> = LazyLock::new(|| readings(dialects()));

/// The same for dialects that read lines in ways of their own, although few files meet them.
static RARE_READINGS: LazyLock<Vec<Dialect>> = LazyLock::new(|| {
    let is_rare = |rare: &&Dialect| !dialects().any(|dialect| dialect.reads_lines_as(rare));
    readings(Dialect::ALL.iter().filter(is_rare).cloned())
});

fn readings(dialects: impl Iterator<Item = Dialect>) -> Vec<Dialect> {
    let mut readings: Vec<Dialect> = Vec::new();
    for dialect in dialects {
        let without_one = Extension::ALL.iter().map(|off| dialect.clone().without(*off));
        let plain = Extension::ALL.iter().fold(dialect.clone(), |dialect, off| dialect.without(*off));
        // A dialect that reads few extensions is often the same without one of them.
        for reading in [dialect.clone(), plain].into_iter().chain(without_one) {
            if !readings.contains(&reading) {
                readings.push(reading);
            }
        }
    }
    readings
}

/// The dialects that have a reader.
fn dialects() -> impl Iterator<Item = Dialect> {
    std::iter::once(Dialect::default()).chain(Dialect::met().map(|(dialect, _)| dialect.clone()))
}

/// Formats the lines of a text.
fn write_lines(to: &mut Vec<u8>, text: &[u8]) {
    let mut lines = Vec::new();
    let mut at = 0;
    while let Some(raw) = syntax::line_from(text, at) {
        at = raw.next;
        lines.push(laid_out(&text[raw.start..raw.end]));
    }
    let end = dominant_end(text);
    let starts = Starts::of(&lines);
    let mut blank = false;
    let is_first = to.len();
    for (index, line) in lines.iter().enumerate() {
        if line.is_empty() {
            blank = true;
            continue;
        }
        if (blank || starts.wants_blank[index]) && to.len() > is_first {
            to.extend_from_slice(end);
        }
        blank = false;
        to.extend_from_slice(line);
        to.extend_from_slice(end);
    }
}

/// The line end that most lines have; if two are equally frequent, the one that most files have.
pub(crate) fn dominant_end(text: &[u8]) -> &'static [u8] {
    let (mut lf, mut cr, mut crlf) = (0_usize, 0_usize, 0_usize);
    for at in memchr::memchr2_iter(b'\n', b'\r', text) {
        match (text[at], at.checked_sub(1).map(|before| text[before]), text.get(at + 1)) {
            (b'\r', _, Some(b'\n')) => crlf += 1,
            (b'\n', Some(b'\r'), _) => {}
            (b'\r', ..) => cr += 1,
            _ => lf += 1,
        }
    }
    if lf >= crlf && lf >= cr {
        b"\n"
    } else if crlf >= cr {
        b"\r\n"
    } else {
        b"\r"
    }
}

/// A line, given without its end, as it should be written: in the best form that no reading reads
/// differently.
fn laid_out(line: &[u8]) -> Cow<'_, [u8]> {
    let canonical = canonical(line);
    if *canonical == *line {
        return Cow::Borrowed(line);
    }
    if reads_alike(line, &canonical) {
        return Cow::Owned(canonical);
    }
    let trimmed = trim_end(line);
    Cow::Borrowed(if reads_alike(line, trimmed) { trimmed } else { line })
}

fn canonical(line: &[u8]) -> Vec<u8> {
    let (before, comment) = line.split_at(memchr(b'#', line).unwrap_or(line.len()));
    let before = trim(before);
    let mut canonical = match syntax::read_line(before, &Dialect::default()) {
        Content::Record(record) if !record.without_colon => {
            let name = match record.directive {
                Some(id) if !record.misspelled => DIRECTIVES[usize::from(id)].name.as_bytes(),
                _ => record.name,
            };
            let space: &[u8] = if record.value.is_empty() { b"" } else { b" " };
            [name, b":", space, record.value].concat()
        }
        _ => before.to_vec(),
    };
    if !comment.is_empty() {
        if !canonical.is_empty() {
            canonical.push(b' ');
        }
        canonical.extend_from_slice(trim_end(comment));
    }
    canonical
}

/// Whether two lines are the same in every reading.
fn reads_alike(one: &[u8], other: &[u8]) -> bool {
    READINGS.iter().chain(RARE_READINGS.iter()).all(|dialect| {
        match (syntax::read_line(one, dialect), syntax::read_line(other, dialect)) {
            (Content::Record(one), Content::Record(other)) => same_record(&one, &other, dialect),
            (one, other) => one == other,
        }
    })
}

fn same_record(one: &RawRecord<'_>, other: &RawRecord<'_>, dialect: &Dialect) -> bool {
    // A right name may be respelled, whether or not its extension is read; any other name is kept, because
    // only the name says what the record is.
    let right =
        |record: &RawRecord<'_>| Dialect::default().directive(record.name).filter(|found| !found.1);
    let slips = |record: &RawRecord<'_>| (record.misspelled, record.without_colon);
    one.directive == other.directive
        && one.value == other.value
        && (one.name == other.name || right(one).is_some() && right(one) == right(other))
        && slips(one) == slips(other)
        && syntax::inline_rule(one, dialect).map(|(value, rule)| (value, rule.value))
            == syntax::inline_rule(other, dialect).map(|(value, rule)| (value, rule.value))
}

/// Whether two files have the same records in the same order, in the ways to read their octets: this
/// is where byte order marks count.
fn reads_the_same(one: &[u8], other: &[u8]) -> bool {
    fn records<'r>(robots: &'r RobotsTxt<'_>) -> impl Iterator<Item = (&'static str, &'r [u8])> {
        robots.records().iter().map(|record| (record.directive().name, robots.value(*record)))
    }
    dialects().all(|dialect| {
        let options = ReadOptions::default().with_dialect(dialect);
        let (one, other) = (RobotsTxt::read(one, &options), RobotsTxt::read(other, &options));
        records(&one).eq(records(&other))
    })
}

/// Where blank lines go.
struct Starts {
    /// Before which lines one has to be.
    wants_blank: Vec<bool>,
}

impl Starts {
    fn of(lines: &[Cow<'_, [u8]>]) -> Self {
        let mut wants_blank = vec![false; lines.len()];
        let mut walks: Vec<GroupWalk> = READINGS.iter().map(Dialect::group_walk).collect();
        // Where a run of records of the file starts that ends a group.
        let mut file_records = None;
        for (index, line) in lines.iter().enumerate() {
            let mut starts_everywhere = true;
            for (dialect, walk) in READINGS.iter().zip(&mut walks) {
                // The first group needs no blank line before it.
                let is_behind_rule = walk.is_behind_rule();
                let mut roles = roles_of(line, dialect);
                let step = roles.next().map(|role| walk.step(role));
                starts_everywhere &= is_behind_rule && step == Some(GroupStep::Starts);
                for role in roles {
                    walk.step(role);
                }
            }
            if starts_everywhere {
                wants_blank[with_comments_above(lines, index)] = true;
            }
            match role_of(line, &Dialect::default()) {
                Some(Role::FileRecord) => {
                    let behind_rules = walks.iter().all(|walk| walk.is_behind_rule());
                    file_records = file_records.or(behind_rules.then_some(index));
                    continue;
                }
                None if is_blank_or_comment(line) => continue,
                _ => {}
            }
            if let Some(start) = file_records.take().filter(|_| starts_everywhere) {
                wants_blank[with_comments_above(lines, start)] = true;
            }
        }
        if let Some(start) = file_records {
            wants_blank[with_comments_above(lines, start)] = true;
        }
        Self { wants_blank }
    }
}

fn role_of(line: &[u8], dialect: &Dialect) -> Option<Role> {
    roles_of(line, dialect).next()
}

/// What a line does to the groups, and the rule that may follow on it (AIA-5).
fn roles_of(line: &[u8], dialect: &Dialect) -> impl Iterator<Item = Role> + use<> {
    let role = |directive: Option<u8>| Some(DIRECTIVES[usize::from(directive?)].role);
    let (own, inline) = match syntax::read_line(line, dialect) {
        Content::Record(record) => {
            let inline = syntax::inline_rule(&record, dialect);
            (role(record.directive), inline.and_then(|(_, rule)| role(rule.directive)))
        }
        Content::Nothing | Content::Unreadable => (None, None),
    };
    own.into_iter().chain(inline)
}

fn is_blank_or_comment(line: &[u8]) -> bool {
    line.is_empty() || line.starts_with(b"#")
}

/// The first of the comments right above a line that are about it. A rule that is commented out belongs to
/// the lines above it.
fn with_comments_above(lines: &[Cow<'_, [u8]>], line: usize) -> usize {
    let is_about_next = |line: &Cow<'_, [u8]>| {
        let Some(comment) = line.strip_prefix(b"#") else { return false };
        !role_of(comment, &Dialect::default()).is_some_and(|role| !matches!(role, Role::StartsGroup(_)))
    };
    let above = lines[..line].iter().rev().take_while(|line| is_about_next(line)).count();
    line - above
}

fn trim(octets: &[u8]) -> &[u8] {
    let start = octets.iter().position(|octet| !b" \t".contains(octet)).unwrap_or(octets.len());
    trim_end(&octets[start..])
}

fn trim_end(octets: &[u8]) -> &[u8] {
    let end = octets.iter().rposition(|octet| !b" \t".contains(octet)).map_or(0, |last| last + 1);
    &octets[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, expected: &str) {
        let formatted = format(file.as_bytes());
        assert_eq!(String::from_utf8_lossy(formatted.octets()), expected);
        assert!(!format(expected.as_bytes()).is_changed(), "a second time");
    }

    #[test]
    fn names_and_spaces() {
        check("user-agent:*\n", "User-agent: *\n");
        check(" \tDISALLOW \t:\t/a b \t\n", "Disallow: /a b\n");
        check("disallow: \n", "Disallow:\n");
        check("app-directive:a;b\n", "App-Directives: a;b\n");
        check("USER-AGENT-PURPOSE:a\ncrawl-Delay:1", "User-Agent-Purpose: a\nCrawl-delay: 1\n");
        check("X-other :y\n", "X-other: y\n");
    }

    #[test]
    fn what_only_some_read_stays() {
        // Misspelled, without a colon, read by google alone, unreadable.
        check("disalow:/a\nuseragent : b\n", "disalow: /a\nuseragent: b\n");
        check("Disallow   /a  \n", "Disallow   /a\n");
        check("Disallowed:/a\n", "Disallowed: /a\n");
        check("disallowaitraining:/a\n", "DisallowAITraining: /a\n");
        check("  what is this  \n", "what is this\n");
        // White space to google, and a part of the pattern to others.
        check("Disallow:\u{b}/a\u{c}\n", "Disallow: \u{b}/a\u{c}\n");
    }

    #[test]
    fn a_line_that_google_cuts_is_not_made_longer() {
        let file = format!("User-agent: *\nDisallow:/{}\n", "a".repeat(17_000));
        check(&file, &file);
        let cut = format!("User-agent: *\nDisallow:/{}", "a".repeat(16_600));
        assert!(format(cut.as_bytes()).is_changed());
    }

    #[test]
    fn comments_stay_with_their_lines() {
        check("Disallow:/a#b \n", "Disallow: /a #b\n");
        check("  # a\n#b\n", "# a\n#b\n");
        check(
            "User-agent:a\nDisallow:/\n# for b\nUser-agent:b\nDisallow:/\n#Disallow: /b\nUser-agent:c\n",
            "User-agent: a\nDisallow: /\n\n# for b\nUser-agent: b\nDisallow: /\n#Disallow: \
             /b\n\nUser-agent: c\n",
        );
    }

    #[test]
    fn blank_lines() {
        check("\n\n\nUser-agent: a\n\n\nDisallow: /\n\n\n", "User-agent: a\n\nDisallow: /\n");
        check(
            "User-agent: a\nUser-agent: b\nDisallow: /\nSitemap: s\nHost: h\nUser-agent: c\nSitemap: \
             s\nAllow: /",
            "User-agent: a\nUser-agent: b\nDisallow: /\n\nSitemap: s\nHost: h\n\nUser-agent: c\nSitemap: \
             s\nAllow: /\n",
        );
        // For some dialects one group, for others two: a blank line would say more than the file does.
        let file = "User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /\n";
        check(file, file);
    }

    #[test]
    fn line_ends() {
        check("user-agent: a\r\nDisallow: /\n\r\n", "User-agent: a\r\nDisallow: /\r\n");
        check("Allow: /\rDisallow: /\r", "Allow: /\rDisallow: /\r");
        check("Allow: /\r\nDisallow: /\n", "Allow: /\nDisallow: /\n");
        check("", "");
        check(" \n", "");
    }

    #[test]
    fn byte_order_marks() {
        check("\u{feff}user-agent:a\n", "\u{feff}User-agent: a\n");
        // What follows a blank line is no mark, and would be one without it.
        for file in [&b"\n\xEF\xBB\xBFUser-agent: *\n"[..], b"\n\xFF\xFEa", b" \xEF\xBBDisallow: /"] {
            let formatted = format(file);
            assert_eq!(formatted.octets(), file);
        }
        assert_eq!(format(b"\n\xEF\xBBAllow:").unformatted(), Some(Unformatted::WouldChange));
    }
}

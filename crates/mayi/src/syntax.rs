//! Octets → lines, and a line → a record: the grammar of REP-2, REP-3 and WILD-2.
//!
//! Nothing is lost: the lines and their ends, joined, are the text. Nothing here knows what a
//! record means for its group; that is `robots_txt`.

use memchr::{memchr, memchr2};

use crate::dialect::{Dialect, Lines, MissingColon};
use crate::directive::{GroupStart, Role, role_of};
use crate::extension::Extension;
use crate::octets::{BLOCK, Block, first_line_end};

/// A line of a text, without the octets that end it, and where the next one starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawLine {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) next: usize,
}

/// The line that starts at `start`, or `None` at the end of the text.
pub(crate) fn line_from(text: &[u8], start: usize) -> Option<RawLine> {
    let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
    let Some(length) = first_line_end(rest) else {
        return Some(RawLine { start, end: text.len(), next: text.len() });
    };
    let end_octets = if rest[length..].starts_with(b"\r\n") { 2 } else { 1 };
    Some(RawLine { start, end: start + length, next: start + length + end_octets })
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content<'t> {
    /// White space, or a comment.
    Nothing,
    /// A name and a value.
    Record(RawRecord<'t>),
    /// Neither.
    Unreadable,
}

/// A line read as name and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawRecord<'t> {
    pub(crate) name: &'t [u8],
    pub(crate) value: &'t [u8],
    /// The place of the directive in the registry, if the dialect knows the name.
    pub(crate) directive: Option<u8>,
    /// Whether the name is known by a misspelling.
    pub(crate) misspelled: bool,
    /// Whether white space stands for the colon.
    pub(crate) without_colon: bool,
}

/// Reads one line, given without its end.
pub(crate) fn read_line<'t>(line: &'t [u8], dialect: &Dialect) -> Content<'t> {
    let line = within_limits(line, dialect.lines);
    read_content(&line[..memchr(b'#', line).unwrap_or(line.len())], dialect.lines, dialect)
}

/// The part of each line before its comment and within the limits of the dialect, in order. Empty lines may
/// be skipped. The number beside it increases by one with each line; the caller may reset it.
// A part of the loop that reads a file: see `read_content`.
#[allow(clippy::inline_always)]
#[inline(always)]
pub(crate) fn for_each_content<'t>(
    text: &'t [u8],
    lines: Lines,
    mut read: impl FnMut(&'t [u8], &mut u32),
) {
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    // The end of the text ends its last line.
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = b'\n';

    let mut start = 0;
    let mut lines_above = 0;
    let mut block_start = 0;
    // Where the comment starts of a line that began in a block before.
    let mut comment = usize::MAX;
    for octets in blocks.iter().chain([&last]) {
        let block = Block::new(octets);
        let mut ends = block.places_of_either(b'\n', b'\r');
        let mut comments = match lines {
            Lines::Whole => block.places_of(b'#'),
            Lines::Cut(_) => block.places_of_either(b'#', 0),
        };
        while ends != 0 {
            let end = block_start + ends.trailing_zeros() as usize;
            let up_to_end = ends ^ (ends - 1);
            if comments & up_to_end != 0 {
                comment = comment.min(block_start + comments.trailing_zeros() as usize);
                comments &= !up_to_end;
            }
            let content_end = match lines {
                Lines::Whole => end.min(comment),
                Lines::Cut(octets) => end.min(comment).min(start + octets),
            };
            if start < content_end {
                read(&text[start..content_end], &mut lines_above);
                lines_above += 1;
            } else {
                // The line feed of a CRLF ends no line of its own.
                let is_of_pair =
                    start == end && text[..end].ends_with(b"\r") && text[end..].starts_with(b"\n");
                lines_above += u32::from(!is_of_pair);
            }
            start = end + 1;
            comment = usize::MAX;
            ends &= ends - 1;
        }
        if comments != 0 {
            comment = comment.min(block_start + comments.trailing_zeros() as usize);
        }
        block_start += BLOCK;
    }
}

/// Reads a line before its end and its comment, within the limits of the dialect. `lines` is that of the
/// dialect: a caller that knows its value gets a loop without the other cases.
// The loop that reads a file is made of this. It is called from other places too, where speed does not
// matter, and without the attribute the compiler makes it a call everywhere: then parsing takes an eighth
// more.
#[allow(clippy::inline_always)]
#[inline(always)]
pub(crate) fn read_content<'t>(line: &'t [u8], lines: Lines, dialect: &Dialect) -> Content<'t> {
    let white = White::of(lines);
    let line = trim_end(trim_start(line, white), white);
    if line.is_empty() {
        return Content::Nothing;
    }
    if let Some((directive, name_end)) = Dialect::directive_at_start(line) {
        let value = trim_start(&line[name_end + 1..], white);
        return Content::Record(record(&line[..name_end], value, Some((directive, false)), false));
    }
    read_rare_content(line, white, dialect)
}

/// Apart from the above, so that the loop over lines stays small.
#[inline(never)]
fn read_rare_content<'t>(line: &'t [u8], white: White, dialect: &Dialect) -> Content<'t> {
    let colon = memchr(b':', line);
    if let Some(colon) = colon {
        let name = trim_end(&line[..colon], white);
        let directive = dialect.directive(name);
        if directive.is_some() {
            let value = trim_start(&line[colon + 1..], white);
            return Content::Record(record(name, value, directive, false));
        }
    }
    if dialect.reads(Extension::Misspellings) {
        for (name, value) in without_colon(line, colon, dialect.missing_colon).into_iter().flatten() {
            let name = trim_end(name, white);
            let directive = dialect.directive(name);
            if directive.is_some() {
                return Content::Record(record(name, trim_start(value, white), directive, true));
            }
        }
    }
    match colon {
        Some(colon) if colon > 0 => {
            let name = trim_end(&line[..colon], white);
            let value = trim_start(&line[colon + 1..], white);
            Content::Record(record(name, value, None, false))
        }
        _ => Content::Unreadable,
    }
}

/// The rule that follows the value of a user-agent line on the same line, with the value before it
/// (AIA-5): white space, then `Allow:` or `Disallow:`.
pub(crate) fn inline_rule<'t>(
    record: &RawRecord<'t>,
    dialect: &Dialect,
) -> Option<(&'t [u8], RawRecord<'t>)> {
    let starts_group = |directive| role_of(directive) == Role::StartsGroup(GroupStart::ProductToken);
    if !record.directive.is_some_and(starts_group) || !dialect.reads(Extension::AiAgents) {
        return None;
    }
    find_inline_rule(record.value, dialect)
}

/// Apart from the check above, which every record pays for.
#[inline(never)]
fn find_inline_rule<'t>(value: &'t [u8], dialect: &Dialect) -> Option<(&'t [u8], RawRecord<'t>)> {
    // Most names are short and have no colon. A plain loop sees that in less time than it takes to start a
    // search.
    const SHORT: usize = 32;
    if value.len() <= SHORT && !value.contains(&b':') {
        return None;
    }
    let white = White::SpaceAndTab;
    // Each colon ends at most one name, so that nothing is looked at twice.
    for colon in memchr::memchr_iter(b':', value) {
        let before = trim_end(&value[..colon], white);
        for name in [&b"disallow"[..], b"allow"] {
            let Some(start) = before.len().checked_sub(name.len() + 1) else { continue };
            let (rest, word) = before.split_at(start + 1);
            if white.has(before[start]) && word.eq_ignore_ascii_case(name) {
                let rule = trim_start(&value[colon + 1..], white);
                let directive = dialect.directive(word);
                return Some((trim_end(rest, white), self::record(word, rule, directive, false)));
            }
        }
    }
    None
}

/// The value of a record of this directive without a rule that follows it on the line.
pub(crate) fn before_inline_rule<'t>(value: &'t [u8], directive: u8, dialect: &Dialect) -> &'t [u8] {
    let whole = record(b"", value, Some((directive, false)), false);
    inline_rule(&whole, dialect).map_or(value, |(before, _)| before)
}

/// The value of a record that starts at `start`, read again from the text. Records keep a length of
/// 16 bits; this is for the ones that are longer.
pub(crate) fn long_value<'t>(text: &'t [u8], start: usize, dialect: &Dialect) -> &'t [u8] {
    let rest = &text[start..];
    let line = &rest[..memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())];
    let line = match dialect.lines {
        Lines::Whole => line,
        // The cut counts from the start of the line, which is not where the value starts.
        Lines::Cut(octets) => {
            let line_start = memchr::memrchr2(b'\n', b'\r', &text[..start]).map_or(0, |at| at + 1);
            within_limits(&line[..line.len().min(octets - (start - line_start))], dialect.lines)
        }
    };
    trim_end(&line[..memchr(b'#', line).unwrap_or(line.len())], White::of(dialect.lines))
}

fn record<'t>(
    name: &'t [u8],
    value: &'t [u8],
    directive: Option<(u8, bool)>,
    without_colon: bool,
) -> RawRecord<'t> {
    RawRecord {
        name,
        value,
        directive: directive.map(|(id, _)| id),
        misspelled: directive.is_some_and(|(_, misspelled)| misspelled),
        without_colon,
    }
}

/// The part of a line that the dialect reads.
fn within_limits(line: &[u8], lines: Lines) -> &[u8] {
    match lines {
        Lines::Whole => line,
        Lines::Cut(octets) => {
            let line = &line[..line.len().min(octets)];
            &line[..memchr(0, line).unwrap_or(line.len())]
        }
    }
}

/// A name and a value, as octets of a line.
type NameAndValue<'l> = (&'l [u8], &'l [u8]);

/// How a line without a colon can be split, if the dialect allows that (WILD-2): after its first word, or
/// after the second.
fn without_colon(
    line: &[u8],
    colon: Option<usize>,
    missing: MissingColon,
) -> [Option<NameAndValue<'_>>; 2] {
    let is_separator = |colon: usize| line.get(colon + 1).is_none_or(u8::is_ascii_whitespace);
    match missing {
        MissingColon::WithoutAny if colon.is_some() => [None, None],
        MissingColon::WithoutAny | MissingColon::AfterAName => [two_words(line), None],
        MissingColon::Anywhere if colon.is_some_and(is_separator) => [None, None],
        MissingColon::Anywhere => {
            let first = line.iter().position(|&octet| is_blank(octet)).unwrap_or(line.len());
            let more = line[first..].iter().position(|&octet| !is_blank(octet));
            let second = more.map(|more| {
                let start = first + more;
                line[start..]
                    .iter()
                    .position(|&octet| is_blank(octet))
                    .map_or(line.len(), |length| start + length)
            });
            [Some(line.split_at(first)), second.map(|second| line.split_at(second))]
        }
    }
}

/// The words of a line that has exactly two.
fn two_words(line: &[u8]) -> Option<NameAndValue<'_>> {
    let first_end = line.iter().position(|&octet| is_blank(octet))?;
    let (first, rest) = line.split_at(first_end);
    let second = &rest[rest.iter().position(|&octet| !is_blank(octet))?..];
    (!second.iter().any(|&octet| is_blank(octet))).then_some((first, second))
}

fn is_blank(octet: u8) -> bool {
    octet == b' ' || octet == b'\t'
}

/// What is white space around the parts of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum White {
    SpaceAndTab,
    Ascii,
}

impl White {
    fn of(lines: Lines) -> Self {
        match lines {
            Lines::Whole => Self::SpaceAndTab,
            Lines::Cut(_) => Self::Ascii,
        }
    }

    fn has(self, octet: u8) -> bool {
        // Nearly every octet is not white space, and one comparison shows that.
        octet <= b' '
            && (octet == b' '
                || octet == b'\t'
                || self == Self::Ascii && matches!(octet, b'\n'..=b'\r'))
    }
}

fn trim_start(mut octets: &[u8], white: White) -> &[u8] {
    while let Some((&first, rest)) = octets.split_first()
        && white.has(first)
    {
        octets = rest;
    }
    octets
}

fn trim_end(mut octets: &[u8], white: White) -> &[u8] {
    while let Some((&last, rest)) = octets.split_last()
        && white.has(last)
    {
        octets = rest;
    }
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(&str, &str)>) {
        check_in(&Dialect::RFC9309, line, expected);
    }

    #[track_caller]
    fn check_in(dialect: &Dialect, line: &str, expected: Option<(&str, &str)>) {
        let read = match read_line(line.as_bytes(), dialect) {
            Content::Record(record) => Some((record.name, record.value)),
            Content::Nothing | Content::Unreadable => None,
        };
        assert_eq!(read, expected.map(|(name, value)| (name.as_bytes(), value.as_bytes())), "{line}");
    }

    #[test]
    fn records() {
        check("Disallow: /a", Some(("Disallow", "/a")));
        check("\t Disallow \t: \t/a b\t #c", Some(("Disallow", "/a b")));
        check("Disallow:", Some(("Disallow", "")));
        check("Disallow:/a:b", Some(("Disallow", "/a:b")));
        check("X-Other : y", Some(("X-Other", "y")));
        check("# Disallow: /a", None);
        check(": /a", None);
        check("Disallow", None);
        check("", None);
    }

    #[test]
    fn a_missing_colon() {
        check("Disallow /a", Some(("Disallow", "/a")));
        check("Disallow \t /a # b", Some(("Disallow", "/a")));
        check("Disallow /a b", None);
        check("Hello world", None);
        check("Disallow /a:b", Some(("Disallow", "/a:b")));
        check("Sitemap https://example.com/s.xml", Some(("Sitemap", "https://example.com/s.xml")));
        check_in(&Dialect::GOOGLE, "Disallow /a:b", Some(("Disallow /a", "b")));
        check_in(&Dialect::RFC9309.without(Extension::Misspellings), "Disallow /a", None);
    }

    #[test]
    fn a_rule_on_the_user_agent_line() {
        let split = |line: &'static str, dialect: &Dialect| {
            let Content::Record(record) = read_line(line.as_bytes(), dialect) else {
                panic!("a record")
            };
            let (value, rule) = inline_rule(&record, dialect)?;
            let text = |octets| String::from_utf8_lossy(octets);
            Some([text(value), text(rule.name), text(rule.value)])
        };
        let rfc = Dialect::RFC9309;
        let expected = Some([".*?-ai$", "Disallow", "/"].map(Into::into));
        assert_eq!(split("User-Agent: .*?-ai$ Disallow: /", &rfc), expected);
        let expected = Some(["a b", "ALLOW", "/x y:z"].map(Into::into));
        assert_eq!(split("User-Agent: a b \t ALLOW : /x y:z # c", &rfc), expected);
        assert_eq!(split("User-Agent: a Disallowed: /", &rfc), None);
        assert_eq!(split("User-Agent: Disallow: /", &rfc), None);
        assert_eq!(split("Disallow: /a Disallow: /", &rfc), None);
        assert_eq!(split("User-Agent: a Allow: /", &rfc.without(Extension::AiAgents)), None);
    }

    #[test]
    fn what_google_cuts() {
        check_in(&Dialect::GOOGLE, "Disallow: /a\0b", Some(("Disallow", "/a")));
        check_in(&Dialect::GOOGLE, "Disallow:\u{b}/a\u{c}", Some(("Disallow", "/a")));
        let long = format!("Disallow: /{}", "a".repeat(20_000));
        check_in(&Dialect::GOOGLE, &long, Some(("Disallow", &long[10..16_663])));
        let Content::Record(record) = read_line(long.as_bytes(), &Dialect::GOOGLE) else {
            panic!("a record")
        };
        assert_eq!(long_value(long.as_bytes(), 10, &Dialect::GOOGLE), record.value);
    }

    #[test]
    fn contents_are_those_of_the_lines_one_by_one() {
        // Ends, comments and NULs at every place of a block and across its borders.
        let parts = ["Allow: /a", "\r\n", "\n", "# c", "\r", "\0", " \t", "#", "Disallow: /b:c", "x"];
        let mut state = 1u32;
        let cut_short = Dialect { lines: Lines::Cut(20), ..Dialect::GOOGLE };
        for count in 0..400 {
            let mut text = Vec::new();
            for _ in 0..count % 60 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                text.extend_from_slice(parts[(state >> 16) as usize % parts.len()].as_bytes());
            }
            for dialect in [&Dialect::RFC9309, &Dialect::GOOGLE, &cut_short] {
                let mut contents = Vec::new();
                for_each_content(&text, dialect.lines, |content, above| {
                    contents.push((content, *above));
                });
                let (mut expected, mut at) = (Vec::new(), 0);
                while let Some(line) = line_from(&text, at) {
                    at = line.next;
                    let line = within_limits(&text[line.start..line.end], dialect.lines);
                    let ends_content = line.iter().position(|octet| *octet == b'#');
                    let content = &line[..ends_content.unwrap_or(line.len())];
                    expected.push((content, expected.len() as u32));
                }
                expected.retain(|(content, _)| !content.is_empty());
                assert_eq!(contents, expected, "{:?}", String::from_utf8_lossy(&text));
            }
        }
    }

    #[test]
    fn lines_and_their_ends_are_the_text() {
        let text = b"a\nb\r\n\rc\r\r\nd";
        let mut at = 0;
        let mut lines = Vec::new();
        while let Some(line) = line_from(text, at) {
            lines.push(&text[line.start..line.end]);
            assert_eq!(line.start, at);
            at = line.next;
        }
        assert_eq!(lines, [&b"a"[..], b"b", b"", b"c", b"", b"d"]);
        assert_eq!(at, text.len());
    }
}

//! The octets of a file → the text that is read: byte order marks, charsets and the size limit.
//!
//! UTF-8 and everything close to it stays as it is, octet for octet; octets that are not UTF-8 are kept
//! as they are (REP-14). Only UTF-16 and the charsets that a caller names are decoded.

use std::borrow::Cow;

use encoding_rs::{Encoding as Charset, UTF_8, UTF_16BE, UTF_16LE};

use crate::dialect::Encoding;
use crate::limits::Limits;

/// The text of a file, and what was done to get it.
pub(crate) struct Text<'t> {
    pub(crate) octets: Cow<'t, [u8]>,
    pub(crate) cut: Option<Cut>,
}

/// What was lost because of the size limit (REP-24).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cut {
    /// How many octets the file has.
    pub file_octets: usize,
    /// How many of them were read.
    pub read_octets: usize,
}

/// Reads the octets of a file up to the limit, and without the line that the limit cuts through.
pub(crate) fn text_of<'t>(
    octets: Cow<'t, [u8]>,
    charset: Option<&str>,
    encoding: Encoding,
    limits: Limits,
) -> Text<'t> {
    let file_octets = octets.len();
    let limit = limits.file_octets();
    let (mark, charset) = match encoding {
        Encoding::Honoured => mark_and_charset(&octets, charset),
        Encoding::PartialMark => (partial_mark(&octets), UTF_8),
    };

    let is_utf_16 = charset == UTF_16LE || charset == UTF_16BE;
    let mut end = file_octets.min(limit);
    if is_utf_16 {
        end -= (end - mark) % 2; // a unit is two octets; half of one is nothing
    }
    let cuts_a_line = file_octets > limit && !line_end_at(&octets[end..], charset);

    let mut text = if charset == UTF_8 {
        slice(octets, mark, end)
    } else {
        let (decoded, _) = charset.decode_without_bom_handling(&octets[mark..end]);
        Cow::Owned(decoded.into_owned().into_bytes())
    };
    if cuts_a_line {
        let whole_lines = memchr::memrchr2(b'\n', b'\r', &text).map_or(0, |at| at + 1);
        text = slice(text, 0, whole_lines);
    }
    let cut = (file_octets > limit).then_some(Cut { file_octets, read_octets: end });
    Text { octets: text, cut }
}

/// The length of the byte order mark and the charset to decode; UTF-8 means that nothing is decoded.
fn mark_and_charset(octets: &[u8], label: Option<&str>) -> (usize, &'static Charset) {
    if let Some((charset, length)) = Charset::for_bom(octets) {
        return (length, charset);
    }
    let charset = label.and_then(|label| Charset::for_label_no_replacement(label.as_bytes()));
    (0, charset.unwrap_or(UTF_8))
}

/// How many octets of a UTF-8 byte order mark are at the start.
fn partial_mark(octets: &[u8]) -> usize {
    let mark = [0xEF, 0xBB, 0xBF];
    octets.iter().zip(mark).take_while(|(octet, marked)| **octet == *marked).count()
}

fn line_end_at(octets: &[u8], charset: &'static Charset) -> bool {
    let ends_line = |octet: u8| octet == b'\n' || octet == b'\r';
    match octets {
        [0, octet, ..] if charset == UTF_16BE => ends_line(*octet),
        [octet, 0, ..] if charset == UTF_16LE => ends_line(*octet),
        [octet, ..] if charset != UTF_16BE && charset != UTF_16LE => ends_line(*octet),
        _ => false,
    }
}

fn slice(octets: Cow<'_, [u8]>, start: usize, end: usize) -> Cow<'_, [u8]> {
    match octets {
        Cow::Borrowed(octets) => Cow::Borrowed(&octets[start..end]),
        Cow::Owned(mut octets) => {
            octets.truncate(end);
            octets.drain(..start);
            Cow::Owned(octets)
        }
    }
}

/// `charset=…` in a Content-Type.
pub(crate) fn charset_in(content_type: &str) -> Option<&'static Charset> {
    let lower = content_type.to_ascii_lowercase();
    let value = lower[lower.find("charset")? + 7..].trim_start().strip_prefix('=')?.trim_start();
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next()?,
        _ => value.split([';', ' ', '\t']).next()?,
    };
    Charset::for_label(value.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(octets: &[u8], charset: Option<&str>) -> Vec<u8> {
        let limits = Limits::default();
        text_of(Cow::Borrowed(octets), charset, Encoding::Honoured, limits).octets.into_owned()
    }

    #[test]
    fn marks_and_charsets() {
        assert_eq!(read(b"\xEF\xBB\xBFa\xE9", None), b"a\xE9");
        assert_eq!(read(b"\xFF\xFEa\0\0\xD8\n\0b", None), "a\u{FFFD}\n".as_bytes());
        assert_eq!(read(b"\xFE\xFF\0a\0\n", Some("iso-8859-1")), b"a\n");
        assert_eq!(read(b"\xE9", Some(" ISO-8859-1 ")), "é".as_bytes());
        assert_eq!(read(b"a\0", Some("utf-16le")), b"a");
        assert_eq!(read(b"\xE9", Some("no-such-charset")), b"\xE9");
        assert_eq!(read(b"\xE9", Some("utf-8")), b"\xE9");
        assert_eq!(read(b"\xEF\xBBa", None), b"\xEF\xBBa");
    }

    #[test]
    fn google_passes_over_partial_marks() {
        let read = |octets| {
            let limits = Limits::default();
            let text = text_of(Cow::Borrowed(octets), None, Encoding::PartialMark, limits);
            text.octets.into_owned()
        };
        assert_eq!(read(&b"\xEF\xBBa"[..]), b"a");
        assert_eq!(read(&b"\xEF\xBB\xBF\xEFa"[..]), b"\xEFa");
        assert_eq!(read(&b"\xFF\xFEa"[..]), b"\xFF\xFEa");
    }

    #[test]
    fn the_line_that_the_limit_cuts_is_dropped_whole() {
        let limits = Limits::default();
        let limit = limits.file_octets();
        let mut octets = vec![b'x'; limit - 4];
        octets.extend_from_slice(b"\nabcd\nef");
        for (length, kept, cut) in [
            (limit, limit, false),        // …\nabc, and nothing more: a whole file
            (limit + 1, limit - 3, true), // the limit is within abcd
        ] {
            let text = text_of(Cow::Borrowed(&octets[..length]), None, Encoding::Honoured, limits);
            assert_eq!((text.octets.len(), text.cut.is_some()), (kept, cut));
        }
        octets.remove(0); // now the limit is right behind abcd
        let text = text_of(Cow::Borrowed(&octets), None, Encoding::Honoured, limits);
        assert!(text.octets.ends_with(b"\nabcd"));
        assert_eq!(text.cut, Some(Cut { file_octets: octets.len(), read_octets: limit }));
    }

    #[test]
    fn utf_16_is_cut_at_a_line_too() {
        let limits = Limits::default();
        let mut octets = b"\xFF\xFE".to_vec();
        let mut push = |text: &str| octets.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        push("a\n");
        push(&"b".repeat(limits.file_octets()));
        let text = text_of(Cow::Owned(octets), None, Encoding::Honoured, limits);
        assert_eq!(&*text.octets, b"a\n");
    }
}

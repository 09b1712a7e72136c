//! Octets of a URL or a pattern → the form in which they are compared (REP-11).
//!
//! One table says what each octet is; the functions borrow their input if nothing changes, which is
//! nearly always. It knows nothing of paths, queries or wildcards.

use std::borrow::Cow;

use crate::octets::OctetSet;

/// How an octet fares in normalisation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// It may stand raw in a URI.
    Raw,
    /// It may not, and is percent-encoded.
    Encode,
    /// It is `%` and may start an escape.
    Percent,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Raw; 256];
    let mut octet = 0;
    while octet < 256 {
        classes[octet] = match octet as u8 {
            b'%' => Class::Percent,
            0..=b' ' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0x7F..=0xFF => {
                Class::Encode
            }
            _ => Class::Raw,
        };
        octet += 1;
    }
    classes
};

/// What a sign (not a letter, digit, `-`, `_` or `/`) means to the one pass over a URL or a pattern.
#[derive(Clone, Copy)]
pub(crate) enum Sign {
    /// Nothing: normalisation leaves it alone.
    Raw,
    Dot,
    QuestionMark,
    Hash,
    Star,
    Dollar,
    /// Normalisation changes it, or may do so.
    Changed,
}

pub(crate) static SIGNS: [Sign; 256] = {
    let mut signs = [Sign::Changed; 256];
    let mut octet = 0;
    while octet < 256 {
        signs[octet] = match octet as u8 {
            b'.' => Sign::Dot,
            b'?' => Sign::QuestionMark,
            b'#' => Sign::Hash,
            b'*' => Sign::Star,
            b'$' => Sign::Dollar,
            octet if is_raw(octet) => Sign::Raw,
            _ => Sign::Changed,
        };
        octet += 1;
    }
    signs
};

/// Whether the octet stands for itself in both forms, so that normalisation leaves it alone.
pub(crate) const fn is_raw(octet: u8) -> bool {
    matches!(CLASSES[octet as usize], Class::Raw)
}

/// The octets that normalisation may have to change.
static NOT_RAW: OctetSet = not_raw_or(b"");

/// The octets that are not raw, and these.
pub(crate) const fn not_raw_or(others: &[u8]) -> OctetSet {
    let mut table = [false; 256];
    let mut octet = 0;
    while octet < 256 {
        table[octet] = !is_raw(octet as u8);
        octet += 1;
    }
    let mut at = 0;
    while at < others.len() {
        table[others[at] as usize] = true;
        at += 1;
    }
    OctetSet::new(table)
}

/// Percent-encodes what may not stand raw, decodes escapes of characters that mean the same raw, and
/// gives every other escape upper-case digits (REP-11).
pub(crate) fn normalise(octets: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = NOT_RAW.first_in(octets) else {
        return Cow::Borrowed(octets);
    };
    let mut normalised = Vec::with_capacity(octets.len() + 8);
    normalised.extend_from_slice(&octets[..first]);
    let mut rest = &octets[first..];
    while let Some((&octet, after)) = rest.split_first() {
        rest = after;
        match CLASSES[octet as usize] {
            Class::Raw => normalised.push(octet),
            Class::Encode => push_escape(&mut normalised, octet),
            Class::Percent => match escaped(after) {
                Some(value) => {
                    rest = &after[2..];
                    if means_the_same_raw(value) {
                        normalised.push(value);
                    } else {
                        push_escape(&mut normalised, value);
                    }
                }
                None => normalised.push(b'%'),
            },
        }
    }
    Cow::Owned(normalised)
}

/// The form of a pattern in dialects that compare what is written: escapes get upper-case digits, octets
/// outside ASCII are encoded, and nothing else changes.
pub(crate) fn encode_as_written(octets: &[u8]) -> Cow<'_, [u8]> {
    if octets.iter().all(|&octet| octet < 0x80 && octet != b'%') {
        return Cow::Borrowed(octets);
    }
    let mut normalised = Vec::with_capacity(octets.len() + 8);
    let mut rest = octets;
    while let Some((&octet, after)) = rest.split_first() {
        rest = after;
        if octet >= 0x80 {
            push_escape(&mut normalised, octet);
        } else if octet == b'%'
            && let Some(value) = escaped(after)
        {
            rest = &after[2..];
            push_escape(&mut normalised, value);
        } else {
            normalised.push(octet);
        }
    }
    Cow::Owned(normalised)
}

/// The octet that the two hex digits at the start of `after` stand for.
pub(crate) fn escaped(after: &[u8]) -> Option<u8> {
    let &[high, low, ..] = after else { return None };
    Some(hex_digit(high)? << 4 | hex_digit(low)?)
}

/// Appends `%XX`.
pub(crate) fn push_escape(to: &mut Vec<u8>, octet: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    to.extend_from_slice(&[b'%', DIGITS[usize::from(octet >> 4)], DIGITS[usize::from(octet & 15)]]);
}

const fn hex_digit(octet: u8) -> Option<u8> {
    match octet {
        b'0'..=b'9' => Some(octet - b'0'),
        b'a'..=b'f' => Some(octet - b'a' + 10),
        b'A'..=b'F' => Some(octet - b'A' + 10),
        _ => None,
    }
}

/// Whether a character is unreserved (RFC 3986 §2.3: letters, digits, `-`, `.`, `_` and `~`), or reserved
/// but delimits nothing in a path or query.
pub(crate) const fn means_the_same_raw(octet: u8) -> bool {
    octet.is_ascii_alphanumeric()
        || matches!(octet, b'-' | b'.' | b'_' | b'~')
        || matches!(octet, b'!' | b'\'' | b'(' | b')' | b',' | b':' | b';' | b'@' | b'[' | b']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(octets: &str, normalised: &str, as_written: &str) {
        assert_eq!(String::from_utf8_lossy(&normalise(octets.as_bytes())), normalised);
        assert_eq!(String::from_utf8_lossy(&encode_as_written(octets.as_bytes())), as_written);
    }

    #[test]
    fn both_forms() {
        check("/a/b?c=d&e", "/a/b?c=d&e", "/a/b?c=d&e");
        check("/%62%61%7a", "/baz", "/%62%61%7A");
        check("/ツ/%e3%83%84", "/%E3%83%84/%E3%83%84", "/%E3%83%84/%E3%83%84");
        check("/a b\"<>\\^`{|}", "/a%20b%22%3C%3E%5C%5E%60%7B%7C%7D", "/a b\"<>\\^`{|}");
        check("/100%/%zz/%4", "/100%/%zz/%4", "/100%/%zz/%4");
        check("/%2f%2A%24%7e", "/%2F%2A%24~", "/%2F%2A%24%7E");
        check("/[x]\u{7f}", "/[x]%7F", "/[x]\u{7f}");
        check("%%41", "%A", "%%41");
        check(
            "%21%27%28%29%2c%3a%3b%40%5b%5d%26%3d%2b%2f%3f%23",
            "!'(),:;@[]%26%3D%2B%2F%3F%23",
            "%21%27%28%29%2C%3A%3B%40%5B%5D%26%3D%2B%2F%3F%23",
        );
    }

    #[test]
    fn what_needs_no_change_is_borrowed() {
        assert!(matches!(normalise(b"/a/*.php$?q=[1]"), Cow::Borrowed(_)));
        assert!(matches!(encode_as_written(b"/a b"), Cow::Borrowed(_)));
    }
}

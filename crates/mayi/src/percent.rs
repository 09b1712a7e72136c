//! Octets of a URL or a pattern → the form in which they are compared (REP-11).
//!
//! One table says what each octet is; the functions borrow their input if nothing changes, which is
//! nearly always. It knows nothing of paths, queries or wildcards.

use std::borrow::Cow;

use crate::octets::OctetSet;

/// What normalisation does with an octet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// It may be raw in a URI.
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

/// Percent-encodes what may not be raw, decodes escapes of characters that mean the same raw, and
/// gives every other escape upper-case digits (REP-11).
pub(crate) fn normalise(octets: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut at) = NOT_RAW.first_in(octets) else {
        return Cow::Borrowed(octets);
    };
    // Most escapes are in normal form already, so that nothing is copied before something changes.
    let mut normalised = Vec::new();
    let mut copied = 0;
    while let Some((&octet, after)) = octets[at..].split_first() {
        let (width, change) = match CLASSES[usize::from(octet)] {
            Class::Raw => (1, None),
            Class::Encode => (1, Some(Change::Encoded(octet))),
            Class::Percent => match escaped(after) {
                None => (1, None),
                Some(value) if means_the_same_raw(value) => (3, Some(Change::Raw(value))),
                // Of hex digits, only those in lower case are so high.
                Some(value) if after[0].max(after[1]) >= b'a' => (3, Some(Change::Encoded(value))),
                Some(_) => (3, None),
            },
        };
        if let Some(change) = change {
            normalised.reserve(octets.len() - copied + 8);
            normalised.extend_from_slice(&octets[copied..at]);
            match change {
                Change::Raw(octet) => normalised.push(octet),
                Change::Encoded(octet) => push_escape(&mut normalised, octet),
            }
            copied = at + width;
        }
        at += width;
    }
    if normalised.is_empty() {
        return Cow::Borrowed(octets);
    }
    normalised.extend_from_slice(&octets[copied..]);
    Cow::Owned(normalised)
}

/// What normalisation writes in place of something else.
enum Change {
    Raw(u8),
    Encoded(u8),
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
    Some(HEX_DIGITS[usize::from(high)]? << 4 | HEX_DIGITS[usize::from(low)]?)
}

/// Appends `%XX`.
pub(crate) fn push_escape(to: &mut Vec<u8>, octet: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    to.extend_from_slice(&[b'%', DIGITS[usize::from(octet >> 4)], DIGITS[usize::from(octet & 15)]]);
}

/// What each octet stands for as a hex digit.
static HEX_DIGITS: [Option<u8>; 256] = {
    let mut digits = [None; 256];
    let mut octet = 0;
    while octet < 256 {
        digits[octet] = match octet as u8 {
            digit @ b'0'..=b'9' => Some(digit - b'0'),
            digit @ b'a'..=b'f' => Some(digit - b'a' + 10),
            digit @ b'A'..=b'F' => Some(digit - b'A' + 10),
            _ => None,
        };
        octet += 1;
    }
    digits
};

/// Whether a character is unreserved (RFC 3986 §2.3: letters, digits, `-`, `.`, `_` and `~`), or reserved
/// but delimits nothing in a path or query.
pub(crate) fn means_the_same_raw(octet: u8) -> bool {
    MEANS_THE_SAME_RAW[usize::from(octet)]
}

static MEANS_THE_SAME_RAW: [bool; 256] = {
    let mut table = [false; 256];
    let mut octet = 0;
    while octet < 256 {
        table[octet] = matches!(octet as u8, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9')
            || matches!(octet as u8, b'-' | b'.' | b'_' | b'~')
            || matches!(
                octet as u8,
                b'!' | b'\'' | b'(' | b')' | b',' | b':' | b';' | b'@' | b'[' | b']'
            );
        octet += 1;
    }
    table
};

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
        check("%aF%Fa%AF/%e3%2f-", "%AF%FA%AF/%E3%2F-", "%AF%FA%AF/%E3%2F-");
        check(
            "%21%27%28%29%2c%3a%3b%40%5b%5d%26%3d%2b%2f%3f%23",
            "!'(),:;@[]%26%3D%2B%2F%3F%23",
            "%21%27%28%29%2C%3A%3B%40%5B%5D%26%3D%2B%2F%3F%23",
        );
    }

    #[test]
    fn what_needs_no_change_is_borrowed() {
        assert!(matches!(normalise(b"/a/*.php$?q=[1]"), Cow::Borrowed(_)));
        assert!(matches!(normalise(b"/100%/%E3%83%84?%2A"), Cow::Borrowed(_)));
        assert!(matches!(encode_as_written(b"/a b"), Cow::Borrowed(_)));
    }
}

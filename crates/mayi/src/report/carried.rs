//! The JSON of a request that includes its file → the text of the file, and the JSON without it.
//!
//! Nearly all of such a request is one string with an escape at the end of each line. Reading it like
//! any other string took a quarter of the cost of an answer. Here it is decoded line by line, and the
//! rest is left to the JSON parser. This code never reports an error: if anything is unexpected, the
//! JSON parser gets the whole request and reports its errors.

use memchr::{memchr2, memmem};

use crate::octets::{SIXTEEN, places_of_either};

/// How long a request has to be for this to be worth looking for.
const SHORTEST: usize = 512;

/// How long the rest may be, which is copied.
const LONGEST_REST: usize = 16 * 1024;

/// The text of the member `robots`, where it is a string with escapes, and the JSON with an empty string
/// in its place.
pub(super) fn carried(json: &[u8]) -> Option<(String, Vec<u8>)> {
    if json.len() < SHORTEST { None } else { cut_out(json) }
}

fn cut_out(json: &[u8]) -> Option<(String, Vec<u8>)> {
    // In JSON, a quote after one of these starts a string. So this is the name of a member: of the request,
    // or of an object in it that has no such member, which the JSON parser then reports. If the text is not
    // JSON, it is not JSON without the file either.
    let name = memmem::find(json, b"\"robots\"")?;
    if !matches!(json[..name].last()?, b'{' | b',' | b' ' | b'\t' | b'\n' | b'\r') {
        return None;
    }
    let behind = json[name + b"\"robots\"".len()..].trim_ascii_start();
    let value = behind.strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
    let start = json.len() - value.len();
    let (text, octets) = decoded(value)?;
    let rest = [&json[..start], &value[octets..]];
    (rest[0].len() + rest[1].len() <= LONGEST_REST).then(|| (text, rest.concat()))
}

/// Decodes a JSON string from after its first quote, and says how many octets are before its last. A string
/// without escapes is left to the reader, which borrows it.
fn decoded(string: &[u8]) -> Option<(String, usize)> {
    let first = memchr2(b'"', b'\\', string).filter(|&first| string[first] == b'\\')?;
    let mut text = Vec::with_capacity(string.len() + SIXTEEN);
    text.extend_from_slice(&string[..first]);
    let mut at = first;
    let end = loop {
        let stop = at + copy_up_to_stop(&string[at..], &mut text)?;
        if string[stop] == b'"' {
            break stop;
        }
        at = stop + 2;
        match string.get(stop + 1)? {
            b'n' => text.push(b'\n'),
            b't' => text.push(b'\t'),
            b'r' => text.push(b'\r'),
            octet @ (b'"' | b'\\' | b'/') => text.push(*octet),
            b'u' => {
                let digits = string.get(at..at + 4)?;
                let value = digits
                    .iter()
                    .try_fold(0, |value, &digit| Some(16 * value + char::from(digit).to_digit(16)?))?;
                // Surrogate pairs are rare, so they are left to the JSON parser.
                let character = char::from_u32(value)?;
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                at += 4;
            }
            _ => return None,
        }
    };
    // The least of all octets is found many at a time.
    let least = string[..end].iter().fold(u8::MAX, |least, &octet| least.min(octet));
    if least < b' ' {
        return None;
    }
    Some((String::from_utf8(text).ok()?, end))
}

/// Copies what is before the next quote or backslash, and says how many octets that is. Lines are short: copying sixteen
/// octets and dropping the excess takes fewer steps than a search and a copy of the exact number.
#[inline]
fn copy_up_to_stop(string: &[u8], text: &mut Vec<u8>) -> Option<usize> {
    let mut at = 0;
    while let Some(sixteen) = string[at..].first_chunk() {
        let stops = places_of_either(sixteen, b'"', b'\\');
        text.extend_from_slice(sixteen);
        if stops != 0 {
            let octets = stops.trailing_zeros() as usize;
            text.truncate(text.len() - (SIXTEEN - octets));
            return Some(at + octets);
        }
        at += SIXTEEN;
    }
    let octets = memchr2(b'"', b'\\', &string[at..])?;
    text.extend_from_slice(&string[at..at + octets]);
    Some(at + octets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_cut_out_where_it_is_what_it_seems() {
        let cut = |json: &str| cut_out(json.as_bytes());
        let (text, rest) =
            cut(r#"{"url":"u","robots" : "a\nb\u00e9\"\\\/\r\t","agent":"x"}"#).expect("it");
        assert_eq!(text, "a\nb\u{e9}\"\\/\r\t");
        assert_eq!(rest, br#"{"url":"u","robots" : "","agent":"x"}"#);
        for json in [
            r#"{"robots":"no escapes"}"#,
            r#"{"robots":{"base64":"\n"}}"#,
            r#"{"url":"\"robots\":\"a\n\""}"#,
            r#"{"a":"robots","b":"\n"}"#,
            r#"{"robots":"\ud83d\ude00"}"#,
            r#"{"robots":"\x"}"#,
            r#"{"robots":"\u+123"}"#,
            r#"{"robots":"\n"#,
            "{\"robots\":\"\\n\n\"}",
            "{\"robots\":\"\\",
            "{\"robots\":\"\\u00",
        ] {
            assert_eq!(cut(json), None, "{json}");
        }
        assert_eq!(cut_out(b"{\"robots\":\"\\n\xFF\"}"), None);
        for octets in 0..40 {
            let line = "a".repeat(octets);
            let (text, _) = cut(&format!(r#"{{"robots":"{line}\n\"{line}\n{line}"}}"#)).expect("it");
            assert_eq!(text, format!("{line}\n\"{line}\n{line}"));
        }
        let long = format!(r#"{{"robots":"\n","url":"{}"}}"#, "a".repeat(LONGEST_REST));
        assert_eq!(cut(&long), None);
        let json = |lines: usize| format!(r#"{{"robots":"{}"}}"#, r"\n".repeat(lines));
        assert_eq!(carried(json(10).as_bytes()), None);
        assert!(carried(json(SHORTEST).as_bytes()).is_some_and(|(text, _)| text.len() == SHORTEST));
    }
}

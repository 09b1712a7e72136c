//! Octets as logs write them → octets as they were sent: escapes undone, and a hash that is the same
//! on every machine and in every run.

use std::borrow::Cow;

/// Undoes the escapes of Apache and nginx: `\"`, `\\`, `\t`, `\n` … and `\xHH`.
pub(crate) fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(b'\\', text) else { return Cow::Borrowed(text) };
    let mut plain = text[..first].to_vec();
    let mut rest = &text[first..];
    while let Some((&octet, after)) = rest.split_first() {
        rest = after;
        let &[escape, ref behind @ ..] = after else {
            plain.push(octet);
            break;
        };
        if octet != b'\\' {
            plain.push(octet);
            continue;
        }
        rest = behind;
        match (escape, behind) {
            (b'x' | b'X', [high, low, behind @ ..]) if hex(*high, *low).is_some() => {
                plain.extend(hex(*high, *low));
                rest = behind;
            }
            (b'n', _) => plain.push(b'\n'),
            (b't', _) => plain.push(b'\t'),
            (b'r', _) => plain.push(b'\r'),
            (b'"' | b'\\', _) => plain.push(escape),
            _ => plain.extend([octet, escape]),
        }
    }
    Cow::Owned(plain)
}

/// Undoes percent-encoding, and `+` for a space where `plus` says so.
pub(crate) fn decoded(text: &[u8], plus: bool) -> Cow<'_, [u8]> {
    let is_coded = |octet: &u8| *octet == b'%' || plus && *octet == b'+';
    if !text.iter().any(is_coded) {
        return Cow::Borrowed(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&octet, after)) = rest.split_first() {
        rest = after;
        match (octet, after) {
            (b'%', [high, low, behind @ ..]) if hex(*high, *low).is_some() => {
                plain.extend(hex(*high, *low));
                rest = behind;
            }
            (b'+', _) if plus => plain.push(b' '),
            _ => plain.push(octet),
        }
    }
    Cow::Owned(plain)
}

/// The same text with octets outside ASCII percent-encoded, if they are not UTF-8 (by REP-11 both mean the
/// same).
pub(crate) fn as_text(octets: &[u8]) -> Cow<'_, str> {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    if let Ok(text) = std::str::from_utf8(octets) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(octets.len() + 16);
    for &octet in octets {
        if octet.is_ascii() {
            text.push(char::from(octet));
        } else {
            text.push('%');
            text.push(char::from(DIGITS[usize::from(octet >> 4)]));
            text.push(char::from(DIGITS[usize::from(octet & 15)]));
        }
    }
    Cow::Owned(text)
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |octet: u8| char::from(octet).to_digit(16);
    Some((digit(high)? * 16 + digit(low)?) as u8)
}

/// A hash without a seed. It chooses what a full map keeps, so that the choice is the same in every order of
/// lines; maps themselves use a hash with a seed.
pub(crate) fn stable_hash(octets: &[u8]) -> u64 {
    let mut hash = mixed(0x9E37_79B9_7F4A_7C15 ^ octets.len() as u64);
    let mut chunks = octets.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        hash = mixed(hash ^ word);
    }
    let mut last = [0; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    mixed(mixed(hash ^ u64::from_le_bytes(last)))
}

/// The finaliser of MurmurHash3: every bit of the input affects every bit of the output.
fn mixed(mut word: u64) -> u64 {
    word ^= word >> 33;
    word = word.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    word ^= word >> 33;
    word = word.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    word ^ (word >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone() {
        assert_eq!(&*unescaped(br#"/a\x22b\"\\c\n\q\xZZ\"#), b"/a\"b\"\\c\n\\q\\xZZ\\");
        assert_eq!(&*decoded(b"a%20b+c%zz%", true), b"a b c%zz%");
        assert_eq!(&*decoded(b"a%20b+c", false), b"a b+c");
        assert_eq!(as_text(b"/caf\xe9"), "/caf%E9");
        assert_eq!(as_text("/café".as_bytes()), "/café");
    }

    #[test]
    fn the_hash_tells_short_texts_apart() {
        let mut hashes: Vec<_> =
            (0..10_000_u32).map(|number| stable_hash(&number.to_le_bytes())).collect();
        hashes.extend([stable_hash(b""), stable_hash(b"\0"), stable_hash(b"\0\0")]);
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 10_003);
    }
}

//! A file of names and hashes, and what a client sends → whose key that is.
//!
//! A key is 32 random octets and can't be guessed, so a plain SHA-256 is enough to hide it from readers
//! of the file. Slow hashes are for passwords that people choose.

use std::collections::BTreeMap;
use std::path::Path;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::config::ConfigError;

const PREFIX: &str = "sha256:";

/// The keys that are accepted.
#[derive(Debug)]
pub(crate) struct Keys(Vec<(Box<str>, [u8; 32])>);

impl Keys {
    /// Reads a file of `name = "sha256:…"`.
    pub(crate) fn open(path: &Path) -> Result<Self, ConfigError> {
        let wrong = |why: &dyn std::fmt::Display| {
            ConfigError::new(format_args!("the key file `{}`: {why}", path.display()))
        };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
        Self::parse(&text).map_err(|error| wrong(&error))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let names: BTreeMap<String, String> =
            toml::from_str(text).map_err(|error| error.to_string())?;
        if names.is_empty() {
            return Err("it has no keys, so no request would be accepted".to_owned());
        }
        let hash = |(name, value): (String, String)| {
            let hash = value.strip_prefix(PREFIX).and_then(from_hex);
            let hash = hash.ok_or_else(|| {
                format!("the hash of `{}` is not `{PREFIX}` and 64 hex digits", name.escape_debug())
            })?;
            Ok((name.into_boxed_str(), hash))
        };
        Ok(Self(names.into_iter().map(hash).collect::<Result<_, String>>()?))
    }

    /// Whose key this is. Every hash is compared, and each in constant time.
    pub(crate) fn name_of(&self, key: &str) -> Option<&str> {
        let sent = digest(&SHA256, key.as_bytes());
        let mut found = None;
        for (name, hash) in &self.0 {
            if verify_slices_are_equal(hash, sent.as_ref()).is_ok() {
                found = Some(&**name);
            }
        }
        found
    }
}

/// A new key, and its line for the key file.
///
/// ```
/// let (key, line) = mayi_server::new_key("crawler-1");
/// assert_eq!(key.len(), 48);
/// assert!(line.starts_with("\"crawler-1\" = \"sha256:"));
/// ```
///
/// # Panics
/// When the system has no random octets to give.
pub fn new_key(name: &str) -> (String, String) {
    let mut octets = [0; 32];
    aws_lc_rs::rand::fill(&mut octets).expect("the system has random octets");
    let key = format!("mayi_{}", URL_SAFE_NO_PAD.encode(octets));
    let hash = to_hex(digest(&SHA256, key.as_bytes()).as_ref());
    let name = toml::Value::String(name.to_owned());
    let line = format!("{name} = \"{PREFIX}{hash}\"");
    (key, line)
}

/// Octets as lower-case hex digits.
pub(crate) fn to_hex(octets: &[u8]) -> String {
    let digit = |number: u8| char::from(b"0123456789abcdef"[usize::from(number & 15)]);
    octets.iter().flat_map(|octet| [digit(octet >> 4), digit(*octet)]).collect()
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.bytes().all(|octet| octet.is_ascii_hexdigit()) {
        return None;
    }
    let mut hash = [0; 32];
    for (place, octet) in hash.iter_mut().enumerate() {
        *octet = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_its_hash_alone() {
        let (key, line) = new_key("a");
        let (other, other_line) = new_key("a \"b\"");
        let keys = Keys::parse(&format!("{line}\n{other_line}\n")).expect("a file of keys");
        assert_eq!(keys.name_of(&key), Some("a"));
        assert_eq!(keys.name_of(&other), Some("a \"b\""));
        assert_eq!(keys.name_of(""), None);
        assert_eq!(keys.name_of(&key[1..]), None);
        assert!(!line.contains(&key));
    }

    #[test]
    fn files_that_let_nobody_in_are_refused() {
        for text in ["", "a = 'x'", "a = 'sha256:12'", "a = 1", "[a]\nb = 'sha256:'"] {
            assert!(Keys::parse(text).is_err(), "{text}");
        }
        let not_hex = format!("a = 'sha256:{}'", "+1".repeat(32));
        assert!(Keys::parse(&not_hex).is_err());
    }
}

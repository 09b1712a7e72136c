//! Lists of addresses that operators publish → whether an address is a crawler's.
//!
//! Google, Bing, OpenAI, Perplexity, Apple and Common Crawl publish JSON with `prefixes`, each with an
//! `ipv4Prefix` or an `ipv6Prefix`; others publish plain text. In JSON, every string that is an address or a
//! range is read, so a new name of a member does no harm. The name of a file says which crawlers it is about.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;

use mayi::registry::{Agent, Registry};

use crate::identity::Identity;
use crate::operators::crawlers_of_file;

/// The ranges of addresses of crawlers.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    /// By product token, in lower case; first and last addresses, in order and apart from each other.
    of_crawlers: HashMap<String, Vec<(u128, u128)>>,
}

impl Ranges {
    /// Adds a file, and says how many crawlers it is about.
    ///
    /// ```
    /// use mayi_audit::Ranges;
    ///
    /// let registry = mayi::registry::Registry::built_in();
    /// let mut ranges = Ranges::default();
    /// ranges.add("gptbot.json", br#"{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]}"#, &registry)?;
    /// # Ok::<(), mayi_audit::InvalidRanges>(())
    /// ```
    ///
    /// # Errors
    /// When its name belongs to no crawler, or when it contains anything other than ranges.
    pub fn add(
        &mut self,
        file: &str,
        octets: &[u8],
        registry: &Registry,
    ) -> Result<usize, InvalidRanges> {
        let wrong = |what: &str| InvalidRanges(format!("`{}`: {what}", file.escape_debug()));
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let agents = crawlers_of_file(stem, registry);
        if agents.is_empty() {
            return Err(wrong(
                "no known crawler has this name; name the file after a product token or an operator, \
                 for example gptbot.json or anthropic.txt",
            ));
        }
        let found = read(octets).map_err(|what| wrong(&what))?;
        if found.is_empty() {
            return Err(wrong("it has no range of addresses, such as 192.0.2.0/24"));
        }
        for agent in &agents {
            let ranges = self.of_crawlers.entry(agent.token.to_ascii_lowercase()).or_default();
            ranges.extend_from_slice(&found);
            unite(ranges);
        }
        Ok(agents.len())
    }

    /// Whether there are none at all.
    pub fn is_empty(&self) -> bool {
        self.of_crawlers.is_empty()
    }

    /// What the ranges say about a crawler's address.
    pub fn identity(&self, agent: &Agent, address: IpAddr) -> Identity {
        if self.of_crawlers.is_empty() {
            return Identity::Unverified;
        }
        let Some(ranges) = self.of_crawlers.get(&agent.token.to_ascii_lowercase()) else {
            return Identity::Unverified;
        };
        let number = number_of(address);
        let behind = ranges.partition_point(|(first, _)| *first <= number);
        let holds = behind > 0 && number <= ranges[behind - 1].1;
        if holds { Identity::Verified } else { Identity::Contradicted }
    }
}

/// The ranges in a file.
fn read(octets: &[u8]) -> Result<Vec<(u128, u128)>, String> {
    let octets = octets.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(octets).trim_ascii();
    let mut found = Vec::new();
    if matches!(octets.first(), Some(b'{' | b'[')) {
        let value =
            serde_json::from_slice(octets).map_err(|error| format!("it is not JSON: {error}"))?;
        collect(&value, &mut found);
        return Ok(found);
    }
    let text = std::str::from_utf8(octets).map_err(|_| "it is neither JSON nor text".to_owned())?;
    for (place, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words = line.split([',', ';', ' ', '\t', '"']).filter(|word| !word.is_empty());
        let before = found.len();
        found.extend(words.clone().filter_map(range));
        if found.len() == before && words.count() > 0 && place > 0 {
            return Err(format!("line {} has no range of addresses, such as 192.0.2.0/24", place + 1));
        }
    }
    Ok(found)
}

fn collect(value: &serde_json::Value, found: &mut Vec<(u128, u128)>) {
    match value {
        serde_json::Value::String(text) => found.extend(range(text)),
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        serde_json::Value::Object(members) => members.values().for_each(|item| collect(item, found)),
        _ => {}
    }
}

/// The first and the last address of `192.0.2.0/24`, or of an address alone.
fn range(text: &str) -> Option<(u128, u128)> {
    let (address, length) = match text.trim().split_once('/') {
        Some((address, length)) => (address, Some(length.parse::<u32>().ok()?)),
        None => (text.trim(), None),
    };
    let address: IpAddr = address.parse().ok()?;
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let length = length.unwrap_or(bits);
    if length > bits {
        return None;
    }
    let others = u128::MAX.checked_shr(128 - (bits - length)).unwrap_or(0);
    let first = number_of(address) & !others;
    Some((first, first | others))
}

/// IPv4 addresses are put where IPv6 maps them.
fn number_of(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn unite(ranges: &mut Vec<(u128, u128)>) {
    ranges.sort_unstable();
    ranges.dedup_by(|next, before| {
        let touches = next.0 <= before.1.saturating_add(1);
        if touches {
            before.1 = before.1.max(next.1);
        }
        touches
    });
}

/// A file of ranges that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidRanges(String);

impl fmt::Display for InvalidRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidRanges {}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(ranges: &Ranges, token: &str, address: &str) -> &'static str {
        let registry = Registry::built_in();
        let agent = registry.agent(token).expect("a known crawler");
        ranges.identity(agent, address.parse().expect("an address")).name()
    }

    #[test]
    fn the_published_forms_are_read() {
        let registry = Registry::built_in();
        let mut ranges = Ranges::default();
        let google = br#"{"creationTime": "2026-10-01T00:00:00.000000", "prefixes": [{"ipv6Prefix": "2001:db8::/32"}, {"ipv4Prefix": "192.0.2.0/27"}, {"ipv4Prefix": "192.0.2.32/27"}]}"#;
        ranges.add("googlebot.json", google, &registry).expect("it can be read");
        ranges
            .add("ccbot.txt", b"# ours\n198.51.100.7\n203.0.113.0/24, 2001:db8:1::/48\n", &registry)
            .expect("text too");
        for (token, address, identity) in [
            ("Googlebot", "192.0.2.0", "verified"),
            ("Googlebot", "192.0.2.63", "verified"),
            ("Googlebot-Image", "2001:db8:ffff::1", "verified"),
            ("Googlebot", "192.0.2.64", "contradicted"),
            ("Googlebot", "2001:db7::", "contradicted"),
            ("CCBot", "198.51.100.7", "verified"),
            ("CCBot", "198.51.100.8", "contradicted"),
            ("GPTBot", "192.0.2.1", "unverified"),
        ] {
            assert_eq!(says(&ranges, token, address), identity, "{token} {address}");
        }
        assert_eq!(range("0.0.0.0/0").map(|(first, last)| last - first), Some(u128::from(u32::MAX)));
        assert_eq!(range("::/0"), Some((0, u128::MAX)));
        assert_eq!(range("192.0.2.0/33"), None);
    }

    #[test]
    fn wrong_files_are_said_to_be_wrong() {
        let registry = Registry::built_in();
        let mut ranges = Ranges::default();
        for (file, octets, says) in [
            ("readme.txt", &b"192.0.2.0/24"[..], "product token"),
            ("gptbot.json", b"{", "not JSON"),
            ("gptbot.json", b"{\"prefixes\": []}", "no range"),
            ("gptbot.txt", b"192.0.2.0/24\nhello", "line 2"),
            ("gptbot.txt", b"\xff", "neither JSON nor text"),
        ] {
            let error = ranges.add(file, octets, &registry).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        assert!(ranges.is_empty());
    }
}

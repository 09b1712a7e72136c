//! A site and a crawler → what was prepared for them, cached in bounded memory.
//!
//! The least used values are evicted first. This file does not know what the values are, only that they can
//! say how much memory they take.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use mayi::{Crawler, CrawlerParts};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::held;

/// Prepared values are about this large, and seldom larger than that.
const USUAL: u64 = 4 << 10;
const LARGEST: u64 = 4 << 20;

/// Something that was prepared for a site and a crawler.
pub trait Weigh {
    /// About how many octets of memory it takes.
    fn octets(&self) -> usize;
}

/// What was prepared, for all threads.
pub struct PreparedCache<V: Weigh> {
    entries: Cache<Vec<u8>, Arc<V>, WeightInOctets>,
}

#[derive(Clone)]
struct WeightInOctets;

impl<V: Weigh> Weighter<Vec<u8>, Arc<V>> for WeightInOctets {
    fn weight(&self, key: &Vec<u8>, value: &Arc<V>) -> u64 {
        (2 * key.len() + 128 + value.octets()) as u64
    }
}

impl<V: Weigh> PreparedCache<V> {
    /// An empty one, for values of so many octets together.
    pub fn new(octets: u64) -> Self {
        Self { entries: held::cache(octets, USUAL, LARGEST, WeightInOctets) }
    }

    /// What is there.
    pub fn get(&self, key: &Key) -> Option<Arc<V>> {
        self.entries.get(&*key.octets)
    }

    /// Stores a value, and replaces the old one.
    pub fn insert(&self, key: &Key, value: Arc<V>) {
        self.entries.insert(key.octets.clone(), value);
    }

    /// The stored value, or one that is made now, by one thread while the others wait for it.
    pub fn get_or_make(&self, key: &Key, make: impl FnOnce() -> V) -> Arc<V> {
        let make = || Ok::<_, std::convert::Infallible>(Arc::new(make()));
        match self.entries.get_or_insert_with(&*key.octets, make) {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }
}

impl<V: Weigh> std::fmt::Debug for PreparedCache<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreparedCache").field("entries", &self.entries.len()).finish_non_exhaustive()
    }
}

/// The key of a prepared value: a site, and all parts of a crawler, each with its length, so that different
/// keys are never equal. It is a buffer that can be reused.
///
/// ```
/// use mayi::CrawlerParts;
/// use mayi_fetch::prepared::Key;
///
/// let mut key = Key::default();
/// key.set_crawler(&CrawlerParts::<&str>::new("ExampleBot"), None);
/// key.set_site("https://example.com");
/// let other = key.clone();
/// key.set_site("https://example.org");
/// assert_ne!(key, other);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Key {
    octets: Vec<u8>,
    /// Where the site starts.
    site: usize,
}

impl Key {
    /// Starts the key of a crawler in this dialect; `None` is the default dialect.
    pub fn set_crawler<S: AsRef<str>>(&mut self, parts: &CrawlerParts<'_, S>, dialect: Option<&str>) {
        self.octets.clear();
        self.push_crawler(parts, dialect);
        self.site = self.octets.len();
    }

    /// Adds a crawler to the first one, before the site is set.
    pub fn add_crawler<S: AsRef<str>>(&mut self, parts: &CrawlerParts<'_, S>) {
        self.octets.truncate(self.site);
        self.push_crawler(parts, None);
        self.site = self.octets.len();
    }

    /// Starts the key of crawlers that were made before.
    pub fn set_made_crawlers(&mut self, crawlers: &[Crawler]) {
        self.octets.clear();
        // No parts begin like this.
        self.octets.push(MADE);
        crawlers.hash(&mut Written(&mut self.octets));
        self.site = self.octets.len();
    }

    /// Sets the site: the start of a URL up to its path, or another text that identifies the site.
    pub fn set_site(&mut self, site: &str) {
        self.octets.truncate(self.site);
        self.octets.extend_from_slice(site.as_bytes());
    }

    /// Whether another key is of the same crawler, whatever its site is.
    pub fn is_of_crawler(&self, other: &Self) -> bool {
        self.octets[..self.site] == other.octets[..other.site]
    }

    fn push_crawler<S: AsRef<str>>(&mut self, parts: &CrawlerParts<'_, S>, dialect: Option<&str>) {
        let CrawlerParts { product_token, purposes, applications, user_agent, .. } = parts;
        self.octets.push(u8::from(parts.registered_purposes_only));
        self.push(product_token);
        for optional in [*user_agent, dialect] {
            self.octets.push(u8::from(optional.is_some()));
            self.push(optional.unwrap_or_default());
        }
        for words in [purposes, applications] {
            self.octets.extend_from_slice(&(words.len() as u32).to_le_bytes());
            words.iter().for_each(|word| self.push(word.as_ref()));
        }
    }

    fn push(&mut self, text: &str) {
        self.octets.extend_from_slice(&(text.len() as u32).to_le_bytes());
        self.octets.extend_from_slice(text.as_bytes());
    }
}

/// How the key of crawlers begins that were made before.
const MADE: u8 = 2;

/// Keeps all that is hashed: values that differ are written differently.
struct Written<'a>(&'a mut Vec<u8>);

impl Hasher for Written<'_> {
    fn write(&mut self, octets: &[u8]) {
        self.0.extend_from_slice(octets);
    }

    fn finish(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_crawlers_have_one_key() {
        let key = |purposes: &[&str], applications: &[&str], user_agent, dialect| {
            let parts = CrawlerParts { purposes, applications, user_agent, ..CrawlerParts::new("a") };
            let mut key = Key::default();
            key.set_crawler(&parts, dialect);
            key.set_site("https://example.com");
            key
        };
        let keys = [
            key(&[], &[], None, None),
            key(&["a"], &[], None, None),
            key(&[], &["a"], None, None),
            key(&[], &["a", "b"], None, None),
            key(&[], &["ab"], None, None),
            key(&["a"], &["b"], None, None),
            key(&[], &[], None, Some("")),
            key(&[], &[], Some(""), None),
            key(&[], &[], None, Some("b")),
            key(&[], &[], Some("b"), None),
        ];
        for (place, key) in keys.iter().enumerate() {
            assert!(!keys[place + 1..].contains(key), "{place}");
        }
    }

    struct Sized(usize);

    impl Weigh for Sized {
        fn octets(&self) -> usize {
            self.0
        }
    }

    /// What is kept never takes more than it may, and what is larger than a part of it is made again each time.
    #[test]
    fn what_is_kept_is_bounded() {
        let cache = PreparedCache::new(64 << 20);
        let mut key = Key::default();
        for number in 0..1_000 {
            key.set_site(&format!("https://{number}.example"));
            assert_eq!(cache.get_or_make(&key, || Sized(1 << 20)).0, 1 << 20);
        }
        assert!(cache.entries.weight() <= 64 << 20 && cache.entries.len() > 16);
    }
}

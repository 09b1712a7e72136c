//! A file and a crawler → the rules, prepared once and kept in bounded memory.
//!
//! A log can name thousands of crawlers, and a file can have tens of thousands of rules. Crawlers that get the same
//! groups share what was prepared, and all of it is dropped when it takes too much. That changes no figure.

use std::sync::Arc;

use mayi::{Crawler, CrawlerRules, RulesByGroups};

use crate::bounded::Map;
use crate::files::File;

/// How many crawlers of files are known at a time, and how many octets their rules may take.
const MOST_RULES: usize = 8_192;
const MOST_OCTETS: usize = 8 << 20;

/// About how many octets the entry of a crawler takes beside what is shared.
const OCTETS_OF_AN_ENTRY: usize = 512;

/// Whose rules were prepared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RulesFor {
    /// The crawler at this place of the registry.
    Known(u32),
    Named(Arc<str>),
    /// Any crawler that neither the registry nor the file knows.
    Anyone,
}

/// The rules that were prepared, by file and crawler.
#[derive(Default)]
pub(crate) struct KnownRules {
    rules: Map<(u32, RulesFor), CrawlerRules>,
    /// By file.
    shared: Map<u32, RulesByGroups>,
    octets: usize,
}

impl KnownRules {
    /// The rules of a file for a crawler, which `crawler` makes if nothing was prepared for it.
    pub(crate) fn of(
        &mut self,
        file: &File,
        whose: RulesFor,
        crawler: impl Fn(&RulesFor) -> Crawler,
    ) -> &CrawlerRules {
        let key = (file.number, whose);
        if !self.rules.contains_key(&key) {
            if self.rules.len() >= MOST_RULES || self.octets >= MOST_OCTETS {
                *self = Self::default();
            }
            let whose = match &key.1 {
                RulesFor::Named(name) if !file.may_tell_apart(name) => &RulesFor::Anyone,
                whose => whose,
            };
            let shared = self.shared.entry(file.number).or_insert_with(|| file.rules_by_groups());
            let before = shared.octets();
            let rules = shared.for_crawler(&crawler(whose));
            self.octets += shared.octets() - before + OCTETS_OF_AN_ENTRY;
            self.rules.insert(key.clone(), rules);
        }
        &self.rules[&key]
    }
}

#[cfg(test)]
mod tests {
    use mayi::ReadOptions;

    use super::*;

    /// Thousands of names that share a large group, and have a small one of their own.
    #[test]
    fn many_crawlers_of_a_large_file_take_bounded_memory() {
        let lines = |count: usize, line: &dyn Fn(usize) -> String| -> String {
            (0..count).map(line).collect::<Vec<_>>().concat()
        };
        let names = |after: &'static str| {
            lines(1_000, &move |number| format!("User-agent: bot{number}\n{after}"))
        };
        let shared = names("") + &lines(10_000, &|number| format!("Disallow: /{number}\n"));
        let own = names("Disallow: /own\n");
        for (text, most) in [(shared.clone(), 2 << 20), (shared + &own, MOST_OCTETS + (2 << 20))] {
            let file = File::read("robots.txt", text.into_bytes(), &ReadOptions::default());
            let mut rules = KnownRules::default();
            for number in 0..1_000 {
                let name: Arc<str> = format!("bot{number}").into();
                let crawler = |_: &RulesFor| Crawler::new(&name).expect("a token");
                let found = rules.of(&file, RulesFor::Named(Arc::clone(&name)), crawler).len();
                assert!(found >= 10_000, "{found} rules of {name}");
                assert!(rules.octets <= most, "{} octets after {name}", rules.octets);
            }
        }
    }
}

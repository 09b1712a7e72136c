//! A file and a crawler → the rules, which a thread need not ask the file for again.
//!
//! A log can name thousands of crawlers, and a file can have tens of thousands of rules. So the file keeps what it has
//! prepared, for all threads and for all crawlers that get the same groups. A thread keeps where that is.

use std::sync::Arc;

use mayi::{Crawler, CrawlerRules};

use crate::bounded::Map;
use crate::files::File;

/// How many crawlers of files are known at a time.
const MOST_RULES: usize = 8_192;

/// How many units of work it may take to find out which rules are for a crawler of the registry, and for another one. There
/// are hundreds of the first, and each line of a log can name a new one of the others.
const UNITS_FOR_KNOWN: usize = 1 << 18;
const UNITS_FOR_OTHERS: usize = 1 << 12;

/// Whose rules were prepared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RulesFor {
    /// The crawler at this place of the registry.
    Known(u32),
    Named(Arc<str>),
    /// Any crawler that has no name.
    Anyone,
}

/// The rules by file and crawler; none where it would cost too much to find out which are for it.
#[derive(Default)]
pub(crate) struct KnownRules {
    rules: Map<(u32, RulesFor), Option<CrawlerRules>>,
}

impl KnownRules {
    /// The rules of a file for a crawler, which `crawler` makes if it is not known yet. Whether there are any depends on
    /// nothing but these two.
    pub(crate) fn of(
        &mut self,
        file: &File,
        whose: RulesFor,
        crawler: impl Fn(&RulesFor) -> Crawler,
    ) -> Option<&CrawlerRules> {
        let key = (file.number, whose);
        if !self.rules.contains_key(&key) {
            if self.rules.len() >= MOST_RULES {
                self.rules.clear();
            }
            let units = match &key.1 {
                RulesFor::Known(_) => UNITS_FOR_KNOWN,
                RulesFor::Named(_) | RulesFor::Anyone => UNITS_FOR_OTHERS,
            };
            let rules = file.rules_for(&crawler(&key.1), units);
            self.rules.insert(key.clone(), rules);
        }
        self.rules[&key].as_ref()
    }
}

#[cfg(test)]
mod tests {
    use mayi::ReadOptions;

    use super::*;

    /// More names than are known at a time, that share a large group and have a small one of their own.
    #[test]
    fn crawlers_that_are_forgotten_get_the_same_rules_again() {
        let names = || (0..MOST_RULES + 10).map(|number| format!("bot{number}"));
        let lines = |line: &dyn Fn(String) -> String| names().map(line).collect::<Vec<_>>().concat();
        let shared = lines(&|name| format!("User-agent: {name}\n"));
        let rules =
            (0..1_000).map(|number| format!("Disallow: /{number}\n")).collect::<Vec<_>>().concat();
        let own = lines(&|name| format!("User-agent: {name}\nAllow: /{name}\n"));
        let text = shared + &rules + &own;
        let file = File::read("robots.txt", text.into_bytes(), &ReadOptions::default());
        let mut known = KnownRules::default();
        for name in names().chain(names().take(20)) {
            let crawler = |_: &RulesFor| Crawler::new(&name).expect("a token");
            let rules = known.of(&file, RulesFor::Named(name.as_str().into()), crawler);
            assert_eq!(rules.map(CrawlerRules::len), Some(1_001), "{name}");
            assert!(known.rules.len() <= MOST_RULES);
        }
    }
}

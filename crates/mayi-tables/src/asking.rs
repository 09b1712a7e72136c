//! URL after URL → decisions, for one crawler or several at once.
//!
//! A URL with the same scheme and authority as the one before it needs no look-up at all. That is why tables
//! that are sorted by host are fast.

use std::sync::Arc;

use mayi::access::Origin;
use mayi::report::{ErrorCode, RequestError};
use mayi::{Crawler, CrawlerParts, CrawlerUses, Decision, Target, Usage};
use mayi_fetch::prepared::Key;

use crate::files::{Files, SiteRules, Wanted};

/// Decides about one URL after another, for the crawlers that were set last.
#[derive(Debug)]
pub struct Asker<'f> {
    files: &'f Files,
    /// Who asks, all at once.
    crawlers: Vec<Crawler>,
    /// The key of the crawlers, and their last site.
    key: Key,
    /// A buffer for the next ones'.
    next_key: Key,
    /// What is known about the last origin, for the crawlers, and how its URLs start.
    last: Option<Arc<SiteRules>>,
    prefix: Vec<u8>,
}

impl<'f> Asker<'f> {
    /// Uses these files; no crawler is set yet.
    pub fn new(files: &'f Files) -> Self {
        let (key, next_key) = (Key::default(), Key::default());
        Self { files, crawlers: Vec::new(), key, next_key, last: None, prefix: Vec::new() }
    }

    /// Uses these files, for these crawlers.
    pub fn of_crawlers(files: &'f Files, crawlers: &[Crawler]) -> Self {
        let mut asker = Self { crawlers: crawlers.to_vec(), ..Self::new(files) };
        asker.key.set_made_crawlers(crawlers);
        asker
    }

    /// Sets the crawlers: one, and others in addition to it. If they are the same as before, nothing has to
    /// be done.
    ///
    /// # Errors
    /// When one of them can't be a crawler.
    pub fn set_crawlers<'a, S: AsRef<str> + 'a>(
        &mut self,
        first: CrawlerParts<'a, S>,
        others: impl Iterator<Item = CrawlerParts<'a, S>> + Clone,
    ) -> Result<(), RequestError> {
        self.next_key.set_crawler(&first, None);
        others.clone().for_each(|other| self.next_key.add_crawler(&other));
        if !self.crawlers.is_empty() && self.next_key.is_of_crawler(&self.key) {
            return Ok(());
        }
        if !self.crawlers.is_empty() {
            self.files.expect_other_crawlers();
        }
        self.forget();
        let mut crawlers = vec![Crawler::of_parts(first)?];
        for other in others {
            crawlers.push(Crawler::of_parts(other)?);
        }
        self.crawlers = crawlers;
        std::mem::swap(&mut self.key, &mut self.next_key);
        Ok(())
    }

    /// Who asks.
    pub fn crawlers(&self) -> &[Crawler] {
        &self.crawlers
    }

    /// Reads a URL and finds the rules for it.
    ///
    /// # Errors
    /// When there is no URL, or it is wrong, or its host can't have a file.
    pub fn ask<'u>(&mut self, url: &'u str) -> Result<Target<'u>, RequestError> {
        if url.is_empty() {
            return Err(RequestError::new(ErrorCode::InvalidUrl, "the row has no URL"));
        }
        let target = Target::parse(url)?;
        if self.last.is_none() || !self.is_of_last_origin(url.as_bytes()) {
            self.find(url)?;
        }
        Ok(target)
    }

    /// May the crawler of this number fetch the last target?
    ///
    /// # Errors
    /// When there is no answer for its origin.
    ///
    /// # Panics
    /// If no URL has been read, or there is no crawler of this number.
    pub fn decide(&self, crawler: usize, target: &Target<'_>) -> Result<Decision<'_>, &RequestError> {
        self.last.as_deref().expect("something was asked").decide(crawler, target)
    }

    /// What the crawler of this number may do with targets of the last URL's origin, if the files are for such questions
    /// ([`Files::asking_for_uses`]).
    pub fn uses(&self, crawler: usize) -> Option<&CrawlerUses<'static>> {
        self.last.as_deref()?.uses(crawler)
    }

    /// Releases what was used last.
    pub fn forget(&mut self) {
        self.crawlers.clear();
        self.last = None;
    }

    /// Whether a URL starts as the last one, up to the end of its authority.
    fn is_of_last_origin(&self, url: &[u8]) -> bool {
        // Where there is one file for all origins, nothing is to be compared.
        !self.files.is_by_origin()
            || !self.prefix.is_empty()
                && url.strip_prefix(&*self.prefix).is_some_and(|rest| {
                    rest.first().is_none_or(|octet| matches!(octet, b'/' | b'?' | b'#'))
                })
    }

    fn find(&mut self, url: &str) -> Result<(), RequestError> {
        self.last = None;
        let prefix = Origin::prefix_of(url).map(str::len);
        let wanted = Wanted { url, prefix, crawlers: &self.crawlers };
        self.last = Some(self.files.find(wanted, &mut self.key)?);
        self.prefix.clear();
        self.prefix.extend_from_slice(&url.as_bytes()[..prefix.unwrap_or_default()]);
        Ok(())
    }
}

/// What may be done with the target, if there is an answer: what may not be fetched has no preferences
/// (USE-4).
pub fn usage(
    uses: Option<&CrawlerUses<'_>>,
    decision: &Decision<'_>,
    target: &Target<'_>,
) -> Option<Usage> {
    uses.filter(|_| decision.is_allowed())?.usage(target)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use mayi::ReadOptions;

    use super::*;
    use crate::files::{Found, Robots, Source};

    /// One file for all origins, and how often it was asked for.
    struct Counted(String, AtomicUsize);

    impl Source for Counted {
        fn find(&self, _: &Origin) -> Found {
            self.1.fetch_add(1, Ordering::Relaxed);
            Found::File(self.0.clone().into_bytes(), None)
        }
    }

    /// A column of crawlers: the file of an origin is read once for all of them, and each gets its own rules.
    #[test]
    fn rows_with_crawlers_of_their_own_share_a_file() {
        let own = |number: usize| format!("User-agent: bot{number}\nDisallow: /{number}\n");
        let own = (0..50).map(own).collect::<Vec<_>>().concat();
        let source =
            Arc::new(Counted(format!("{own}User-agent: *\nDisallow: /all\n"), AtomicUsize::new(0)));
        let options = ReadOptions::default();
        let files = Files::new(Robots::Each(Box::new(Arc::clone(&source))), options, 1 << 25);
        let files = files.asking_for_uses(true);
        let mut asker = Asker::new(&files);
        for number in 0..60 {
            let name = format!("bot{number}");
            asker
                .set_crawlers(CrawlerParts::<&str>::new(&name), std::iter::empty())
                .expect("a crawler");
            for (path, is_own) in [(format!("/{number}"), true), ("/all".to_owned(), false)] {
                let url = format!("https://example.com{path}");
                let target = asker.ask(&url).expect("a URL");
                let is_named = number < 50;
                let decision = asker.decide(0, &target).expect("there is a file");
                assert_eq!(decision.is_allowed(), is_own != is_named, "{name} {path}");
                assert!(asker.uses(0).is_some_and(|uses| uses.usage(&target).is_some()));
            }
        }
        // Once for the first crawler, and once when it is known that there are others.
        assert_eq!(source.1.load(Ordering::Relaxed), 2);
    }
}

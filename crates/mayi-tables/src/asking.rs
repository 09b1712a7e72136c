//! URL after URL → decisions, for one crawler or several at once.
//!
//! A URL with the same scheme and authority as the one before it needs no look-up at all. That is why tables
//! that are sorted by host are fast.

use std::sync::Arc;

use mayi::access::Origin;
use mayi::report::{ErrorCode, RequestError};
use mayi::{Crawler, CrawlerParts, CrawlerUses, Decision, Target, UseAnswers};
use mayi_fetch::prepared::Key;

use crate::files::{Files, SiteRules, Wanted};

/// Decides about one URL after another, for the crawlers that were set last.
#[derive(Debug)]
pub struct Asker<'f> {
    files: &'f Files,
    /// Who asks, all at once.
    crawlers: Vec<Crawler>,
    by_crawlers_of_rows: bool,
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
        let (crawlers, prefix) = (Vec::new(), Vec::new());
        Self { files, crawlers, by_crawlers_of_rows: false, key, next_key, last: None, prefix }
    }

    /// The same for rows that name their crawlers, of which there can be as many as rows. If it takes too much work to find
    /// out which groups of a file are for a crawler, its rows get the error `too-costly`. Whether they do depends on
    /// the file, the crawlers of the row and whether uses are asked for, and on nothing else.
    pub fn for_crawlers_of_rows(files: &'f Files) -> Self {
        Self { by_crawlers_of_rows: true, ..Self::new(files) }
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
        // Keys of tables name no dialect, so that this tells apart what was prepared with a limit.
        self.next_key.set_crawler(&first, self.by_crawlers_of_rows.then_some("of rows"));
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
        let wanted = Wanted {
            url,
            prefix,
            crawlers: &self.crawlers,
            by_crawlers_of_rows: self.by_crawlers_of_rows,
        };
        self.last = Some(self.files.find(wanted, &mut self.key)?);
        self.prefix.clear();
        self.prefix.extend_from_slice(&url.as_bytes()[..prefix.unwrap_or_default()]);
        Ok(())
    }
}

/// What may be done with the target, if there is an answer: what may not be fetched has no preferences
/// (USE-4).
pub fn use_answers(
    uses: Option<&CrawlerUses<'_>>,
    decision: &Decision<'_>,
    target: &Target<'_>,
) -> Option<UseAnswers> {
    uses.filter(|_| decision.is_allowed())?.answers(target)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use mayi::ReadOptions;

    use super::*;
    use crate::files::{Found, RobotsSource, Source};

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
        let files = Files::new(RobotsSource::Each(Box::new(Arc::clone(&source))), options, 1 << 25);
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
                assert!(asker.uses(0).is_some_and(|uses| uses.answers(&target).is_some()));
            }
        }
        // Once for the first crawler, and once when it is known that there are others.
        assert_eq!(source.1.load(Ordering::Relaxed), 2);
    }

    /// Each row can name another crawler, and a file can have thousands of regular expressions to try for each. A crawler
    /// that the file names costs nothing of that, and without a column of crawlers all are answered.
    #[test]
    fn a_row_does_not_cost_all_regular_expressions_of_a_file() {
        let expressions = |count: usize| -> String {
            let line = |number| format!("User-agent: .*x{number}$\n");
            (0..count).map(line).collect::<String>() + "Disallow: /a\nUser-agent: named\nDisallow: /b\n"
        };
        let code = |text: &str, agent: &str, by_rows: bool, for_uses: bool| {
            let file = mayi::access::SiteFile::read(text.as_bytes().to_vec(), &ReadOptions::default());
            let files = Files::new(RobotsSource::One(file), ReadOptions::default(), 1 << 25);
            let files = files.asking_for_uses(for_uses);
            let asker = if by_rows { Asker::for_crawlers_of_rows } else { Asker::new };
            let mut asker = asker(&files);
            asker
                .set_crawlers(CrawlerParts::<&str>::new(agent), std::iter::empty())
                .expect("a crawler");
            let target = asker.ask("https://example.com/a").expect("a URL");
            let decision = asker.decide(0, &target);
            assert_eq!(asker.uses(0).is_some(), for_uses && decision.is_ok());
            decision.map(|decision| decision.is_allowed()).map_err(RequestError::code)
        };
        let too_costly = Err(ErrorCode::TooCostly);
        for for_uses in [false, true] {
            let (few, many) = (expressions(10), expressions(2_000));
            assert_eq!(code(&few, "other-x7", true, for_uses), Ok(false));
            assert_eq!(code(&many, "other-x7", true, for_uses), too_costly);
            assert_eq!(code(&many, "other-x7", false, for_uses), Ok(false));
            assert_eq!(code(&many, "named", true, for_uses), Ok(true));
            // A crawler of the registry may cost more, but not everything.
            let some = expressions(200);
            assert_eq!(code(&some, "other-x7", true, for_uses), too_costly);
            assert_eq!(code(&some, "GPTBot", true, for_uses), Ok(true));
            assert_eq!(code(&many, "GPTBot", true, for_uses), too_costly);
        }
    }
}

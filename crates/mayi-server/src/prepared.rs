//! A request about a file that is in memory → its answer from what was prepared for its crawler.
//!
//! What is prepared is found by the site and the crawler as the request writes them, so that neither a
//! host is read nor a group selected again. It is used only while the fetcher would answer from the very
//! same copy with the very same story.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mayi::Target;
use mayi::access::Origin;
use mayi::report::{ErrorCode, FileSource, Prepared, Request, RequestError};
use mayi_fetch::Robots;
use mayi_fetch::kept::Kept;
use mayi_fetch::prepared::{Key, PreparedCache, Weigh};

use crate::api::App;
use crate::metrics::Outcome;

/// How many octets what is prepared may take. It is made again in microseconds.
const MOST_OCTETS: u64 = 64 << 20;

/// For how long many requests in a row are answered without a look at what the fetcher has.
const TRUSTED: Duration = Duration::from_millis(100);

/// What was prepared for a site and a crawler.
pub(crate) struct Entry {
    origin: Origin,
    prepared: Prepared,
    kept: Arc<Kept>,
    source: FileSource,
    /// What its file takes. The fetcher has the same one, as a rule; but it may let go of it before this does.
    octets_of_file: usize,
}

impl Weigh for Entry {
    fn octets(&self) -> usize {
        size_of::<Self>() + self.prepared.octets() + self.octets_of_file
    }
}

/// What was prepared, for everybody.
pub(crate) fn cache() -> PreparedCache<Entry> {
    PreparedCache::new(MOST_OCTETS)
}

/// Answers requests one after the other, and remembers what the last one was about.
#[derive(Default)]
pub(crate) struct Answerer {
    key: Key,
    last: Option<Last>,
}

struct Last {
    key: Key,
    entry: Arc<Entry>,
    looked: Instant,
    asked: u32,
}

/// What a request can be answered from.
pub(crate) enum Found {
    /// This.
    Entry(Arc<Entry>),
    /// Nothing yet: the file of its site has to be had first.
    Needs(Origin),
    /// A file of this many octets, which are more than may be worked on here.
    Large(usize),
}

/// Whether a request carries no file and asks for nothing special, so that what was prepared answers it.
pub(crate) fn is_plain(request: &Request<'_>) -> bool {
    request.robots.is_none() && request.page.is_none() && !request.explain
}

impl Answerer {
    /// What is prepared for a plain request already; that takes no time to speak of.
    pub(crate) fn prepared(&mut self, app: &App, request: &Request<'_>) -> Option<Arc<Entry>> {
        self.read_key(request);
        let entry = app.prepared.get(&self.key)?;
        let robots = app.fetcher.ready(&entry.origin)?;
        entry.is_of(&robots).then_some(entry)
    }

    /// The same where there are more requests after it, most of them about the same.
    fn known(&mut self, app: &App, request: &Request<'_>) -> Option<Arc<Entry>> {
        self.read_key(request);
        if let Some(last) = self.last.as_mut().filter(|last| last.key == self.key) {
            last.asked += 1;
            // The time is not asked for at every request: that would cost a tenth of it.
            if last.asked % 64 != 0 || last.looked.elapsed() < TRUSTED {
                return Some(Arc::clone(&last.entry));
            }
        }
        self.prepared(app, request).map(|entry| self.remembered(entry))
    }

    /// What a plain request is answered from: made now where it is not there yet, which is work. `landed` is what was had
    /// for it, and `most` how large a file may be here.
    pub(crate) fn find(
        &mut self,
        app: &App,
        request: &Request<'_>,
        landed: Option<&Robots>,
        most: usize,
    ) -> Result<Found, RequestError> {
        if let Some(entry) = self.known(app, request) {
            return Ok(Found::Entry(entry));
        }
        // What is wrong with a request is said before anybody is asked for anything.
        let origin = app.fetcher.origin_of(request)?;
        let answering = app.fetcher.answering();
        let wrong = |error: RequestError| error.about(&request.url, &request.agent);
        let dialect = answering.dialect_of(request).map_err(wrong)?;
        let crawler = answering.crawler_of(request).map_err(wrong)?;
        let landed = landed.filter(|robots| *robots.origin() == origin).cloned();
        let Some(robots) = landed.or_else(|| app.fetcher.ready(&origin)) else {
            return Ok(Found::Needs(origin));
        };
        let octets = robots.robots_txt().map_or(0, |file| file.text().len());
        if octets > most {
            return Ok(Found::Large(octets));
        }
        let file = robots.file_in(answering, dialect);
        let octets_of_file = file.octets_in_memory() + robots.kept().octets();
        let entry = Arc::new(Entry {
            origin,
            prepared: Prepared::new(file, crawler, Some(robots.file_report())),
            kept: Arc::clone(robots.kept()),
            source: robots.source(),
            octets_of_file,
        });
        // What was fetched just now has another story the next time.
        if robots.is_known() && !matches!(entry.source, FileSource::Fetched | FileSource::Revalidated) {
            app.prepared.insert(&self.key, Arc::clone(&entry));
        }
        Ok(Found::Entry(self.remembered(entry)))
    }

    fn read_key(&mut self, request: &Request<'_>) {
        self.key.set_crawler(&request.parts(), request.dialect.as_deref());
        self.key.set_site(site_of(&request.url));
    }

    fn remembered(&mut self, entry: Arc<Entry>) -> Arc<Entry> {
        let (key, looked) = (self.key.clone(), Instant::now());
        self.last = Some(Last { key, entry: Arc::clone(&entry), looked, asked: 0 });
        entry
    }
}

impl Entry {
    /// How many octets the file has that a decision may have to look through.
    pub(crate) fn file_octets(&self) -> usize {
        self.prepared.file().robots_txt().map_or(0, |robots| robots.text().len())
    }

    /// Writes the answer to a plain request after what is there. The octets are those of [`Fetcher::decide`].
    ///
    /// [`Fetcher::decide`]: mayi_fetch::Fetcher::decide
    pub(crate) fn write(
        &self,
        request: &Request<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, RequestError> {
        let wrong = |error: RequestError| error.about(&request.url, &request.agent);
        let target = Target::parse(&request.url).map_err(|error| wrong(error.into()))?;
        let start = out.len();
        // A fault of ours in one answer must not cost the others theirs.
        let written = catch_unwind(AssertUnwindSafe(|| self.prepared.write(&target, out)));
        match written {
            Ok(true) => Ok(Outcome::Allowed),
            Ok(false) => Ok(Outcome::Disallowed),
            Err(_) => {
                out.truncate(start);
                Err(wrong(RequestError::new(
                    ErrorCode::Internal,
                    "an internal error in mayi; please report it",
                )))
            }
        }
    }

    /// Whether it was made from what the fetcher would answer from now.
    fn is_of(&self, robots: &Robots) -> bool {
        Arc::ptr_eq(&self.kept, robots.kept())
            && self.source == robots.source()
            && self.prepared.file().access() == robots.access()
    }
}

/// What tells the site of a URL apart: its start up to the path, or all of a URL that is written oddly. URLs
/// of one key have one origin, or none for the same reason.
pub(crate) fn site_of(url: &str) -> &str {
    Origin::prefix_of(url).unwrap_or(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_end_where_paths_begin() {
        for (url, site) in [
            ("https://example.com/a", "https://example.com"),
            ("https://example.com?a/b", "https://example.com"),
            ("https://example.com", "https://example.com"),
            ("https://a@b:80#/", "https://a@b:80"),
            // Clients take these for URLs of a host called `a`, whatever stands after it.
            ("https://a\\b/", "https://a\\b/"),
            ("https:/a/x", "https:/a/x"),
            ("https:///a/x", "https:///a/x"),
            ("https:a/x", "https:a/x"),
            ("no url", "no url"),
            ("/a/b", "/a/b"),
            ("", ""),
        ] {
            assert_eq!(site_of(url), site, "{url}");
        }
    }
}

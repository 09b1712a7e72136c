//! A request about a file that is in memory → its answer from what was prepared for its crawler.
//!
//! Prepared answers are found by the site and the crawler as the request writes them, so no host is parsed
//! and no group is selected again. They are used only while the fetcher would answer from exactly the same
//! copy, with the same information about where it came from.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mayi::access::{Origin, SiteFile};
use mayi::report::{ErrorCode, FileSource, Prepared, PreparedFile, Request, RequestError};
use mayi::{Crawler, Target};
use mayi_fetch::Robots;
use mayi_fetch::kept::Kept;
use mayi_fetch::prepared::{Key, PreparedCache, Weigh};

use crate::api::App;
use crate::metrics::Outcome;

/// How many octets prepared answers may take. They can be made again in microseconds.
const MOST_OCTETS: u64 = 48 << 20;

/// The limit, in octets, of what the crawlers of large files share.
const MOST_SHARED: u64 = 16 << 20;

/// A file of at least this many octets is large. The answers about a smaller one are prepared for each crawler by itself:
/// that takes less work than finding out what crawlers share.
const LARGE: usize = 32 << 10;

/// For how long consecutive requests are answered without checking the fetcher's copy.
const TRUSTED: Duration = Duration::from_millis(100);

/// What was prepared for a site and a crawler.
pub(crate) struct Entry {
    origin: Origin,
    prepared: Prepared,
    kept: Arc<Kept>,
    source: FileSource,
    /// The memory of its file. Usually the fetcher has the same file, but it may release it earlier.
    octets_of_file: usize,
}

impl Weigh for Entry {
    fn octets(&self) -> usize {
        size_of::<Self>() + self.prepared.octets() + self.octets_of_file
    }
}

/// What the crawlers of a large file share. A batch can ask about one for thousands of crawlers.
struct SharedSite {
    kept: Arc<Kept>,
    file: PreparedFile,
}

impl Weigh for SharedSite {
    fn octets(&self) -> usize {
        self.file.expected_octets()
    }
}

/// The prepared answers of all clients.
pub(crate) struct PreparedAnswers {
    /// By site and crawler.
    entries: PreparedCache<Entry>,
    /// By site and dialect.
    shared: PreparedCache<SharedSite>,
}

impl PreparedAnswers {
    pub(crate) fn new() -> Self {
        Self { entries: PreparedCache::new(MOST_OCTETS), shared: PreparedCache::new(MOST_SHARED) }
    }

    /// Prepares the answers about a file for a crawler.
    fn prepare(&self, robots: &Robots, file: SiteFile<'static>, crawler: Crawler) -> Prepared {
        let story = Some(robots.file_report());
        let text = file.robots_txt().map_or(0, |robots| robots.text().len());
        if text < LARGE {
            return Prepared::new(file, crawler, story);
        }
        let mut key = Key::default();
        key.set_site(&format!("{} {}", file.dialect().name(), robots.origin()));
        let is_current = |site: &Arc<SharedSite>| {
            Arc::ptr_eq(&site.kept, robots.kept()) && site.file.file().dialect() == file.dialect()
        };
        let known = self.shared.get(&key).filter(is_current);
        let site = known.unwrap_or_else(|| {
            let (kept, file) = (Arc::clone(robots.kept()), PreparedFile::new(file));
            let site = Arc::new(SharedSite { kept, file });
            self.shared.insert(&key, Arc::clone(&site));
            site
        });
        site.file.for_crawler(crawler, story)
    }
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

/// The source of the answer to a request.
pub(crate) enum Found {
    /// This.
    Entry(Arc<Entry>),
    /// Nothing yet: the file of its site is needed first.
    Needs(Origin),
    /// A file of this many octets, which is too large for this thread.
    Large(usize),
}

/// Whether a request includes no file and asks for nothing special, so that prepared answers can be used.
pub(crate) fn is_plain(request: &Request<'_>) -> bool {
    request.robots.is_none() && request.page.is_none() && !request.explain
}

impl Answerer {
    /// What is already prepared for a plain request; this takes almost no time.
    pub(crate) fn prepared(&mut self, app: &App, request: &Request<'_>) -> Option<Arc<Entry>> {
        self.read_key(request);
        let entry = app.prepared.entries.get(&self.key)?;
        let robots = app.fetcher.ready(&entry.origin)?;
        entry.is_of(&robots).then_some(entry)
    }

    /// The same if more requests follow, most of them about the same site.
    fn known(&mut self, app: &App, request: &Request<'_>) -> Option<Arc<Entry>> {
        self.read_key(request);
        if let Some(last) = self.last.as_mut().filter(|last| last.key == self.key) {
            last.asked += 1;
            // The clock is not read for every request: that would cost a tenth of the time.
            if last.asked % 64 != 0 || last.looked.elapsed() < TRUSTED {
                return Some(Arc::clone(&last.entry));
            }
        }
        self.prepared(app, request).map(|entry| self.remembered(entry))
    }

    /// The source of the answer to a plain request. If it is not prepared yet, it is made now, which is work.
    /// `landed` is the file that was fetched for it, and `most` is the maximum size of a file on this thread.
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
        // An invalid request is refused before anything is fetched.
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
            prepared: app.prepared.prepare(&robots, file, crawler),
            kept: Arc::clone(robots.kept()),
            source: robots.source(),
            octets_of_file,
        });
        // The next answer reports the file as cached, so this one is not stored.
        if robots.is_known() && !matches!(entry.source, FileSource::Fetched | FileSource::Revalidated) {
            app.prepared.entries.insert(&self.key, Arc::clone(&entry));
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
    /// How many octets of a file a decision may have to read.
    pub(crate) fn file_octets(&self) -> usize {
        self.prepared.file().robots_txt().map_or(0, |robots| robots.text().len())
    }

    /// Appends the answer to a plain request. The octets are those of [`Fetcher::decide`].
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
        // A panic in one answer must not affect the others.
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

/// The key of a URL's site: its start up to the path, or the whole URL if it has to be normalised. URLs with
/// one key have the same origin, or none for the same reason.
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
            // Clients read these as URLs of a host called `a`, whatever follows.
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

//! Responses of servers, by URL → the file of an origin, with redirects followed (REP-19).
//!
//! An archive has a record for every request. A redirect and its target are two records of two URLs; the
//! rules apply to the origin of the first request. If a URL has several responses, the latest counts.

use std::collections::HashMap;
use std::time::SystemTime;

use mayi::access::{AccessResult, Attempt, Origin, Step, Unavailable, Unreachable};
use url::Url;

use crate::files::{Found, Source};

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchivedResponse {
    /// When.
    pub time: SystemTime,
    /// The status, or why there is no complete response.
    pub status: Result<u16, Box<str>>,
    /// Where it redirects to.
    pub location: Option<Box<str>>,
    /// The `Content-Type`.
    pub content_type: Option<Box<str>>,
    /// The body, up to the limit that the reader of the archive has.
    pub body: Box<[u8]>,
}

impl ArchivedResponse {
    /// A response with a status; the caller sets the rest.
    pub fn new(time: SystemTime, status: Result<u16, Box<str>>) -> Self {
        Self { time, status, location: None, content_type: None, body: Box::default() }
    }
}

/// What servers answered.
#[derive(Debug, Default)]
pub struct Archive {
    responses: HashMap<Box<str>, ArchivedResponse>,
}

/// What an archive has for an origin.
#[derive(Debug)]
#[non_exhaustive]
pub struct ArchivedSite<'a> {
    /// The result of the request for its file.
    pub result: AccessResult,
    /// The last response: it has the file, if the result is successful.
    pub last: &'a ArchivedResponse,
    /// The requested URLs, in order, and the result of each.
    pub hops: Vec<(String, &'a ArchivedResponse)>,
}

/// Why an archive has no result for an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoSite {
    /// It has no record of its robots.txt.
    Missing,
    /// It has no record of this URL, to which the robots.txt redirects.
    MissingHop(String),
}

impl Archive {
    /// Adds the response of a URL, unless there is a later one. Text that is not a URL of http or https is
    /// ignored.
    pub fn add(&mut self, url: &str, response: ArchivedResponse) {
        let Some(url) = normalised(url) else { return };
        let is_older = |known: &ArchivedResponse| response.time < known.time;
        if !self.responses.get(&*url).is_some_and(is_older) {
            self.responses.insert(url.into(), response);
        }
    }

    /// The number of URLs with a response.
    pub fn len(&self) -> usize {
        self.responses.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.responses.is_empty()
    }

    /// All answers, in the order of their URLs.
    pub fn responses(&self) -> Vec<(&str, &ArchivedResponse)> {
        let mut all: Vec<_> = self.responses.iter().map(|(url, response)| (&**url, response)).collect();
        all.sort_unstable_by_key(|(url, _)| *url);
        all
    }

    /// The origins for which it has a response to robots.txt, in the order of their names.
    pub fn origins(&self) -> Vec<Origin> {
        let mut origins: Vec<_> = self.responses.keys().filter_map(|url| origin_of(url)).collect();
        origins.sort_by_cached_key(ToString::to_string);
        origins
    }

    /// The result for an origin.
    ///
    /// # Errors
    /// When it has no record of its robots.txt, or of the target of a redirect.
    pub fn site(&self, origin: &Origin) -> Result<ArchivedSite<'_>, NoSite> {
        let mut attempt = Attempt::new(origin);
        let mut hops = Vec::new();
        loop {
            let url = attempt.url().to_owned();
            let Some(last) = self.responses.get(&*url) else {
                return Err(if hops.is_empty() { NoSite::Missing } else { NoSite::MissingHop(url) });
            };
            hops.push((url, last));
            let step = match &last.status {
                Ok(status) => attempt.answered(*status, last.location.as_deref()),
                Err(error) => attempt.failed(error),
            };
            if let Step::Done(result) = step {
                return Ok(ArchivedSite { result, last, hops });
            }
        }
    }
}

impl Source for Archive {
    fn find(&self, origin: &Origin) -> Found {
        match self.site(origin) {
            Ok(ArchivedSite { result: AccessResult::Successful, last, .. }) => {
                Found::File(last.body.to_vec(), last.content_type.clone())
            }
            Ok(site) => Found::Ended(site.result),
            Err(NoSite::Missing) => Found::Missing,
            Err(NoSite::MissingHop(url)) => {
                Found::Unreadable(format!("it redirects to {url}, which the archive does not have"))
            }
        }
    }
}

/// The origin whose robots.txt has this URL; none if it is another URL.
pub fn origin_of(robots_url: &str) -> Option<Origin> {
    Origin::of_url(robots_url).ok().filter(|origin| origin.robots_url() == robots_url)
}

/// The final status of a result for a table, after redirects; none if no server answered.
pub fn status_of(result: &AccessResult) -> Option<u16> {
    match result {
        AccessResult::Successful => Some(200),
        AccessResult::Unavailable(Unavailable::Status(status))
        | AccessResult::Unreachable(Unreachable::Status(status)) => Some(*status),
        // Redirects that do not end at a file.
        AccessResult::Unavailable(_) => Some(404),
        AccessResult::Unreachable(_) => None,
    }
}

/// A URL as an attempt names it.
fn normalised(url: &str) -> Option<String> {
    let mut url = Url::parse(url.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    url.set_fragment(None);
    // URLs of http and https can have both.
    let _ = url.set_password(None);
    let _ = url.set_username("");
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn archive(answers: &[(&str, u64, u16, &str)]) -> Archive {
        let mut archive = Archive::default();
        for (url, time, status, rest) in answers {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(*time);
            let mut response = ArchivedResponse::new(time, Ok(*status));
            if (300..400).contains(status) {
                response.location = Some((*rest).into());
            } else {
                response.body = rest.as_bytes().into();
            }
            archive.add(url, response);
        }
        archive
    }

    fn found(archive: &Archive, origin: &str) -> String {
        match archive.find(&Origin::of_url(origin).expect("an origin")) {
            Found::File(octets, _) => String::from_utf8_lossy(&octets).into_owned(),
            Found::Ended(result) => result.name().to_owned(),
            Found::Missing => "missing".to_owned(),
            Found::Unreadable(error) => error,
        }
    }

    #[test]
    fn rules_go_to_the_origin_that_was_asked_first() {
        let archive = archive(&[
            ("http://a.example/robots.txt", 1, 301, "https://a.example/robots.txt"),
            ("https://a.example/robots.txt", 1, 302, "//www.a.example:443/robots.txt"),
            ("https://www.a.example/robots.txt", 1, 200, "the file"),
            ("https://loop.example/robots.txt", 1, 301, "/robots.txt?2"),
            ("https://loop.example/robots.txt?2", 1, 301, "/robots.txt"),
            ("https://half.example/robots.txt", 1, 307, "https://gone.example/robots.txt"),
            ("https://mail.example/robots.txt", 1, 308, "mailto:a@example.com"),
        ]);
        for origin in ["http://a.example", "https://a.example", "https://www.a.example"] {
            assert_eq!(found(&archive, origin), "the file", "{origin}");
        }
        assert_eq!(found(&archive, "https://loop.example"), "unavailable");
        assert_eq!(found(&archive, "https://mail.example"), "unavailable");
        assert!(
            found(&archive, "https://half.example")
                .contains("redirects to https://gone.example/robots.txt")
        );
        assert_eq!(found(&archive, "http://www.a.example"), "missing");
        let names: Vec<_> = archive.origins().iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), 6, "{names:?}");
    }

    /// Five redirects in a row are followed, and not six (REP-19).
    #[test]
    fn five_hops_are_followed() {
        let url = |n: usize| format!("https://h{n}.example/robots.txt");
        let mut all = Archive::default();
        for n in 0..6 {
            let mut response = ArchivedResponse::new(SystemTime::UNIX_EPOCH, Ok(301));
            response.location = Some(url(n + 1).into());
            all.add(&url(n), response);
        }
        let mut file = ArchivedResponse::new(SystemTime::UNIX_EPOCH, Ok(200));
        file.body = b"file".as_slice().into();
        all.add(&url(6), file);
        assert_eq!(found(&all, "https://h1.example"), "file");
        assert_eq!(found(&all, "https://h0.example"), "unavailable");
    }

    #[test]
    fn the_latest_answer_counts() {
        let url = "https://a.example/robots.txt";
        assert_eq!(
            found(&archive(&[(url, 2, 200, "new"), (url, 1, 503, "")]), "https://a.example"),
            "new"
        );
        assert_eq!(
            found(&archive(&[(url, 1, 200, "old"), (url, 2, 503, "")]), "https://a.example"),
            "unreachable"
        );
        assert_eq!(
            found(&archive(&[(url, 1, 200, "first"), (url, 1, 200, "second")]), "https://a.example"),
            "second"
        );
        assert_eq!(found(&archive(&[(url, 1, 404, "")]), "https://a.example"), "unavailable");
        assert!(archive(&[("dns:a.example", 1, 200, ""), ("nonsense", 1, 200, "")]).is_empty());
    }
}

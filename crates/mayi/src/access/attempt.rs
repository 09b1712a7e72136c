//! One attempt to fetch a file, step by step: the next URL, and the result in the end (REP-19).

use url::Url;

use super::{AccessResult, Origin, Unavailable, Unreachable};

/// How many redirects in a row are followed.
const MOST_REDIRECTS: usize = 5;

/// An attempt to get a file: gives a URL to fetch, takes the result, and gives the next step.
#[derive(Clone, Debug)]
pub struct Attempt {
    options: AttemptOptions,
    /// Every URL so far; the last one is being requested now.
    asked: Vec<String>,
}

/// The options of an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttemptOptions {
    /// Whether 429 (too many requests) is unreachable instead of unavailable (REP-21).
    pub treat_429_as_unreachable: bool,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Ask for this URL.
    Get(String),
    /// The attempt is over.
    Done(AccessResult),
}

impl Attempt {
    /// An attempt at the file of an origin. Its first step is to get [`url`](Self::url).
    pub fn new(origin: &Origin) -> Self {
        Self::with_options(origin, AttemptOptions::default())
    }

    /// The same, with options.
    pub fn with_options(origin: &Origin, options: AttemptOptions) -> Self {
        Self { options, asked: vec![origin.robots_url()] }
    }

    /// The URL to request now. After a redirect the rules still apply to the origin that the attempt began
    /// with.
    pub fn url(&self) -> &str {
        self.asked.last().map_or("", String::as_str)
    }

    /// How many redirects were followed.
    pub fn redirects(&self) -> usize {
        self.asked.len() - 1
    }

    /// A response came: its status, and its `Location` if it has one.
    pub fn answered(&mut self, status: u16, location: Option<&str>) -> Step {
        match (status, location) {
            (301 | 302 | 303 | 307 | 308, Some(location)) => self.redirected(location),
            (429, _) if self.options.treat_429_as_unreachable => {
                Step::Done(AccessResult::Unreachable(Unreachable::Status(status)))
            }
            _ => Step::Done(AccessResult::of_status(status)),
        }
    }

    /// No whole response came: a name that does not resolve, a refused connection, a failed
    /// handshake, a time-out, a body that ended early.
    pub fn failed(&mut self, error: &str) -> Step {
        Step::Done(AccessResult::Unreachable(Unreachable::Network(error.into())))
    }

    fn redirected(&mut self, location: &str) -> Step {
        let unavailable = |why| Step::Done(AccessResult::Unavailable(why));
        let Ok(mut next) = Url::parse(self.url()).and_then(|url| url.join(location)) else {
            return unavailable(Unavailable::RedirectElsewhere);
        };
        if !matches!(next.scheme(), "http" | "https") {
            return unavailable(Unavailable::RedirectElsewhere);
        }
        next.set_fragment(None);
        // A name and a password are never sent and never shown: URLs that differ only in them are the same
        // request. URLs of http and https can have both.
        let _ = next.set_password(None);
        let _ = next.set_username("");
        let next = next.to_string();
        if self.asked.contains(&next) {
            return unavailable(Unavailable::RedirectLoop);
        }
        if self.redirects() == MOST_REDIRECTS {
            return unavailable(Unavailable::TooManyRedirects);
        }
        self.asked.push(next.clone());
        Step::Get(next)
    }
}

//! A URL → the page there: its header fields, and the start of its body.
//!
//! It is for page rules, which are in both. A page is fetched as a crawler fetches it: first the robots.txt
//! of its site, and of each site that redirects lead to, with the guard and the limits of every other fetch.
//! It is never cached.

use std::time::Duration;

use mayi::access::Origin;
use mayi::report::FileHop;
use mayi::{Crawler, InvalidUrl, Target};
use url::Url;

use crate::attempt::Wanted;
use crate::fetcher::Fetcher;
use crate::kept::{Hop, Said};
use crate::manners::Party;
use crate::transport::{Response, TransportError};

/// The result of the request for a page.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FetchedPage {
    /// The URL of the last request, or the one that may not be fetched.
    pub url: String,
    /// The requests for it, without those for robots.txt.
    pub asked: Vec<FileHop>,
    /// The crawler that asked.
    pub crawler: Crawler,
    /// The response, or why there is none.
    pub answer: Result<Response, NoPage>,
}

/// Why there is no page.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NoPage {
    /// robots.txt of its site does not let this crawler fetch it: the line that says so, if a line does.
    Disallowed(Option<u32>),
    /// robots.txt of its site can't be reached, so nothing may be fetched there (REP-21).
    Unreachable(String),
    /// A page of this site was requested a moment ago.
    TooSoon(Duration),
    /// It redirects too often.
    TooManyRedirects,
    /// It redirects to something that is not fetched: another scheme, or a port that is not in the question.
    Elsewhere(String),
    /// Nobody is asked offline.
    Offline,
    /// Something went wrong.
    Failed(TransportError),
}

/// How much of a page is read. Robots meta elements are in its head.
const MOST_OCTETS: usize = 256 << 10;

/// How many redirects are followed.
const MOST_REDIRECTS: usize = 5;

/// How long a site gets no further request after one for a page.
const PAUSE: Duration = Duration::from_secs(2);

const HTML: &str = "text/html, application/xhtml+xml, */*;q=0.5";

impl Fetcher {
    /// The page at a URL, as its server sends it.
    ///
    /// # Errors
    /// When it is not a URL of http or https. A failed request is part of the result.
    pub async fn page(&self, url: &str) -> Result<FetchedPage, InvalidUrl> {
        let origin = Origin::of_url(url)?;
        Target::parse(url)?;
        let answering = self.answering();
        let registry = answering.reading(answering.dialect(), None).registry();
        let crawler = registry.crawler(&self.inner.means.user_agent);
        let mut page = FetchedPage {
            url: url.to_owned(),
            asked: Vec::new(),
            crawler,
            answer: Err(NoPage::TooManyRedirects),
        };
        page.answer = match self.pause_of(&origin) {
            _ if self.inner.offline => Err(NoPage::Offline),
            Some(left) => Err(NoPage::TooSoon(left)),
            None => self.follow(origin.port(), &mut page).await,
        };
        Ok(page)
    }

    /// How much longer a site must get no request. If it may get one, its pause begins.
    fn pause_of(&self, origin: &Origin) -> Option<Duration> {
        let now = self.inner.clock.now();
        let ago = self.inner.paged.get(origin).and_then(|at| now.duration_since(at).ok());
        let left = ago.and_then(|ago| PAUSE.checked_sub(ago)).filter(|left| !left.is_zero());
        if left.is_none() {
            self.inner.paged.insert(origin.clone(), now);
        }
        left
    }

    /// Requests a page and follows its redirects.
    async fn follow(&self, named_port: u16, page: &mut FetchedPage) -> Result<Response, NoPage> {
        let party = Party::of(self.client);
        let means = &self.inner.means;
        let mut left = means.total;
        for _ in 0..=MOST_REDIRECTS {
            let elsewhere = || NoPage::Elsewhere(page.url.clone());
            let url = Url::parse(&page.url).map_err(|_| elsewhere())?;
            let origin = Origin::of_url(&page.url).map_err(|_| elsewhere())?;
            let is_named = [80, 443, named_port].contains(&origin.port());
            if !matches!(url.scheme(), "http" | "https") || !is_named {
                return Err(elsewhere());
            }
            self.may_fetch(&origin, page).await?;
            let wanted = Wanted { validators: None, accept: HTML, body_octets: MOST_OCTETS };
            let got = means.get(&page.url, named_port, wanted, (None, &party), &mut left).await;
            let said = match &got {
                Ok(response) => Said::Status(response.status),
                Err(error) => Said::Error(error.message().into()),
            };
            page.asked.push(Hop { url: page.url.as_str().into(), said }.report());
            let mut response = got.map_err(NoPage::Failed)?;
            // What is read behind the limit is there to see that the body goes on.
            response.body.truncate(MOST_OCTETS);
            let is_redirect = matches!(response.status, 301 | 302 | 303 | 307 | 308);
            let location = response.field("location").filter(|_| is_redirect);
            let Some(location) = location else { return Ok(response) };
            let next = url.join(location).map_err(|_| NoPage::Elsewhere(location.to_owned()))?;
            page.url = next.to_string();
        }
        Err(NoPage::TooManyRedirects)
    }

    /// Whether robots.txt of the site lets this crawler fetch the page.
    async fn may_fetch(&self, origin: &Origin, page: &FetchedPage) -> Result<(), NoPage> {
        let robots = self.robots(origin).await;
        let target = Target::parse(&page.url).map_err(|_| NoPage::Elsewhere(page.url.clone()))?;
        let decision = robots.decide(&page.crawler, &target);
        if decision.is_allowed() {
            return Ok(());
        }
        Err(match decision.rule() {
            Some(rule) => NoPage::Disallowed(Some(rule.line().number())),
            None if robots.robots_txt().is_some() => NoPage::Disallowed(None),
            None => NoPage::Unreachable(robots.file_report().sentence()),
        })
    }
}

impl NoPage {
    /// What it is, in a sentence. `agent` is the crawler that asked.
    pub fn sentence(&self, agent: &str) -> String {
        match self {
            Self::Disallowed(Some(line)) => {
                format!("The robots.txt of this site disallows this page for `{agent}` (line {line}).")
            }
            Self::Disallowed(None) => {
                format!("The robots.txt of this site disallows this page for `{agent}`.")
            }
            Self::Unreachable(why) => {
                format!(
                    "robots.txt of this site can't be reached, so nothing may be fetched there: {why}."
                )
            }
            Self::TooSoon(left) => {
                format!(
                    "A page of this site was requested a moment ago; retry in {} s.",
                    left.as_secs() + 1
                )
            }
            Self::TooManyRedirects => format!("The page redirects more than {MOST_REDIRECTS} times."),
            Self::Elsewhere(url) => {
                format!("The page redirects to a URL that is not fetched here: {}", url.escape_debug())
            }
            Self::Offline => "The service is offline, so no page is fetched.".to_owned(),
            Self::Failed(error) => format!("The page could not be fetched: {error}."),
        }
    }
}

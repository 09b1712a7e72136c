//! `/v1/lint`, `/v1/page`: what a given file or page says, without a fetch.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::SystemTime;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Request as HttpRequest, StatusCode};
use mayi::lint::{Options, Page, lint};
use mayi::page::{PageControls, PageOptions};
use mayi::report::{
    ErrorCode, HtmlInput, LintReport, PageInput, PageReport, RequestError, RobotsInput, time_of_rfc3339,
};
use mayi::{Crawler, ReadOptions, Spent, Stop};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::{Answered, App, Kind, Read, aside, json, kind_of, object, place_of};
use crate::gate::Place;
use crate::problem::Problem;

/// How many crawlers may be asked about at once.
pub(super) const MOST_AGENTS: usize = 100;

/// How many lints and sets of lints may be switched on or off: more than there are.
const MOST_LINTS: usize = 200;

/// How many header fields a page may have, as in a request to decide.
const MOST_FIELDS: usize = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LintBody<'a> {
    #[serde(borrow)]
    robots: RobotsInput<'a>,
    #[serde(borrow, default)]
    agents: Few<Cow<'a, str>, MOST_AGENTS>,
    #[serde(borrow, default)]
    select: Few<Cow<'a, str>, MOST_LINTS>,
    #[serde(borrow, default)]
    ignore: Few<Cow<'a, str>, MOST_LINTS>,
    #[serde(borrow, default, deserialize_with = "there")]
    page: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "there")]
    url: Option<Cow<'a, str>>,
}

/// A member that may be absent but not null.
pub(super) fn there<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

pub(crate) async fn lint_file(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Answered {
    answered(app, request, |app, octets, stop| {
        let body: LintBody<'_> = object(octets)?;
        let (octets, reading) = file(&body.robots, app.reading().with_stop(stop.clone()))?;
        let mut options = Options::default().with_reading(reading);
        if !body.agents.is_empty() {
            let agents = body.agents.iter().map(|token| crawler(token));
            options = options.with_agents(agents.collect::<Result<_, _>>()?);
        }
        options
            .choose(&body.select, &body.ignore)
            .map_err(|error| Problem::invalid(error.to_string()))?;
        let page = match body.page {
            Some(raw) => Some(object::<PageInput<'_>>(raw.get().as_bytes())?),
            None => None,
        };
        match (body.url, page) {
            (Some(url), page) => {
                mayi::Target::parse(&url).map_err(RequestError::from)?;
                options = options.with_page(page_of(url.into_owned(), page.as_ref(), app.page));
            }
            (None, Some(_)) => {
                return Err(Problem::invalid("`page` needs its `url`, because rules are about URLs"));
            }
            (None, None) => {}
        }
        let linted = lint(octets, &options);
        within_budget(app, stop, linted.spent())?;
        Ok(to_vec(&LintReport::of("robots.txt", &linted)))
    })
    .await
}

fn page_of(url: String, page: Option<&PageInput<'_>>, options: PageOptions) -> Page {
    let headers = page.map(|page| &*page.headers).unwrap_or_default();
    let fields: Vec<(String, String)> =
        headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let controls = controls(headers, page.and_then(|page| page.html.as_ref()), options);
    Page { url, controls, fields }
}

fn controls(
    headers: &[(Cow<'_, str>, Cow<'_, str>)],
    html: Option<&HtmlInput<'_>>,
    options: PageOptions,
) -> PageControls {
    let fields: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    HtmlInput::controls(html, &fields, options)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageBody<'a> {
    #[serde(borrow, default)]
    agent: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    headers: Few<(Cow<'a, str>, Cow<'a, str>), MOST_FIELDS>,
    #[serde(borrow, default)]
    html: Option<HtmlInput<'a>>,
    #[serde(default)]
    union: bool,
    #[serde(borrow, default)]
    now: Option<Cow<'a, str>>,
}

pub(crate) async fn read_page(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Answered {
    answered(app, request, |app, octets, _| {
        let body: PageBody<'_> = object(octets)?;
        let crawler = body.agent.as_deref().map_or_else(|| Ok(Crawler::unnamed()), crawler)?;
        let mut options = app.page;
        options.union |= body.union;
        options.now = Some(match &body.now {
            None => SystemTime::now(),
            Some(now) => time_of_rfc3339(now).ok_or_else(|| {
                Problem::invalid("`now` has to be a time of RFC 3339, such as `2026-11-15T13:00:00Z`")
            })?,
        });
        let controls = controls(&body.headers, body.html.as_ref(), options);
        Ok(to_vec(&PageReport::alone(&controls.for_crawler(&crawler))))
    })
    .await
}

/// Rejects a request that cost more than its limit: its answer would be incomplete.
pub(super) fn within_budget(app: &App, stop: &Stop, spent: Spent) -> Result<(), Problem> {
    match spent.ran_out {
        // It was told to stop, so nobody receives this answer.
        Some(_) if stop.is_stopped() => Err(Problem::internal()),
        Some(part) => {
            app.metrics.too_costly();
            Err(Problem::too_costly(part, app.config.limits.work))
        }
        None => Ok(()),
    }
}

/// Answers what a body asks, without delaying other requests. `work` gets the octets of the body, and gives the answer.
pub(super) async fn answered<W>(app: Arc<App>, request: HttpRequest<Body>, work: W) -> Answered
where
    W: FnOnce(&App, &[u8], &Stop) -> Result<Vec<u8>, Problem> + Send + 'static,
{
    let (place, read) = body_of(&app, request).await?;
    let (shared, octets) = (Arc::clone(&app), read.octets.len());
    let work = move |stop: &Stop| Ok(json(work(&shared, &read.octets, stop)?));
    aside(&app, &place, octets, work).await
}

async fn body_of(app: &App, request: HttpRequest<Body>) -> Result<(Place, Read), Problem> {
    let (parts, body) = request.into_parts();
    let place = place_of(&parts)?;
    if kind_of(&parts.headers)? == Kind::Lines {
        let detail = "only /v1/decide accepts NDJSON; send application/json";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Problem::new(status, "unsupported-media-type", detail));
    }
    let read = app.read(&place, &parts.headers, body).await?;
    Ok((place, read))
}

/// The octets of a file, and how they are read.
pub(super) fn file<'a>(
    robots: &'a RobotsInput<'_>,
    reading: ReadOptions,
) -> Result<(&'a [u8], ReadOptions), Problem> {
    match robots {
        RobotsInput::Text(text) => Ok((text.as_bytes(), reading)),
        RobotsInput::Octets { octets, charset } => {
            let reading = match charset {
                Some(charset) => reading.with_charset(charset),
                None => reading,
            };
            Ok((octets, reading))
        }
        _ => {
            let message = "`robots` has to be the file: its text, or {\"base64\": \"…\"}";
            Err(RequestError::new(ErrorCode::InvalidRobots, message).into())
        }
    }
}

/// A list that is refused as soon as it has too many items, before it takes memory.
pub(super) struct Few<T, const MOST: usize>(Vec<T>);

impl<T, const MOST: usize> Default for Few<T, MOST> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MOST: usize> std::ops::Deref for Few<T, MOST> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Few<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Items::<T, MOST>(PhantomData))
    }
}

struct Items<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Items<T, MOST> {
    type Value = Few<T, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MOST} items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut few = Vec::new();
        while let Some(item) = items.next_element()? {
            if few.len() == MOST {
                return Err(A::Error::custom(format_args!("a list here has at most {MOST} items")));
            }
            few.push(item);
        }
        Ok(Few(few))
    }
}

fn crawler(token: &str) -> Result<Crawler, Problem> {
    Crawler::new(token).map_err(no_token)
}

pub(super) fn no_token(error: mayi::InvalidProductToken) -> Problem {
    RequestError::new(ErrorCode::InvalidAgent, error).into()
}

pub(super) fn to_vec(report: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(report).expect("a report is JSON")
}

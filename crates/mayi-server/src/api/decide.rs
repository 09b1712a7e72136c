//! `/v1/decide`: one request, an array, lines, or a query → decisions.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::SystemTime;

use axum::body::Body;
use axum::extract::State;
use axum::http::Request as HttpRequest;
use axum::http::request::Parts;
use bytes::Bytes;
use mayi::Stop;
use mayi::access::Origin;
use mayi::report::{Answer, ErrorCode, Request, RequestError};
use mayi_fetch::Robots;

use super::{Answered, App, Kind, Read, aside, cached, fresh_for, json, kind_of, place_of};
use crate::batch::{self, Batch};
use crate::gate::Place;
use crate::metrics::Outcome;
use crate::prepared::{Answerer, Found, is_plain};
use crate::problem::Problem;
use crate::work::most_of;

/// Up to this size a body is read, and rules are evaluated, on the thread that serves sockets; larger ones
/// are work for other threads.
const LITTLE: usize = 16 << 10;

/// The router's entry for this path: no request uses it, but it lists the methods.
pub(crate) async fn routed(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Answered {
    let place = request.extensions().get::<Place>().cloned().ok_or_else(Problem::internal)?;
    post(&app, place, request).await
}

pub(crate) async fn post<B>(app: &Arc<App>, place: Place, request: HttpRequest<B>) -> Answered
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let (parts, body) = request.into_parts();
    if kind_of(&parts.headers)? == Kind::Lines {
        return Ok(batch::lines(Arc::clone(app), Body::new(body), place));
    }
    let read = app.read(&place, &parts.headers, body).await?;
    if read.octets.trim_ascii_start().first() == Some(&b'[') {
        let most = app.config.limits.array;
        // Cutting is quick: it counts for less than its octets.
        let cost = read.octets.len() / 16;
        let cut = app.pool.run(place.by(), cost, move |_| Batch::of_array(read, most));
        let batch = Box::pin(cut).await??;
        return Ok(batch::array(Arc::clone(app), batch, place));
    }
    let decided = one(app, &place, read).await;
    if decided.is_err() {
        app.metrics.decided(Outcome::Wrong);
    }
    Ok(json(decided?))
}

/// Decides about one request.
async fn one(app: &Arc<App>, place: &Place, read: Read) -> Result<Vec<u8>, Problem> {
    if read.octets.len() <= LITTLE {
        let request = request_of(&read.octets)?;
        if is_plain(&request)
            && let Some(entry) = Answerer::default().prepared(app, &request)
            && entry.file_octets() <= LITTLE
        {
            let mut out = Vec::with_capacity(1024);
            app.metrics.decided(entry.write(&request, &mut out)?);
            return Ok(out);
        }
    }
    // In a box, so that the answer above is not made in a future of its size, which is moved more than once.
    Box::pin(one_aside(app, place, Arc::new(read))).await
}

/// The same, if it is costly or needs a file first.
async fn one_aside(app: &Arc<App>, place: &Place, read: Arc<Read>) -> Result<Vec<u8>, Problem> {
    let mut landed = None;
    let mut octets = read.octets.len();
    loop {
        let (app_there, read, robots, place_there) =
            (Arc::clone(app), Arc::clone(&read), landed.take(), place.clone());
        let work = move |_: &Stop| {
            let mut out = Vec::with_capacity(1024);
            let most = most_of(octets);
            let mut answerer = Answerer::default();
            let solved =
                solve(&app_there, &mut answerer, &read.octets, robots.as_ref(), most, &mut out);
            drop(place_there);
            (solved, out)
        };
        let (solved, out) = app.pool.run(place.by(), octets, work).await?;
        match solved {
            Solved::Written(outcome) => {
                app.metrics.decided(outcome?);
                return Ok(out);
            }
            Solved::Needs(origin) => {
                let fetcher = app.fetcher.on_behalf_of(place.by().client);
                landed = Some(fetcher.robots(&origin).await);
            }
            Solved::Large(size) => octets = size,
        }
    }
}

/// Reads a request, and adds the current time if it needs one and has none.
pub(crate) fn request_of(json: &[u8]) -> Result<Request<'_>, RequestError> {
    let mut request = Request::from_json(json)?;
    request.complete_now(SystemTime::now);
    Ok(request)
}

/// The result of a request.
pub(crate) enum Solved {
    /// Its answer is written, or there is none.
    Written(Result<Outcome, Problem>),
    /// The file of its site is needed first.
    Needs(Origin),
    /// Its file has this many octets, which is too much work for this thread.
    Large(usize),
}

/// Appends the answer to one request, or nothing. This is work and never waits: `landed` is the file that was
/// fetched for it, if any.
pub(crate) fn solve(
    app: &App,
    answerer: &mut Answerer,
    json: &[u8],
    landed: Option<&Robots>,
    most: usize,
    out: &mut Vec<u8>,
) -> Solved {
    let mut solved = || {
        let request = request_of(json)?;
        if request.robots.is_some() {
            let outcome = written(app.fetcher.answering().answer(&request), out)?;
            return Ok(Solved::Written(Ok(outcome)));
        }
        if is_plain(&request) {
            return Ok(match answerer.find(app, &request, landed, most)? {
                Found::Entry(entry) => Solved::Written(Ok(entry.write(&request, out)?)),
                Found::Needs(origin) => Solved::Needs(origin),
                Found::Large(octets) => Solved::Large(octets),
            });
        }
        let origin = app.fetcher.origin_of(&request)?;
        let landed = landed.filter(|robots| *robots.origin() == origin).cloned();
        let Some(robots) = landed.or_else(|| app.fetcher.ready(&origin)) else {
            return Ok(Solved::Needs(origin));
        };
        let octets = robots.robots_txt().map_or(0, |file| file.text().len());
        if octets > most {
            return Ok(Solved::Large(octets));
        }
        Ok(Solved::Written(Ok(written(app.fetcher.decide_from(&request, &robots), out)?)))
    };
    solved().unwrap_or_else(|error: RequestError| Solved::Written(Err(error.into())))
}

/// Writes an answer. A panic in one answer must not affect the others.
fn written(
    answer: Result<Answer<'_>, RequestError>,
    out: &mut Vec<u8>,
) -> Result<Outcome, RequestError> {
    let answer = answer?;
    let start = out.len();
    let done = catch_unwind(AssertUnwindSafe(|| {
        let report = answer.report();
        serde_json::to_writer(&mut *out, &report).expect("writing to memory does not fail");
        if report.access.allowed { Outcome::Allowed } else { Outcome::Disallowed }
    }));
    done.map_err(|_| {
        out.truncate(start);
        RequestError::new(ErrorCode::Internal, "an internal error in mayi; please report it")
    })
}

pub(crate) async fn get(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Answered {
    let (parts, _) = request.into_parts();
    let place = place_of(&parts)?;
    let decided = asked(&app, &place, parts).await;
    if decided.is_err() {
        app.metrics.decided(Outcome::Wrong);
    }
    decided
}

async fn asked(app: &Arc<App>, place: &Place, parts: Parts) -> Answered {
    let request = from_query(parts.uri.query().unwrap_or_default())?;
    let origin = app.fetcher.origin_of(&request)?;
    let robots = app.fetcher.on_behalf_of(place.by().client).robots(&origin).await;
    let octets = robots.robots_txt().map_or(0, |file| file.text().len());
    let there = Arc::clone(app);
    aside(app, place, octets, move |_| {
        let answer = there.fetcher.decide_from(&request, &robots)?;
        let report = answer.report();
        let outcome = if report.access.allowed { Outcome::Allowed } else { Outcome::Disallowed };
        there.metrics.decided(outcome);
        let fresh = fresh_for(report.file.as_ref());
        let body = serde_json::to_vec(&report).expect("a report is JSON");
        Ok(cached(&parts.headers, body, "application/json", fresh))
    })
    .await
}

/// A request in the form of a query: `url=…&agent=…&purpose=…`.
fn from_query(query: &str) -> Result<Request<'static>, RequestError> {
    let wrong = |message: String| RequestError::new(ErrorCode::InvalidRequest, message);
    let mut url: Option<String> = None;
    let mut agent: Option<String> = None;
    let mut request = Request::new("", "");
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let value = value.into_owned();
        let is_new = match &*name {
            "url" => url.replace(value).is_none(),
            "agent" => agent.replace(value).is_none(),
            "user_agent" => request.user_agent.replace(Cow::Owned(value)).is_none(),
            "dialect" => request.dialect.replace(Cow::Owned(value)).is_none(),
            "purpose" => {
                request.purposes.push(Cow::Owned(value));
                true
            }
            "app" => {
                request.apps.push(Cow::Owned(value));
                true
            }
            "explain" | "registered_purposes_only" => {
                let is = match &*value {
                    "true" => true,
                    "false" => false,
                    _ => return Err(wrong(format!("`{name}` is `true` or `false`"))),
                };
                if name == "explain" {
                    request.explain = is;
                } else {
                    request.registered_purposes_only = is;
                }
                true
            }
            _ => {
                let name = name.escape_debug();
                return Err(wrong(format!(
                    "unknown parameter `{name}`; there are url, agent, user_agent, purpose, app, \
                     registered_purposes_only, dialect and explain"
                )));
            }
        };
        if !is_new {
            return Err(wrong(format!("`{name}` is given twice")));
        }
        if request.purposes.len().max(request.apps.len()) > Request::MOST_CLAIMS {
            return Err(wrong(format!("`{name}` is given more than {} times", Request::MOST_CLAIMS)));
        }
    }
    request.url = Cow::Owned(url.ok_or_else(|| wrong("`url` is missing".to_owned()))?);
    request.agent = Cow::Owned(agent.ok_or_else(|| wrong("`agent` is missing".to_owned()))?);
    Ok(request)
}

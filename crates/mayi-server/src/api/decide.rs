//! `/v1/decide`: one request, an array, lines, or a query → decisions.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request as HttpRequest, Uri};
use mayi::report::{Answer, ErrorCode, Request, RequestError, RobotsInput};

use super::{Answered, App, Kind, Read, aside, cached, fresh_for, json, kind_of};
use crate::batch::{self, Batch};
use crate::gate::Place;
use crate::metrics::Outcome;
use crate::prepared::Answerer;
use crate::problem::Problem;

/// A file up to this size is read at once; a larger one would hold up who else is waiting.
pub(crate) const SMALL_FILE: usize = 16 << 10;

pub(crate) async fn post(State(app): State<Arc<App>>, request: HttpRequest<Body>) -> Answered {
    let (parts, body) = request.into_parts();
    let place = parts.extensions.get::<Place>().cloned();
    if kind_of(&parts.headers)? == Kind::Lines {
        return Ok(batch::lines(app, body, place));
    }
    let read = app.read(&parts.headers, body).await?;
    if read.octets.trim_ascii_start().first() == Some(&b'[') {
        let batch = Batch::of_array(read, app.config.limits.array)?;
        return Ok(batch::array(app, batch, place));
    }
    let decided = one(&app, read).await;
    if decided.is_err() {
        app.metrics.decided(Outcome::Wrong);
    }
    Ok(json(decided?))
}

/// Decides about one request.
async fn one(app: &Arc<App>, read: Read) -> Result<Vec<u8>, Problem> {
    let mut out = Vec::with_capacity(1024);
    let is_small = {
        let request = Request::from_json(&read.octets)?;
        if file_octets(&request) <= SMALL_FILE {
            let outcome = answer_into(app, &mut app.answerer(), &request, &mut out).await?;
            app.metrics.decided(outcome);
            true
        } else {
            false
        }
    };
    if is_small {
        return Ok(out);
    }
    let app = Arc::clone(app);
    aside(move || {
        let request = Request::from_json(&read.octets)?;
        let outcome = written(app.fetcher.answering().answer(&request), &mut out)?;
        app.metrics.decided(outcome);
        Ok(out)
    })
    .await
}

/// How large the file is that a request carries.
pub(crate) fn file_octets(request: &Request<'_>) -> usize {
    match &request.robots {
        Some(RobotsInput::Text(text)) => text.len(),
        Some(RobotsInput::Octets { octets, .. }) => octets.len(),
        _ => 0,
    }
}

/// Writes the decision about a request behind what is there, or leaves that as it is.
pub(crate) async fn answer_into(
    app: &App,
    answerer: &mut Answerer<'_>,
    request: &Request<'_>,
    out: &mut Vec<u8>,
) -> Result<Outcome, RequestError> {
    if let Some(answered) = answerer.answer(request, out).await {
        return answered;
    }
    let answer = app.fetcher.decide(request).await;
    written(answer, out)
}

/// Writes an answer. A fault of ours in one must not cost the others theirs.
fn written(
    answer: Result<Answer<'_>, RequestError>,
    out: &mut Vec<u8>,
) -> Result<Outcome, RequestError> {
    let answer = answer?;
    let start = out.len();
    let done = catch_unwind(AssertUnwindSafe(|| {
        let report = answer.report();
        serde_json::to_writer(&mut *out, &report).expect("a report is JSON, and memory takes it");
        if report.access.allowed { Outcome::Allowed } else { Outcome::Disallowed }
    }));
    done.map_err(|_| {
        out.truncate(start);
        RequestError::new(ErrorCode::Internal, "a fault in mayi; please report it")
    })
}

pub(crate) async fn get(State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap) -> Answered {
    let decided = asked(&app, uri.query().unwrap_or_default(), &headers).await;
    if decided.is_err() {
        app.metrics.decided(Outcome::Wrong);
    }
    decided
}

async fn asked(app: &App, query: &str, headers: &HeaderMap) -> Answered {
    let request = from_query(query)?;
    let answer = app.fetcher.decide(&request).await?;
    let report = answer.report();
    let outcome = if report.access.allowed { Outcome::Allowed } else { Outcome::Disallowed };
    app.metrics.decided(outcome);
    let fresh = fresh_for(report.file.as_ref().and_then(|file| file.fresh_until));
    let body = serde_json::to_vec(&report).expect("a report is JSON");
    Ok(cached(headers, body, "application/json", fresh))
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
            "explain" => {
                request.explain = match &*value {
                    "true" => true,
                    "false" => false,
                    _ => return Err(wrong("`explain` is `true` or `false`".to_owned())),
                };
                true
            }
            _ => {
                let name = name.escape_debug();
                return Err(wrong(format!(
                    "unknown parameter `{name}`; there are url, agent, user_agent, purpose, app, \
                     dialect and explain"
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

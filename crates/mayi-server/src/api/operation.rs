//! Requests of operators: health, readiness, metrics and the interface description; and the page.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Response, Uri};

use super::{Answered, App, cached, json};
use crate::OPENAPI;
use crate::metrics::Levels;
use crate::page::{ASSETS, POLICY};
use crate::problem::Problem;
use crate::traces::Traces;

/// The process is running.
pub(crate) async fn health() -> Answered {
    Ok(json(r#"{"status":"alive"}"#))
}

/// The service is ready for requests.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Answered {
    if app.is_stopping() {
        return Err(Problem::overloaded("the service is shutting down"));
    }
    // Answers are right without the store, so the service is ready; but the operator should know.
    if app.fetcher.store_health().is_degraded() {
        return Ok(json(r#"{"status":"degraded"}"#));
    }
    Ok(json(r#"{"status":"ready"}"#))
}

pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Answered {
    let levels = Levels {
        body_octets: app.bodies.taken() as u64,
        work_waiting: app.pool.waiting() as u64,
        lines_dropped: crate::logging::dropped(),
        spans_dropped: app.traces.as_ref().map(Traces::dropped),
    };
    let mut response = json(app.metrics.text(&app.fetcher.stats(), &levels));
    let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, text);
    Ok(response)
}

pub(crate) async fn openapi(asked: HeaderMap) -> Answered {
    Ok(cached(&asked, OPENAPI.into(), "application/json", Duration::ZERO))
}

/// A file of the page. Browsers check for a newer one every time, because a new version may change it.
pub(crate) async fn asset(uri: Uri, asked: HeaderMap) -> Answered {
    let asset = ASSETS.iter().find(|asset| asset.path == uri.path()).ok_or_else(nothing)?;
    let mut response = cached(&asked, asset.octets.to_vec(), asset.content_type, Duration::ZERO);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}

/// An unknown path.
pub(crate) async fn fallback() -> Response<Body> {
    axum::response::IntoResponse::into_response(nothing())
}

fn nothing() -> Problem {
    Problem::not_found("there is no such path; /openapi.json lists all paths")
}

//! An accepted request → its answer. One file per operation.

pub(crate) mod decide;
pub(crate) mod edit;
pub(crate) mod operation;
pub(crate) mod owners;
pub(crate) mod page;
pub(crate) mod reading;
pub(crate) mod registry;
pub(crate) mod robots;

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use aws_lc_rs::digest::{SHA256, digest};
use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use mayi::page::PageOptions;
use mayi::report::{ErrorCode, FileReport, RequestError};
use mayi::{ReadOptions, Stop};
use mayi_fetch::Fetcher;
use serde::Deserialize;

use crate::bodies::{Bodies, Share};
use crate::config::Config;
use crate::gate::Place;
use crate::keys::to_hex;
use crate::metrics::Metrics;
use crate::prepared::PreparedAnswers;
use crate::problem::Problem;
use crate::traces::Traces;
use crate::work::Pool;

/// What every operation has.
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) fetcher: Fetcher,
    pub(crate) page: PageOptions,
    pub(crate) metrics: Metrics,
    pub(crate) traces: Option<Traces>,
    pub(crate) prepared: PreparedAnswers,
    pub(crate) bodies: Bodies,
    pub(crate) pool: Pool,
    stopping: AtomicBool,
}

/// An answer, or why there is none.
pub(crate) type Answered = Result<Response<Body>, Problem>;

/// A body, with its share of the memory for bodies.
pub(crate) struct Read {
    pub(crate) octets: Bytes,
    _share: Share,
}

impl App {
    pub(crate) fn new(config: Config, fetcher: Fetcher, traces: Option<Traces>) -> Self {
        let page = config.reading.page_options();
        let limits = &config.limits;
        let bodies = Bodies::new(limits.all_bodies_octets, limits.body_octets);
        // A request that is answered has a few pieces of work at most.
        let pool = Pool::new(limits.in_flight.saturating_add(limits.queue).saturating_mul(4));
        Self {
            config,
            fetcher,
            page,
            metrics: Metrics::default(),
            traces,
            prepared: PreparedAnswers::new(),
            bodies,
            pool,
            stopping: AtomicBool::new(false),
        }
    }

    /// How files are read by default.
    pub(crate) fn reading(&self) -> ReadOptions {
        let answering = self.fetcher.answering();
        let reading = answering.reading(answering.dialect(), None);
        let limits = reading.limits().with_work(self.config.limits.work);
        reading.with_limits(limits)
    }

    /// Says that no new work should be sent here.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Relaxed)
    }

    /// Reads a body as a whole.
    pub(crate) async fn read<B>(
        &self,
        place: &Place,
        headers: &HeaderMap,
        body: B,
    ) -> Result<Read, Problem>
    where
        B: hyper::body::Body<Data = Bytes>,
        B::Error: Into<axum::BoxError>,
    {
        let limit = self.config.limits.body_octets;
        // A body without a length may become as large as bodies may be.
        let length = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
        let length: usize = length.unwrap_or(limit);
        if length > limit {
            return Err(Problem::too_large(limit));
        }
        let share = self.bodies.share(place.by().client, length)?;
        match whole(Limited::new(body, limit), length).await {
            Ok(octets) => Ok(Read { octets, _share: share }),
            Err(error) if error.is::<LengthLimitError>() => Err(Problem::too_large(limit)),
            Err(_) => {
                let detail = "the body is incomplete";
                Err(Problem::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidJson.name(), detail))
            }
        }
    }
}

/// The octets of a body with this Content-Length. Most bodies arrive in one piece, which is not copied.
async fn whole<B: hyper::body::Body<Data = Bytes>>(body: B, length: usize) -> Result<Bytes, B::Error> {
    let mut body = pin!(body);
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame?.into_data() else { continue };
        if first.is_empty() && all.is_empty() {
            first = piece;
            continue;
        }
        if all.is_empty() {
            // Memory that is not written to is not used by the system.
            all.reserve(length);
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        all.extend_from_slice(&piece);
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

/// The media type of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Json,
    Lines,
}

/// The media type of a body; JSON by default. A form is not read as JSON: a page of another site can make a
/// browser send one without a preflight request.
pub(crate) fn kind_of(headers: &HeaderMap) -> Result<Kind, Problem> {
    let coding =
        headers.get(CONTENT_ENCODING).filter(|coding| !coding.is_empty() && *coding != "identity");
    if coding.is_some() {
        let detail = "the body is compressed; send it uncompressed";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-coding", detail));
    }
    let Some(said) = headers.get(CONTENT_TYPE) else { return Ok(Kind::Json) };
    let said = said.to_str().unwrap_or_default();
    let essence = said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match &*essence {
        "application/json" => Ok(Kind::Json),
        "application/x-ndjson" | "application/jsonl" | "application/ndjson" => Ok(Kind::Lines),
        _ => {
            let detail = format!(
                "`{}` is not supported: send application/json, or application/x-ndjson for many \
                 requests",
                said.escape_debug()
            );
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            Err(Problem::new(status, "unsupported-media-type", detail))
        }
    }
}

/// An object, from JSON. A list of its members is not accepted, although serde would accept it.
pub(crate) fn object<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, RequestError> {
    let is_object = json.trim_ascii_start().first() == Some(&b'{');
    let wrong = |error: serde_json::Error| {
        let code = match error.classify() {
            serde_json::error::Category::Data => ErrorCode::InvalidRequest,
            _ => ErrorCode::InvalidJson,
        };
        RequestError::new(code, error)
    };
    if is_object {
        return serde_json::from_slice(json).map_err(wrong);
    }
    serde_json::from_slice::<serde::de::IgnoredAny>(json).map_err(wrong)?;
    Err(RequestError::new(ErrorCode::InvalidRequest, "this is JSON, but not an object"))
}

/// The place of an accepted request.
pub(crate) fn place_of(parts: &Parts) -> Result<Place, Problem> {
    parts.extensions.get::<Place>().cloned().ok_or_else(Problem::internal)
}

/// Does work about this many octets without delaying other requests. It keeps the place of its request until it
/// is done, even if its client has gone.
pub(crate) async fn aside<T: Send + 'static>(
    app: &App,
    place: &Place,
    octets: usize,
    work: impl FnOnce(&Stop) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let (by, place) = (place.by(), place.clone());
    let work = move |stop: &Stop| {
        let done = work(stop);
        drop(place);
        done
    };
    app.pool.run(by, octets, work).await?
}

/// An answer that must not be cached.
pub(crate) fn json(body: impl Into<Body>) -> Response<Body> {
    typed(body, "application/json", HeaderValue::from_static("no-store"))
}

fn typed(
    body: impl Into<Body>,
    content_type: &'static str,
    cache_control: HeaderValue,
) -> Response<Body> {
    let mut response = Response::new(body.into());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, cache_control);
    response
}

/// An answer that may be cached for a while and revalidated by its tag.
pub(crate) fn cached(
    asked: &HeaderMap,
    body: Vec<u8>,
    content_type: &'static str,
    fresh: Duration,
) -> Response<Body> {
    let hash = digest(&SHA256, &body);
    let tag = format!("\"{}\"", to_hex(&hash.as_ref()[..12]));
    let control = match fresh.as_secs() {
        0 => HeaderValue::from_static("no-cache"),
        seconds => HeaderValue::try_from(format!("private, max-age={seconds}")).expect("ASCII"),
    };
    let is_known = is_known(asked, &tag);
    let body = if is_known { Body::empty() } else { Body::from(body) };
    let mut response = typed(body, content_type, control);
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response.headers_mut().remove(CONTENT_TYPE);
    }
    response.headers_mut().insert(ETAG, HeaderValue::try_from(tag).expect("hex digits"));
    response
}

/// Whether the client already has the version of this tag (RFC 9110 §13.1.2).
fn is_known(asked: &HeaderMap, tag: &str) -> bool {
    let fields = asked.get_all(IF_NONE_MATCH).iter().filter_map(|field| field.to_str().ok());
    let mut tags = fields.flat_map(|field| field.split(',')).map(str::trim);
    tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

/// How long an answer that uses a file may be cached: not longer than the file, and short enough that a change
/// of the configuration is seen.
pub(crate) fn fresh_for(file: Option<&FileReport>) -> Duration {
    let until = file.and_then(|file| file.fresh_until).map(SystemTime::from);
    let left = until.and_then(|until| until.duration_since(SystemTime::now()).ok());
    left.unwrap_or_default().min(Duration::from_mins(5))
}

//! What went wrong → problem details (RFC 9457), with the code that the same error has in a batch.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use mayi::report::{ErrorCode, RequestError};
use serde::Serialize;

/// A request that gets no answer, and why.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    code: &'static str,
    detail: String,
    retry_after: Option<u64>,
    /// The URL and the crawler of the request, if they could be read.
    about: Option<Box<RequestError>>,
}

#[derive(Serialize)]
struct Body9457<'p> {
    r#type: &'static str,
    title: &'static str,
    status: u16,
    detail: &'p str,
    #[serde(flatten)]
    in_place: InPlace<'p>,
}

/// The same error as in a batch, so that clients read one shape in both places.
#[derive(Serialize)]
struct InPlace<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'p str>,
    error: Coded<'p>,
}

#[derive(Serialize)]
struct Coded<'p> {
    code: &'static str,
    message: &'p str,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), retry_after: None, about: None }
    }

    /// A request that is not valid for its operation.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::InvalidRequest.name(), detail)
    }

    /// Something that is not there.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", detail)
    }

    /// The service is overloaded: try again in this many seconds.
    pub(crate) fn overloaded(detail: impl Into<String>) -> Self {
        let retry_after = Some(1);
        Self { retry_after, ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", detail) }
    }

    /// One client sends too many requests.
    pub(crate) fn too_often(retry_after: u64) -> Self {
        let detail = "this client sends too many requests; Retry-After says when to continue";
        let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "too-many-requests", detail);
        Self { retry_after: Some(retry_after), ..problem }
    }

    /// A body that is larger than the limit.
    pub(crate) fn too_large(limit: usize) -> Self {
        let detail = format!("the body is larger than {limit} octets");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail)
    }

    /// A request whose answer costs more than the limit.
    pub(crate) fn too_costly(part: &str, units: u64) -> Self {
        let detail = format!(
            "this costs more than {units} units of work (limits.work), which were used up at `{part}`; a shorter \
             or simpler file costs less"
        );
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "too-costly", detail)
    }

    /// An internal error.
    pub(crate) fn internal() -> Self {
        let detail = "an internal error in mayi; please report it";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal.name(), detail)
    }

    /// Writes the error in place of an answer in a batch.
    pub(crate) fn write_in_place(&self, out: &mut Vec<u8>) {
        serde_json::to_writer(out, &self.in_place()).expect("an error is JSON");
    }

    fn in_place(&self) -> InPlace<'_> {
        let about = self.about.as_deref();
        InPlace {
            url: about.and_then(RequestError::url),
            agent: about.and_then(RequestError::agent),
            error: Coded { code: self.code, message: &self.detail },
        }
    }
}

impl From<RequestError> for Problem {
    fn from(error: RequestError) -> Self {
        let status = match error.code() {
            ErrorCode::InvalidJson => StatusCode::BAD_REQUEST,
            ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        let problem = Self::new(status, error.code().name(), error.to_string());
        Self { about: Some(Box::new(error)), ..problem }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        let body = Body9457 {
            r#type: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            detail: &self.detail,
            in_place: self.in_place(),
        };
        let body = serde_json::to_vec(&body).expect("a problem is JSON");
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

//! Spans → the JSON form of OTLP: <https://opentelemetry.io/docs/specs/otlp/#otlphttp>.
//!
//! It is written here because it is small. ARCHITECTURE.md has what the field's own crates would cost.

use std::borrow::Cow;

use axum::http::Method;
use serde::Serialize;

use super::{Finished, What};

/// Paths that appear in names of spans.
const OPERATIONS: [&str; 8] = [
    "/v1/decide",
    "/v1/lint",
    "/v1/page",
    "/v1/compare",
    "/v1/robots",
    "/v1/dialects",
    "/metrics",
    "/openapi.json",
];

/// What a collector is sent for some spans of a service.
pub(super) fn export(service_name: &str, spans: &[Finished]) -> Vec<u8> {
    let text =
        |key, value: &str| Attribute { key, value: AttributeValue::Text(value.to_owned().into()) };
    let version = env!("CARGO_PKG_VERSION");
    let attributes = [text("service.name", service_name), text("service.version", version)];
    let scope = Scope { name: "mayi-server", version };
    let spans = spans.iter().map(Finished::otlp).collect();
    let scope_spans = [ScopeSpans { scope, spans }];
    let resource_spans = [ResourceSpans { resource: Resource { attributes }, scope_spans }];
    // Texts and numbers can always be written.
    serde_json::to_vec(&Export { resource_spans }).unwrap_or_default()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Export<'s> {
    resource_spans: [ResourceSpans<'s>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'s> {
    resource: Resource<'s>,
    scope_spans: [ScopeSpans<'s>; 1],
}

#[derive(Serialize)]
struct Resource<'s> {
    attributes: [Attribute<'s>; 2],
}

#[derive(Serialize)]
struct ScopeSpans<'s> {
    scope: Scope,
    spans: Vec<OtlpSpan<'s>>,
}

#[derive(Serialize)]
struct Scope {
    name: &'static str,
    version: &'static str,
}

/// A span in the JSON form of OTLP: ids in hex digits, whole numbers of 64 bits as texts. Attributes have the names of
/// the semantic conventions for HTTP servers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OtlpSpan<'s> {
    trace_id: &'s str,
    span_id: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<&'s str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    trace_state: &'s str,
    name: Cow<'s, str>,
    kind: u8,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: Vec<Attribute<'s>>,
    status: Status<'s>,
}

#[derive(Serialize)]
struct Attribute<'s> {
    key: &'static str,
    value: AttributeValue<'s>,
}

#[derive(Serialize)]
enum AttributeValue<'s> {
    #[serde(rename = "stringValue")]
    Text(Cow<'s, str>),
    #[serde(rename = "intValue")]
    Number(String),
}

#[derive(Default, Serialize)]
struct Status<'s> {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'s str>,
}

impl Finished {
    fn otlp(&self) -> OtlpSpan<'_> {
        /// `SPAN_KIND_SERVER`, `SPAN_KIND_CLIENT` and `STATUS_CODE_ERROR`.
        const SERVER: u8 = 2;
        const CLIENT: u8 = 3;
        const ERROR: Option<u8> = Some(2);
        let text = |key, value| Attribute { key, value: AttributeValue::Text(value) };
        let (name, kind, attributes, status) = match &self.what {
            What::Request { id, peer, method, path, status } => {
                let mut attributes = vec![
                    text("http.request.method", method.as_str().into()),
                    text("url.path", path.into()),
                    text("client.address", peer.to_string().into()),
                    text("mayi.request_id", id.into()),
                ];
                // A client that has gone before its answer got none.
                if *status > 0 {
                    let value = AttributeValue::Number(status.to_string());
                    attributes.push(Attribute { key: "http.response.status_code", value });
                }
                // That a client was wrong is not an error of the server.
                let code = ERROR.filter(|_| *status >= 500);
                (name_of(method, path), SERVER, attributes, Status { code, message: None })
            }
            What::Part { name, origin, failure } => {
                let origin = origin.as_deref().map(|origin| text("mayi.origin", origin.into()));
                let message = failure.as_deref();
                let status = Status { code: ERROR.filter(|_| message.is_some()), message };
                (Cow::Borrowed(*name), CLIENT, origin.into_iter().collect(), status)
            }
        };
        OtlpSpan {
            trace_id: &self.trace,
            span_id: &self.id,
            parent_span_id: self.parent.as_deref(),
            trace_state: &self.state,
            name,
            kind,
            start_time_unix_nano: self.start.as_nanos().to_string(),
            end_time_unix_nano: self.end.as_nanos().to_string(),
            attributes,
            status,
        }
    }
}

/// A name from a small set: names that clients make up would have no limit.
fn name_of<'s>(method: &Method, path: &str) -> Cow<'s, str> {
    let method = match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        // As the semantic conventions say.
        _ => "HTTP",
    };
    let is_ours = crate::page::is_asset(path) || OPERATIONS.contains(&path);
    if is_ours {
        format!("{method} {path}").into()
    } else if path.starts_with("/v1/registry/") {
        format!("{method} /v1/registry/{{which}}").into()
    } else {
        method.into()
    }
}

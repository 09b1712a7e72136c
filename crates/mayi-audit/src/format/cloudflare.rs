//! JSON lines of Cloudflare Logpush (the dataset of HTTP requests) → hits.

use std::borrow::Cow;

use serde::Deserialize;

use super::{Unreadable, json};
use crate::hit::Hit;
use crate::time;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Line {
    #[serde(rename = "ClientIP", default)]
    client_ip: Option<String>,
    #[serde(default)]
    client_request_host: Option<String>,
    #[serde(rename = "ClientRequestURI", default)]
    client_request_uri: Option<String>,
    #[serde(default)]
    client_request_path: Option<String>,
    #[serde(default)]
    client_request_user_agent: Option<String>,
    #[serde(default)]
    edge_response_status: Option<u16>,
    /// A text of RFC 3339, seconds or nanoseconds.
    #[serde(default)]
    edge_start_timestamp: Option<serde_json::Value>,
}

pub(super) fn read(line: &[u8]) -> Result<Hit<'static>, Unreadable> {
    let line: Line = json(line)?;
    let target = line.client_request_uri.or(line.client_request_path).ok_or(Unreadable::Json)?;
    let moment = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => time::any(text.as_bytes()),
        value => time::epoch(value.to_string().as_bytes()),
    };
    let time = line.edge_start_timestamp.as_ref();
    let time = time.map(|value| moment(value).ok_or(Unreadable::Date)).transpose()?;
    let octets = |text: Option<String>| Cow::Owned(text.unwrap_or_default().into_bytes());
    Ok(Hit {
        time,
        address: octets(line.client_ip),
        target: Cow::Owned(target.into_bytes()),
        status: line.edge_response_status,
        host: line.client_request_host.map(|host| Cow::Owned(host.into_bytes())),
        user_agent: octets(line.client_request_user_agent),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cloudflare() {
        for time in ["\"2000-10-10T20:55:36Z\"", "971211336", "971211336000000000"] {
            let line = format!(
                r#"{{"ClientIP":"192.0.2.1","ClientRequestHost":"example.com","ClientRequestURI":"/a","ClientRequestUserAgent":"GPTBot/1","EdgeStartTimestamp":{time},"EdgeResponseStatus":200,"RayID":"x"}}"#
            );
            let hit = read(line.as_bytes()).expect("a line");
            assert_eq!(
                (hit.time, &*hit.target, hit.status),
                (Some(971_211_336), &b"/a"[..], Some(200))
            );
        }
        assert_eq!(read(br#"{"ClientIP":"192.0.2.1"}"#), Err(Unreadable::Json));
    }
}

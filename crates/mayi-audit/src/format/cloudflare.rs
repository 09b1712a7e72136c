//! JSON lines of Cloudflare Logpush (the dataset of HTTP requests) → hits.

use serde::Deserialize;

use super::Unreadable;
use super::json::{Scalar, members};
use crate::hit::Hit;

/// The customer chooses the fields. Numbers may be written as text, and times are a text of
/// RFC 3339, seconds or nanoseconds.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
struct Line<'l> {
    #[serde(borrow, rename = "ClientIP")]
    client_ip: Scalar<'l>,
    #[serde(borrow)]
    client_request_host: Scalar<'l>,
    #[serde(borrow, rename = "ClientRequestURI")]
    client_request_uri: Scalar<'l>,
    #[serde(borrow)]
    client_request_path: Scalar<'l>,
    #[serde(borrow)]
    client_request_user_agent: Scalar<'l>,
    #[serde(borrow)]
    edge_response_status: Scalar<'l>,
    #[serde(borrow)]
    edge_start_timestamp: Scalar<'l>,
    #[serde(borrow)]
    edge_end_timestamp: Scalar<'l>,
}

pub(super) fn read(line: &[u8]) -> Result<Hit<'_>, Unreadable> {
    let line: Line<'_> = members(line)?;
    let target = line.client_request_uri.octets().or_else(|| line.client_request_path.octets());
    let time = match line.edge_start_timestamp.time()? {
        Some(time) => Some(time),
        None => line.edge_end_timestamp.time()?,
    };
    Ok(Hit {
        time,
        address: line.client_ip.octets().unwrap_or_default(),
        target: target.ok_or(Unreadable::Json)?,
        status: line.edge_response_status.status(),
        host: line.client_request_host.octets(),
        user_agent: line.client_request_user_agent.octets().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cloudflare() {
        for time in
            ["\"2000-10-10T20:55:36Z\"", "971211336", "971211336000000000", "\"971211336000000000\""]
        {
            let line = format!(
                r#"{{"ClientIP":"192.0.2.1","ClientRequestHost":"example.com","ClientRequestURI":"/a","ClientRequestUserAgent":"GPTBot/1","EdgeStartTimestamp":{time},"EdgeResponseStatus":200,"RayID":"x"}}"#
            );
            let hit = read(line.as_bytes()).expect("a line");
            assert_eq!(
                (hit.time, &*hit.target, hit.status),
                (Some(971_211_336), &b"/a"[..], Some(200))
            );
        }
        let line = br#"{"ClientRequestPath":"/a","EdgeEndTimestamp":971211336,"EdgeResponseStatus":"404","ClientIP":"2001:db8::1"}"#;
        let hit = read(line).expect("a line");
        assert_eq!((hit.time, hit.status), (Some(971_211_336), Some(404)));
        assert_eq!(read(br#"{"ClientIP":"192.0.2.1"}"#), Err(Unreadable::Json));
    }
}

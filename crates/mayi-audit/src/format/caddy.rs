//! JSON lines of Caddy → hits.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::Unreadable;
use super::json::{Scalar, members};
use crate::hit::Hit;

#[derive(Deserialize)]
struct Line<'l> {
    #[serde(borrow, default)]
    ts: Scalar<'l>,
    #[serde(borrow)]
    request: Request<'l>,
    #[serde(borrow, default)]
    status: Scalar<'l>,
}

#[derive(Deserialize)]
struct Request<'l> {
    #[serde(borrow, default)]
    client_ip: Scalar<'l>,
    #[serde(borrow, default)]
    remote_ip: Scalar<'l>,
    /// With its port, in old versions.
    #[serde(borrow, default)]
    remote_addr: Scalar<'l>,
    #[serde(borrow, default)]
    host: Scalar<'l>,
    #[serde(borrow)]
    uri: Scalar<'l>,
    #[serde(borrow, default)]
    headers: Headers<'l>,
}

/// Of the headers, the one that is of interest.
#[derive(Default)]
struct Headers<'l> {
    user_agent: Scalar<'l>,
}

pub(super) fn read(line: &[u8]) -> Result<Hit<'_>, Unreadable> {
    let line: Line<'_> = members(line)?;
    let request = line.request;
    let address = request.client_ip.octets().or_else(|| request.remote_ip.octets());
    Ok(Hit {
        time: line.ts.time()?,
        address: address.or_else(|| request.remote_addr.octets()).unwrap_or_default(),
        target: request.uri.octets().ok_or(Unreadable::Json)?,
        status: line.status.status(),
        host: request.host.octets(),
        user_agent: request.headers.user_agent.octets().unwrap_or_default(),
    })
}

impl<'de: 'l, 'l> Deserialize<'de> for Headers<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HeadersOf)
    }
}

struct HeadersOf;

impl<'de> Visitor<'de> for HeadersOf {
    type Value = Headers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut headers = Headers::default();
        while let Some(name) = members.next_key::<Scalar<'de>>()? {
            match name {
                Scalar::Text(name) if name.eq_ignore_ascii_case("user-agent") => {
                    headers.user_agent = members.next_value()?;
                }
                _ => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(headers)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Headers::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_caddy() {
        let line = br#"{"level":"info","ts":971211336.5,"logger":"http.log.access","request":{"remote_ip":"192.0.2.1","remote_port":"4","proto":"HTTP/2.0","method":"GET","host":"example.com","uri":"/a?b","headers":{"Accept":["*/*"],"user-agent":["GPTBot/1"]}},"status":404}"#;
        let hit = read(line).expect("a line");
        assert_eq!((hit.time, &*hit.address), (Some(971_211_336), &b"192.0.2.1"[..]));
        assert_eq!(
            (&*hit.target, &*hit.user_agent, hit.status),
            (&b"/a?b"[..], &b"GPTBot/1"[..], Some(404))
        );
        assert_eq!(read(b"{}"), Err(Unreadable::Json));
        assert_eq!(read(br#"{"ts":"x","request":{"uri":"/"}}"#), Err(Unreadable::Date));
        assert_eq!(read(br#"{"msg":"server running","request":"none"}"#), Err(Unreadable::Json));
    }

    /// The forms of time that its configuration has names for.
    #[test]
    fn times_of_caddy() {
        for time in [
            "971211336.123",
            "971211336123.5",
            "971211336123456789",
            "\"2000-10-10T20:55:36.123Z\"",
            "\"2000/10/10 20:55:36.123\"",
            "\"2000/10/10 20:55:36\"",
            "\"10/Oct/2000:20:55:36 +0000\"",
            "\"2000-10-10T20:55:36.123+0000\"",
        ] {
            let line = format!(r#"{{"ts":{time},"request":{{"uri":"/","headers":null}}}}"#);
            assert_eq!(read(line.as_bytes()).map(|hit| hit.time), Ok(Some(971_211_336)), "{time}");
        }
    }
}

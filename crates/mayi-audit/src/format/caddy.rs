//! JSON lines of Caddy → hits.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;

use super::{Unreadable, json};
use crate::hit::Hit;
use crate::time;

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    ts: Option<serde_json::Value>,
    request: Request,
    #[serde(default)]
    status: Option<u16>,
}

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    client_ip: Option<String>,
    #[serde(default)]
    remote_ip: Option<String>,
    /// With its port, in old versions.
    #[serde(default)]
    remote_addr: Option<String>,
    #[serde(default)]
    host: Option<String>,
    uri: String,
    #[serde(default)]
    headers: HashMap<String, Vec<String>>,
}

pub(super) fn read(line: &[u8]) -> Result<Hit<'static>, Unreadable> {
    let line: Line = json(line)?;
    let request = line.request;
    let moment = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => time::any(text.as_bytes()),
        value => time::epoch(value.to_string().as_bytes()),
    };
    let time = line.ts.as_ref().map(|value| moment(value).ok_or(Unreadable::Date)).transpose()?;
    let without_port =
        |address: String| address.rsplit_once(':').map_or(address.clone(), |(host, _)| host.to_owned());
    let address = request.client_ip.or(request.remote_ip).or(request.remote_addr.map(without_port));
    let agent = request.headers.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("user-agent"));
    let agent = agent.and_then(|(_, values)| values.into_iter().next()).unwrap_or_default();
    Ok(Hit {
        time,
        address: Cow::Owned(address.unwrap_or_default().into_bytes()),
        target: Cow::Owned(request.uri.into_bytes()),
        status: line.status,
        host: request.host.map(|host| Cow::Owned(host.into_bytes())),
        user_agent: Cow::Owned(agent.into_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_caddy() {
        let line = br#"{"level":"info","ts":971211336.5,"logger":"http.log.access","request":{"remote_ip":"192.0.2.1","remote_port":"4","proto":"HTTP/2.0","method":"GET","host":"example.com","uri":"/a?b","headers":{"user-agent":["GPTBot/1"]}},"status":404}"#;
        let hit = read(line).expect("a line");
        assert_eq!((hit.time, &*hit.address), (Some(971_211_336), &b"192.0.2.1"[..]));
        assert_eq!(
            (&*hit.target, &*hit.user_agent, hit.status),
            (&b"/a?b"[..], &b"GPTBot/1"[..], Some(404))
        );
        assert_eq!(read(b"{}"), Err(Unreadable::Json));
        assert_eq!(read(br#"{"ts":"x","request":{"uri":"/"}}"#), Err(Unreadable::Date));
    }
}

//! JSON lines that nginx was told to write → hits. Their names are free: read are those of nginx's
//! variables and a few that are in common use.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Unreadable, json, status};
use crate::hit::{Hit, present};
use crate::time;

const TIMES: &[&str] = &["time_local", "time_iso8601", "msec", "time", "timestamp", "@timestamp", "ts"];
const ADDRESSES: &[&str] = &["remote_addr", "client_ip", "clientip", "client", "ip", "remote_ip"];
const TARGETS: &[&str] = &["request_uri", "uri", "path", "url"];
const HOSTS: &[&str] = &["host", "http_host", "server_name", "vhost"];
const USER_AGENTS: &[&str] = &["http_user_agent", "user_agent", "agent", "useragent"];
const STATUSES: &[&str] = &["status", "response", "status_code"];

pub(super) fn read(line: &[u8]) -> Result<Hit<'static>, Unreadable> {
    let members: Map<String, Value> = json(line)?;
    let member = |names: &[&str]| names.iter().find_map(|name| text(members.get(*name)?));
    let mut hit = Hit::default();
    match (member(&["request"]), member(TARGETS)) {
        (Some(request), _) => {
            let mut parsed = Hit::default();
            parsed.set_request(request.as_bytes());
            hit.target = Cow::Owned(parsed.target.into_owned());
        }
        (None, Some(target)) => hit.target = Cow::Owned(target.into_bytes()),
        (None, None) => return Err(Unreadable::Json),
    }
    if let Some(query) =
        member(&["args", "query_string"]).filter(|query| present(query.as_bytes()).is_some())
        && !hit.target.contains(&b'?')
    {
        hit.target.to_mut().push(b'?');
        hit.target.to_mut().extend_from_slice(query.as_bytes());
    }
    if let Some(text) = member(TIMES) {
        hit.time = Some(time::any(text.as_bytes()).ok_or(Unreadable::Date)?);
    }
    let octets = |names: &[&str]| {
        let text = member(names).filter(|text| present(text.as_bytes()).is_some());
        text.map(|text| Cow::Owned(text.into_bytes()))
    };
    hit.address = octets(ADDRESSES).unwrap_or_default();
    hit.host = octets(HOSTS);
    hit.user_agent = octets(USER_AGENTS).unwrap_or_default();
    hit.status = octets(STATUSES).and_then(|text| status(&text));
    Ok(hit)
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_nginx() {
        let line = br#"{"time_iso8601":"2000-10-10T20:55:36+00:00","remote_addr":"192.0.2.1","request":"GET /a\x22b HTTP/1.1","status":200,"http_user_agent":"GPTBot/1","host":"example.com"}"#;
        let hit = read(line).expect("a line");
        assert_eq!((hit.time, &*hit.target, hit.status), (Some(971_211_336), &b"/a\"b"[..], Some(200)));
        let line = br#"{"ts":"971211336.2","uri":"/a","args":"b=c","status":"404","agent":"-"}"#;
        let hit = read(line).expect("a line");
        assert_eq!((&*hit.target, &*hit.user_agent, hit.status), (&b"/a?b=c"[..], &b""[..], Some(404)));
        assert_eq!(read(b"[]"), Err(Unreadable::Json));
        assert_eq!(read(b"{\"a\":1}"), Err(Unreadable::Json));
    }
}

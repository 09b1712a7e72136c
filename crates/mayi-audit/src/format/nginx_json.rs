//! JSON lines that nginx was told to write → hits. The names of members are free. Those of nginx's variables
//! and a few common ones are read, in upper or lower case and with any separators.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::Unreadable;
use super::json::{Scalar, members};
use crate::hit::Hit;

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Request,
    Target,
    Query,
    Time,
    Address,
    Forwarded,
    Host,
    UserAgent,
    Status,
}

/// How many slots there are.
const SLOTS: usize = 9;

/// The names of members, in small letters and without separators. Of several that a line has for the same,
/// the first in this list counts.
const NAMES: &[(&str, Slot)] = &[
    ("request", Slot::Request),
    ("requesturi", Slot::Target),
    ("uri", Slot::Target),
    ("requestpath", Slot::Target),
    ("path", Slot::Target),
    ("url", Slot::Target),
    ("args", Slot::Query),
    ("querystring", Slot::Query),
    ("timelocal", Slot::Time),
    ("timeiso8601", Slot::Time),
    ("msec", Slot::Time),
    ("time", Slot::Time),
    ("timestamp", Slot::Time),
    ("ts", Slot::Time),
    ("date", Slot::Time),
    ("datetime", Slot::Time),
    ("remoteaddr", Slot::Address),
    ("remoteip", Slot::Address),
    ("clientip", Slot::Address),
    ("client", Slot::Address),
    ("remotehost", Slot::Address),
    ("ip", Slot::Address),
    ("httpxforwardedfor", Slot::Forwarded),
    ("xforwardedfor", Slot::Forwarded),
    ("host", Slot::Host),
    ("httphost", Slot::Host),
    ("servername", Slot::Host),
    ("vhost", Slot::Host),
    ("httpuseragent", Slot::UserAgent),
    ("useragent", Slot::UserAgent),
    ("agent", Slot::UserAgent),
    ("status", Slot::Status),
    ("statuscode", Slot::Status),
    ("response", Slot::Status),
];

pub(super) fn read(line: &[u8]) -> Result<Hit<'_>, Unreadable> {
    let Members(mut found) = members(line)?;
    let mut take = |slot: Slot| std::mem::take(&mut found[slot as usize].1);
    let mut hit = Hit::default();
    match (take(Slot::Request).octets(), take(Slot::Target).octets()) {
        (Some(Cow::Borrowed(request)), _) => hit.set_request(request),
        (Some(Cow::Owned(request)), _) => {
            let mut parsed = Hit::default();
            parsed.set_request(&request);
            hit.target = Cow::Owned(parsed.target.into_owned());
        }
        (None, Some(target)) => hit.target = target,
        (None, None) => return Err(Unreadable::Json),
    }
    if let Some(query) = take(Slot::Query).octets()
        && !hit.target.contains(&b'?')
    {
        hit.target.to_mut().push(b'?');
        hit.target.to_mut().extend_from_slice(&query);
    }
    hit.time = take(Slot::Time).time()?;
    let address = take(Slot::Address).octets();
    hit.address = address.or_else(|| take(Slot::Forwarded).octets()).unwrap_or_default();
    hit.host = take(Slot::Host).octets();
    hit.user_agent = take(Slot::UserAgent).octets().unwrap_or_default();
    hit.status = take(Slot::Status).status();
    Ok(hit)
}

/// What was found for each slot, and the place of its name in [`NAMES`].
struct Members<'l>([(usize, Scalar<'l>); SLOTS]);

impl<'de: 'l, 'l> Deserialize<'de> for Members<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersOf)
    }
}

struct MembersOf;

impl<'de> Visitor<'de> for MembersOf {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut found: [(usize, Scalar<'de>); SLOTS] = Default::default();
        while let Some((name, value)) = members.next_entry::<Scalar<'de>, Scalar<'de>>()? {
            let Scalar::Text(name) = name else { continue };
            let Some(place) = NAMES.iter().position(|(known, _)| is_same(&name, known)) else {
                continue;
            };
            let (before, kept) = &mut found[NAMES[place].1 as usize];
            if *kept == Scalar::Nothing || place < *before {
                (*before, *kept) = (place, value);
            }
        }
        Ok(Members(found))
    }
}

/// Whether a name is a known one, apart from the case of its letters and its separators.
fn is_same(name: &str, known: &str) -> bool {
    let plain = name.bytes().filter(u8::is_ascii_alphanumeric);
    plain.map(|octet| octet.to_ascii_lowercase()).eq(known.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_nginx() {
        let line = br#"{"time_iso8601":"2000-10-10T20:55:36+00:00","remote_addr":"192.0.2.1","request":"GET /a HTTP/1.1","status":200,"http_user_agent":"GPTBot/1","host":"example.com","request_time":0.003}"#;
        let hit = read(line).expect("a line");
        assert_eq!((hit.time, &*hit.target, hit.status), (Some(971_211_336), &b"/a"[..], Some(200)));
        assert!(matches!(hit.user_agent, Cow::Borrowed(b"GPTBot/1")), "nothing is copied");
        let line = br#"{"ts":"971211336.2","uri":"/a","args":"b=c","status":"404","agent":"-"}"#;
        let hit = read(line).expect("a line");
        assert_eq!((&*hit.target, &*hit.user_agent, hit.status), (&b"/a?b=c"[..], &b""[..], Some(404)));
        assert_eq!(read(b"[]"), Err(Unreadable::Json));
        assert_eq!(read(b"{\"a\":1}"), Err(Unreadable::Json));
    }

    #[test]
    fn names_as_people_write_them() {
        let line = br#"{"@timestamp":971211336,"remoteAddr":"-","X-Forwarded-For":"192.0.2.1, 10.0.0.1","Request":"GET \"/a\" HTTP/1.1","User-Agent":"curl/8","uri":"/b","Status":null}"#;
        let hit = read(line).expect("a line");
        assert_eq!((hit.time, &*hit.target, hit.status), (Some(971_211_336), &b"\"/a\""[..], None));
        assert_eq!((&*hit.address, &*hit.user_agent), (&b"192.0.2.1, 10.0.0.1"[..], &b"curl/8"[..]));
        // Whatever the order of members, the same one counts.
        for line in [r#"{"uri":"/a","request_uri":"/b"}"#, r#"{"request_uri":"/b","uri":"/a"}"#] {
            assert_eq!(&*read(line.as_bytes()).expect("a line").target, b"/b");
        }
    }
}

//! Access logs of an Application Load Balancer of Amazon → hits: fields with a space between them, those
//! with spaces in them in quotes. The request has the whole URL.

use std::borrow::Cow;

use super::{Unreadable, status};
use crate::hit::{Hit, present};
use crate::octets::unescaped;
use crate::time;

/// The places of fields, counted from 0.
const TIME: usize = 1;
const CLIENT: usize = 3;
const STATUS: usize = 8;
const REQUEST: usize = 12;
const USER_AGENT: usize = 13;

pub(super) fn read(line: &[u8]) -> Result<Hit<'_>, Unreadable> {
    let mut hit = Hit::default();
    let mut rest = line;
    for place in 0..=USER_AGENT {
        let (value, behind) = field(rest).ok_or(Unreadable::Fields)?;
        rest = behind;
        match place {
            TIME => hit.time = Some(time::rfc3339(value).ok_or(Unreadable::Date)?),
            CLIENT => {
                // The port is after the last colon. Lines of other load balancers have something else here.
                let end = memchr::memrchr(b':', value).unwrap_or(value.len());
                if end == value.len() && present(value).is_some() {
                    return Err(Unreadable::Fields);
                }
                let address = &value[..end];
                let bare = address.strip_prefix(b"[").and_then(|inner| inner.strip_suffix(b"]"));
                hit.address = Cow::Borrowed(bare.unwrap_or(address));
            }
            STATUS => hit.status = status(value),
            REQUEST => {
                hit.set_request(value);
                if let Cow::Borrowed(target) = hit.target {
                    hit.target = unescaped(target);
                }
            }
            USER_AGENT => hit.user_agent = unescaped(present(value).unwrap_or_default()),
            _ => {}
        }
    }
    Ok(hit)
}

/// The first field of a line, and the rest after it.
fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    if line.is_empty() {
        return None;
    }
    let Some(quoted) = line.strip_prefix(b"\"") else {
        let end = memchr::memchr(b' ', line).unwrap_or(line.len());
        return Some((&line[..end], line.get(end + 1..).unwrap_or_default()));
    };
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', quoted.get(from..)?)?;
        if quoted[at] == b'"' {
            return Some((&quoted[..at], quoted.get(at + 2..).unwrap_or_default()));
        }
        from = at + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_load_balancer() {
        let line = br#"h2 2000-10-10T20:55:36.5Z app/x/1 [2001:db8::1]:2817 10.0.0.1:80 0.1 0.1 0.0 301 301 34 366 "GET https://example.com:443/a?b HTTP/2.0" "a \"b\" GPTBot/1" - -"#;
        let mut hit = read(line).expect("a line");
        hit.split_absolute();
        assert_eq!((hit.time, &*hit.address), (Some(971_211_336), &b"2001:db8::1"[..]));
        assert_eq!((&*hit.target, hit.host.as_deref()), (&b"/a?b"[..], Some(&b"example.com:443"[..])));
        assert_eq!((hit.status, &*hit.user_agent), (Some(301), &b"a \"b\" GPTBot/1"[..]));
        // What was no HTTP has no request, and may have no client.
        let line = br#"http 2000-10-10T20:55:36.5Z app/x/1 - - -1 -1 -1 400 - 0 272 "- http://example.com:80- -" "-" - -"#;
        let mut hit = read(line).expect("a line");
        hit.split_absolute();
        assert_eq!((&*hit.address, hit.status, &*hit.user_agent), (&b"-"[..], Some(400), &b""[..]));
        assert_eq!(read(b"h2 2000-10-10T20:55:36.5Z"), Err(Unreadable::Fields));
        assert_eq!(read(b""), Err(Unreadable::Fields));
    }
}

//! One request, as a line of a log describes it.

use std::borrow::Cow;

/// A request that a log has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hit<'l> {
    /// When it was, in seconds since 1970 (UTC).
    pub time: Option<i64>,
    /// The client: an address, or a name if the server writes names.
    pub address: Cow<'l, [u8]>,
    /// What was requested: a path with its query, or other text in its place.
    pub target: Cow<'l, [u8]>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The virtual host, if the log has it.
    pub host: Option<Cow<'l, [u8]>>,
    /// The User-Agent string; empty if there was none.
    pub user_agent: Cow<'l, [u8]>,
}

impl<'l> Hit<'l> {
    /// The same with text of its own.
    pub(crate) fn into_owned(self) -> Hit<'static> {
        let owned = |octets: Cow<'l, [u8]>| Cow::Owned(octets.into_owned());
        Hit {
            time: self.time,
            address: owned(self.address),
            target: owned(self.target),
            status: self.status,
            host: self.host.map(owned),
            user_agent: owned(self.user_agent),
        }
    }

    /// Splits a request line, `GET /a?b HTTP/1.1`. Other text is kept as it is: it does not start with `/`,
    /// so it is not a request for a page.
    pub(crate) fn set_request(&mut self, request: &'l [u8]) {
        let Some(space) = memchr::memchr(b' ', request) else {
            self.target = Cow::Borrowed(request);
            return;
        };
        let rest = &request[space + 1..];
        // Raw spaces in a path happen; the version is after the last one.
        let end = match memchr::memrchr(b' ', rest) {
            Some(last) if rest[last + 1..].starts_with(b"HTTP/") => last,
            _ => rest.len(),
        };
        self.target = Cow::Borrowed(&rest[..end]);
    }

    /// Replaces a target that is an absolute URL by its path, and takes the host from its authority: proxies
    /// send such targets, and load balancers log them.
    pub(crate) fn split_absolute(&mut self) {
        let target = &*self.target;
        if target.first() == Some(&b'/') {
            return;
        }
        let Some(at) = target.get(..8).and_then(|start| memchr::memmem::find(start, b"://")) else {
            return;
        };
        let authority = at + 3;
        let end = target[authority..].iter().position(|octet| b"/?#".contains(octet));
        let end = end.map_or(target.len(), |end| authority + end);
        let host = target[authority..end].to_vec();
        let mut path = target[end..].to_vec();
        if path.first() != Some(&b'/') {
            path.insert(0, b'/');
        }
        self.target = Cow::Owned(path);
        self.host = Some(Cow::Owned(host));
    }
}

/// A value of a log that means that there is none.
pub(crate) fn present(value: &[u8]) -> Option<&[u8]> {
    (!value.is_empty() && value != b"-").then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(request: &[u8]) -> Vec<u8> {
        let mut hit = Hit::default();
        hit.set_request(request);
        hit.split_absolute();
        hit.target.into_owned()
    }

    #[test]
    fn request_lines_are_taken_apart() {
        assert_eq!(target(b"GET /a?b HTTP/1.1"), b"/a?b");
        assert_eq!(target(b"GET /a b HTTP/1.1"), b"/a b");
        assert_eq!(target(b"GET /a"), b"/a");
        assert_eq!(target(b"GET http://example.com:80/a?b HTTP/1.1"), b"/a?b");
        assert_eq!(target(b"GET http://example.com HTTP/1.1"), b"/");
        assert_eq!(target(b"OPTIONS * HTTP/1.1"), b"*");
        assert_eq!(target(b"CONNECT example.com:443 HTTP/1.1"), b"example.com:443");
        assert_eq!(target(b"\x16\x03\x01"), b"\x16\x03\x01");
        assert_eq!(target(b""), b"");
    }
}

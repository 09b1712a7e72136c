//! A URL → the target that patterns are compared with: its path and query, normalised.
//!
//! REP-7 says which part of the URL counts, REP-11 and REP-12 in which form. Nothing else about a
//! URL is repaired here, and nothing that has a scheme and an authority is refused for its octets:
//! the host is read by [`Origin`](crate::access::Origin) where a file has to be found for it.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use crate::octets::OctetSet;
use crate::percent::{escaped, is_gen_delim, normalise, not_raw_or, push_escape};

/// What a crawler asks about: the path and query of a URL.
///
/// ```
/// use mayi::Target;
///
/// let target = Target::parse("https://example.com/a/../b%7e?q=ü#top")?;
/// assert_eq!(target.normalised(), b"/b~?q=%C3%BC");
/// assert!(Target::parse("/no/authority").is_err());
/// # Ok::<(), mayi::InvalidUrl>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target<'u> {
    url: Cow<'u, str>,
    /// Normalised, with the query's gen-delims raw.
    raw: Cow<'u, [u8]>,
    /// Normalised, with the query's gen-delims encoded, where that differs.
    encoded: Option<Vec<u8>>,
}

impl<'u> Target<'u> {
    /// Cuts and normalises a URL.
    ///
    /// # Errors
    /// When it has no scheme or no authority, or a scheme that has no robots.txt (REP-18).
    pub fn parse(url: &'u str) -> Result<Self, InvalidUrl> {
        let after_authority = split_url(url)?.rest;
        Ok(Self::from_parts(url, after_authority))
    }

    /// Takes a path with its query, e.g. `/a?b`, where the authority has been cut off already.
    ///
    /// # Errors
    /// When it does not start with `/`.
    pub fn from_path(path: &'u str) -> Result<Self, InvalidUrl> {
        if path.starts_with('/') {
            Ok(Self::from_parts(path, path))
        } else {
            Err(InvalidUrl::new(path, Trouble::NoSlash))
        }
    }

    fn from_parts(url: &'u str, rest: &'u str) -> Self {
        let (raw, encoded) = forms(rest);
        Self { url: Cow::Borrowed(url), raw, encoded }
    }

    /// The same target with its text copied, for keeping.
    pub fn into_owned(self) -> Target<'static> {
        Target {
            url: Cow::Owned(self.url.into_owned()),
            raw: Cow::Owned(self.raw.into_owned()),
            encoded: self.encoded,
        }
    }

    /// The URL as it was given.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Path and query, normalised, with the gen-delims of the query raw.
    pub fn normalised(&self) -> &[u8] {
        &self.raw
    }

    /// The same with the gen-delims of the query percent-encoded, where that is something else
    /// (REP-12).
    pub fn with_encoded_query(&self) -> Option<&[u8]> {
        self.encoded.as_deref()
    }

    /// Whether it is the robots.txt file itself (REP-10).
    pub fn is_robots_txt(&self) -> bool {
        *self.raw == *b"/robots.txt"
    }

    /// Path and query as google/robotstxt cuts them, with nothing changed: the path starts at the
    /// first `/`, `?` or `;` behind the scheme, and a NUL ends the URL.
    pub(crate) fn as_google_cuts_it(&self) -> Cow<'_, [u8]> {
        let url = self.url.as_bytes();
        let scheme_end = match memchr::memmem::find(url, b"://") {
            Some(at) if !url[..at].iter().any(|octet| b"/?;".contains(octet)) => at + 3,
            _ => 0,
        };
        let path_start = url[scheme_end..].iter().position(|octet| b"/?;".contains(octet));
        let fragment = memchr::memchr(b'#', url).unwrap_or(url.len());
        match path_start.map(|at| scheme_end + at) {
            Some(start) if start <= fragment => {
                let path = &url[start..fragment];
                let path = &path[..memchr::memchr(0, path).unwrap_or(path.len())];
                if path.starts_with(b"/") {
                    Cow::Borrowed(path)
                } else {
                    Cow::Owned([b"/", path].concat())
                }
            }
            _ => Cow::Borrowed(b"/"),
        }
    }
}

/// The two normalised forms of what stands behind the authority.
fn forms(rest: &str) -> (Cow<'_, [u8]>, Option<Vec<u8>>) {
    let rest = rest.as_bytes();
    if let Some(plain) = plain(rest) {
        return (Cow::Borrowed(plain), None);
    }
    let rest = &rest[..memchr::memchr(b'#', rest).unwrap_or(rest.len())];
    let query_at = memchr::memchr(b'?', rest).unwrap_or(rest.len());
    let (path, query) = rest.split_at(query_at);
    let query_octets = query.get(1..).unwrap_or_default();

    let mut raw = resolve_dot_segments(&normalise(path));
    if query.is_empty() {
        return (Cow::Owned(raw), None);
    }
    raw.push(b'?');
    let query = normalise(query_octets);
    if !has_gen_delim(&query) {
        raw.extend_from_slice(&query);
        return (Cow::Owned(raw), None);
    }
    let mut encoded = raw.clone();
    push_with_raw_gen_delims(&mut raw, &query);
    push_with_encoded_gen_delims(&mut encoded, &query);
    (Cow::Owned(raw), Some(encoded))
}

/// What stands before the fragment, if nothing in it has to be changed: one look at each octet tells
/// so for most URLs.
fn plain(rest: &[u8]) -> Option<&[u8]> {
    if rest.first() != Some(&b'/') {
        return None;
    }
    let mut at = 0;
    loop {
        let Some(found) = NOT_PLAIN_IN_PATH.first_in(&rest[at..]) else { return Some(rest) };
        at += found;
        match rest[at] {
            b'#' => return Some(&rest[..at]),
            b'?' => break,
            b'.' if rest[at - 1] != b'/' => at += 1,
            _ => return None,
        }
    }
    at += 1;
    match NOT_PLAIN_IN_QUERY.first_in(&rest[at..]) {
        None => Some(rest),
        Some(found) if rest[at + found] == b'#' => Some(&rest[..at + found]),
        Some(_) => None,
    }
}

/// What has to be looked at in a path: the end of it, what is to be encoded, and dots.
static NOT_PLAIN_IN_PATH: OctetSet = not_raw_or(b"#?.");

/// The same in a query: its end, what is to be encoded, and gen-delims.
static NOT_PLAIN_IN_QUERY: OctetSet = not_raw_or(b":/?#[]@");

/// RFC 3986 §5.2.4 for an absolute path; no path is `/`.
fn resolve_dot_segments(path: &[u8]) -> Vec<u8> {
    let mut resolved = Vec::with_capacity(path.len() + 1);
    let mut ends_in_slash = true;
    for segment in path.split(|&octet| octet == b'/').skip(1) {
        match segment {
            b"." => ends_in_slash = true,
            b".." => {
                resolved.truncate(memchr::memrchr(b'/', &resolved).unwrap_or(0));
                ends_in_slash = true;
            }
            _ => {
                resolved.push(b'/');
                resolved.extend_from_slice(segment);
                ends_in_slash = false;
            }
        }
    }
    if ends_in_slash {
        resolved.push(b'/');
    }
    resolved
}

/// Whether a normalised text has a gen-delim, raw or encoded.
fn has_gen_delim(normalised: &[u8]) -> bool {
    normalised.iter().enumerate().any(|(at, &octet)| {
        is_gen_delim(octet) || octet == b'%' && escaped(&normalised[at + 1..]).is_some_and(is_gen_delim)
    })
}

/// Appends a normalised text with its encoded gen-delims decoded.
pub(crate) fn push_with_raw_gen_delims(to: &mut Vec<u8>, normalised: &[u8]) {
    let mut rest = normalised;
    while let Some((&octet, after)) = rest.split_first() {
        rest = after;
        match escaped(after) {
            Some(delim) if octet == b'%' && is_gen_delim(delim) => {
                to.push(delim);
                rest = &after[2..];
            }
            _ => to.push(octet),
        }
    }
}

/// Appends a normalised text with its raw gen-delims encoded.
fn push_with_encoded_gen_delims(to: &mut Vec<u8>, normalised: &[u8]) {
    for &octet in normalised {
        if is_gen_delim(octet) {
            push_escape(to, octet);
        } else {
            to.push(octet);
        }
    }
}

/// A URL cut at its authority.
pub(crate) struct SplitUrl<'u> {
    /// As written; one of those that have a robots.txt.
    pub(crate) scheme: &'u str,
    /// Never empty.
    pub(crate) authority: &'u str,
    /// Path, query and fragment.
    pub(crate) rest: &'u str,
}

/// Cuts a URL into scheme, authority and the rest (RFC 3986 §3), and checks the scheme (REP-18).
pub(crate) fn split_url(url: &str) -> Result<SplitUrl<'_>, InvalidUrl> {
    let wrong = |trouble| Err(InvalidUrl::new(url, trouble));
    // Nearly all URLs start like this, and need no closer look at their scheme.
    for scheme in ["https", "http"] {
        let after_scheme = url.strip_prefix(scheme).and_then(|rest| rest.strip_prefix("://"));
        if let Some(after_slashes) = after_scheme {
            let scheme = &url[..scheme.len()];
            return split_authority(scheme, after_slashes)
                .map_or_else(|| wrong(Trouble::NoAuthority), Ok);
        }
    }
    let Some((scheme, after_scheme)) = url.split_once(':') else {
        return wrong(Trouble::NoScheme);
    };
    // RFC 3986 §3.1: scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|octet| octet.is_ascii_alphanumeric() || b"+-.".contains(&octet));
    if !is_scheme {
        return wrong(Trouble::NoScheme);
    }
    if !["http", "https", "ftp"].iter().any(|known| known.eq_ignore_ascii_case(scheme)) {
        return wrong(Trouble::UnsupportedScheme);
    }
    let Some(after_slashes) = after_scheme.strip_prefix("//") else {
        return wrong(Trouble::NoAuthority);
    };
    split_authority(scheme, after_slashes).map_or_else(|| wrong(Trouble::NoAuthority), Ok)
}

fn split_authority<'u>(scheme: &'u str, after_slashes: &'u str) -> Option<SplitUrl<'u>> {
    let end = memchr::memchr3(b'/', b'?', b'#', after_slashes.as_bytes());
    let end = end.unwrap_or(after_slashes.len());
    let (authority, rest) = after_slashes.split_at(end);
    (end > 0).then_some(SplitUrl { scheme, authority, rest })
}

/// A URL that no question can be asked about.
///
/// ```
/// let error = mayi::Target::parse("gopher://example.com/").unwrap_err();
/// assert!(error.is_unsupported_scheme());
/// assert!(error.to_string().contains("http, https or ftp"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidUrl {
    url: Box<str>,
    trouble: Trouble,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    NoScheme,
    NoAuthority,
    NoSlash,
    UnsupportedScheme,
    InvalidHost,
    InvalidPort,
}

impl InvalidUrl {
    pub(crate) fn new(url: &str, trouble: Trouble) -> Self {
        Self { url: url.into(), trouble }
    }

    /// Whether the URL is well-formed, but of a scheme that has no robots.txt (REP-18).
    pub fn is_unsupported_scheme(&self) -> bool {
        self.trouble == Trouble::UnsupportedScheme
    }
}

impl fmt::Display for InvalidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.trouble {
            Trouble::NoScheme => {
                "has no scheme; an absolute URL such as `https://example.com/path` is needed"
            }
            Trouble::NoAuthority => {
                "has no authority; an absolute URL such as `https://example.com/path` is needed"
            }
            Trouble::NoSlash => "is not a path; a path starts with `/`",
            Trouble::UnsupportedScheme => {
                "has a scheme with no robots.txt; http, https or ftp is needed (REP-18)"
            }
            Trouble::InvalidHost => "has a host that is neither a domain name nor an IP address",
            Trouble::InvalidPort => "has a port that is not a number from 0 to 65535",
        };
        write!(f, "`{}` {what}", self.url.escape_debug())
    }
}

impl Error for InvalidUrl {}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, normalised: &str, encoded: Option<&str>) {
        let target = Target::parse(url).expect("the URL is a good one");
        assert_eq!(String::from_utf8_lossy(target.normalised()), normalised);
        assert_eq!(target.with_encoded_query().map(String::from_utf8_lossy).as_deref(), encoded);
    }

    #[test]
    fn path_and_query_count() {
        check("https://example.com", "/", None);
        check("https://example.com?x=1", "/?x=1", None);
        check("https://example.com#f", "/", None);
        check("HTTPS://user@example.com:8080/a;p?b=c#f", "/a;p?b=c", None);
        check("http://example.com/a|b[c]%zz%7e", "/a%7Cb[c]%zz~", None);
        check("ftp://example.com/?", "/?", None);
    }

    #[test]
    fn dot_segments_are_resolved() {
        check("https://h/a/b/c/./../../g", "/a/g", None);
        check("https://h/a/b/..", "/a/", None);
        check("https://h/a/.", "/a/", None);
        check("https://h/../..", "/", None);
        check("https://h/a//../b", "/a/b", None);
        check("https://h/a/%2e%2E/b", "/b", None);
        check("https://h/.well-known/x", "/.well-known/x", None);
        check("https://h/a/..?/../x", "/?/../x", Some("/?%2F..%2Fx"));
    }

    #[test]
    fn a_query_with_gen_delims_has_two_forms() {
        check("https://h/?u=http://a", "/?u=http://a", Some("/?u=http%3A%2F%2Fa"));
        check("https://h/?u=http%3a%2F/a", "/?u=http://a", Some("/?u=http%3A%2F%2Fa"));
        check("https://h/%2F?a", "/%2F?a", None);
    }

    #[test]
    fn google_cuts_differently() {
        let cut = |url| {
            let target = Target::parse(url).expect("the URL is a good one");
            String::from_utf8_lossy(&target.as_google_cuts_it()).into_owned()
        };
        assert_eq!(cut("https://h/a/../b?c#d"), "/a/../b?c");
        assert_eq!(cut("https://h;p/x"), "/;p/x");
        assert_eq!(cut("https://h#/x"), "/");
        assert_eq!(cut("https://h?a://b"), "/?a://b");
        assert_eq!(cut("https://h/a\0b"), "/a");
        assert_eq!(cut("https://h\0/a"), "/a");
    }

    #[test]
    fn a_wrong_url_says_what_would_be_right() {
        for (url, part) in [
            ("example.com/a", "no scheme"),
            ("//example.com/a", "no scheme"),
            ("https:/a", "no authority"),
            ("https:///a", "no authority"),
            ("mailto:a@example.com", "http, https or ftp"),
            (" https://example.com/", "no scheme"),
        ] {
            let message = Target::parse(url).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
        assert!(Target::from_path("a").unwrap_err().to_string().contains("starts with `/`"));
    }
}

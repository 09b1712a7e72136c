//! A URL → the target that patterns are compared with: its path and query, normalised.
//!
//! REP-7 says which part of the URL counts and that it is read as clients read it, REP-11 in which form
//! it is compared. Nothing else about a URL is repaired here, and no URL with a scheme and an authority
//! is rejected for its octets: [`Origin`](crate::access::Origin) reads the host when a file has to be
//! found for it.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::ops::{ControlFlow, Range};

use crate::forms::Folds;
use crate::octets::{OctetSet, Signs, try_each_sign};
use crate::percent::{SIGNS, Sign, normalise};

/// The subject of a question: the path and query of a URL.
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
    normalised: Cow<'u, [u8]>,
    /// What makes another form of it (REP-12, REP-16).
    folds: Folds,
    /// The signs that the normalised text may have.
    signs: Signs,
}

impl<'u> Target<'u> {
    /// Splits and normalises a URL. URLs of http and https are read as clients read them before a request:
    /// white space around them and tabs and line ends in them are dropped, and `\` means `/`.
    ///
    /// # Errors
    /// When it has no scheme or no authority, or a scheme that has no robots.txt (REP-18).
    pub fn parse(url: &'u str) -> Result<Self, InvalidUrl> {
        if let Some(split) = split_usual(url)
            && let Some(target) = Self::plain(url, split.path)
        {
            return Ok(target);
        }
        let split = split_url(url)?;
        Ok(Self::from_parts(url, &split.rest, split.scheme != "ftp"))
    }

    /// Takes a path with its query, e.g. `/a?b`, without scheme and authority.
    ///
    /// # Errors
    /// When it does not start with `/`.
    pub fn from_path(path: &'u str) -> Result<Self, InvalidUrl> {
        if !path.starts_with('/') {
            return Err(InvalidUrl::new(path, Trouble::NoSlash));
        }
        let plain = Self::plain(path, 0);
        Ok(plain.unwrap_or_else(|| Self::from_parts(path, &Cow::Borrowed(path), true)))
    }

    /// A URL whose path starts here and needs no normalisation, as most do not.
    #[inline]
    fn plain(url: &'u str, path: usize) -> Option<Self> {
        let (end, signs) = plain(url.as_bytes(), path)?;
        let normalised = Cow::Borrowed(&url.as_bytes()[path..end]);
        Some(Self { url: Cow::Borrowed(url), normalised, folds: Folds::of_plain_target(), signs })
    }

    fn from_parts(url: &'u str, rest: &Cow<'u, str>, as_clients_do: bool) -> Self {
        let normalised = normalised(rest.as_bytes(), as_clients_do);
        let folds = Folds::of_target(&normalised);
        let normalised = Cow::Owned(normalised);
        Self { url: Cow::Borrowed(url), normalised, folds, signs: Signs::ALL }
    }

    /// The same target with its text copied, for keeping.
    pub fn into_owned(self) -> Target<'static> {
        Target {
            url: Cow::Owned(self.url.into_owned()),
            normalised: Cow::Owned(self.normalised.into_owned()),
            folds: self.folds,
            signs: self.signs,
        }
    }

    /// The URL as it was given.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Path and query, normalised (REP-11).
    pub fn normalised(&self) -> &[u8] {
        &self.normalised
    }

    pub(crate) fn folds(&self) -> Folds {
        self.folds
    }

    pub(crate) fn signs(&self) -> Signs {
        self.signs
    }

    /// Whether it is the robots.txt file itself (REP-10).
    pub fn is_robots_txt(&self) -> bool {
        *self.normalised == *b"/robots.txt"
    }

    /// Path and query for dialects that compare what is written, with nothing changed, cut as google/robotstxt
    /// cuts them: the path starts at the first `/`, `?` or `;` after the scheme, and a NUL ends the URL.
    pub(crate) fn as_written(&self) -> Cow<'_, [u8]> {
        let url = self.url.as_bytes();
        let scheme_end = self.scheme_end();
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

    /// Path, query and fragment as they are written, for dialects that decode all of it.
    pub(crate) fn behind_authority(&self) -> &[u8] {
        let behind_scheme = &self.url.as_bytes()[self.scheme_end()..];
        let start = behind_scheme.iter().position(|octet| b"/?#".contains(octet));
        &behind_scheme[start.unwrap_or(behind_scheme.len())..]
    }

    /// Where the scheme of the URL and its `://` end, if it has one.
    fn scheme_end(&self) -> usize {
        let url = self.url.as_bytes();
        match memchr::memmem::find(url, b"://") {
            Some(at) if !url[..at].iter().any(|octet| b"/?;".contains(octet)) => at + 3,
            _ => 0,
        }
    }
}

/// What follows the authority, normalised.
fn normalised(rest: &[u8], as_clients_do: bool) -> Vec<u8> {
    let ends_at = rest.iter().rposition(|octet| *octet > b' ').map_or(0, |last| last + 1);
    let mut rest = Cow::Borrowed(if as_clients_do { &rest[..ends_at] } else { rest });
    if as_clients_do && rest.iter().any(|octet| is_dropped(*octet)) {
        rest.to_mut().retain(|octet| !is_dropped(*octet));
    }
    let rest = &rest[..memchr::memchr(b'#', &rest).unwrap_or(rest.len())];
    let query_at = memchr::memchr(b'?', rest).unwrap_or(rest.len());
    let (path, query) = rest.split_at(query_at);
    let mut path = Cow::Borrowed(path);
    if as_clients_do && path.contains(&b'\\') {
        path.to_mut().iter_mut().filter(|octet| **octet == b'\\').for_each(|octet| *octet = b'/');
    }
    let mut normalised = resolve_dot_segments(&normalise(&path));
    normalised.extend_from_slice(&normalise(query));
    normalised
}

/// Where a URL ends before its fragment and which signs it has up to there, if nothing has to be changed of its
/// path, which starts at `path` with a `/`, or of its query.
#[inline]
fn plain(url: &[u8], path: usize) -> Option<(usize, Signs)> {
    let mut signs = Signs::NONE;
    let mut in_query = false;
    let odd = try_each_sign(url, path..url.len(), |place, octet| {
        signs = signs.with(octet);
        match SIGNS[usize::from(octet)] {
            Sign::Raw | Sign::Star | Sign::Dollar => {}
            Sign::Hash => return ControlFlow::Break(Some(place)),
            Sign::QuestionMark => in_query = true,
            // It may be that of a dot segment.
            Sign::Dot if in_query || url[place - 1] != b'/' => {}
            Sign::Dot | Sign::Changed => return ControlFlow::Break(None),
        }
        ControlFlow::Continue(())
    });
    match odd {
        ControlFlow::Continue(()) => Some((url.len(), signs)),
        ControlFlow::Break(end) => Some((end?, signs)),
    }
}

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

/// A URL cut at its authority.
pub(crate) struct SplitUrl<'u> {
    /// In lower case; one of those that have a robots.txt.
    pub(crate) scheme: &'static str,
    /// Never empty.
    pub(crate) authority: Cow<'u, str>,
    /// Path, query and fragment.
    pub(crate) rest: Cow<'u, str>,
}

/// Cuts a URL into scheme, authority and the rest, and checks the scheme (REP-7, REP-18).
pub(crate) fn split_url(url: &str) -> Result<SplitUrl<'_>, InvalidUrl> {
    if let Some(Usual { scheme, authority, path }) = split_usual(url) {
        let (authority, rest) = (&url[authority..path], &url[path..]);
        return Ok(SplitUrl { scheme, authority: Cow::Borrowed(authority), rest: Cow::Borrowed(rest) });
    }
    let is_ftp = url.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("ftp:"));
    let split = if is_ftp { split_as_it_stands(url) } else { split_as_clients_do(url) };
    split.map_err(|trouble| InvalidUrl::new(url, trouble))
}

/// A URL as nearly all are: `http://` or `https://`, an authority with nothing odd in it, and a path.
struct Usual {
    scheme: &'static str,
    /// Where its authority starts.
    authority: usize,
    /// Where its path starts, with a `/`.
    path: usize,
}

/// Cuts a URL, if it is as nearly all are.
#[inline]
fn split_usual(url: &str) -> Option<Usual> {
    let octets = url.as_bytes();
    let (scheme, authority) = match octets.first_chunk::<8>()? {
        b"https://" => ("https", 8),
        [b'h', b't', b't', b'p', b':', b'/', b'/', _] => ("http", 7),
        _ => return None,
    };
    let path = authority + ENDS_AUTHORITY.first_in(&octets[authority..])?;
    (octets[path] == b'/' && path > authority).then_some(Usual { scheme, authority, path })
}

/// What has to be looked at in an authority: its end, and what clients drop or take for its end.
static ENDS_AUTHORITY: OctetSet = OctetSet::new({
    let mut table = [false; 256];
    let mut octet = 0;
    while octet <= b' ' as usize {
        table[octet] = true;
        octet += 1;
    }
    let mut ends = b"/?#\\".as_slice();
    while let [end, others @ ..] = ends {
        table[*end as usize] = true;
        ends = others;
    }
    table
});

/// Cuts a URL of http or https as the WHATWG URL standard does (<https://url.spec.whatwg.org/>, "basic URL
/// parser"): these two are what its clients ask for.
fn split_as_clients_do(url: &str) -> Result<SplitUrl<'_>, Trouble> {
    let mut read = Cow::Borrowed(url.trim_matches(|c| c <= ' '));
    if read.bytes().any(is_dropped) {
        read.to_mut().retain(|c| !c.is_ascii() || !is_dropped(c as u8));
    }
    let (scheme, after_scheme) = split_scheme(&read)?;
    if scheme == "ftp" {
        return Err(Trouble::NoScheme); // what stands around it is not dropped, and no scheme has that
    }
    let after_slashes = after_scheme.trim_start_matches(['/', '\\']);
    let start = read.len() - after_slashes.len();
    let end = after_slashes.find(['/', '\\', '?', '#']).map_or(read.len(), |end| start + end);
    if start == end {
        return Err(Trouble::NoAuthority);
    }
    let part = |range: Range<usize>| match &read {
        Cow::Borrowed(read) => Cow::Borrowed(&read[range]),
        Cow::Owned(read) => Cow::Owned(read[range].to_owned()),
    };
    Ok(SplitUrl { scheme, authority: part(start..end), rest: part(end..read.len()) })
}

/// Cuts a URL of another scheme (RFC 3986 §3).
fn split_as_it_stands(url: &str) -> Result<SplitUrl<'_>, Trouble> {
    let (scheme, after_scheme) = split_scheme(url)?;
    let after_slashes = after_scheme.strip_prefix("//").ok_or(Trouble::NoAuthority)?;
    let end = after_slashes.find(['/', '?', '#']).unwrap_or(after_slashes.len());
    let (authority, rest) = after_slashes.split_at(end);
    if authority.is_empty() {
        return Err(Trouble::NoAuthority);
    }
    Ok(SplitUrl { scheme, authority: Cow::Borrowed(authority), rest: Cow::Borrowed(rest) })
}

/// The scheme of a URL, in lower case, and what follows its colon.
fn split_scheme(url: &str) -> Result<(&'static str, &str), Trouble> {
    let (scheme, after_scheme) = url.split_once(':').ok_or(Trouble::NoScheme)?;
    // RFC 3986 §3.1: scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|octet| octet.is_ascii_alphanumeric() || b"+-.".contains(&octet));
    if !is_scheme {
        return Err(Trouble::NoScheme);
    }
    let known = ["http", "https", "ftp"].into_iter().find(|known| known.eq_ignore_ascii_case(scheme));
    Ok((known.ok_or(Trouble::UnsupportedScheme)?, after_scheme))
}

/// Whether clients drop an octet, wherever it is in a URL.
fn is_dropped(octet: u8) -> bool {
    matches!(octet, b'\t' | b'\n' | b'\r')
}

/// A URL that can't be decided about.
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
                "has no scheme; give an absolute URL such as `https://example.com/path`"
            }
            Trouble::NoAuthority => {
                "has no host; give an absolute URL such as `https://example.com/path`"
            }
            Trouble::NoSlash => "is not a path; a path starts with `/`",
            Trouble::UnsupportedScheme => {
                "has a scheme without robots.txt; use http, https or ftp (REP-18)"
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
    fn check(url: &str, normalised: &str) {
        let target = Target::parse(url).expect("the URL is a good one");
        assert_eq!(String::from_utf8_lossy(target.normalised()), normalised);
        assert_eq!(target.clone().into_owned(), target);
    }

    #[test]
    fn path_and_query_count() {
        check("https://example.com", "/");
        check("https://example.com?x=1", "/?x=1");
        check("https://example.com#f", "/");
        check("HTTPS://user@example.com:8080/a;p?b=c#f", "/a;p?b=c");
        check("http://example.com/a|b[c]%zz%7e", "/a%7Cb[c]%zz~");
        check("ftp://example.com/?", "/?");
        check("https://h/?u=http%3a%2F/a?", "/?u=http:%2F/a?");
        check("https://h/%2F?a", "/%2F?a");
    }

    #[test]
    fn dot_segments_are_resolved() {
        check("https://h/a/b/c/./../../g", "/a/g");
        check("https://h/a/b/..", "/a/");
        check("https://h/a/.", "/a/");
        check("https://h/../..", "/");
        check("https://h/a//../b", "/a/b");
        check("https://h/a/%2e%2E/b", "/b");
        check("https://h/.well-known/x", "/.well-known/x");
        check("https://h/a/..?/../x", "/?/../x");
    }

    #[test]
    fn a_url_is_read_as_clients_read_it() {
        check(" https://h/a\u{1f} \n", "/a");
        check("ht\ntps:/\t/h\r/a\tb?c\nd", "/ab?cd");
        check("https:h", "/");
        check("https:/\\\\h\\a\\..\\b?\\", "/b?%5C");
        check("https://h\\@i/", "/@i/");
        check("https://h ", "/");
        check("https://h/a #b ", "/a%20");
        check("ftp://h/a\\b\t ", "/a%5Cb%09%20");
    }

    #[test]
    fn what_is_written_is_cut_differently() {
        let cut = |url| {
            let target = Target::parse(url).expect("the URL is a good one");
            String::from_utf8_lossy(&target.as_written()).into_owned()
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
            ("https:", "no host"),
            ("https:///?a", "no host"),
            ("ftp:/a", "no host"),
            (" ftp://a", "no scheme"),
            ("mailto:a@example.com", "http, https or ftp"),
        ] {
            let message = Target::parse(url).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
        assert!(Target::from_path("a").unwrap_err().to_string().contains("starts with `/`"));
    }
}

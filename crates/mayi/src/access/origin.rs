//! A URL → the authority that has its robots.txt (REP-18).

use std::fmt;

use url::Host;

use crate::target::{InvalidUrl, Trouble, split_url};

/// Scheme, host and port: what one robots.txt applies to.
///
/// ```
/// use mayi::access::Origin;
///
/// let origin = Origin::of_url("HTTP://user@Bücher.example:8080/a")?;
/// assert_eq!(origin.to_string(), "http://xn--bcher-kva.example:8080");
/// assert_eq!(origin.robots_url(), "http://xn--bcher-kva.example:8080/robots.txt");
/// # Ok::<(), mayi::InvalidUrl>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    scheme: Box<str>,
    host: Box<str>,
    port: u16,
}

impl Origin {
    /// The origin of a URL.
    ///
    /// # Errors
    /// When it has no scheme or authority, a scheme that has no robots.txt, or a host or port that
    /// nothing can be fetched from.
    pub fn of_url(url: &str) -> Result<Self, InvalidUrl> {
        let wrong = |trouble| InvalidUrl::new(url, trouble);
        let split = split_url(url)?;
        // Some clients read a backslash as a slash in an ftp URL too, and would connect to another host.
        if split.authority.contains('\\') {
            return Err(wrong(Trouble::InvalidHost));
        }
        let host_and_port = split.authority.rsplit('@').next().unwrap_or_default();
        // A colon within brackets belongs to an IPv6 address.
        let behind_brackets = host_and_port.rfind(']').unwrap_or(0);
        let (host, port) = match host_and_port[behind_brackets..].find(':') {
            Some(colon) => host_and_port.split_at(behind_brackets + colon),
            None => (host_and_port, ":"),
        };
        let host = Host::parse(host).map_err(|_| wrong(Trouble::InvalidHost))?.to_string();
        let port = match &port[1..] {
            "" => default_port(split.scheme),
            digits if digits.bytes().all(|octet| octet.is_ascii_digit()) => {
                digits.parse().map_err(|_| wrong(Trouble::InvalidPort))?
            }
            _ => return Err(wrong(Trouble::InvalidPort)),
        };
        Ok(Self { scheme: split.scheme.into(), host: host.into(), port })
    }

    /// The start of a URL up to its path, if it needs no normalisation (REP-7). Every other URL that starts
    /// with these octets, followed by a path, a query or a fragment, has the same origin. So this text can be
    /// the key of a cache, without the cost of [`of_url`](Self::of_url).
    ///
    /// ```
    /// use mayi::access::Origin;
    ///
    /// assert_eq!(Origin::prefix_of("https://example.com/a"), Some("https://example.com"));
    /// // Clients ask `a` for `/x`: what is before the first single slash does not tell.
    /// assert_eq!(Origin::prefix_of("https:///a/x"), None);
    /// ```
    pub fn prefix_of(url: &str) -> Option<&str> {
        let octets = url.as_bytes();
        let scheme = memchr::memmem::find(octets, b"://")?;
        let start = scheme + 3;
        let end = octets[start..].iter().position(|octet| matches!(octet, b'/' | b'?' | b'#'));
        let end = end.map_or(octets.len(), |end| start + end);
        let is_plain = |octet: &u8| *octet > b' ' && *octet != b'\\';
        let is_written_plainly = octets[..scheme].iter().all(u8::is_ascii_alphabetic)
            && start < end
            && octets[start..end].iter().all(is_plain);
        is_written_plainly.then(|| &url[..end])
    }

    /// `http`, `https` or `ftp`.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The host in lower case and in its ASCII form; an IPv6 address is in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port; default: that of the scheme.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A reference in its robots.txt as an absolute URL, if it can be one.
    ///
    /// ```
    /// let origin = mayi::access::Origin::of_url("https://example.com/a")?;
    /// assert_eq!(origin.resolve("s.xml").as_deref(), Some("https://example.com/s.xml"));
    /// # Ok::<(), mayi::InvalidUrl>(())
    /// ```
    pub fn resolve(&self, reference: &str) -> Option<String> {
        let base = url::Url::parse(&self.robots_url()).ok()?;
        base.join(reference).ok().map(String::from)
    }

    /// Where its robots.txt is.
    pub fn robots_url(&self) -> String {
        format!("{self}/robots.txt")
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)?;
        if self.port != default_port(&self.scheme) {
            write!(f, ":{}", self.port)?;
        }
        Ok(())
    }
}

fn default_port(scheme: &str) -> u16 {
    match scheme {
        "https" => 443,
        "ftp" => 21,
        _ => 80,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins() {
        for (url, expected) in [
            ("https://example.com", "https://example.com"),
            ("https://EXAMPLE.com:443/x", "https://example.com"),
            ("http://example.com:443/x", "http://example.com:443"),
            ("ftp://example.com:21/", "ftp://example.com"),
            ("http://a:b@example.com:/", "http://example.com"),
            ("http://[2001:DB8::1]:8080/", "http://[2001:db8::1]:8080"),
            ("http://[::1]/", "http://[::1]"),
            ("http://127.1/", "http://127.0.0.1"),
            ("https://shop.test\\@evil.test/secret", "https://shop.test"),
            (" https:EXAM\tPLE.com:\n8443 ", "https://example.com:8443"),
        ] {
            assert_eq!(Origin::of_url(url).expect(url).to_string(), expected);
        }
        for url in [
            "ftp://good.test\\@evil.test/",
            "http://exa mple/",
            "http://user@/",
            "http://:80/",
            "http://a:99999/",
            "http://a:b/",
            "http://[::1/",
            "gopher://a/",
        ] {
            assert!(Origin::of_url(url).is_err(), "{url}");
        }
    }

    #[test]
    fn the_authority_ends_where_it_does() {
        for (url, prefix) in [
            ("https://a/b", "https://a"),
            ("https://a", "https://a"),
            ("https://a?b/c", "https://a"),
            ("https://a:1#b", "https://a:1"),
            ("HTTP://u@a/http://x/", "HTTP://u@a"),
        ] {
            assert_eq!(Origin::prefix_of(url), Some(prefix), "{url}");
        }
        for url in [
            "https:///a/b",
            "https:/a",
            "https:a/http://b/",
            " https://a/",
            "https://a\\@b/",
            "https://a\t/",
        ] {
            assert_eq!(Origin::prefix_of(url), None, "{url}");
        }
    }
}

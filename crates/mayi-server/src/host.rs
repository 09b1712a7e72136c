//! A request's Host and the page that sent it → whether it is answered.
//!
//! A service without keys answers every client that can connect, and that includes a browser on this
//! machine with a page of any site. Two checks keep such a page from using the service. A page whose
//! owner points its host name at loopback (DNS rebinding) would look like one of ours: requests for a
//! host name that is not ours are misdirected (RFC 9110 §15.5.20). And a request that, as the browser says,
//! comes from a page of another site is rejected: that page could not read the answer, but it could make the
//! service fetch files. Programs are not affected.

use std::net::Ipv6Addr;

use axum::http::header::{HOST, HeaderName, ORIGIN};
use axum::http::{HeaderValue, Request, StatusCode, Version};

use crate::config::Config;
use crate::problem::Problem;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The names of the service, and which pages may use it.
pub(crate) struct Hosts {
    /// In lower case.
    names: Vec<String>,
    /// Whether others are refused.
    are_all: bool,
    /// Whether keys are required: a page of another site has none.
    has_keys: bool,
}

impl Hosts {
    pub(crate) fn new(config: &Config) -> Self {
        let has_keys = config.keys.is_some();
        let names: Vec<_> = config.hosts.iter().map(|name| name.to_ascii_lowercase()).collect();
        let are_all = !names.is_empty() || (config.listen.ip().is_loopback() && !has_keys);
        Self { names, are_all, has_keys }
    }

    /// Rejects a request for another host name, or from a page of another site.
    pub(crate) fn admit<B>(&self, request: &Request<B>) -> Result<(), Problem> {
        let authority = authority_of(request)?;
        if self.are_all && authority.is_some_and(|authority| !self.is_ours(authority)) {
            let detail = format!(
                "`{}` is not a name of this service: use its address or localhost, or name it with \
                 --host (`hosts` in the configuration)",
                authority.unwrap_or_default().escape_debug()
            );
            return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "misdirected", detail));
        }
        if self.has_keys || crate::page::is_asset(request.uri().path()) {
            return Ok(());
        }
        let field = |name: HeaderName| request.headers().get(name).map(HeaderValue::as_bytes);
        let is_of_others = match (field(SEC_FETCH_SITE), field(ORIGIN)) {
            (Some(site), _) => site != b"same-origin" && site != b"none",
            (None, Some(origin)) => !self.is_own_page(origin, authority),
            (None, None) => false,
        };
        if is_of_others {
            let detail = "a page of another site sent this request; this service answers only programs and its own page";
            return Err(Problem::new(StatusCode::FORBIDDEN, "cross-site", detail));
        }
        Ok(())
    }

    /// Whether an authority is an address, this machine, or one of the service's names: nobody else can make
    /// these resolve to the service.
    fn is_ours(&self, authority: &str) -> bool {
        if authority.starts_with('[') {
            let end = authority.find(']').unwrap_or_default();
            return authority.get(1..end).is_some_and(|literal| literal.parse::<Ipv6Addr>().is_ok());
        }
        let name = authority.split(':').next().unwrap_or_default().to_ascii_lowercase();
        let name = name.strip_suffix('.').unwrap_or(&name);
        name.parse::<std::net::Ipv4Addr>().is_ok()
            || name == "localhost"
            // Browsers do not look these up.
            || name.ends_with(".localhost")
            || self.names.iter().any(|ours| ours == name)
    }

    /// Whether a page of this origin is ours. A proxy may have changed the scheme.
    fn is_own_page(&self, origin: &[u8], authority: Option<&str>) -> bool {
        let Some((_, host)) = std::str::from_utf8(origin).ok().and_then(|it| it.split_once("://"))
        else {
            // `null` is the origin of a page that may not say where it is from.
            return false;
        };
        let name = host.split(':').next().unwrap_or_default();
        authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
            || self.names.iter().any(|ours| ours.eq_ignore_ascii_case(name))
    }
}

/// The authority of a request: that of its target, or Host. HTTP/1.1 requires exactly one Host (RFC 9112 §3.2).
fn authority_of<B>(request: &Request<B>) -> Result<Option<&str>, Problem> {
    let wrong = |detail: &str| Problem::new(StatusCode::BAD_REQUEST, "invalid-host", detail);
    let mut fields = request.headers().get_all(HOST).iter();
    let field = fields.next();
    if fields.next().is_some() {
        return Err(wrong("the request has more than one Host header"));
    }
    if field.is_none() && request.version() == Version::HTTP_11 {
        return Err(wrong("the request has no Host header"));
    }
    if let Some(authority) = request.uri().authority() {
        // User information is not part of a name.
        return Ok(Some(authority.as_str().rsplit('@').next().unwrap_or_default()));
    }
    field.map(|field| field.to_str().map_err(|_| wrong("the Host header is not a name"))).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_nobody_else_can_have() {
        let config = Config { hosts: vec!["mayi.Example".to_owned()], ..Config::default() };
        let hosts = Hosts::new(&config);
        for ours in [
            "127.0.0.1",
            "127.0.0.1:9309",
            "10.0.0.1",
            "[::1]",
            "[::1]:9309",
            "localhost",
            "LocalHost:80",
            "localhost.",
            "a.localhost:80",
            "mayi.example",
            "MAYI.example:443",
        ] {
            assert!(hosts.is_ours(ours), "{ours}");
        }
        for other in [
            "",
            ":80",
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "a.mayi.example",
            "[evil.example]",
            "[",
            "[::1",
            "xlocalhost",
            "127.0.0.1@evil.example",
            "1",
        ] {
            assert!(!hosts.is_ours(other), "{other}");
        }
    }

    #[test]
    fn names_are_checked_where_anybody_could_ask() {
        let are_all = |change: fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            Hosts::new(&config).are_all
        };
        assert!(are_all(|_| {}));
        assert!(!are_all(|config| config.keys = Some("keys".into())));
        assert!(!are_all(|config| config.listen.set_ip([0, 0, 0, 0].into())));
        assert!(are_all(|config| {
            config.listen.set_ip([0, 0, 0, 0].into());
            config.hosts.push("a".to_owned());
        }));
    }
}

//! The law of REP-7: what is decided about is what a client would ask for.

use mayi::Target;
use mayi::access::Origin;

use super::matcher::{normalise, path_and_query};

/// For http and https, scheme, host, port, path and query are those that the crate `url` reads, which is
/// an implementation of the WHATWG URL standard; path and query up to REP-11. What it refuses is refused
/// here too, by the target or by the origin that its file would be fetched from. The target alone refuses
/// less, for one reason: it does not look at the host and port, so that no URL which has a scheme and an
/// authority is refused for its octets.
pub(crate) fn a_url_is_what_clients_read(url: &str) {
    let read = url::Url::parse(url);
    let scheme = url.trim_start_matches(|c| c <= ' ').replace(['\t', '\r', '\n'], "");
    let scheme = scheme.split(':').next().unwrap_or_default().to_ascii_lowercase();
    if !["http", "https"].contains(&&*scheme) {
        return;
    }
    let (target, origin) = (Target::parse(url), Origin::of_url(url));
    let Ok(read) = read else {
        assert!(origin.is_err(), "the crate url refuses {url:?}: {origin:?}");
        return;
    };
    let target = target.unwrap_or_else(|error| panic!("the crate url reads {url:?}: {error}"));
    let origin = origin.unwrap_or_else(|error| panic!("the crate url reads {url:?}: {error}"));
    assert_eq!(Some(origin.host()), read.host_str(), "{url:?}");
    assert_eq!(
        (origin.scheme(), Some(origin.port())),
        (read.scheme(), read.port_or_known_default()),
        "{url:?}"
    );
    let Some(expected) = path_and_query(url) else { return };
    assert_eq!(
        target.normalised().escape_ascii().to_string(),
        expected.escape_ascii().to_string(),
        "{url:?}"
    );
    // And what a client writes is read as what it was written from.
    let again = Target::parse(read.as_str()).expect("what a client writes is a URL");
    assert_eq!(normalise(again.normalised()), normalise(&expected), "{url:?}");
    assert_eq!(Origin::of_url(read.as_str()).as_ref(), Ok(&origin), "{url:?}");
}

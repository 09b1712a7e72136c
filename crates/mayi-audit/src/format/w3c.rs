//! W3C extended logs, as IIS writes them, and the standard logs of Amazon CloudFront, which are of the
//! same family → hits. A `#Fields:` line says which fields there are. Times are UTC.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Unreadable, status};
use crate::hit::{Hit, present};
use crate::octets::decoded;
use crate::time;

/// Which fields the lines have.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    columns: Option<Arc<[Column]>>,
    is_cloudfront: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Ignored,
    Date,
    Time,
    Address,
    Stem,
    Query,
    Status,
    Host,
    /// The requested host, if another field has the host that answered.
    AskedHost,
    UserAgent,
}

/// The fields of CloudFront's standard logs, for files that have lost their header.
const CLOUDFRONT: &str = "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status \
    cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header \
    cs-protocol";

impl Layout {
    /// That of a file whose header has not been read yet.
    pub(super) fn unknown() -> Self {
        Self { columns: None, is_cloudfront: false }
    }

    pub(super) fn cloudfront() -> Self {
        Self { columns: Some(columns(CLOUDFRONT.as_bytes())), is_cloudfront: true }
    }

    pub(super) fn name(&self) -> &'static str {
        if self.is_cloudfront { "cloudfront" } else { "w3c" }
    }

    /// The layout after a directive, if the directive sets it.
    pub(super) fn after(line: &[u8]) -> Option<Self> {
        let fields = line.strip_prefix(b"#Fields:")?;
        let is_cloudfront = memchr::memmem::find(fields, b"x-edge-location").is_some();
        // Lines that do not say what was asked for can't be read.
        let columns = Some(columns(fields)).filter(|columns| columns.contains(&Column::Stem));
        Some(Self { columns, is_cloudfront })
    }

    pub(super) fn read<'l>(&self, line: &'l [u8]) -> Result<Hit<'l>, Unreadable> {
        let columns = self.columns.as_deref().ok_or(Unreadable::NoHeader)?;
        let separator = if memchr::memchr(b'\t', line).is_some() { b'\t' } else { b' ' };
        let mut rest = Some(line);
        let mut hit = Hit::default();
        let (mut date, mut clock, mut query) = (None, None, None);
        for column in columns {
            let value;
            (value, rest) = split(rest.ok_or(Unreadable::Fields)?, separator);
            match column {
                Column::Date => date = Some(value),
                Column::Time => clock = Some(value),
                Column::Address => hit.address = Cow::Borrowed(value),
                Column::Stem => hit.target = Cow::Borrowed(value),
                Column::Query => query = present(value),
                Column::Status => hit.status = status(value),
                Column::Host if hit.host.is_none() => hit.host = present(value).map(Cow::Borrowed),
                Column::Host | Column::Ignored => {}
                Column::AskedHost => hit.host = present(value).map(Cow::Borrowed).or(hit.host),
                Column::UserAgent => {
                    hit.user_agent = self.user_agent(present(value).unwrap_or_default());
                }
            }
        }
        if let (Some(date), Some(clock)) = (date, clock) {
            hit.time = Some(time::date_and_time(date, clock).ok_or(Unreadable::Date)?);
        }
        if let Some(query) = query {
            let target = hit.target.to_mut();
            target.push(b'?');
            target.extend_from_slice(query);
        }
        Ok(hit)
    }

    /// IIS writes a plus for a blank. CloudFront percent-encodes, and used to encode twice.
    fn user_agent<'l>(&self, value: &'l [u8]) -> Cow<'l, [u8]> {
        let plain = decoded(value, !self.is_cloudfront);
        if self.is_cloudfront && memchr::memmem::find(value, b"%2520").is_some() {
            return Cow::Owned(decoded(&plain, false).into_owned());
        }
        plain
    }
}

/// The first value of a line, without quotes around it, and the text after its separator.
fn split(line: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    if let Some(quoted) = line.strip_prefix(b"\"")
        && let Some(end) = memchr::memchr(b'"', quoted)
    {
        match quoted.get(end + 1) {
            None => return (&quoted[..end], None),
            Some(&octet) if octet == separator => return (&quoted[..end], quoted.get(end + 2..)),
            Some(_) => {}
        }
    }
    match memchr::memchr(separator, line) {
        Some(end) => (&line[..end], Some(&line[end + 1..])),
        None => (line, None),
    }
}

/// Whether a line is a directive by the names that W3C gives them.
pub(super) fn is_directive(line: &[u8]) -> bool {
    const NAMES: &[&str] =
        &["Version:", "Fields:", "Software:", "Start-Date:", "End-Date:", "Date:", "Remark:"];
    let name = line.strip_prefix(b"#");
    name.is_some_and(|name| NAMES.iter().any(|known| name.starts_with(known.as_bytes())))
}

fn columns(fields: &[u8]) -> Arc<[Column]> {
    let column = |name: &[u8]| match &*name.to_ascii_lowercase() {
        b"date" => Column::Date,
        b"time" => Column::Time,
        b"c-ip" => Column::Address,
        b"cs-uri-stem" | b"cs-uri" => Column::Stem,
        b"cs-uri-query" => Column::Query,
        b"sc-status" => Column::Status,
        b"cs-host" | b"cs(host)" => Column::Host,
        b"x-host-header" => Column::AskedHost,
        b"cs(user-agent)" => Column::UserAgent,
        _ => Column::Ignored,
    };
    fields.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty()).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_iis() {
        let layout = Layout::after(b"#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port c-ip cs(User-Agent) cs-host sc-status")
            .expect("a directive");
        let line = b"2000-10-10 20:55:36 10.0.0.1 GET /a b=c 443 192.0.2.1 Mozilla/5.0+(compatible;+bingbot/2.0) example.com 200";
        let hit = layout.read(line).expect("a line");
        assert_eq!((hit.time, &*hit.target), (Some(971_211_336), &b"/a?b=c"[..]));
        assert_eq!(&*hit.user_agent, b"Mozilla/5.0 (compatible; bingbot/2.0)");
        assert_eq!((hit.host.as_deref(), hit.status), (Some(&b"example.com"[..]), Some(200)));
        assert_eq!(layout.read(b"2000-10-10 20:55:36"), Err(Unreadable::Fields));
        assert_eq!(Layout::unknown().read(line), Err(Unreadable::NoHeader));
    }

    #[test]
    fn values_in_quotes_and_headers_without_a_request() {
        let layout =
            Layout::after(b"#Fields: date time cs-uri-stem cs(User-Agent) c-ip").expect("a directive");
        let line = b"2000-10-10 20:55:36 /a\"b \"Mozilla/5.0 (compatible; bingbot/2.0)\" 192.0.2.1";
        let hit = layout.read(line).expect("a line");
        assert_eq!(&*hit.user_agent, b"Mozilla/5.0 (compatible; bingbot/2.0)");
        assert_eq!((&*hit.target, &*hit.address), (&b"/a\"b"[..], &b"192.0.2.1"[..]));
        assert_eq!(layout.read(b"2000-10-10 20:55:36 \"/a b"), Err(Unreadable::Fields));
        let layout = Layout::after(b"#Fields: date time c-ip").expect("a directive");
        assert_eq!(layout.read(b"2000-10-10 20:55:36 192.0.2.1"), Err(Unreadable::NoHeader));
    }

    #[test]
    fn lines_of_cloudfront() {
        let line = b"2000-10-10\t20:55:36\tFRA\t5\t192.0.2.1\tGET\td.cloudfront.net\t/a\t200\t-\t\
            Mozilla/5.0%20(compatible;%20Googlebot/2.1)\tb=c\t-\tHit\tid\texample.com\thttps\textra";
        let hit = Layout::cloudfront().read(line).expect("a line");
        assert_eq!((hit.time, &*hit.target), (Some(971_211_336), &b"/a?b=c"[..]));
        assert_eq!(&*hit.user_agent, b"Mozilla/5.0 (compatible; Googlebot/2.1)");
        assert_eq!(hit.host.as_deref(), Some(&b"example.com"[..]));
        // As it was written until 2020.
        let twice = String::from_utf8_lossy(line).replace("%20", "%2520");
        let hit = Layout::cloudfront().read(twice.as_bytes()).expect("a line");
        assert_eq!(&*hit.user_agent, b"Mozilla/5.0 (compatible; Googlebot/2.1)");
    }
}

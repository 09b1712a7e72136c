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
    /// The host that was asked for, where another field has the host that answered.
    AskedHost,
    UserAgent,
}

/// The fields of CloudFront's standard logs, for files that have lost their header.
const CLOUDFRONT: &str = "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status \
    cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header \
    cs-protocol";

impl Layout {
    /// That of a file whose header has not been met yet.
    pub(super) fn unknown() -> Self {
        Self { columns: None, is_cloudfront: false }
    }

    pub(super) fn cloudfront() -> Self {
        Self { columns: Some(columns(CLOUDFRONT.as_bytes())), is_cloudfront: true }
    }

    pub(super) fn name(&self) -> &'static str {
        if self.is_cloudfront { "cloudfront" } else { "w3c" }
    }

    /// The layout behind a directive, if it is the one that says so.
    pub(super) fn after(line: &[u8]) -> Option<Self> {
        let fields = line.strip_prefix(b"#Fields:")?;
        let is_cloudfront = memchr::memmem::find(fields, b"x-edge-location").is_some();
        Some(Self { columns: Some(columns(fields)), is_cloudfront })
    }

    pub(super) fn read<'l>(&self, line: &'l [u8]) -> Result<Hit<'l>, Unreadable> {
        let columns = self.columns.as_deref().ok_or(Unreadable::NoHeader)?;
        let separator = if memchr::memchr(b'\t', line).is_some() { b'\t' } else { b' ' };
        let mut values = line.split(|&octet| octet == separator);
        let mut hit = Hit::default();
        let (mut date, mut clock, mut query) = (None, None, None);
        for column in columns {
            let value = values.next().ok_or(Unreadable::Fields)?;
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
                    hit.user_agent = decoded(present(value).unwrap_or_default(), !self.is_cloudfront);
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
    fn lines_of_cloudfront() {
        let line = b"2000-10-10\t20:55:36\tFRA\t5\t192.0.2.1\tGET\td.cloudfront.net\t/a\t200\t-\t\
            Mozilla/5.0%20(compatible;%20Googlebot/2.1)\tb=c\t-\tHit\tid\texample.com\thttps\textra";
        let hit = Layout::cloudfront().read(line).expect("a line");
        assert_eq!((hit.time, &*hit.target), (Some(971_211_336), &b"/a?b=c"[..]));
        assert_eq!(&*hit.user_agent, b"Mozilla/5.0 (compatible; Googlebot/2.1)");
        assert_eq!(hit.host.as_deref(), Some(&b"example.com"[..]));
    }
}

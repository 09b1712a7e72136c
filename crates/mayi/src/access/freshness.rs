//! The header fields of a response → how long it may be used without revalidation (REP-23).
//!
//! What RFC 9111 requires of a private cache with one response for one URL: `max-age`, `Expires`,
//! `Age`, `Date`, `no-cache`, `no-store`. `Vary` and `s-maxage` are for other caches.

use std::time::{Duration, SystemTime};

/// No copy is fresh for longer than this.
pub const MOST_FRESH: Duration = Duration::from_hours(24);

/// For how long after `received` a response with these header fields is fresh: at most 24 hours, and exactly
/// that if the fields say nothing.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use mayi::access::fresh_for;
///
/// let received = SystemTime::UNIX_EPOCH;
/// let fields = [("Cache-Control", "max-age=600"), ("Age", "60")];
/// assert_eq!(fresh_for(fields, received), Duration::from_secs(540));
/// ```
pub fn fresh_for<'h>(
    fields: impl IntoIterator<Item = (&'h str, &'h str)>,
    received: SystemTime,
) -> Duration {
    explicit_fresh_for(fields, received).map_or(MOST_FRESH, |fresh| fresh.min(MOST_FRESH))
}

/// For how long after `received` a response is fresh by its fields, without a limit, or `None` if they say
/// nothing.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use mayi::access::explicit_fresh_for;
///
/// let received = SystemTime::UNIX_EPOCH;
/// let week = explicit_fresh_for([("Cache-Control", "max-age=604800")], received);
/// assert_eq!(week, Some(Duration::from_hours(7 * 24)));
/// assert_eq!(explicit_fresh_for([("Content-Type", "text/plain")], received), None);
/// ```
pub fn explicit_fresh_for<'h>(
    fields: impl IntoIterator<Item = (&'h str, &'h str)>,
    received: SystemTime,
) -> Option<Duration> {
    let fields = Fields::read(fields);
    Some(fields.lifetime(Some(received))?.saturating_sub(fields.age(received)))
}

/// For how long a response is fresh by its fields, counted from the time when they say that it was made.
/// Without a readable Date, Expires is counted from `otherwise`; without that too it is ignored (TAG-11).
pub(crate) fn lifetime_from_date<'h>(
    fields: impl IntoIterator<Item = (&'h str, &'h str)>,
    otherwise: Option<SystemTime>,
) -> Option<Duration> {
    let fields = Fields::read(fields);
    let made = fields.date.or(otherwise);
    let lifetime = fields.lifetime(made)?;
    Some(lifetime.saturating_sub(fields.given_age()))
}

/// For how long a stale response may be used while it is revalidated (RFC 5861), or `None` if its fields do
/// not say. It is zero if they require revalidation each time.
///
/// ```
/// use std::time::Duration;
/// use mayi::access::stale_while_revalidate;
///
/// let fields = [("Cache-Control", "max-age=60, stale-while-revalidate=30")];
/// assert_eq!(stale_while_revalidate(fields), Some(Duration::from_secs(30)));
/// let fields = [("Cache-Control", "max-age=60, must-revalidate")];
/// assert_eq!(stale_while_revalidate(fields), Some(Duration::ZERO));
/// assert_eq!(stale_while_revalidate([("Cache-Control", "max-age=60")]), None);
/// ```
pub fn stale_while_revalidate<'h>(
    fields: impl IntoIterator<Item = (&'h str, &'h str)>,
) -> Option<Duration> {
    let fields = Fields::read(fields);
    if fields.must_ask || fields.must_revalidate {
        return Some(Duration::ZERO);
    }
    fields.stale_while_revalidate
}

/// For how long a server asks for no further request (`Retry-After`, RFC 9110 §10.2.3), or `None` if it does
/// not say.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use mayi::access::retry_after;
///
/// let received = SystemTime::UNIX_EPOCH;
/// assert_eq!(retry_after([("Retry-After", "120")], received), Some(Duration::from_secs(120)));
/// let date = [("Retry-After", "Thu, 01 Jan 1970 00:05:00 GMT")];
/// assert_eq!(retry_after(date, received), Some(Duration::from_secs(300)));
/// ```
pub fn retry_after<'h>(
    fields: impl IntoIterator<Item = (&'h str, &'h str)>,
    received: SystemTime,
) -> Option<Duration> {
    let mut fields = fields.into_iter();
    let (_, value) = fields.find(|(name, _)| name.eq_ignore_ascii_case("retry-after"))?;
    let value = value.trim();
    delta_seconds(value).or_else(|| {
        let date = httpdate::parse_http_date(value).ok()?;
        Some(date.duration_since(received).unwrap_or_default())
    })
}

/// The validators: what a later request sends to ask whether the file has changed.
///
/// ```
/// use mayi::access::Validators;
///
/// let validators = Validators::of([("ETag", "\"a1\""), ("Content-Type", "text/plain")]);
/// assert_eq!(validators.etag.as_deref(), Some("\"a1\""));
/// assert_eq!(validators.last_modified, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Validators {
    /// For `If-None-Match`.
    pub etag: Option<Box<str>>,
    /// For `If-Modified-Since`.
    pub last_modified: Option<Box<str>>,
}

impl Validators {
    /// The validators among the header fields of a response.
    pub fn of<'h>(fields: impl IntoIterator<Item = (&'h str, &'h str)>) -> Self {
        let mut validators = Self::default();
        for (name, value) in fields {
            if name.eq_ignore_ascii_case("etag") {
                validators.etag = Some(value.trim().into());
            } else if name.eq_ignore_ascii_case("last-modified") {
                validators.last_modified = Some(value.trim().into());
            }
        }
        validators
    }
}

/// The fields that count, the first of each kind (RFC 9111 §4.2.1).
#[derive(Default)]
struct Fields<'h> {
    must_ask: bool,
    must_revalidate: bool,
    stale_while_revalidate: Option<Duration>,
    max_age: Option<Duration>,
    expires: Option<Expires>,
    date: Option<SystemTime>,
    age: Option<&'h str>,
}

/// When a response is no longer fresh.
#[derive(Clone, Copy)]
enum Expires {
    At(SystemTime),
    /// A value that is not a date, such as `0`, counts as a time in the past (RFC 9111 §5.3).
    Before,
}

impl<'h> Fields<'h> {
    fn read(fields: impl IntoIterator<Item = (&'h str, &'h str)>) -> Self {
        let mut read = Self::default();
        for (name, value) in fields {
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "cache-control" => read.cache_control(value),
                "expires" => {
                    let expires = httpdate::parse_http_date(value);
                    let expires = expires.map_or(Expires::Before, Expires::At);
                    read.expires = read.expires.or(Some(expires));
                }
                "date" => read.date = read.date.or(httpdate::parse_http_date(value).ok()),
                "age" => read.age = read.age.or(Some(value)),
                _ => {}
            }
        }
        read
    }

    fn cache_control(&mut self, value: &str) {
        for directive in directives(value) {
            let (name, argument) = directive.split_once('=').unwrap_or((directive, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                // `no-cache="field"` is about that field alone.
                "no-cache" => self.must_ask |= argument.is_empty(),
                "no-store" => self.must_ask = true,
                "must-revalidate" => self.must_revalidate = true,
                "stale-while-revalidate" if self.stale_while_revalidate.is_none() => {
                    let seconds = delta_seconds(argument.trim().trim_matches('"'));
                    self.stale_while_revalidate = Some(seconds.unwrap_or_default());
                }
                "max-age" if self.max_age.is_none() => {
                    let seconds = delta_seconds(argument.trim().trim_matches('"'));
                    self.max_age = Some(seconds.unwrap_or_default());
                }
                _ => {}
            }
        }
    }

    /// The freshness lifetime that the fields give. A value that can't be read means stale. Without a date to
    /// count from, Expires is ignored.
    fn lifetime(&self, received: Option<SystemTime>) -> Option<Duration> {
        if self.must_ask {
            return Some(Duration::ZERO);
        }
        let until_expiry = || match self.expires? {
            Expires::Before => Some(Duration::ZERO),
            Expires::At(expires) => {
                Some(expires.duration_since(self.date.or(received)?).unwrap_or_default())
            }
        };
        self.max_age.or_else(until_expiry)
    }

    /// How old the response was when it came (RFC 9111 §4.2.3).
    fn age(&self, received: SystemTime) -> Duration {
        let apparent = self.date.and_then(|date| received.duration_since(date).ok());
        apparent.unwrap_or_default().max(self.given_age())
    }

    /// How old it was, as the caches on the way say.
    fn given_age(&self) -> Duration {
        self.age.and_then(delta_seconds).unwrap_or_default()
    }
}

/// The directives of a `Cache-Control`: the parts between commas outside quotes (RFC 9110 §5.6.4). A
/// quotation mark that is not closed is ignored, because it would hide what comes after it.
fn directives(value: &str) -> impl Iterator<Item = &str> {
    let is_sound = value.chars().fold(Quoting::default(), Quoting::after).is_over();
    let mut quoting = Quoting::default();
    value.split(move |char| {
        quoting = quoting.after(char);
        char == ',' && (quoting.is_over() || !is_sound)
    })
}

/// Whether a character is in a quoted string.
#[derive(Clone, Copy, Default)]
struct Quoting {
    is_open: bool,
    is_escaped: bool,
}

impl Quoting {
    fn after(self, char: char) -> Self {
        match char {
            _ if self.is_escaped => Self { is_escaped: false, ..self },
            '"' => Self { is_open: !self.is_open, is_escaped: false },
            '\\' => Self { is_escaped: self.is_open, ..self },
            _ => self,
        }
    }

    fn is_over(self) -> bool {
        !self.is_open
    }
}

/// RFC 9111 §1.2.2: only digits; a number that is too large means a very long time.
fn delta_seconds(value: &str) -> Option<Duration> {
    if value.is_empty() || !value.bytes().all(|octet| octet.is_ascii_digit()) {
        return None;
    }
    Some(Duration::from_secs(value.parse().unwrap_or(u64::from(u32::MAX))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fields: &[(&str, &str)], seconds: u64) {
        let received = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").expect("a date");
        assert_eq!(fresh_for(fields.iter().copied(), received).as_secs(), seconds, "{fields:?}");
    }

    #[test]
    fn lifetimes() {
        let day = 86_400;
        check(&[], day);
        check(&[("Cache-Control", "public, MAX-AGE=60")], 60);
        check(&[("cache-control", "max-age=\"60\", max-age=5")], 60);
        check(&[("Cache-Control", "max-age=99999999999999999999")], day);
        check(&[("Cache-Control", "max-age=x")], 0);
        check(&[("Cache-Control", "s-maxage=60")], day);
        check(&[("Cache-Control", "no-cache")], 0);
        check(&[("Cache-Control", "no-cache=\"set-cookie\"")], day);
        check(&[("Cache-Control", "private=\"a, no-store, max-age=5\", max-age=60")], 60);
        check(&[("Cache-Control", "ext=\"a\\\", no-store\" , max-age=60")], 60);
        check(&[("Cache-Control", "ext=\"never ends, max-age=60")], 60);
        check(&[("Cache-Control", "max-age=60"), ("Cache-Control", "no-store")], 0);
        check(&[("Cache-Control", "max-age=-1")], 0);
        check(&[("Cache-Control", "max-age=60"), ("Age", "50")], 10);
        check(&[("Cache-Control", "max-age=60"), ("Age", "500")], 0);
        check(&[("Expires", "Sun, 06 Nov 1994 09:49:37 GMT")], 3600);
        check(&[("Expires", "0")], 0);
        check(&[("Expires", "Sunday, 06-Nov-94 09:49:37 GMT"), ("Cache-Control", "max-age=1")], 1);
        let date = ("Date", "Sun, 06 Nov 1994 08:39:37 GMT");
        check(&[("Expires", "Sun, 06 Nov 1994 08:59:37 GMT"), date], 600);
        check(&[date], day);
        let future = ("Date", "Mon, 07 Nov 1994 08:49:37 GMT");
        check(&[("Cache-Control", "max-age=60"), future], 60);
        check(&[("Expires", "Sun, 06 Nov 1994 09:49:37 GMT"), future], 0);
    }
}

//! Times in JSON: RFC 3339, in both directions.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::page::{days_in, days_since_1970};

/// A time as `2026-11-15T13:00:00Z`, to the second.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// let time = SystemTime::UNIX_EPOCH + Duration::from_secs(951_827_696);
/// assert_eq!(mayi::report::rfc3339_of(time), "2000-02-29T12:34:56Z");
/// ```
pub fn rfc3339_of(time: SystemTime) -> String {
    Timestamp::from(time).to_string()
}

/// A time to the second, from 1970 to the end of the year 9999, as in reports.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use mayi::report::Timestamp;
///
/// let time = Timestamp::from(SystemTime::UNIX_EPOCH + Duration::from_millis(1_500));
/// assert_eq!(time.to_string(), "1970-01-01T00:00:01Z");
/// assert_eq!(SystemTime::from(time), SystemTime::UNIX_EPOCH + Duration::from_secs(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

/// The last second of the year 9999.
const LAST: u64 = 253_402_300_799;

impl From<SystemTime> for Timestamp {
    /// An earlier or later time becomes the first or the last possible one.
    fn from(time: SystemTime) -> Self {
        Self(time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs().min(LAST))
    }
}

impl From<Timestamp> for SystemTime {
    fn from(time: Timestamp) -> Self {
        Self::UNIX_EPOCH + Duration::from_secs(time.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(f, self.0.cast_signed())?;
        f.write_char('Z')
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Exact::deserialize(deserializer).map(|Exact(time)| time.into())
    }
}

/// A time to the nanosecond, from the year 0 to the end of the year 9999.
pub(super) struct Exact(pub(super) SystemTime);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (seconds, nanoseconds) = match self.0.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => (since.as_secs().min(LAST).cast_signed(), since.subsec_nanos()),
            Err(error) => {
                // Before 1970, a fraction of a second counts forwards from the second before it.
                let before = error.duration();
                let is_part = before.subsec_nanos() > 0;
                let whole = before.as_secs().saturating_add(u64::from(is_part)).min(LAST);
                (-whole.cast_signed(), (1_000_000_000 - before.subsec_nanos()) % 1_000_000_000)
            }
        };
        let mut text = String::new();
        let first = days_since_1970(0, 1, 1) * 86_400;
        write_seconds(&mut text, seconds.max(first)).expect("writing to memory does not fail");
        if nanoseconds > 0 {
            let digits = format!("{nanoseconds:09}");
            text.push('.');
            text.push_str(digits.trim_end_matches('0'));
        }
        text.push('Z');
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'_, str>::deserialize(deserializer)?;
        let time = time_of_rfc3339(&text).ok_or_else(|| {
            let text: String = text.chars().take(64).flat_map(char::escape_debug).collect();
            de::Error::custom(format_args!(
                "a time is one of RFC 3339, such as `2026-11-15T13:00:00Z`, and `{text}` is not one"
            ))
        })?;
        Ok(Self(time))
    }
}

/// Writes date and time of so many seconds since 1970, without the zone.
fn write_seconds(out: &mut impl fmt::Write, seconds: i64) -> fmt::Result {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years that begin in March: a leap day is then the last day of one. 719,468 days lie between
    // such a year 0 and 1970; four hundred of them have 146,097.
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, year) = if month < 10 { (month + 3, year) } else { (month - 9, year + 1) };
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let year = era * 400 + year;
    write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

/// The time that a text of RFC 3339 says, read strictly: `2026-11-15T13:00:00Z`, with a fraction of a second
/// and with an offset from UTC if it has them.
///
/// ```
/// use mayi::report::{rfc3339_of, time_of_rfc3339};
///
/// let time = time_of_rfc3339("2000-02-29T14:34:56.5+02:00").expect("a time");
/// assert_eq!(rfc3339_of(time), "2000-02-29T12:34:56Z");
/// assert_eq!(time_of_rfc3339("2000-02-29"), None);
/// ```
pub fn time_of_rfc3339(text: &str) -> Option<SystemTime> {
    let octets = text.as_bytes();
    let number = |at: usize, length: usize| -> Option<i64> {
        let digits = text.get(at..at + length)?;
        digits.bytes().all(|octet| octet.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let is = |at: usize, wanted: &[u8]| octets.get(at).is_some_and(|octet| wanted.contains(octet));
    let has_marks = is(4, b"-") && is(7, b"-") && is(10, b"Tt") && is(13, b":") && is(16, b":");
    if !has_marks {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
    let (hour, minute, second) = (number(11, 2)?, number(14, 2)?, number(17, 2)?);
    let is_date = (1..=12).contains(&month) && day >= 1 && day <= days_in(year, month);
    if !is_date || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, zone) = match text.get(19..)?.strip_prefix('.') {
        None => (Duration::ZERO, text.get(19..)?),
        Some(rest) => {
            let end = rest.bytes().position(|octet| !octet.is_ascii_digit()).unwrap_or(rest.len());
            (fraction(&rest[..end])?, &rest[end..])
        }
    };
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    let seconds = seconds - offset(zone)?;
    // A leap second is the last of a day in UTC; it has no number of its own and is taken for the next.
    if second == 60 && seconds.rem_euclid(86_400) != 0 {
        return None;
    }
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let whole = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)?
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)?
    };
    whole.checked_add(fraction)
}

/// `Z`, `+02:00` or `-08:00`, in seconds.
fn offset(zone: &str) -> Option<i64> {
    let (sign, rest) = match zone.as_bytes().first()? {
        b'Z' | b'z' => return (zone.len() == 1).then_some(0),
        b'+' => (1, &zone[1..]),
        b'-' => (-1, &zone[1..]),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |digits: &str| -> Option<i64> {
        let is_number = digits.len() == 2 && digits.bytes().all(|octet| octet.is_ascii_digit());
        is_number.then(|| digits.parse().ok())?
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// The digits after the point; those after the ninth are below what a time can tell apart.
fn fraction(digits: &str) -> Option<Duration> {
    if digits.is_empty() {
        return None;
    }
    let place = |(at, digit): (usize, u8)| u32::from(digit - b'0') * 10_u32.pow(8 - at as u32);
    let nanoseconds: u32 = digits.bytes().take(9).enumerate().map(place).sum();
    Some(Duration::from_nanos(u64::from(nanoseconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (68_169_599, "1972-02-28T23:59:59Z"),
            (68_169_600, "1972-02-29T00:00:00Z"),
            (1_794_747_600, "2026-11-15T13:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339_of(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn times_of_texts() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-11-15T13:00:00Z", 1_794_747_600),
            ("2026-11-15t13:00:00z", 1_794_747_600),
            ("2026-11-15T15:00:00+02:00", 1_794_747_600),
            ("2026-11-15T04:30:00-08:30", 1_794_747_600),
            ("2026-11-15T13:00:00-00:00", 1_794_747_600),
            ("2026-11-15T13:00:00.999999999999Z", 1_794_747_600),
            ("2016-12-31T23:59:60Z", 1_483_228_800),
            ("2017-01-01T00:59:60+01:00", 1_483_228_800),
            ("2024-02-29T00:00:00Z", 1_709_164_800),
        ] {
            let time = time_of_rfc3339(text).unwrap_or_else(|| panic!("{text} is a time"));
            let since = time.duration_since(SystemTime::UNIX_EPOCH).expect("it is not before 1970");
            assert_eq!(since.as_secs(), seconds, "{text}");
        }
        let early = time_of_rfc3339("1969-12-31T23:59:59.5Z").expect("a time");
        let before = SystemTime::UNIX_EPOCH.duration_since(early).expect("it is before 1970");
        assert_eq!(before, Duration::from_millis(500));
        assert!(time_of_rfc3339("0000-01-01T00:00:00Z").is_some());
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "now",
            "1794747600",
            "2026-11-15",
            "2026-11-15T13:00Z",
            "2026-11-15T13:00:00",
            "2026-11-15 13:00:00Z",
            "2026-11-15T13:00:00 Z",
            "2026-11-15T13:00:00.Z",
            "2026-11-15T13:00:00,5Z",
            "2026-11-15T13:00:00Zx",
            " 2026-11-15T13:00:00Z",
            "2026-11-15T13:00:00Z ",
            "2026-11-15T13:00:00+2:00",
            "2026-11-15T13:00:00+0200",
            "2026-11-15T13:00:00+24:00",
            "2026-11-15T13:00:00+02:60",
            "2026-11-15T13:00:00+",
            "2026-11-15T24:00:00Z",
            "2026-11-15T13:60:00Z",
            "2026-11-15T13:00:60Z",
            "2026-11-15T13:00:61Z",
            "2026-13-15T13:00:00Z",
            "2026-00-15T13:00:00Z",
            "2026-11-31T13:00:00Z",
            "2025-02-29T13:00:00Z",
            "+026-11-15T13:00:00Z",
            "12026-11-15T13:00:00Z",
            "２０２６-11-15T13:00:00Z",
            "Sun, 15 Nov 2026 13:00:00 GMT",
            "2026-11-15T13:00:00é",
        ] {
            assert_eq!(time_of_rfc3339(text), None, "{text}");
        }
    }
}

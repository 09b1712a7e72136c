//! The dates of logs → seconds since 1970 in UTC, and days back to text. Written by hand, because logs have
//! few forms of dates, and there is time for only one look at each octet of a line.

use std::fmt;
use std::str::FromStr;

/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;

/// A time from an option: a date (UTC) or a date with a time.
///
/// ```
/// use mayi_audit::Moment;
///
/// let day: Moment = "2026-10-01".parse()?;
/// assert_eq!((day.start(), day.end()), (1_790_812_800, 1_790_899_200));
/// let time: Moment = "2026-10-01T02:00:00+02:00".parse()?;
/// assert_eq!((time.start(), time.end()), (1_790_812_800, 1_790_812_800));
/// # Ok::<(), mayi_audit::InvalidTime>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    start: i64,
    is_day: bool,
}

impl Moment {
    /// When it begins, in seconds since 1970.
    pub fn start(self) -> i64 {
        self.start
    }

    /// When it is over: a day ends with the next one, a time at once.
    pub fn end(self) -> i64 {
        if self.is_day { self.start + DAY } else { self.start }
    }
}

impl FromStr for Moment {
    type Err = InvalidTime;

    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let wrong = || InvalidTime(text.into());
        if let Some(start) = date(text.as_bytes()) {
            return Ok(Self { start, is_day: true });
        }
        let start = rfc3339(text.as_bytes()).ok_or_else(wrong)?;
        Ok(Self { start, is_day: false })
    }
}

/// Text that is no moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTime(Box<str>);

impl fmt::Display for InvalidTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = self.0.escape_debug();
        write!(f, "`{given}` is not a date: write 2026-10-01, or 2026-10-01T12:00:00Z for a time")
    }
}

impl std::error::Error for InvalidTime {}

/// `10/Oct/2000:13:55:36 -0700`, as Apache and nginx write it. A time without a zone is UTC.
pub(crate) fn common(text: &[u8]) -> Option<i64> {
    let (day, month, year, clock) =
        (text.get(..2)?, text.get(3..6)?, text.get(7..11)?, text.get(12..20)?);
    if (text[2], text[6], text[11]) != (b'/', b'/', b':') {
        return None;
    }
    let months: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let month = (1..).zip(months.chunks(3)).find(|(_, name)| name.eq_ignore_ascii_case(month))?.0;
    let days = days_of(number(year)?, month, number(day)?)?;
    let zone = match without_fraction(text.get(20..).unwrap_or_default())? {
        [] => 0,
        [b' ', zone @ ..] => offset(zone)?,
        _ => return None,
    };
    Some(days * DAY + seconds_of(clock)? - zone)
}

/// `2000-10-10T13:55:36.123-07:00`, with a space for the `T` and without zone or fraction too.
pub(crate) fn rfc3339(text: &[u8]) -> Option<i64> {
    let days = date(text.get(..10)?)?;
    if !matches!(text.get(10)?, b'T' | b't' | b' ' | b'_') {
        return None;
    }
    let clock = seconds_of(text.get(11..19)?)?;
    let zone = match without_fraction(&text[19..])? {
        [] | [b'Z' | b'z'] => 0,
        [b' ', zone @ ..] | zone => offset(zone)?,
    };
    Some(days + clock - zone)
}

/// The text after the fraction of a second, if there is one.
fn without_fraction(text: &[u8]) -> Option<&[u8]> {
    let [b'.' | b',', fraction @ ..] = text else { return Some(text) };
    let digits = fraction.iter().take_while(|octet| octet.is_ascii_digit()).count();
    (digits > 0).then(|| &fraction[digits..])
}

/// `2000-10-10` and `13:55:36` in two fields.
pub(crate) fn date_and_time(date_text: &[u8], time: &[u8]) -> Option<i64> {
    Some(date(date_text)? + seconds_of(time.get(..8)?)?)
}

/// Seconds since 1970 as a number: with a fraction, or in milli-, micro- or nanoseconds, by how large
/// it is.
pub(crate) fn epoch(text: &[u8]) -> Option<i64> {
    let digits = text.iter().take_while(|octet| octet.is_ascii_digit()).count();
    if digits == 0 || digits > 19 || !matches!(text.get(digits), None | Some(b'.')) {
        return None;
    }
    epoch_of(std::str::from_utf8(&text[..digits]).ok()?.parse().ok()?)
}

/// The same for a number.
pub(crate) fn epoch_of(number: u64) -> Option<i64> {
    let seconds = match number {
        0..100_000_000_000 => number,
        100_000_000_000..100_000_000_000_000 => number / 1_000,
        100_000_000_000_000..100_000_000_000_000_000 => number / 1_000_000,
        _ => number / 1_000_000_000,
    };
    i64::try_from(seconds).ok()
}

/// Any of the forms that a field called "time" may have.
pub(crate) fn any(text: &[u8]) -> Option<i64> {
    let text = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]")).unwrap_or(text);
    rfc3339(text).or_else(|| common(text)).or_else(|| epoch(text))
}

/// The day of a time, counted from 1970-01-01.
pub(crate) fn day_of(time: i64) -> i32 {
    i32::try_from(time.div_euclid(DAY)).unwrap_or(i32::MAX)
}

/// `2026-10-01` for a day that is counted from 1970-01-01.
pub fn day_text(day: i32) -> String {
    // Days into years by the rule of 400 years, with years that begin in March.
    let shifted = i64::from(day) + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// `2026-10-01T12:34:56Z`.
pub(crate) fn time_text(time: i64) -> String {
    let clock = time.rem_euclid(DAY);
    let (hours, minutes, seconds) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!("{}T{hours:02}:{minutes:02}:{seconds:02}Z", day_text(day_of(time)))
}

/// The seconds before a date, `2000-10-10` or `2000/10/10`.
fn date(text: &[u8]) -> Option<i64> {
    let (year, month, day) = (text.get(..4)?, text.get(5..7)?, text.get(8..10)?);
    if text.len() != 10 || text[4] != text[7] || !matches!(text[4], b'-' | b'/') {
        return None;
    }
    Some(days_of(number(year)?, number(month)?, number(day)?)? * DAY)
}

/// Days from 1970-01-01 to a date, by the rule of 400 years.
fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    const LENGTHS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = LENGTHS.get(usize::try_from(month - 1).ok()?)? + i64::from(month == 2 && is_leap);
    if !(1..=length).contains(&day) {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    Some(era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year - 719_468)
}

/// The seconds of `13:55:36`; a leap second is the one before it.
fn seconds_of(clock: &[u8]) -> Option<i64> {
    if clock.len() != 8 || clock[2] != b':' || clock[5] != b':' {
        return None;
    }
    let (hours, minutes, seconds) = (number(&clock[..2])?, number(&clock[3..5])?, number(&clock[6..])?);
    (hours < 24 && minutes < 60 && seconds <= 60).then(|| hours * 3600 + minutes * 60 + seconds.min(59))
}

/// The seconds of `-0700`, `+02:00` or `Z`.
fn offset(zone: &[u8]) -> Option<i64> {
    let (sign, hours, minutes) = match zone {
        b"Z" => return Some(0),
        [sign, hours @ .., b':', a, b] if hours.len() == 2 => (sign, hours, [*a, *b]),
        [sign, hours @ .., a, b] if hours.len() == 2 => (sign, hours, [*a, *b]),
        _ => return None,
    };
    let (hours, minutes) = (number(hours)?, number(&minutes)?);
    let seconds = hours * 3600 + minutes * 60;
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    let digit = |octet: &u8| octet.is_ascii_digit().then(|| i64::from(octet - b'0'));
    digits.iter().try_fold(0, |number, octet| Some(number * 10 + digit(octet)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_gives_the_same_second() {
        let second = 971_211_336;
        assert_eq!(common(b"10/Oct/2000:13:55:36 -0700"), Some(second));
        assert_eq!(common(b"10/Oct/2000:20:55:36"), Some(second));
        assert_eq!(common(b"10/Oct/2000:13:55:36.123 -0700"), Some(second));
        for text in [
            "2000-10-10T20:55:36Z",
            "2000-10-10 20:55:36",
            "2000/10/10 20:55:36.5",
            "2000-10-10T13:55:36.25-07:00",
            "2000-10-10T22:55:36,1+0200",
            "971211336",
            "971211336.123",
            "971211336123",
            "971211336123456789",
            "[10/Oct/2000:13:55:36 -0700]",
        ] {
            assert_eq!(any(text.as_bytes()), Some(second), "{text}");
        }
        assert_eq!(date_and_time(b"2000-10-10", b"20:55:36"), Some(second));
        assert_eq!(time_text(second), "2000-10-10T20:55:36Z");
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "-",
            "31/Feb/2026:00:00:00 +0000",
            "10/Okt/2000:13:55:36 -0700",
            "2026-13-01T00:00:00Z",
            "2026-10-01T24:00:00Z",
            "2026-10-01T00:00:00.Z",
            "2026-10-01T00:00:00+1",
            "10/Oct/2000:13:55:36.x -0700",
            "2000-10/10 20:55:36",
            "1e9",
            "99999999999999999999",
        ] {
            assert_eq!(any(text.as_bytes()), None, "{text}");
        }
        assert!("2026-02-29".parse::<Moment>().is_err());
        assert!("2028-02-29".parse::<Moment>().is_ok());
    }

    #[test]
    fn days_and_dates_are_each_others_inverse() {
        for day in (-800_000..800_000).step_by(97) {
            let text = day_text(day);
            if text.len() == 10 && !text.starts_with('-') {
                assert_eq!(date(text.as_bytes()), Some(i64::from(day) * DAY), "{text}");
            }
        }
    }
}

//! A date as people write it in `unavailable_after` → seconds since 1970.
//!
//! RFC 822, RFC 850, asctime and ISO 8601 forms, with zone names or offsets, and the variations that
//! are in use: the parts are recognised by their form, not by their position.

/// The time that a date says, or `None` if it can't be read. A date without a zone is in UTC, and
/// one without a time is at its start.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let mut parts = Parts::default();
    let text = text.trim();
    if !text.is_ascii() {
        return None;
    }
    // Structured Fields have a type for it.
    if let Some(seconds) = text.strip_prefix('@') {
        return seconds.parse().ok();
    }
    // ISO 8601 has `T` between date and time and `Z` or an offset after it.
    let is_word = |c: char| c == ' ' || c == ',' || c == '\t';
    for word in text.split(is_word).filter(|word| !word.is_empty()) {
        parts.word(word)?;
    }
    parts.seconds()
}

#[derive(Default)]
struct Parts {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    time: Option<i64>,
    offset: Option<i64>,
}

impl Parts {
    fn word(&mut self, word: &str) -> Option<()> {
        if let Some((date, time)) = word.split_once(['T', 't'])
            && date.starts_with(|c: char| c.is_ascii_digit())
            && date.contains('-')
        {
            self.iso_date(date)?;
            return self.iso_time(time);
        }
        if word.contains(':') && !word.starts_with(['+', '-']) {
            return self.iso_time(word);
        }
        if word.starts_with(['+', '-']) {
            return set(&mut self.offset, offset(word)?);
        }
        if word.contains(['-', '/']) {
            return self.iso_date(word).or_else(|| self.dashed_date(word));
        }
        if word.bytes().all(|octet| octet.is_ascii_digit()) {
            return self.number(word);
        }
        if let Some(month) = month(word) {
            return set(&mut self.month, month);
        }
        if is_weekday(word) {
            return Some(());
        }
        if let Some(zone) = zone(word) {
            return set(&mut self.offset, zone);
        }
        None
    }

    /// `2025-12-31`.
    fn iso_date(&mut self, word: &str) -> Option<()> {
        let mut numbers = word.split('-');
        let (year, month, day) = (numbers.next()?, numbers.next()?, numbers.next()?);
        if year.len() != 4 || numbers.next().is_some() {
            return None;
        }
        let (year, month, day) = (digits(year)?, digits(month)?, digits(day)?);
        set(&mut self.year, year)?;
        set(&mut self.month, month)?;
        set(&mut self.day, day)
    }

    /// `25-Jun-2010`, `25-Jun-10`.
    fn dashed_date(&mut self, word: &str) -> Option<()> {
        let mut cells = word.split('-');
        let (day, name, year) = (cells.next()?, cells.next()?, cells.next()?);
        if cells.next().is_some() {
            return None;
        }
        set(&mut self.day, digits(day)?)?;
        set(&mut self.month, month(name)?)?;
        self.year_number(year)
    }

    /// `15:00`, `15:00:00`, `15:00:00.5Z`, `15:00+02:00`.
    fn iso_time(&mut self, word: &str) -> Option<()> {
        let zone_at = word.find(['Z', 'z', '+', '-']);
        let (time, zone) = word.split_at(zone_at.unwrap_or(word.len()));
        let mut numbers = time.split(':');
        let hours = digits(numbers.next()?)?;
        let minutes = digits(numbers.next()?)?;
        let seconds = match numbers.next() {
            Some(seconds) => digits(seconds.split('.').next()?)?,
            None => 0,
        };
        if hours > 24 || minutes > 59 || seconds > 60 || numbers.next().is_some() {
            return None;
        }
        set(&mut self.time, hours * 3600 + minutes * 60 + seconds)?;
        match zone {
            "" => Some(()),
            "Z" | "z" => set(&mut self.offset, 0),
            _ => set(&mut self.offset, offset(zone)?),
        }
    }

    /// A number alone is the day, or else the year.
    fn number(&mut self, word: &str) -> Option<()> {
        if word.len() <= 2 && self.day.is_none() {
            return set(&mut self.day, digits(word)?);
        }
        self.year_number(word)
    }

    fn year_number(&mut self, word: &str) -> Option<()> {
        let number = digits(word)?;
        let year = match word.len() {
            4 => number,
            // RFC 9110 §5.6.7 has two digits too: this century, or the one before.
            2 if number < 70 => 2000 + number,
            2 => 1900 + number,
            _ => return None,
        };
        set(&mut self.year, year)
    }

    fn seconds(&self) -> Option<i64> {
        let (year, month, day) = (self.year?, self.month?, self.day?);
        if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
            return None;
        }
        let time = self.time.unwrap_or(0) - self.offset.unwrap_or(0);
        Some(days_since_1970(year, month, day) * 86_400 + time)
    }
}

/// Sets a part that was not set yet.
fn set(part: &mut Option<i64>, value: i64) -> Option<()> {
    part.is_none().then(|| *part = Some(value))
}

fn digits(text: &str) -> Option<i64> {
    let all = !text.is_empty() && text.len() <= 4 && text.bytes().all(|octet| octet.is_ascii_digit());
    all.then(|| text.parse().ok())?
}

/// `+0200`, `-08:00`, in seconds.
fn offset(text: &str) -> Option<i64> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let number = text[1..].replace(':', "");
    let (hours, minutes) = match number.len() {
        2 => (digits(&number)?, 0),
        4 => (digits(&number[..2])?, digits(&number[2..])?),
        _ => return None,
    };
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}

fn zone(word: &str) -> Option<i64> {
    let hours = match word.to_ascii_uppercase().as_str() {
        "GMT" | "UTC" | "UT" | "Z" | "WET" => 0,
        "BST" | "CET" | "WEST" | "MET" => 1,
        "CEST" | "EET" => 2,
        "EEST" | "MSK" => 3,
        "JST" | "KST" => 9,
        "EDT" => -4,
        "EST" | "CDT" => -5,
        "CST" | "MDT" => -6,
        "MST" | "PDT" => -7,
        "PST" => -8,
        _ => return None,
    };
    Some(hours * 3600)
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The month of this name, or of its first letters.
fn month(word: &str) -> Option<i64> {
    let mut named = (1..).zip(MONTHS).filter(|(_, name)| is_name(word, name));
    named.next().map(|(month, _)| month)
}

fn is_weekday(word: &str) -> bool {
    WEEKDAYS.iter().any(|name| is_name(word, name))
}

/// Whether a word is a name, or three letters or more of its start.
fn is_name(word: &str, name: &str) -> bool {
    let word = word.trim_end_matches('.').to_ascii_lowercase();
    word.len() >= 3 && name.starts_with(&word)
}

pub(crate) fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days of the Gregorian calendar, with March as the first month so that leap days come last.
pub(crate) fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days_of_years = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days_of_months = (month * 153 + 2) / 5;
    days_of_years + days_of_months + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_use() {
        // 2010-06-25 15:00:00 UTC.
        let expected = 1_277_478_000;
        for text in [
            "Fri, 25 Jun 2010 15:00:00 GMT",
            "Friday, 25-Jun-10 15:00:00 GMT",
            "25 Jun 2010 07:00:00 PST",
            "25-Jun-2010 15:00:00 UTC",
            "Fri Jun 25 15:00:00 2010",
            "2010-06-25T15:00:00Z",
            "2010-06-25T17:00:00+02:00",
            "2010-06-25 15:00",
            "25 June 2010 15:00 +0000",
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        assert_eq!(seconds("1970-01-01"), Some(0));
        assert_eq!(seconds("2000-03-01"), Some(951_868_800));
        assert_eq!(seconds("29 Feb 2024"), Some(1_709_164_800));
    }

    #[test]
    fn what_is_no_date() {
        for text in [
            "",
            "1 Jan 2020 +€a",
            "@",
            "soon",
            "2010-13-01",
            "31 Feb 2010",
            "25 Jun",
            "noindex",
            "25 Jun 2010 25:00",
            "1 2 3 4",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}

//! Shared by the readers of JSON lines: values that are written as text or as a number, borrowed from the
//! line if nothing in them is escaped, and the repair of lines that are JSON except for a few octets.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Unreadable, status};
use crate::hit::{Hit, present};
use crate::time;

/// Reads a line of JSON. Octets that are not UTF-8 are replaced, and the escapes of nginx that JSON does not
/// have (`\x22`) are read as meant.
pub(super) fn read_line(
    line: &[u8],
    read: impl Fn(&[u8]) -> Result<Hit<'_>, Unreadable>,
) -> Result<Hit<'_>, Unreadable> {
    let line = line.trim_ascii_start();
    if line.first() != Some(&b'{') {
        return Err(Unreadable::Json);
    }
    let outcome = read(line);
    if outcome != Err(Unreadable::Json) {
        return outcome;
    }
    let has_escape = memchr::memmem::find(line, b"\\x").is_some();
    if !has_escape && std::str::from_utf8(line).is_ok() {
        return outcome;
    }
    let repaired = String::from_utf8_lossy(line).replace("\\x", "\\u00");
    read(repaired.as_bytes()).map(Hit::into_owned)
}

/// The members of a line, as the format has them.
pub(super) fn members<'l, T: Deserialize<'l>>(line: &'l [u8]) -> Result<T, Unreadable> {
    serde_json::from_slice(line).map_err(|_| Unreadable::Json)
}

/// A value that may be written as text or as a number; of a list, its first item.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Scalar<'l> {
    Text(Cow<'l, str>),
    Whole(u64),
    Fraction(f64),
    /// Null, an object, or something else that has no value here.
    #[default]
    Nothing,
}

impl<'l> Scalar<'l> {
    /// The text, unless it stands for a missing value.
    pub(super) fn octets(self) -> Option<Cow<'l, [u8]>> {
        let octets = match self {
            Self::Text(Cow::Borrowed(text)) => Cow::Borrowed(text.as_bytes()),
            Self::Text(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
            Self::Whole(number) => Cow::Owned(number.to_string().into_bytes()),
            Self::Fraction(_) | Self::Nothing => return None,
        };
        present(&octets).is_some().then_some(octets)
    }

    /// The time in seconds; none if the value is missing.
    pub(super) fn time(&self) -> Result<Option<i64>, Unreadable> {
        let time = match self {
            Self::Text(text) => match present(text.as_bytes()) {
                Some(text) => time::any(text),
                None => return Ok(None),
            },
            Self::Whole(number) => time::epoch_of(*number),
            // Fractions of a second are of no interest.
            Self::Fraction(number) => u64::try_from(*number as i64).ok().and_then(time::epoch_of),
            Self::Nothing => return Ok(None),
        };
        time.map(Some).ok_or(Unreadable::Date)
    }

    /// The status that it is.
    pub(super) fn status(&self) -> Option<u16> {
        match self {
            Self::Text(text) => status(text.as_bytes()),
            Self::Whole(number) => u16::try_from(*number).ok().filter(|number| *number < 1000),
            Self::Fraction(_) | Self::Nothing => None,
        }
    }
}

impl<'de: 'l, 'l> Deserialize<'de> for Scalar<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Scalars)
    }
}

struct Scalars;

impl<'de> Visitor<'de> for Scalars {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Whole(number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Nothing)
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Fraction(number))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Nothing)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let first = items.next_element()?.unwrap_or_default();
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(first)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(text: &str) -> Scalar<'_> {
        members(text.as_bytes()).expect("a value")
    }

    #[test]
    fn values_as_text_or_as_numbers() {
        for text in ["200", "\"200\"", "[200, 404]", "[\"200\"]"] {
            assert_eq!(scalar(text).status(), Some(200), "{text}");
        }
        for text in ["null", "{}", "[]", "-1", "20", "true", "\"-\"", "\"2000\"", "2000", "1.5"] {
            let is_status = scalar(text).status();
            assert!(is_status.is_none() || text == "20", "{text}: {is_status:?}");
        }
        assert!(matches!(scalar("\"plain\"").octets(), Some(Cow::Borrowed(b"plain"))));
        assert_eq!(scalar("\"esc\\u0061ped\"").octets().as_deref(), Some(&b"escaped"[..]));
        assert_eq!(scalar("\"-\"").octets(), None);
        assert_eq!(scalar("\"-\"").time(), Ok(None));
        assert_eq!(scalar("-5.0").time(), Err(Unreadable::Date));
        assert_eq!(scalar("\"soon\"").time(), Err(Unreadable::Date));
        assert_eq!(scalar("971211336.9").time(), Ok(Some(971_211_336)));
    }

    #[test]
    fn lines_that_are_nearly_json() {
        let read = |line: &[u8]| {
            read_line(line, |line| {
                let value: Scalar<'_> =
                    members::<std::collections::BTreeMap<String, Scalar<'_>>>(line)?
                        .remove("a")
                        .unwrap_or_default();
                Ok(Hit { target: value.octets().unwrap_or_default(), ..Hit::default() })
            })
            .map(|hit| hit.target.into_owned())
        };
        assert_eq!(read(br#"{"a":"b\x22c"}"#), Ok(b"b\"c".to_vec()));
        assert_eq!(read(b"{\"a\":\"\xff\"}"), Ok("\u{fffd}".as_bytes().to_vec()));
        for line in [&b"[]"[..], b"{", b"", b"{\"a\":\\x}", b"{\"a\":1}}"] {
            assert_eq!(read(line), Err(Unreadable::Json), "{line:?}");
        }
    }
}

//! A formatted file, as JSON.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::request::RobotsInput;
use crate::format::Formatted;

/// The result of formatting a file.
///
/// ```
/// use mayi::report::{FormatReport, RobotsInput};
///
/// let report = FormatReport::of(mayi::format(b"user-agent:*\ndisallow:/a\n"));
/// assert!(report.changed);
/// assert_eq!(report.robots, RobotsInput::Text("User-agent: *\nDisallow: /a\n".into()));
/// assert_eq!(report.unformatted, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FormatReport<'a> {
    /// The file: its text, or its octets if it is not UTF-8.
    #[serde(borrow)]
    pub robots: RobotsInput<'a>,
    /// Whether the file was changed.
    pub changed: bool,
    /// Why the file as a whole could not be formatted, if it could not.
    pub unformatted: Option<Cow<'a, str>>,
}

impl<'a> FormatReport<'a> {
    /// The serialisable view of a formatted file.
    pub fn of(formatted: Formatted<'a>) -> Self {
        let (changed, why) = (formatted.is_changed(), formatted.unformatted());
        let robots = match formatted.into_octets() {
            Cow::Borrowed(octets) => {
                str::from_utf8(octets).map(Cow::Borrowed).map_err(|_| octets.to_vec())
            }
            Cow::Owned(octets) => String::from_utf8(octets)
                .map(Cow::Owned)
                .map_err(std::string::FromUtf8Error::into_bytes),
        };
        let robots = match robots {
            Ok(text) => RobotsInput::Text(text),
            Err(octets) => RobotsInput::Octets { octets, charset: None },
        };
        Self { robots, changed, unformatted: why.map(|why| Cow::Borrowed(why.summary())) }
    }
}

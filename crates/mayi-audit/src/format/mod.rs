//! A line of a log → a hit, by the format that the log is written in. One file for each format.
//!
//! A format is recognised from the first lines of a file, or named. A line that is not written in it is
//! counted by what is wrong with it, and the next one is read.

mod alb;
mod caddy;
mod cloudflare;
mod json;
mod nginx_json;
mod template;
mod w3c;

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::hit::Hit;
use template::Template;

/// How the lines of a log are written.
///
/// ```
/// use mayi_audit::Format;
///
/// let line = b"192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"curl/8\"\n";
/// assert_eq!(Format::detect(line).name(), "combined");
/// let own = Format::named(r#"$remote_addr [$time_iso8601] "$request" $status "$http_user_agent""#)?;
/// let hit = own.read(b"192.0.2.1 [2026-10-10T13:55:36+00:00] \"GET /a HTTP/1.1\" 200 \"curl/8\"").unwrap();
/// assert_eq!(&*hit.target, b"/a");
/// # Ok::<(), mayi_audit::InvalidFormat>(())
/// ```
#[derive(Clone, Debug)]
pub struct Format(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Template(&'static str, Template),
    W3c(w3c::Layout),
    Alb,
    Caddy,
    NginxJson,
    Cloudflare,
    /// The first lines are in no known format.
    Unknown,
}

/// What is wrong with a line that can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Unreadable {
    /// It does not have the fields of the format, or not at their places.
    Fields,
    /// Its date is none.
    Date,
    /// It is not JSON, or a member has the wrong type.
    Json,
    /// It is longer than a line may be.
    TooLong,
    /// Its file has no header that says which field is the path.
    NoHeader,
    /// The format of its file was not recognised.
    UnknownFormat,
}

impl Unreadable {
    /// As reports have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fields => "fields",
            Self::Date => "date",
            Self::Json => "json",
            Self::TooLong => "too-long",
            Self::NoHeader => "no-header",
            Self::UnknownFormat => "unknown-format",
        }
    }

    /// In a sentence.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Fields => "the line does not have the fields of the format",
            Self::Date => "the date of the line can't be read",
            Self::Json => "the line is not JSON of the format",
            Self::TooLong => "the line is too long",
            Self::NoHeader => "there is no #Fields line with the field of the path (cs-uri-stem)",
            Self::UnknownFormat => {
                "the format was not recognised from the first lines; give it with --format"
            }
        }
    }
}

/// The formats that have a name, with a description.
const NAMES: &[(&str, &str)] = &[
    ("combined", "Apache and nginx, with referrer and User-Agent string"),
    ("vhost", "the same with the virtual host before it"),
    ("common", "Apache, without the User-Agent string"),
    ("nginx-json", "JSON lines of nginx, with the names of its variables"),
    ("caddy", "JSON lines of Caddy"),
    ("cloudflare", "JSON lines of Cloudflare Logpush"),
    ("cloudfront", "standard logs of Amazon CloudFront"),
    ("alb", "access logs of an Application Load Balancer"),
    ("w3c", "W3C extended, as IIS writes it"),
];

/// Templates of the formats that Apache and nginx have names for.
const COMBINED: &str = r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#;
const VHOST: &str = r#"%v %h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#;
const COMMON: &str = r#"%h %l %u %t "%r" %>s %b"#;

/// How many lines the format is recognised from.
const FIRST_LINES: usize = 50;

impl Format {
    /// The names of formats, with a description.
    pub fn names() -> &'static [(&'static str, &'static str)] {
        NAMES
    }

    /// The format with this name, or the one that a `log_format` of nginx or a `LogFormat` of Apache
    /// describes.
    ///
    /// # Errors
    /// When it is neither.
    pub fn named(text: &str) -> Result<Self, InvalidFormat> {
        let kind = match &*text.to_ascii_lowercase() {
            "combined" => built_in("combined", COMBINED),
            "vhost" | "vhost_combined" => built_in("vhost", VHOST),
            "common" => built_in("common", COMMON),
            "nginx-json" => Kind::NginxJson,
            "caddy" => Kind::Caddy,
            "cloudflare" => Kind::Cloudflare,
            "cloudfront" => Kind::W3c(w3c::Layout::cloudfront()),
            "alb" => Kind::Alb,
            "w3c" | "iis" => Kind::W3c(w3c::Layout::unknown()),
            _ if text.contains(['$', '%']) => {
                let text = template::without_directive(text);
                Kind::Template("log_format", Template::new(&text).map_err(InvalidFormat)?)
            }
            _ => {
                let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
                let text = text.escape_debug();
                return Err(InvalidFormat(format!(
                    "`{text}` is not a format: it is one of {}, or the text of a log_format",
                    names.join(", ")
                )));
            }
        };
        Ok(Self(kind))
    }

    /// The format that most of the first lines are written in. If they are in no format, such as the messages
    /// of a server when it starts, the lines after them are looked at.
    pub fn detect(octets: &[u8]) -> Self {
        let octets = octets.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(octets);
        let lines = octets.split(|&octet| octet == b'\n').map(<[u8]>::trim_ascii);
        let mut lines = lines.filter(|line| !line.is_empty());
        loop {
            let first: Vec<_> = lines.by_ref().take(FIRST_LINES).collect();
            let format = Self::of_lines(&first);
            if format.name() != "unknown" || first.len() < FIRST_LINES {
                return format;
            }
        }
    }

    fn of_lines(lines: &[&[u8]]) -> Self {
        if let Some(layout) = lines.iter().find_map(|line| w3c::Layout::after(line)) {
            return Self(Kind::W3c(layout));
        }
        let candidates = [
            Kind::Caddy,
            Kind::Cloudflare,
            Kind::NginxJson,
            Kind::Alb,
            Kind::W3c(w3c::Layout::cloudfront()),
            built_in("combined", COMBINED),
            built_in("vhost", VHOST),
            built_in("common", COMMON),
        ];
        let mut best = (0, Kind::Unknown);
        for kind in candidates {
            let format = Self(kind);
            // A line whose first address is none was most likely read by the wrong format.
            let score = |line: &&[u8]| match format.read(line) {
                Ok(hit) => 2 + usize::from(address(&hit.address).is_some()),
                Err(_) => 0,
            };
            let score = lines.iter().map(score).sum();
            if score > best.0 {
                best = (score, format.0);
            }
        }
        Self(best.1)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match &self.0 {
            Kind::Template(name, _) => name,
            Kind::W3c(layout) => layout.name(),
            Kind::Alb => "alb",
            Kind::Caddy => "caddy",
            Kind::NginxJson => "nginx-json",
            Kind::Cloudflare => "cloudflare",
            Kind::Unknown => "unknown",
        }
    }

    /// Reads a line, without its end.
    ///
    /// # Errors
    /// What is wrong with the line.
    pub fn read<'l>(&self, line: &'l [u8]) -> Result<Hit<'l>, Unreadable> {
        let mut hit = match &self.0 {
            Kind::Template(_, template) => template.read(line)?,
            Kind::W3c(layout) => layout.read(line)?,
            Kind::Alb => alb::read(line)?,
            Kind::Caddy => json::read_line(line, caddy::read)?,
            Kind::NginxJson => json::read_line(line, nginx_json::read)?,
            Kind::Cloudflare => json::read_line(line, cloudflare::read)?,
            Kind::Unknown => return Err(Unreadable::UnknownFormat),
        };
        hit.split_absolute();
        Ok(hit)
    }

    /// Whether a line is a directive of W3C, which is about the log, and not a request. Some may come before
    /// the one that names the fields.
    pub fn is_directive(&self, line: &[u8]) -> bool {
        match self.0 {
            Kind::W3c(_) => line.first() == Some(&b'#'),
            Kind::Unknown => w3c::is_directive(line),
            _ => false,
        }
    }

    /// The format of the lines after a directive, if it changes.
    pub fn after_directive(&self, line: &[u8]) -> Option<Self> {
        match &self.0 {
            Kind::W3c(_) | Kind::Unknown => Some(Self(Kind::W3c(w3c::Layout::after(line)?))),
            _ => None,
        }
    }

    /// The format of what follows these octets, if directives in them change it.
    pub fn after(&self, octets: &[u8]) -> Option<Self> {
        let (Kind::W3c(_) | Kind::Unknown) = self.0 else { return None };
        let mut end = octets.len();
        loop {
            let last = memchr::memmem::rfind(&octets[..end], b"#Fields:")?;
            if last == 0 || octets[last - 1] == b'\n' {
                let line = &octets[last..];
                let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
                return self.after_directive(line.trim_ascii_end());
            }
            end = last;
        }
    }
}

fn built_in(name: &'static str, text: &str) -> Kind {
    match Template::new(text) {
        Ok(template) => Kind::Template(name, template),
        Err(_) => Kind::Unknown,
    }
}

/// The address that octets are, if they are one: in brackets or not, with a port or not. In a list, as
/// proxies write it, the first address is the client.
pub(crate) fn address(octets: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(octets).ok()?;
    let text = text.split_once(',').map_or(text, |(first, _)| first);
    let parsed = text.parse::<IpAddr>().ok();
    let address = parsed.or_else(|| {
        // No name has these at these places, so that names are not looked at twice.
        let may_have_port = text.starts_with('[') || text.ends_with(|last: char| last.is_ascii_digit());
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
        may_have_port.then(|| bare.parse().ok().or_else(with_port)).flatten()
    })?;
    Some(address.to_canonical())
}

/// A status as logs write it.
fn status(text: &[u8]) -> Option<u16> {
    let is_status = text.len() == 3 && text.iter().all(u8::is_ascii_digit);
    is_status.then(|| text.iter().fold(0, |status, digit| status * 10 + u16::from(digit - b'0')))
}

/// An unknown format, or a `log_format` without a field that is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidFormat(String);

impl fmt::Display for InvalidFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidFormat {}

#[cfg(test)]
mod tests {
    use super::*;

    const CHROME: &str = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141 Safari/537.36";

    #[test]
    fn formats_are_recognised() {
        let w3c = "#Software: IIS\n#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status cs(User-Agent)\n\
                   2026-10-10 13:55:36 192.0.2.1 GET /a - 200 curl/8\n";
        for (log, name) in [
            (format!("192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"{CHROME}\" \"-\""), "combined"),
            (format!("example.com:443 192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"{CHROME}\""), "vhost"),
            ("host.example - frank [10/Oct/2026:13:55:36 +0000] \"GET / HTTP/1.0\" 200 2326".to_owned(), "common"),
            ("\u{feff}{\"time_local\":\"10/Oct/2026:13:55:36 +0000\",\"remote_addr\":\"192.0.2.1\",\"request\":\"GET / HTTP/1.1\",\"status\":\"200\",\"http_user_agent\":\"curl/8\"}".to_owned(), "nginx-json"),
            ("{\"ts\":1700000000.5,\"request\":{\"remote_ip\":\"192.0.2.1\",\"method\":\"GET\",\"host\":\"example.com\",\"uri\":\"/a\",\"headers\":{\"User-Agent\":[\"curl/8\"]}},\"status\":200}".to_owned(), "caddy"),
            ("{\"ClientIP\":\"192.0.2.1\",\"ClientRequestURI\":\"/a\",\"EdgeStartTimestamp\":\"2026-10-10T13:55:36Z\",\"ClientRequestUserAgent\":\"curl/8\"}".to_owned(), "cloudflare"),
            (w3c.to_owned(), "w3c"),
            ("https 2026-10-10T13:55:36.1Z app/x/1 192.0.2.1:2817 10.0.0.1:80 0.1 0.1 0.0 200 200 34 366 \"GET https://example.com:443/a HTTP/1.1\" \"curl/8\" - - arn \"Root=1\" \"-\" \"-\" 0".to_owned(), "alb"),
            ("2026-10-10\t13:55:36\tFRA\t500\t192.0.2.1\tGET\td.cloudfront.net\t/a\t200\t-\tcurl/8\t-\t-\tHit\tid==\texample.com\thttps".to_owned(), "cloudfront"),
            ("what is this\n\nno log".to_owned(), "unknown"),
            (String::new(), "unknown"),
        ] {
            assert_eq!(Format::detect(log.as_bytes()).name(), name, "{log}");
        }
    }

    #[test]
    fn a_few_bad_lines_do_not_hide_the_format() {
        for count in [5, 50, 1_000] {
            let mut log = "\x16\x03garbage\n".repeat(count);
            assert_eq!(Format::detect(log.as_bytes()).name(), "unknown");
            log.push_str(
                "192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"curl/8\"\n",
            );
            assert_eq!(Format::detect(log.as_bytes()).name(), "combined");
        }
    }

    #[test]
    fn addresses_as_logs_have_them() {
        for text in
            ["192.0.2.1", "192.0.2.1:443", "::ffff:192.0.2.1", "192.0.2.1, 10.0.0.1", "192.0.2.1,"]
        {
            assert_eq!(address(text.as_bytes()), Some([192, 0, 2, 1].into()), "{text}");
        }
        for text in ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443", "2001:DB8::1,x"] {
            assert_eq!(address(text.as_bytes()), "2001:db8::1".parse().ok(), "{text}");
        }
        for text in ["", "-", "unknown", "host1.example.net", "[", "[]", ":443", "1.2.3"] {
            assert_eq!(address(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn names_and_wrong_names() {
        for (name, _) in Format::names() {
            assert_eq!(Format::named(name).expect("a name").name(), *name);
        }
        let error = Format::named("apache2").unwrap_err().to_string();
        assert!(error.contains("combined, vhost"), "{error}");
    }
}

//! A WARC (ISO 28500) → responses of servers.
//!
//! Only records of type `response` that have HTTP inside are looked at. Of these the status, `Location`, `Content-Type` and
//! the body up to a limit are kept. The input is the records one after the other: the caller decompresses
//! them, whether each record is a gzip member or all are one stream.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::time::SystemTime;

use mayi::report::time_of_rfc3339;
use mayi_fetch::transport::decoded_body;

use crate::archive::{Archive, ArchivedResponse};

/// How long a line of a header may be, and how many lines there may be.
const MOST_LINE: u64 = 1 << 16;
const MOST_LINES: usize = 1_000;

/// A robots.txt must be read up to this length (REP-24). One that was cut off after it can be used.
const LEAST_READ: usize = 500 << 10;

/// Reads all records into an archive, with bodies up to this many octets, and returns the number of records.
///
/// # Errors
/// When the input can't be read, or is not a WARC from some place on. The records before that are in the
/// archive.
pub fn read(input: impl BufRead, limit: usize, archive: &mut Archive) -> Result<u64, WarcError> {
    let mut reader = Reader { input, octets: 0, records: 0 };
    loop {
        match reader.next(limit, archive) {
            Ok(true) => reader.records += 1,
            Ok(false) => return Ok(reader.records),
            Err(wrong) => {
                return Err(WarcError { records: reader.records, octets: reader.octets, wrong });
            }
        }
    }
}

struct Reader<R> {
    input: R,
    /// How many octets and how many complete records have been read.
    octets: u64,
    records: u64,
}

enum Wrong {
    Io(io::Error),
    /// The input ends in the middle of a record.
    Cut,
    Malformed(&'static str),
}

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl<R: BufRead> Reader<R> {
    /// Reads a record; `false` at the end of the input.
    fn next(&mut self, limit: usize, archive: &mut Archive) -> Result<bool, Wrong> {
        let mut line = Vec::new();
        loop {
            if !self.line(&mut line)? {
                return Ok(false);
            }
            // Two blank lines end a record.
            if !line.is_empty() {
                break;
            }
        }
        if !line.starts_with(b"WARC/") {
            return Err(Wrong::Malformed("a record has to begin with `WARC/`"));
        }
        let head = self.fields()?;
        let Some(length) = head.value("content-length").and_then(|value| value.parse::<u64>().ok())
        else {
            return Err(Wrong::Malformed("a record has no `Content-Length`"));
        };
        let is_http = head.value("content-type").is_some_and(|value| starts(value, "application/http"));
        let is_response =
            head.value("warc-type").is_some_and(|value| value.eq_ignore_ascii_case("response"));
        let before = self.octets;
        let found = match head.value("warc-target-uri") {
            Some(url) if is_http && is_response => {
                // Some writers have the URI in angle brackets, as the grammar of WARC 1.0 had it.
                let url = url.trim_start_matches('<').trim_end_matches('>').to_owned();
                let mut block = Reader { input: (&mut self.input).take(length), octets: 0, records: 0 };
                let response = block.response(&head, limit);
                self.octets += block.octets;
                match response {
                    Ok(response) => Some((url, response)),
                    Err(Wrong::Io(error)) => return Err(Wrong::Io(error)),
                    // The block ends too early, or it is another thing than its record says.
                    Err(Wrong::Cut | Wrong::Malformed(_)) => {
                        let error = "the record has no complete HTTP response".into();
                        Some((url, ArchivedResponse::new(time_of(&head), Err(error))))
                    }
                }
            }
            _ => None,
        };
        let rest = length - (self.octets - before).min(length);
        let skipped = io::copy(&mut (&mut self.input).take(rest), &mut io::sink())?;
        self.octets += skipped;
        if skipped < rest {
            return Err(Wrong::Cut);
        }
        if let Some((url, response)) = found {
            archive.add(&url, response);
        }
        Ok(true)
    }

    /// Reads the response of a server, up to the limit.
    fn response(&mut self, record: &Fields, limit: usize) -> Result<ArchivedResponse, Wrong> {
        let time = time_of(record);
        let mut line = Vec::new();
        let first = if self.line(&mut line)? {
            String::from_utf8_lossy(&line).into_owned()
        } else {
            String::new()
        };
        let mut words = first.split_ascii_whitespace();
        let is_http = words.next().is_some_and(|word| starts(word, "http/") || word == "HTTP");
        let status = words.next().and_then(|word| word.parse::<u16>().ok()).filter(|_| is_http);
        let Some(status) = status else {
            return Err(Wrong::Malformed("the record has no response of HTTP"));
        };
        let head = self.fields()?;
        let mut response = ArchivedResponse::new(time, Ok(status));
        response.location = head.value("location").map(Into::into);
        response.content_type = head.value("content-type").map(Into::into);
        if !(200..300).contains(&status) {
            return Ok(response);
        }
        // A coded body is shorter than what it says, but not always.
        let mut body = Vec::new();
        self.octets +=
            (&mut self.input).take(2 * limit as u64 + (1 << 16)).read_to_end(&mut body)? as u64;
        // Archives that took a coding away do not always take its name away.
        if head.value("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            body = unchunked(&body).unwrap_or(body);
        }
        if let Some(coding) = head.value("content-encoding") {
            body = decoded_body(coding, &body, limit).unwrap_or(body);
        }
        body.truncate(limit);
        if let Some(why) = record.value("warc-truncated").filter(|_| body.len() < LEAST_READ) {
            let error = format!("the response was cut off when it was stored: {why}");
            return Ok(ArchivedResponse::new(time, Err(error.into())));
        }
        response.body = body.into();
        Ok(response)
    }

    /// Reads the fields of a header, and the blank line after them.
    fn fields(&mut self) -> Result<Fields, Wrong> {
        let mut fields = Fields(Vec::new());
        let mut line = Vec::new();
        for _ in 0..MOST_LINES {
            if !self.line(&mut line)? {
                return Err(Wrong::Cut);
            }
            if line.is_empty() {
                return Ok(fields);
            }
            let text = String::from_utf8_lossy(&line);
            if let (true, Some((_, value))) = (text.starts_with([' ', '\t']), fields.0.last_mut()) {
                // A field goes on.
                value.push(' ');
                value.push_str(text.trim());
            } else if let Some((name, value)) = text.split_once(':') {
                fields.0.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
        Err(Wrong::Malformed("a header has more than 1,000 lines"))
    }

    /// Reads a line without its end; `false` at the end of the input.
    fn line(&mut self, line: &mut Vec<u8>) -> Result<bool, Wrong> {
        line.clear();
        let count = (&mut self.input).take(MOST_LINE).read_until(b'\n', line)?;
        self.octets += count as u64;
        if line.last() != Some(&b'\n') && count > 0 {
            return Err(if count as u64 == MOST_LINE {
                Wrong::Malformed("a line of a header is too long")
            } else {
                Wrong::Cut
            });
        }
        while matches!(line.last(), Some(b'\n' | b'\r')) {
            line.pop();
        }
        Ok(count > 0)
    }
}

/// The fields of a header, names in lower case.
struct Fields(Vec<(String, String)>);

impl Fields {
    fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }
}

/// When a record was made; one without a date is older than all others.
fn time_of(record: &Fields) -> SystemTime {
    record.value("warc-date").and_then(time_of_rfc3339).unwrap_or(SystemTime::UNIX_EPOCH)
}

fn starts(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
}

/// A body without the frames of the chunked coding (RFC 9112 §7.1); none if it has no frames. A body that was
/// cut off ends there.
fn unchunked(body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    let mut rest = body;
    loop {
        let end = rest.iter().position(|&octet| octet == b'\n')?;
        let size = std::str::from_utf8(&rest[..end]).ok()?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        rest = &rest[end + 1..];
        if size == 0 {
            return Some(whole);
        }
        whole.extend_from_slice(&rest[..size.min(rest.len())]);
        rest = rest.get(size..).unwrap_or_default();
        rest = rest.strip_prefix(b"\r").unwrap_or(rest);
        rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        if rest.is_empty() {
            return Some(whole);
        }
    }
}

/// Why a WARC could not be read to its end.
#[derive(Debug)]
pub struct WarcError {
    records: u64,
    octets: u64,
    wrong: Wrong,
}

impl fmt::Debug for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Cut => f.write_str("it ends in the middle of a record"),
            Self::Malformed(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for WarcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, octets, wrong } = self;
        write!(f, "{wrong} (after {records} complete records, at octet {octets} of the content)")
    }
}

impl std::error::Error for WarcError {}

#[cfg(test)]
mod tests {
    use mayi::access::Origin;

    use super::*;
    use crate::files::{Found, Source};

    fn record(kind: &str, url: &str, more: &str, block: &[u8]) -> Vec<u8> {
        let head = format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n\
             Content-Type: application/http; msgtype={kind}\r\n{more}Content-Length: {}\r\n\r\n",
            block.len()
        );
        [head.as_bytes(), block, b"\r\n\r\n"].concat()
    }

    fn response(url: &str, status: &str, fields: &str, body: &[u8]) -> Vec<u8> {
        let head = format!("HTTP/1.1 {status}\r\n{fields}\r\n");
        record("response", url, "", &[head.as_bytes(), body].concat())
    }

    fn found(archive: &Archive, host: &str) -> Found {
        archive.find(&Origin::of_url(&format!("https://{host}")).expect("an origin"))
    }

    #[track_caller]
    fn assert_file(archive: &Archive, host: &str, expected: &[u8]) {
        let Found::File(octets, _) = found(archive, host) else { panic!("{host} has a file") };
        assert_eq!(octets, expected, "{host}");
    }

    fn sample() -> Vec<u8> {
        let gzip = {
            use std::io::Write;
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(b"packed").expect("it is compressed");
            encoder.finish().expect("gzip")
        };
        [
            record("warcinfo", "", "", b"robots: classic\r\n"),
            record("request", "https://a/robots.txt", "", b"GET /robots.txt HTTP/1.1\r\n\r\n"),
            response(
                "https://a/robots.txt",
                "200 OK",
                "Content-Type: text/plain\r\n",
                b"User-agent: *\n\n\nDisallow: /\n",
            ),
            response(
                "<https://b/robots.txt>",
                "301 Moved",
                "location: https://a/robots.txt\r\n",
                b"<html>",
            ),
            response("https://c/robots.txt", "404 Not Found", "", b"<html>not here"),
            response("https://d/robots.txt", "503 Busy", "", b""),
            response(
                "https://e/robots.txt",
                "200 OK",
                "Transfer-Encoding: chunked\r\n",
                b"4;x=y\r\nUser\r\n3\r\n-ag\r\n0\r\n\r\n",
            ),
            response("https://f/robots.txt", "200 OK", "Content-Encoding: gzip\r\n", &gzip),
            response(
                "https://g/robots.txt",
                "200 OK",
                "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
                b"taken away before",
            ),
            response(
                "https://h/robots.txt",
                "200 OK",
                "Content-Type: text/html\r\n",
                b"<!doctype html>",
            ),
            record(
                "response",
                "https://i/robots.txt",
                "WARC-Truncated: disconnect\r\n",
                b"HTTP/1.1 200 OK\r\n\r\nUser",
            ),
            record("response", "https://j/robots.txt", "", b"no HTTP at all"),
            record("metadata", "https://a/robots.txt", "", b"fetchTimeMs: 1\r\n"),
        ]
        .concat()
    }

    #[test]
    fn responses_of_every_kind_are_read() {
        let mut archive = Archive::default();
        assert_eq!(read(&*sample(), 1 << 20, &mut archive).expect("it is whole"), 13);
        assert_file(&archive, "a", b"User-agent: *\n\n\nDisallow: /\n");
        assert_file(&archive, "b", b"User-agent: *\n\n\nDisallow: /\n");
        assert!(matches!(found(&archive, "c"), Found::Ended(result) if result.name() == "unavailable"));
        assert!(matches!(found(&archive, "d"), Found::Ended(result) if result.name() == "unreachable"));
        assert_file(&archive, "e", b"User-ag");
        assert_file(&archive, "f", b"packed");
        assert_file(&archive, "g", b"taken away before");
        assert_file(&archive, "h", b"<!doctype html>");
        for host in ["i", "j"] {
            assert!(
                matches!(found(&archive, host), Found::Ended(result) if result.name() == "unreachable"),
                "{host}"
            );
        }
        assert!(matches!(found(&archive, "k"), Found::Missing));
    }

    #[test]
    fn bodies_are_read_up_to_the_limit() {
        let long = vec![b'#'; 700 << 10];
        let record = record(
            "response",
            "https://a/robots.txt",
            "WARC-Truncated: length\r\n",
            &[b"HTTP/1.1 200 OK\r\n\r\n", &*long].concat(),
        );
        let mut archive = Archive::default();
        read(&*record, 600 << 10, &mut archive).expect("it is whole");
        assert_file(&archive, "a", &long[..600 << 10]);
    }

    /// Wherever it is cut, that is said with the place, and the whole records before it are there.
    #[test]
    fn a_warc_that_is_cut_anywhere_says_so() {
        let whole = sample();
        let mut ends = Vec::new();
        let mut start = 0;
        while let Some(next) = whole[start + 1..].windows(5).position(|five| five == b"WARC/") {
            start += 1 + next;
            ends.push(start);
        }
        for cut in 0..whole.len() {
            let mut archive = Archive::default();
            let ended = read(&whole[..cut], 1 << 20, &mut archive);
            let before = ends.iter().filter(|&&end| end <= cut).count() as u64;
            match ended {
                // A record may lack the blank lines after it.
                Ok(records) => assert!(cut == 0 || records == before || records == before + 1, "{cut}"),
                Err(error) => {
                    // The blank lines may be cut in the middle.
                    let before = if error.records == before + 1 { before + 1 } else { before };
                    assert!(
                        error.to_string().contains(&format!("after {before} complete records")),
                        "{cut}: {error}"
                    );
                }
            }
        }
        let between = [&whole[..ends[0]], b"nonsense\r\n"].concat();
        let error = read(&*between, 1 << 20, &mut Archive::default()).expect_err("it is no WARC");
        assert!(error.to_string().contains("has to begin with `WARC/`"), "{error}");
    }

    #[test]
    fn a_header_without_an_end_is_refused() {
        for input in [
            [&b"WARC/1.0\r\n"[..], &b"x".repeat(1 << 20)].concat(),
            [&b"WARC/1.0\r\n"[..], &b"a: b\r\n".repeat(2_000)].concat(),
            b"WARC/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n".to_vec(),
            b"WARC/1.0\r\nContent-Length: 9999999999999\r\n\r\nshort".to_vec(),
        ] {
            read(&*input, 1 << 20, &mut Archive::default()).expect_err("it is refused");
        }
    }
}

//! The cached entry of an origin: its last good copy, the earlier texts if they are requested, and the result
//! of the last attempt.
//!
//! A [`Kept`] is the unit of every store. In a store that leaves the process it is octets: a schema
//! version, a checksum, then its head as JSON and the file, compressed together. Times have whole milliseconds
//! there. This file does not know what a store does with the octets, and does not know the time.

use std::io;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use mayi::access::{AccessResult, Keeping, Origin, Outcome, Unavailable, Unreachable, Validators};
use mayi::report::{CopyReport, FileHop, SiteReport};
use serde::{Deserialize, Serialize};

/// The version of the octets that [`Kept::encode`] writes. An entry with another version counts as absent.
pub const SCHEMA: u8 = 2;

/// The version of an entry that has earlier copies. An entry without them has the old form, so that older
/// programs can still read it.
const SCHEMA_WITH_EARLIER: u8 = 3;

/// How many octets of checksum follow the version. A disk, a memory or a network that flips a bit must not make
/// `Disallow: /private` into something else.
const CHECKSUM: usize = size_of::<u64>();

/// The maximum size of a decompressed entry: a larger one is damage, or an attack on readers of the store.
const MOST_UNPACKED: usize = 64 << 20;

/// How hard to compress. Files are small, and read more often than written.
const COMPRESSION: i32 = 3;

/// The cached entry of an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// Whose file it is.
    pub origin: Origin,
    /// The last good copy, whatever has happened since.
    pub copy: Option<FileCopy>,
    /// The result of the last attempt.
    pub last: LastAttempt,
    /// The earlier copies with another text, the oldest first, if the policy keeps some.
    pub earlier: Vec<FileCopy>,
}

/// A copy of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileCopy {
    /// The file, decoded, up to the limit.
    pub body: Bytes,
    /// Whether the file is longer than the limit.
    pub is_cut: bool,
    /// The `Content-Type` that came with it.
    pub content_type: Option<Box<str>>,
    /// Where it was found, after all redirects.
    pub url: Box<str>,
    /// The validators for the next request.
    pub validators: Validators,
    /// When this text was first received; `fetched` is when it was last received.
    pub since: SystemTime,
    /// When it was received.
    pub fetched: SystemTime,
    /// When it was last known to be current: when it came, or was found unchanged.
    pub checked: SystemTime,
    /// Until when it is fresh.
    pub fresh_until: SystemTime,
    /// Until when it may be used while it is revalidated.
    pub stale_until: SystemTime,
}

/// The result of the last attempt at a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastAttempt {
    /// When it ended.
    pub at: SystemTime,
    /// What came of it.
    pub result: AccessResult,
    /// The requested URLs, in order, and the result of each.
    pub hops: Vec<Hop>,
    /// When the first of this run of failures was, if it failed.
    pub failing_since: Option<SystemTime>,
    /// How many attempts in a row have failed.
    pub failures: u32,
    /// When the file may be requested again.
    pub not_before: SystemTime,
}

/// One request of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hop {
    /// What was asked for.
    pub url: Box<str>,
    /// The status, or what went wrong.
    pub said: Said,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Said {
    /// A status.
    Status(u16),
    /// No usable response, and why.
    Error(Box<str>),
}

impl Kept {
    /// What is known about an origin after an attempt.
    pub fn new(origin: Origin, copy: Option<FileCopy>, last: LastAttempt) -> Self {
        Self { origin, copy, last, earlier: Vec::new() }
    }

    /// What the last attempt was, in the terms of [`Keeping`].
    pub fn outcome(&self) -> Outcome {
        match &self.last.result {
            AccessResult::Successful => Outcome::Successful,
            AccessResult::Unavailable(_) => Outcome::Unavailable,
            AccessResult::Unreachable(_) => {
                Outcome::Unreachable { since: self.last.failing_since.unwrap_or(self.last.at) }
            }
        }
    }

    /// The entry as JSON. `access` says what applies.
    pub fn site_report(&self, access: &AccessResult) -> SiteReport {
        let last = &self.last;
        let mut report = SiteReport::new(&self.origin, access, last.at.into());
        report.asked = last.hops.iter().map(Hop::report).collect();
        report.not_before = last.not_before.into();
        report.failing_since = last.failing_since.map(Into::into);
        report.copy = self.copy.as_ref().map(FileCopy::report);
        report.earlier = self.earlier.iter().map(FileCopy::report).collect();
        report
    }

    /// Whose rules are in force (REP-20, REP-21).
    pub fn in_force(&self, keeping: &Keeping, now: SystemTime) -> mayi::access::InForce {
        keeping.in_force(&self.outcome(), self.copy.as_ref().map(|copy| copy.checked), now)
    }

    /// About how many octets it takes in memory.
    pub fn octets(&self) -> usize {
        let copies = self.copy.iter().chain(&self.earlier).map(|copy| {
            let Validators { etag, last_modified, .. } = &copy.validators;
            let texts = [&copy.content_type, etag, last_modified];
            let texts: usize = texts.into_iter().flatten().map(|text| text.len()).sum();
            copy.body.len() + copy.url.len() + texts
        });
        let earlier = self.earlier.len() * size_of::<FileCopy>();
        let hops = self.last.hops.iter().map(|hop| {
            let error = if let Said::Error(error) = &hop.said { error.len() } else { 0 };
            hop.url.len() + error + size_of::<Hop>()
        });
        let result = match &self.last.result {
            AccessResult::Unreachable(Unreachable::Network(error)) => error.len(),
            _ => 0,
        };
        size_of::<Self>() + copies.sum::<usize>() + earlier + hops.sum::<usize>() + result + 64
    }

    /// The octets of the entry in a store.
    ///
    /// # Panics
    /// Never: writing to memory does not fail.
    pub fn encode(&self) -> Vec<u8> {
        let head = serde_json::to_vec(&Head::of(self)).expect("writing to memory does not fail");
        let body = self.copy.as_ref().map_or(&b""[..], |copy| &copy.body);
        let mut plain = Vec::with_capacity(4 + head.len() + body.len());
        plain.extend((head.len() as u32).to_le_bytes());
        plain.extend(&head);
        plain.extend(body);
        self.earlier.iter().for_each(|copy| plain.extend(&copy.body));
        let packed =
            zstd::bulk::compress(&plain, COMPRESSION).expect("writing to memory does not fail");
        let mut octets = Vec::with_capacity(1 + CHECKSUM + packed.len());
        let schema = if self.earlier.is_empty() { SCHEMA } else { SCHEMA_WITH_EARLIER };
        octets.push(schema);
        octets.extend(checksum(&packed, schema).to_le_bytes());
        octets.extend(&packed);
        octets
    }

    /// Reads what [`encode`](Self::encode) wrote.
    ///
    /// # Errors
    /// When the octets have another schema version, or are damaged. A store treats both as absent.
    pub fn decode(octets: &[u8]) -> Result<Self, Undecodable> {
        let (&schema, rest) = octets.split_first().ok_or(Undecodable::Damaged("no octets"))?;
        if schema != SCHEMA && schema != SCHEMA_WITH_EARLIER {
            return Err(Undecodable::OtherSchema);
        }
        let damaged = Undecodable::Damaged;
        let (sum, packed) = rest.split_first_chunk().ok_or(damaged("no checksum"))?;
        if u64::from_le_bytes(*sum) != checksum(packed, schema) {
            return Err(damaged("its checksum is wrong"));
        }
        let plain = unpack(packed).map_err(|_| damaged("not whole"))?;
        let (length, rest) = plain.split_first_chunk().ok_or(damaged("no head"))?;
        let length = u32::from_le_bytes(*length) as usize;
        let head = rest.get(..length).ok_or(damaged("an incomplete head"))?;
        let head: Head<'_> = serde_json::from_slice(head).map_err(|_| damaged("an unreadable head"))?;
        head.with_body(Bytes::copy_from_slice(&rest[length..]))
    }
}

/// The checksum of the octets of an entry. The seed depends on the schema version.
fn checksum(packed: &[u8], schema: u8) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(packed, u64::from(schema))
}

impl FileCopy {
    /// A file that came at this time from this URL, fresh for a day; the caller sets the rest.
    pub fn new(url: impl Into<Box<str>>, body: impl Into<Bytes>, fetched: SystemTime) -> Self {
        Self {
            body: body.into(),
            is_cut: false,
            content_type: None,
            url: url.into(),
            validators: Validators::default(),
            since: fetched,
            fetched,
            checked: fetched,
            fresh_until: fetched + Duration::from_hours(24),
            stale_until: fetched + Duration::from_hours(24),
        }
    }

    fn report(&self) -> CopyReport {
        let mut report = CopyReport::new(&self.url, self.fetched.into());
        report.is_cut = self.is_cut;
        report.since = self.since.into();
        report.checked = self.checked.into();
        report.fresh_until = self.fresh_until.into();
        report.with_body(&self.body, self.content_type.as_deref())
    }
}

impl Hop {
    /// The result of a request for this URL.
    pub fn new(url: impl Into<Box<str>>, said: Said) -> Self {
        Self { url: url.into(), said }
    }

    pub(crate) fn report(&self) -> FileHop {
        match &self.said {
            Said::Status(status) => FileHop::new(&self.url, Some(*status), None),
            Said::Error(error) => FileHop::new(&self.url, None, Some(error)),
        }
    }
}

impl LastAttempt {
    /// An attempt that ended at this time, as the first of its kind; the caller sets the rest.
    pub fn new(at: SystemTime, result: AccessResult) -> Self {
        Self { at, result, hops: Vec::new(), failing_since: None, failures: 0, not_before: at }
    }
}

fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
    io::Read::read_to_end(&mut io::Read::take(&mut decoder, MOST_UNPACKED as u64 + 1), &mut plain)?;
    // A file that was cut here would be read as complete, and its last rules would be lost.
    if plain.len() > MOST_UNPACKED {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(plain)
}

/// Why octets are not an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undecodable {
    /// Another version of this program wrote them.
    OtherSchema,
    /// They are damaged; the text says how.
    Damaged(&'static str),
}

impl std::fmt::Display for Undecodable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self {
            Self::OtherSchema => "another schema version",
            Self::Damaged(what) => what,
        };
        write!(f, "the stored copy can't be used: {what}")
    }
}

impl std::error::Error for Undecodable {}

/// Everything except the file, in the form of the store.
#[derive(Serialize, Deserialize)]
struct Head<'k> {
    origin: String,
    #[serde(borrow)]
    copy: Option<CopyHead<'k>>,
    at: u64,
    result: StoredResult,
    hops: Vec<Hop>,
    failing_since: Option<u64>,
    failures: u32,
    not_before: u64,
    /// The copies before it, each with the length of its file. The files follow each other, the one of `copy`
    /// first.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<(CopyHead<'k>, usize)>,
}

#[derive(Serialize, Deserialize)]
struct CopyHead<'k> {
    is_cut: bool,
    #[serde(borrow)]
    content_type: Option<std::borrow::Cow<'k, str>>,
    #[serde(borrow)]
    url: std::borrow::Cow<'k, str>,
    #[serde(borrow)]
    etag: Option<std::borrow::Cow<'k, str>>,
    #[serde(borrow)]
    last_modified: Option<std::borrow::Cow<'k, str>>,
    /// Where it is another time than `fetched`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<u64>,
    fetched: u64,
    checked: u64,
    fresh_until: u64,
    stale_until: u64,
}

/// An access result, in the form of the store.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredResult {
    Successful,
    UnavailableStatus(u16),
    TooManyRedirects,
    RedirectLoop,
    RedirectElsewhere,
    UnreachableStatus(u16),
    Network(Box<str>),
}

impl<'k> Head<'k> {
    fn of(kept: &'k Kept) -> Self {
        let last = &kept.last;
        Self {
            origin: kept.origin.to_string(),
            copy: kept.copy.as_ref().map(CopyHead::of),
            at: milliseconds(last.at),
            result: StoredResult::of(&last.result),
            hops: last.hops.clone(),
            failing_since: last.failing_since.map(milliseconds),
            failures: last.failures,
            not_before: milliseconds(last.not_before),
            earlier: kept.earlier.iter().map(|copy| (CopyHead::of(copy), copy.body.len())).collect(),
        }
    }

    fn with_body(self, mut body: Bytes) -> Result<Kept, Undecodable> {
        let lengths = self.earlier.iter().map(|(_, length)| *length);
        let earlier = lengths.fold(0, usize::saturating_add);
        let start = body.len().checked_sub(earlier).ok_or(Undecodable::Damaged("incomplete copies"))?;
        let mut rest = body.split_off(start);
        Ok(Kept {
            earlier: self
                .earlier
                .into_iter()
                .map(|(copy, length)| copy.with_body(rest.split_to(length)))
                .collect(),
            origin: Origin::of_url(&self.origin).map_err(|_| Undecodable::Damaged("no origin"))?,
            copy: self.copy.map(|copy| copy.with_body(body)),
            last: LastAttempt {
                at: time(self.at),
                result: self.result.result(),
                hops: self.hops,
                failing_since: self.failing_since.map(time),
                failures: self.failures,
                not_before: time(self.not_before),
            },
        })
    }
}

impl<'k> CopyHead<'k> {
    fn of(copy: &'k FileCopy) -> Self {
        Self {
            is_cut: copy.is_cut,
            content_type: copy.content_type.as_deref().map(Into::into),
            url: (&*copy.url).into(),
            etag: copy.validators.etag.as_deref().map(Into::into),
            last_modified: copy.validators.last_modified.as_deref().map(Into::into),
            since: (copy.since != copy.fetched).then(|| milliseconds(copy.since)),
            fetched: milliseconds(copy.fetched),
            checked: milliseconds(copy.checked),
            fresh_until: milliseconds(copy.fresh_until),
            stale_until: milliseconds(copy.stale_until),
        }
    }

    fn with_body(self, body: Bytes) -> FileCopy {
        let mut validators = Validators::default();
        validators.etag = self.etag.map(Into::into);
        validators.last_modified = self.last_modified.map(Into::into);
        FileCopy {
            body,
            is_cut: self.is_cut,
            content_type: self.content_type.map(Into::into),
            url: self.url.into(),
            validators,
            since: time(self.since.unwrap_or(self.fetched)),
            fetched: time(self.fetched),
            checked: time(self.checked),
            fresh_until: time(self.fresh_until),
            stale_until: time(self.stale_until),
        }
    }
}

impl StoredResult {
    fn of(result: &AccessResult) -> Self {
        match result {
            AccessResult::Successful => Self::Successful,
            AccessResult::Unavailable(Unavailable::Status(status)) => Self::UnavailableStatus(*status),
            AccessResult::Unavailable(Unavailable::RedirectLoop) => Self::RedirectLoop,
            AccessResult::Unavailable(Unavailable::RedirectElsewhere) => Self::RedirectElsewhere,
            AccessResult::Unavailable(_) => Self::TooManyRedirects,
            AccessResult::Unreachable(Unreachable::Status(status)) => Self::UnreachableStatus(*status),
            AccessResult::Unreachable(Unreachable::Network(error)) => Self::Network(error.clone()),
            AccessResult::Unreachable(other) => Self::Network(format!("{other:?}").into()),
        }
    }

    fn result(self) -> AccessResult {
        let unavailable = AccessResult::Unavailable;
        match self {
            Self::Successful => AccessResult::Successful,
            Self::UnavailableStatus(status) => unavailable(Unavailable::Status(status)),
            Self::TooManyRedirects => unavailable(Unavailable::TooManyRedirects),
            Self::RedirectLoop => unavailable(Unavailable::RedirectLoop),
            Self::RedirectElsewhere => unavailable(Unavailable::RedirectElsewhere),
            Self::UnreachableStatus(status) => AccessResult::Unreachable(Unreachable::Status(status)),
            Self::Network(error) => AccessResult::Unreachable(Unreachable::Network(error)),
        }
    }
}

pub(crate) fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The time of this many milliseconds; an impossible time becomes the epoch, which is stale.
fn time(milliseconds: u64) -> SystemTime {
    let since = Duration::from_millis(milliseconds);
    SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Something kept, with every part of it said.
    pub(crate) fn example(origin: &str, body: &[u8], at: u64) -> Kept {
        let at = time(at);
        let mut validators = Validators::default();
        validators.etag = Some("\"a\\\"1\"".into());
        Kept {
            origin: Origin::of_url(origin).expect("an origin"),
            copy: Some(FileCopy {
                body: Bytes::copy_from_slice(body),
                is_cut: false,
                content_type: Some("text/plain; charset=utf-8".into()),
                url: format!("{origin}/robots.txt").into(),
                validators,
                since: at,
                fetched: at,
                checked: at,
                fresh_until: at + Duration::from_hours(24),
                stale_until: at + Duration::from_hours(24),
            }),
            last: LastAttempt {
                at,
                result: AccessResult::Unreachable(Unreachable::Network("timeout".into())),
                hops: vec![Hop {
                    url: format!("{origin}/robots.txt").into(),
                    said: Said::Error("timeout".into()),
                }],
                failing_since: Some(at),
                failures: 3,
                not_before: at + Duration::from_mins(1),
            },
            earlier: Vec::new(),
        }
    }

    /// An entry without earlier copies is as older programs write and read it; one with some is none to them.
    #[test]
    fn earlier_copies_and_back() {
        let mut kept = example("https://example.com", b"new\n", 1_700_000);
        assert_eq!(kept.encode()[0], SCHEMA);
        let alone = kept.octets();
        let earlier = |body: &'static [u8], at: u64| {
            let mut copy = FileCopy::new("https://example.com/robots.txt", body, time(at));
            copy.since = time(at - 500);
            copy
        };
        kept.earlier =
            vec![earlier(b"first\xff\n", 1_000), earlier(b"", 2_000), earlier(b"second\n", 3_000)];
        let octets = kept.encode();
        assert_eq!(octets[0], SCHEMA_WITH_EARLIER);
        assert_eq!(Kept::decode(&octets), Ok(kept.clone()));
        assert!(kept.octets() > alone);
        for end in 0..octets.len() {
            assert!(Kept::decode(&octets[..end]).is_err(), "{end} octets");
        }
        kept.copy = None;
        assert_eq!(Kept::decode(&kept.encode()), Ok(kept));
    }

    #[test]
    fn what_is_too_large_is_not_cut() {
        let kept = example("https://example.com", &vec![b'#'; MOST_UNPACKED], 1_700_000);
        assert!(Kept::decode(&kept.encode()).is_err());
    }

    #[test]
    fn octets_and_back() {
        let kept =
            example("https://example.com:8443", b"User-agent: *\nDisallow: /\xff\0\n", 1_700_000);
        assert_eq!(Kept::decode(&kept.encode()), Ok(kept.clone()));
        let mut without = kept;
        without.copy = None;
        for result in [
            AccessResult::Successful,
            AccessResult::of_status(404),
            AccessResult::of_status(503),
            AccessResult::of_error("too-many-redirects"),
            AccessResult::of_error("redirect-loop"),
            AccessResult::Unavailable(Unavailable::RedirectElsewhere),
        ] {
            without.last.result = result;
            assert_eq!(Kept::decode(&without.encode()), Ok(without.clone()));
        }
    }

    /// Every flipped bit is found, and so is every end that is missing.
    #[test]
    fn damage_is_no_entry_and_no_panic() {
        let octets = example("https://example.com", &b"Disallow: /x\n".repeat(100), 5).encode();
        for end in 0..octets.len() {
            assert!(Kept::decode(&octets[..end]).is_err(), "{end} octets");
        }
        for bit in 0..octets.len() * 8 {
            let mut damaged = octets.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Kept::decode(&damaged).is_err(), "bit {bit} of {}", octets.len() * 8);
        }
        let mut newer = octets;
        newer[0] = SCHEMA_WITH_EARLIER + 1;
        assert_eq!(Kept::decode(&newer), Err(Undecodable::OtherSchema));
    }
}

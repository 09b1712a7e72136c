//! The body of a batch → chunks of requests: an array that came whole, or lines as they come.
//!
//! A request is only cut out here. It is read when it is answered, so that an invalid one gets an error in its place.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use mayi::report::{ErrorCode, RequestError};
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::api::{App, Read};
use crate::bodies::{Bodies, Share};
use crate::problem::Problem;

/// How many requests a chunk has at most.
const CHUNK: usize = 512;

/// Requests in an array.
pub(crate) struct Batch {
    pub(super) read: Read,
    pub(super) items: Vec<Range<usize>>,
}

impl Batch {
    /// Cuts an array into its requests, which are read later and each by itself.
    pub(crate) fn of_array(read: Read, most: usize) -> Result<Self, Problem> {
        let octets = &read.octets;
        let (raw, count) = cut_array(octets, most)
            .map_err(|error| Problem::from(RequestError::new(ErrorCode::InvalidJson, error)))?;
        if count > most {
            let detail =
                format!("the array has {count} requests, but the limit is {most}; send NDJSON");
            return Err(Problem::invalid(detail));
        }
        let start = octets.as_ptr() as usize;
        let place = |item: &&RawValue| {
            let at = item.get().as_ptr() as usize - start;
            at..at + item.get().len()
        };
        let items = raw.iter().map(place).collect();
        Ok(Self { read, items })
    }
}

/// The first items of an array, and how many there are: for an array of very many small items, a list of all
/// their places would take more memory than its octets.
fn cut_array(octets: &[u8], most: usize) -> serde_json::Result<(Vec<&RawValue>, usize)> {
    struct Items(usize);
    impl<'de> Visitor<'de> for Items {
        type Value = (Vec<&'de RawValue>, usize);

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut kept = Vec::new();
            while kept.len() < self.0
                && let Some(item) = items.next_element()?
            {
                kept.push(item);
            }
            let mut count = kept.len();
            // An array that has ended is not asked again.
            while count >= self.0 && items.next_element::<IgnoredAny>()?.is_some() {
                count += 1;
            }
            Ok((kept, count))
        }
    }
    let mut reader = serde_json::Deserializer::from_slice(octets);
    let items = reader.deserialize_seq(Items(most))?;
    reader.end()?;
    Ok(items)
}

/// Requests that are answered one after the other.
pub(super) struct Chunk {
    pub(super) octets: Bytes,
    pub(super) items: Vec<Item>,
    /// What is before an answer, except before the first of all, and after each.
    pub(super) before: &'static [u8],
    pub(super) behind: &'static [u8],
    pub(super) is_first: bool,
    /// The share of its octets in the memory limit of bodies.
    _share: Share,
}

pub(super) enum Item {
    Request(Range<usize>),
    /// A line that was dropped because it is longer than the limit.
    TooLong(usize),
    /// A line that was dropped because there was no room for it.
    Refused(Problem),
}

/// Where chunks come from.
pub(super) enum Source {
    Array { octets: Bytes, items: Vec<Range<usize>>, next: usize },
    Lines(Lines),
}

impl Source {
    /// The next chunk.
    pub(super) async fn next(&mut self) -> Option<Chunk> {
        match self {
            Self::Array { octets, items, next } => {
                let start = *next;
                let end = items.len().min(start + CHUNK);
                *next = end;
                (start < end).then(|| Chunk {
                    octets: octets.clone(),
                    items: items[start..end].iter().cloned().map(Item::Request).collect(),
                    before: b",",
                    behind: b"",
                    is_first: start == 0,
                    _share: Share::default(),
                })
            }
            Self::Lines(lines) => lines.next().await,
        }
    }

    /// Whether it broke off.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self, Self::Lines(lines) if lines.is_broken)
    }
}

/// Lines of a body, as they come.
pub(super) struct Lines {
    body: Body,
    buffer: BytesMut,
    /// Up to where the buffer is known to have no line end, so that a line which comes in many small
    /// pieces is looked through once.
    searched: usize,
    limit: usize,
    /// The share of the current line in the memory for bodies, and how long it waits for more.
    share: Share,
    bodies: Bodies,
    client: u64,
    patience: Duration,
    /// Whether the line that is being read was too long already.
    skips: bool,
    ended: bool,
    /// Whether the body ended before it was complete.
    is_broken: bool,
}

impl Lines {
    pub(super) fn new(app: &App, client: u64, body: Body) -> Self {
        let limits = &app.config.limits;
        let patience = Duration::from_millis(limits.queue_milliseconds);
        Self::within(app.bodies.clone(), client, limits.body_octets, patience, body)
    }

    fn within(bodies: Bodies, client: u64, limit: usize, patience: Duration, body: Body) -> Self {
        Self {
            body,
            buffer: BytesMut::new(),
            searched: 0,
            limit,
            share: Share::default(),
            bodies,
            client,
            patience,
            skips: false,
            ended: false,
            is_broken: false,
        }
    }

    async fn next(&mut self) -> Option<Chunk> {
        loop {
            if let Some(chunk) = self.cut() {
                return Some(chunk);
            }
            if self.ended {
                return None;
            }
            let octets = self.buffer.len();
            let grown = self.bodies.grow(self.client, &mut self.share, octets, self.patience).await;
            if let Err(problem) = grown {
                self.skip();
                return Some(self.chunk(Bytes::new(), vec![Item::Refused(problem)]));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(octets) = frame.into_data() {
                        self.buffer.extend_from_slice(&octets);
                    }
                }
                Some(Err(_)) => self.break_off(),
                None => self.ended = true,
            }
        }
    }

    /// Complete lines are answered, and an incomplete one is dropped.
    fn break_off(&mut self) {
        let whole = self.buffer.iter().rposition(|&octet| octet == b'\n');
        self.buffer.truncate(whole.map_or(0, |end| end + 1));
        self.searched = self.searched.min(self.buffer.len());
        (self.ended, self.is_broken) = (true, true);
    }

    /// The lines that are there, as many as a chunk takes.
    fn cut(&mut self) -> Option<Chunk> {
        let mut items = Vec::new();
        let mut start = 0;
        while items.len() < CHUNK {
            let rest = &self.buffer[start..];
            let searched = std::mem::take(&mut self.searched);
            let end = rest[searched..].iter().position(|&octet| octet == b'\n');
            let end = match end {
                Some(end) => searched + end,
                None if self.ended && !rest.is_empty() => rest.len(),
                None => {
                    self.searched = rest.len();
                    break;
                }
            };
            let is_rest_of_long = std::mem::take(&mut self.skips);
            if is_rest_of_long {
                // Its error was given when it became too long.
            } else if end > self.limit {
                items.push(Item::TooLong(self.limit));
            } else if !rest[..end].trim_ascii().is_empty() {
                items.push(Item::Request(start..start + end));
            }
            start = (start + end + 1).min(self.buffer.len());
        }
        let octets = self.buffer.split_to(start).freeze();
        if self.skips {
            self.skip();
        } else if self.buffer.len() > self.limit && items.len() < CHUNK {
            self.skip();
            items.push(Item::TooLong(self.limit));
        }
        let is_any = !items.is_empty();
        is_any.then(|| self.chunk(octets, items))
    }

    /// Drops the rest of a line, received or not.
    fn skip(&mut self) {
        self.buffer = BytesMut::new();
        self.searched = 0;
        self.skips = true;
    }

    /// Some lines, with the share of the last one that had to wait.
    fn chunk(&mut self, octets: Bytes, items: Vec<Item>) -> Chunk {
        let share = std::mem::take(&mut self.share);
        Chunk { octets, items, before: b"", behind: b"\n", is_first: false, _share: share }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The requests of some frames: each with its text, or none if it is too long.
    async fn cut(frames: &[&str], limit: usize) -> Vec<Option<String>> {
        let bodies = Bodies::new(1 << 20, 1 << 20);
        let mut lines = Lines::within(bodies, 1, limit, Duration::ZERO, Body::empty());
        let mut found = Vec::new();
        let mut note = |chunk: Option<Chunk>| {
            let Some(Chunk { octets, items, .. }) = chunk else { return };
            found.extend(items.into_iter().map(|item| match item {
                Item::Request(range) => Some(String::from_utf8_lossy(&octets[range]).into_owned()),
                Item::TooLong(_) | Item::Refused(_) => None,
            }));
        };
        for frame in frames {
            lines.buffer.extend_from_slice(frame.as_bytes());
            note(lines.cut());
        }
        note(lines.next().await);
        assert!(lines.next().await.is_none());
        found
    }

    #[test]
    fn arrays_are_cut_at_what_they_may_have() {
        let cut = |json: &str, most| {
            let (items, count) = cut_array(json.as_bytes(), most).expect("JSON");
            (items.iter().map(|item| item.get().to_owned()).collect::<Vec<_>>(), count)
        };
        assert_eq!(cut("[]", 2), (vec![], 0));
        assert_eq!(cut(" [ 1 ,{\"a\":[]}]\n", 2), (vec!["1".to_owned(), "{\"a\":[]}".to_owned()], 2));
        assert_eq!(cut("[1,2,3,4]", 2), (vec!["1".to_owned(), "2".to_owned()], 4));
        for wrong in ["[", "[1,]", "[1]]", "[1] 2", "[1,2,3,", "{}"] {
            assert!(cut_array(wrong.as_bytes(), 2).is_err(), "{wrong}");
        }
        assert!(cut_array(b"[\"\xff\"]", 2).is_err());
    }

    #[tokio::test]
    async fn lines_are_cut_wherever_frames_end() {
        let some = |texts: &[&str]| texts.iter().map(|it| Some((*it).to_owned())).collect::<Vec<_>>();
        assert_eq!(cut(&["ab\ncd\n"], 9).await, some(&["ab", "cd"]));
        assert_eq!(cut(&["a", "b\n", "\n \r\n", "cd"], 9).await, some(&["ab", "cd"]));
        assert_eq!(cut(&[], 9).await, some(&[]));
        assert_eq!(cut(&["abcdef\nab\n"], 3).await, [None, Some("ab".to_owned())]);
        assert_eq!(
            cut(&["abcd", "ef", "gh\nab", "\ncdef"], 3).await,
            [None, Some("ab".to_owned()), None]
        );
    }

    #[test]
    fn lines_that_break_off_are_those_that_came_whole() {
        for (came, whole) in [("ab\ncd", 1), ("ab\ncd\n", 2), ("ab", 0), ("", 0)] {
            let bodies = Bodies::new(1 << 20, 1 << 20);
            let mut lines = Lines::within(bodies, 1, 100, Duration::ZERO, Body::empty());
            let mut items = 0;
            for octet in came.as_bytes() {
                lines.buffer.extend_from_slice(&[*octet]);
                items += lines.cut().map_or(0, |chunk| chunk.items.len());
            }
            lines.break_off();
            items += lines.cut().map_or(0, |chunk| chunk.items.len());
            assert_eq!((items, lines.is_broken, lines.ended), (whole, true, true), "{came:?}");
        }
    }

    #[test]
    fn a_line_in_many_pieces_is_looked_through_once() {
        let bodies = Bodies::new(1 << 20, 1 << 20);
        let mut lines = Lines::within(bodies, 1, 100, Duration::ZERO, Body::empty());
        for piece in ["ab", "c", "d"] {
            lines.buffer.extend_from_slice(piece.as_bytes());
            assert!(lines.cut().is_none());
            assert_eq!(lines.searched, lines.buffer.len());
        }
        lines.buffer.extend_from_slice(b"\nef");
        let chunk = lines.cut().expect("a line");
        assert_eq!((&*chunk.octets, chunk.items.len()), (&b"abcd\n"[..], 1));
        assert_eq!((lines.searched, &*lines.buffer), (2, &b"ef"[..]));
    }
}

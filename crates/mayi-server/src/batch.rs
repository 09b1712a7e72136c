//! Many requests in → their answers out, in order, on all cores and in bounded memory.
//!
//! Requests are cut into chunks, and a few chunks are answered at the same time. Each has a short
//! channel of its own, and the channels are emptied one after the other: a client that reads slowly
//! makes the work wait, and not the memory grow. A wrong request gets its error in its place. Lines that
//! are waited for take no place among the requests that are answered, and long ones a share of what bodies
//! may take: a client that sends slowly holds up nobody.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Response};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Frame;
use mayi::access::Origin;
use mayi::report::{ErrorCode, Request, RequestError};
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, mpsc};

use crate::api::decide::answer_into;
use crate::api::{App, Read};
use crate::bodies::{Bodies, Share};
use crate::gate::Place;
use crate::metrics::{Outcome, Outcomes};
use crate::prepared::site_of;
use crate::problem::Problem;

/// How many requests a chunk has at most.
const CHUNK: usize = 512;

/// Answers are handed on in pieces of about this size.
const PIECE: usize = 64 << 10;

/// How many pieces of a chunk wait to be handed on.
const PIECES: usize = 2;

/// How long a chunk works before it lets others have a turn.
const TURN: Duration = Duration::from_millis(1);

/// Requests in an array.
pub(crate) struct Batch {
    read: Read,
    items: Vec<Range<usize>>,
}

impl Batch {
    /// Cuts an array into its requests, which are read later and each by itself.
    pub(crate) fn of_array(read: Read, most: usize) -> Result<Self, Problem> {
        let octets = &read.octets;
        let (raw, count) = cut_array(octets, most)
            .map_err(|error| Problem::from(RequestError::new(ErrorCode::InvalidJson, error)))?;
        if count > most {
            let detail = format!("the array has {count} requests, and may have {most}; send NDJSON");
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

/// The first items of an array, and how many there are: an array of very many small ones would take more
/// memory by its places than by its octets.
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

/// Answers an array by an array.
pub(crate) fn array(app: Arc<App>, batch: Batch, place: Option<Place>) -> Response<Body> {
    let Batch { read, items } = batch;
    let source = Source::Array { octets: read.octets.clone(), items, next: 0 };
    streamed(app, source, "application/json", None, (read, place))
}

/// Answers lines by lines, as they come.
pub(crate) fn lines(app: Arc<App>, body: Body, place: Option<Place>) -> Response<Body> {
    let lines = Lines::new(&app, body);
    let (places, span) = place.map(Place::leave).unzip();
    streamed(app, Source::Lines(lines), "application/x-ndjson", places, span)
}

/// An answer that is made while it is sent. Each chunk takes one of `places`, where there are some; what is held
/// is let go at the end.
fn streamed(
    app: Arc<App>,
    source: Source,
    content_type: &'static str,
    places: Option<Arc<Semaphore>>,
    held: impl Send + 'static,
) -> Response<Body> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        // Whoever does not want the rest of the answer has gone, and that is all there is to it.
        let _ = drive(app, source, places, sender).await;
        drop(held);
    });
    let mut response = Response::new(Body::new(Pieces(receiver)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Pieces of an answer as a body.
struct Pieces(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|octets| Ok(Frame::data(octets))))
    }
}

/// Somebody who does not listen any more.
struct Gone;

async fn drive(
    app: Arc<App>,
    mut source: Source,
    places: Option<Arc<Semaphore>>,
    out: mpsc::Sender<Bytes>,
) -> Result<(), Gone> {
    let is_array = matches!(source, Source::Array { .. });
    let at_once = std::thread::available_parallelism().map_or(2, usize::from);
    let mut running: VecDeque<mpsc::Receiver<Bytes>> = VecDeque::new();
    let mut ended = false;
    if is_array {
        send(&out, Bytes::from_static(b"[")).await?;
    }
    loop {
        let has_room = !ended && running.len() < at_once;
        if !has_room && running.is_empty() {
            break;
        }
        tokio::select! {
            biased;
            piece = next_piece(&mut running), if !running.is_empty() => match piece {
                Some(piece) => send(&out, piece).await?,
                None => drop(running.pop_front()),
            },
            chunk = source.next(), if has_room => match chunk {
                Some(chunk) => {
                    let (sender, receiver) = mpsc::channel(PIECES);
                    let (app, places) = (Arc::clone(&app), places.clone());
                    tokio::spawn(async move {
                        // It fails when there are no places at all any more, which is never.
                        let place = match places {
                            Some(places) => places.acquire_owned().await.ok(),
                            None => None,
                        };
                        answer(app, chunk, sender).await;
                        drop(place);
                    });
                    running.push_back(receiver);
                }
                None => ended = true,
            },
            () = out.closed() => return Err(Gone),
        }
    }
    if is_array {
        send(&out, Bytes::from_static(b"]")).await?;
    }
    Ok(())
}

async fn next_piece(running: &mut VecDeque<mpsc::Receiver<Bytes>>) -> Option<Bytes> {
    running.front_mut()?.recv().await
}

async fn send(out: &mpsc::Sender<Bytes>, piece: Bytes) -> Result<(), Gone> {
    out.send(piece).await.map_err(|_| Gone)
}

/// Requests that are answered one after the other.
struct Chunk {
    octets: Bytes,
    items: Vec<Item>,
    /// What stands before an answer, except before the first of all, and behind each.
    before: &'static [u8],
    behind: &'static [u8],
    is_first: bool,
    /// What its octets take of what bodies may take.
    _share: Share,
}

enum Item {
    Request(Range<usize>),
    /// A line that was not kept, as it is longer than a line may be.
    TooLong(usize),
    /// A line that was not kept, as there was no room for it.
    Refused(Problem),
}

impl Item {
    fn read<'o>(&self, octets: &'o [u8]) -> Result<Request<'o>, Problem> {
        match self {
            Self::Request(range) => Ok(Request::from_json(&octets[range.clone()])?),
            Self::TooLong(limit) => Err(too_long(*limit).into()),
            Self::Refused(problem) => Err(problem.clone()),
        }
    }
}

async fn answer(app: Arc<App>, chunk: Chunk, out: mpsc::Sender<Bytes>) {
    let requests: Vec<_> = chunk.items.iter().map(|item| item.read(&chunk.octets)).collect();
    fetch_ahead(&app, &requests);
    let mut answerer = app.answerer();
    let mut outcomes = Outcomes::default();
    let mut piece = Vec::with_capacity(PIECE + 4096);
    let mut turn = Instant::now();
    for (place, request) in requests.into_iter().enumerate() {
        if place > 0 || !chunk.is_first {
            piece.extend_from_slice(chunk.before);
        }
        let written = match request {
            Ok(request) => {
                let outcome = answer_into(&app, &mut answerer, &request, &mut piece).await;
                outcome.map_err(Problem::from)
            }
            Err(problem) => Err(problem),
        };
        outcomes.add(written.unwrap_or_else(|problem| {
            problem.write_in_place(&mut piece);
            Outcome::Wrong
        }));
        piece.extend_from_slice(chunk.behind);
        if piece.len() >= PIECE {
            let full = std::mem::replace(&mut piece, Vec::with_capacity(PIECE + 4096));
            if out.send(full.into()).await.is_err() {
                break;
            }
        }
        if place % 16 == 0 && turn.elapsed() >= TURN {
            tokio::task::yield_now().await;
            turn = Instant::now();
        }
    }
    if !piece.is_empty() {
        // Nobody may be there to read it.
        let _ = out.send(piece.into()).await;
    }
    app.metrics.decided_all(&outcomes);
}

/// Starts to fetch all files that a chunk needs, so that they come at the same time. The fetches go
/// on whoever waits for them.
fn fetch_ahead(app: &App, requests: &[Result<Request<'_>, Problem>]) {
    let mut seen = HashSet::new();
    let mut before = "";
    for request in requests.iter().flatten().filter(|request| request.robots.is_none()) {
        // Requests about one site mostly stand together.
        let site = site_of(&request.url);
        if std::mem::replace(&mut before, site) == site {
            continue;
        }
        let Ok(origin) = Origin::of_url(&request.url) else { continue };
        if !seen.insert(origin.clone()) || app.fetcher.ready(&origin).is_some() {
            continue;
        }
        let fetcher = app.fetcher.clone();
        tokio::spawn(async move { drop(fetcher.robots(&origin).await) });
    }
}

fn too_long(limit: usize) -> RequestError {
    let message = format!("the line is longer than {limit} octets");
    RequestError::new(ErrorCode::InvalidRequest, message)
}

/// Where chunks come from.
enum Source {
    Array { octets: Bytes, items: Vec<Range<usize>>, next: usize },
    Lines(Lines),
}

impl Source {
    /// The next chunk. Nothing is lost where nobody waits for it to the end.
    async fn next(&mut self) -> Option<Chunk> {
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
}

/// Lines of a body, as they come.
struct Lines {
    body: Body,
    buffer: BytesMut,
    /// Up to where the buffer is known to have no line end, so that a line which comes in many small
    /// pieces is looked through once.
    searched: usize,
    limit: usize,
    /// What the line that is being read takes of what bodies may take, and how long it waits for more.
    share: Share,
    bodies: Bodies,
    patience: Duration,
    /// Whether the line that is being read was too long already.
    skips: bool,
    ended: bool,
}

impl Lines {
    fn new(app: &App, body: Body) -> Self {
        let limits = &app.config.limits;
        let patience = Duration::from_millis(limits.queue_milliseconds);
        Self::within(app.bodies.clone(), limits.body_octets, patience, body)
    }

    fn within(bodies: Bodies, limit: usize, patience: Duration, body: Body) -> Self {
        Self {
            body,
            buffer: BytesMut::new(),
            searched: 0,
            limit,
            share: Share::default(),
            bodies,
            patience,
            skips: false,
            ended: false,
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
            if let Err(problem) = self.bodies.grow(&mut self.share, octets, self.patience).await {
                self.skip();
                return Some(self.chunk(Bytes::new(), vec![Item::Refused(problem)]));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(octets) = frame.into_data() {
                        self.buffer.extend_from_slice(&octets);
                    }
                }
                // What came whole is answered, and what was cut off is not there.
                Some(Err(_)) => {
                    let whole = self.buffer.iter().rposition(|&octet| octet == b'\n');
                    self.buffer.truncate(whole.map_or(0, |end| end + 1));
                    self.ended = true;
                }
                None => self.ended = true,
            }
        }
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

    /// Forgets what has come of a line, and what will.
    fn skip(&mut self) {
        self.buffer = BytesMut::new();
        self.searched = 0;
        self.skips = true;
    }

    /// Some lines, which take along the share of the last that had to be waited for.
    fn chunk(&mut self, octets: Bytes, items: Vec<Item>) -> Chunk {
        let share = std::mem::take(&mut self.share);
        Chunk { octets, items, before: b"", behind: b"\n", is_first: false, _share: share }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The requests of some frames: each with its text, or nothing where it is too long.
    async fn cut(frames: &[&str], limit: usize) -> Vec<Option<String>> {
        let bodies = Bodies::new(1 << 20);
        let mut lines = Lines::within(bodies, limit, Duration::ZERO, Body::empty());
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
    fn a_line_in_many_pieces_is_looked_through_once() {
        let bodies = Bodies::new(1 << 20);
        let mut lines = Lines::within(bodies, 100, Duration::ZERO, Body::empty());
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

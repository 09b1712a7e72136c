//! Many requests in → their answers out, in order, on all cores and in bounded memory.
//!
//! Requests are cut into chunks, and a few chunks are answered at the same time. Each has a short
//! channel of its own, and the channels are emptied one after the other: a client that reads slowly
//! makes the work wait; it does not make the memory grow. An invalid request gets an error in its place.
//! While a client sends its lines slowly, it takes no place among the requests in progress, and long lines
//! count towards the memory limit of bodies: a slow client delays nobody. Answering is work, done in turns of
//! a few milliseconds; waiting for files happens between the turns. If the lines end early, complete lines
//! are answered, and then the answer ends early too.

use std::collections::HashSet;
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Response};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Frame;
use mayi::Stop;
use mayi::access::Origin;
use mayi::report::{ErrorCode, Request, RequestError};
use mayi_fetch::Robots;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{JoinHandle, JoinSet};

use crate::answers::holding;
use crate::api::decide::{Solved, solve};
use crate::api::{App, Read};
use crate::bodies::{Bodies, Share};
use crate::gate::Place;
use crate::metrics::{Outcome, Outcomes};
use crate::prepared::{Answerer, site_of};
use crate::problem::Problem;
use crate::pulse::Open;
use crate::traces;
use crate::work::{By, most_of};

/// How many requests a chunk has at most.
const CHUNK: usize = 512;

/// Answers are handed on in pieces of about this size.
const PIECE: usize = 64 << 10;

/// How many pieces of a chunk wait to be handed on.
const PIECES: usize = 1;

/// How long a chunk works before others get a turn, and how many octets of work that counts as.
const TURN: Duration = Duration::from_millis(2);
const TURN_COST: usize = 8 << 10;

/// Most answers are shorter than this.
const SHORT_ANSWER: usize = 2 << 10;

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

/// Answers an array by an array.
pub(crate) fn array(app: Arc<App>, batch: Batch, place: Place) -> Response<Body> {
    let Batch { read, items } = batch;
    let source = Source::Array { octets: read.octets.clone(), items, next: 0 };
    let stream = Stream { by: place.by(), open: Arc::clone(place.open()), places: None };
    streamed(app, source, "application/json", stream, (read, place))
}

/// Answers lines by lines, as they come.
pub(crate) fn lines(app: Arc<App>, body: Body, place: Place) -> Response<Body> {
    let (by, open) = (place.by(), Arc::clone(place.open()));
    let lines = Lines::new(&app, by.client, body);
    let (places, span) = place.leave();
    let stream = Stream { by, open, places: Some(places) };
    streamed(app, Source::Lines(lines), "application/x-ndjson", stream, span)
}

/// The request whose answer is made while it is sent. Each chunk takes one of `places`, if there are some.
struct Stream {
    by: By,
    open: Arc<Open>,
    places: Option<Arc<Semaphore>>,
}

/// An answer that is made while it is sent; its resources are released at the end.
fn streamed(
    app: Arc<App>,
    source: Source,
    content_type: &'static str,
    stream: Stream,
    held: impl Send + 'static,
) -> Response<Body> {
    let (sender, receiver) = mpsc::channel(1);
    let (on_the_way, all_sent) = mpsc::channel(1);
    let open = Arc::clone(&stream.open);
    tokio::spawn(traces::carried(async move {
        // A client that does not want the rest of the answer has gone; nothing else is to do. If the answer could not
        // be completed, its missing end says so.
        if drive(app, source, &stream, &sender, on_the_way).await.is_ok() {
            let _ = sender.send(Piece::End).await;
        }
        drop(held);
    }));
    let pieces = Pieces { receiver, all_sent, is_over: false, open };
    let mut response = Response::new(Body::new(pieces));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A part of an answer, or the sign that it is complete.
enum Piece {
    Octets(Bytes),
    End,
}

/// Pieces of an answer as a body. An incomplete one ends in an error, so that no client takes it for complete.
struct Pieces {
    receiver: mpsc::Receiver<Piece>,
    /// Signals when all octets that were made are sent.
    all_sent: mpsc::Receiver<Infallible>,
    is_over: bool,
    open: Arc<Open>,
}

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if !self.is_over {
            match ready!(self.receiver.poll_recv(context)) {
                Some(Piece::Octets(octets)) => {
                    let unsent = self.open.pulse().sending();
                    unsent.take(octets.len());
                    return Poll::Ready(Some(Ok(Frame::data(holding(octets, unsent)))));
                }
                Some(Piece::End) => return Poll::Ready(None),
                None => self.is_over = true,
            }
        }
        // The answers so far have to arrive before the connection is closed.
        let None = ready!(self.all_sent.poll_recv(context));
        Poll::Ready(Some(Err(io::Error::other("the requests ended early"))))
    }
}

/// Why an answer has no end: the client has gone, or the requests ended early.
struct Broken;

/// A chunk that is being answered. Dropping it cancels the work.
struct Running {
    pieces: mpsc::Receiver<Bytes>,
    task: JoinHandle<Result<(), Broken>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn drive(
    app: Arc<App>,
    mut source: Source,
    stream: &Stream,
    out: &mpsc::Sender<Piece>,
    on_the_way: mpsc::Sender<Infallible>,
) -> Result<(), Broken> {
    let is_array = matches!(source, Source::Array { .. });
    if is_array {
        send(out, Bytes::from_static(b"[")).await?;
    }
    let at_once = std::thread::available_parallelism().map_or(2, usize::from);
    let (queue, mut chunks) = mpsc::channel::<Running>(at_once.saturating_sub(1).max(1));
    let patience = Duration::from_millis(app.config.limits.queue_milliseconds);
    let reading = async move {
        loop {
            let place_in_queue = queue.reserve().await.map_err(|_| Broken)?;
            let Some(chunk) = source.next().await else { break };
            // In this order, and before the next chunk: the first chunk never waits for a later one.
            let place = match &stream.places {
                Some(places) => Arc::clone(places).acquire_owned().await.ok(),
                None => None,
            };
            let octets = (chunk.items.len() * SHORT_ANSWER).min(4 * PIECE);
            // Places limit it as well, so that nobody has to wait for clients that do not read.
            let room = app.bodies.wait(stream.by.client, octets);
            let room = tokio::time::timeout(patience, room).await.ok();
            let (sender, pieces) = mpsc::channel(PIECES);
            let held = Arc::new((room, on_the_way.clone()));
            let (app, by) = (Arc::clone(&app), stream.by);
            let task = tokio::spawn(traces::carried(async move {
                let answered = answer(app, chunk, by, held, sender).await;
                drop(place);
                answered
            }));
            place_in_queue.send(Running { pieces, task });
        }
        if source.is_broken() { Err(Broken) } else { Ok(()) }
    };
    let writing = async {
        while let Some(mut running) = chunks.recv().await {
            while let Some(piece) = running.pieces.recv().await {
                send(out, piece).await?;
            }
            (&mut running.task).await.map_err(|_| Broken)??;
        }
        Ok(())
    };
    let both = async {
        // Both to their ends: what was read is answered, also where no more can be read.
        let (read, written) = tokio::join!(reading, writing);
        written.and(read)
    };
    tokio::select! {
        biased;
        done = both => done?,
        () = out.closed() => return Err(Broken),
    }
    if is_array {
        send(out, Bytes::from_static(b"]")).await?;
    }
    Ok(())
}

async fn send(out: &mpsc::Sender<Piece>, piece: Bytes) -> Result<(), Broken> {
    out.send(Piece::Octets(piece)).await.map_err(|_| Broken)
}

/// Requests that are answered one after the other.
struct Chunk {
    octets: Bytes,
    items: Vec<Item>,
    /// What is before an answer, except before the first of all, and after each.
    before: &'static [u8],
    behind: &'static [u8],
    is_first: bool,
    /// The share of its octets in the memory limit of bodies.
    _share: Share,
}

enum Item {
    Request(Range<usize>),
    /// A line that was dropped because it is longer than the limit.
    TooLong(usize),
    /// A line that was dropped because there was no room for it.
    Refused(Problem),
}

/// What is held until the answers of a chunk are sent.
type Room = Arc<(Option<Share>, mpsc::Sender<Infallible>)>;

/// Answers a chunk: turn by turn as work, and waits between the turns.
async fn answer(
    app: Arc<App>,
    chunk: Chunk,
    by: By,
    room: Room,
    out: mpsc::Sender<Bytes>,
) -> Result<(), Broken> {
    let mut task = Task::new(chunk);
    let mut cost = TURN_COST;
    // Those who wait for files ahead of time stop waiting with the chunk.
    let mut ahead = JoinSet::new();
    loop {
        let there = Arc::clone(&app);
        let work = move |_: &Stop| {
            let mut piece = Vec::with_capacity(PIECE + 4096);
            let (step, share) = task.turn(&there, by, most_of(cost), &mut piece);
            (task, step, share, piece)
        };
        let (worked, step, share, piece) = app.pool.run(by, cost, work).await.map_err(|_| Broken)?;
        task = worked;
        if !piece.is_empty() {
            let piece = holding(piece, (Arc::clone(&room), share));
            out.send(piece).await.map_err(|_| Broken)?;
        }
        cost = TURN_COST;
        match step {
            Step::Turn => {}
            Step::Large(octets) => cost = octets,
            Step::Needs(origin, others) => {
                let fetcher = app.fetcher.on_behalf_of(by.client);
                for origin in others {
                    let fetcher = fetcher.clone();
                    ahead.spawn(traces::carried(async move { drop(fetcher.robots(&origin).await) }));
                }
                task.landed = Some(fetcher.robots(&origin).await);
            }
            Step::Done => break,
        }
    }
    app.metrics.decided_all(&task.outcomes);
    Ok(())
}

/// A chunk, and how far it is answered.
struct Task {
    chunk: Chunk,
    next: usize,
    answerer: Answerer,
    outcomes: Outcomes,
    /// The file that the next request had to wait for.
    landed: Option<Robots>,
    looked_ahead: bool,
}

/// Why a turn is over.
enum Step {
    /// It is the turn of others.
    Turn,
    /// The next request is about this many octets.
    Large(usize),
    /// The next request needs this file, and later ones will need others.
    Needs(Origin, Vec<Origin>),
    Done,
}

impl Task {
    fn new(chunk: Chunk) -> Self {
        Self {
            chunk,
            next: 0,
            answerer: Answerer::default(),
            outcomes: Outcomes::default(),
            landed: None,
            looked_ahead: false,
        }
    }

    /// Works for a while. What it writes beyond a piece has a share of its own.
    fn turn(&mut self, app: &App, by: By, most: usize, piece: &mut Vec<u8>) -> (Step, Option<Share>) {
        let began = Instant::now();
        while let Some(item) = self.chunk.items.get(self.next) {
            let start = piece.len();
            if self.next > 0 || !self.chunk.is_first {
                piece.extend_from_slice(self.chunk.before);
            }
            let answer_at = piece.len();
            let mut is_short = true;
            let solved = match item {
                Item::Request(range) if range.len() > most => Solved::Large(range.len()),
                Item::Request(range) => {
                    is_short = range.len() <= SHORT_ANSWER;
                    let json = &self.chunk.octets[range.clone()];
                    solve(app, &mut self.answerer, json, self.landed.as_ref(), most, piece)
                }
                Item::TooLong(limit) => Solved::Written(Err(too_long(*limit).into())),
                Item::Refused(problem) => Solved::Written(Err(problem.clone())),
            };
            let mut written = match solved {
                Solved::Written(written) => written,
                Solved::Large(octets) => {
                    piece.truncate(start);
                    return (Step::Large(octets), None);
                }
                Solved::Needs(origin) => {
                    piece.truncate(start);
                    let others = self.sites_ahead(app, &origin);
                    return (Step::Needs(origin, others), None);
                }
            };
            let mut share = None;
            if piece.len() - answer_at > PIECE {
                match app.bodies.share_of_any(by.client, piece.len() - answer_at) {
                    Ok(taken) => share = Some(taken),
                    Err(problem) => {
                        piece.truncate(answer_at);
                        piece.shrink_to(PIECE);
                        written = Err(problem);
                    }
                }
            }
            self.outcomes.add(written.unwrap_or_else(|problem| {
                problem.write_in_place(piece);
                Outcome::Wrong
            }));
            piece.extend_from_slice(self.chunk.behind);
            self.next += 1;
            // The clock is not read for every request: that would cost a twentieth of the time.
            let is_long = (!is_short || self.next.is_multiple_of(8)) && began.elapsed() >= TURN;
            if piece.len() >= PIECE || is_long || share.is_some() {
                return (Step::Turn, share);
            }
        }
        (Step::Done, None)
    }

    /// The other sites whose files the rest of the chunk needs, so that they come at the same time.
    fn sites_ahead(&mut self, app: &App, origin: &Origin) -> Vec<Origin> {
        if std::mem::replace(&mut self.looked_ahead, true) {
            return Vec::new();
        }
        let mut seen = HashSet::from([origin.clone()]);
        let mut others = Vec::new();
        let mut before = String::new();
        for item in &self.chunk.items[self.next..] {
            let Item::Request(range) = item else { continue };
            let Ok(request) = Request::from_json(&self.chunk.octets[range.clone()]) else { continue };
            // Requests about one site are usually next to each other.
            let site = site_of(&request.url);
            if request.robots.is_some() || before == site {
                continue;
            }
            site.clone_into(&mut before);
            let Ok(origin) = Origin::of_url(&request.url) else { continue };
            if seen.insert(origin.clone()) && app.fetcher.ready(&origin).is_none() {
                others.push(origin);
            }
        }
        others
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
    /// The next chunk.
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

    /// Whether it broke off.
    fn is_broken(&self) -> bool {
        matches!(self, Self::Lines(lines) if lines.is_broken)
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
    fn new(app: &App, client: u64, body: Body) -> Self {
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

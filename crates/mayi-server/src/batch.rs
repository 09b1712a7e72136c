//! Many requests in → their answers out, in order, on all cores and in bounded memory.
//!
//! Requests are cut into chunks, and a few chunks are answered at the same time. Each has a short
//! channel of its own, and the channels are emptied one after the other: a client that reads slowly
//! makes the work wait; it does not make the memory grow. An invalid request gets an error in its place.
//! While a client sends its lines slowly, it takes no place among the requests in progress, and long lines
//! count towards the memory limit of bodies: a slow client delays nobody. Answering is work, done in turns of
//! a few milliseconds; waiting for files happens between the turns. If the lines end early, complete lines
//! are answered, and then the answer ends early too.

mod source;

use std::collections::HashSet;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Response};
use bytes::Bytes;
use hyper::body::Frame;
use mayi::Stop;
use mayi::access::Origin;
use mayi::report::{ErrorCode, Request, RequestError};
use mayi_fetch::Robots;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{JoinHandle, JoinSet};

pub(crate) use self::source::Batch;
use self::source::{Chunk, Item, Lines, Source};
use crate::answers::holding;
use crate::api::App;
use crate::api::decide::{Solved, solve};
use crate::bodies::Share;
use crate::gate::Place;
use crate::metrics::{Outcome, Outcomes};
use crate::prepared::{Answerer, site_of};
use crate::pulse::Open;
use crate::traces;
use crate::work::{By, most_of};

/// Answers are handed on in pieces of about this size.
const PIECE: usize = 64 << 10;

/// How many pieces of a chunk wait to be handed on.
const PIECES: usize = 1;

/// How long a chunk works before others get a turn, and how many octets of work that counts as.
const TURN: Duration = Duration::from_millis(2);
const TURN_COST: usize = 8 << 10;

/// Most answers are shorter than this.
const SHORT_ANSWER: usize = 2 << 10;

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

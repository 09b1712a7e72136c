//! Activity on a connection → whether to keep it open.
//!
//! This covers what no request timeout covers: a client that connects and sends nothing, one that sends
//! its header fields octet by octet, one that leaves a connection idle, one that does not read its
//! answer but still sends. Only octets count: a flush is not activity.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The state of a connection. Its users record activity here, by flags that cost almost nothing, and the flags are
/// checked from time to time.
pub(crate) struct Pulse {
    /// Whether octets came, and went, since the last look.
    came: AtomicBool,
    went: AtomicBool,
    /// Whether the other side does not read what is ready for it.
    is_full: AtomicBool,
    /// Whether the head of a request is waited for: from the start, and from the first octet of each later one.
    asks: AtomicBool,
    /// Whether it is HTTP/2, where octets between requests need not be the start of one.
    is_two: AtomicBool,
    /// Requests that are being read and answered; the service has to act, not the client.
    answering: AtomicUsize,
    /// Requests whose answer is not sent yet.
    open: AtomicUsize,
    unsent: Mutex<Vec<Weak<Unsent>>>,
}

/// Octets of an answer that are being sent, and how many of them the client has taken.
#[derive(Default)]
pub(crate) struct Unsent {
    taken: AtomicUsize,
    seen: AtomicUsize,
    looks: AtomicU32,
}

impl Unsent {
    pub(crate) fn take(&self, octets: usize) {
        self.taken.fetch_add(octets, Relaxed);
    }

    /// How many checks in a row found that nothing was taken.
    fn look(&self) -> u32 {
        let taken = self.taken.load(Relaxed);
        if self.seen.swap(taken, Relaxed) != taken {
            self.looks.store(0, Relaxed);
            return 0;
        }
        self.looks.fetch_add(1, Relaxed) + 1
    }
}

/// Why a connection was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Silent,
    NoHead,
    NotTaken,
}

impl Pulse {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            came: AtomicBool::new(false),
            went: AtomicBool::new(false),
            is_full: AtomicBool::new(false),
            asks: AtomicBool::new(true),
            is_two: AtomicBool::new(false),
            answering: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            unsent: Mutex::default(),
        })
    }

    /// The head of a request is complete.
    pub(crate) fn asked(self: &Arc<Self>, is_two: bool) -> (Answering, Open) {
        self.asks.store(false, Relaxed);
        if is_two {
            self.is_two.store(true, Relaxed);
        }
        self.answering.fetch_add(1, Relaxed);
        self.open.fetch_add(1, Relaxed);
        (Answering(Arc::clone(self)), Open(Arc::clone(self)))
    }

    /// Octets are being sent, until the returned value is dropped.
    pub(crate) fn sending(&self) -> Arc<Unsent> {
        let unsent = Arc::new(Unsent::default());
        let mut all = self.unsent.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == all.capacity() {
            all.retain(|it| it.strong_count() > 0);
        }
        all.push(Arc::downgrade(&unsent));
        unsent
    }

    /// Waits until the connection must be closed, which may be never.
    pub(crate) async fn ended(&self, idle: Duration, head: Duration) -> End {
        let pause = (idle / 4).min(head / 2).max(Duration::from_millis(10));
        let looks_in = |most: Duration| {
            u32::try_from(most.as_nanos().div_ceil(pause.as_nanos())).unwrap_or(u32::MAX)
        };
        let mut looks = Looks::new(looks_in(idle), looks_in(head));
        loop {
            tokio::time::sleep(pause).await;
            if let Some(end) = looks.look(self) {
                return end;
            }
        }
    }

    /// Whether there is an answer of which nothing was taken for too long, whatever else the client sends.
    fn is_stuck(&self, most: u32) -> bool {
        let mut all = self.unsent.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_stuck = false;
        all.retain(|unsent| {
            let unsent = unsent.upgrade();
            is_stuck |= unsent.as_ref().is_some_and(|unsent| unsent.look() >= most);
            unsent.is_some()
        });
        is_stuck
    }
}

/// How many checks in a row found a state that must not last, and how many may.
struct Looks {
    idle: u32,
    head: u32,
    silent: u32,
    full: u32,
    asking: u32,
}

impl Looks {
    fn new(idle: u32, head: u32) -> Self {
        Self { idle, head, silent: 0, full: 0, asking: 0 }
    }

    fn look(&mut self, pulse: &Pulse) -> Option<End> {
        let (came, went) = (pulse.came.swap(false, Relaxed), pulse.went.swap(false, Relaxed));
        let is_ours = pulse.answering.load(Relaxed) > 0;
        self.silent = if came || went || is_ours { 0 } else { self.silent + 1 };
        self.full = if pulse.is_full.load(Relaxed) && !went { self.full + 1 } else { 0 };
        self.asking = if pulse.asks.load(Relaxed) { self.asking + 1 } else { 0 };
        if self.asking >= self.head {
            return Some(End::NoHead);
        }
        if self.silent >= self.idle {
            return Some(End::Silent);
        }
        (self.full >= self.idle || pulse.is_stuck(self.idle)).then_some(End::NotTaken)
    }
}

/// A request that is being read and answered.
pub(crate) struct Answering(Arc<Pulse>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.answering.fetch_sub(1, Relaxed);
    }
}

/// A request whose answer is not sent yet.
pub(crate) struct Open(Arc<Pulse>);

impl Open {
    pub(crate) fn pulse(&self) -> &Arc<Pulse> {
        &self.0
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Relaxed);
    }
}

/// A connection that records its activity.
pub(crate) struct Watched<S> {
    stream: S,
    pulse: Arc<Pulse>,
}

impl<S> Watched<S> {
    pub(crate) fn new(stream: S, pulse: Arc<Pulse>) -> Self {
        Self { stream, pulse }
    }

    fn wrote(&self, written: &Poll<io::Result<usize>>) {
        if matches!(written, Poll::Ready(Ok(octets)) if *octets > 0) {
            self.pulse.went.store(true, Relaxed);
        }
        self.pulse.is_full.store(written.is_pending(), Relaxed);
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let came = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            let pulse = &self.pulse;
            pulse.came.store(true, Relaxed);
            if pulse.open.load(Relaxed) == 0 && !pulse.is_two.load(Relaxed) {
                pulse.asks.store(true, Relaxed);
            }
        }
        came
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, octets);
        self.wrote(&written);
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.wrote(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of this many checks; the function acts between two of them.
    fn looks(looks: &mut Looks, pulse: &Pulse, count: u32, mut between: impl FnMut()) -> Option<End> {
        (0..count).find_map(|_| {
            between();
            looks.look(pulse)
        })
    }

    #[test]
    fn a_head_has_its_time_and_silence_another() {
        let pulse = Pulse::new();
        let new = || Looks::new(8, 2);
        assert_eq!(looks(&mut new(), &pulse, 2, || ()), Some(End::NoHead), "nothing was ever asked");
        let (answering, open) = pulse.asked(false);
        assert_eq!(looks(&mut new(), &pulse, 100, || ()), None, "it is our turn");
        drop(answering);
        drop(open);
        assert_eq!(looks(&mut new(), &pulse, 7, || ()), None, "it is kept for later");
        assert_eq!(looks(&mut new(), &pulse, 8, || ()), Some(End::Silent));
    }

    #[test]
    fn an_answer_that_nobody_takes_ends_it_whatever_is_said() {
        let pulse = Pulse::new();
        let (answering, open) = pulse.asked(true);
        drop(answering);
        let unsent = open.pulse().sending();
        let talks = || pulse.came.store(true, Relaxed);
        let mut on = Looks::new(8, 2);
        let taken_slowly = || {
            talks();
            unsent.take(1);
        };
        assert_eq!(looks(&mut on, &pulse, 100, taken_slowly), None);
        assert_eq!(looks(&mut on, &pulse, 7, talks), None);
        assert_eq!(looks(&mut on, &pulse, 1, talks), Some(End::NotTaken));
        drop(unsent);
        assert_eq!(looks(&mut on, &pulse, 100, talks), None, "what was taken to the end is forgotten");
        pulse.is_full.store(true, Relaxed);
        assert_eq!(looks(&mut on, &pulse, 8, talks), Some(End::NotTaken));
    }
}

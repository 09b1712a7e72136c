//! A connection → the same, which fails once nothing has gone either way for too long.
//!
//! That covers what no timeout of a request does: a client that connects and says nothing, one that
//! keeps a connection for later, one that does not take its answer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// A look at the connection is taken so many times while it may be silent.
const LOOKS: u32 = 4;

/// A connection that does not wait for ever.
pub(crate) struct Idle<S> {
    stream: S,
    /// The time between two looks.
    pause: Duration,
    /// Whether something went either way since the last look, and how many there were without that. Progress
    /// is noted by a flag, so that no call has to ask for the time.
    moved: bool,
    silent_looks: u32,
    alarm: Pin<Box<Sleep>>,
}

impl<S> Idle<S> {
    /// Fails after this time without progress, or up to a quarter of it later.
    pub(crate) fn new(stream: S, most: Duration) -> Self {
        let pause = most / LOOKS;
        let alarm = Box::pin(tokio::time::sleep(pause));
        Self { stream, pause, moved: false, silent_looks: 0, alarm }
    }

    /// What a call came to: progress is noted, and waiting too long is an error.
    fn noted<T>(
        &mut self,
        came: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if came.is_ready() {
            self.moved = true;
            return came;
        }
        loop {
            ready!(self.alarm.as_mut().poll(context));
            self.silent_looks = if std::mem::take(&mut self.moved) { 0 } else { self.silent_looks + 1 };
            if self.silent_looks >= LOOKS {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.alarm.as_mut().reset(Instant::now() + self.pause);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Idle<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let came = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.noted(came, context)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Idle<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        let came = Pin::new(&mut self.stream).poll_write(context, octets);
        self.noted(came, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let came = Pin::new(&mut self.stream).poll_flush(context);
        self.noted(came, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let came = Pin::new(&mut self.stream).poll_shutdown(context);
        self.noted(came, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let came = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.noted(came, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

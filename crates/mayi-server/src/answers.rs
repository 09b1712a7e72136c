//! An answer → the same answer, whose octets are counted until the client has received them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::Response;
use axum::response::IntoResponse;
use bytes::Bytes;
use hyper::body::{Body as _, Frame, SizeHint};

use crate::bodies::{Bodies, Share};
use crate::pulse::{Open, Unsent};

/// Answers up to this size are not counted if a connection has one at a time: the system takes them at once.
const AT_ONCE: usize = 4 << 10;

/// How much is handed on at a time.
const PIECE: usize = 64 << 10;

/// Octets, and a value that they hold.
struct Held<O, H> {
    octets: O,
    _held: H,
}

impl<O: AsRef<[u8]>, H> AsRef<[u8]> for Held<O, H> {
    fn as_ref(&self) -> &[u8] {
        self.octets.as_ref()
    }
}

/// Octets that hold a value until the last of them is dropped, wherever they are then.
pub(crate) fn holding<O, H>(octets: O, held: H) -> Bytes
where
    O: AsRef<[u8]> + Send + 'static,
    H: Send + 'static,
{
    Bytes::from_owner(Held { octets, _held: held })
}

/// Counts a complete answer. One that is made while it is sent counts its pieces itself. If there is no room
/// for it, the answer is that problem.
pub(crate) fn counted(
    response: Response<Body>,
    bodies: &Bodies,
    client: u64,
    open: Arc<Open>,
    is_alone: bool,
) -> Response<Body> {
    let Some(octets) = response.body().size_hint().exact().and_then(|it| usize::try_from(it).ok())
    else {
        return response;
    };
    if octets == 0 || (is_alone && octets <= AT_ONCE) {
        return response;
    }
    let share = match bodies.share_of_any(client, octets) {
        Ok(share) => share,
        // This is small, and there can be no more of them than requests that are answered.
        Err(problem) => return problem.into_response(),
    };
    let (parts, body) = response.into_parts();
    let unsent = open.pulse().sending();
    Response::from_parts(
        parts,
        Body::new(Whole { body, share: Some((share, open)), rest: None, unsent }),
    )
}

/// A body that was made as a whole.
struct Whole {
    body: Body,
    share: Option<(Share, Arc<Open>)>,
    rest: Option<Bytes>,
    unsent: Arc<Unsent>,
}

impl hyper::body::Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_none() {
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
                return Poll::Pending;
            };
            let octets = frame.and_then(Result::ok).and_then(|frame| frame.into_data().ok());
            let held = (self.share.take(), Arc::clone(&self.unsent));
            self.rest = octets.map(|octets| holding(octets, held));
        }
        let Some(rest) = self.rest.as_mut().filter(|rest| !rest.is_empty()) else {
            return Poll::Ready(None);
        };
        let piece = rest.split_to(rest.len().min(PIECE));
        self.unsent.take(piece.len());
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.as_ref().is_some_and(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        self.rest
            .as_ref()
            .map_or_else(|| self.body.size_hint(), |rest| SizeHint::with_exact(rest.len() as u64))
    }
}

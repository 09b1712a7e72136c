//! An origin → the result of the request for its file: carries out the steps of the core (REP-18, REP-19).

use std::sync::Arc;
use std::time::Duration;

use mayi::access::{AccessResult, Attempt, AttemptOptions, Origin, Step, Validators};
use url::Url;

use crate::clock::{Clock, within};
use crate::fault::Lack;
use crate::kept::{FileCopy, Hop, Said};
use crate::lifecycle::Attempted;
use crate::manners::{Manners, NoRoom, Party, Turn};
use crate::transport::{Cause, Get, Response, Transport, TransportError, TransportErrorKind as Kind};

/// What an attempt needs.
pub(crate) struct Means {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) manners: Manners,
    pub(crate) user_agent: Box<str>,
    pub(crate) body_octets: usize,
    /// For the whole attempt, without the time in the queue.
    pub(crate) total: Duration,
}

/// What is wanted of a server.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'w> {
    pub(crate) validators: Option<&'w Validators>,
    pub(crate) accept: &'static str,
    pub(crate) body_octets: usize,
}

/// What a robots.txt should be.
const TEXT: &str = "text/plain, */*;q=0.5";

impl Means {
    /// Requests the file of an origin, or revalidates a cached copy. The caller has already waited for the
    /// turn of the first request.
    pub(crate) async fn attempt(
        &self,
        origin: &Origin,
        turn: Turn,
        party: &Party,
        copy: Option<&FileCopy>,
        options: AttemptOptions,
    ) -> Attempted {
        let mut attempt = Attempt::with_options(origin, options);
        let mut hops = Vec::new();
        let mut left = self.total;
        let mut turn = Some(turn);
        let mut cause = Cause::Server;
        loop {
            let asked = attempt.url().to_owned();
            // Validators are sent only to the URL that the copy came from. A 304 to any other request means
            // nothing.
            let copy =
                copy.filter(|copy| *copy.url == *asked && copy.validators != Validators::default());
            let validators = copy.map(|copy| &copy.validators);
            let wanted = Wanted { validators, accept: TEXT, body_octets: self.body_octets };
            let got = self.get(&asked, origin.port(), wanted, (turn.take(), party), &mut left).await;
            let said = match &got {
                Ok(response) => Said::Status(response.status),
                Err(error) => Said::Error(error.message().into()),
            };
            hops.push(Hop { url: asked.into(), said });
            let (step, response) = match got {
                Err(error) => {
                    let step = attempt.failed(error.message());
                    cause = error.cause().clone();
                    (step, None)
                }
                Ok(response) if response.status == 304 && copy.is_some() => {
                    let result = AccessResult::Successful;
                    return Attempted {
                        result,
                        hops,
                        response: Some(response),
                        is_unchanged: true,
                        cause,
                    };
                }
                Ok(response) => {
                    let location = response.field("location").map(str::to_owned);
                    (attempt.answered(response.status, location.as_deref()), Some(response))
                }
            };
            if let Step::Done(result) = step {
                return Attempted { result, hops, response, is_unchanged: false, cause };
            }
        }
    }

    /// One request, when it is its turn, within the time that is left.
    pub(crate) async fn get(
        &self,
        url: &str,
        named_port: u16,
        wanted: Wanted<'_>,
        (turn, party): (Option<Turn>, &Party),
        left: &mut Duration,
    ) -> Result<Response, TransportError> {
        let url =
            Url::parse(url).map_err(|error| TransportError::new(Kind::Url, error).caused_by(error))?;
        let _turn = if let Some(turn) = turn {
            turn
        } else {
            let turn = self.manners.turn(url.host_str().unwrap_or_default(), party).await;
            turn.map_err(|NoRoom| TransportError::lacking(Lack::Room, "the queue of fetches is full"))?
        };
        let get = Get {
            url: &url,
            user_agent: &self.user_agent,
            accept: wanted.accept,
            validators: wanted.validators,
            body_octets: wanted.body_octets,
            named_port,
        };
        let start = self.clock.now();
        let got = within(&*self.clock, *left, self.transport.get(get)).await;
        *left = left.saturating_sub(self.clock.now().duration_since(start).unwrap_or_default());
        let late = || {
            TransportError::new(Kind::Timeout, format_args!("no complete response in {:?}", self.total))
        };
        got.ok_or_else(late)?
    }
}

//! Requests that the caller's own client sends: a Python callable as a transport of the fetcher.

use std::sync::Mutex;
use std::sync::PoisonError;

use mayi_fetch::clock::Later;
use mayi_fetch::transport::{Get, Response, Transport, TransportError};
use pyo3::prelude::*;
use tokio::sync::oneshot;

use crate::inputs;

/// A callable that starts a request and reports its response: `start(url, headers, octets, done)`.
pub(crate) struct Callable {
    pub(crate) start: Py<PyAny>,
}

type Answered = Result<Response, TransportError>;

impl Callable {
    pub(crate) fn new(start: Py<PyAny>) -> Self {
        Self { start }
    }
}

impl Transport for Callable {
    fn get<'a>(&'a self, get: Get<'a>) -> Later<'a, Answered> {
        let mut headers = vec![("User-Agent".to_owned(), get.user_agent.to_owned())];
        if let Some(validators) = get.validators {
            for (name, value) in
                [("If-None-Match", &validators.etag), ("If-Modified-Since", &validators.last_modified)]
            {
                headers.extend(value.as_ref().map(|value| (name.to_owned(), value.to_string())));
            }
        }
        let (url, octets) = (get.url.to_string(), get.body_octets);
        Box::pin(async move {
            let (sender, receiver) = oneshot::channel();
            let start = Python::try_attach(|py| self.start.clone_ref(py));
            let Some(start) = start else { return Err(no_answer("Python is at its end")) };
            let done = NativeDone { sender: Mutex::new(Some(sender)), octets };
            // The callable may take its time, and Python's lock may be with somebody else.
            tokio::task::spawn_blocking(move || {
                let _ = Python::try_attach(|py| {
                    let done = Py::new(py, done)?;
                    if let Err(error) = start.call1(py, (url, headers, octets, done.clone_ref(py))) {
                        done.get().fail(&error.to_string());
                    }
                    PyResult::Ok(())
                });
            });
            receiver.await.unwrap_or_else(|_| Err(no_answer("the client has given no answer")))
        })
    }
}

fn no_answer(what: &str) -> TransportError {
    TransportError::of_message(format!("client: {what}"))
}

/// What a client calls when it has a response, or has none. It counts once.
#[pyclass(frozen, module = "mayi._mayi")]
pub(crate) struct NativeDone {
    sender: Mutex<Option<oneshot::Sender<Answered>>>,
    octets: usize,
}

impl NativeDone {
    fn tell(&self, answered: Answered) {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(sender) = sender {
            // Nobody waits any more where the time was over.
            drop(sender.send(answered));
        }
    }
}

#[pymethods]
impl NativeDone {
    /// The response: its status, header fields and decoded body.
    fn answer(&self, status: u16, headers: &Bound<'_, PyAny>, body: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut response = Response::of_status(status);
        for (name, value) in inputs::fields(Some(headers))? {
            response = response.with_field(&name, &value);
        }
        let body = inputs::octets(body)?;
        let body = body.as_bytes();
        response.is_cut = body.len() > self.octets;
        if (200..300).contains(&status) {
            response = response.with_body(body[..body.len().min(self.octets)].to_vec());
        }
        self.tell(Ok(response));
        Ok(())
    }

    /// What went wrong instead.
    fn fail(&self, message: &str) {
        self.tell(Err(no_answer(message)));
    }
}

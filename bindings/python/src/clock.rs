//! A Python callable as the clock of the fetcher, for tests and simulations.
//!
//! It is called in the thread of a question, before the question. So its exceptions are raised to the caller,
//! and no thread of the fetcher waits for the GIL. Between two questions the time does not change.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use mayi_fetch::clock::{Clock, Later, SystemClock};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::inputs;

/// A callable that returns the time, and the time that it returned last.
pub(crate) struct ToldClock {
    pub(crate) tell: Py<PyAny>,
    told: Mutex<SystemTime>,
}

impl ToldClock {
    pub(crate) fn new(tell: Py<PyAny>) -> Self {
        Self { tell, told: Mutex::new(SystemTime::UNIX_EPOCH) }
    }

    /// Gets the time, which is used until the next question.
    pub(crate) fn ask(&self, py: Python<'_>) -> PyResult<()> {
        let told = self.tell.bind(py).call0()?;
        let kind = told.get_type();
        let seconds = told.extract().map_err(|_| {
            PyTypeError::new_err(format!(
                "the clock has returned no time but a value of {kind}; it returns seconds since 1970, as time.time() does"
            ))
        })?;
        let time = inputs::time(Some(seconds))?;
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = time;
        Ok(())
    }
}

impl Clock for ToldClock {
    fn now(&self) -> SystemTime {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Timeouts of servers use the real clock.
    fn sleep(&self, duration: Duration) -> Later<'_, ()> {
        SystemClock.sleep(duration)
    }
}

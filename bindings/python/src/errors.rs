//! What is wrong with a call → an exception of ours, with its code and its clause.

use mayi::report::{ErrorCode, RequestError};
use mayi::{InvalidCrawler, InvalidProductToken, InvalidUrl};
use pyo3::prelude::*;

/// An exception for an error of the engine. The classes are Python's, in `_errors.py`.
pub(crate) fn raised(py: Python<'_>, error: &RequestError) -> PyErr {
    let clause = error.code().clause().map(|clause| clause.id());
    let names = (error.url(), error.agent());
    let arguments = (error.code().name(), error.to_string(), clause, names.0, names.1);
    let made = || py.import("mayi._errors")?.getattr("error_of")?.call1(arguments);
    made().map_or_else(|error| error, PyErr::from_value)
}

/// Results of the engine that become exceptions.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, RequestError> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, &error))
    }
}

impl<T> OrRaise<T> for Result<T, InvalidUrl> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, &error.into()))
    }
}

impl<T> OrRaise<T> for Result<T, InvalidCrawler> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, &error.into()))
    }
}

impl<T> OrRaise<T> for Result<T, InvalidProductToken> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, &RequestError::new(ErrorCode::InvalidAgent, error)))
    }
}

//! The command `mayi`, as the console script and `python -m mayi` run it.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with these arguments, the first of which is its name, and returns its exit status.
#[pyfunction]
#[pyo3(signature = (words, /))]
pub(crate) fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| mayi_cli::main_of(words))
}

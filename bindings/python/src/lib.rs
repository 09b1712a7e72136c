//! The native part of the Python package `mayi`: Python's values in, the engine's answers out.
//!
//! Nothing is decided here. Arguments become the core's types, answers become Python objects; the other parts
//! of a report are passed as the JSON of every front end, and `_report.py` makes typed objects from it. The
//! GIL is released for everything that takes longer than releasing it.

mod archive;
mod arrow;
mod asker;
mod clock;
mod command;
mod crawler;
mod decision;
mod errors;
mod fetcher;
mod inputs;
mod registry;
mod robots;
mod rules;
mod tools;
mod transport;

use pyo3::prelude::*;

/// The engine of the package.
#[pymodule(gil_used = false)]
mod _mayi {
    #[pymodule_export]
    use crate::archive::{after_redirects, warc_responses};
    #[pymodule_export]
    use crate::arrow::{Answers, Files, arrow_decide, arrow_origin};
    #[pymodule_export]
    use crate::command::main;
    #[pymodule_export]
    use crate::crawler::Crawler;
    #[pymodule_export]
    use crate::decision::Decision;
    #[pymodule_export]
    use crate::fetcher::{NativeFetcher, NativeTask};
    #[pymodule_export]
    use crate::registry::Registry;
    #[pymodule_export]
    use crate::robots::RobotsTxt;
    #[pymodule_export]
    use crate::rules::Rules;
    #[pymodule_export]
    use crate::tools::{answer, compare, dialects, diff, fix, format, lint, page, robots_url};
    #[pymodule_export]
    use crate::transport::NativeDone;
}

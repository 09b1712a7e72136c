//! Everything except decisions about a file: pages, lints, formatting, comparing, and whole requests.

use mayi::access::Origin;
use mayi::lint::{Options, Severity};
use mayi::page::PageControls;
use mayi::report::{Answering, LintReport, PageReport, Request, RequestError};
use mayi::{Dialect, ProductToken};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use serde::Serialize;

use crate::crawler::crawler;
use crate::decision::{Decision, loads};
use crate::errors::OrRaise;
use crate::inputs::{self, Reading};
use crate::robots::page_controls;

/// A typed object of `_report.py`, from a value that is JSON elsewhere.
pub(crate) fn made<'py>(
    py: Python<'py>,
    kind: &str,
    value: &impl Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_string(value)
        .map_err(|error| PyValueError::new_err(format!("a fault in mayi: {error}")))?;
    py.import("mayi._report")?.getattr("made")?.call1((kind, loads(py, &json)?))
}

/// The decision about a request as `mayi decide` takes it, in JSON.
#[pyfunction]
#[pyo3(signature = (request, /, *, without=Vec::new()))]
pub(crate) fn answer(py: Python<'_>, request: &str, without: Vec<String>) -> PyResult<Decision> {
    let mut answering = Answering::default();
    for name in &without {
        answering = answering.without(inputs::extension(name)?);
    }
    let json = py.detach(|| -> Result<_, RequestError> {
        let mut request = Request::from_json(request.as_bytes())?;
        request.complete_now(std::time::SystemTime::now);
        let answer = answering.answer(&request)?;
        Ok(serde_json::to_string(&answer).unwrap_or_default())
    });
    Decision::of_json(py, json.or_raise(py)?)
}

/// Where the robots.txt of a URL is.
#[pyfunction]
#[pyo3(signature = (url, /))]
pub(crate) fn robots_url(py: Python<'_>, url: &str) -> PyResult<String> {
    Ok(Origin::of_url(url).or_raise(py)?.robots_url())
}

/// The names of the dialects that files can be read in.
#[pyfunction]
pub(crate) fn dialects(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, Dialect::ALL.iter().map(Dialect::name))
}

/// What may be done with a page, by its header fields and its HTML.
#[pyfunction]
#[pyo3(signature = (headers=None, html=None, agent=None, *, union=false, now=None))]
pub(crate) fn page<'py>(
    py: Python<'py>,
    headers: Option<&Bound<'py, PyAny>>,
    html: Option<&Bound<'py, PyAny>>,
    agent: Option<&Bound<'py, PyAny>>,
    union: bool,
    now: Option<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let anybody = PyString::intern(py, "*").into_any();
    let crawler = crawler(agent.unwrap_or(&anybody), Vec::new(), Vec::new())?;
    let (fields, now) = (inputs::fields(headers)?, inputs::time(now)?);
    let is_text = html.is_some_and(|html| html.is_instance_of::<PyString>());
    let octets = html.map(inputs::octets).transpose()?;
    let octets = octets.as_ref().map(|octets| octets.as_bytes()).unwrap_or_default();
    let rules = py.detach(|| {
        let fields = inputs::borrowed(&fields);
        page_controls(&fields, octets, is_text, union, now).for_crawler(&crawler)
    });
    made(py, "page", &PageReport::alone(&rules))
}

/// What is wrong with a file, and how crawlers read it.
#[pyfunction]
#[pyo3(signature = (octets, /, *, name="robots.txt", site=None, select=Vec::new(), ignore=Vec::new(), severities=Vec::new(), most_of_each=None, page=None))]
pub(crate) fn lint<'py>(
    py: Python<'py>,
    octets: &Bound<'py, PyAny>,
    name: &str,
    site: Option<&str>,
    select: Vec<String>,
    ignore: Vec<String>,
    severities: Vec<(String, String)>,
    most_of_each: Option<usize>,
    page: Option<(String, Bound<'py, PyAny>, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut options = lint_options(site, &select, &ignore, &severities, most_of_each)?;
    if let Some((url, headers, html)) = page {
        let (fields, html) = (inputs::fields(Some(&headers))?, inputs::octets(&html)?);
        let controls = PageControls::read(&inputs::borrowed(&fields), html.as_bytes());
        options = options.with_page(mayi::lint::Page { url, controls, fields });
    }
    let octets = inputs::octets(octets)?;
    let file = octets.as_bytes();
    let json = py.detach(|| {
        let linted = mayi::lint::lint(file, &options);
        serde_json::to_value(LintReport::of(name, &linted))
    });
    made(py, "lint", &json.unwrap_or_default())
}

/// A file with all fixes that change no decision.
#[pyfunction]
#[pyo3(signature = (octets, /, *, select=Vec::new(), ignore=Vec::new()))]
pub(crate) fn fix<'py>(
    octets: &Bound<'py, PyAny>,
    select: Vec<String>,
    ignore: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = lint_options(None, &select, &ignore, &[], None)?;
    let file = inputs::octets(octets)?;
    let fixed = octets.py().detach({
        let file = file.as_bytes();
        || mayi::lint::fix(file, &options).octets
    });
    as_given(octets, &fixed)
}

fn lint_options(
    site: Option<&str>,
    select: &[String],
    ignore: &[String],
    severities: &[(String, String)],
    most_of_each: Option<usize>,
) -> PyResult<Options> {
    let wrong = |error: mayi::lint::UnknownLint| PyValueError::new_err(error.to_string());
    let mut options = Options::default();
    if let Some(site) = site {
        options = options.with_site(site);
    }
    if let Some(most) = most_of_each {
        options = options.with_most_of_each(most);
    }
    options.choose(select, ignore).map_err(wrong)?;
    for (lint, severity) in severities {
        let severity = Severity::named(severity).ok_or_else(|| {
            PyValueError::new_err(format!(
                "`{severity}` is not a severity: give note, warning or error"
            ))
        })?;
        options.set_severity(lint, severity).map_err(wrong)?;
    }
    Ok(options)
}

/// The formatted file. If the file is given as text, text is returned.
#[pyfunction]
#[pyo3(signature = (octets, /))]
pub(crate) fn format<'py>(octets: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let file = inputs::octets(octets)?;
    let formatted = octets.py().detach({
        let file = file.as_bytes();
        || mayi::format(file).into_octets().into_owned()
    });
    as_given(octets, &formatted)
}

/// Octets as text, if text was given.
fn as_given<'py>(given: &Bound<'py, PyAny>, octets: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let octets = PyBytes::new(given.py(), octets).into_any();
    if given.is_instance_of::<PyString>() {
        return octets.call_method1("decode", ("utf-8", "surrogateescape"));
    }
    Ok(octets)
}

/// What changed in meaning from one file to another, and for whom.
#[pyfunction]
#[pyo3(signature = (old, new, /, *, dialect="rfc9309".to_owned()))]
pub(crate) fn diff<'py>(
    py: Python<'py>,
    old: &Bound<'py, PyAny>,
    new: &Bound<'py, PyAny>,
    dialect: String,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Reading { dialect, ..Reading::default() }.options(py)?;
    let (old, new) = (inputs::octets(old)?, inputs::octets(new)?);
    let files = (old.as_bytes(), new.as_bytes());
    let diff = py.detach(|| {
        let read = |octets| mayi::RobotsTxt::read(octets, &options);
        mayi::meaning::diff(&read(files.0), &read(files.1))
    });
    made(py, "diff", &diff)
}

/// Where dialects and crawlers read a file differently.
#[pyfunction]
#[pyo3(signature = (octets, /, *, agents=None, dialects=None))]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    octets: &Bound<'py, PyAny>,
    agents: Option<Vec<String>>,
    dialects: Option<Vec<String>>,
) -> PyResult<Bound<'py, PyAny>> {
    let octets = inputs::octets(octets)?;
    let file = octets.as_bytes();
    let dialects = match dialects {
        None => Dialect::BY_TOKEN.to_vec(),
        Some(names) => {
            names.iter().map(|name| inputs::dialect(py, name)).collect::<PyResult<Vec<_>>>()?
        }
    };
    let token = |agent: &String| ProductToken::unless_global(agent).or_raise(py);
    let agents = agents.map(|agents| agents.iter().map(token).collect::<PyResult<Vec<_>>>());
    let agents = agents.transpose()?;
    let options = mayi::ReadOptions::default();
    let comparison = py.detach(|| mayi::meaning::compare(file, &options, &dialects, agents.as_deref()));
    made(py, "compare", &comparison)
}

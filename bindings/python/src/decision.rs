//! A decision: its verdict at once, every other part of the report when it is first used.

use std::sync::Arc;

use mayi::report::Report;
use mayi::{Reason, Target};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};

use crate::asker::{About, Asker};
use crate::errors::OrRaise;

/// May the crawler fetch the URL, and why.
#[pyclass(frozen, module = "mayi")]
pub(crate) struct Decision {
    url: Py<PyString>,
    verdict: Verdict,
    basis: Basis,
    /// The parts of the report, made when they are first asked for.
    parts: PyOnceLock<Py<PyAny>>,
}

/// What is known at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) allowed: bool,
    reason: Reason,
}

impl Verdict {
    pub(crate) fn of(made: &mayi::Decision<'_>) -> Self {
        Self { allowed: made.is_allowed(), reason: made.reason() }
    }
}

/// Where the rest of the report is.
enum Basis {
    /// It can be made again from the question.
    Asker(Arc<Asker>),
    /// It is here, as JSON.
    Json(Box<str>),
}

impl Decision {
    /// A decision whose report can be made from the question.
    pub(crate) fn of(url: &Bound<'_, PyString>, verdict: Verdict, asker: &Arc<Asker>) -> Self {
        // What is kept is text and nothing else: a subclass may change, or compare as it likes.
        let is_plain = url.is_exact_instance_of::<PyString>();
        let plain = || url.to_str().map_or_else(|_| url.clone(), |text| PyString::new(url.py(), text));
        Self {
            url: if is_plain { url.clone() } else { plain() }.unbind(),
            verdict,
            basis: Basis::Asker(Arc::clone(asker)),
            parts: PyOnceLock::new(),
        }
    }

    /// A decision by its report.
    pub(crate) fn of_json(py: Python<'_>, json: String) -> PyResult<Self> {
        let report = loads(py, &json)?;
        let access = report.get_item("access")?;
        let reason: String = access.get_item("reason")?.extract()?;
        let verdict = Verdict {
            allowed: access.get_item("allowed")?.extract()?,
            reason: Reason::named(&reason).ok_or_else(|| {
                PyTypeError::new_err(format!("`{reason}` is not a reason of a decision"))
            })?,
        };
        Ok(Self {
            url: report.get_item("url")?.cast_into::<PyString>()?.unbind(),
            verdict,
            basis: Basis::Json(json.into()),
            parts: PyOnceLock::new(),
        })
    }

    fn json(&self, py: Python<'_>) -> PyResult<String> {
        match &self.basis {
            Basis::Json(json) => Ok(json.to_string()),
            Basis::Asker(asker) => {
                let url = self.url.bind(py).to_str()?;
                let target = Target::parse(url).or_raise(py)?;
                Ok(py.detach(|| asker.json(&target, &About::default())))
            }
        }
    }

    /// A part of the report as a typed object.
    fn part<'py>(&self, py: Python<'py>, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        let parts = self.parts.get_or_try_init(py, || {
            let report = loads(py, &self.json(py)?)?;
            py.import("mayi._report")?.getattr("report_of")?.call1((report,)).map(Bound::unbind)
        })?;
        parts.bind(py).getattr(name)
    }
}

/// The dict that JSON is.
pub(crate) fn loads<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.getattr("loads")?.call1((json,))
}

#[pymethods]
impl Decision {
    /// Whether the URL may be fetched.
    #[getter]
    fn allowed(&self) -> bool {
        self.verdict.allowed
    }

    /// Why: `rule`, `no-rule`, `no-group`, `robots-txt`, `unavailable` or `unreachable`.
    #[getter]
    fn reason<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::intern(py, self.verdict.reason.name())
    }

    /// The URL of the question.
    #[getter]
    fn url<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        self.url.bind(py).clone()
    }

    /// The product token of the crawler.
    #[getter]
    fn agent<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "agent"))
    }

    /// The dialect that the file was read in.
    #[getter]
    fn dialect<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "dialect"))
    }

    /// Whether the crawler's name says that it collects data for training.
    #[getter]
    fn for_training<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "for_training"))
    }

    /// The rule that decided, or None.
    #[getter]
    fn rule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "rule"))
    }

    /// The groups that apply, or None.
    #[getter]
    fn group<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "group"))
    }

    /// What the file asks of the crawler's applications.
    #[getter]
    fn directives<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "directives"))
    }

    /// The usage preferences that apply, or None if the URL may not be fetched.
    #[getter]
    fn usage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "usage"))
    }

    /// The directives that override preferences.
    #[getter]
    fn overrides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "overrides"))
    }

    /// What may be done with the page, or None if no page was given.
    #[getter]
    fn page<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "page"))
    }

    /// One answer for each use.
    #[getter]
    fn uses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "uses"))
    }

    /// The signals about each use.
    #[getter]
    fn signals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "signals"))
    }

    /// What else the file says to this crawler.
    #[getter]
    fn records<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "records"))
    }

    /// What was not read, or could not be read.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "warnings"))
    }

    /// Where the file came from, if it was fetched, or None.
    #[getter]
    fn file<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "file"))
    }

    /// How the decision was reached, if that was requested, or None.
    #[getter]
    fn explanation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part(py, intern!(py, "explanation"))
    }

    /// The report as the command `mayi decide` writes it.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.json(py)
    }

    /// The same as a dict.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        Ok(loads(py, &self.json(py)?)?.cast_into()?)
    }

    fn __bool__(&self) -> PyResult<bool> {
        let message = "a Decision is neither true nor false: ask `decision.allowed`";
        Err(PyTypeError::new_err(message))
    }

    fn __eq__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(other) = other.cast::<Self>() else {
            return Ok(py.NotImplemented().into_bound(py));
        };
        let other = other.get();
        let equal = self.verdict == other.verdict
            && self.url.bind(py).to_str()? == other.url.bind(py).to_str()?
            && self.json(py)? == other.json(py)?;
        Ok(equal.into_pyobject(py)?.to_owned().into_any())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (self.url.bind(py), self.verdict.allowed).into_pyobject(py)?.hash()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        slf.py().import("mayi._report")?.getattr("text_of")?.call1((slf,))?.extract()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let py = slf.py();
        Ok((py.get_type::<Self>().getattr("_of_json")?, (slf.get().json(py)?,)))
    }

    #[staticmethod]
    fn _of_json(py: Python<'_>, json: String) -> PyResult<Self> {
        // A pickle may be anything. What is no whole report would fail later, where nobody expects it.
        let whole = serde_json::from_str::<Report<'_>>(&json)
            .and_then(|report| serde_json::to_string(&report))
            .map_err(|error| {
                PyValueError::new_err(format!("this is not the report of a decision: {error}"))
            })?;
        Self::of_json(py, whole)
    }
}

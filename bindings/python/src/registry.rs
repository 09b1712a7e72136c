//! The registries: purposes, applications, directives, categories and known crawlers.

use std::sync::Arc;

use mayi::registry::Claim;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::tools::made;

/// The shipped registries, optionally extended by files.
#[pyclass(frozen, module = "mayi")]
pub(crate) struct Registry {
    inner: Arc<mayi::registry::Registry>,
    /// The files that extend the shipped registries: name and text.
    files: Vec<(String, String)>,
}

impl PartialEq for Registry {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl Registry {
    pub(crate) fn inner(&self) -> &Arc<mayi::registry::Registry> {
        &self.inner
    }
}

#[pymethods]
impl Registry {
    /// The shipped registries, extended by the texts of TOML files, each with its name.
    #[new]
    #[pyo3(signature = (files=Vec::new(), /))]
    fn new(files: Vec<(String, String)>) -> PyResult<Self> {
        let mut inner = mayi::registry::Registry::built_in();
        for (name, text) in &files {
            let extended = inner.extended(name, text);
            inner = Arc::new(extended.map_err(|errors| PyValueError::new_err(errors.to_string()))?);
        }
        Ok(Self { inner, files })
    }

    /// The known crawlers.
    #[getter]
    fn agents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        made(py, "agents", &self.inner.agents())
    }

    /// The purpose tokens.
    #[getter]
    fn purposes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        made(py, "purposes", &self.inner.purposes())
    }

    /// The applications that have directives of their own.
    #[getter]
    fn applications<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        made(py, "applications", &self.inner.applications())
    }

    /// The directives of applications.
    #[getter]
    fn directives<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        made(py, "directives", &self.inner.directives())
    }

    /// The usage categories.
    #[getter]
    fn categories<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        made(py, "categories", &self.inner.categories())
    }

    /// The known crawler with this product token, or None.
    fn agent<'py>(&self, py: Python<'py>, token: &str) -> PyResult<Bound<'py, PyAny>> {
        made(py, "agent", &self.inner.agent(token))
    }

    /// The known crawler that a User-Agent string claims to be, or None.
    fn claimed_by<'py>(&self, py: Python<'py>, user_agent: &str) -> PyResult<Bound<'py, PyAny>> {
        let agent = match self.inner.claim(user_agent.as_bytes()) {
            Claim::Known(agent) => Some(agent),
            _ => None,
        };
        made(py, "agent", &agent)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().inner == self.inner)
    }

    fn __hash__(&self) -> u64 {
        self.files.len() as u64
    }

    fn __repr__(&self) -> String {
        let (agents, files) = (self.inner.agents().len(), self.files.len());
        format!("<Registry of {agents} known crawlers, from the built-in registry and {files} files>")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (Vec<(String, String)>,)) {
        (slf.py().get_type::<Self>().into_any(), (slf.get().files.clone(),))
    }
}

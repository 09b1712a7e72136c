//! A crawler, from its product token or from a whole User-Agent string.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use mayi::CrawlerParts;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::errors::OrRaise;

/// A crawler, as robots.txt knows it.
#[pyclass(frozen, eq, module = "mayi")]
#[derive(Debug, PartialEq)]
pub(crate) struct Crawler {
    parts: Parts,
    crawler: Arc<mayi::Crawler>,
}

/// What a crawler is made of, as it is pickled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Parts {
    agent: String,
    purposes: Vec<String>,
    apps: Vec<String>,
    registered_purposes_only: bool,
    /// The User-Agent string that it was made from.
    sent: Option<String>,
}

impl Parts {
    fn crawler(self, py: Python<'_>, user_agent: Option<&str>) -> PyResult<Crawler> {
        let parts = CrawlerParts {
            product_token: &self.agent,
            purposes: &self.purposes,
            registered_purposes_only: self.registered_purposes_only,
            applications: &self.apps,
            user_agent,
        };
        let crawler = match &self.sent {
            Some(sent) => mayi::Crawler::from_user_agent(sent).with_parts(parts),
            None if self.agent == "*" => mayi::Crawler::unnamed().with_parts(parts),
            None => mayi::Crawler::of_parts(parts),
        };
        let crawler = Arc::new(crawler.or_raise(py)?);
        Ok(Crawler { parts: self, crawler })
    }
}

#[pymethods]
impl Crawler {
    #[new]
    #[pyo3(signature = (agent, *, purposes=Vec::new(), apps=Vec::new(), user_agent=None, registered_purposes_only=false))]
    fn new(
        py: Python<'_>,
        agent: String,
        purposes: Vec<String>,
        apps: Vec<String>,
        user_agent: Option<&str>,
        registered_purposes_only: bool,
    ) -> PyResult<Self> {
        Parts { agent, purposes, apps, registered_purposes_only, sent: None }.crawler(py, user_agent)
    }

    /// The crawler that sends this whole User-Agent string.
    #[staticmethod]
    #[pyo3(signature = (user_agent, *, purposes=Vec::new(), apps=Vec::new()))]
    fn from_user_agent(
        py: Python<'_>,
        user_agent: String,
        purposes: Vec<String>,
        apps: Vec<String>,
    ) -> PyResult<Self> {
        Parts { purposes, apps, sent: Some(user_agent), ..Parts::default() }.crawler(py, None)
    }

    /// Its name in the protocol; `*` for one that no file names.
    #[getter]
    fn product_token(&self) -> &str {
        self.crawler.product_token().as_str()
    }

    /// What it crawls for.
    #[getter]
    fn purposes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.parts.purposes)
    }

    /// The applications that it crawls for.
    #[getter]
    fn apps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.parts.apps)
    }

    /// Whether its name says that it collects data for training.
    #[getter]
    fn is_for_training(&self) -> bool {
        self.crawler.is_for_training()
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.parts.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let Parts { agent, purposes, apps, registered_purposes_only, sent } = &self.parts;
        let lists = [("purposes", purposes), ("apps", apps)];
        let lists = lists.iter().filter(|(_, values)| !values.is_empty());
        let mut parts = vec![format!("{:?}", sent.as_ref().unwrap_or(agent))];
        parts.extend(lists.map(|(name, values)| format!("{name}={values:?}")));
        parts.extend(registered_purposes_only.then(|| "registered_purposes_only=True".to_owned()));
        let make = if sent.is_some() { "Crawler.from_user_agent" } else { "Crawler" };
        format!("{make}({})", parts.join(", "))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Pickled)> {
        let parts = &slf.get().parts;
        let make = slf.py().get_type::<Self>().getattr("_of_parts")?;
        let Parts { agent, purposes, apps, registered_purposes_only, sent } = parts.clone();
        Ok((make, (agent, purposes, apps, registered_purposes_only, sent)))
    }

    #[staticmethod]
    fn _of_parts(
        py: Python<'_>,
        agent: String,
        purposes: Vec<String>,
        apps: Vec<String>,
        registered_purposes_only: bool,
        sent: Option<String>,
    ) -> PyResult<Self> {
        Parts { agent, purposes, apps, registered_purposes_only, sent }.crawler(py, None)
    }
}

type Pickled = (String, Vec<String>, Vec<String>, bool, Option<String>);

/// The crawler of a question: a name, or an existing crawler.
pub(crate) fn crawler(
    agent: &Bound<'_, PyAny>,
    purposes: Vec<String>,
    apps: Vec<String>,
) -> PyResult<Arc<mayi::Crawler>> {
    let py = agent.py();
    if let Ok(crawler) = agent.cast::<Crawler>() {
        if purposes.is_empty() && apps.is_empty() {
            return Ok(Arc::clone(&crawler.get().crawler));
        }
        let message = "a Crawler already has its purposes and apps: pass them to the Crawler";
        return Err(PyTypeError::new_err(message));
    }
    let Ok(name) = agent.cast::<PyString>() else {
        let name = agent.get_type().name()?;
        return Err(PyTypeError::new_err(format!("agent is a str or a Crawler, not {name}")));
    };
    let parts = Parts { agent: name.to_str()?.to_owned(), purposes, apps, ..Parts::default() };
    Ok(parts.crawler(py, None)?.crawler)
}

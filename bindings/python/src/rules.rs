//! The rules of a file for one crawler, prepared for many questions.

use std::sync::Arc;
use std::thread;

use mayi::{CrawlerRules, InvalidUrl, Target};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyString};

use crate::asker::Asker;
use crate::decision::{Decision, Verdict};
use crate::errors::{OrRaise, raised};
use crate::robots::RobotsTxt;

/// What one crawler may fetch, by one file.
#[pyclass(frozen, module = "mayi")]
pub(crate) struct Rules {
    asker: Arc<Asker>,
    prepared: CrawlerRules,
    /// The arguments that it was made with, for pickling.
    made_by: (Py<RobotsTxt>, Py<PyAny>),
}

/// How many URLs are worth a separate thread.
const WORTH_A_THREAD: usize = 8192;

impl Rules {
    pub(crate) fn new(asker: Arc<Asker>, robots: Py<RobotsTxt>, crawler: Py<PyAny>) -> Self {
        let prepared = asker.prepared();
        Self { asker, prepared, made_by: (robots, crawler) }
    }

    fn verdict(&self, url: &str) -> Result<Verdict, InvalidUrl> {
        Ok(Verdict::of(&self.asker.decide(Some(&self.prepared), &Target::parse(url)?)))
    }

    /// The verdicts about URLs, on as many threads as are useful.
    fn verdicts(&self, urls: &[&str]) -> Vec<Result<Verdict, InvalidUrl>> {
        let one_by_one = |urls: &[&str]| urls.iter().map(|url| self.verdict(url)).collect();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = (urls.len() / WORTH_A_THREAD).clamp(1, cores);
        if threads == 1 {
            return one_by_one(urls);
        }
        thread::scope(|scope| {
            let parts: Vec<_> = urls
                .chunks(urls.len().div_ceil(threads))
                .map(|part| scope.spawn(move || -> Vec<_> { one_by_one(part) }))
                .collect();
            // A thread that panics is a fault of ours, and its panic goes on here.
            let joined = parts.into_iter().map(|part| part.join());
            joined
                .flat_map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    }

    /// A value from each verdict about URLs, in their order. The first invalid URL is an error, unless the
    /// caller wants None in its place.
    fn many<'py>(
        &self,
        urls: &Bound<'py, PyAny>,
        invalid_as_none: bool,
        made_of: impl Fn(&Bound<'py, PyString>, Verdict) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = urls.py();
        let urls = texts(urls)?;
        let texts = urls.iter().map(|url| url.to_str()).collect::<PyResult<Vec<_>>>()?;
        let verdicts = py.detach(|| self.verdicts(&texts));
        let list = PyList::empty(py);
        for (index, (url, verdict)) in urls.iter().zip(verdicts).enumerate() {
            match verdict {
                Ok(verdict) => list.append(made_of(url, verdict)?)?,
                Err(_) if invalid_as_none => list.append(py.None())?,
                Err(error) => {
                    let error = raised(py, &error.into());
                    error.value(py).setattr("index", index)?;
                    return Err(error);
                }
            }
        }
        Ok(list)
    }
}

#[pymethods]
impl Rules {
    /// Whether the crawler may fetch the URL.
    #[pyo3(signature = (url, /))]
    fn allowed(&self, url: &Bound<'_, PyString>) -> PyResult<bool> {
        Ok(self.verdict(url.to_str()?).or_raise(url.py())?.allowed)
    }

    /// The decision, with its reason and every other part of the report.
    #[pyo3(signature = (url, /))]
    fn decide(&self, url: &Bound<'_, PyString>) -> PyResult<Decision> {
        let verdict = self.verdict(url.to_str()?).or_raise(url.py())?;
        Ok(Decision::of(url, verdict, &self.asker))
    }

    /// Whether the crawler may fetch each of the URLs, in their order. The first invalid URL is an error,
    /// unless the caller wants None in its place.
    #[pyo3(signature = (urls, /, *, invalid_as_none=false))]
    fn allowed_many<'py>(
        &self,
        urls: &Bound<'py, PyAny>,
        invalid_as_none: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        self.many(urls, invalid_as_none, |url, verdict| {
            Ok(PyBool::new(url.py(), verdict.allowed).to_owned().into_any())
        })
    }

    /// The decisions about URLs, in their order.
    #[pyo3(signature = (urls, /))]
    fn decide_many<'py>(&self, urls: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        self.many(urls, false, |url, verdict| {
            Ok(Bound::new(url.py(), Decision::of(url, verdict, &self.asker))?.into_any())
        })
    }

    /// The seconds that the file asks the crawler to wait between requests, or None.
    #[getter]
    fn crawl_delay(&self) -> Option<f64> {
        self.asker.crawl_delay()
    }

    /// The product token of the crawler.
    #[getter]
    fn agent(&self) -> &str {
        self.asker.crawler.product_token().as_str()
    }

    fn __len__(&self) -> usize {
        self.prepared.len()
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self) -> String {
        let (agent, count) = (self.agent(), self.prepared.len());
        format!("<Rules: {count} for {agent}>")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let (robots, crawler) = &slf.get().made_by;
        let py = slf.py();
        Ok((robots.bind(py).getattr("for_crawler")?, (crawler.bind(py).clone(),)))
    }
}

fn texts<'py>(urls: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyString>>> {
    if urls.is_instance_of::<PyString>() {
        let message = "a list of URLs is needed, not one URL";
        return Err(pyo3::exceptions::PyTypeError::new_err(message));
    }
    urls.try_iter()?.map(|url| Ok(url?.cast_into::<PyString>()?)).collect()
}

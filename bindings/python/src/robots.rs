//! A robots.txt file that was read, or why there is none.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mayi::access::{AccessResult, SiteFile, Unavailable, Unreachable};
use mayi::page::{PageControls, PageOptions};
use mayi::report::GroupReport;
use mayi::{CrawlerRules, Target};
use mayi_fetch::Robots;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use serde::Serialize;

use crate::arrow::PreparedFiles;
use crate::asker::{About, Asker, Site};
use crate::crawler::crawler;
use crate::decision::{Decision, Verdict};
use crate::errors::OrRaise;
use crate::inputs::{self, Reading};
use crate::registry::Registry;
use crate::rules::Rules;
use crate::tools::made;

/// A robots.txt file, for every crawler.
#[pyclass(frozen, module = "mayi")]
pub(crate) struct RobotsTxt {
    site: Arc<Site>,
    source: Source,
    reading: Reading,
    /// Who has asked.
    askers: Mutex<Askers>,
    /// What tables of URLs have asked.
    prepared: OnceLock<PreparedFiles>,
}

/// The crawler of a question: by a name, by a whole User-Agent string, or as a crawler with all its parts.
#[derive(Default)]
struct Askers {
    names: HashMap<Box<str>, Arc<Asked>>,
    user_agents: HashMap<Box<str>, Arc<Asked>>,
    crawlers: HashMap<Arc<mayi::Crawler>, Arc<Asked>>,
}

/// What a file was read from, for pickling and comparing.
pub(crate) enum Source {
    Octets(Py<PyBytes>),
    Fetched(Robots),
    Ended(Ended),
}

impl Source {
    /// The octets of the file, if there is one.
    fn octets<'a>(&'a self, py: Python<'a>) -> Option<&'a [u8]> {
        match self {
            Self::Octets(octets) => Some(octets.bind(py).as_bytes()),
            Self::Fetched(robots) => robots.kept().copy.as_ref().map(|copy| &*copy.body),
            Self::Ended(_) => None,
        }
    }
}

/// How the request for a file ended without a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ended {
    Status(u16),
    Error(String),
}

impl Ended {
    fn of(result: &AccessResult) -> Self {
        match result {
            AccessResult::Unavailable(Unavailable::Status(status))
            | AccessResult::Unreachable(Unreachable::Status(status)) => Self::Status(*status),
            AccessResult::Unavailable(Unavailable::RedirectLoop) => {
                Self::Error("redirect-loop".to_owned())
            }
            // There is no file for us, for whatever reason: as after too many redirects.
            AccessResult::Unavailable(_) => Self::Error("too-many-redirects".to_owned()),
            AccessResult::Unreachable(Unreachable::Network(error)) => Self::Error(error.to_string()),
            other => Self::Error(other.to_string()),
        }
    }

    fn result(&self) -> AccessResult {
        match self {
            Self::Status(status) => AccessResult::of_status(*status),
            Self::Error(error) => AccessResult::of_error(error),
        }
    }
}

/// A crawler of an earlier question. For its second question rules are prepared; for a single question they
/// would cost more than they save.
struct Asked {
    asker: Arc<Asker>,
    is_again: AtomicBool,
    rules: OnceLock<CrawlerRules>,
}

/// How many crawlers are remembered. If there are more, all are forgotten now and then.
const MOST_ASKERS: usize = 64;

impl RobotsTxt {
    /// A file as the fetcher has it.
    pub(crate) fn of_fetched(fetched: Robots, dialect: &str) -> Self {
        let mut reading = Reading { dialect: dialect.to_owned(), ..Reading::default() };
        let site = Site::new(fetched.file().clone(), Some(fetched.file_report()));
        let source = match (site.file(), &fetched.kept().copy) {
            (SiteFile::Read(_), Some(copy)) => {
                reading.content_type = copy.content_type.as_ref().map(ToString::to_string);
                Source::Fetched(fetched)
            }
            _ => Source::Ended(Ended::of(site.file().access())),
        };
        Self {
            site: Arc::new(site),
            source,
            reading,
            askers: Mutex::default(),
            prepared: OnceLock::new(),
        }
    }

    /// The file for tables of URLs, with the rules that were prepared for them.
    pub(crate) fn prepared(&self) -> &PreparedFiles {
        self.prepared.get_or_init(|| PreparedFiles::of_site(self.site.file().clone()))
    }

    fn asker(&self, crawler: Arc<mayi::Crawler>) -> Arc<Asker> {
        Arc::new(Asker { site: Arc::clone(&self.site), crawler })
    }

    /// The crawler, with what was already prepared for it.
    fn asked(&self, agent: &Bound<'_, PyAny>) -> PyResult<Arc<Asked>> {
        let name = agent.cast::<PyString>().ok().map(|name| name.to_str()).transpose()?;
        if let Some(name) = name
            && let Some(asked) = self.askers().names.get(name)
        {
            return Ok(asked.again());
        }
        let asked = self.remembered(crawler(agent, Vec::new(), Vec::new())?);
        if let Some(name) = name {
            self.askers().names.insert(name.into(), Arc::clone(&asked));
        }
        Ok(asked)
    }

    /// The same for a whole User-Agent string.
    fn asked_with(&self, user_agent: &str) -> Arc<Asked> {
        if let Some(asked) = self.askers().user_agents.get(user_agent) {
            return asked.again();
        }
        let asked = self.remembered(Arc::new(mayi::Crawler::from_user_agent(user_agent)));
        self.askers().user_agents.insert(user_agent.into(), Arc::clone(&asked));
        asked
    }

    /// A crawler that has asked before or asks for the first time.
    fn remembered(&self, crawler: Arc<mayi::Crawler>) -> Arc<Asked> {
        let mut askers = self.askers();
        if let Some(asked) = askers.crawlers.get(&crawler) {
            return asked.again();
        }
        let names = askers.names.len().max(askers.user_agents.len());
        if names.max(askers.crawlers.len()) >= MOST_ASKERS {
            *askers = Askers::default();
        }
        let asked = Arc::new(Asked::new(self.asker(Arc::clone(&crawler))));
        askers.crawlers.insert(crawler, Arc::clone(&asked));
        asked
    }

    fn askers(&self) -> MutexGuard<'_, Askers> {
        self.askers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    fn new(asker: Arc<Asker>) -> Self {
        Self { asker, is_again: AtomicBool::new(false), rules: OnceLock::new() }
    }

    fn again(self: &Arc<Self>) -> Arc<Self> {
        self.is_again.store(true, Ordering::Relaxed);
        Arc::clone(self)
    }

    fn decide(&self, target: &Target<'_>) -> mayi::Decision<'_> {
        let rules = self
            .is_again
            .load(Ordering::Relaxed)
            .then(|| self.rules.get_or_init(|| self.asker.prepared()));
        self.asker.decide(rules, target)
    }
}

#[pymethods]
impl RobotsTxt {
    #[new]
    #[pyo3(signature = (octets, /, *, dialect="rfc9309".to_owned(), charset=None, content_type=None, without=Vec::new(), max_octets=None, registry=None))]
    fn new(
        octets: &Bound<'_, PyAny>,
        dialect: String,
        charset: Option<String>,
        content_type: Option<String>,
        without: Vec<String>,
        max_octets: Option<usize>,
        registry: Option<Py<Registry>>,
    ) -> PyResult<Self> {
        let reading = Reading { dialect, charset, content_type, without, max_octets, registry };
        let options = reading.options(octets.py())?;
        let octets = inputs::octets(octets)?;
        let file = octets.as_bytes();
        let read = || SiteFile::read(file.to_vec(), &options);
        // Small files are read more quickly than the GIL is handed over.
        let file = if file.len() < 4096 { read() } else { octets.py().detach(read) };
        let site = Site::new(file, None);
        let source = Source::Octets(octets.unbind());
        Ok(Self {
            site: Arc::new(site),
            source,
            reading,
            askers: Mutex::default(),
            prepared: OnceLock::new(),
        })
    }

    /// What applies if the request for the file ended with this status, without a file.
    #[staticmethod]
    #[pyo3(signature = (status, /, *, dialect="rfc9309"))]
    fn of_status(py: Python<'_>, status: u16, dialect: &str) -> PyResult<Self> {
        Self::ended(py, Ended::Status(status), dialect)
    }

    /// What applies if the file could not be requested; the text is the error.
    #[staticmethod]
    #[pyo3(signature = (error, /, *, dialect="rfc9309"))]
    fn of_error(py: Python<'_>, error: &str, dialect: &str) -> PyResult<Self> {
        Self::ended(py, Ended::Error(error.to_owned()), dialect)
    }

    /// The dialect that it is read in.
    #[getter]
    fn dialect(&self) -> &str {
        &self.reading.dialect
    }

    /// The result of the request for the file: `successful`, `unavailable` or `unreachable`.
    #[getter]
    fn access(&self) -> &'static str {
        self.site.file().access().name()
    }

    /// The file as decoded text, up to the limit; what is not UTF-8 is replaced.
    #[getter]
    fn text(&self) -> String {
        String::from_utf8_lossy(self.text_octets()).into_owned()
    }

    /// The sitemaps that the file names, as written.
    #[getter]
    fn sitemaps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let sitemaps = self.site.file().robots_txt().into_iter().flat_map(mayi::RobotsTxt::sitemaps);
        let sitemaps: Vec<_> = sitemaps.map(String::from_utf8_lossy).collect();
        PyTuple::new(py, sitemaps)
    }

    /// Where the file came from, if the fetcher fetched it, or None.
    #[getter]
    fn file<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        made(py, "file", &self.site.story)
    }

    /// The groups of the file, with their group-start lines, their rules and other records.
    #[getter]
    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let groups = self.site.file().robots_txt().into_iter().flat_map(mayi::RobotsTxt::groups);
        let groups: Vec<_> = groups.map(|group| GroupView::of(&group)).collect();
        made(py, "groups", &groups)
    }

    /// Whether the crawler may fetch the URL.
    fn allowed(&self, url: &Bound<'_, PyString>, agent: &Bound<'_, PyAny>) -> PyResult<bool> {
        let asked = self.asked(agent)?;
        let target = Target::parse(url.to_str()?).or_raise(url.py())?;
        Ok(asked.decide(&target).is_allowed())
    }

    /// Whether the crawler that sends this User-Agent may fetch a URL, or a path of the file's own site. The
    /// interfaces for other libraries use this, so that a question is one call.
    fn _may_fetch(&self, url: &Bound<'_, PyAny>, user_agent: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = url.py();
        let (url, user_agent) = (inputs::text(url)?, inputs::text(user_agent)?);
        let asked = self.asked_with(&user_agent);
        if let Ok(target) = Target::parse(&url) {
            return Ok(asked.decide(&target).is_allowed());
        }
        let path = inputs::path_of(&url);
        let target = Target::from_path(&path).or_raise(py)?;
        Ok(asked.decide(&target).is_allowed())
    }

    /// The decision about a URL, with its reason and every other part of the report.
    #[pyo3(signature = (url, agent, *, purposes=Vec::new(), apps=Vec::new(), headers=None, html=None, union=false, now=None))]
    fn decide(
        &self,
        url: &Bound<'_, PyString>,
        agent: &Bound<'_, PyAny>,
        purposes: Vec<String>,
        apps: Vec<String>,
        headers: Option<&Bound<'_, PyAny>>,
        html: Option<&Bound<'_, PyAny>>,
        union: bool,
        now: Option<f64>,
    ) -> PyResult<Decision> {
        if headers.is_some() || html.is_some() || union || now.is_some() {
            let asker = self.asker(crawler(agent, purposes, apps)?);
            return with_response(&asker, url, Response { headers, html, union, now }, false);
        }
        let target = Target::parse(url.to_str()?).or_raise(url.py())?;
        if purposes.is_empty() && apps.is_empty() {
            let asked = self.asked(agent)?;
            return Ok(Decision::of(url, Verdict::of(&asked.decide(&target)), &asked.asker));
        }
        let asker = self.asker(crawler(agent, purposes, apps)?);
        Ok(Decision::of(url, Verdict::of(&asker.decide(None, &target)), &asker))
    }

    /// The same decision with `explanation`: every group and rule that was considered.
    #[pyo3(signature = (url, agent, *, purposes=Vec::new(), apps=Vec::new(), headers=None, html=None, union=false, now=None))]
    fn explain(
        &self,
        url: &Bound<'_, PyString>,
        agent: &Bound<'_, PyAny>,
        purposes: Vec<String>,
        apps: Vec<String>,
        headers: Option<&Bound<'_, PyAny>>,
        html: Option<&Bound<'_, PyAny>>,
        union: bool,
        now: Option<f64>,
    ) -> PyResult<Decision> {
        let asker = self.asker(crawler(agent, purposes, apps)?);
        with_response(&asker, url, Response { headers, html, union, now }, true)
    }

    /// The rules of a crawler, prepared for many questions.
    #[pyo3(signature = (agent, *, purposes=Vec::new(), apps=Vec::new()))]
    fn for_crawler(
        slf: &Bound<'_, Self>,
        agent: &Bound<'_, PyAny>,
        purposes: Vec<String>,
        apps: Vec<String>,
    ) -> PyResult<Rules> {
        let py = slf.py();
        let made_by = if purposes.is_empty() && apps.is_empty() {
            agent.clone()
        } else {
            let arguments = PyDict::new(py);
            arguments.set_item("purposes", &purposes)?;
            arguments.set_item("apps", &apps)?;
            py.get_type::<crate::crawler::Crawler>().call((agent,), Some(&arguments))?
        };
        let asker = slf.get().asker(crawler(&made_by, Vec::new(), Vec::new())?);
        Ok(Rules::new(asker, slf.clone().unbind(), made_by.unbind()))
    }

    /// The seconds that the file asks the crawler to wait between requests, or None.
    fn crawl_delay(&self, agent: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        Ok(self.asked(agent)?.asker.crawl_delay())
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else { return false };
        let other = other.get();
        let same_reading = self.reading.key() == other.reading.key();
        same_reading
            && match (&self.source, &other.source) {
                (Source::Ended(one), Source::Ended(two)) => one == two,
                (one, two) => one.octets(py).is_some_and(|octets| two.octets(py) == Some(octets)),
            }
    }

    fn __hash__(&self, py: Python<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        match &self.source {
            Source::Ended(ended) => ended.hash(&mut hasher),
            source => source.octets(py).hash(&mut hasher),
        }
        self.reading.dialect.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let dialect = &self.reading.dialect;
        let Some(robots) = self.site.file().robots_txt() else {
            return format!("<RobotsTxt: {}>", self.site.file().access());
        };
        let (groups, octets) = (robots.groups().count(), robots.text().len());
        let plural = if groups == 1 { "" } else { "s" };
        format!("<RobotsTxt of {octets} octets with {groups} group{plural}, read as {dialect}>")
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, robots) = (slf.py(), slf.get());
        let Reading { dialect, charset, content_type, without, max_octets, registry } = &robots.reading;
        let octets = robots.source.octets(py).map(|octets| PyBytes::new(py, octets));
        let (status, error) = match &robots.source {
            Source::Ended(Ended::Status(status)) => (Some(status), None),
            Source::Ended(Ended::Error(error)) => (None, Some(error)),
            Source::Octets(_) | Source::Fetched(_) => (None, None),
        };
        let registry = registry.as_ref().map(|registry| registry.clone_ref(py));
        let file = (octets, status, error);
        let arguments = (file, dialect, charset, content_type, without, max_octets, registry);
        let make = py.get_type::<Self>().getattr("_of_parts")?;
        Ok((make, arguments.into_pyobject(py)?))
    }

    #[staticmethod]
    fn _of_parts(
        py: Python<'_>,
        file: (Option<Bound<'_, PyBytes>>, Option<u16>, Option<String>),
        dialect: String,
        charset: Option<String>,
        content_type: Option<String>,
        without: Vec<String>,
        max_octets: Option<usize>,
        registry: Option<Py<Registry>>,
    ) -> PyResult<Self> {
        let (octets, status, error) = file;
        match (octets, status) {
            (Some(octets), _) => {
                let octets = octets.as_any();
                Self::new(octets, dialect, charset, content_type, without, max_octets, registry)
            }
            (None, Some(status)) => Self::of_status(py, status, &dialect),
            (None, None) => Self::of_error(py, &error.unwrap_or_default(), &dialect),
        }
    }
}

impl RobotsTxt {
    fn ended(py: Python<'_>, ended: Ended, dialect: &str) -> PyResult<Self> {
        let reading = Reading { dialect: dialect.to_owned(), ..Reading::default() };
        let Some(file) = SiteFile::ended(ended.result(), &reading.options(py)?) else {
            let message = "this status comes with a file: give its octets to RobotsTxt()";
            return Err(PyValueError::new_err(message));
        };
        let site = Arc::new(Site::new(file, None));
        Ok(Self {
            site,
            source: Source::Ended(ended),
            reading,
            askers: Mutex::default(),
            prepared: OnceLock::new(),
        })
    }

    fn text_octets(&self) -> &[u8] {
        self.site.file().robots_txt().map(mayi::RobotsTxt::text).unwrap_or_default()
    }
}

/// A group, with the records of it that Python shows.
#[derive(Serialize)]
struct GroupView<'r> {
    #[serde(flatten)]
    group: GroupReport,
    crawl_delay: Option<f64>,
    request_rates: Vec<Cow<'r, str>>,
}

impl<'r> GroupView<'r> {
    fn of(group: &mayi::Group<'r>) -> Self {
        Self {
            group: GroupReport::of(group),
            crawl_delay: group.crawl_delay(),
            request_rates: group.listed("request_rate").map(String::from_utf8_lossy).collect(),
        }
    }
}

/// What is already known about the response.
struct Response<'r, 'py> {
    headers: Option<&'r Bound<'py, PyAny>>,
    html: Option<&'r Bound<'py, PyAny>>,
    union: bool,
    now: Option<f64>,
}

/// A decision with its whole report, about a URL and its response.
fn with_response(
    asker: &Asker,
    url: &Bound<'_, PyString>,
    response: Response<'_, '_>,
    explain: bool,
) -> PyResult<Decision> {
    let py = url.py();
    let Response { headers, html, union, now } = response;
    let (fields, now) = (inputs::fields(headers)?, inputs::time(now)?);
    let is_text = html.is_some_and(|html| html.is_instance_of::<PyString>());
    let octets = html.map(inputs::octets).transpose()?;
    let octets = octets.as_ref().map(|octets| octets.as_bytes());
    let url = url.to_str()?;
    let target = Target::parse(url).or_raise(py)?;
    let has_page = headers.is_some() || html.is_some();
    let json = py.detach(|| {
        let fields = inputs::borrowed(&fields);
        let page = has_page.then(|| {
            let controls = page_controls(&fields, octets.unwrap_or_default(), is_text, union, now);
            controls.for_crawler(&asker.crawler)
        });
        asker.json(&target, &About { fields: &fields, page: page.as_ref(), explain })
    });
    Decision::of_json(py, json)
}

/// The page rules of a response. HTML that came as text is not decoded.
pub(crate) fn page_controls(
    fields: &[(&str, &str)],
    html: &[u8],
    is_text: bool,
    union: bool,
    now: std::time::SystemTime,
) -> PageControls {
    let mut options = PageOptions::default();
    options.union = union;
    options.now = Some(now);
    match std::str::from_utf8(html) {
        Ok(text) if is_text => PageControls::read_text(fields, text, options),
        _ => PageControls::read_with(fields, html, options),
    }
}

//! Arrays of URLs over Arrow's PyCapsule interface → arrays of answers. Nothing of the URLs is copied.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, new_empty_array};
use arrow_schema::{DataType, Field, FieldRef};
use arrow_select::concat::concat;
use arrow_select::nullif::nullif;
use mayi::access::{Origin, SiteFile};
use mayi::{Limits, ReadOptions};
use mayi_tables::answer::RowAnswer;
use mayi_tables::archive::{Archive, ArchivedResponse};
use mayi_tables::files::{self, Missing, RobotsSource};
use mayi_tables::kernel::{self, RowQuestion};
use mayi_tables::robots_table::Rows;
use mayi_tables::texts::Texts;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyInt, PyMapping, PyString, PyTuple};
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{
    ArrayIterator, ArrayReader, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule,
};
use pyo3_arrow::input::AnyRecordBatch;
use pyo3_arrow::{PyArray, PyArrayReader};

use crate::crawler::{Crawler, crawler};
use crate::inputs::{self, Reading};
use crate::robots::RobotsTxt;

/// The memory for prepared rules, as in `mayi bulk`.
const MEMORY: u64 = 256 << 20;

/// How many rows are answered before signals are checked, so that Ctrl+C ends a long table.
const ROUND: usize = 1 << 20;

/// The robots.txt files of many origins, and the rules that were prepared from them, for any number of calls.
#[pyclass(frozen, module = "mayi.arrow")]
pub(crate) struct Files {
    prepared: PreparedFiles,
    origins: usize,
}

#[pymethods]
impl Files {
    #[new]
    #[pyo3(signature = (files, /, *, dialect="rfc9309".to_owned(), missing="error", max_octets=None))]
    fn new(
        files: &Bound<'_, PyAny>,
        dialect: String,
        missing: &str,
        max_octets: Option<usize>,
    ) -> PyResult<Self> {
        let reading = Reading { dialect, max_octets, ..Reading::default() };
        let options = reading.options(files.py())?;
        // A little more than the limit, so that what is after it can be seen.
        let limit = max_octets.unwrap_or(Limits::default().file_octets()).saturating_add(4);
        let missing = missing_named(missing)?;
        let archive = match files.cast::<PyMapping>() {
            Ok(mapping) if !has_capsules(files)? => archive_of_mapping(mapping, limit)?,
            _ => archive_of_table(files, limit)?,
        };
        let origins = archive.len();
        let source = Source::Each(Arc::new(archive));
        Ok(Self { prepared: PreparedFiles::new(source, options, missing), origins })
    }

    fn __len__(&self) -> usize {
        self.origins
    }

    fn __repr__(&self) -> String {
        format!("<mayi.arrow.Files of {} origins>", self.origins)
    }
}

/// Files for the kernel: with the files themselves in addition to the rules, or without.
pub(crate) struct PreparedFiles {
    source: Source,
    options: ReadOptions,
    missing: Missing,
    with_files: OnceLock<files::Files>,
    without_files: OnceLock<files::Files>,
}

enum Source {
    One(SiteFile<'static>),
    Each(Arc<Archive>),
}

impl PreparedFiles {
    fn new(source: Source, options: ReadOptions, missing: Missing) -> Self {
        let (with_files, without_files) = (OnceLock::new(), OnceLock::new());
        Self { source, options, missing, with_files, without_files }
    }

    /// Those of a site, for all URLs.
    pub(crate) fn of_site(file: SiteFile<'static>) -> Self {
        Self::new(Source::One(file), ReadOptions::default(), Missing::default())
    }

    /// The files, with the files themselves if answers about uses are requested.
    fn files(&self, answers: &[RowAnswer]) -> &files::Files {
        let has_uses = answers.iter().any(|answer| answer.is_use());
        let kept = if has_uses { &self.with_files } else { &self.without_files };
        kept.get_or_init(|| {
            let robots = match &self.source {
                Source::One(file) => RobotsSource::One(file.clone()),
                Source::Each(archive) => RobotsSource::Each(Box::new(Arc::clone(archive))),
            };
            files::Files::new(robots, self.options.clone(), MEMORY)
                .with_missing(self.missing)
                .asking_for_uses(has_uses)
        })
    }
}

/// Answers URLs for one crawler or several, from a file or from files that were made ready.
#[pyfunction]
pub(crate) fn arrow_decide(
    urls: &Bound<'_, PyAny>,
    files: &Bound<'_, PyAny>,
    agent: &Bound<'_, PyAny>,
    answers: Vec<String>,
) -> PyResult<Answers> {
    let answers = answers.iter().map(|name| answer_named(name)).collect::<PyResult<Vec<_>>>()?;
    let crawlers = crawlers(agent)?;
    let prepared = match files.cast::<Files>() {
        Ok(files) => &files.get().prepared,
        Err(_) => files.cast::<RobotsTxt>()?.get().prepared(),
    };
    let question =
        RowQuestion { files: prepared.files(&answers), crawlers: &crawlers, answers: &answers };
    let data_type = DataType::Struct(question.fields());
    answered(urls, data_type, |urls| question.decide_all(urls).map_err(|error| error.to_string()))
}

/// The origins of URLs.
#[pyfunction]
#[pyo3(signature = (urls, /))]
pub(crate) fn arrow_origin(urls: &Bound<'_, PyAny>) -> PyResult<Answers> {
    answered(urls, DataType::Utf8, |urls| kernel::origins(urls).map_err(|error| error.to_string()))
}

/// What was answered: an array of Arrow, in chunks.
#[pyclass(frozen, module = "mayi.arrow")]
pub(crate) struct Answers {
    field: FieldRef,
    chunks: Vec<ArrayRef>,
}

#[pymethods]
impl Answers {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyTuple>> {
        let array = match &*self.chunks {
            [] => new_empty_array(self.field.data_type()),
            [chunk] => Arc::clone(chunk),
            chunks => py.detach(|| concat(&chunks.iter().map(AsRef::as_ref).collect::<Vec<_>>()))?,
        };
        to_array_pycapsules(py, Arc::clone(&self.field), &array, requested_schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let chunks = self.chunks.clone().into_iter().map(Ok);
        let reader = ArrayIterator::new(chunks, Arc::clone(&self.field));
        to_stream_pycapsule(py, Box::new(reader), requested_schema)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, &*self.field)
    }

    /// One of the answers, for every row.
    #[pyo3(signature = (name, /))]
    fn field(&self, name: &str) -> PyResult<Self> {
        let fields =
            if let DataType::Struct(fields) = self.field.data_type() { &fields[..] } else { &[] };
        let Some(place) = fields.iter().position(|field| field.name() == name) else {
            let known: Vec<_> = fields.iter().map(|field| &**field.name()).collect();
            return Err(PyKeyError::new_err(format!(
                "there is no field `{}`; there are: {}",
                name.escape_debug(),
                known.join(", ")
            )));
        };
        // A row of the struct is never null.
        let column = |chunk: &ArrayRef| Arc::clone(chunk.as_struct().column(place));
        let field = Field::new("", fields[place].data_type().clone(), true);
        Ok(Self { field: Arc::new(field), chunks: self.chunks.iter().map(column).collect() })
    }

    fn __len__(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    fn __repr__(&self) -> String {
        format!("<mayi.arrow.Answers of {} rows>", self.__len__())
    }
}

/// Reads the URLs and answers them, part after part, without the GIL.
fn answered(
    urls: &Bound<'_, PyAny>,
    data_type: DataType,
    answer: impl Fn(&[ArrayRef]) -> Result<Vec<ArrayRef>, String> + Sync,
) -> PyResult<Answers> {
    let py = urls.py();
    let reader = reader(urls)?;
    let column = column_of_urls(&reader.field())?;
    let mut arrays = reader.map(|array| -> Result<ArrayRef, String> {
        let array = array.map_err(|error| format!("the URLs can't be read: {error}"))?;
        Ok(match column {
            None => array,
            Some(column) => column_of(&array, column),
        })
    });
    let mut chunks = Vec::new();
    let mut waiting: Option<ArrayRef> = None;
    loop {
        let round = py.detach(|| -> Result<_, String> {
            let (mut round, mut rows) = (Vec::new(), 0);
            while rows < ROUND
                && let Some(array) = waiting.take().map(Ok).or_else(|| arrays.next()).transpose()?
            {
                let length = array.len().min(ROUND - rows);
                if length < array.len() {
                    waiting = Some(array.slice(length, array.len() - length));
                }
                round.push(array.slice(0, length));
                rows += length;
            }
            if round.is_empty() { Ok(None) } else { answer(&round).map(Some) }
        });
        let Some(round) = round.map_err(PyValueError::new_err)? else { break };
        chunks.extend(round);
        py.check_signals()?;
    }
    Ok(Answers { field: Arc::new(Field::new("", data_type, true)), chunks })
}

/// The accepted types, for the error message.
const TAKEN: &str = "an Arrow array or column of strings: a pyarrow Array or ChunkedArray, a Polars Series, a pandas Series \
                     of pandas 3 or a DataFrame of one column, a DuckDB relation of one column, or anything else with \
                     __arrow_c_array__ or __arrow_c_stream__";

fn has_capsules(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(given.hasattr("__arrow_c_stream__")? || given.hasattr("__arrow_c_array__")?)
}

fn reader(urls: &Bound<'_, PyAny>) -> PyResult<Box<dyn ArrayReader + Send>> {
    if urls.hasattr("__arrow_c_stream__")? {
        return imported(|| urls.extract::<PyArrayReader>()?.into_reader());
    }
    if urls.hasattr("__arrow_c_array__")? {
        let (array, field) = imported(|| urls.extract::<PyArray>())?.into_inner();
        return Ok(Box::new(ArrayIterator::new([Ok(array)], field)));
    }
    let name = urls.get_type().name()?;
    Err(PyTypeError::new_err(format!("urls has to be {TAKEN}; it is of the type {name}")))
}

/// What is in capsules. The library that reads them panics if an array was already taken out of them, or does
/// not match its type.
fn imported<T>(import: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(import)).unwrap_or_else(|_| {
        let message = "the capsules have no array of their type, or it was taken before: a capsule can be used once";
        Err(PyValueError::new_err(message))
    })
}

/// The column with the URLs, if a table is given: the only one, or the one called `url`.
fn column_of_urls(field: &Field) -> PyResult<Option<usize>> {
    let DataType::Struct(fields) = field.data_type() else {
        return check_text(field.data_type()).map(|()| None);
    };
    let place = match &fields[..] {
        [_] => Some(0),
        several => several.iter().position(|field| field.name().eq_ignore_ascii_case("url")),
    };
    let Some(place) = place else {
        let names: Vec<_> = fields.iter().map(|field| format!("`{}`", field.name())).collect();
        return Err(PyTypeError::new_err(format!(
            "no column of the table is called `url`, and it has {}: give the column that has the URLs",
            if names.is_empty() { "no columns".to_owned() } else { names.join(", ") }
        )));
    };
    check_text(fields[place].data_type()).map(|()| Some(place))
}

fn check_text(data_type: &DataType) -> PyResult<()> {
    if Texts::are_in(data_type) {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!("urls has to be {TAKEN}; it has values of the type {data_type}")))
}

/// A column of a table. A row of a struct that is null has no URL.
fn column_of(array: &ArrayRef, column: usize) -> ArrayRef {
    let table = array.as_struct();
    let column = table.column(column);
    match table.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => Arc::clone(column),
        Some(nulls) => {
            let is_null = BooleanArray::new(!nulls.inner(), None);
            // Both have the same number of rows.
            nullif(column, &is_null).unwrap_or_else(|_| Arc::clone(column))
        }
    }
}

fn crawlers(agent: &Bound<'_, PyAny>) -> PyResult<Vec<mayi::Crawler>> {
    let of = |agent: &Bound<'_, PyAny>| crawler(agent, Vec::new(), Vec::new());
    if agent.is_instance_of::<PyString>() || agent.is_instance_of::<Crawler>() {
        return Ok(vec![(*of(agent)?).clone()]);
    }
    let Ok(several) = agent.try_iter() else {
        let name = agent.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "agent is a str, a Crawler, or a list of these, not {name}"
        )));
    };
    let mut crawlers: Vec<mayi::Crawler> = Vec::new();
    for agent in several {
        let crawler = of(&agent?)?;
        let name = crawler.product_token().as_str();
        if crawlers.iter().any(|other| other.product_token().as_str().eq_ignore_ascii_case(name)) {
            return Err(PyValueError::new_err(format!("`{name}` is twice in the list of agents")));
        }
        crawlers.push((*crawler).clone());
    }
    if crawlers.is_empty() {
        return Err(PyValueError::new_err("the list of agents is empty"));
    }
    Ok(crawlers)
}

/// The URL is with the caller, and is not given back.
fn answer_named(name: &str) -> PyResult<RowAnswer> {
    let mut known = RowAnswer::ALL.into_iter().filter(|answer| *answer != RowAnswer::Url);
    known.clone().find(|answer| answer.field_name() == name).ok_or_else(|| {
        let known: Vec<_> = known.by_ref().map(RowAnswer::field_name).collect();
        let (name, known) = (name.escape_debug(), known.join(", "));
        PyValueError::new_err(format!("no answer is called `{name}`; there are {known}"))
    })
}

fn missing_named(name: &str) -> PyResult<Missing> {
    Missing::ALL.into_iter().find(|missing| missing.name() == name).ok_or_else(|| {
        let known = Missing::ALL.map(Missing::name).join(", ");
        PyValueError::new_err(format!("missing is one of {known}, not `{}`", name.escape_debug()))
    })
}

/// Files by origin: octets or text of a file, a status, or None for a site that could not be reached.
fn archive_of_mapping(mapping: &Bound<'_, PyMapping>, limit: usize) -> PyResult<Archive> {
    let mut archive = Archive::default();
    for item in mapping.items()? {
        let (origin, file) = item.extract::<(String, Bound<'_, PyAny>)>()?;
        let Ok(origin) = Origin::of_url(&origin) else {
            let origin = origin.escape_debug();
            return Err(PyValueError::new_err(format!(
                "`{origin}` is not an origin: give scheme and host, as in `https://example.com`"
            )));
        };
        let time = std::time::SystemTime::UNIX_EPOCH;
        let response = if file.is_none() {
            ArchivedResponse::new(time, Err("it was not reached".into()))
        } else if file.is_instance_of::<PyInt>() {
            ArchivedResponse::new(time, Ok(file.extract()?))
        } else {
            let octets = inputs::octets(&file)?;
            let mut response = ArchivedResponse::new(time, Ok(200));
            response.body = octets.as_bytes()[..octets.as_bytes().len().min(limit)].into();
            response
        };
        archive.add(&origin.robots_url(), response);
    }
    Ok(archive)
}

/// Files from a table with the columns origin, status and body, and optionally time, content_type and location.
fn archive_of_table(table: &Bound<'_, PyAny>, limit: usize) -> PyResult<Archive> {
    let py = table.py();
    if !has_capsules(table)? {
        let name = table.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "files is a mapping of origins to files, a mayi.arrow.Files, or a table with the columns origin, status and \
             body that has __arrow_c_stream__; it is of the type {name}"
        )));
    }
    let reader = imported(|| table.extract::<AnyRecordBatch>()?.into_reader())?;
    let unusable = |error: &dyn std::fmt::Display| format!("the table of files can't be used: {error}");
    let read = py.detach(|| {
        let mut rows = Rows::new(&reader.schema(), limit).map_err(|error| unusable(&error))?;
        let mut archive = Archive::default();
        for batch in reader {
            let batch = batch.map_err(|error| unusable(&error))?;
            rows.add(&batch, &mut archive).map_err(|error| unusable(&error))?;
        }
        Ok((archive, rows.skipped()))
    });
    let (archive, skipped) = read.map_err(|error: String| PyValueError::new_err(error))?;
    if let Some(first) = skipped.first {
        let message =
            format!("{} rows of files have no origin; the first is row {first}", skipped.rows);
        let message = std::ffi::CString::new(message).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 2)?;
    }
    Ok(archive)
}

//! Arguments of callers → octets, header fields, dialects, and how a file is read.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mayi::report::{Answering, Timestamp};
use mayi::{Dialect, Extension, Limits, ReadOptions};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMapping, PyMemoryView, PyString};

use crate::errors::OrRaise;
use crate::registry::Registry;

/// The octets of a file or a page, from `bytes`, something like it, or text.
pub(crate) fn octets<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    if let Ok(octets) = given.cast::<PyBytes>() {
        return Ok(octets.clone());
    }
    if let Ok(text) = given.cast::<PyString>() {
        if let Ok(text) = text.to_str() {
            return Ok(PyBytes::new(given.py(), text.as_bytes()));
        }
        // Octets that were not UTF-8 hide in text that was decoded with `surrogateescape`.
        let encoded = text
            .call_method1("encode", ("utf-8", "surrogateescape"))
            .or_else(|_| text.call_method1("encode", ("utf-8", "surrogatepass")))?;
        return Ok(encoded.cast_into()?);
    }
    if given.is_instance_of::<PyByteArray>() || given.is_instance_of::<PyMemoryView>() {
        let copied = given.py().get_type::<PyBytes>().call1((given,))?;
        return Ok(copied.cast_into()?);
    }
    let name = given.get_type().name()?;
    Err(PyTypeError::new_err(format!("bytes or str is needed, not {name}")))
}

/// Text, from `str`, `bytes` or something like it. Octets that are not UTF-8 are percent-encoded, which is how they
/// are compared in a URL (REP-14).
pub(crate) fn text<'a>(given: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, str>> {
    if let Ok(text) = given.cast::<PyString>()
        && let Ok(text) = text.to_str()
    {
        return Ok(Cow::Borrowed(text));
    }
    let octets = octets(given)?;
    let mut text = String::with_capacity(octets.as_bytes().len());
    for chunk in octets.as_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|octet| format!("%{octet:02X}")));
    }
    Ok(Cow::Owned(text))
}

/// The path and the rest of text that is not a URL of a site with a robots.txt: a scheme and an authority are
/// removed, if there are any.
pub(crate) fn path_of(given: &str) -> String {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    let rest = match given.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => rest,
        _ => given,
    };
    let path = match rest.strip_prefix("//") {
        Some(site) => &site[site.find(['/', '?', '#']).unwrap_or(site.len())..],
        None => rest,
    };
    if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }
}

/// Header fields in order, from pairs or from a mapping. A value of a mapping may be a list.
pub(crate) fn fields(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, String)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let pairs = match given.cast::<PyMapping>() {
        Ok(mapping) => mapping.items()?.into_any(),
        Err(_) => given.clone(),
    };
    let mut fields = Vec::new();
    for pair in pairs.try_iter()? {
        let [name, value] = pair?.extract::<[Bound<'_, PyAny>; 2]>()?;
        let name = field_text(&name)?;
        if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
            fields.push((name, field_text(&value)?));
        } else {
            for value in value.try_iter()? {
                fields.push((name.clone(), field_text(&value?)?));
            }
        }
    }
    Ok(fields)
}

/// Text of a header field. Octets are read as UTF-8; invalid ones are replaced.
fn field_text(given: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(String::from_utf8_lossy(octets(given)?.as_bytes()).into_owned())
}

/// Header fields as the core takes them.
pub(crate) fn borrowed(fields: &[(String, String)]) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (&**name, &**value)).collect()
}

/// The dialect of this name.
pub(crate) fn dialect(py: Python<'_>, name: &str) -> PyResult<Dialect> {
    Answering::default().dialect_named(Some(name)).or_raise(py)
}

/// How a file is read, in the form that callers give and that is pickled.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) dialect: String,
    pub(crate) charset: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) without: Vec<String>,
    pub(crate) max_octets: Option<usize>,
    pub(crate) registry: Option<Py<Registry>>,
}

/// The key by which readings are compared.
type Key<'r> = (&'r str, [Option<&'r str>; 2], &'r [String], Option<usize>, Option<&'r Registry>);

impl Reading {
    pub(crate) fn key(&self) -> Key<'_> {
        let registry = self.registry.as_ref().map(Py::get);
        let labels = [self.charset.as_deref(), self.content_type.as_deref()];
        (&self.dialect, labels, &self.without, self.max_octets, registry)
    }

    pub(crate) fn options(&self, py: Python<'_>) -> PyResult<ReadOptions> {
        let mut dialect = dialect(py, &self.dialect)?;
        for name in &self.without {
            dialect = dialect.without(extension(name)?);
        }
        let mut options = ReadOptions::default().with_dialect(dialect);
        if let Some(content_type) = &self.content_type {
            options = options.with_content_type(content_type);
        }
        if let Some(charset) = &self.charset {
            options = options.with_charset(charset);
        }
        if let Some(most) = self.max_octets {
            let limits = Limits::with_file_octets(most);
            options =
                options.with_limits(limits.map_err(|error| PyValueError::new_err(error.to_string()))?);
        }
        if let Some(registry) = &self.registry {
            options = options.with_registry(Arc::clone(registry.get().inner()));
        }
        Ok(options)
    }
}

/// The extension of this name.
pub(crate) fn extension(name: &str) -> PyResult<Extension> {
    Extension::find(name).map_err(|error| PyValueError::new_err(error.to_string()))
}

const SECOND: Duration = Duration::from_secs(1);

/// A time as `time.time()` returns it, or the current one.
pub(crate) fn time(seconds: Option<f64>) -> PyResult<SystemTime> {
    let Some(seconds) = seconds else { return Ok(SystemTime::now()) };
    let since = Duration::try_from_secs_f64(seconds).ok();
    let time = since.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
    // A later time than the last one of reports is nobody's, and adding to it could fail.
    let can_be_told = |time: &SystemTime| *time < SystemTime::from(Timestamp::from(*time)) + SECOND;
    time.filter(can_be_told).ok_or_else(|| {
        let what = "a time is in seconds since 1970, and before the year 10000";
        PyValueError::new_err(format!("{seconds} is not a time: {what}"))
    })
}

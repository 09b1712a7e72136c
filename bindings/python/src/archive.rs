//! A WARC, and the redirects in it → rows, for Spark: each archive is read in one task, and hops are joined by others.

use std::io::{BufReader, Cursor};
use std::time::SystemTime;

use mayi::Limits;
use mayi::access::{Attempt, Step};
use mayi_tables::archive::{Archive, ArchivedResponse, origin_of, status_of};
use mayi_tables::compressed::decompressed;
use mayi_tables::warc;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::inputs;

/// A row: URL, origin, microseconds since 1970, status, `Location`, `Content-Type`, body.
type Row<'py> = (
    String,
    Option<String>,
    i64,
    Option<u16>,
    Option<String>,
    Option<String>,
    Option<Bound<'py, PyBytes>>,
);

/// The responses in a WARC: the latest of each URL, in the order of the URLs. The origin is given if the URL
/// is that of its robots.txt. The second value is the error, if the WARC can't be read to its end.
#[pyfunction]
#[pyo3(signature = (octets, /))]
pub(crate) fn warc_responses<'py>(
    py: Python<'py>,
    octets: &Bound<'py, PyAny>,
) -> PyResult<(Vec<Row<'py>>, Option<String>)> {
    let octets = inputs::octets(octets)?.as_bytes().to_vec();
    // One octet more than is read of a file, so that it is seen that there was more, and a mark before it.
    let most = Limits::default().file_octets().saturating_add(4);
    let (archive, trouble) = py.detach(|| {
        let mut archive = Archive::default();
        let input = decompressed(Cursor::new(octets)).map_err(|error| error.to_string());
        let read = input.and_then(|input| {
            warc::read(BufReader::with_capacity(1 << 16, input), most, &mut archive)
                .map_err(|error| error.to_string())
        });
        (archive, read.err())
    });
    let row = |(url, response): (&str, &ArchivedResponse)| -> Row<'py> {
        let since = response.time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let status = response.status.as_ref().ok().copied();
        let has_body = status.is_some_and(|status| (200..300).contains(&status));
        (
            url.to_owned(),
            origin_of(url).map(|origin| origin.to_string()),
            i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            status,
            response.location.as_deref().map(str::to_owned),
            response.content_type.as_deref().map(str::to_owned),
            has_body.then(|| PyBytes::new(py, &response.body)),
        )
    };
    Ok((archive.responses().into_iter().map(row).collect(), trouble))
}

/// The next step after these responses for the robots.txt of an origin, a status and a `Location` each: the
/// next URL to request, or none; and the final status (REP-19). Both are none if no server answered.
#[pyfunction]
#[pyo3(signature = (origin, answers, /))]
pub(crate) fn after_redirects(
    origin: &str,
    answers: Vec<(Option<u16>, Option<String>)>,
) -> PyResult<(Option<String>, Option<u16>)> {
    let Some(origin) = origin_of(&format!("{origin}/robots.txt")) else {
        return Err(PyValueError::new_err(format!("`{origin}` is not an origin, written as one")));
    };
    let mut attempt = Attempt::new(&origin);
    for (status, location) in answers {
        let step = match status {
            Some(status) => attempt.answered(status, location.as_deref()),
            None => attempt.failed("no whole response"),
        };
        if let Step::Done(result) = step {
            return Ok((None, status_of(&result)));
        }
    }
    Ok((Some(attempt.url().to_owned()), None))
}

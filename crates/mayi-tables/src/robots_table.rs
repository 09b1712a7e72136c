//! A table of robots.txt files ↔ an archive of them: an origin, a status, a body and a time in every row.
//!
//! Redirects have already been followed: the row of an origin has the final result of its robots.txt. A null
//! status means that the site could not be reached. If a redirect leads to an unknown URL, the row has its
//! status and that URL.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arrow_array::builder::{BinaryBuilder, StringBuilder, TimestampMicrosecondBuilder, UInt16Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampMicrosecondType, UInt16Type};
use arrow_array::{Array, ArrayRef, RecordBatch, new_null_array};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use mayi::access::Origin;

use crate::archive::{Archive, ArchivedResponse};
use crate::reading::{Table, TableError, TableFormat};
use crate::writing::TableWriter;

/// This many rows, or this many octets of bodies, become a row group.
const MOST_ROWS: usize = 10_000;
const MOST_OCTETS: usize = 32 << 20;

/// The columns of the table, and whether each is required.
const COLUMNS: [(&str, bool); 6] = [
    ("origin", true),
    ("status", true),
    ("body", true),
    ("time", false),
    ("content_type", false),
    ("location", false),
];

/// Reads a table into an archive, with bodies up to this many octets, and returns which rows have no origin:
/// how many, and the first.
///
/// # Errors
/// When it can't be read, or a column is missing or has another type.
pub fn read(
    path: &Path,
    kind: TableFormat,
    limit: usize,
    archive: &mut Archive,
) -> Result<Skipped, TableError> {
    let table = Table::open(path, kind)?;
    let mut rows = Rows::new(table.schema(), limit)?;
    let mut wanted: Vec<usize> = rows.places.iter().flatten().copied().collect();
    wanted.sort_unstable();
    for place in rows.places.iter_mut().flatten() {
        *place = wanted.partition_point(|wanted| wanted < place);
    }
    for part in table.parts() {
        for batch in table.read(&part, &wanted)? {
            rows.add(&batch, archive)?;
        }
    }
    Ok(rows.skipped)
}

/// Reads rows of a table into an archive.
#[derive(Debug)]
pub struct Rows {
    /// Where the columns are.
    places: [Option<usize>; COLUMNS.len()],
    limit: usize,
    /// How many there were so far.
    count: u64,
    skipped: Skipped,
}

impl Rows {
    /// For a table with these columns; bodies are read up to this many octets.
    ///
    /// # Errors
    /// When a column is missing.
    pub fn new(schema: &Schema, limit: usize) -> Result<Self, TableError> {
        let mut places = [None; COLUMNS.len()];
        for (place, (name, is_needed)) in places.iter_mut().zip(COLUMNS) {
            let is_it = |field: &FieldRef| field.name().eq_ignore_ascii_case(name);
            *place = schema.fields().iter().position(is_it);
            if place.is_none() && is_needed {
                return Err(TableError::new(format_args!(
                    "it has no column `{name}`; a table of robots.txt files has origin, status and body, and may have \
                     time, content_type and location"
                )));
            }
        }
        Ok(Self { places, limit, count: 0, skipped: Skipped::default() })
    }

    /// The rows that had no origin so far.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Adds the rows of a batch.
    ///
    /// # Errors
    /// When a column has another type.
    pub fn add(&mut self, batch: &RecordBatch, archive: &mut Archive) -> Result<(), TableError> {
        let column = |number: usize, data_type: &DataType| match self.places[number] {
            // An optional column that is missing is null in every row.
            None => Ok(new_null_array(data_type, batch.num_rows())),
            Some(place) => cast(batch.column(place), data_type).map_err(|error| {
                let name = COLUMNS[number].0;
                TableError::new(format_args!("the column `{name}` can't be used: {error}"))
            }),
        };
        let origins = column(0, &DataType::Utf8)?;
        let statuses = column(1, &DataType::UInt16)?;
        let bodies = column(2, &DataType::LargeBinary)?;
        // Every time is the same moment in every zone; only a zone with a name is not known here.
        let times = column(3, &DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())))?;
        let content_types = column(4, &DataType::Utf8)?;
        let locations = column(5, &DataType::Utf8)?;
        let (origins, content_types) = (origins.as_string::<i32>(), content_types.as_string::<i32>());
        let locations = locations.as_string::<i32>();
        let statuses = statuses.as_primitive::<UInt16Type>();
        let times = times.as_primitive::<TimestampMicrosecondType>();
        let bodies = bodies.as_binary::<i64>();
        for row in 0..batch.num_rows() {
            self.count += 1;
            let origin = origins.is_valid(row).then(|| Origin::of_url(origins.value(row)).ok());
            let Some(origin) = origin.flatten() else {
                self.skipped.rows += 1;
                self.skipped.first.get_or_insert(self.count);
                continue;
            };
            let since = if times.is_valid(row) { times.value(row) } else { 0 };
            let since = Duration::from_micros(u64::try_from(since).unwrap_or(0));
            let status = statuses.is_valid(row).then(|| statuses.value(row));
            let status = status.ok_or_else(|| "it was not reached".into());
            let mut response = ArchivedResponse::new(SystemTime::UNIX_EPOCH + since, status);
            if bodies.is_valid(row) {
                let body = bodies.value(row);
                response.body = body[..body.len().min(self.limit)].into();
            }
            if content_types.is_valid(row) {
                response.content_type = Some(content_types.value(row).into());
            }
            if locations.is_valid(row) {
                response.location = Some(locations.value(row).into());
            }
            archive.add(&origin.robots_url(), response);
        }
        Ok(())
    }
}

/// Rows that could not be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// How many.
    pub rows: u64,
    /// The first of them, counted from 1.
    pub first: Option<u64>,
}

fn time_type() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

/// Writes a table of robots.txt files.
#[derive(Debug)]
pub struct RobotsTableWriter<W: Write + Send> {
    writer: TableWriter<W>,
    schema: SchemaRef,
    rows: usize,
    octets: usize,
    origins: StringBuilder,
    statuses: UInt16Builder,
    bodies: BinaryBuilder,
    times: TimestampMicrosecondBuilder,
    content_types: StringBuilder,
}

impl<W: Write + Send> RobotsTableWriter<W> {
    /// Begins a table.
    ///
    /// # Errors
    /// When nothing can be written.
    pub fn new(output: W, kind: TableFormat) -> Result<Self, TableError> {
        let schema: SchemaRef = Arc::new(Schema::new(vec![
            Field::new("origin", DataType::Utf8, false),
            Field::new("status", DataType::UInt16, true),
            Field::new("body", DataType::Binary, true),
            Field::new("time", time_type(), false),
            Field::new("content_type", DataType::Utf8, true),
        ]));
        Ok(Self {
            writer: TableWriter::new(output, kind, &schema)?,
            schema,
            rows: 0,
            octets: 0,
            origins: StringBuilder::new(),
            statuses: UInt16Builder::new(),
            bodies: BinaryBuilder::new(),
            times: TimestampMicrosecondBuilder::new().with_timezone("UTC"),
            content_types: StringBuilder::new(),
        })
    }

    /// Adds the row of an origin.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn push(&mut self, origin: &Origin, response: &ArchivedResponse) -> Result<(), TableError> {
        let since = response.time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let has_body = response.status == Ok(200);
        self.origins.append_value(origin.to_string());
        self.statuses.append_option(response.status.as_ref().ok().copied());
        self.bodies.append_option(has_body.then_some(&response.body));
        self.times.append_value(i64::try_from(since.as_micros()).unwrap_or(i64::MAX));
        self.content_types.append_option(response.content_type.as_deref());
        self.rows += 1;
        self.octets += response.body.len();
        if self.rows >= MOST_ROWS || self.octets >= MOST_OCTETS { self.flush() } else { Ok(()) }
    }

    /// Writes the end of the table, and gives the output back.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn finish(mut self) -> Result<W, TableError> {
        self.flush()?;
        self.writer.finish()
    }

    fn flush(&mut self) -> Result<(), TableError> {
        if self.rows == 0 {
            return Ok(());
        }
        (self.rows, self.octets) = (0, 0);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.origins.finish()),
            Arc::new(self.statuses.finish()),
            Arc::new(self.bodies.finish()),
            Arc::new(self.times.finish()),
            Arc::new(self.content_types.finish()),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(TableError::new)?;
        let encoded = self.writer.encoder().encode(vec![batch])?;
        self.writer.write(encoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::NoSite;

    #[test]
    fn what_is_written_is_read_again() {
        let folder = std::env::temp_dir();
        let path = folder.join(format!("mayi-robots-table-{}", std::process::id()));
        let origin =
            |host: &str| Origin::of_url(&format!("https://{host}.example")).expect("an origin");
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let mut file = ArchivedResponse::new(time, Ok(200));
        file.body = b"User-agent: *\n\xFF".as_slice().into();
        file.content_type = Some("text/plain".into());
        let gone = ArchivedResponse::new(time, Ok(404));
        let down = ArchivedResponse::new(time, Err("it was not reached".into()));
        let all = [("a", file), ("b", gone), ("c", down)];
        for kind in [TableFormat::Parquet, TableFormat::Ipc] {
            let mut writer = RobotsTableWriter::new(Vec::new(), kind).expect("a table");
            for (host, response) in &all {
                writer.push(&origin(host), response).expect("it is written");
            }
            std::fs::write(&path, writer.finish().expect("it ends")).expect("a file");
            let mut archive = Archive::default();
            assert_eq!(read(&path, kind, 1 << 20, &mut archive).expect("a table"), Skipped::default());
            assert_eq!(archive.len(), 3);
            for (host, response) in &all {
                assert_eq!(archive.site(&origin(host)).expect("it is there").last, response);
            }
        }
        std::fs::remove_file(&path).expect("it is there");
    }

    /// A redirect to what nobody has is told as one.
    #[test]
    fn a_row_may_say_where_its_redirect_leads() {
        use arrow_array::{StringArray, UInt16Array};

        let fields = ["origin", "body", "location"].map(|name| Field::new(name, DataType::Utf8, true));
        let mut fields = fields.to_vec();
        fields.push(Field::new("status", DataType::UInt16, true));
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from(vec![
                "https://a.example",
                "https://b.example",
                "https://c.example",
            ])),
            Arc::new(StringArray::from(vec![None, None, Some("the file")])),
            Arc::new(StringArray::from(vec![
                Some("https://gone.example/robots.txt"),
                Some("https://c.example/robots.txt"),
                None,
            ])),
            Arc::new(UInt16Array::from(vec![301, 301, 200])),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).expect("a batch");
        let path = std::env::temp_dir().join(format!("mayi-robots-location-{}", std::process::id()));
        let mut writer = TableWriter::new(Vec::new(), TableFormat::Parquet, &schema).expect("a table");
        let encoded = writer.encoder().encode(vec![batch]).expect("it is encoded");
        writer.write(encoded).expect("it is written");
        std::fs::write(&path, writer.finish().expect("it ends")).expect("a file");
        let mut archive = Archive::default();
        read(&path, TableFormat::Parquet, 1 << 20, &mut archive).expect("a table");
        std::fs::remove_file(&path).expect("it is there");
        let origin =
            |host: &str| Origin::of_url(&format!("https://{host}.example")).expect("an origin");
        let missing = NoSite::MissingHop("https://gone.example/robots.txt".to_owned());
        assert_eq!(archive.site(&origin("a")).expect_err("it is not there"), missing);
        assert_eq!(*archive.site(&origin("b")).expect("it is there").last.body, *b"the file");
    }
}

//! A file of Parquet or Arrow IPC → its parts, which can be read in any order and by several threads.
//!
//! A part is some rows of a row group, or a batch of Arrow IPC. It is small enough to be read in bounded
//! memory, whatever the metadata of the file says. The metadata is not trusted: a part without the right
//! number of rows is an error.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_ipc::Block;
use arrow_ipc::reader::{FileReader, FileReaderBuilder, read_footer_length};
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;

/// How many rows a part has at most, and how many octets, about.
const MOST_ROWS: u64 = 1 << 17;
const MOST_OCTETS: u64 = 32 << 20;

/// How many octets a compressed batch of Arrow IPC may have when it is decompressed. It is read whole.
const MOST_DECOMPRESSED: u64 = 1 << 30;

/// How many rows are decoded at once.
const BATCH: usize = 1 << 13;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableFormat {
    /// Apache Parquet.
    Parquet,
    /// The file format of Arrow IPC, also called Feather V2.
    Ipc,
}

impl TableFormat {
    /// What the first octets of a file say.
    pub fn of_start(start: &[u8]) -> Option<Self> {
        if start.starts_with(b"PAR1") {
            Some(Self::Parquet)
        } else if start.starts_with(b"ARROW1\0\0") {
            Some(Self::Ipc)
        } else {
            None
        }
    }

    /// Its name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parquet => "Parquet",
            Self::Ipc => "Arrow IPC",
        }
    }
}

/// A table in a file.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    inner: Inner,
}

#[derive(Debug)]
enum Inner {
    Parquet(ArrowReaderMetadata),
    Ipc {
        schema: SchemaRef,
        batches: usize,
        /// Readers that are not in use now. Each has read the dictionaries of the file.
        readers: Mutex<Vec<FileReader<File>>>,
    },
}

/// Some rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The row group or the batch.
    group: usize,
    /// The first row in it, and how many there are; a batch is read whole.
    first: u64,
    rows: u64,
}

impl Table {
    /// Opens a file and reads its metadata.
    ///
    /// # Errors
    /// When it can't be read, is not such a table, or is damaged.
    pub fn open(path: &Path, kind: TableFormat) -> Result<Self, TableError> {
        let inner = guarded(kind, "its footer", || match kind {
            TableFormat::Parquet => {
                let options = ArrowReaderOptions::new();
                Ok(Inner::Parquet(ArrowReaderMetadata::load(&File::open(path)?, options)?))
            }
            TableFormat::Ipc => {
                let reader = open_ipc(path, None)?;
                let (schema, batches) = (reader.schema(), reader.num_batches());
                Ok(Inner::Ipc { schema, batches, readers: Mutex::new(vec![reader]) })
            }
        })?;
        Ok(Self { path: path.to_owned(), inner })
    }

    /// Its columns.
    pub fn schema(&self) -> &SchemaRef {
        match &self.inner {
            Inner::Parquet(metadata) => metadata.schema(),
            Inner::Ipc { schema, .. } => schema,
        }
    }

    /// Its parts, in their order.
    pub fn parts(&self) -> impl Iterator<Item = Part> + Clone + Send + '_ {
        let groups = match &self.inner {
            Inner::Parquet(metadata) => metadata.metadata().num_row_groups(),
            Inner::Ipc { batches, .. } => *batches,
        };
        (0..groups).flat_map(|group| {
            let (rows, most) = match &self.inner {
                Inner::Parquet(metadata) => {
                    let metadata = metadata.metadata().row_group(group);
                    let rows = u64::try_from(metadata.num_rows()).unwrap_or(0);
                    let octets = u64::try_from(metadata.total_byte_size()).unwrap_or(0);
                    (rows, (MOST_OCTETS / (octets / rows.max(1)).max(1)).clamp(1, MOST_ROWS))
                }
                // The number of its rows is known when it is read.
                Inner::Ipc { .. } => (1, 1),
            };
            (0..rows.div_ceil(most)).map(move |number| {
                let first = number * most;
                Part { group, first, rows: most.min(rows - first) }
            })
        })
    }

    /// Reads a part: these columns of it, in the order of the table.
    ///
    /// # Errors
    /// When it can't be read, or is damaged.
    pub fn read(&self, part: &Part, columns: &[usize]) -> Result<Vec<RecordBatch>, TableError> {
        let place = format!(
            "{} {}",
            if self.kind() == TableFormat::Parquet { "row group" } else { "batch" },
            part.group
        );
        guarded(self.kind(), &place, || match &self.inner {
            Inner::Parquet(metadata) => {
                // A file that is shared would have one position for all threads.
                let file = File::open(&self.path)?;
                let mask = ProjectionMask::roots(metadata.parquet_schema(), columns.iter().copied());
                let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
                    .with_row_groups(vec![part.group])
                    .with_projection(mask)
                    .with_batch_size(BATCH)
                    .with_offset(part.first as usize)
                    .with_limit(part.rows as usize)
                    .build()?;
                let batches = reader.collect::<Result<Vec<_>, _>>()?;
                let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
                if rows as u64 != part.rows {
                    let message = format!("it has {rows} rows instead of {}", part.rows);
                    return Err(Broken::Damaged(message));
                }
                Ok(batches)
            }
            Inner::Ipc { readers, .. } => {
                let spare = readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let mut reader = match spare {
                    Some(reader) => reader,
                    None => open_ipc(&self.path, None)?,
                };
                reader.set_index(part.group)?;
                let batch = reader
                    .next()
                    .ok_or_else(|| Broken::Damaged("the batch is missing".to_owned()))??;
                readers.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
                Ok(vec![batch.project(columns)?])
            }
        })
    }

    fn kind(&self) -> TableFormat {
        match &self.inner {
            Inner::Parquet(_) => TableFormat::Parquet,
            Inner::Ipc { .. } => TableFormat::Ipc,
        }
    }
}

/// Opens a file of Arrow IPC. The reader takes memory for as many octets as the footer says that a block has, so that is
/// compared with the size of the file first; and for as many as a compressed block says that it will have.
fn open_ipc(path: &Path, projection: Option<Vec<usize>>) -> Result<FileReader<File>, Broken> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let damaged = |message: &str| Broken::Damaged(message.to_owned());
    let mut trailer = [0; 10];
    let trailer_start =
        size.checked_sub(trailer.len() as u64).ok_or_else(|| damaged("it is cut off"))?;
    file.seek(SeekFrom::Start(trailer_start))?;
    file.read_exact(&mut trailer)?;
    let length = read_footer_length(trailer)?;
    let start = trailer_start.checked_sub(length as u64);
    let start = start.ok_or_else(|| damaged("its footer is longer than the file"))?;
    file.seek(SeekFrom::Start(start))?;
    let mut footer = vec![0; length];
    file.read_exact(&mut footer)?;
    let footer = arrow_ipc::root_as_footer(&footer).map_err(|error| damaged(&error.to_string()))?;
    for block in footer.dictionaries().iter().flatten().chain(footer.recordBatches().iter().flatten()) {
        let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
        let end = parts.iter().try_fold(0_u64, |end, &part| end.checked_add(u64::try_from(part).ok()?));
        if end.is_none_or(|end| end > size) {
            return Err(damaged("a block is beyond the end of the file"));
        }
        let octets = decompressed_octets(&mut file, block)?;
        if octets > MOST_DECOMPRESSED {
            let message = format!(
                "a batch says that it has {octets} octets when it is decompressed; at most {MOST_DECOMPRESSED} are read"
            );
            return Err(Broken::Damaged(message));
        }
    }
    let mut builder = FileReaderBuilder::new();
    if let Some(projection) = projection {
        builder = builder.with_projection(projection);
    }
    Ok(builder.build(file)?)
}

/// How many octets a batch says that its buffers have when they are decompressed: each compressed one starts with that
/// number, or with -1 if it is stored as it is.
fn decompressed_octets(file: &mut File, block: &Block) -> Result<u64, Broken> {
    let damaged = |message: &str| Broken::Damaged(message.to_owned());
    let negative = |_| damaged("a length is negative");
    let start = u64::try_from(block.offset()).map_err(negative)?;
    let length = u64::try_from(block.metaDataLength()).map_err(negative)?;
    let mut metadata = vec![0; length as usize];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut metadata)?;
    // Before the message is its length, and since 2019 a mark before that.
    let before = if metadata.starts_with(&[0xFF; 4]) { 8 } else { 4 };
    let message = metadata.get(before..).ok_or_else(|| damaged("a block is cut off"))?;
    let message = arrow_ipc::root_as_message(message).map_err(|error| damaged(&error.to_string()))?;
    let of_dictionary = || message.header_as_dictionary_batch().and_then(|batch| batch.data());
    let Some(batch) = message.header_as_record_batch().or_else(of_dictionary) else { return Ok(0) };
    if batch.compression().is_none() {
        return Ok(0);
    }
    let mut sum = 0_u64;
    for buffer in batch.buffers().iter().flatten().filter(|buffer| buffer.length() >= 8) {
        let place = u64::try_from(buffer.offset()).map_err(negative)?;
        let place = (start + length)
            .checked_add(place)
            .ok_or_else(|| damaged("a buffer is beyond the end of the file"))?;
        let mut octets = [0; 8];
        file.seek(SeekFrom::Start(place))?;
        file.read_exact(&mut octets)?;
        sum = sum.saturating_add(u64::try_from(i64::from_le_bytes(octets)).unwrap_or(0));
    }
    Ok(sum)
}

/// Why a part of a file could not be read.
enum Broken {
    Io(io::Error),
    Damaged(String),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ParquetError> for Broken {
    fn from(error: ParquetError) -> Self {
        Self::Damaged(error.to_string())
    }
}

impl From<ArrowError> for Broken {
    fn from(error: ArrowError) -> Self {
        Self::Damaged(error.to_string())
    }
}

/// Reads with third-party crates, which panic for some damage instead of returning an error.
fn guarded<T>(
    kind: TableFormat,
    place: &str,
    read: impl FnOnce() -> Result<T, Broken>,
) -> Result<T, TableError> {
    let message = match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(Broken::Io(error))) => return Err(TableError(error.to_string())),
        Ok(Err(Broken::Damaged(message))) => message,
        Err(_) => "its content is invalid".to_owned(),
    };
    Err(TableError(format!(
        "it is not a complete {} file; {place} can't be read: {message}",
        kind.name()
    )))
}

/// Why a table could not be read or written.
#[derive(Debug)]
pub struct TableError(pub(crate) String);

impl TableError {
    /// With these words.
    pub fn new(message: impl fmt::Display) -> Self {
        Self(message.to_string())
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TableError {}

//! Batches of rows → a file of Parquet or Arrow IPC.
//!
//! Encoding is most of the work. The thread that has the rows does it, and the result becomes a row group.
//! Only the writing is sequential.

use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use crate::reading::{TableError, TableFormat};

/// Writes a table.
pub struct TableWriter<W: Write + Send> {
    inner: Inner<W>,
    encoder: Encoder,
}

enum Inner<W: Write + Send> {
    Parquet(Box<SerializedFileWriter<W>>),
    Ipc(Box<FileWriter<W>>),
}

impl<W: Write + Send> std::fmt::Debug for TableWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableWriter").field("encoder", &self.encoder).finish_non_exhaustive()
    }
}

/// Encodes batches of rows, on any thread.
#[derive(Clone, Debug)]
pub struct Encoder {
    schema: SchemaRef,
    row_groups: Option<Arc<ArrowRowGroupWriterFactory>>,
}

/// Rows that are encoded.
#[derive(Debug)]
pub struct Encoded(Form);

#[derive(Debug)]
enum Form {
    RowGroup(Vec<ArrowColumnChunk>),
    Batches(Vec<RecordBatch>),
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a table with these columns.
    ///
    /// # Errors
    /// When the format does not support them, or nothing can be written.
    pub fn new(output: W, kind: TableFormat, schema: &SchemaRef) -> Result<Self, TableError> {
        let schema = Arc::clone(schema);
        match kind {
            TableFormat::Parquet => {
                let properties =
                    WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let writer = ArrowWriter::try_new(output, Arc::clone(&schema), Some(properties))
                    .and_then(ArrowWriter::into_serialized_writer);
                let (writer, factory) = writer.map_err(TableError::new)?;
                let encoder = Encoder { schema, row_groups: Some(Arc::new(factory)) };
                Ok(Self { inner: Inner::Parquet(Box::new(writer)), encoder })
            }
            TableFormat::Ipc => {
                let writer = FileWriter::try_new(output, &schema).map_err(TableError::new)?;
                Ok(Self {
                    inner: Inner::Ipc(Box::new(writer)),
                    encoder: Encoder { schema, row_groups: None },
                })
            }
        }
    }

    /// The encoder for its rows.
    pub fn encoder(&self) -> Encoder {
        self.encoder.clone()
    }

    /// Writes rows that its encoder has encoded.
    ///
    /// # Errors
    /// When they can't be written.
    pub fn write(&mut self, encoded: Encoded) -> Result<(), TableError> {
        match (&mut self.inner, encoded.0) {
            (Inner::Parquet(writer), Form::RowGroup(chunks)) => {
                let mut group = writer.next_row_group().map_err(TableError::new)?;
                for chunk in chunks {
                    chunk.append_to_row_group(&mut group).map_err(TableError::new)?;
                }
                group.close().map(|_| ()).map_err(TableError::new)
            }
            (Inner::Ipc(writer), Form::Batches(batches)) => {
                batches.iter().try_for_each(|batch| writer.write(batch)).map_err(TableError::new)
            }
            _ => Err(TableError("the rows were encoded for another kind of table".to_owned())),
        }
    }

    /// Writes the end of the table, and gives the output back.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn finish(self) -> Result<W, TableError> {
        match self.inner {
            Inner::Parquet(writer) => writer.into_inner().map_err(TableError::new),
            Inner::Ipc(mut writer) => {
                writer.finish().map_err(TableError::new)?;
                writer.into_inner().map_err(TableError::new)
            }
        }
    }
}

impl Encoder {
    /// Encodes rows: in Parquet as one row group.
    ///
    /// # Errors
    /// When they do not have the columns of the table.
    pub fn encode(&self, batches: Vec<RecordBatch>) -> Result<Encoded, TableError> {
        let Some(factory) = &self.row_groups else { return Ok(Encoded(Form::Batches(batches))) };
        let mut writers = factory.create_column_writers(0).map_err(TableError::new)?;
        for batch in &batches {
            let mut columns = writers.iter_mut();
            for (field, array) in self.schema.fields().iter().zip(batch.columns()) {
                for leaf in compute_leaves(field, array).map_err(TableError::new)? {
                    if let Some(writer) = columns.next() {
                        writer.write(&leaf).map_err(TableError::new)?;
                    }
                }
            }
        }
        let chunks = writers.into_iter().map(ArrowColumnWriter::close);
        let chunks = chunks.collect::<Result<_, _>>().map_err(TableError::new)?;
        Ok(Encoded(Form::RowGroup(chunks)))
    }
}

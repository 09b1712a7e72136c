//! Tables of Parquet and Arrow IPC as rows, rows as such tables, and tables answered column by column.
//!
//! A table that becomes a table keeps its columns as they are: only the URL, and what else a question needs, is looked
//! at. A table that becomes text, or text that becomes a table, goes row by row as text does.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use mayi_tables::asking::{self, Asker};
use mayi_tables::kernel::{self, AnswerColumn, data_type, decide_into};
use mayi_tables::reading::{Part, Table, TableError, TableFormat};
use mayi_tables::texts::Texts;
use mayi_tables::writing::{Encoded, Encoder, TableWriter};

use super::columns::{Columns, Written};
use super::worker::{Shared, Worker, read_crawlers};
use super::write::{Answered, Row, RowSink};
use crate::exit::Failure;
use crate::output::Output;
use crate::text::shown;

/// A batch of rows with the columns that are needed.
pub(crate) struct Record<'a> {
    /// By the column of the table.
    values: Vec<Option<Value<'a>>>,
}

struct Value<'a> {
    array: &'a dyn Array,
    /// Its strings, where it has some.
    texts: Option<Texts<'a>>,
    formatter: ArrayFormatter<'a>,
}

const FORMAT: FormatOptions<'static> = FormatOptions::new();

impl<'a> Record<'a> {
    /// A batch with these columns of a table, of which some are wanted as text.
    fn new(
        batch: &'a RecordBatch,
        columns: &[usize],
        is_wanted: impl Fn(usize) -> bool,
    ) -> Result<Self, TableError> {
        let mut values = Vec::new();
        for (array, &column) in batch.columns().iter().zip(columns) {
            if !is_wanted(column) {
                continue;
            }
            let array: &dyn Array = array.as_ref();
            let formatter = ArrayFormatter::try_new(array, &FORMAT).map_err(TableError::new)?;
            values.resize_with(column, || None);
            values.push(Some(Value { array, texts: Texts::of(array).ok(), formatter }));
        }
        Ok(Self { values })
    }

    /// Whether a value is there, and not null.
    pub(crate) fn has(&self, column: usize, row: usize) -> bool {
        matches!(self.values.get(column), Some(Some(value)) if value.array.is_valid(row))
    }

    /// A value as text; none if it is null.
    pub(crate) fn octets(&self, column: usize, row: usize) -> Cow<'_, [u8]> {
        match self.values.get(column) {
            Some(Some(value)) if value.array.is_valid(row) => match &value.texts {
                Some(texts) => Cow::Borrowed(texts.get(row).unwrap_or_default().as_bytes()),
                None => Cow::Owned(value.formatter.value(row).to_string().into_bytes()),
            },
            _ => Cow::Borrowed(b""),
        }
    }

    /// A value as JSON: numbers, booleans and null are themselves, and everything else is text.
    pub(crate) fn json(&self, column: usize, row: usize) -> String {
        let Some(Some(value)) = self.values.get(column) else { return "null".to_owned() };
        let data_type = value.array.data_type();
        if value.array.is_null(row) || *data_type == DataType::Null {
            return "null".to_owned();
        }
        let octets = self.octets(column, row);
        let text = String::from_utf8_lossy(&octets);
        let is_plain = data_type.is_integer() || *data_type == DataType::Boolean;
        let is_number = data_type.is_floating() && serde_json::from_str::<f64>(&text).is_ok();
        if is_plain || is_number {
            text.into_owned()
        } else {
            serde_json::Value::from(text).to_string()
        }
    }
}

/// The same rows with times in UTC, because the names of time zones can't be resolved here.
fn in_utc(batch: &RecordBatch) -> Result<RecordBatch, TableError> {
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let data_type = match field.data_type() {
            DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some("+00:00".into())),
            other => other.clone(),
        };
        columns.push(cast(column, &data_type).map_err(TableError::new)?);
        fields.push(field.as_ref().clone().with_data_type(data_type));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(TableError::new)
}

/// A table, and what is wanted of it.
pub(crate) struct Wanted<'a> {
    table: &'a Table,
    shared: &'a Shared<'a>,
    /// The columns that are read, in the order of the table.
    read: Vec<usize>,
}

/// Fails if a column that is part of the question has no strings.
pub(crate) fn check_types(columns: &Columns, schema: &Schema) -> Result<(), Failure> {
    let mut fields = columns.asked_with().map(|index| schema.field(index));
    match fields.find(|field| !Texts::are_in(field.data_type())) {
        None => Ok(()),
        Some(field) => Err(Failure::new(format_args!(
            "the column `{}` can't be used: it has the type {}, but it must contain strings \
             (Utf8, LargeUtf8, Utf8View or a dictionary of them)",
            shown(field.name().as_bytes()),
            field.data_type()
        ))),
    }
}

impl<'a> Wanted<'a> {
    /// What the questions and the output need of a table.
    pub(crate) fn new(table: &'a Table, shared: &'a Shared<'a>) -> Self {
        let columns = shared.columns;
        let mut read: Vec<usize> = columns.asked_with().collect();
        for written in &columns.written {
            match written {
                Written::Input => read.extend(0..columns.width),
                Written::Field(index, _) => read.push(*index),
                Written::Answer(..) | Written::List(..) => {}
            }
        }
        read.sort_unstable();
        read.dedup();
        Self { table, shared, read }
    }

    /// The rows of a part with their answers, as text.
    pub(crate) fn text_of(&self, part: &Part) -> Result<AnsweredPart<Vec<u8>>, TableError> {
        let mut worker = Worker::new(self.shared);
        let mut rows = Vec::new();
        for batch in self.table.read(part, &self.read)? {
            let batch = in_utc(&batch)?;
            let record = Record::new(&batch, &self.read, |_| true)?;
            for row in 0..batch.num_rows() {
                worker.answer_row(&Row::Record { record: &record, row }, &mut rows);
            }
        }
        let (count, errors) = worker.counted();
        Ok(AnsweredPart { rows, count, errors })
    }

    /// The rows of a part with their answers, encoded for a table with this schema.
    pub(crate) fn encoded(
        &self,
        part: &Part,
        schema: &SchemaRef,
        encoder: &Encoder,
    ) -> Result<AnsweredPart<Encoded>, TableError> {
        let (shared, columns) = (self.shared, self.shared.columns);
        let mut asker = shared.asker();
        let mut batches = Vec::new();
        let (mut count, mut errors) = (0, 0);
        for batch in self.table.read(part, &self.read)? {
            let place = |index: usize| self.read.binary_search(&index).expect("it is read");
            let record = Record::new(&batch, &self.read, |index| {
                columns.asked_with().any(|asked| asked == index)
            })?;
            let urls = Texts::of(batch.column(place(columns.url)).as_ref()).map_err(TableError::new)?;
            let who = |asker: &mut Asker<'_>, row| {
                if asker.crawlers().is_empty() || columns.has_crawlers() {
                    return read_crawlers(&Row::Record { record: &record, row }, shared, asker);
                }
                Ok(())
            };
            let mut answers: Vec<_> = answers(columns);
            errors += decide_into(&mut asker, &urls, who, &mut answers);
            count += batch.num_rows() as u64;
            let mut answers = answers.iter_mut();
            let mut arrays: Vec<ArrayRef> = Vec::new();
            for written in &columns.written {
                match written {
                    Written::Input => {
                        arrays
                            .extend((0..columns.width).map(|index| batch.column(place(index)).clone()));
                    }
                    Written::Field(index, _) => arrays.push(batch.column(place(*index)).clone()),
                    Written::Answer(..) => arrays.extend(answers.next().map(AnswerColumn::finish)),
                    Written::List(..) => {}
                }
            }
            batches.push(RecordBatch::try_new(Arc::clone(schema), arrays).map_err(TableError::new)?);
        }
        Ok(AnsweredPart { rows: encoder.encode(batches)?, count, errors: errors as u64 })
    }
}

/// The rows of a part with their answers.
pub(crate) struct AnsweredPart<R> {
    pub(crate) rows: R,
    pub(crate) count: u64,
    /// How many of them have an error.
    pub(crate) errors: u64,
}

/// A table that is being written.
pub(crate) struct TableOut {
    writer: TableWriter<Output>,
    schema: SchemaRef,
    /// Whether the reader has closed the output.
    is_closed: Arc<AtomicBool>,
    /// Rows that do not fill a row group yet.
    waiting: Vec<RecordBatch>,
}

impl TableOut {
    /// How many rows of text become a row group.
    const ROWS: usize = 1 << 17;

    pub(crate) fn begin(output: Output, kind: TableFormat, schema: SchemaRef) -> Result<Self, Failure> {
        let is_closed = output.is_closed();
        let writer = TableWriter::new(output, kind, &schema).map_err(Failure::new)?;
        Ok(Self { writer, schema, is_closed, waiting: Vec::new() })
    }

    /// Whether it has these columns.
    pub(crate) fn has_columns(&self, schema: &Schema) -> bool {
        self.schema.fields() == schema.fields()
    }

    /// What encodes rows for it.
    pub(crate) fn encoding(&self) -> (SchemaRef, Encoder) {
        (Arc::clone(&self.schema), self.writer.encoder())
    }

    /// Writes rows that are encoded.
    pub(crate) fn write(&mut self, encoded: Encoded) -> Result<(), Failure> {
        self.flush()?;
        self.writer.write(encoded).map_err(|error| self.unwritten(&error))
    }

    /// Adds rows of text.
    pub(crate) fn push(&mut self, sink: &mut BatchSink) -> Result<(), Failure> {
        if !sink.is_empty() {
            self.waiting.push(sink.finish(&self.schema).map_err(Failure::new)?);
        }
        let rows: usize = self.waiting.iter().map(RecordBatch::num_rows).sum();
        if rows >= Self::ROWS { self.flush() } else { Ok(()) }
    }

    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.flush()?;
        let Self { writer, is_closed, .. } = self;
        writer.finish().map_err(|error| unwritten(&is_closed, &error))?.finish()
    }

    fn flush(&mut self) -> Result<(), Failure> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let batches = std::mem::take(&mut self.waiting);
        let written = self.writer.encoder().encode(batches).and_then(|rows| self.writer.write(rows));
        written.map_err(|error| self.unwritten(&error))
    }

    fn unwritten(&self, error: &TableError) -> Failure {
        unwritten(&self.is_closed, error)
    }
}

fn unwritten(is_closed: &AtomicBool, error: &TableError) -> Failure {
    if is_closed.load(Ordering::Relaxed) {
        return Failure::BrokenPipe;
    }
    Failure::new(format_args!("the answer could not be written: {error}"))
}

/// The columns of answers, in their order.
fn answers(columns: &Columns) -> Vec<AnswerColumn> {
    let answer = |written: &Written| match written {
        Written::Answer(answer, crawler, _) => Some(AnswerColumn::new(*answer, *crawler)),
        _ => None,
    };
    columns.written.iter().filter_map(answer).collect()
}

/// The columns of the output: those of a table keep their types, those of text are strings.
pub(crate) fn output_schema(columns: &Columns, table: Option<&SchemaRef>) -> SchemaRef {
    let field = |index: usize, name: &str| match table {
        Some(schema) => Arc::new(schema.field(index).clone().with_name(name)),
        None => Arc::new(Field::new(name, DataType::Utf8, true)),
    };
    let mut fields = Vec::new();
    for written in &columns.written {
        match written {
            Written::Input => fields.extend((0..columns.width).map(|index| {
                let name = columns
                    .header
                    .as_ref()
                    .map_or_else(|| (index + 1).to_string(), |names| names[index].clone());
                match table {
                    Some(schema) => Arc::clone(&schema.fields()[index]),
                    None => field(index, &name),
                }
            })),
            Written::Field(index, name) => fields.push(field(*index, name)),
            Written::Answer(answer, _, name) => {
                fields.push(Arc::new(Field::new(name, data_type(*answer), true)));
            }
            Written::List(..) => {}
        }
    }
    let metadata = table.map(|schema| schema.metadata().clone()).unwrap_or_default();
    Arc::new(Schema::new_with_metadata(Fields::from(fields), metadata))
}

/// Rows of text that become a batch of a table.
#[derive(Default)]
pub(crate) struct BatchSink {
    columns: Vec<SinkColumn>,
    rows: usize,
    /// Whether a row is being added. If that is so afterwards, columns have different lengths.
    is_adding: bool,
}

enum SinkColumn {
    Text(usize, StringBuilder),
    Answer(usize, AnswerColumn),
}

impl BatchSink {
    /// The batch, and nothing in its place.
    pub(crate) fn finish(&mut self, schema: &SchemaRef) -> Result<RecordBatch, TableError> {
        if self.is_adding {
            return Err(TableError::new("an internal error in mayi; please report it"));
        }
        self.rows = 0;
        let arrays = self.columns.iter_mut().map(|column| match column {
            SinkColumn::Text(_, texts) => Arc::new(texts.finish()) as ArrayRef,
            SinkColumn::Answer(_, answers) => answers.finish(),
        });
        RecordBatch::try_new(Arc::clone(schema), arrays.collect()).map_err(TableError::new)
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    fn start(&mut self, columns: &Columns) {
        let text = |index| SinkColumn::Text(index, StringBuilder::new());
        for written in &columns.written {
            match written {
                Written::Input => self.columns.extend((0..columns.width).map(text)),
                Written::Field(index, _) => self.columns.push(text(*index)),
                Written::Answer(answer, crawler, _) => {
                    self.columns
                        .push(SinkColumn::Answer(*crawler, AnswerColumn::new(*answer, *crawler)));
                }
                Written::List(..) => {}
            }
        }
    }
}

impl RowSink for BatchSink {
    fn push_row(&mut self, columns: &Columns, row: &Row<'_>, answers: &[Answered<'_>]) {
        if self.columns.is_empty() {
            self.start(columns);
        }
        if self.is_adding {
            return;
        }
        self.is_adding = true;
        for column in &mut self.columns {
            match column {
                SinkColumn::Text(index, texts) if row.has(*index) => {
                    texts.append_value(String::from_utf8_lossy(&row.octets(*index)));
                }
                SinkColumn::Text(_, texts) => texts.append_null(),
                SinkColumn::Answer(crawler, column) => {
                    let answered = answers.get(*crawler).unwrap_or(&answers[0]);
                    let decided = answered.outcome.as_ref().map_err(|error| *error);
                    let uses = decided.ok().filter(|_| columns.has_uses()).and_then(|decided| {
                        asking::use_answers(decided.uses, &decided.decision, decided.target)
                    });
                    column.push(&kernel::Answered {
                        url: answered.url,
                        crawler: answered.crawler,
                        decision: decided.map(|decided| &decided.decision),
                        uses,
                    });
                }
            }
        }
        self.rows += 1;
        self.is_adding = false;
    }

    fn mark(&self) -> usize {
        self.rows
    }

    /// A row that was added in part can't be removed; the end of the batch reports it.
    fn undo(&mut self, _: usize) {}
}

//! Messages from quad rows.
//!
//! - In: record batches with `message`, `subject`, `predicate` and `object` columns, and optional
//!   `source` and `graph` columns.
//! - Out: batches. Consecutive rows with the same source and message form a message.
//! - Cost: the same as for message rows. Memory use is bounded by one record batch, one batch and,
//!   unless messages are returned in parts, the current message.
//! - Law: messages before an error are returned first, and later calls return the same error. The
//!   division of rows into record batches does not affect the result.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, Int64Array, RecordBatch};
use arrow_schema::{ArrowError, DataType};
use rdfm_core::formats::nquads::CellReader;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::builder::{BatchBuilder, LogBuilder};
use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::limits::Limits;

use super::lists::InputQuads;
use super::strings::Strings;
use crate::error::Error;
use crate::schema::{self, QuadColumn};

/// The columns of a record batch.
struct QuadRowColumns {
    rows: usize,
    sources: Option<Strings>,
    message_indexes: Int64Array,
    quads: InputQuads,
}

impl QuadRowColumns {
    fn new(batch: &RecordBatch) -> Result<Self, Error> {
        let missing =
            |name: &str| schema::missing_column_error(&format!("'{name}'"), &batch.schema());
        let source = QuadColumn::Source.name();
        let sources = batch.column_by_name(source);
        let sources = sources
            .map(|array| Strings::new(array, source))
            .transpose()?;
        let name = QuadColumn::MessageIndex.name();
        let indexes = batch.column_by_name(name).ok_or_else(|| missing(name))?;
        let message_indexes = integers(indexes).ok_or_else(|| {
            Error::wrong_columns(format!(
                "column {name}: expected integers, found {}",
                indexes.data_type()
            ))
        })?;
        let quads = InputQuads::from_columns(|name| batch.column_by_name(name))?;
        Ok(Self {
            rows: batch.num_rows(),
            sources,
            message_indexes,
            quads: quads.ok_or_else(|| missing("subject', 'predicate' or 'object"))?,
        })
    }

    fn source(&self, row: usize) -> Option<&[u8]> {
        self.sources.as_ref().and_then(|sources| sources.get(row))
    }
}

/// Converts an integer array to 64-bit integers. Values that do not fit become null.
fn integers(array: &dyn Array) -> Option<Int64Array> {
    fn widen<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &dyn Array) -> Int64Array {
        array.as_primitive::<T>().unary(Into::into)
    }
    Some(match array.data_type() {
        DataType::Int8 => widen::<Int8Type>(array),
        DataType::Int16 => widen::<Int16Type>(array),
        DataType::Int32 => widen::<Int32Type>(array),
        DataType::Int64 => array.as_primitive::<Int64Type>().clone(),
        DataType::UInt8 => widen::<UInt8Type>(array),
        DataType::UInt16 => widen::<UInt16Type>(array),
        DataType::UInt32 => widen::<UInt32Type>(array),
        DataType::UInt64 => {
            let array = array.as_primitive::<UInt64Type>();
            array.unary_opt(|value| i64::try_from(value).ok())
        }
        _ => return None,
    })
}

/// Converts quad rows to batches.
pub struct QuadReader {
    builder: BatchBuilder,
    cells: CellReader,
    /// Whether large messages are returned in parts.
    parts: bool,
    /// Whether all rows become one batch, which is returned at the end.
    whole: bool,
    ended: bool,
    /// The current record batch and its next row.
    open: Option<(QuadRowColumns, usize)>,
    /// Source, number and quad count of the current message.
    source: Option<Vec<u8>>,
    message: i64,
    quads: u64,
    failed: Option<Error>,
}

impl QuadReader {
    /// Creates a reader that numbers messages from `first_message_index` and limits the nesting of
    /// triple terms and the decoded size of a message. If `parts` is true, a message can be
    /// returned in parts, and the size limit applies to each part.
    pub fn new(
        first_message_index: u64,
        max_depth: u32,
        max_message_bytes: u64,
        parts: bool,
    ) -> Self {
        let limits = Limits {
            max_message_bytes,
            max_depth,
            ..Limits::default()
        };
        Self::with(
            BatchBuilder::new(limits),
            first_message_index,
            max_depth,
            parts,
        )
    }

    /// Creates a reader for messages that are already in memory.
    pub fn within_2_gib(first_message_index: u64, max_depth: u32) -> Self {
        Self::with(
            LogBuilder::within_2_gib(),
            first_message_index,
            max_depth,
            false,
        )
    }

    fn with(
        mut builder: BatchBuilder,
        first_message_index: u64,
        max_depth: u32,
        parts: bool,
    ) -> Self {
        builder.start_at(first_message_index);
        Self {
            builder,
            cells: CellReader::new(max_depth),
            parts,
            whole: false,
            ended: false,
            open: None,
            source: None,
            message: 0,
            quads: 0,
            failed: None,
        }
    }

    /// Reads all rows into one batch.
    ///
    /// # Errors
    /// If a row is invalid, a column is missing or has the wrong type, or the rows exceed the
    /// maximum size of a batch.
    pub fn read_batch(
        rows: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
        max_depth: u32,
    ) -> Result<MessageBatch, Error> {
        let mut reader = Self::within_2_gib(0, max_depth);
        reader.whole = true;
        for batch in rows {
            let batch = batch.map_err(|error| reader.read_error(&error))?;
            reader.feed(&batch)?;
            reader.next_batch()?;
            if let Some(error) = reader.failed {
                return Err(error);
            }
        }
        reader.finish();
        Ok(reader.next_batch()?.unwrap_or_else(MessageBatch::empty))
    }

    /// Adds the next rows, after [`next_batch`](Self::next_batch) has returned `None`.
    ///
    /// # Errors
    /// If a column is missing or has the wrong type, or earlier rows have not been read yet.
    pub fn feed(&mut self, rows: &RecordBatch) -> Result<(), Error> {
        if self.open.is_some() {
            let reason = "rows were added before the previous rows were read";
            return Err(Error::with_class(ErrorClass::Internal, reason));
        }
        self.open = Some((QuadRowColumns::new(rows)?, 0));
        Ok(())
    }

    /// Returns the error for rows that cannot be read.
    pub fn read_error(&self, error: &ArrowError) -> Error {
        let reason = format!("malformed Arrow data: {error}");
        Error::in_row(self.builder.message_index(), ErrorClass::Malformed, reason)
    }

    /// Marks the end of the rows.
    pub const fn finish(&mut self) {
        self.ended = true;
    }

    /// Whether the end of the rows has been marked.
    pub const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Returns the index of the next row in the current record batch.
    pub fn row(&self) -> Option<usize> {
        self.open.as_ref().map(|(_, row)| *row)
    }

    /// Returns the next batch. `None` means that more rows are needed or, after
    /// [`finish`](Self::finish), that there are no more batches.
    ///
    /// # Errors
    /// If a row is invalid. The error is returned after the messages before that row, and again on
    /// later calls.
    pub fn next_batch(&mut self) -> Result<Option<MessageBatch>, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.fill().or_else(|error| {
            self.builder.discard_message();
            self.failed = Some(error.clone());
            self.builder.take().map(Some).ok_or(error)
        })
    }

    fn fill(&mut self) -> Result<Option<MessageBatch>, Error> {
        if let Some((columns, row)) = &mut self.open {
            while *row < columns.rows {
                let position = *row;
                if columns.message_indexes.is_null(position) {
                    let index = self.builder.message_index();
                    let reason = "column message: expected a message number, found null";
                    return Err(Error::in_row(index, ErrorClass::Malformed, reason));
                }
                if let Some(reason) = columns
                    .sources
                    .as_ref()
                    .and_then(|texts| texts.invalid_reason(position))
                {
                    let index = self.builder.message_index();
                    let reason = format!("source: {reason}");
                    return Err(Error::in_row(index, ErrorClass::Malformed, reason));
                }
                let (source, message) = (
                    columns.source(position),
                    columns.message_indexes.value(position),
                );
                let same = self.builder.is_open()
                    && message == self.message
                    && source == self.source.as_deref();
                if !same {
                    if self.builder.is_open() {
                        self.builder.end_message();
                        self.builder.check_2_gib()?;
                        if !self.whole && self.builder.is_full() {
                            return Ok(self.builder.take());
                        }
                    }
                    self.builder.begin_message(None);
                    self.message = message;
                    self.quads = 0;
                    if source != self.source.as_deref() {
                        self.source = source.map(<[u8]>::to_vec);
                    }
                }
                let quad = columns
                    .quads
                    .add_quad(position, &mut self.builder, &mut self.cells);
                let quad = quad.map_err(|error| {
                    let index = self.builder.message_index();
                    if self.builder.is_too_large() {
                        return Error::in_row(index, error.class, error.reason);
                    }
                    let number = self.quads;
                    let reason = error.reason.with_rewording(|text| match error.part {
                        Some(part) => format!("quad {number}, {part}: {text}"),
                        None => format!("quad {number} {text}"),
                    });
                    Error::in_row(index, error.class, reason)
                })?;
                *row += 1;
                self.quads += 1;
                self.builder.push_quad(quad);
                if self.parts && self.builder.is_part_full() {
                    return Ok(Some(self.builder.take_part()));
                }
            }
            self.open = None;
        }
        if !self.ended {
            return Ok(None);
        }
        if self.builder.is_open() {
            self.builder.end_message();
            self.builder.check_2_gib()?;
        }
        Ok(self.builder.take())
    }
}

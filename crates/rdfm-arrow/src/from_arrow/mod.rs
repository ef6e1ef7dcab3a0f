//! Batches from Arrow rows that [`to_arrow`](crate::to_arrow) or another tool has created.
//!
//! - In: record batches with one row per message or patch, or one row per quad ([`QuadReader`]).
//!   Strings may be utf8, `large_utf8`, `string_view` or dictionaries, terms may be structs, lists
//!   may be large, and fields may be in any order. A null or missing graph is the default graph.
//!   A null list of quads or operations is read as an empty list. Other columns are ignored.
//! - Out: the messages, in one batch ([`read_batch`]) or in batches of the same size as a decoder's
//!   ([`RowReader`]).
//! - Cost: usually one comparison for a recurring term; other terms are parsed. Memory use is
//!   bounded by one record batch plus one batch.
//! - Law: rows before an error are returned first, and later calls return the same error.

mod columns;
pub(crate) mod lists;
mod maps;
pub(crate) mod messages;
mod parts;
mod quads;
pub(crate) mod strings;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use rdfm_core::model::batch::LogBatch;

use self::columns::MessageColumns;
pub use self::lists::InputListRecord;
use self::messages::MessagesBuilder;
pub use self::quads::QuadReader;
use crate::error::Error;

/// Reads all rows into one batch.
///
/// # Errors
/// If a row is invalid, a column is missing or has the wrong type, or the rows exceed the maximum
/// size of a batch.
pub fn read_batch<R: InputListRecord>(
    rows: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    max_depth: u32,
) -> Result<LogBatch<R>, Error> {
    let mut rows = RowReader::new(rows, 0, max_depth);
    rows.whole = true;
    let batch = rows.next_batch()?;
    // If a row is invalid, the first call returns the rows before it, and this call the error.
    rows.next_batch()?;
    Ok(batch.unwrap_or_else(LogBatch::empty))
}

/// Converts Arrow rows to batches.
pub struct RowReader<I, R: InputListRecord> {
    reader: I,
    /// The current record batch and its next row.
    open: Option<(MessageColumns<R>, usize)>,
    /// Whether all rows become one batch.
    whole: bool,
    messages: MessagesBuilder<R>,
    failed: Option<Error>,
}

impl<I: Iterator<Item = Result<RecordBatch, ArrowError>>, R: InputListRecord> RowReader<I, R> {
    /// Creates a reader that numbers messages from `first_message_index` and limits the nesting of
    /// triple terms.
    pub fn new(reader: I, first_message_index: u64, max_depth: u32) -> Self {
        Self {
            reader,
            open: None,
            whole: false,
            messages: MessagesBuilder::new(first_message_index, max_depth),
            failed: None,
        }
    }

    /// Creates a reader of messages of at most `max_message_bytes` decoded bytes each.
    pub fn with_limit(
        reader: I,
        first_message_index: u64,
        max_depth: u32,
        max_message_bytes: u64,
    ) -> Self {
        Self {
            messages: MessagesBuilder::with_limit(
                first_message_index,
                max_depth,
                max_message_bytes,
            ),
            ..Self::new(reader, first_message_index, max_depth)
        }
    }

    /// Returns the next batch, or `None` if there are no more rows.
    ///
    /// # Errors
    /// If a row is invalid. The error is returned after the messages of all rows before it, and
    /// again on later calls.
    pub fn next_batch(&mut self) -> Result<Option<LogBatch<R>>, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.fill().or_else(|error| {
            self.failed = Some(error.clone());
            self.messages.take().map(Some).ok_or(error)
        })
    }

    fn fill(&mut self) -> Result<Option<LogBatch<R>>, Error> {
        loop {
            let Some((columns, row)) = &mut self.open else {
                match self.reader.next() {
                    Some(batch) => {
                        let batch = batch.map_err(|error| self.messages.read_error(&error))?;
                        self.open = Some((MessageColumns::new(&batch)?, 0));
                    }
                    None => return Ok(self.messages.take()),
                }
                continue;
            };
            while *row < columns.rows {
                let index = *row;
                *row += 1;
                self.messages.add(&columns.records, index, |builder| {
                    columns.add_extras(index, builder)
                })?;
                if !self.whole && self.messages.is_full() {
                    return Ok(self.messages.take());
                }
            }
            self.open = None;
        }
    }
}

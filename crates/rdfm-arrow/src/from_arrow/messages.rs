//! Messages from rows with record lists.
//!
//! - In: list columns, row by row. Out: batches of messages.
//! - Cost: usually one comparison for a recurring term. Other terms are parsed.
//! - Law: an invalid row adds nothing. The messages before it are kept.

use arrow_schema::ArrowError;
use rdfm_core::formats::nquads::CellReader;
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::builder::LogBuilder;
use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::limits::Limits;

use super::lists::{InputListRecord, InputLists};
use crate::error::Error;

/// Builds messages from rows with record lists.
pub struct MessagesBuilder<R: InputListRecord> {
    builder: LogBuilder<R>,
    cells: CellReader,
}

impl<R: InputListRecord> MessagesBuilder<R> {
    /// Creates a builder that numbers messages from `first_message_index`.
    pub fn new(first_message_index: u64, max_depth: u32) -> Self {
        Self::with(LogBuilder::within_2_gib(), first_message_index, max_depth)
    }

    /// Creates a builder for messages of at most `max_message_bytes` decoded bytes each.
    pub fn with_limit(first_message_index: u64, max_depth: u32, max_message_bytes: u64) -> Self {
        let limits = Limits {
            max_message_bytes,
            max_depth,
            ..Limits::default()
        };
        Self::with(LogBuilder::new(limits), first_message_index, max_depth)
    }

    fn with(mut builder: LogBuilder<R>, first_message_index: u64, max_depth: u32) -> Self {
        builder.start_at(first_message_index);
        Self {
            builder,
            cells: CellReader::new(max_depth),
        }
    }

    /// Adds a row as a message. `extras` adds the other columns.
    pub fn add(
        &mut self,
        lists: &InputLists<R>,
        row: usize,
        extras: impl FnOnce(&mut LogBuilder<R>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.builder.begin_message(None);
        let result = self
            .add_records(lists, row)
            .and_then(|()| extras(&mut self.builder));
        if let Err(error) = result {
            self.builder.discard_message();
            return Err(error);
        }
        self.builder.end_message();
        Ok(self.builder.check_2_gib()?)
    }

    fn add_records(&mut self, lists: &InputLists<R>, row: usize) -> Result<(), Error> {
        let Some(range) = lists.range(row) else {
            let reason = format!(
                "malformed Arrow data: the offsets of a list in column {} are outside its array",
                R::COLUMN
            );
            let index = self.builder.message_index();
            return Err(Error::in_row(index, ErrorClass::Malformed, reason));
        };
        for (number, position) in range.enumerate() {
            let added = lists.add(position, &mut self.builder, &mut self.cells);
            added.map_err(|error| {
                if self.builder.is_too_large() {
                    let index = self.builder.message_index();
                    return Error::in_row(index, error.class, error.reason);
                }
                let record = R::RECORD;
                let reason = error.reason.with_rewording(|text| match error.part {
                    Some(part) => format!("{record} {number}, {part}: {text}"),
                    None => format!("{record} {number} {text}"),
                });
                Error::in_row(self.builder.message_index(), error.class, reason)
            })?;
        }
        Ok(())
    }

    /// Returns the error for rows that cannot be read, starting with the next message.
    pub fn read_error(&self, error: &ArrowError) -> Error {
        let reason = format!("malformed Arrow data: {error}");
        Error::in_row(self.builder.message_index(), ErrorClass::Malformed, reason)
    }

    /// Whether the batch has reached its maximum size.
    pub fn is_full(&mut self) -> bool {
        self.builder.is_full()
    }

    /// Returns the batch so far, if it contains a message.
    pub fn take(&mut self) -> Option<LogBatch<R>> {
        self.builder.take()
    }
}

//! Messages of rows of records.
//!
//! - In: columns of lists, row by row. Out: batches of messages.
//! - Cost: a comparison for a term that recurs, mostly; parsing of others.
//! - Law: a row that breaks the rules adds nothing, and the messages before it stay.

use rdfm_core::formats::nquads::CellReader;
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::builder::LogBuilder;

use super::lists::{Listed, Lists};
use crate::error::Error;

/// Messages of rows of records.
pub struct Messages<R: Listed> {
    builder: LogBuilder<R>,
    cells: CellReader,
}

impl<R: Listed> Messages<R> {
    /// Messages numbered from an index.
    pub fn new(first_index: u64, max_depth: u32) -> Self {
        let mut builder = LogBuilder::within_2_gib();
        builder.start_at(first_index);
        Self {
            builder,
            cells: CellReader::new(max_depth),
        }
    }

    /// Adds a row as a message; `extras` adds what else belongs to it.
    pub fn add(
        &mut self,
        lists: &Lists<R>,
        row: usize,
        extras: impl FnOnce(&mut LogBuilder<R>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.builder.begin_message(0);
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

    fn add_records(&mut self, lists: &Lists<R>, row: usize) -> Result<(), Error> {
        let range = lists.range(row);
        for (number, at) in range.enumerate() {
            let added = lists.add(at, &mut self.builder, &mut self.cells);
            added.map_err(|error| {
                let record = R::RECORD;
                let reason = error.reason.reworded(|text| match error.part {
                    Some(part) => format!("{record} {number}, {part}: {text}"),
                    None => format!("{record} {number} {text}"),
                });
                Error::in_row(self.builder.message_index(), error.class, reason)
            })?;
        }
        Ok(())
    }

    /// Whether a batch has reached its size.
    pub fn full(&mut self) -> bool {
        self.builder.full()
    }

    /// The batch so far, if it holds a message.
    pub fn take(&mut self) -> Option<LogBatch<R>> {
        self.builder.take()
    }
}

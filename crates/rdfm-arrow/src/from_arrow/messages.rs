//! Messages of rows of quads.
//!
//! - In: columns of quads, row by row. Out: batches of messages.
//! - Cost: a comparison for a term that recurs, mostly; parsing of others.
//! - Law: a row that breaks the rules adds nothing, and the messages before it stay.

use rdfm_core::formats::nquads::{CellError, CellReader};
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::builder::BatchBuilder;
use rdfm_core::model::error::ErrorClass;

use super::quads::{PARTS, Quads};
use crate::error::Error;

/// Messages of rows of quads.
pub struct Messages {
    builder: BatchBuilder,
    cells: CellReader,
}

impl Messages {
    /// Messages numbered from an index.
    pub fn new(first_index: u64, max_depth: u32) -> Self {
        let mut builder = BatchBuilder::within_2_gib();
        builder.start_at(first_index);
        Self {
            builder,
            cells: CellReader::new(max_depth),
        }
    }

    /// Adds a row as a message; `extras` adds what else belongs to it.
    pub fn add(
        &mut self,
        quads: &Quads,
        row: usize,
        extras: impl FnOnce(&mut BatchBuilder) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.builder.begin_message(0);
        let result = self
            .add_quads(quads, row)
            .and_then(|()| extras(&mut self.builder));
        if let Err(error) = result {
            self.builder.discard_message();
            return Err(error);
        }
        self.builder.end_message();
        Ok(self.builder.check_2_gib()?)
    }

    fn add_quads(&mut self, quads: &Quads, row: usize) -> Result<(), Error> {
        let range = quads.range(row);
        for (number, at) in range.enumerate() {
            if quads.is_null_quad(at) {
                let reason = format!("quad {number} is a null quad");
                let row = self.builder.message_index();
                return Err(Error::in_row(row, ErrorClass::Malformed, reason));
            }
            let added = match quads.cells(at) {
                Ok((cells, graph)) => self.cells.quad(&mut self.builder, cells, graph),
                Err(part) => Err(CellError {
                    part,
                    class: ErrorClass::Malformed,
                    reason: "expected a term, found null".into(),
                }),
            };
            added.map_err(|error| {
                let part = PARTS[error.part];
                let reason = error
                    .reason
                    .reworded(|text| format!("quad {number}, {part}: {text}"));
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
    pub fn take(&mut self) -> Option<MessageBatch> {
        self.builder.take()
    }
}

//! Batches of Arrow rows, as [`to_arrow`](crate::to_arrow) makes them and other tools return them.
//!
//! - In: record batches, a row a message or patch; or a row a quad ([`QuadReader`]). Strings may be utf8, `large_utf8`,
//!   `string_view` or dictionaries, terms structs, lists may be large, fields stand in any order; null or missing graph
//!   is the default graph, null quads or operations are none. Other columns are not looked at.
//! - Out: a message a row, all in one batch ([`batch`]) or in batches of a decoder's size ([`RowReader`]).
//! - Cost: a comparison for a term that recurs, mostly; parsing of others. Memory holds a record batch and a
//!   batch.
//! - Law: rows before an error come first, and the error comes again.

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

use self::columns::Columns;
pub use self::lists::Listed;
use self::messages::Messages;
pub use self::quads::QuadReader;
use crate::error::Error;

/// One batch of all rows.
///
/// # Errors
/// A row breaks the rules, the columns are not those of rows, or they hold more than a batch may.
pub fn batch<R: Listed>(
    rows: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    max_depth: u32,
) -> Result<LogBatch<R>, Error> {
    let mut rows = RowReader::new(rows, 0, max_depth);
    rows.whole = true;
    let batch = rows.next_batch()?;
    // An error comes after the rows before it.
    rows.next_batch()?;
    Ok(batch.unwrap_or_else(LogBatch::empty))
}

/// Arrow rows on their way into batches.
pub struct RowReader<I, R: Listed> {
    reader: I,
    /// The record batch that is being read, and its next row.
    open: Option<(Columns<R>, usize)>,
    /// Make one batch of all rows.
    whole: bool,
    messages: Messages<R>,
    failed: Option<Error>,
}

impl<I: Iterator<Item = Result<RecordBatch, ArrowError>>, R: Listed> RowReader<I, R> {
    /// Messages numbered from an index, whose triple terms may nest so deep.
    pub fn new(reader: I, first_index: u64, max_depth: u32) -> Self {
        Self {
            reader,
            open: None,
            whole: false,
            messages: Messages::new(first_index, max_depth),
            failed: None,
        }
    }

    /// Messages of at most so many decoded bytes each.
    pub fn within(reader: I, first_index: u64, max_depth: u32, max_message_bytes: u64) -> Self {
        Self {
            messages: Messages::within(first_index, max_depth, max_message_bytes),
            ..Self::new(reader, first_index, max_depth)
        }
    }

    /// The next batch, or None when there are no more rows.
    ///
    /// # Errors
    /// After the messages of all rows before the one that breaks the rules; the same error again on later
    /// calls.
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
                        let batch = batch.map_err(|error| self.messages.broken(&error))?;
                        self.open = Some((Columns::new(&batch)?, 0));
                    }
                    None => return Ok(self.messages.take()),
                }
                continue;
            };
            while *row < columns.rows {
                let at = *row;
                *row += 1;
                self.messages
                    .add(&columns.records, at, |builder| columns.extras(at, builder))?;
                if !self.whole && self.messages.full() {
                    return Ok(self.messages.take());
                }
            }
            self.open = None;
        }
    }
}

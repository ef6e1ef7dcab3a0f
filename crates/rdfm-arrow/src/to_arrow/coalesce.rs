//! Rows regrouped into record batches of even size.
//!
//! - In: batches of any size. Out: record batches that have `max_rows` rows or pass `max_bytes` bytes of strings
//!   with their last row; the last one has less.
//! - Cost: memory holds one record batch under construction.
//! - Law: rows come in order, each once, however the messages were cut into batches.

use arrow_array::RecordBatch;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::syntax::needed::Needs;

use super::TOO_LARGE;
use super::limit::{MAX_BYTES, MakeError};
use super::quads::Places;
use super::rows::Rows;
use crate::error::Error;
use crate::schema::Column;

/// Regroups rows into record batches of even size.
pub struct Coalescer {
    columns: Vec<Column>,
    max_rows: usize,
    max_bytes: usize,
    rows: Rows,
    /// The namespaces in force behind the last row.
    needs: Needs,
}

impl Coalescer {
    /// No rows yet.
    ///
    /// # Errors
    /// A bound is 0; the text says so.
    pub fn new(columns: Vec<Column>, max_rows: usize, max_bytes: usize) -> Result<Self, String> {
        if max_rows == 0 || max_bytes == 0 {
            return Err("max_rows and max_bytes are at least 1".to_owned());
        }
        Ok(Self {
            rows: Rows::new(&columns),
            needs: Needs::default(),
            columns,
            max_rows: max_rows.min(i32::MAX as usize),
            max_bytes: max_bytes.min(MAX_BYTES),
        })
    }

    /// Takes a batch's messages; gives the record batches that are complete.
    ///
    /// # Errors
    /// The strings of one message pass 2 GiB.
    pub fn push(
        &mut self,
        batch: &MessageBatch,
        source: Option<&str>,
    ) -> Result<Vec<RecordBatch>, Error> {
        self.fill(batch, source)
            .map_err(|error| error.told(TOO_LARGE))
    }

    /// The rows that are left, or None.
    ///
    /// # Errors
    /// A bug.
    pub fn finish(&mut self) -> Result<Option<RecordBatch>, Error> {
        let rows = self.take();
        if rows.count() == 0 {
            return Ok(None);
        }
        let rows = rows.finish();
        rows.map(Some).map_err(|error| error.told(TOO_LARGE))
    }

    /// Drops the rows so far.
    pub fn clear(&mut self) {
        self.take();
    }

    fn take(&mut self) -> Rows {
        self.needs = Needs::default();
        std::mem::replace(&mut self.rows, Rows::new(&self.columns))
    }

    fn fill(
        &mut self,
        batch: &MessageBatch,
        source: Option<&str>,
    ) -> Result<Vec<RecordBatch>, MakeError> {
        let Self { rows, needs, .. } = self;
        let mut complete = Vec::new();
        let mut places = Places::new(batch.table());
        rows.begin_batch(batch, needs);
        for message in 0..batch.len() {
            let mut before = rows.mark();
            let mut result = rows.add(batch, message, source, &mut places, needs);
            if result.is_err() && before.count() > 0 {
                rows.truncate(&before);
                complete.push(rows.cut(&mut places)?);
                before = rows.mark();
                result = rows.add(batch, message, source, &mut places, needs);
            }
            if let Err(error) = result {
                rows.truncate(&before);
                return Err(error);
            }
            if rows.count() >= self.max_rows || rows.bytes() >= self.max_bytes {
                complete.push(rows.cut(&mut places)?);
            }
        }
        Ok(complete)
    }
}

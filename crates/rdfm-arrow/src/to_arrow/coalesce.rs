//! Rows collected in record batches of similar size.
//!
//! - In: batches of any size. Out: record batches that end after `max_rows` rows or with the row
//!   that exceeds `max_bytes` bytes of strings. The last one may be smaller.
//! - Cost: memory use is bounded by one record batch under construction.
//! - Law: each row appears once and in order, regardless of how the messages were divided into
//!   batches.

use arrow_array::RecordBatch;
use rdfm_core::codec::batch::BatchRef;
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::record::Operation;
use rdfm_core::model::term::{Quad, TermId};
use rdfm_core::syntax::needed::NeededNamespaces;

use super::cells::RowRecord;
use super::limit::{BuildError, MAX_BYTES};
use super::rows::RowBuilder;
use super::terms::RenderedTerms;
use super::{TOO_LARGE, check_variables, wrong_kind_error};
use crate::error::Error;
use crate::schema::Layout;

/// A coalescer for any kind of log.
pub trait Coalesce: Send {
    /// Adds the messages of a batch and returns the completed record batches.
    ///
    /// # Errors
    /// If [`Coalescer::push`] fails, or the batch is of another kind.
    fn push_any(
        &mut self,
        batch: BatchRef<'_>,
        source: Option<&str>,
    ) -> Result<Vec<RecordBatch>, Error>;

    /// Returns the remaining rows, or `None` if there are none.
    ///
    /// # Errors
    /// Only in case of a bug.
    fn finish(&mut self) -> Result<Option<RecordBatch>, Error>;

    /// Drops the rows so far.
    fn clear(&mut self);

    /// Returns counts of the data that the rows so far omit.
    fn dropped_counts(&self) -> Dropped {
        Dropped::default()
    }
}

/// Counts of data that quad rows cannot represent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Messages without quads.
    pub empty_messages: u64,
    /// Metadata entries.
    pub metadata: u64,
    /// Messages whose rows follow those of another message with the same source and index, so that
    /// the two messages cannot be distinguished.
    pub merged: u64,
}

impl<R: RowRecord> Coalesce for Coalescer<R> {
    fn push_any(
        &mut self,
        batch: BatchRef<'_>,
        source: Option<&str>,
    ) -> Result<Vec<RecordBatch>, Error> {
        let kind = batch.kind();
        let batch = R::from_ref(batch).ok_or_else(|| wrong_kind_error(R::KIND, kind))?;
        self.push(batch, source)
    }

    fn finish(&mut self) -> Result<Option<RecordBatch>, Error> {
        Self::finish(self)
    }

    fn clear(&mut self) {
        Self::clear(self);
    }
}

/// Creates a coalescer for a kind of log.
///
/// # Errors
/// If a bound is 0.
pub fn new_coalescer<L: Into<Layout>>(
    kind: Kind,
    layout: L,
    max_rows: usize,
    max_bytes: usize,
) -> Result<Box<dyn Coalesce>, String> {
    Ok(match kind {
        Kind::Messages => Box::new(Coalescer::<Quad>::new(layout, max_rows, max_bytes)?),
        Kind::Patches => Box::new(Coalescer::<Operation>::new(layout, max_rows, max_bytes)?),
        Kind::Results => Box::new(Coalescer::<TermId>::new(layout, max_rows, max_bytes)?),
    })
}

/// Checks the bounds of record batches, and lowers them to the limits of Arrow.
///
/// # Errors
/// If a bound is 0.
pub fn check_bounds(max_rows: usize, max_bytes: usize) -> Result<(usize, usize), String> {
    if max_rows == 0 || max_bytes == 0 {
        return Err("max_rows and max_bytes must be at least 1".to_owned());
    }
    Ok((max_rows.min(i32::MAX as usize), max_bytes.min(MAX_BYTES)))
}

/// Collects rows in record batches of similar size.
pub struct Coalescer<R: RowRecord> {
    layout: Layout,
    max_rows: usize,
    max_bytes: usize,
    /// `None` before the first batch, whose head determines the result columns.
    rows: Option<RowBuilder<R>>,
    /// Namespaces in scope after the last row.
    needs: NeededNamespaces,
}

impl<R: RowRecord> Coalescer<R> {
    /// Creates a coalescer without rows.
    ///
    /// # Errors
    /// If a bound is 0.
    pub fn new<L: Into<Layout>>(
        layout: L,
        max_rows: usize,
        max_bytes: usize,
    ) -> Result<Self, String> {
        let (max_rows, max_bytes) = check_bounds(max_rows, max_bytes)?;
        Ok(Self {
            rows: None,
            needs: NeededNamespaces::default(),
            layout: layout.into(),
            max_rows,
            max_bytes,
        })
    }

    /// Adds the messages of a batch and returns the completed record batches.
    ///
    /// # Errors
    /// If the strings of one message exceed 2 GiB, if rows cannot represent the results
    /// ([`RowRecord::check`]), or if the variables differ from those of earlier rows.
    pub fn push(
        &mut self,
        batch: &LogBatch<R>,
        source: Option<&str>,
    ) -> Result<Vec<RecordBatch>, Error> {
        check_variables(batch, self.begin_rows(batch).variables())?;
        self.fill(batch, source)
            .map_err(|error| error.into_error(TOO_LARGE))
    }

    /// Returns the remaining rows, or `None` if there are none.
    ///
    /// # Errors
    /// Only in case of a bug.
    pub fn finish(&mut self) -> Result<Option<RecordBatch>, Error> {
        self.needs = NeededNamespaces::default();
        let Some(rows) = self.rows.take() else {
            return Ok(None);
        };
        // Later rows will have the same columns.
        self.rows = Some(rows.empty());
        if rows.count() == 0 {
            return Ok(None);
        }
        let rows = rows.finish();
        rows.map(Some).map_err(|error| error.into_error(TOO_LARGE))
    }

    /// Drops the rows so far.
    pub fn clear(&mut self) {
        self.needs = NeededNamespaces::default();
        self.rows = None;
    }

    fn begin_rows(&mut self, batch: &LogBatch<R>) -> &mut RowBuilder<R> {
        let new = || RowBuilder::new(&self.layout, batch.head());
        self.rows.get_or_insert_with(new)
    }

    fn fill(
        &mut self,
        batch: &LogBatch<R>,
        source: Option<&str>,
    ) -> Result<Vec<RecordBatch>, BuildError> {
        let Self { rows, needs, .. } = self;
        let Some(rows) = rows else {
            return Ok(Vec::new());
        };
        let mut complete = Vec::new();
        let mut places = RenderedTerms::new(batch.table());
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

//! Builder of quad rows.
//!
//! - In: messages of batches, or parts of messages. Out: record batches of the requested columns,
//!   either of similar size ([`QuadCoalescer`]) or a single one with all quads
//!   ([`quad_record_batch`]).
//! - Cost: only the requested columns are built.
//! - Law: each quad appears once and in order, regardless of how the input was divided into
//!   batches. The default graph is null. Messages without quads, and metadata, cannot be
//!   represented in rows, so they are counted.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use rdfm_core::codec::batch::{BatchRef, LogRecord as _};
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::term::Quad;

use super::coalesce::{Coalesce, Dropped, check_bounds};
use super::limit::{BuildError, MAX_BYTES, charge};
use super::terms::{RenderedTerms, TermColumns};
use super::texts::{Texts, empty_like, nulls};
use super::{TOO_LARGE, wrong_kind_error};
use crate::error::Error;
use crate::schema::{QuadColumn, QuadLayout};

/// A builder of quad rows.
struct QuadRows {
    layout: QuadLayout,
    has_source: bool,
    /// The requested parts of a quad, by column.
    parts: Vec<usize>,
    count: usize,
    /// Total number of string bytes.
    bytes: usize,
    sources: Texts,
    source_valid: Vec<bool>,
    messages: Vec<i64>,
    terms: TermColumns,
}

impl QuadRows {
    fn new(layout: &QuadLayout) -> Self {
        let part = |part: &usize| layout.columns.contains(&QuadColumn::Part(*part));
        let parts: Vec<usize> = (0..4).filter(part).collect();
        Self {
            has_source: layout.columns.contains(&QuadColumn::Source),
            terms: TermColumns::new(parts.len(), layout.terms),
            parts,
            layout: layout.clone(),
            count: 0,
            bytes: 0,
            sources: Texts::new(),
            source_valid: Vec::new(),
            messages: Vec::new(),
        }
    }

    #[inline]
    fn add(
        &mut self,
        batch: &MessageBatch,
        quad: Quad,
        index: i64,
        source: Option<&str>,
        places: &mut RenderedTerms,
    ) -> Result<(), BuildError> {
        let parts = [quad.subject, quad.predicate, quad.object, quad.graph];
        for (column, &part) in self.parts.iter().enumerate() {
            let (table, id, bytes) = (batch.table(), parts[part], &mut self.bytes);
            if part == 3 {
                self.terms.add_optional(table, column, id, places, bytes)?;
            } else {
                self.terms.add(table, column, id, places, bytes)?;
            }
        }
        if self.has_source {
            let text = source.unwrap_or_default();
            charge(&mut self.bytes, text.len())?;
            self.sources.add(text.as_bytes());
            self.source_valid.push(source.is_some());
        }
        self.messages.push(index);
        self.count += 1;
        Ok(())
    }

    /// Restores an earlier number of rows and bytes. Positions of terms that were recorded in the removed rows
    /// must not be used; the next cut invalidates them.
    fn truncate(&mut self, count: usize, bytes: usize) {
        self.count = count;
        self.bytes = bytes;
        self.sources.truncate(count);
        self.source_valid.truncate(count);
        self.messages.truncate(count);
        self.terms.truncate(count);
    }

    /// Returns the rows and resets the builder.
    fn cut(&mut self, places: &mut RenderedTerms) -> Result<RecordBatch, BuildError> {
        places.invalidate();
        let mut next = Self::new(&self.layout);
        next.sources = self.sources.empty_like();
        next.source_valid = empty_like(&self.source_valid);
        next.messages = empty_like(&self.messages);
        next.terms = self.terms.empty_like();
        std::mem::replace(self, next).finish()
    }

    fn finish(self) -> Result<RecordBatch, BuildError> {
        let sources: ArrayRef = Arc::new(self.sources.into_strings(nulls(self.source_valid))?);
        let messages: ArrayRef = Arc::new(Int64Array::from(self.messages));
        let terms = self.terms.finish()?;
        let array = |column: &QuadColumn| match column {
            QuadColumn::Source => Arc::clone(&sources),
            QuadColumn::MessageIndex => Arc::clone(&messages),
            QuadColumn::Part(part) => {
                let column = self.parts.iter().position(|selected| selected == part);
                Arc::clone(&terms[column.unwrap_or_default()])
            }
        };
        let arrays = self.layout.columns.iter().map(array).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        let schema = self.layout.schema();
        Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
    }
}

/// Collects quads in record batches of similar size. Each one ends after `max_rows` rows or with
/// the row that exceeds `max_bytes` bytes of strings. The last one may be smaller.
pub struct QuadCoalescer {
    rows: QuadRows,
    max_rows: usize,
    max_bytes: usize,
    dropped: Dropped,
    /// Source and message index of the last row.
    last: Option<(Option<String>, i64)>,
}

impl QuadCoalescer {
    /// Creates a coalescer without rows.
    ///
    /// # Errors
    /// If a bound is 0.
    pub fn new(layout: &QuadLayout, max_rows: usize, max_bytes: usize) -> Result<Self, String> {
        let (max_rows, max_bytes) = check_bounds(max_rows, max_bytes)?;
        Ok(Self {
            rows: QuadRows::new(layout),
            max_rows,
            max_bytes,
            dropped: Dropped::default(),
            last: None,
        })
    }

    /// Adds the quads of a batch and returns the completed record batches.
    ///
    /// # Errors
    /// If the strings of one quad exceed 2 GiB.
    pub fn push(
        &mut self,
        batch: &MessageBatch,
        source: Option<&str>,
    ) -> Result<Vec<RecordBatch>, Error> {
        self.fill(batch, source)
            .map_err(|error| error.into_error(TOO_LARGE))
    }

    fn fill(
        &mut self,
        batch: &MessageBatch,
        source: Option<&str>,
    ) -> Result<Vec<RecordBatch>, BuildError> {
        let rows = &mut self.rows;
        let mut complete = Vec::new();
        let mut places = RenderedTerms::new(batch.table());
        // Indexes increase within a batch, so only its first quads can repeat the previous index.
        let mut seen = false;
        let mut last = None;
        for message in 0..batch.len() {
            self.dropped.metadata += batch.metadata(message).len() as u64;
            let quads = batch.message(message);
            let rest = message == 0 && batch.continued();
            let continues = message + 1 == batch.len() && batch.continues();
            if quads.is_empty() && !rest && !continues {
                self.dropped.empty_messages += 1;
            }
            let index = batch.message_index(message).cast_signed();
            if !quads.is_empty() {
                let same = |(last_source, before): &(Option<String>, i64)| {
                    last_source.as_deref() == source && *before == index
                };
                if !seen && !rest && self.last.as_ref().is_some_and(same) {
                    self.dropped.merged += 1;
                }
                seen = true;
                last = Some(index);
            }
            for quad in quads {
                let (count, bytes) = (rows.count, rows.bytes);
                let mut result = rows.add(batch, *quad, index, source, &mut places);
                if result.is_err() && count > 0 {
                    rows.truncate(count, bytes);
                    complete.push(rows.cut(&mut places)?);
                    result = rows.add(batch, *quad, index, source, &mut places);
                }
                result?;
                if rows.count >= self.max_rows || rows.bytes >= self.max_bytes {
                    complete.push(rows.cut(&mut places)?);
                }
            }
        }
        if let Some(index) = last {
            match &mut self.last {
                Some((last_source, before)) if last_source.as_deref() == source => *before = index,
                other => *other = Some((source.map(str::to_owned), index)),
            }
        }
        Ok(complete)
    }
}

impl Coalesce for QuadCoalescer {
    fn push_any(
        &mut self,
        batch: BatchRef<'_>,
        source: Option<&str>,
    ) -> Result<Vec<RecordBatch>, Error> {
        let kind = batch.kind();
        let batch = Quad::from_ref(batch).ok_or_else(|| wrong_kind_error(Kind::Messages, kind))?;
        self.push(batch, source)
    }

    fn finish(&mut self) -> Result<Option<RecordBatch>, Error> {
        let next = QuadRows::new(&self.rows.layout);
        let rows = std::mem::replace(&mut self.rows, next);
        if rows.count == 0 {
            return Ok(None);
        }
        let rows = rows.finish();
        rows.map(Some).map_err(|error| error.into_error(TOO_LARGE))
    }

    fn clear(&mut self) {
        self.rows = QuadRows::new(&self.rows.layout);
    }

    fn dropped_counts(&self) -> Dropped {
        self.dropped
    }
}

/// Converts the quads of several batches of a log to one record batch.
///
/// # Errors
/// If the strings would exceed 2 GiB.
pub fn quad_record_batch(
    batches: &[&MessageBatch],
    layout: &QuadLayout,
    source: Option<&str>,
) -> Result<RecordBatch, Error> {
    let mut coalescer = QuadCoalescer {
        rows: QuadRows::new(layout),
        max_rows: i32::MAX as usize,
        max_bytes: MAX_BYTES,
        dropped: Dropped::default(),
        last: None,
    };
    for batch in batches {
        if !coalescer.push(batch, source)?.is_empty() {
            return Err(BuildError::TooLarge.into_error(TOO_LARGE));
        }
    }
    let rows = coalescer.rows.finish();
    rows.map_err(|error| error.into_error(TOO_LARGE))
}

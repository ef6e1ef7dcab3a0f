//! Builder of rows with one message each.
//!
//! - In: messages of batches. Out: record batches of the requested columns.
//! - Law: all fields are nullable. `quads` and `operations` may be empty but are never null.
//!   `graph` is null for the default graph. `metadata` is null if the message has none.
//!   `namespaces` contains the namespaces that the message declares or uses. The strings of a
//!   record batch stay within [`MAX_BYTES`](super::limit::MAX_BYTES).

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow_schema::DataType;
use rdfm_core::model::batch::LogBatch;
use rdfm_core::syntax::needed::NeededNamespaces;

use super::cells::{RecordColumns as _, RowRecord};
use super::limit::{BuildError, charge};
use super::maps::OutputMaps;
use super::terms::RenderedTerms;
use super::texts::{Texts, nulls};
use crate::schema::{Column, Layout, schema};

/// A builder of rows.
pub struct RowBuilder<R: RowRecord> {
    layout: Layout,
    head: R::Head,
    count: usize,
    /// Total number of string bytes.
    bytes: usize,
    sources: Texts,
    source_valid: Vec<bool>,
    message_indexes: Vec<i64>,
    byte_offsets: Vec<Option<i64>>,
    records: R::Columns,
    metadata: OutputMaps,
    namespaces: OutputMaps,
}

/// A state of the builder that can be restored.
pub struct Mark {
    count: usize,
    bytes: usize,
    records: usize,
}

impl Mark {
    /// Returns the number of rows.
    pub const fn count(&self) -> usize {
        self.count
    }
}

impl<R: RowRecord> RowBuilder<R> {
    /// Creates a builder of the layout's columns for a log with this head.
    pub fn new(layout: &Layout, head: &R::Head) -> Self {
        Self {
            layout: layout.clone(),
            head: head.clone(),
            count: 0,
            bytes: 0,
            sources: Texts::new(),
            source_valid: Vec::new(),
            message_indexes: Vec::new(),
            byte_offsets: Vec::new(),
            records: R::Columns::new(head, layout.terms),
            metadata: OutputMaps::new(),
            namespaces: OutputMaps::new(),
        }
    }

    /// Creates an empty builder with the same columns.
    pub fn empty(&self) -> Self {
        Self::new(&self.layout, &self.head)
    }

    /// Returns the number of rows.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Returns the total number of string bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Starts a batch. Its messages can then be added.
    pub fn begin_batch(&self, batch: &LogBatch<R>, needs: &mut NeededNamespaces) {
        if self.has(Column::Namespaces) {
            needs.begin_batch(batch);
        }
    }

    fn has(&self, column: Column) -> bool {
        self.layout.columns.contains(&column)
    }

    fn has_records(&self) -> bool {
        self.layout.columns.iter().copied().any(has_records)
    }

    /// Returns the variables of the log.
    pub fn variables(&self) -> &[Box<str>] {
        R::variables(&self.head)
    }

    /// Adds a message as a row. After an error, the caller must truncate or drop the rows.
    pub fn add(
        &mut self,
        batch: &LogBatch<R>,
        message: usize,
        source: Option<&str>,
        places: &mut RenderedTerms,
        needs: &mut NeededNamespaces,
    ) -> Result<(), BuildError> {
        self.count += 1;
        let index = batch.message_index(message).cast_signed();
        self.message_indexes.push(index);
        if self.has(Column::ByteOffset) {
            let offset = batch.byte_offset(message).map(u64::cast_signed);
            self.byte_offsets.push(offset);
        }
        if self.has(Column::Source) {
            let text = source.unwrap_or_default();
            charge(&mut self.bytes, text.len())?;
            self.sources.add(text.as_bytes());
            self.source_valid.push(source.is_some());
        }
        if self.has(Column::Metadata) {
            let entries = batch.metadata(message);
            for entry in entries {
                charge(&mut self.bytes, entry.key.len() + entry.value.len())?;
                self.metadata.add(entry.key.as_bytes(), &entry.value);
            }
            self.metadata.end(!entries.is_empty());
        }
        if self.has(Column::Namespaces) {
            for (name, iri, _) in needs.find_needed(batch, message) {
                charge(&mut self.bytes, name.len() + iri.len())?;
                self.namespaces.add(name, iri);
            }
            self.namespaces.end(true);
        }
        if self.has_records() {
            let (table, records) = (batch.table(), batch.message(message));
            self.records.add(table, records, places, &mut self.bytes)?;
        }
        needs.leave();
        Ok(())
    }

    /// Returns a mark of the current state.
    pub fn mark(&self) -> Mark {
        Mark {
            count: self.count,
            bytes: self.bytes,
            records: self.records.records(),
        }
    }

    /// Restores a marked state. Positions of terms that were recorded after the mark must not be used; the next
    /// cut invalidates them.
    pub fn truncate(&mut self, mark: &Mark) {
        self.count = mark.count;
        self.bytes = mark.bytes;
        self.sources.truncate(mark.count);
        self.source_valid.truncate(mark.count);
        self.message_indexes.truncate(mark.count);
        self.byte_offsets.truncate(mark.count);
        self.records.truncate(mark.count, mark.records);
        self.metadata.truncate(mark.count);
        self.namespaces.truncate(mark.count);
    }

    /// Returns the rows and resets the builder.
    pub fn cut(&mut self, places: &mut RenderedTerms) -> Result<RecordBatch, BuildError> {
        places.invalidate();
        let mut next = self.empty();
        next.records = self.records.empty_like();
        std::mem::replace(self, next).finish()
    }

    /// Returns the record batch.
    pub fn finish(self) -> Result<RecordBatch, BuildError> {
        let mut sources = Some((self.sources, self.source_valid));
        let mut records = Some(self.records);
        let mut metadata = Some(self.metadata);
        let mut namespaces = Some(self.namespaces);
        let columns = &self.layout.columns;
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
        for (index, column) in columns.iter().enumerate() {
            // A column that is requested twice uses the same array. A layout with variable columns
            // has no other columns.
            if let Some(first) = columns[..index].iter().position(|other| other == column) {
                arrays.push(Arc::clone(&arrays[first]));
                continue;
            }
            let array: Option<ArrayRef> = match column {
                Column::Source => match sources.take() {
                    Some((texts, valid)) => Some(Arc::new(texts.into_strings(nulls(valid))?)),
                    None => None,
                },
                Column::MessageIndex => {
                    Some(Arc::new(Int64Array::from(self.message_indexes.clone())))
                }
                Column::ByteOffset => Some(Arc::new(Int64Array::from(self.byte_offsets.clone()))),
                Column::Quads | Column::Operations | Column::Variables => {
                    if let Some(records) = records.take() {
                        arrays.extend(records.finish()?);
                    }
                    None
                }
                Column::Metadata => match metadata.take() {
                    Some(maps) => Some(maps.finish(DataType::Binary)?),
                    None => None,
                },
                Column::Namespaces => match namespaces.take() {
                    Some(maps) => Some(maps.finish(DataType::Utf8)?),
                    None => None,
                },
            };
            arrays.extend(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        Ok(RecordBatch::try_new_with_options(
            schema(self.layout, R::variables(&self.head)),
            arrays,
            &options,
        )?)
    }
}

const fn has_records(column: Column) -> bool {
    matches!(
        column,
        Column::Quads | Column::Operations | Column::Variables
    )
}

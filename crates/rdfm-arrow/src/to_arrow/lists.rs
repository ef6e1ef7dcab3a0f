//! Builder of a column of quad or operation lists.
//!
//! - In: records of batches. Out: an array of lists of structs. Terms are canonical N-Triples or
//!   structs.
//! - Law: a list may be null or empty, but a record is never null. An absent term and the
//!   default graph are null.

#![allow(
    clippy::cast_possible_wrap,
    reason = "offsets are lengths within MAX_BYTES, checked before they are written"
)]

use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, Fields};
use rdfm_core::codec::batch::LogRecord;
use rdfm_core::model::record::{Operation, Record as _};
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermId};

use super::limit::{BuildError, charge};
use super::terms::{RenderedTerms, TermColumns};
use super::texts::{Texts, empty_like, nulls};
use crate::schema::{TermLayout, item_field, operation_fields, quad_fields};

/// A type of record that rows store in lists.
pub trait OutputListRecord: LogRecord {
    /// The builder of the structs.
    type Items: OutputItems<Self> + Send;

    /// Returns the fields of a struct.
    fn fields(terms: TermLayout) -> Fields;
}

/// A builder of structs, one per record.
pub trait OutputItems<R>: Sized {
    /// Creates an empty builder.
    fn new(terms: TermLayout) -> Self;

    /// Creates an empty builder with capacity for about the same number of structs.
    fn empty_like(&self) -> Self;

    /// Adds a record.
    fn add(
        &mut self,
        table: &TermTable,
        record: R,
        places: &mut RenderedTerms,
        bytes: &mut usize,
    ) -> Result<(), BuildError>;

    /// Returns the number of records.
    fn len(&self) -> usize;

    /// Keeps the first `count` records.
    fn truncate(&mut self, count: usize);

    /// Returns the arrays of the fields.
    fn finish(self) -> Result<Vec<ArrayRef>, ArrowError>;
}

/// A builder of a list column.
pub struct OutputLists<R: OutputListRecord> {
    items: R::Items,
    terms: TermLayout,
    ends: Vec<i32>,
}

impl<R: OutputListRecord> OutputLists<R> {
    pub fn new(terms: TermLayout) -> Self {
        Self {
            items: R::Items::new(terms),
            terms,
            ends: vec![0],
        }
    }

    /// Creates an empty column with capacity for about the same number of lists.
    pub fn empty_like(&self) -> Self {
        let mut ends = empty_like(&self.ends);
        ends.push(0);
        Self {
            items: self.items.empty_like(),
            terms: self.terms,
            ends,
        }
    }

    /// Adds a list, and adds the size of its strings to `bytes`, the total of the record batch.
    pub fn add(
        &mut self,
        table: &TermTable,
        records: &[R],
        places: &mut RenderedTerms,
        bytes: &mut usize,
    ) -> Result<(), BuildError> {
        for record in records {
            self.items.add(table, *record, places, bytes)?;
        }
        self.end();
        Ok(())
    }

    /// Ends a list. The list is empty if no record has been added to it.
    pub fn end(&mut self) {
        self.ends.push(self.items.len() as i32);
    }

    /// Returns the number of records.
    pub fn records(&self) -> usize {
        self.items.len()
    }

    /// Keeps the first `lists` lists, which contain `records` records.
    pub fn truncate(&mut self, lists: usize, records: usize) {
        self.items.truncate(records);
        self.ends.truncate(lists + 1);
    }

    /// Returns the array. `lists` specifies which lists are null.
    pub fn finish(self, lists: Option<NullBuffer>) -> Result<ListArray, ArrowError> {
        let fields = R::fields(self.terms);
        let items = StructArray::try_new(fields.clone(), self.items.finish()?, None)?;
        let ends = Texts::offsets(self.ends);
        ListArray::try_new(item_field(fields), ends, Arc::new(items), lists)
    }
}

/// A builder of quads.
pub struct OutputQuads {
    terms: TermColumns,
}

/// Index of the graph column.
const GRAPH: usize = 3;

impl OutputListRecord for Quad {
    type Items = OutputQuads;

    fn fields(terms: TermLayout) -> Fields {
        quad_fields(terms)
    }
}

impl OutputItems<Quad> for OutputQuads {
    fn new(terms: TermLayout) -> Self {
        Self {
            terms: TermColumns::new(4, terms),
        }
    }

    fn empty_like(&self) -> Self {
        Self {
            terms: self.terms.empty_like(),
        }
    }

    #[inline]
    fn add(
        &mut self,
        table: &TermTable,
        quad: Quad,
        places: &mut RenderedTerms,
        bytes: &mut usize,
    ) -> Result<(), BuildError> {
        let terms = &mut self.terms;
        terms.add(table, 0, quad.subject, places, bytes)?;
        terms.add(table, 1, quad.predicate, places, bytes)?;
        terms.add(table, 2, quad.object, places, bytes)?;
        terms.add_optional(table, GRAPH, quad.graph, places, bytes)
    }

    fn len(&self) -> usize {
        self.terms.len()
    }

    fn truncate(&mut self, count: usize) {
        self.terms.truncate(count);
    }

    fn finish(self) -> Result<Vec<ArrayRef>, ArrowError> {
        self.terms.finish()
    }
}

/// A builder of operations.
pub struct OutputOperations {
    codes: Texts,
    names: Texts,
    name_valid: Vec<bool>,
    terms: TermColumns,
}

impl OutputListRecord for Operation {
    type Items = OutputOperations;

    fn fields(terms: TermLayout) -> Fields {
        operation_fields(terms)
    }
}

impl OutputItems<Operation> for OutputOperations {
    fn new(terms: TermLayout) -> Self {
        Self {
            codes: Texts::new(),
            names: Texts::new(),
            name_valid: Vec::new(),
            terms: TermColumns::new(4, terms),
        }
    }

    fn empty_like(&self) -> Self {
        Self {
            codes: self.codes.empty_like(),
            names: self.names.empty_like(),
            name_valid: empty_like(&self.name_valid),
            terms: self.terms.empty_like(),
        }
    }

    fn add(
        &mut self,
        table: &TermTable,
        operation: Operation,
        places: &mut RenderedTerms,
        bytes: &mut usize,
    ) -> Result<(), BuildError> {
        let code = operation.code.name().as_bytes();
        // Names are plain text, not N-Triples.
        let name = table.text(operation.name);
        charge(bytes, Operation::BYTES + code.len() + name.len())?;
        self.codes.add(code);
        self.names.add(name);
        self.name_valid
            .push(operation.name != TermId::DEFAULT_GRAPH);
        let quad = operation.quad();
        let parts = [quad.subject, quad.predicate, quad.object, quad.graph];
        for (column, id) in parts.into_iter().enumerate() {
            self.terms.add_optional(table, column, id, places, bytes)?;
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.codes.len()
    }

    fn truncate(&mut self, count: usize) {
        self.codes.truncate(count);
        self.names.truncate(count);
        self.name_valid.truncate(count);
        self.terms.truncate(count);
    }

    fn finish(self) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut arrays: Vec<ArrayRef> = vec![
            Arc::new(self.codes.into_strings(None)?),
            Arc::new(self.names.into_strings(nulls(self.name_valid))?),
        ];
        arrays.extend(self.terms.finish()?);
        Ok(arrays)
    }
}

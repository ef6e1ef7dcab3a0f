//! A column of lists of records under construction: of quads, or of operations.
//!
//! - In: records of batches. Out: an array of lists of structs; terms are canonical N-Triples, or structs again.
//! - Law: a list may be null or empty, a record is never null; a position that it does not have is, as the default
//!   graph is.

#![allow(
    clippy::cast_possible_wrap,
    reason = "offsets are lengths within MAX_BYTES, checked before they are written"
)]

use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, Fields};
use rdfm_core::codec::batch::KindOf;
use rdfm_core::model::record::{Operation, Record as _};
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermId};

use super::limit::{MakeError, charge};
use super::terms::{Places, TermColumns};
use super::texts::{Texts, like, nulls};
use crate::schema::{Terms, item_field, operation_fields, quad_fields};

/// Records of which a row has a list.
pub trait Listed: KindOf {
    /// Structs under construction.
    type Items: Items<Self> + Send;

    /// The fields of a struct.
    fn fields(terms: Terms) -> Fields;
}

/// Structs under construction, one a record.
pub trait Items<R>: Sized {
    /// None yet.
    fn new(terms: Terms) -> Self;

    /// None yet, with room for about as many.
    fn like(&self) -> Self;

    /// Adds one.
    fn add(
        &mut self,
        table: &TermTable,
        record: R,
        places: &mut Places,
        bytes: &mut usize,
    ) -> Result<(), MakeError>;

    /// Their number.
    fn len(&self) -> usize;

    /// Keeps the first ones.
    fn truncate(&mut self, count: usize);

    /// The arrays of the fields.
    fn finish(self) -> Result<Vec<ArrayRef>, ArrowError>;
}

/// A column of lists under construction.
pub struct Lists<R: Listed> {
    items: R::Items,
    terms: Terms,
    ends: Vec<i32>,
}

impl<R: Listed> Lists<R> {
    pub fn new(terms: Terms) -> Self {
        Self {
            items: R::Items::new(terms),
            terms,
            ends: vec![0],
        }
    }

    /// An empty column with room for about as much.
    pub fn like(&self) -> Self {
        let mut ends = like(&self.ends);
        ends.push(0);
        Self {
            items: self.items.like(),
            terms: self.terms,
            ends,
        }
    }

    /// Adds a list. `bytes` counts the strings of the record batch.
    pub fn add(
        &mut self,
        table: &TermTable,
        records: &[R],
        places: &mut Places,
        bytes: &mut usize,
    ) -> Result<(), MakeError> {
        for record in records {
            self.items.add(table, *record, places, bytes)?;
        }
        self.end();
        Ok(())
    }

    /// Ends a list: an empty one if nothing was added.
    pub fn end(&mut self) {
        self.ends.push(self.items.len() as i32);
    }

    /// The number of records.
    pub fn records(&self) -> usize {
        self.items.len()
    }

    /// Keeps the first `lists` lists, which hold `records` records.
    pub fn truncate(&mut self, lists: usize, records: usize) {
        self.items.truncate(records);
        self.ends.truncate(lists + 1);
    }

    /// The array; `lists` says which are null.
    pub fn finish(self, lists: Option<NullBuffer>) -> Result<ListArray, ArrowError> {
        let fields = R::fields(self.terms);
        let items = StructArray::try_new(fields.clone(), self.items.finish()?, None)?;
        let ends = Texts::offsets(self.ends);
        ListArray::try_new(item_field(fields), ends, Arc::new(items), lists)
    }
}

/// Quads under construction.
pub struct Quads {
    terms: TermColumns,
}

/// The number of the column of graphs.
const GRAPH: usize = 3;

impl Listed for Quad {
    type Items = Quads;

    fn fields(terms: Terms) -> Fields {
        quad_fields(terms)
    }
}

impl Items<Quad> for Quads {
    fn new(terms: Terms) -> Self {
        Self {
            terms: TermColumns::new(4, terms),
        }
    }

    fn like(&self) -> Self {
        Self {
            terms: self.terms.like(),
        }
    }

    #[inline]
    fn add(
        &mut self,
        table: &TermTable,
        quad: Quad,
        places: &mut Places,
        bytes: &mut usize,
    ) -> Result<(), MakeError> {
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

/// Operations under construction.
pub struct Operations {
    codes: Texts,
    names: Texts,
    name_valid: Vec<bool>,
    terms: TermColumns,
}

impl Listed for Operation {
    type Items = Operations;

    fn fields(terms: Terms) -> Fields {
        operation_fields(terms)
    }
}

impl Items<Operation> for Operations {
    fn new(terms: Terms) -> Self {
        Self {
            codes: Texts::new(),
            names: Texts::new(),
            name_valid: Vec::new(),
            terms: TermColumns::new(4, terms),
        }
    }

    fn like(&self) -> Self {
        Self {
            codes: self.codes.like(),
            names: self.names.like(),
            name_valid: like(&self.name_valid),
            terms: self.terms.like(),
        }
    }

    fn add(
        &mut self,
        table: &TermTable,
        operation: Operation,
        places: &mut Places,
        bytes: &mut usize,
    ) -> Result<(), MakeError> {
        let code = operation.code.name().as_bytes();
        // Names are text and no N-Triples.
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
            Arc::new(self.codes.strings(None)?),
            Arc::new(self.names.strings(nulls(self.name_valid))?),
        ];
        arrays.extend(self.terms.finish()?);
        Ok(arrays)
    }
}

//! A column of lists of records under construction: of quads, or of operations.
//!
//! - In: records of batches. Out: an array of lists of structs; terms are canonical N-Triples.
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
use super::terms::{Places, add_optional, add_term};
use super::texts::{Texts, like, nulls};
use crate::schema::{item_field, operation_fields, quad_fields};

/// Records of which a row has a list.
pub trait Listed: KindOf {
    /// Structs under construction.
    type Items: Items<Self> + Send;

    /// The fields of a struct.
    fn fields() -> Fields;
}

/// Structs under construction, one a record.
pub trait Items<R>: Sized {
    /// None yet.
    fn new() -> Self;

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
    ends: Vec<i32>,
}

impl<R: Listed> Lists<R> {
    pub fn new() -> Self {
        Self {
            items: R::Items::new(),
            ends: vec![0],
        }
    }

    /// An empty column with room for about as much.
    pub fn like(&self) -> Self {
        let mut ends = like(&self.ends);
        ends.push(0);
        Self {
            items: self.items.like(),
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
        let items = StructArray::try_new(R::fields(), self.items.finish()?, None)?;
        let ends = Texts::offsets(self.ends);
        ListArray::try_new(item_field(R::fields()), ends, Arc::new(items), lists)
    }
}

/// Quads under construction.
pub struct Quads {
    terms: [Texts; 4],
    graph_valid: Vec<bool>,
}

impl Listed for Quad {
    type Items = Quads;

    fn fields() -> Fields {
        quad_fields()
    }
}

impl Items<Quad> for Quads {
    fn new() -> Self {
        Self {
            terms: std::array::from_fn(|_| Texts::new()),
            graph_valid: Vec::new(),
        }
    }

    fn like(&self) -> Self {
        Self {
            terms: self.terms.each_ref().map(Texts::like),
            graph_valid: like(&self.graph_valid),
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
        add_term(terms, table, 0, quad.subject, places, bytes)?;
        add_term(terms, table, 1, quad.predicate, places, bytes)?;
        add_term(terms, table, 2, quad.object, places, bytes)?;
        let named = quad.graph != TermId::DEFAULT_GRAPH;
        self.graph_valid.push(named);
        if named {
            add_term(terms, table, 3, quad.graph, places, bytes)?;
        } else {
            terms[3].end();
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.graph_valid.len()
    }

    fn truncate(&mut self, count: usize) {
        for column in &mut self.terms {
            column.truncate(count);
        }
        self.graph_valid.truncate(count);
    }

    fn finish(self) -> Result<Vec<ArrayRef>, ArrowError> {
        let [subjects, predicates, objects, graphs] = self.terms;
        Ok(vec![
            Arc::new(subjects.strings(None)?),
            Arc::new(predicates.strings(None)?),
            Arc::new(objects.strings(None)?),
            Arc::new(graphs.strings(nulls(self.graph_valid))?),
        ])
    }
}

/// Operations under construction.
pub struct Operations {
    codes: Texts,
    names: Texts,
    name_valid: Vec<bool>,
    terms: [Texts; 4],
    term_valid: [Vec<bool>; 4],
}

impl Listed for Operation {
    type Items = Operations;

    fn fields() -> Fields {
        operation_fields()
    }
}

impl Items<Operation> for Operations {
    fn new() -> Self {
        Self {
            codes: Texts::new(),
            names: Texts::new(),
            name_valid: Vec::new(),
            terms: std::array::from_fn(|_| Texts::new()),
            term_valid: std::array::from_fn(|_| Vec::new()),
        }
    }

    fn like(&self) -> Self {
        Self {
            codes: self.codes.like(),
            names: self.names.like(),
            name_valid: like(&self.name_valid),
            terms: self.terms.each_ref().map(Texts::like),
            term_valid: self.term_valid.each_ref().map(|valid| like(valid)),
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
            let (terms, valid) = (&mut self.terms, &mut self.term_valid);
            add_optional(terms, valid, table, column, id, places, bytes)?;
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
        for column in &mut self.terms {
            column.truncate(count);
        }
        for valid in &mut self.term_valid {
            valid.truncate(count);
        }
    }

    fn finish(self) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut arrays: Vec<ArrayRef> = vec![
            Arc::new(self.codes.strings(None)?),
            Arc::new(self.names.strings(nulls(self.name_valid))?),
        ];
        for (terms, valid) in self.terms.into_iter().zip(self.term_valid) {
            arrays.push(Arc::new(terms.strings(nulls(valid))?));
        }
        Ok(arrays)
    }
}

//! A column of lists of quads under construction.
//!
//! - In: quads of batches. Out: an array of lists of structs of terms as canonical N-Triples.
//! - Cost: a term is rendered once a batch, its repetitions are copies of the bytes already there.
//! - Law: a list may be null or empty, a quad is never null, and its graph is null for the default graph.

#![allow(
    clippy::cast_possible_wrap,
    reason = "offsets are lengths within MAX_BYTES, checked before they are written"
)]

use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::ArrowError;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermId};
use rdfm_core::model::write::write_term;

use super::limit::{MakeError, charge};
use super::texts::{Texts, like, nulls};
use crate::schema::{quad_field, term_fields};

/// Where the rendered form of each term of a batch stands in the rows under construction.
#[derive(Default)]
pub struct Places {
    of: Vec<Place>,
    /// Grows when the rows are cut or another batch comes, which makes older places stale without
    /// touching them.
    generation: u32,
}

#[derive(Clone, Copy, Default)]
struct Place {
    generation: u32,
    column: u32,
    start: u32,
    length: u32,
}

impl Places {
    /// Those of a batch.
    pub fn new(table: &TermTable) -> Self {
        let mut places = Self::default();
        places.begin_batch(table);
        places
    }

    /// Goes on to another batch.
    pub fn begin_batch(&mut self, table: &TermTable) {
        self.forget();
        if self.of.len() < table.terms().len() {
            self.of.resize(table.terms().len(), Place::default());
        }
    }

    /// Forgets all places: the rows were cut.
    pub const fn forget(&mut self) {
        self.generation += 1;
    }
}

/// A column of lists of quads under construction.
pub struct QuadLists {
    terms: [Texts; 4],
    graph_valid: Vec<bool>,
    ends: Vec<i32>,
}

impl QuadLists {
    pub fn new() -> Self {
        Self {
            terms: std::array::from_fn(|_| Texts::new()),
            graph_valid: Vec::new(),
            ends: vec![0],
        }
    }

    /// An empty column with room for about as much.
    pub fn like(&self) -> Self {
        let mut ends = like(&self.ends);
        ends.push(0);
        Self {
            terms: self.terms.each_ref().map(Texts::like),
            graph_valid: like(&self.graph_valid),
            ends,
        }
    }

    /// Adds a list of quads. `bytes` counts the strings of the record batch.
    pub fn add(
        &mut self,
        table: &TermTable,
        quads: &[Quad],
        places: &mut Places,
        bytes: &mut usize,
    ) -> Result<(), MakeError> {
        for quad in quads {
            self.term(table, 0, quad.subject, places, bytes)?;
            self.term(table, 1, quad.predicate, places, bytes)?;
            self.term(table, 2, quad.object, places, bytes)?;
            let named = quad.graph != TermId::DEFAULT_GRAPH;
            self.graph_valid.push(named);
            if named {
                self.term(table, 3, quad.graph, places, bytes)?;
            } else {
                self.terms[3].end();
            }
        }
        self.end();
        Ok(())
    }

    /// Ends a list: an empty one if nothing was added.
    pub fn end(&mut self) {
        self.ends.push(self.graph_valid.len() as i32);
    }

    /// Adds a term to a column.
    #[inline]
    fn term(
        &mut self,
        table: &TermTable,
        column: usize,
        id: TermId,
        places: &mut Places,
        bytes: &mut usize,
    ) -> Result<(), MakeError> {
        let place = places.of[id.index()];
        if place.generation == places.generation {
            let range = place.start as usize..(place.start + place.length) as usize;
            charge(bytes, range.len())?;
            if place.column as usize == column {
                self.terms[column].values().extend_from_within(range);
            } else if let Ok([from, to]) =
                self.terms.get_disjoint_mut([place.column as usize, column])
            {
                to.values().extend_from_slice(&from.values()[range]);
            }
        } else {
            let values = self.terms[column].values();
            let start = values.len();
            write_term(table, id, values);
            let length = values.len() - start;
            charge(bytes, length)?;
            places.of[id.index()] = Place {
                generation: places.generation,
                column: column as u32,
                start: start as u32,
                length: length as u32,
            };
        }
        self.terms[column].end();
        Ok(())
    }

    /// The number of quads.
    pub const fn quads(&self) -> usize {
        self.graph_valid.len()
    }

    /// Keeps the first `lists` lists, which hold `quads` quads.
    pub fn truncate(&mut self, lists: usize, quads: usize) {
        for column in &mut self.terms {
            column.truncate(quads);
        }
        self.graph_valid.truncate(quads);
        self.ends.truncate(lists + 1);
    }

    /// The array; `lists` says which are null.
    pub fn finish(self, lists: Option<NullBuffer>) -> Result<ListArray, ArrowError> {
        let [subjects, predicates, objects, graphs] = self.terms;
        let parts: Vec<ArrayRef> = vec![
            Arc::new(subjects.strings(None)?),
            Arc::new(predicates.strings(None)?),
            Arc::new(objects.strings(None)?),
            Arc::new(graphs.strings(nulls(self.graph_valid))?),
        ];
        let quads = StructArray::try_new(term_fields(), parts, None)?;
        let ends = Texts::offsets(self.ends);
        ListArray::try_new(quad_field(), ends, Arc::new(quads), lists)
    }
}

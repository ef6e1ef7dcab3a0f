//! Columns of terms under construction, as canonical N-Triples.
//!
//! - In: ids of terms of batches. Out: a value each, in the columns of the caller.
//! - Cost: a term is rendered once a batch, its repetitions are copies of the bytes already there.

use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::TermId;
use rdfm_core::model::write::write_term;

use super::limit::{MakeError, charge};
use super::texts::Texts;

/// The position of the rendered form of each term of a batch in the rows under construction.
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

/// Adds a term to one of the columns. `bytes` counts the strings of the record batch.
#[inline]
pub fn add_term(
    columns: &mut [Texts],
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
            columns[column].values().extend_from_within(range);
        } else if let Ok([from, to]) = columns.get_disjoint_mut([place.column as usize, column]) {
            to.values().extend_from_slice(&from.values()[range]);
        }
    } else {
        let values = columns[column].values();
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
    columns[column].end();
    Ok(())
}

/// A column of terms or null under construction is one of `columns`, with what says which are null.
#[inline]
pub fn add_optional(
    columns: &mut [Texts],
    valid: &mut [Vec<bool>],
    table: &TermTable,
    column: usize,
    id: TermId,
    places: &mut Places,
    bytes: &mut usize,
) -> Result<(), MakeError> {
    let there = id != TermId::DEFAULT_GRAPH;
    valid[column].push(there);
    if there {
        return add_term(columns, table, column, id, places, bytes);
    }
    columns[column].end();
    Ok(())
}

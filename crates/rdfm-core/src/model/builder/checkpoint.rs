//! Removes the records and terms added since a place in the open message.
//!
//! - In: a [`Checkpoint`] of the current batch.
//! - Out: the builder as it was there, except that caches of terms are invalid if terms were
//!   removed.
//! - Cost: a few copies per checkpoint.

use super::LogBuilder;
use crate::model::record::Record;

/// A place in a batch to return to.
#[derive(Clone, Copy, Default)]
pub struct Checkpoint {
    records: usize,
    terms: usize,
    triples: usize,
    arena: usize,
    any_graph: u32,
    open: Option<u64>,
    message_bytes: u64,
}

impl<R: Record> LogBuilder<R> {
    /// The current place, for [`restore`](Self::restore).
    #[inline]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            records: self.records.len(),
            terms: self.table.terms.len(),
            triples: self.table.triples.len(),
            arena: self.table.arena.len(),
            any_graph: self.any_graph,
            open: self.open,
            message_bytes: self.message_bytes,
        }
    }

    /// Returns to a checkpoint of the current batch. Only records and terms have been added, and
    /// perhaps a message begun, since then.
    pub fn restore(&mut self, place: &Checkpoint) {
        self.records.truncate(place.records);
        self.any_graph = place.any_graph;
        self.open = place.open;
        self.message_bytes = place.message_bytes;
        self.table.arena.truncate(place.arena);
        if self.table.terms.len() > place.terms {
            self.table.terms.truncate(place.terms);
            self.table.triples.truncate(place.triples);
            self.written_size.triples.truncate(place.triples);
            self.serial = self.serial.wrapping_add(1).max(1);
        }
    }
}

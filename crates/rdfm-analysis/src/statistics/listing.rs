//! The names in a short description of a log: predicates, datatypes, metadata keys and header keys.
//!
//! - In: the batches of a log, in order. Out: the most frequent names of each list.
//! - Cost: one visit per quad. Each name is hashed once per batch. Memory use is bounded; see
//!   [`Names`].
//! - Law: the division of messages into batches does not affect the results.

use rdfm_core::model::batch::{LogBatch, MessageBatch, PatchBatch};
use rdfm_core::model::record::{OperationCode, Record};
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind, XSD_STRING};
use rdfm_core::model::write;
use rustc_hash::FxHashSet;

use super::batch::{DIRECTED_STRING, LANG_STRING};
use super::names::{Names, NamesReport};

/// Slot of a term that has not occurred in the batch yet.
const NOT_SEEN: u32 = u32::MAX - 1;
/// Slot of a term that has no name in the list.
const UNNAMED: u32 = u32::MAX - 2;

/// Counts the names of a log.
#[derive(Debug, Default)]
pub struct Listing {
    predicates: Names,
    datatypes: Names,
    metadata: Names,
    headers: Names,
    /// Slots in which the terms of a batch are counted, by id.
    slots: Vec<u32>,
}

/// The names in a log. Each list begins with the most frequent name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListingReport {
    /// Predicates, with numbers of quads. IRIs are written without angle brackets, other terms as
    /// in N-Quads.
    pub predicates: NamesReport,
    /// Datatypes of objects.
    pub datatypes: NamesReport,
    /// Metadata keys, with numbers of messages.
    pub metadata: NamesReport,
    /// Patch header keys.
    pub headers: NamesReport,
}

impl Listing {
    /// Adds the quads and metadata of messages.
    pub fn add_messages(&mut self, batch: &MessageBatch) {
        let table = batch.table();
        let quads = batch.quads();
        let predicates = quads.iter().map(|quad| quad.predicate);
        count(
            &mut self.predicates,
            &mut self.slots,
            table,
            predicates,
            |names, id| find_slot(names, table, id),
        );
        let objects = quads.iter().map(|quad| quad.object);
        count(
            &mut self.datatypes,
            &mut self.slots,
            table,
            objects,
            |names, id| datatype(table, id).map_or(UNNAMED, |name| names.find_or_add_slot(name)),
        );
        self.add_metadata(batch);
    }

    fn add_metadata<R: Record>(&mut self, batch: &LogBatch<R>) {
        let entries = batch.all_metadata();
        let mut keys = FxHashSet::default();
        for message_entries in entries.chunk_by(|left, right| left.message == right.message) {
            keys.clear();
            for entry in message_entries {
                if keys.insert(&entry.key) {
                    self.metadata.add(entry.key.as_bytes(), 1);
                }
            }
        }
    }

    /// Adds the headers of patches.
    pub fn add_patches(&mut self, batch: &PatchBatch) {
        let table = batch.table();
        let headers = batch.records().iter();
        let keys = headers
            .filter(|record| record.code == OperationCode::Header)
            .map(|record| record.name);
        count(
            &mut self.headers,
            &mut self.slots,
            table,
            keys,
            |names, id| names.find_or_add_slot(table.text(id)),
        );
    }

    /// The lists, with the `top` most frequent names of each.
    pub fn report(&self, top: usize) -> ListingReport {
        ListingReport {
            predicates: self.predicates.report(top),
            datatypes: self.datatypes.report(top),
            metadata: self.metadata.report(top),
            headers: self.headers.report(top),
        }
    }
}

/// Counts the names of terms. `slot_of` returns the slot for a term at its first occurrence in the
/// batch.
fn count(
    names: &mut Names,
    slots: &mut Vec<u32>,
    table: &TermTable,
    terms: impl Iterator<Item = TermId>,
    slot_of: impl Fn(&mut Names, TermId) -> u32,
) {
    slots.clear();
    slots.resize(table.terms().len(), NOT_SEEN);
    for id in terms {
        let slot = &mut slots[id.index()];
        if *slot == NOT_SEEN {
            *slot = slot_of(names, id);
        }
        if *slot != UNNAMED {
            names.count(*slot, 1);
        }
    }
}

fn find_slot(names: &mut Names, table: &TermTable, id: TermId) -> u32 {
    if table.term(id).kind == TermKind::Iri {
        return names.find_or_add_slot(table.text(id));
    }
    let mut text = Vec::new();
    write::write_term(table, id, &mut text);
    names.find_or_add_slot(&text)
}

/// The datatype of a literal.
pub fn datatype(table: &TermTable, id: TermId) -> Option<&[u8]> {
    let term = table.term(id);
    match term.kind {
        TermKind::Literal => Some(XSD_STRING),
        TermKind::TypedLiteral => Some(table.text(TermId(term.aux))),
        TermKind::LangLiteral if write::direction(term.flags).is_empty() => Some(LANG_STRING),
        TermKind::LangLiteral => Some(DIRECTED_STRING),
        _ => None,
    }
}

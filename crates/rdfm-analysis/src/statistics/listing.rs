//! The names that a short description of a log lists: predicates, datatypes, keys of metadata and of headers.
//!
//! - In: the batches of a log, in order. Out: the most frequent names of each list.
//! - Cost: a look at each quad; each name is hashed once a batch. Memory is bounded, see [`Names`].
//! - Law: how messages are cut into batches changes nothing.

use rdfm_core::model::batch::{LogBatch, MessageBatch, PatchBatch};
use rdfm_core::model::record::{OperationCode, Record};
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind, XSD_STRING};
use rdfm_core::model::write;
use rustc_hash::FxHashSet;

use super::batch::{DIRECTED_STRING, LANG_STRING};
use super::names::{Names, NamesReport};

/// A term of a batch that was not met.
const NOT_MET: u32 = u32::MAX - 1;
/// A term without a name in the list.
const WITHOUT: u32 = u32::MAX - 2;

/// Counts the names of a log.
#[derive(Debug, Default)]
pub struct Listing {
    predicates: Names,
    datatypes: Names,
    metadata: Names,
    headers: Names,
    /// Where the terms of a batch are counted, by id.
    places: Vec<u32>,
}

/// The names of a log, each list with the most frequent first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListingReport {
    /// Predicates, by quads; IRIs as they are, other terms as in N-Quads.
    pub predicates: NamesReport,
    /// Datatypes of objects.
    pub datatypes: NamesReport,
    /// Keys of metadata, by messages.
    pub metadata: NamesReport,
    /// Keys of the headers of patches.
    pub headers: NamesReport,
}

impl Listing {
    /// Takes the quads and the metadata of messages.
    pub fn add_messages(&mut self, batch: &MessageBatch) {
        let table = batch.table();
        let quads = batch.quads();
        let predicates = quads.iter().map(|quad| quad.predicate);
        count(
            &mut self.predicates,
            &mut self.places,
            table,
            predicates,
            |names, id| place_of_term(names, table, id),
        );
        let objects = quads.iter().map(|quad| quad.object);
        count(
            &mut self.datatypes,
            &mut self.places,
            table,
            objects,
            |names, id| datatype(table, id).map_or(WITHOUT, |name| names.place(name)),
        );
        self.add_metadata(batch);
    }

    fn add_metadata<R: Record>(&mut self, batch: &LogBatch<R>) {
        let entries = batch.all_metadata();
        let mut keys = FxHashSet::default();
        for of_message in entries.chunk_by(|one, other| one.message == other.message) {
            keys.clear();
            for entry in of_message {
                if keys.insert(&entry.key) {
                    self.metadata.add(entry.key.as_bytes(), 1);
                }
            }
        }
    }

    /// Takes the headers of patches.
    pub fn add_patches(&mut self, batch: &PatchBatch) {
        let table = batch.table();
        let headers = batch.records().iter();
        let keys = headers
            .filter(|record| record.code == OperationCode::Header)
            .map(|record| record.name);
        count(
            &mut self.headers,
            &mut self.places,
            table,
            keys,
            |names, id| names.place(table.text(id)),
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

/// Counts the names of terms; `place` gives where a term is counted when it is first met in the batch.
fn count(
    names: &mut Names,
    places: &mut Vec<u32>,
    table: &TermTable,
    terms: impl Iterator<Item = TermId>,
    place: impl Fn(&mut Names, TermId) -> u32,
) {
    places.clear();
    places.resize(table.terms().len(), NOT_MET);
    for id in terms {
        let known = &mut places[id.index()];
        if *known == NOT_MET {
            *known = place(names, id);
        }
        if *known != WITHOUT {
            names.count(*known, 1);
        }
    }
}

fn place_of_term(names: &mut Names, table: &TermTable, id: TermId) -> u32 {
    if table.term(id).kind == TermKind::Iri {
        return names.place(table.text(id));
    }
    let mut text = Vec::new();
    write::write_term(table, id, &mut text);
    names.place(&text)
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

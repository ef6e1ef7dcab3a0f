//! The distinct terms of a batch, in order of first occurrence.
//!
//! - In: ids of a batch's term table, which may contain a term twice. Out: one slot per distinct
//!   term, numbered by first occurrence in the records.
//! - Cost: the text of each id is hashed once per batch. Strings are compared if their hashes are
//!   equal.
//! - Law: the order of the table does not affect the result.

use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Term, TermId, TermKind, flags};
use rdfm_core::model::write::write_term;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::distinct::bits;

/// Marks an id or a hash table entry without a slot.
const NONE: u32 = u32::MAX;

/// A distinct term of a batch.
#[derive(Clone, Debug)]
pub struct TermSlot {
    /// Hash of kind and text. The text of a blank node is its label.
    pub hash: u64,
    /// The last message that contained the term, and the series in which the term was counted for
    /// that message.
    pub stamp: u64,
    /// Number of occurrences in the batch.
    pub count: u64,
    /// Size in bytes of the term as N-Triples.
    pub size: u64,
    /// An id of the term.
    pub term: TermId,
    /// Slot of the datatype or language. For a triple term, its index in [`BatchTerms::triples`].
    pub aux: u32,
    /// Number of statements in the batch that have the term as their predicate.
    pub as_predicate: u32,
    /// Number of statements in the batch that have the term as the object of rdf:type.
    pub as_type: u32,
    /// Index in [`BatchTerms::extras`], or 0.
    pub extra: u32,
    /// Bits of the series that count the term, regardless of its position.
    pub kind: u16,
    /// The series of the log in which the term has already been counted for this batch.
    pub done: u16,
    /// Whether the term is or contains a blank node, and therefore differs between scopes.
    pub scoped: bool,
}

/// Properties that few terms have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra {
    /// Number of control characters in the term's literals.
    pub controls: u64,
    /// Number of triple terms in the term, including the term itself.
    pub triples: u64,
}

/// The distinct terms of a batch.
#[derive(Debug, Default)]
pub struct BatchTerms {
    /// In order of first occurrence.
    pub slots: Vec<TermSlot>,
    /// The slots of the parts of triple terms.
    pub triples: Vec<[u32; 3]>,
    pub extras: Vec<Extra>,
    by_id: Vec<u32>,
    /// Hash table of slots. Each entry consists of the upper half of a term's hash, and the slot.
    by_hash: Vec<(u32, u32)>,
    mask: usize,
    text: Vec<u8>,
}

/// Combines two hashes. Their order matters.
#[inline]
pub fn mix(one: u64, other: u64) -> u64 {
    let product =
        u128::from(one ^ 0x2d35_8dcc_aa6c_78a5) * u128::from(other ^ 0x8bb8_4b93_962e_acc9);
    (product as u64) ^ ((product >> 64) as u64)
}

impl BatchTerms {
    /// Starts a batch.
    pub fn start(&mut self, table: &TermTable) {
        let terms = table.terms().len();
        self.slots.clear();
        self.triples.clear();
        self.extras.clear();
        self.extras.push(Extra::default());
        self.by_id.clear();
        self.by_id.resize(terms, NONE);
        let size = (terms + terms / 4).next_power_of_two().max(16); // at most four fifths full
        self.by_hash.clear();
        self.by_hash.resize(size, (0, NONE));
        self.mask = size - 1;
    }

    /// The slot of a term.
    #[inline]
    pub fn find_or_add_slot(&mut self, table: &TermTable, id: TermId) -> u32 {
        let slot = self.by_id[id.index()];
        if slot == NONE {
            self.add(table, id)
        } else {
            slot
        }
    }

    /// Adds a term and returns its slot. Recurses into triple terms, whose nesting is limited by
    /// decoders.
    #[inline(never)]
    fn add(&mut self, table: &TermTable, id: TermId) -> u32 {
        let term = table.term(id);
        let slot = match term.kind {
            TermKind::TripleTerm => self.add_triple_term(table, id, term),
            _ => self.add_simple_term(table, id, term),
        };
        let mut index = slot.hash as usize & self.mask;
        let tag = (slot.hash >> 32) as u32;
        loop {
            let (found_tag, slot_number) = self.by_hash[index];
            if slot_number == NONE {
                break;
            }
            if found_tag == tag && self.are_same(&self.slots[slot_number as usize], &slot, table) {
                self.by_id[id.index()] = slot_number;
                return slot_number;
            }
            index = (index + 1) & self.mask;
        }
        let number = self.slots.len() as u32;
        self.by_hash[index] = (tag, number);
        self.by_id[id.index()] = number;
        self.slots.push(slot);
        number
    }

    /// Whether two slots contain the same term. The parts of triple terms are compared by slot.
    fn are_same(&self, left: &TermSlot, right: &TermSlot, table: &TermTable) -> bool {
        if left.hash != right.hash || left.kind != right.kind {
            return false;
        }
        if left.kind == bits::TRIPLE {
            return self.triples[left.aux as usize] == self.triples[right.aux as usize];
        }
        table.is_same_term(left.term, table, right.term)
    }

    fn add_simple_term(&mut self, table: &TermTable, id: TermId, term: Term) -> TermSlot {
        let text = table.text_of(term);
        let plain = term.flags & flags::PLAIN != 0;
        let short = text.len() as u64 + 2;
        let hash_with = |seed: u64| xxh3_64_with_seed(text, seed);
        let (hash, kind, aux, size) = match term.kind {
            TermKind::Iri => (hash_with(1), bits::IRI, 0, plain.then_some(short)),
            TermKind::BlankNode => (hash_with(2), bits::BNODE, 0, plain.then_some(short)),
            TermKind::Literal => (
                hash_with(3),
                bits::LITERAL | bits::SIMPLE,
                0,
                plain.then_some(short),
            ),
            TermKind::TypedLiteral => {
                let datatype = self.find_or_add_slot(table, TermId(term.aux));
                let aux = &self.slots[datatype as usize];
                let size = plain.then_some(short + 2 + aux.size);
                let hash = mix(hash_with(4), aux.hash);
                (hash, bits::LITERAL | bits::TYPED, datatype, size)
            }
            TermKind::LangLiteral => {
                let tag = self.find_or_add_slot(table, TermId(term.aux));
                let aux = &self.slots[tag as usize];
                let directions = term.flags & (flags::LTR | flags::RTL);
                let direction = if directions == 0 { 0 } else { 5 };
                let size = plain.then_some(short + aux.size + direction);
                let hash = mix(hash_with(5 + u64::from(directions)), aux.hash);
                (hash, bits::LITERAL | bits::LANGUAGE, tag, size)
            }
            TermKind::Language => (hash_with(16), 0, 0, plain.then_some(short - 1)),
            TermKind::DefaultGraph | TermKind::TripleTerm => (0, 0, 0, Some(0)),
        };
        let size = size.unwrap_or_else(|| {
            self.text.clear();
            write_term(table, id, &mut self.text);
            self.text.len() as u64
        });
        let mut extra = 0;
        if !plain && kind & bits::LITERAL != 0 {
            extra = self.add_extra(Extra {
                controls: controls(text),
                triples: 0,
            });
        }
        TermSlot {
            hash,
            stamp: 0,
            count: 0,
            size: size,
            term: id,
            aux,
            as_predicate: 0,
            as_type: 0,
            extra,
            kind,
            done: 0,
            scoped: kind == bits::BNODE,
        }
    }

    fn add_triple_term(&mut self, table: &TermTable, id: TermId, term: Term) -> TermSlot {
        let parts = table
            .triple(term)
            .map(|part| self.find_or_add_slot(table, part));
        let mut sum = Extra {
            controls: 0,
            triples: 1,
        };
        let (mut hash, mut size, mut scoped) = (17, 10_u64, false); // `<<( `, a space after each part, `)>>`
        for part in parts {
            let slot = &self.slots[part as usize];
            let extra = self.extras[slot.extra as usize];
            hash = mix(hash, slot.hash);
            size = size.saturating_add(slot.size);
            scoped |= slot.scoped;
            sum.controls = sum.controls.saturating_add(extra.controls);
            sum.triples = sum.triples.saturating_add(extra.triples);
        }
        self.triples.push(parts);
        TermSlot {
            hash,
            stamp: 0,
            count: 0,
            size: size,
            term: id,
            aux: self.triples.len() as u32 - 1,
            as_predicate: 0,
            as_type: 0,
            extra: self.add_extra(sum),
            kind: bits::TRIPLE,
            done: 0,
            scoped,
        }
    }

    fn add_extra(&mut self, extra: Extra) -> u32 {
        if extra.controls == 0 && extra.triples == 0 {
            return 0;
        }
        self.extras.push(extra);
        self.extras.len() as u32 - 1
    }
}

/// Number of control characters as defined by `RiverBench`: characters below U+0014 (decimal 20)
/// other than tab, LF and CR.
fn controls(text: &[u8]) -> u64 {
    let is_control = |byte: &&u8| matches!(byte, 0..=8 | 11 | 12 | 14..=19);
    text.iter().filter(is_control).count() as u64
}

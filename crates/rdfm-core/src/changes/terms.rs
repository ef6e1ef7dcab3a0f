//! Distinct terms, stored independently of the batches that they come from.
//!
//! - In: terms of batches. Out: numbers, equal for equal terms; and copies of the terms in new
//!   batches.
//! - Cost: a lookup per distinct term of a batch. A term is stored once, with about 30 bytes in
//!   addition to its text.

use super::index::{Index, hash_bytes};
use crate::model::builder::LogBuilder;
use crate::model::error::LimitExceeded;
use crate::model::record::Record;
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId, TermKind, flags};

/// The number of a term; 0 is the default graph.
pub type TermNumber = u32;

/// Maximum number of terms: the index does not support larger numbers.
const MAX_TERMS: usize = u32::MAX as usize - 1;

/// Marks a term whose lookup is pending.
const PENDING: TermNumber = TermNumber::MAX;

/// Size in bytes of the kind, the direction, and the number of the datatype or tag in a key.
const KEY_HEAD_BYTES: usize = 6;

/// A pending lookup of a term of the current batch.
#[derive(Clone, Copy)]
struct PendingLookup {
    id: TermId,
    hash: u32,
    /// End of its key, which begins at the end of the previous key.
    end: usize,
    plain: u8,
}

/// Distinct terms and their numbers.
#[derive(Default)]
pub struct TermIndex {
    numbers: Index,
    /// The terms in the order of their numbers. Each has a byte for [`flags::PLAIN`], if known, and
    /// its key: kind, direction, the number of the datatype or tag, and the text. The key of a
    /// triple term has the numbers of its parts instead of the text. The flag byte is not part of
    /// the key, because not all codecs set it.
    values: Vec<u8>,
    /// Start of each term in `values`.
    starts: Vec<usize>,
    /// Numbers of the batch's terms, from 1, or [`PENDING`]; 0 means unknown.
    batch_numbers: Vec<TermNumber>,
    /// Pending lookups and their keys.
    pending: Vec<PendingLookup>,
    keys: Vec<u8>,
}

impl TermIndex {
    /// Begins a batch: from now on, ids refer to its terms.
    fn begin_batch(&mut self, table: &TermTable) {
        self.batch_numbers.clear();
        self.batch_numbers.resize(table.terms().len(), 0);
        self.pending.clear();
        self.keys.clear();
    }

    /// Returns the number of a term. Call [`request`](Self::request) and then
    /// [`look_up`](Self::look_up) first.
    #[inline]
    fn batch_number(&self, id: TermId) -> TermNumber {
        self.batch_numbers[id.index()]
    }

    /// Appends the numbers of the terms of a batch's quads.
    ///
    /// # Errors
    /// If there are more than 2^32 - 2 terms.
    pub fn keys(
        &mut self,
        table: &TermTable,
        quads: impl Iterator<Item = Quad> + Clone,
        keys: &mut Vec<[TermNumber; 4]>,
    ) -> Result<(), LimitExceeded> {
        self.begin_batch(table);
        for quad in quads.clone() {
            self.request(table, quad.subject)?;
            self.request(table, quad.predicate)?;
            self.request(table, quad.object)?;
            self.request(table, quad.graph)?;
        }
        self.look_up()?;
        keys.extend(quads.map(|quad| {
            [quad.subject, quad.predicate, quad.object, quad.graph].map(|id| self.batch_number(id))
        }));
        Ok(())
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Size in bytes of the terms' strings and of other data outside the index.
    pub fn bytes(&self) -> usize {
        self.values.len() + 8 * self.starts.len()
    }

    /// Requests the number of a term. Recursion is as deep as the nesting of triple terms.
    ///
    /// # Errors
    /// If there are more than 2^32 - 2 terms.
    fn request(&mut self, table: &TermTable, id: TermId) -> Result<(), LimitExceeded> {
        if id != TermId::DEFAULT_GRAPH && self.batch_numbers[id.index()] == 0 {
            self.push(table, id)?;
            self.batch_numbers[id.index()] = PENDING;
        }
        Ok(())
    }

    /// Appends a term to the pending lookups.
    fn push(&mut self, table: &TermTable, id: TermId) -> Result<(), LimitExceeded> {
        let term = table.term(id);
        let mut aux = 0;
        let mut parts = None;
        match term.kind {
            // Looked up immediately: these are few, and their numbers are parts of keys.
            TermKind::LangLiteral | TermKind::TypedLiteral => {
                aux = self.find_or_add(table, TermId(term.aux))?;
            }
            TermKind::TripleTerm => {
                let [subject, predicate, object] = table.triple(term);
                parts = Some([
                    self.find_or_add(table, subject)?,
                    self.find_or_add(table, predicate)?,
                    self.find_or_add(table, object)?,
                ]);
            }
            _ => {}
        }
        let start = self.keys.len();
        self.keys
            .extend_from_slice(&[term.kind as u8, term.flags & !flags::PLAIN]);
        self.keys.extend_from_slice(&aux.to_le_bytes());
        match parts {
            Some(parts) => parts
                .iter()
                .for_each(|part| self.keys.extend_from_slice(&part.to_le_bytes())),
            None => self.keys.extend_from_slice(table.text_of(term)),
        }
        self.pending.push(PendingLookup {
            id,
            hash: hash_bytes(&self.keys[start..]),
            end: self.keys.len(),
            plain: term.flags & flags::PLAIN,
        });
        Ok(())
    }

    /// Performs the pending lookups.
    ///
    /// # Errors
    /// If there are more than 2^32 - 2 terms.
    fn look_up(&mut self) -> Result<(), LimitExceeded> {
        self.numbers
            .prefetch(self.pending.iter().map(|lookup| lookup.hash));
        let mut start = 0;
        for index in 0..self.pending.len() {
            let lookup = self.pending[index];
            self.batch_numbers[lookup.id.index()] = self.find_or_add_key(lookup, start)?;
            start = lookup.end;
        }
        self.pending.clear();
        self.keys.clear();
        Ok(())
    }

    /// Looks up a term immediately.
    fn find_or_add(&mut self, table: &TermTable, id: TermId) -> Result<TermNumber, LimitExceeded> {
        let known = self.batch_numbers[id.index()];
        if id == TermId::DEFAULT_GRAPH || (known != 0 && known != PENDING) {
            return Ok(known);
        }
        self.push(table, id)?;
        let Some(lookup) = self.pending.pop() else {
            return Ok(0);
        };
        let start = self.pending.last().map_or(0, |before| before.end);
        let number = self.find_or_add_key(lookup, start)?;
        self.keys.truncate(start);
        self.batch_numbers[id.index()] = number;
        Ok(number)
    }

    fn find_or_add_key(
        &mut self,
        lookup: PendingLookup,
        start: usize,
    ) -> Result<TermNumber, LimitExceeded> {
        let key = &self.keys[start..lookup.end];
        let (values, starts) = (&self.values, &self.starts);
        let number = self.numbers.find(lookup.hash, |index| {
            value(values, starts, index as usize).1 == key
        });
        if let Some(index) = number {
            return Ok(index + 1);
        }
        if self.starts.len() >= MAX_TERMS {
            return Err(LimitExceeded("more than 4,294,967,294 terms".into()));
        }
        let index = self.starts.len() as u32;
        self.starts.push(self.values.len());
        self.values.push(lookup.plain);
        self.values.extend_from_slice(key);
        self.numbers.insert(lookup.hash, index);
        Ok(index + 1)
    }
}

/// Returns the plain flag and the key of a term.
fn value<'a>(values: &'a [u8], starts: &[usize], index: usize) -> (u8, &'a [u8]) {
    let end = starts.get(index + 1).copied().unwrap_or(values.len());
    let start = starts[index];
    (values[start], &values[start + 1..end])
}

/// Copies of terms in a builder's batch.
#[derive(Default)]
pub struct Copies {
    /// Serial number of the batch with the copy, and id of the copy, by term number.
    ids: Vec<(u32, TermId)>,
}

impl Copies {
    /// Copies a term to the builder's batch without charging for it. Recursion is as deep as the
    /// nesting of triple terms.
    pub fn copy<R: Record>(
        &mut self,
        terms: &TermIndex,
        number: TermNumber,
        builder: &mut LogBuilder<R>,
    ) -> Result<TermId, LimitExceeded> {
        if number == 0 {
            return Ok(TermId::DEFAULT_GRAPH);
        }
        if self.ids.len() < terms.starts.len() {
            self.ids
                .resize(terms.starts.len(), (0, TermId::DEFAULT_GRAPH));
        }
        let index = number as usize - 1;
        let (serial, id) = self.ids[index];
        if serial == builder.serial() {
            return Ok(id);
        }
        let (plain, value) = value(&terms.values, &terms.starts, index);
        let (kind, flags, rest) = (kind(value[0]), value[1] | plain, &value[KEY_HEAD_BYTES..]);
        let numbered = |index: usize| {
            let bytes: [u8; 4] = value[index..index + 4].try_into().unwrap_or_default();
            TermNumber::from_le_bytes(bytes)
        };
        let id = if kind == TermKind::TripleTerm {
            let mut parts = [TermId::DEFAULT_GRAPH; 3];
            for (part_index, part) in parts.iter_mut().enumerate() {
                *part = self.copy(terms, numbered(KEY_HEAD_BYTES + 4 * part_index), builder)?;
            }
            builder.add_triple_term(parts)?
        } else {
            let aux = self.copy(terms, numbered(2), builder)?;
            builder.add_with_aux(kind, rest, aux.0, flags)?
        };
        self.ids[index] = (builder.serial(), id);
        Ok(id)
    }
}

/// Returns the kind for a byte.
fn kind(byte: u8) -> TermKind {
    [
        TermKind::Iri,
        TermKind::BlankNode,
        TermKind::Literal,
        TermKind::LangLiteral,
        TermKind::TypedLiteral,
        TermKind::Language,
        TermKind::TripleTerm,
    ]
    .into_iter()
    .find(|kind| *kind as u8 == byte)
    .unwrap_or(TermKind::DefaultGraph)
}

//! Comparison of messages term by term, without hashing. Both messages must have their records in
//! the same order.
//!
//! - In: two messages. Out: whether they are equal record by record. Otherwise they may still be
//!   equal if their records are reordered.
//! - Cost: a table lookup if two terms have been found equal before, otherwise a text comparison.

use std::collections::HashMap;

use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind};

use super::graph::ComparableRecord;

/// Terms of one term table that are known to be equal to terms of another table.
#[derive(Debug, Default)]
pub struct EqualTerms {
    /// For each term, the last term that was found equal to it.
    equal: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl EqualTerms {
    /// Discards all pairs, so that other term tables can be compared.
    pub fn clear(&mut self) {
        self.equal.clear();
    }

    /// Whether two terms are equal, including the labels of blank nodes.
    #[inline]
    fn same(&mut self, tables: [&TermTable; 2], a: TermId, b: TermId) -> bool {
        if self.equal[a.index()] == b.0 {
            return true;
        }
        let same = tables[0].is_same_term(a, tables[1], b);
        if same {
            self.equal[a.index()] = b.0;
        }
        same
    }

    fn begin(&mut self, table: &TermTable) {
        if self.equal.is_empty() {
            self.equal.resize(table.terms().len(), NONE);
        }
    }

    /// Whether two messages have the same records in the same order, with the same labels.
    pub fn identical<R: ComparableRecord>(
        &mut self,
        tables: [&TermTable; 2],
        a: &[R],
        b: &[R],
    ) -> bool {
        if a.len() != b.len() {
            return false;
        }
        self.begin(tables[0]);
        a.iter().zip(b).all(|(a, b)| {
            a.tag() == b.tag() && {
                let (ours, count) = terms(*a);
                let (theirs, _) = terms(*b);
                (0..count).all(|index| self.same(tables, ours[index], theirs[index]))
            }
        })
    }

    /// Whether two messages have the same records in the same order, up to a one-to-one mapping of
    /// labels.
    pub fn equal_up_to_labels<R: ComparableRecord>(
        &mut self,
        tables: [&TermTable; 2],
        a: &[R],
        b: &[R],
    ) -> bool {
        if a.len() != b.len() {
            return false;
        }
        self.begin(tables[0]);
        let mut labels = LabelMapping::default();
        a.iter().zip(b).all(|(a, b)| {
            a.tag() == b.tag() && {
                let (ours, count) = terms(*a);
                let (theirs, _) = terms(*b);
                (0..count).all(|index| {
                    self.terms_equal_up_to_labels(tables, ours[index], theirs[index], &mut labels)
                })
            }
        })
    }

    fn terms_equal_up_to_labels<'a>(
        &mut self,
        tables: [&'a TermTable; 2],
        a: TermId,
        b: TermId,
        labels: &mut LabelMapping<'a>,
    ) -> bool {
        let (left, right) = (tables[0].term(a), tables[1].term(b));
        match (left.kind, right.kind) {
            (TermKind::BlankNode, TermKind::BlankNode) => {
                labels.pair_labels(tables[0].text_of(left), tables[1].text_of(right))
            }
            (TermKind::TripleTerm, TermKind::TripleTerm) => {
                let parts = tables[0]
                    .triple(left)
                    .into_iter()
                    .zip(tables[1].triple(right));
                parts
                    .into_iter()
                    .all(|(a, b)| self.terms_equal_up_to_labels(tables, a, b, labels))
            }
            (TermKind::BlankNode | TermKind::TripleTerm, _)
            | (_, TermKind::BlankNode | TermKind::TripleTerm) => false,
            _ => self.same(tables, a, b),
        }
    }
}

/// A mapping from the labels of one message to those of the other.
#[derive(Default)]
struct LabelMapping<'a> {
    forward: HashMap<&'a [u8], &'a [u8]>,
    back: HashMap<&'a [u8], &'a [u8]>,
}

impl<'a> LabelMapping<'a> {
    /// Maps two labels to each other. Returns false if either is mapped to a different label.
    fn pair_labels(&mut self, a: &'a [u8], b: &'a [u8]) -> bool {
        *self.forward.entry(a).or_insert(b) == b && *self.back.entry(b).or_insert(a) == a
    }
}

/// The terms of a record, and their number.
#[inline]
fn terms<R: ComparableRecord>(record: R) -> ([TermId; 5], usize) {
    let mut terms = [TermId::DEFAULT_GRAPH; 5];
    let mut count = 0;
    record.each(|id| {
        terms[count] = id;
        count += 1;
    });
    (terms, count)
}

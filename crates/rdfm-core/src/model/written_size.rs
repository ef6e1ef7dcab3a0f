//! Estimates the size of a batch's records when they are written as text.
//!
//! - In: terms and records as they are added. Out: whether the records are too long.
//! - Cost: lengths are summed only in batches with long terms.

use super::limits::Limits;
use super::record::Record;
use super::table::TermTable;
use super::term::{TermId, TermKind};

/// A batch ends when its written records exceed `batch_bytes` by this factor. A batch stores a term
/// once, but text repeats it in each record.
const WRITTEN_FACTOR: u64 = 4;

/// Estimated written size of a batch's records. Lengths are summed only in batches with long terms.
#[derive(Default)]
pub(super) struct WrittenSize {
    /// Maximum number of terms in a record.
    terms_per_record: u64,
    /// Maximum written size.
    pub(super) limit: u64,
    pub(super) bytes: u64,
    /// Number of records included in `bytes`.
    pub(super) records: usize,
    /// Length of the longest term.
    pub(super) longest: u64,
    /// Number of records at which the written size must be computed again.
    pub(super) next_check: usize,
    /// Lengths of the triple terms, whose parts may be shared.
    pub(super) triples: Vec<u64>,
}

impl WrittenSize {
    pub(super) fn new<R: Record>(limits: &Limits) -> Self {
        let mut size = Self {
            terms_per_record: R::TERMS,
            limit: WRITTEN_FACTOR.saturating_mul(limits.batch_bytes as u64),
            ..Self::default()
        };
        size.update_next_check();
        size
    }

    /// Records that a term was added.
    #[inline]
    pub(super) fn note_term(&mut self, length: u64) {
        if length > self.longest {
            self.longest = length;
            self.update_next_check();
        }
    }

    /// Computes `next_check`, assuming that each term has a datatype or tag.
    fn update_next_check(&mut self) {
        let further = self.limit.saturating_sub(self.bytes)
            / self
                .longest
                .saturating_mul(2 * self.terms_per_record)
                .max(1);
        self.next_check = self.records.saturating_add(further as usize);
    }

    fn length(&self, table: &TermTable, id: TermId) -> u64 {
        let term = table.term(id);
        let text = u64::from(term.length);
        match term.kind {
            TermKind::TripleTerm => self
                .triples
                .get(term.aux as usize)
                .copied()
                .unwrap_or_default(),
            TermKind::LangLiteral | TermKind::TypedLiteral => {
                text + u64::from(table.term(TermId(term.aux)).length)
            }
            _ => text,
        }
    }

    /// Records that a triple term was added.
    pub(super) fn note_triple(&mut self, table: &TermTable, parts: [TermId; 3]) {
        let length = parts.into_iter().fold(0u64, |sum, part| {
            sum.saturating_add(self.length(table, part))
        });
        self.triples.push(length);
        self.note_term(length);
    }

    /// Whether the records are too long.
    pub(super) fn is_too_long<R: Record>(&mut self, table: &TermTable, records: &[R]) -> bool {
        let mut bytes = self.bytes;
        // Records often repeat terms of the previous record, so those lengths are already known.
        let mut last = [(TermId::DEFAULT_GRAPH, 0); 8];
        for record in records.get(self.records..).unwrap_or_default() {
            let mut position = 0;
            record.each(|id| {
                let known = &mut last[position % 8];
                if known.0 != id {
                    *known = (id, self.length(table, id));
                }
                bytes = bytes.saturating_add(known.1);
                position += 1;
            });
        }
        self.bytes = bytes;
        self.records = records.len();
        self.update_next_check();
        self.bytes >= self.limit
    }
}

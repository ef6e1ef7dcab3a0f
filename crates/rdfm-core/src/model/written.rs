//! What the records of a batch would take written out, near enough.
//!
//! - In: terms and records as they are added. Out: whether they are too long.
//! - Cost: nothing is added up in a batch without long terms.

use super::limits::Limits;
use super::record::Record;
use super::table::TermTable;
use super::term::{TermId, TermKind};

/// A batch ends when its records, written out, would take so many times `batch_bytes`: it holds a term
/// once, text holds it once a record.
const WRITTEN_FACTOR: u64 = 4;

/// What the records of a batch would take written out, near enough; in a batch without long terms
/// nothing is added up.
#[derive(Default)]
pub(super) struct Written {
    /// Terms that a record holds at most.
    each: u64,
    /// From here on the records are too long.
    pub(super) most: u64,
    pub(super) bytes: u64,
    /// Records that `bytes` holds.
    pub(super) records: usize,
    /// The longest term.
    pub(super) longest: u64,
    /// Records from which on the batch may be too long.
    pub(super) doubtful: usize,
    /// Lengths of the triple terms, whose parts may be shared.
    pub(super) triples: Vec<u64>,
}

impl Written {
    pub(super) fn new<R: Record>(limits: &Limits) -> Self {
        let mut written = Self {
            each: R::TERMS,
            most: WRITTEN_FACTOR.saturating_mul(limits.batch_bytes as u64),
            ..Self::default()
        };
        written.foresee();
        written
    }

    /// A term was added.
    #[inline]
    pub(super) fn term(&mut self, length: u64) {
        if length > self.longest {
            self.longest = length;
            self.foresee();
        }
    }

    /// Each term may have a datatype or tag.
    fn foresee(&mut self) {
        let more = self.most.saturating_sub(self.bytes)
            / self.longest.saturating_mul(2 * self.each).max(1);
        self.doubtful = self.records.saturating_add(more as usize);
    }

    fn length(&self, table: &TermTable, id: TermId) -> u64 {
        let term = table.term(id);
        let own = u64::from(term.length);
        match term.kind {
            TermKind::TripleTerm => self
                .triples
                .get(term.aux as usize)
                .copied()
                .unwrap_or_default(),
            TermKind::LangLiteral | TermKind::TypedLiteral => {
                own + u64::from(table.term(TermId(term.aux)).length)
            }
            _ => own,
        }
    }

    /// A triple term was added.
    pub(super) fn triple(&mut self, table: &TermTable, parts: [TermId; 3]) {
        let length = parts.into_iter().fold(0u64, |sum, part| {
            sum.saturating_add(self.length(table, part))
        });
        self.triples.push(length);
        self.term(length);
    }

    /// Whether the records are too long.
    pub(super) fn too_long<R: Record>(&mut self, table: &TermTable, records: &[R]) -> bool {
        let mut bytes = self.bytes;
        for record in records.get(self.records..).unwrap_or_default() {
            record.each(|id| bytes = bytes.saturating_add(self.length(table, id)));
        }
        self.bytes = bytes;
        self.records = records.len();
        self.foresee();
        self.bytes >= self.most
    }
}

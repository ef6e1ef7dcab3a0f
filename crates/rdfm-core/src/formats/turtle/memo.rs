//! Texts of the terms written earlier in the batch, and when the abbreviations of IRIs changed.
//!
//! - In: terms as they are written, and the IRIs of prefixes as they are declared.
//! - Out: copies of the terms whose abbreviations are still the same.
//! - Cost: 16 bytes per term. A prefix affects the IRIs that have the same beginning up to the last
//!   `/` or `#`, and about one in [`GROUPS`] others.
//! - Law: a text is copied only if writing the term again would give the same text.

use crate::model::table::TermTable;
use crate::model::term::{TermId, TermKind};
use crate::syntax::prefixes::head_length;

/// Number of groups of IRIs, by a hash of the beginning.
const GROUPS: u8 = 254;

/// Group of the terms without an IRI.
const NO_IRIS: u8 = GROUPS;

/// Group of the terms with several IRIs, which any prefix may change.
const SEVERAL_IRIS: u8 = GROUPS + 1;

/// The last changes of prefixes by group, as a count of changes and batches.
pub(super) struct PrefixChanges {
    now: u32,
    last: [u32; 256],
}

impl Default for PrefixChanges {
    fn default() -> Self {
        Self {
            now: 0,
            last: [0; 256],
        }
    }
}

impl PrefixChanges {
    /// Records that a prefix was declared for an IRI of a group, or no longer has such an IRI.
    pub fn changed(&mut self, group: u8) {
        self.now = self.now.saturating_add(1);
        self.last[group as usize] = self.now;
        self.last[SEVERAL_IRIS as usize] = self.now;
    }
}

/// Group of the IRIs with the same beginning.
pub(super) fn group_of_iri(iri: &[u8]) -> u8 {
    let head = &iri[..head_length(iri)];
    // The ends of beginnings differ more often than their starts.
    let end = head
        .last_chunk::<8>()
        .map_or(0, |end| u64::from_le_bytes(*end));
    let hash = (end ^ head.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((hash >> 48) % u64::from(GROUPS)) as u8
}

/// Group of a term.
pub(super) fn group(table: &TermTable, id: TermId) -> u8 {
    let term = table.term(id);
    match term.kind {
        TermKind::Iri => group_of_iri(table.text_of(term)),
        TermKind::TypedLiteral => group_of_iri(table.text(TermId(term.aux))),
        TermKind::TripleTerm => SEVERAL_IRIS,
        TermKind::DefaultGraph
        | TermKind::Bnode
        | TermKind::Literal
        | TermKind::Language
        | TermKind::LangLiteral => NO_IRIS,
    }
}

/// Positions of terms written earlier in the batch, from which they are copied.
#[derive(Default)]
pub(super) struct PrefixedMemo {
    entries: Vec<PrefixedEntry>,
    base: usize,
    /// The count when the batch began.
    begun: u32,
}

/// Position of a written term.
#[derive(Clone, Copy, Default)]
struct PrefixedEntry {
    /// The count when the term was written; 0 if it was not.
    written: u32,
    start: u32,
    length: u32,
    group: u8,
}

impl PrefixedMemo {
    /// Begins a batch with this many terms at the end of the output.
    pub fn begin_batch(&mut self, changes: &mut PrefixChanges, terms: usize, out: &[u8]) {
        changes.now = changes.now.saturating_add(1);
        self.begun = changes.now;
        self.base = out.len();
        if self.entries.len() < terms {
            self.entries.resize(terms, PrefixedEntry::default());
        }
    }

    /// Copies a term that was written before. Returns false if it was not, or if its abbreviation
    /// may have changed.
    #[inline]
    pub fn copy(&self, changes: &PrefixChanges, id: TermId, out: &mut Vec<u8>) -> bool {
        match self.entries.get(id.index()) {
            Some(entry)
                if entry.written >= self.begun
                    && entry.written >= changes.last[entry.group as usize] =>
            {
                let start = self.base + entry.start as usize;
                out.extend_from_within(start..start + entry.length as usize);
                true
            }
            _ => false,
        }
    }

    /// Records that a term of a group was written from `start` to the end of the output.
    #[inline]
    pub fn keep(
        &mut self,
        changes: &PrefixChanges,
        id: TermId,
        group: u8,
        start: usize,
        out: &[u8],
    ) {
        // At the maximum, the count no longer tells earlier terms from later ones.
        if changes.now < u32::MAX
            && let Some(entry) = self.entries.get_mut(id.index())
        {
            *entry = PrefixedEntry {
                written: changes.now,
                start: (start - self.base) as u32,
                length: (out.len() - start) as u32,
                group,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use super::*;
    use crate::model::builder::BatchBuilder;
    use crate::model::limits::Limits;

    #[test]
    fn a_prefix_affects_the_terms_that_it_may_abbreviate() {
        let mut builder = BatchBuilder::new(Limits::default());
        let mut add = |kind, text: &str| builder.add_simple(kind, text.as_bytes(), 0).unwrap();
        let near = add(TermKind::Iri, "http://example.org/a");
        let far = add(TermKind::Iri, "http://example.org/other#a");
        let label = add(TermKind::Bnode, "b");
        let datatype = add(TermKind::Iri, "http://example.org/type");
        let typed = builder
            .add_with_aux(TermKind::TypedLiteral, b"1", datatype.0, 0)
            .unwrap();
        let table = builder.table();
        let mut changes = PrefixChanges::default();
        let mut memo = PrefixedMemo::default();
        let mut out = b"before".to_vec();
        memo.begin_batch(&mut changes, table.terms().len(), &out);
        for id in [near, far, label, typed] {
            assert!(!memo.copy(&changes, id, &mut out));
            let start = out.len();
            out.push(b'x');
            memo.keep(&changes, id, group(table, id), start, &out);
            assert!(memo.copy(&changes, id, &mut out));
        }
        changes.changed(group_of_iri(b"http://example.org/b"));
        let copied = [near, far, label, typed].map(|id| memo.copy(&changes, id, &mut out));
        assert_eq!(copied, [false, true, true, false]);
        memo.begin_batch(&mut changes, table.terms().len(), &out);
        assert!(!memo.copy(&changes, label, &mut out));
    }

    #[test]
    fn nothing_is_copied_after_too_many_changes() {
        let mut changes = PrefixChanges {
            now: u32::MAX - 2,
            ..PrefixChanges::default()
        };
        let mut memo = PrefixedMemo::default();
        memo.begin_batch(&mut changes, 2, &[]);
        let mut out = b"x".to_vec();
        memo.keep(&changes, TermId(0), group_of_iri(b"a:a"), 0, &out);
        assert!(memo.copy(&changes, TermId(0), &mut out));
        for _ in 0..3 {
            changes.changed(group_of_iri(b"a:b"));
            assert!(!memo.copy(&changes, TermId(0), &mut out));
            memo.keep(&changes, TermId(0), group_of_iri(b"a:a"), 0, &out);
        }
    }
}

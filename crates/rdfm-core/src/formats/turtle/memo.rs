//! Remembers where terms were written earlier in the batch, and when abbreviations of IRIs changed.
//!
//! - In: terms as they are written, and the IRIs of prefixes as they are declared.
//! - Out: copies of the terms whose abbreviations are still the same.
//! - Cost: 16 bytes per term. A prefix affects the IRIs that have the same beginning up to the last
//!   `/` or `#`, and about one in 128 others.
//! - Law: output is copied only if writing the term again would produce the same output.

use crate::model::term::TermId;

/// The prefixes on which the text of a term depends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PrefixGroup(u8);

impl PrefixGroup {
    /// Group of a term without IRIs.
    pub const NONE: Self = Self(128);
    /// Group of a term with several IRIs.
    pub const ALL: Self = Self(129);

    /// Returns the group of an IRI with this beginning: a hash less than 128.
    #[inline]
    pub fn from_head(head: &[u8]) -> Self {
        // The beginnings of IRIs differ more often at their ends than at their starts.
        let end = head.last_chunk().map_or(0, |end| u64::from_le_bytes(*end));
        let hash = (end ^ head.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self((hash >> 57) as u8)
    }
}

/// The count of changes and batches, and its value at the last change of each group's prefixes.
pub(super) struct PrefixChanges {
    count: u32,
    last: [u32; 256],
}

impl Default for PrefixChanges {
    fn default() -> Self {
        Self {
            count: 0,
            last: [0; 256],
        }
    }
}

impl PrefixChanges {
    /// Records that a prefix was declared for an IRI with this beginning, or no longer maps to such
    /// an IRI.
    pub fn note_change(&mut self, head: &[u8]) {
        self.count = self.count.saturating_add(1);
        self.last[PrefixGroup::from_head(head).0 as usize] = self.count;
        self.last[PrefixGroup::ALL.0 as usize] = self.count;
    }
}

/// Positions of terms written earlier in the batch, from which they are copied.
#[derive(Default)]
pub(super) struct PrefixedMemo {
    entries: Vec<PrefixedEntry>,
    base: usize,
    /// The count when the batch began.
    batch_start: u32,
}

/// Position of a written term.
#[derive(Clone, Copy, Default)]
struct PrefixedEntry {
    /// The count when the term was written; 0 if the term was not written.
    written_count: u32,
    start: u32,
    length: u32,
    group: PrefixGroup,
}

impl PrefixedMemo {
    /// Begins a batch with this many terms. Its output begins at the end of `out`.
    pub fn begin_batch(&mut self, changes: &mut PrefixChanges, terms: usize, out: &[u8]) {
        changes.count = changes.count.saturating_add(1);
        self.batch_start = changes.count;
        self.base = out.len();
        if self.entries.len() < terms {
            self.entries.resize(terms, PrefixedEntry::default());
        }
    }

    /// Copies a term that was written before, and returns its group. Returns `None` if the term was
    /// not written before, or if its abbreviation may have changed.
    #[inline]
    pub fn copy(
        &self,
        changes: &PrefixChanges,
        id: TermId,
        out: &mut Vec<u8>,
    ) -> Option<PrefixGroup> {
        let entry = self.entries.get(id.index())?;
        if entry.written_count < self.batch_start
            || entry.written_count < changes.last[entry.group.0 as usize]
        {
            return None;
        }
        let start = self.base + entry.start as usize;
        out.extend_from_within(start..start + entry.length as usize);
        Some(entry.group)
    }

    /// Records that a term of a group was written from `start` to the end of the output.
    #[inline]
    pub fn keep(
        &mut self,
        changes: &PrefixChanges,
        id: TermId,
        group: PrefixGroup,
        start: usize,
        out: &[u8],
    ) {
        // At the maximum, the count no longer distinguishes earlier terms from later ones.
        if changes.count < u32::MAX
            && let Some(entry) = self.entries.get_mut(id.index())
        {
            *entry = PrefixedEntry {
                written_count: changes.count,
                start: (start - self.base) as u32,
                length: (out.len() - start) as u32,
                group,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_affects_the_terms_that_it_may_abbreviate() {
        let mut changes = PrefixChanges::default();
        let mut memo = PrefixedMemo::default();
        let mut out = b"before".to_vec();
        let groups = [
            PrefixGroup::from_head(b"http://example.org/"),
            PrefixGroup::from_head(b"http://example.org/other#"),
            PrefixGroup::NONE,
            PrefixGroup::ALL,
        ];
        memo.begin_batch(&mut changes, groups.len(), &out);
        for (id, group) in (0..).zip(groups) {
            assert_eq!(memo.copy(&changes, TermId(id), &mut out), None);
            let start = out.len();
            out.extend_from_slice(b"text");
            memo.keep(&changes, TermId(id), group, start, &out);
            assert_eq!(memo.copy(&changes, TermId(id), &mut out), Some(group));
            assert!(out.ends_with(b"texttext"));
        }
        changes.note_change(b"http://example.org/");
        let copied = [0, 1, 2, 3].map(|id| memo.copy(&changes, TermId(id), &mut out).is_some());
        assert_eq!(copied, [false, true, true, false]);
        memo.begin_batch(&mut changes, groups.len(), &out);
        assert_eq!(memo.copy(&changes, TermId(2), &mut out), None);
    }

    #[test]
    fn nothing_is_copied_after_too_many_changes() {
        let mut changes = PrefixChanges {
            count: u32::MAX - 2,
            ..PrefixChanges::default()
        };
        let mut memo = PrefixedMemo::default();
        memo.begin_batch(&mut changes, 1, &[]);
        let mut out = b"x".to_vec();
        let (id, group) = (TermId(0), PrefixGroup::from_head(b"a:"));
        memo.keep(&changes, id, group, 0, &out);
        assert_eq!(memo.copy(&changes, id, &mut out), Some(group));
        for _ in 0..3 {
            changes.note_change(b"a:");
            assert_eq!(memo.copy(&changes, id, &mut out), None);
            memo.keep(&changes, id, group, 0, &out);
        }
    }
}

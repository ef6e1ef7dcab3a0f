//! Lookup tables of an encoder, which replace entries by second chance (the CLOCK algorithm).
//!
//! - In: strings, and the number of the row that uses them.
//! - Out: their ids, and whether an entry must be written first.
//! - Cost: amortized constant, one hash and one comparison. A use stores the row and a flag. Memory
//!   grows with the entries. The total size of the strings is limited; above the limit entries are
//!   evicted early.
//! - Law: an entry that the current row uses is never replaced, because the row would then refer to
//!   another term.

use std::hash::Hasher as _;

use rustc_hash::FxHasher;

/// Limit for the total size of the strings in a table, in bytes, not counting the entries of the
/// current row.
const MAX_BYTES: usize = 64 << 20;

/// The string of an entry.
#[derive(Default)]
struct EntryText {
    text: Vec<u8>,
    /// Low bits of the hash, and the next entry in the same bucket.
    hash: u32,
    chain: u32,
}

/// The use of an entry, stored apart from its string so that the uses fit in the CPU cache.
#[derive(Clone, Copy, Default)]
struct EntryUse {
    /// The last row that used the entry.
    row: u64,
    /// Unique for each string stored in the entry; 0 for none.
    serial: u32,
    /// Whether the entry was used again since it was set or last visited.
    is_spared: bool,
}

/// The id of a string in a table.
#[derive(Clone, Copy)]
pub(super) struct AssignedId {
    pub id: u32,
    pub serial: u32,
    /// Id to write for a new entry (0: previous + 1), or `None` if the entry already exists.
    pub entry: Option<u32>,
}

/// Error: every entry is used by the current row.
#[derive(Debug)]
pub(super) struct TableFull;

/// A lookup table with a fixed maximum number of entries, with ids from 1.
pub(super) struct EncoderTable {
    size: u32,
    entries: Vec<EntryText>,
    uses: Vec<EntryUse>,
    buckets: Vec<u32>,
    /// The entry that was last visited to find one that can be replaced.
    hand: u32,
    /// The row that used all strings when no more could be evicted; [`NO_ROW`] for none.
    full_row: u64,
    /// Id of the previous new entry.
    last_set: u32,
    serial: u32,
    bytes: usize,
    /// Text buffers reused from an earlier log.
    spare: Vec<Vec<u8>>,
}

/// Maximum capacity of the text buffers kept for the next log.
const SPARE_BYTES: usize = 256;

/// Value of `last_set` in an empty table. No id follows it, so the first entry has an explicit id.
const NO_ID: u32 = u32::MAX;
const NO_ROW: u64 = u64::MAX;

impl EncoderTable {
    pub fn new(size: u32) -> Self {
        Self {
            size,
            entries: vec![EntryText::default()],
            uses: vec![EntryUse::default()],
            buckets: vec![0; 16],
            hand: 0,
            full_row: NO_ROW,
            last_set: NO_ID,
            serial: 0,
            bytes: 0,
            spare: Vec::new(),
        }
    }

    /// Removes all entries.
    pub fn reset(&mut self) {
        for mut entry in self.entries.drain(1..) {
            if entry.text.capacity() <= SPARE_BYTES && self.spare.len() < self.size as usize {
                entry.text.clear();
                self.spare.push(entry.text);
            }
        }
        self.uses.truncate(1);
        self.buckets.clear();
        self.buckets.resize(16, 0);
        self.hand = 0;
        self.full_row = NO_ROW;
        self.last_set = NO_ID;
        self.serial = 0;
        self.bytes = 0;
    }

    pub fn size(&self) -> u32 {
        self.size
    }

    /// Whether the entry at an id still has the string that it had when this serial was returned.
    /// True for id 0 with serial 0.
    #[inline]
    pub fn is_current(&self, id: u32, serial: u32) -> bool {
        self.uses[id as usize].serial == serial
    }

    /// Marks an entry as used by a row.
    #[inline]
    pub fn touch(&mut self, id: u32, row: u64) {
        let entry = &mut self.uses[id as usize];
        entry.row = row;
        entry.is_spared = true;
    }

    /// Marks an existing entry as used and returns its id.
    #[inline]
    pub fn reuse(&mut self, id: u32, row: u64) -> AssignedId {
        self.touch(id, row);
        AssignedId {
            id,
            serial: self.uses[id as usize].serial,
            entry: None,
        }
    }

    /// Whether the entry at an id contains this string.
    #[inline]
    pub fn has_text(&self, id: u32, text: &[u8]) -> bool {
        self.uses[id as usize].serial != 0 && self.entries[id as usize].text == text
    }

    /// Finds a string, or inserts it. If the table is full, it replaces an entry that has not been
    /// used for the longest time, approximately.
    pub fn find_or_insert(&mut self, text: &[u8], row: u64) -> Result<AssignedId, TableFull> {
        let hash = hash(text);
        let mut id = self.buckets[self.bucket(hash)];
        while id != 0 {
            let entry = &self.entries[id as usize];
            if entry.hash == hash && entry.text == text {
                return Ok(self.reuse(id, row));
            }
            id = entry.chain;
        }
        self.set(text, hash, row)
    }

    fn set(&mut self, text: &[u8], hash: u32, row: u64) -> Result<AssignedId, TableFull> {
        let id = if self.entries.len() <= self.size as usize {
            self.entries.push(EntryText {
                text: self.spare.pop().unwrap_or_default(),
                ..EntryText::default()
            });
            self.uses.push(EntryUse::default());
            let id = self.entries.len() as u32 - 1;
            if 2 * self.entries.len() > self.buckets.len() {
                self.grow();
            }
            id
        } else {
            let id = self.find_replaceable(row).ok_or(TableFull)?;
            self.forget(id);
            id
        };
        self.serial = self.serial.wrapping_add(1).max(1);
        let bucket = self.bucket(hash);
        let entry = &mut self.entries[id as usize];
        if entry.text.capacity() / 4 > text.len() + 64 {
            entry.text = Vec::new();
        }
        entry.text.clear();
        entry.text.extend_from_slice(text);
        entry.hash = hash;
        entry.chain = self.buckets[bucket];
        self.buckets[bucket] = id;
        self.uses[id as usize] = EntryUse {
            row,
            serial: self.serial,
            is_spared: false,
        };
        self.bytes += text.len();
        if self.bytes > MAX_BYTES {
            self.evict(row);
        }
        let entry = if id == self.last_set.wrapping_add(1) {
            0
        } else {
            id
        };
        self.last_set = id;
        Ok(AssignedId {
            id,
            serial: self.serial,
            entry: Some(entry),
        })
    }

    /// Returns an entry that neither the current row uses nor any row has used since the last visit.
    /// Returns `None` if the current row uses all entries.
    fn find_replaceable(&mut self, row: u64) -> Option<u32> {
        (0..self.visits()).find_map(|_| self.visit_next(row))
    }

    /// Number of visits after which every entry has been visited twice. At the second visit no entry
    /// is spared.
    fn visits(&self) -> usize {
        2 * (self.uses.len() - 1)
    }

    /// Visits the next entry. Returns it if it can be replaced.
    fn visit_next(&mut self, row: u64) -> Option<u32> {
        self.hand += 1;
        if self.hand as usize >= self.uses.len() {
            self.hand = 1;
        }
        let entry = &mut self.uses[self.hand as usize];
        let is_spared = std::mem::take(&mut entry.is_spared);
        (!is_spared && entry.row != row).then_some(self.hand)
    }

    /// Evicts strings until the total is within the limit or only entries of the current row are
    /// left.
    #[cold]
    fn evict(&mut self, row: u64) {
        if self.full_row == row {
            return;
        }
        for _ in 0..self.visits() {
            if self.bytes <= MAX_BYTES {
                return;
            }
            if let Some(id) = self.visit_next(row)
                && self.uses[id as usize].serial != 0
            {
                self.forget(id);
                self.entries[id as usize].text = Vec::new();
            }
        }
        if self.bytes > MAX_BYTES {
            self.full_row = row;
        }
    }

    /// Removes the string of an entry from the index.
    fn forget(&mut self, id: u32) {
        if std::mem::take(&mut self.uses[id as usize].serial) == 0 {
            return;
        }
        let entry = &self.entries[id as usize];
        let (bucket, chain) = (self.bucket(entry.hash), entry.chain);
        self.bytes -= entry.text.len();
        let mut at = self.buckets[bucket];
        if at == id {
            self.buckets[bucket] = chain;
        } else {
            while self.entries[at as usize].chain != id {
                at = self.entries[at as usize].chain;
            }
            self.entries[at as usize].chain = chain;
        }
    }

    #[inline]
    fn bucket(&self, hash: u32) -> usize {
        hash as usize & (self.buckets.len() - 1)
    }

    fn grow(&mut self) {
        self.buckets = vec![0; self.buckets.len() * 2];
        for id in 1..self.entries.len() {
            if self.uses[id].serial != 0 {
                let bucket = self.bucket(self.entries[id].hash);
                self.entries[id].chain = self.buckets[bucket];
                self.buckets[bucket] = id as u32;
            }
        }
    }
}

#[inline]
fn hash(text: &[u8]) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.finish() as u32
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing test may panic
    use super::*;

    #[test]
    fn an_entry_that_was_used_again_is_spared_once() {
        let mut table = EncoderTable::new(2);
        let a = table.find_or_insert(b"a", 1).unwrap();
        assert_eq!((a.id, a.entry), (1, Some(1)));
        let b = table.find_or_insert(b"b", 2).unwrap();
        assert_eq!((b.id, b.entry), (2, Some(0)));
        assert_eq!(table.find_or_insert(b"a", 3).unwrap().entry, None);
        let c = table.find_or_insert(b"c", 4).unwrap();
        assert_eq!((c.id, c.entry), (2, Some(2)));
        assert!(!table.is_current(b.id, b.serial));
        assert!(table.is_current(a.id, a.serial));
        let d = table.find_or_insert(b"d", 5).unwrap();
        assert_eq!((d.id, d.entry), (1, Some(1)));
    }

    #[test]
    fn the_first_entry_after_a_reset_has_an_explicit_id() {
        let mut table = EncoderTable::new(8);
        for _ in 0..2 {
            assert_eq!(table.find_or_insert(b"a", 1).unwrap().entry, Some(1));
            assert_eq!(table.find_or_insert(b"b", 2).unwrap().entry, Some(0));
            table.reset();
        }
    }

    #[test]
    fn entries_of_the_current_row_are_kept() {
        let mut table = EncoderTable::new(2);
        table.find_or_insert(b"a", 1).unwrap();
        table.find_or_insert(b"b", 1).unwrap();
        assert!(table.find_or_insert(b"c", 1).is_err());
        assert!(table.find_or_insert(b"c", 2).is_ok());
        assert!(EncoderTable::new(0).find_or_insert(b"a", 1).is_err());
    }

    #[test]
    fn a_reader_of_the_entries_finds_each_string() {
        let mut table = EncoderTable::new(7);
        let mut read = [u32::MAX; 8]; // the strings of the entries, by id
        let mut last = 0;
        let mut state = 1u32;
        for row in 1..20_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let text = (state >> 24) % 20;
            let assigned = table.find_or_insert(&text.to_le_bytes(), row).unwrap();
            assert_eq!(assigned.entry.is_none(), read.contains(&text));
            if let Some(entry) = assigned.entry {
                last = if entry == 0 { last + 1 } else { entry };
                assert_eq!(last, assigned.id);
                read[last as usize] = text;
            }
            assert_eq!(read[assigned.id as usize], text);
        }
    }

    #[test]
    fn a_string_in_constant_use_is_kept() {
        let mut table = EncoderTable::new(7);
        for row in 1..1_000u64 {
            table.find_or_insert(b"often", 2 * row).unwrap();
            let assigned = table
                .find_or_insert(&row.to_le_bytes(), 2 * row + 1)
                .unwrap();
            assert!(assigned.entry.is_some());
        }
        assert!(table.has_text(1, b"often"));
        assert_eq!(table.uses[1].serial, 1);
    }

    #[test]
    fn a_table_of_one_entry_replaces_it_in_each_row() {
        let mut table = EncoderTable::new(1);
        for row in 1..5u64 {
            let assigned = table.find_or_insert(&row.to_le_bytes(), row).unwrap();
            assert_eq!((assigned.id, assigned.entry), (1, Some(1)));
            assert!(table.find_or_insert(b"another", row).is_err());
            table.touch(1, row);
        }
    }

    #[test]
    fn strings_above_the_limit_are_evicted_even_if_they_were_used_again() {
        let mut table = EncoderTable::new(1000);
        for row in 1..900u64 {
            table.find_or_insert(&row.to_le_bytes(), row).unwrap();
        }
        // This string leaves most entries empty.
        table.find_or_insert(&vec![b'a'; MAX_BYTES], 900).unwrap();
        assert_eq!(table.bytes, MAX_BYTES);
        for row in 1000..1100u64 {
            let mut text = vec![b'b'; 1 << 20];
            text.extend_from_slice(&row.to_le_bytes());
            let assigned = table.find_or_insert(&text, row).unwrap();
            table.touch(assigned.id, row);
            assert!(table.bytes <= MAX_BYTES);
            assert!(table.has_text(assigned.id, &text));
        }
    }

    #[test]
    fn strings_of_the_current_row_are_kept_above_the_limit() {
        let mut table = EncoderTable::new(100);
        let text = |number: u64| [vec![b'a'; 4 << 20], number.to_le_bytes().to_vec()].concat();
        for number in 0..20 {
            table.find_or_insert(&text(number), 1).unwrap();
        }
        assert!(table.bytes > MAX_BYTES);
        assert!((0..20).all(|number| table.has_text(number as u32 + 1, &text(number))));
        table.find_or_insert(b"next row", 2).unwrap();
        assert!(table.bytes <= MAX_BYTES);
    }

    #[test]
    fn large_strings_are_evicted_early() {
        let mut table = EncoderTable::new(100);
        for row in 0..40u64 {
            let mut text = vec![b'a'; 4 << 20];
            text.extend_from_slice(&row.to_le_bytes());
            table.find_or_insert(&text, row + 1).unwrap();
            assert!(table.bytes <= MAX_BYTES);
        }
    }
}

//! Lookup tables of an encoder, which replace the least recently used entries.
//!
//! - In: strings, and the number of the row that uses them.
//! - Out: their ids, and whether an entry must be written first.
//! - Cost: constant, one hash and one comparison. Memory grows with the entries. The total size of
//!   the strings is limited; above the limit old entries are evicted early.
//! - Law: an entry that the current row uses is never replaced, because the row would then refer to
//!   another term.

use std::hash::Hasher as _;

use rustc_hash::FxHasher;

/// Limit for the total size of the strings in a table, in bytes, not counting the entries of the
/// current row.
const MAX_BYTES: usize = 64 << 20;

#[derive(Default)]
struct LruEntry {
    text: Vec<u8>,
    /// Low bits of the hash, and the next entry in the same bucket.
    hash: u32,
    chain: u32,
    /// Neighbours in the list ordered by age; entry 0 is the sentinel at both ends.
    older: u32,
    newer: u32,
    /// Unique for each string stored in the entry; 0 for none.
    serial: u32,
    /// The last row that used the entry.
    row: u64,
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
pub(super) struct LruTable {
    size: u32,
    entries: Vec<LruEntry>,
    buckets: Vec<u32>,
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

impl LruTable {
    pub fn new(size: u32) -> Self {
        Self {
            size,
            entries: vec![LruEntry::default()],
            buckets: vec![0; 16],
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
        self.entries[0] = LruEntry::default();
        self.buckets.clear();
        self.buckets.resize(16, 0);
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
        self.entries[id as usize].serial == serial
    }

    /// Marks an entry as used by a row.
    #[inline]
    pub fn touch(&mut self, id: u32, row: u64) {
        self.entries[id as usize].row = row;
        if self.entries[0].older != id {
            self.unlink(id);
            self.link(id);
        }
    }

    /// Marks an existing entry as used and returns its id.
    #[inline]
    pub fn reuse(&mut self, id: u32, row: u64) -> AssignedId {
        let serial = self.entries[id as usize].serial;
        self.touch(id, row);
        AssignedId {
            id,
            serial,
            entry: None,
        }
    }

    /// Whether the entry at an id contains this string.
    #[inline]
    pub fn has_text(&self, id: u32, text: &[u8]) -> bool {
        let entry = &self.entries[id as usize];
        entry.serial != 0 && entry.text == text
    }

    /// Finds a string, or inserts it, replacing the least recently used one if the table is full.
    pub fn find_or_insert(&mut self, text: &[u8], row: u64) -> Result<AssignedId, TableFull> {
        let hash = hash(text);
        let mut id = self.buckets[self.bucket(hash)];
        while id != 0 {
            let entry = &self.entries[id as usize];
            if entry.hash == hash && entry.text == text {
                let serial = entry.serial;
                self.touch(id, row);
                return Ok(AssignedId {
                    id,
                    serial,
                    entry: None,
                });
            }
            id = entry.chain;
        }
        self.set(text, hash, row)
    }

    fn set(&mut self, text: &[u8], hash: u32, row: u64) -> Result<AssignedId, TableFull> {
        let id = if self.entries.len() <= self.size as usize {
            self.entries.push(LruEntry {
                text: self.spare.pop().unwrap_or_default(),
                ..LruEntry::default()
            });
            let id = self.entries.len() as u32 - 1;
            if self.entries.len() > self.buckets.len() {
                self.grow();
            }
            id
        } else {
            // The oldest entry is the sentinel's newer neighbour.
            let oldest = self.entries[0].newer;
            if oldest == 0 || self.entries[oldest as usize].row == row {
                return Err(TableFull);
            }
            self.forget(oldest);
            self.unlink(oldest);
            oldest
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
        entry.serial = self.serial;
        entry.row = row;
        entry.chain = self.buckets[bucket];
        self.buckets[bucket] = id;
        self.link(id);
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

    /// Evicts the oldest strings until the total is within the limit or only entries of the current
    /// row are left.
    #[cold]
    fn evict(&mut self, row: u64) {
        let mut id = self.entries[0].newer;
        while self.bytes > MAX_BYTES && id != 0 && self.entries[id as usize].row != row {
            if self.entries[id as usize].serial != 0 {
                self.forget(id);
                self.entries[id as usize].text = Vec::new();
            }
            id = self.entries[id as usize].newer;
        }
    }

    /// Removes the string of an entry from the index.
    fn forget(&mut self, id: u32) {
        let entry = &self.entries[id as usize];
        if entry.serial == 0 {
            return;
        }
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
        self.entries[id as usize].serial = 0;
    }

    #[inline]
    fn bucket(&self, hash: u32) -> usize {
        hash as usize & (self.buckets.len() - 1)
    }

    fn grow(&mut self) {
        self.buckets = vec![0; self.buckets.len() * 2];
        for id in 1..self.entries.len() {
            if self.entries[id].serial != 0 {
                let bucket = self.bucket(self.entries[id].hash);
                self.entries[id].chain = self.buckets[bucket];
                self.buckets[bucket] = id as u32;
            }
        }
    }

    /// Makes an entry the newest one: the sentinel's older neighbour.
    #[inline]
    fn link(&mut self, id: u32) {
        let newest = self.entries[0].older;
        self.entries[newest as usize].newer = id;
        let entry = &mut self.entries[id as usize];
        entry.older = newest;
        entry.newer = 0;
        self.entries[0].older = id;
    }

    #[inline]
    fn unlink(&mut self, id: u32) {
        let LruEntry { older, newer, .. } = self.entries[id as usize];
        self.entries[older as usize].newer = newer;
        self.entries[newer as usize].older = older;
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
    fn the_least_recently_used_entry_is_replaced() {
        let mut lru = LruTable::new(2);
        let a = lru.find_or_insert(b"a", 1).unwrap();
        assert_eq!((a.id, a.entry), (1, Some(1)));
        let b = lru.find_or_insert(b"b", 2).unwrap();
        assert_eq!((b.id, b.entry), (2, Some(0)));
        assert_eq!(lru.find_or_insert(b"a", 3).unwrap().entry, None);
        let c = lru.find_or_insert(b"c", 4).unwrap();
        assert_eq!((c.id, c.entry), (2, Some(2)));
        assert!(!lru.is_current(b.id, b.serial));
        assert!(lru.is_current(a.id, a.serial));
        let d = lru.find_or_insert(b"d", 5).unwrap();
        assert_eq!((d.id, d.entry), (1, Some(1)));
    }

    #[test]
    fn the_first_entry_after_a_reset_has_an_explicit_id() {
        let mut lru = LruTable::new(8);
        for _ in 0..2 {
            assert_eq!(lru.find_or_insert(b"a", 1).unwrap().entry, Some(1));
            assert_eq!(lru.find_or_insert(b"b", 2).unwrap().entry, Some(0));
            lru.reset();
        }
    }

    #[test]
    fn entries_of_the_current_row_are_kept() {
        let mut lru = LruTable::new(2);
        lru.find_or_insert(b"a", 1).unwrap();
        lru.find_or_insert(b"b", 1).unwrap();
        assert!(lru.find_or_insert(b"c", 1).is_err());
        assert!(lru.find_or_insert(b"c", 2).is_ok());
        assert!(LruTable::new(0).find_or_insert(b"a", 1).is_err());
    }

    #[test]
    fn a_table_agrees_with_a_plain_list() {
        let mut lru = LruTable::new(7);
        let mut plain: Vec<(u32, u32)> = Vec::new(); // text, id; oldest first
        let mut state = 1u32;
        for row in 1..20_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let text = (state >> 24) % 20;
            let assigned = lru.find_or_insert(&text.to_le_bytes(), row).unwrap();
            let found = plain.iter().position(|entry| entry.0 == text);
            let id = match found {
                Some(at) => plain.remove(at).1,
                None if plain.len() < 7 => plain.len() as u32 + 1,
                None => plain.remove(0).1,
            };
            plain.push((text, id));
            assert_eq!(
                (assigned.id, assigned.entry.is_none()),
                (id, found.is_some())
            );
        }
    }

    #[test]
    fn large_strings_are_evicted_early() {
        let mut lru = LruTable::new(100);
        for row in 0..40u64 {
            let mut text = vec![b'a'; 4 << 20];
            text.extend_from_slice(&row.to_le_bytes());
            lru.find_or_insert(&text, row + 1).unwrap();
            assert!(lru.bytes <= MAX_BYTES);
        }
    }
}

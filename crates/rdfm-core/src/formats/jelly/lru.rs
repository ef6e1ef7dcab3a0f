//! Lookup tables of an encoder, which replace the least recently used entries.
//!
//! - In: texts, and the number of the row that uses them.
//! - Out: their ids, and whether an entry must be written first.
//! - Cost: one hash and one comparison; constant. Memory grows with the entries. The total size of
//!   the texts is limited; above the limit old entries are evicted early.
//! - Law: an entry that the current row uses is never replaced, because the row would then refer to
//!   another term.

use std::hash::Hasher as _;

use rustc_hash::FxHasher;

/// Limit of the texts in a table, in bytes, not counting the entries of the current row.
const MAX_BYTES: usize = 64 << 20;

#[derive(Default)]
struct Slot {
    text: Vec<u8>,
    /// Low bits of the hash, and the next slot in the same bucket.
    hash: u32,
    chain: u32,
    /// Neighbours in the list ordered by age; slot 0 is the sentinel at both ends.
    older: u32,
    newer: u32,
    /// Unique for each text stored in the slot; 0 for none.
    serial: u32,
    /// The last row that used it.
    row: u64,
}

/// The location of a text.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub id: u32,
    pub serial: u32,
    /// Id to write for a new entry (0: previous + 1), or `None` if the entry already exists.
    pub entry: Option<u32>,
}

/// Error: every entry is used by the current row.
#[derive(Debug)]
pub(super) struct Full;

/// A lookup table with a fixed maximum number of entries, with ids from 1.
pub(super) struct Lru {
    size: u32,
    slots: Vec<Slot>,
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

/// The previous id before the first entry. No id follows it, so the first entry has an explicit id.
const NO_ID: u32 = u32::MAX;

impl Lru {
    pub fn new(size: u32) -> Self {
        Self {
            size,
            slots: vec![Slot::default()],
            buckets: vec![0; 16],
            last_set: NO_ID,
            serial: 0,
            bytes: 0,
            spare: Vec::new(),
        }
    }

    /// Removes all entries.
    pub fn reset(&mut self) {
        for mut slot in self.slots.drain(1..) {
            if slot.text.capacity() <= SPARE_BYTES && self.spare.len() < self.size as usize {
                slot.text.clear();
                self.spare.push(slot.text);
            }
        }
        self.slots[0] = Slot::default();
        self.buckets.clear();
        self.buckets.resize(16, 0);
        self.last_set = NO_ID;
        self.serial = 0;
        self.bytes = 0;
    }

    pub fn size(&self) -> u32 {
        self.size
    }

    /// Whether the entry at an id still has the text it had when this serial was returned. True for
    /// id 0 with serial 0.
    #[inline]
    pub fn holds(&self, id: u32, serial: u32) -> bool {
        self.slots[id as usize].serial == serial
    }

    /// Marks an entry as used by a row.
    #[inline]
    pub fn touch(&mut self, id: u32, row: u64) {
        self.slots[id as usize].row = row;
        if self.slots[0].older != id {
            self.unlink(id);
            self.link(id);
        }
    }

    /// Returns the place of an existing entry and marks it as used.
    #[inline]
    pub fn again(&mut self, id: u32, row: u64) -> Place {
        let serial = self.slots[id as usize].serial;
        self.touch(id, row);
        Place {
            id,
            serial,
            entry: None,
        }
    }

    /// Whether the entry at an id has this text.
    #[inline]
    pub fn stands_for(&self, id: u32, text: &[u8]) -> bool {
        let slot = &self.slots[id as usize];
        slot.serial != 0 && slot.text == text
    }

    /// Finds a text, or stores it in place of the least recently used one.
    pub fn place(&mut self, text: &[u8], row: u64) -> Result<Place, Full> {
        let hash = hash(text);
        let mut id = self.buckets[self.bucket(hash)];
        while id != 0 {
            let slot = &self.slots[id as usize];
            if slot.hash == hash && slot.text == text {
                let serial = slot.serial;
                self.touch(id, row);
                return Ok(Place {
                    id,
                    serial,
                    entry: None,
                });
            }
            id = slot.chain;
        }
        self.set(text, hash, row)
    }

    fn set(&mut self, text: &[u8], hash: u32, row: u64) -> Result<Place, Full> {
        let id = if self.slots.len() <= self.size as usize {
            self.slots.push(Slot {
                text: self.spare.pop().unwrap_or_default(),
                ..Slot::default()
            });
            let id = self.slots.len() as u32 - 1;
            if self.slots.len() > self.buckets.len() {
                self.grow();
            }
            id
        } else {
            // The oldest entry is the sentinel's newer neighbour.
            let oldest = self.slots[0].newer;
            if oldest == 0 || self.slots[oldest as usize].row == row {
                return Err(Full);
            }
            self.forget(oldest);
            self.unlink(oldest);
            oldest
        };
        self.serial = self.serial.wrapping_add(1).max(1);
        let bucket = self.bucket(hash);
        let slot = &mut self.slots[id as usize];
        if slot.text.capacity() / 4 > text.len() + 64 {
            slot.text = Vec::new();
        }
        slot.text.clear();
        slot.text.extend_from_slice(text);
        slot.hash = hash;
        slot.serial = self.serial;
        slot.row = row;
        slot.chain = self.buckets[bucket];
        self.buckets[bucket] = id;
        self.link(id);
        self.bytes += text.len();
        if self.bytes > MAX_BYTES {
            self.shed(row);
        }
        let entry = if id == self.last_set.wrapping_add(1) {
            0
        } else {
            id
        };
        self.last_set = id;
        Ok(Place {
            id,
            serial: self.serial,
            entry: Some(entry),
        })
    }

    /// Evicts the oldest texts until the total is within the limit or only entries of the current
    /// row are left.
    #[cold]
    fn shed(&mut self, row: u64) {
        let mut id = self.slots[0].newer;
        while self.bytes > MAX_BYTES && id != 0 && self.slots[id as usize].row != row {
            if self.slots[id as usize].serial != 0 {
                self.forget(id);
                self.slots[id as usize].text = Vec::new();
            }
            id = self.slots[id as usize].newer;
        }
    }

    /// Removes a slot's text from the index.
    fn forget(&mut self, id: u32) {
        let slot = &self.slots[id as usize];
        if slot.serial == 0 {
            return;
        }
        let (bucket, chain) = (self.bucket(slot.hash), slot.chain);
        self.bytes -= slot.text.len();
        let mut at = self.buckets[bucket];
        if at == id {
            self.buckets[bucket] = chain;
        } else {
            while self.slots[at as usize].chain != id {
                at = self.slots[at as usize].chain;
            }
            self.slots[at as usize].chain = chain;
        }
        self.slots[id as usize].serial = 0;
    }

    #[inline]
    fn bucket(&self, hash: u32) -> usize {
        hash as usize & (self.buckets.len() - 1)
    }

    fn grow(&mut self) {
        self.buckets = vec![0; self.buckets.len() * 2];
        for id in 1..self.slots.len() {
            if self.slots[id].serial != 0 {
                let bucket = self.bucket(self.slots[id].hash);
                self.slots[id].chain = self.buckets[bucket];
                self.buckets[bucket] = id as u32;
            }
        }
    }

    /// Makes a slot the newest: the sentinel's older neighbour.
    #[inline]
    fn link(&mut self, id: u32) {
        let newest = self.slots[0].older;
        self.slots[newest as usize].newer = id;
        let slot = &mut self.slots[id as usize];
        slot.older = newest;
        slot.newer = 0;
        self.slots[0].older = id;
    }

    #[inline]
    fn unlink(&mut self, id: u32) {
        let Slot { older, newer, .. } = self.slots[id as usize];
        self.slots[older as usize].newer = newer;
        self.slots[newer as usize].older = older;
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
    fn the_least_recently_used_entry_makes_room() {
        let mut lru = Lru::new(2);
        let a = lru.place(b"a", 1).unwrap();
        assert_eq!((a.id, a.entry), (1, Some(1)));
        let b = lru.place(b"b", 2).unwrap();
        assert_eq!((b.id, b.entry), (2, Some(0)));
        assert_eq!(lru.place(b"a", 3).unwrap().entry, None);
        let c = lru.place(b"c", 4).unwrap();
        assert_eq!((c.id, c.entry), (2, Some(2)));
        assert!(!lru.holds(b.id, b.serial));
        assert!(lru.holds(a.id, a.serial));
        let d = lru.place(b"d", 5).unwrap();
        assert_eq!((d.id, d.entry), (1, Some(1)));
    }

    #[test]
    fn the_first_entry_after_a_reset_has_an_explicit_id() {
        let mut lru = Lru::new(8);
        for _ in 0..2 {
            assert_eq!(lru.place(b"a", 1).unwrap().entry, Some(1));
            assert_eq!(lru.place(b"b", 2).unwrap().entry, Some(0));
            lru.reset();
        }
    }

    #[test]
    fn what_the_row_uses_stays() {
        let mut lru = Lru::new(2);
        lru.place(b"a", 1).unwrap();
        lru.place(b"b", 1).unwrap();
        assert!(lru.place(b"c", 1).is_err());
        assert!(lru.place(b"c", 2).is_ok());
        assert!(Lru::new(0).place(b"a", 1).is_err());
    }

    #[test]
    fn agrees_with_a_plain_list() {
        let mut lru = Lru::new(7);
        let mut plain: Vec<(u32, u32)> = Vec::new(); // text, id; oldest first
        let mut state = 1u32;
        for row in 1..20_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let text = (state >> 24) % 20;
            let place = lru.place(&text.to_le_bytes(), row).unwrap();
            let found = plain.iter().position(|entry| entry.0 == text);
            let id = match found {
                Some(at) => plain.remove(at).1,
                None if plain.len() < 7 => plain.len() as u32 + 1,
                None => plain.remove(0).1,
            };
            plain.push((text, id));
            assert_eq!((place.id, place.entry.is_none()), (id, found.is_some()));
        }
    }

    #[test]
    fn large_texts_are_forgotten_early() {
        let mut lru = Lru::new(100);
        for row in 0..40u64 {
            let mut text = vec![b'a'; 4 << 20];
            text.extend_from_slice(&row.to_le_bytes());
            lru.place(&text, row + 1).unwrap();
            assert!(lru.bytes <= MAX_BYTES);
        }
    }
}

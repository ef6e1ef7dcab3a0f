//! A hash table of numbers that represent values stored elsewhere.
//!
//! - In: hashes and numbers, and a function that compares a number with the value to find. Out:
//!   numbers.
//! - Cost: eight bytes per slot, with three eighths to three quarters of the slots in use; about
//!   one cache line per lookup.
//! - Law: a number is found from insertion to removal, and is stored once. Results do not depend on
//!   the hashes.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

/// Randomly seeded, so that no input can be crafted to collide.
static HASHES: LazyLock<RandomState> = LazyLock::new(RandomState::new);

const EMPTY: u64 = 0;
const MIN_SLOTS: usize = 16;

/// The hash of a string.
pub fn hash_bytes(bytes: &[u8]) -> u32 {
    HASHES.hash_one(bytes) as u32
}

/// The hash of four numbers.
pub fn hash_numbers([a, b, c, d]: [u32; 4]) -> u32 {
    let halves = [(a, b), (c, d)].map(|(high, low)| u64::from(high) << 32 | u64::from(low));
    HASHES.hash_one(halves) as u32
}

/// A table of numbers by hash.
#[derive(Default)]
pub struct Index {
    /// Hash in the high half and number + 1 in the low half, or [`EMPTY`]. An entry is at its home
    /// slot or in the run of occupied slots after it.
    slots: Vec<u64>,
    count: usize,
}

impl Index {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.count
    }

    fn next(&self, index: usize) -> usize {
        (index + 1) & (self.slots.len() - 1)
    }

    fn home(&self, hash: u32) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    /// Reads the home slots of many hashes at once, so that the cache misses overlap.
    pub fn prefetch(&self, hashes: impl Iterator<Item = u32>) {
        if self.slots.is_empty() {
            return;
        }
        let read = hashes.fold(0, |all, hash| all ^ self.slots[self.home(hash)]);
        std::hint::black_box(read);
    }

    /// Returns the slot of the matching number with this hash.
    fn slot(&self, hash: u32, matches: impl Fn(u32) -> bool) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mut index = self.home(hash);
        while self.slots[index] != EMPTY {
            if hash_of(self.slots[index]) == hash && matches(number_of(self.slots[index])) {
                return Some(index);
            }
            index = self.next(index);
        }
        None
    }

    /// Returns the matching number with this hash.
    #[inline]
    pub fn find(&self, hash: u32, matches: impl Fn(u32) -> bool) -> Option<u32> {
        Some(number_of(self.slots[self.slot(hash, matches)?]))
    }

    /// Adds a number below 2^32 - 1 that is not in the index.
    #[inline]
    pub fn insert(&mut self, hash: u32, number: u32) {
        if 4 * (self.count + 1) > 3 * self.slots.len() {
            let room = (2 * self.slots.len()).max(MIN_SLOTS);
            let before = std::mem::replace(&mut self.slots, vec![EMPTY; room]);
            for slot in before.into_iter().filter(|slot| *slot != EMPTY) {
                self.put(slot);
            }
        }
        self.count += 1;
        self.put(u64::from(hash) << 32 | (u64::from(number) + 1));
    }

    fn put(&mut self, slot: u64) {
        let mut index = self.home(hash_of(slot));
        while self.slots[index] != EMPTY {
            index = self.next(index);
        }
        self.slots[index] = slot;
    }

    /// Removes and returns the matching number with this hash.
    #[inline]
    pub fn remove(&mut self, hash: u32, matches: impl Fn(u32) -> bool) -> Option<u32> {
        let mut free = self.slot(hash, matches)?;
        let number = number_of(self.slots[free]);
        self.count -= 1;
        // Moves later entries of the run forward, but never before their home slots.
        let mut index = self.next(free);
        while self.slots[index] != EMPTY {
            let home = self.home(hash_of(self.slots[index]));
            let mask = self.slots.len() - 1;
            if index.wrapping_sub(home) & mask >= index.wrapping_sub(free) & mask {
                self.slots[free] = self.slots[index];
                free = index;
            }
            index = self.next(index);
        }
        self.slots[free] = EMPTY;
        Some(number)
    }
}

fn hash_of(slot: u64) -> u32 {
    (slot >> 32) as u32
}

fn number_of(slot: u64) -> u32 {
    (slot as u32).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Many numbers with few home slots: removing one never hides another.
    #[test]
    fn an_index_behaves_like_a_map() {
        let mut index = Index::default();
        let mut map = BTreeMap::new();
        let mut random = 1_u64;
        for _ in 0..20_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let number = (random >> 40) as u32 % 300;
            let hash = number % 7 * 0x1000_0001 + number % 3 * 14;
            if random >> 62 == 0 {
                assert_eq!(
                    index.remove(hash, |other| other == number),
                    map.remove(&number).map(|_| number)
                );
            } else if map.insert(number, hash).is_none() {
                index.insert(hash, number);
            }
            assert_eq!(index.len(), map.len());
        }
        for number in 0..300 {
            let hash = number % 7 * 0x1000_0001 + number % 3 * 14;
            let actual = index.find(hash, |other| other == number);
            assert_eq!(actual, map.get(&number).map(|_| number));
        }
    }
}

//! The keys used with a context, and their meanings.
//!
//! - In: keys. Out: their meanings.
//! - Cost: one comparison if the caller guesses the key's number correctly, otherwise also a hash
//!   lookup. All strings are in one buffer.

use std::hash::BuildHasher;

use super::context::{Meaning, Property};
use super::table::Seeded;
use crate::syntax::cache::starts_with;

/// Keys by text.
#[derive(Debug, Default)]
pub(super) struct ContextKeys {
    /// Hash table of key numbers plus 1; 0 is an empty slot. The length is a power of two.
    slots: Vec<u32>,
    list: Vec<ContextKey>,
    texts: Vec<u8>,
    properties: Vec<Property>,
    /// Numbers of properties whose keys were removed.
    free_numbers: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct ContextKey {
    hash: u64,
    start: u32,
    length: u32,
    /// `None` if removed.
    meaning: Option<Meaning>,
}

#[inline]
fn hash(text: &[u8]) -> u64 {
    Seeded::default().hash_one(text)
}

impl ContextKeys {
    /// Returns the meaning of a key if the key has this number.
    #[inline]
    pub fn at(&self, number: u32, text: &[u8]) -> Option<Meaning> {
        let key = self.list.get(number as usize)?;
        if self.is(key, text) {
            key.meaning
        } else {
            None
        }
    }

    /// Returns the meaning and number of a known key.
    pub fn get(&self, text: &[u8]) -> Option<(Meaning, u32)> {
        let number = self.find(text)?;
        let key = self.list.get(number as usize)?;
        Some((key.meaning?, number))
    }

    /// Returns the number of a key.
    fn find(&self, text: &[u8]) -> Option<u32> {
        let hash = hash(text);
        let mask = self.slots.len().wrapping_sub(1);
        let mut index = hash as usize & mask;
        loop {
            let number = self.slots.get(index)?.checked_sub(1)?;
            let key = self.list.get(number as usize)?;
            if key.hash == hash && self.is(key, text) {
                return Some(number);
            }
            index = (index + 1) & mask;
        }
    }

    /// Whether a key has this text.
    #[inline]
    fn is(&self, key: &ContextKey, text: &[u8]) -> bool {
        key.length as usize == text.len() && starts_with(text, self.text(key))
    }

    #[inline]
    fn text(&self, key: &ContextKey) -> &[u8] {
        let start = key.start as usize;
        self.texts
            .get(start..start + key.length as usize)
            .unwrap_or_default()
    }

    /// Removes the meanings of some keys.
    pub fn forget(&mut self, is_gone: impl Fn(&[u8]) -> bool) {
        for number in 0..self.list.len() {
            let key = self.list[number];
            if is_gone(self.text(&key)) {
                if let Some(Meaning::Property(property)) = key.meaning {
                    self.free_numbers.push(property);
                }
                self.list[number].meaning = None;
            }
        }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Adds a key that is unknown or was removed.
    pub fn add(&mut self, text: &[u8], meaning: Meaning) {
        if let Some(number) = self.find(text) {
            self.list[number as usize].meaning = Some(meaning);
            return;
        }
        if 2 * self.list.len() >= self.slots.len() {
            self.grow();
        }
        let hash = hash(text);
        let start = self.texts.len() as u32;
        self.texts.extend_from_slice(text);
        self.list.push(ContextKey {
            hash,
            start,
            length: text.len() as u32,
            meaning: Some(meaning),
        });
        self.insert_slot(hash, self.list.len() as u32);
    }

    /// Adds a property and returns its number.
    pub fn add_property(&mut self, property: Property) -> u32 {
        if let Some(number) = self.free_numbers.pop() {
            self.properties[number as usize] = property;
            return number;
        }
        self.properties.push(property);
        self.properties.len() as u32 - 1
    }

    #[inline]
    pub fn property(&self, number: u32) -> &Property {
        &self.properties[number as usize]
    }

    #[inline]
    pub fn property_mut(&mut self, number: u32) -> &mut Property {
        &mut self.properties[number as usize]
    }

    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(32);
        self.slots.clear();
        self.slots.resize(size, 0);
        for number in 0..self.list.len() {
            self.insert_slot(self.list[number].hash, number as u32 + 1);
        }
    }

    fn insert_slot(&mut self, hash: u64, number: u32) {
        let mask = self.slots.len() - 1;
        let mut index = hash as usize & mask;
        while self.slots[index] != 0 {
            index = (index + 1) & mask;
        }
        self.slots[index] = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_added_keys_are_found() {
        let mut keys = ContextKeys::default();
        assert_eq!(keys.get(b""), None);
        for number in 0..1000u32 {
            keys.add(format!("key{number}").as_bytes(), Meaning::Property(number));
        }
        keys.add(b"", Meaning::Null);
        for number in 0..1000 {
            let key = format!("key{number}");
            let meaning = Meaning::Property(number);
            assert_eq!(keys.get(key.as_bytes()), Some((meaning, number)));
            assert_eq!(keys.at(number, key.as_bytes()), Some(meaning));
            assert_eq!(keys.at(number + 1, key.as_bytes()), None);
        }
        assert_eq!(keys.at(2000, b"key7"), None);
        assert_eq!(keys.get(b""), Some((Meaning::Null, 1000)));
        assert_eq!(keys.get(b"key1000"), None);
        keys.forget(|key| key == b"key7");
        assert_eq!(keys.at(7, b"key7"), None);
        assert_eq!(keys.get(b"key7"), None);
        keys.add(b"key7", Meaning::Unmapped);
        assert_eq!(keys.get(b"key7"), Some((Meaning::Unmapped, 7)));
    }
}

//! Keyed 128-bit hashes of terms and records. The keys differ between processes unless the
//! processes share a secret.
//!
//! - In: terms of a term table. Out: numbers that are equal for equal terms.
//! - Cost: each term of a batch is hashed once.
//! - Law: the keys are secret, so that nobody can construct terms with equal hashes.

use std::hash::{BuildHasher as _, RandomState};

use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind, flags};

/// The secret keys.
#[derive(Clone, Debug)]
pub struct Keys([u64; 4]);

impl Keys {
    /// Creates keys that are unique to this process.
    pub fn new() -> Self {
        let secret = RandomState::new();
        Self([1u64, 2, 3, 4].map(|number| secret.hash_one(number)))
    }

    /// Creates keys from a secret that several processes share.
    pub const fn shared(secret: [u64; 4]) -> Self {
        Self(secret)
    }

    /// Hashes a string of two parts, together with its kind.
    pub fn text(&self, kind: u8, parts: [&[u8]; 2]) -> u128 {
        let mut mix = self.begin();
        for part in parts {
            let (chunks, rest) = part.as_chunks::<16>();
            for chunk in chunks {
                mix.add(u128::from_le_bytes(*chunk));
            }
            let mut last = [0; 16];
            last[..rest.len()].copy_from_slice(rest);
            mix.add(u128::from_le_bytes(last));
        }
        // The lengths distinguish a string from the same string with trailing zero bytes.
        let [first, second] = parts.map(|part| part.len() as u128);
        mix.add(first << 64 | second << 8 | u128::from(kind));
        mix.end()
    }

    /// Starts the hash of a sequence.
    pub const fn begin(&self) -> SequenceHash {
        SequenceHash {
            keys: [self.0[0], self.0[1]],
            halves: [self.0[2], self.0[3]],
        }
    }

    /// The hash of a sequence of numbers.
    pub fn hash_numbers(&self, numbers: &[u128]) -> u128 {
        let mut mix = self.begin();
        for &number in numbers {
            mix.add(number);
        }
        mix.end()
    }
}

/// An incomplete hash of a sequence.
#[derive(Clone, Copy, Debug)]
pub struct SequenceHash {
    keys: [u64; 2],
    halves: [u64; 2],
}

impl SequenceHash {
    /// Adds the next number.
    #[inline]
    pub fn add(&mut self, number: u128) {
        let (low, high) = (number as u64, (number >> 64) as u64);
        let [one, other] = self.halves;
        self.halves = [
            fold_product(one ^ low, self.keys[0] ^ high).wrapping_add(other),
            fold_product(other ^ high, self.keys[1] ^ low).wrapping_add(one.rotate_left(29)),
        ];
    }

    /// Returns the hash.
    #[inline]
    pub fn end(mut self) -> u128 {
        self.add(join(self.keys[1], self.keys[0]));
        join(self.halves[0], self.halves[1])
    }
}

/// The product of two numbers, with its halves combined by XOR.
#[inline]
const fn fold_product(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

const fn join(low: u64, high: u64) -> u128 {
    (high as u128) << 64 | low as u128
}

/// The hashes of a batch's terms, computed on demand. A blank node's hash is the hash of its label.
#[derive(Debug, Default)]
pub struct TermHashes {
    hashes: Vec<u128>,
}

/// Marks a hash that has not been computed.
const UNKNOWN: u128 = 0;

impl TermHashes {
    /// Discards all hashes, for another term table.
    pub fn clear(&mut self) {
        self.hashes.clear();
    }

    /// The hash of a term, including the labels of blank nodes.
    pub fn get(&mut self, keys: &Keys, table: &TermTable, id: TermId) -> u128 {
        if self.hashes.is_empty() {
            self.hashes.resize(table.terms().len(), UNKNOWN);
        }
        let hash = self.hashes[id.index()];
        if hash != UNKNOWN {
            return hash;
        }
        let hash = self.compute(keys, table, id);
        self.hashes[id.index()] = hash;
        hash
    }

    fn compute(&mut self, keys: &Keys, table: &TermTable, id: TermId) -> u128 {
        let term = table.term(id);
        let kind = term.kind as u8;
        let text = table.text_of(term);
        match term.kind {
            TermKind::DefaultGraph
            | TermKind::Iri
            | TermKind::BlankNode
            | TermKind::Literal
            | TermKind::Language => keys.text(kind, [text, b""]),
            TermKind::TypedLiteral => keys.text(kind, [text, table.text(TermId(term.aux))]),
            TermKind::LangLiteral => {
                let direction = term.flags & (flags::LTR | flags::RTL);
                keys.text(kind | direction << 4, [text, table.text(TermId(term.aux))])
            }
            TermKind::TripleTerm => {
                let mut mix = keys.begin();
                mix.add(u128::from(kind));
                for part in table.triple(term) {
                    mix.add(self.get(keys, table, part));
                }
                mix.end()
            }
        }
    }
}

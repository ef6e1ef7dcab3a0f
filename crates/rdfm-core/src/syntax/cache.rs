//! Finds terms of the current batch, so that recurring terms are stored once.
//!
//! - In: the bytes of a token, or a guess of the next term.
//! - Out: the id of the same term, if found. Sharing is only an optimization.
//! - Cost: one comparison per guess; a hash over at most 24 bytes and a comparison per lookup.
//!   The size is fixed.
//! - Law: a term is found only if it has the same record and bytes in the current batch.

use crate::model::builder::LogBuilder;
use crate::model::record::Record;
use crate::model::term::{Term, TermId, TermKind};

/// Number of slots for terms, a power of two.
pub(crate) const SLOTS: usize = 4096;
/// Number of slots for predicates, a power of two.
const PREDICATES: usize = 1024;

/// A term, possibly of an earlier batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecentTerm {
    serial: u32,
    pub id: TermId,
}

impl RecentTerm {
    /// No term. Serial numbers of batches begin with 1.
    pub const NONE: Self = Self {
        serial: 0,
        id: TermId::DEFAULT_GRAPH,
    };

    #[inline]
    pub fn new<R: Record>(builder: &LogBuilder<R>, id: TermId) -> Self {
        Self {
            serial: builder.serial(),
            id,
        }
    }

    /// Whether this is a term of the current batch.
    #[inline]
    pub fn is_current<R: Record>(self, builder: &LogBuilder<R>) -> bool {
        self.serial == builder.serial()
    }

    /// Returns the record and the text if this is a term of this kind in the current batch.
    #[inline]
    pub fn get<R: Record>(self, builder: &LogBuilder<R>, kind: TermKind) -> Option<(&Term, &[u8])> {
        if self.serial != builder.serial() {
            return None;
        }
        let term = builder.table().terms().get(self.id.index())?;
        if term.kind != kind {
            return None;
        }
        let from = builder.table().arena().get(term.offset as usize..)?;
        Some((term, from.get(..term.length as usize)?))
    }

    /// Whether this is a term with this kind and text in the current batch.
    #[inline]
    pub fn is<R: Record>(self, builder: &LogBuilder<R>, kind: TermKind, text: &[u8]) -> bool {
        self.get(builder, kind)
            .is_some_and(|(_, known)| known.len() == text.len() && starts_with(text, known))
    }
}

/// Whether a string begins with another. Inlined, because most strings are short. Compares the ends
/// first, because they differ most often.
#[inline]
pub(crate) fn starts_with(text: &[u8], with: &[u8]) -> bool {
    let Some(text) = text.get(..with.len()) else {
        return false;
    };
    if let (Some(a), Some(b)) = (text.last_chunk::<16>(), with.last_chunk::<16>()) {
        if u128::from_le_bytes(*a) != u128::from_le_bytes(*b) {
            return false;
        }
        let (a, _) = text.as_chunks::<16>();
        let (b, _) = with.as_chunks::<16>();
        return a
            .iter()
            .zip(b)
            .all(|(a, b)| u128::from_le_bytes(*a) == u128::from_le_bytes(*b));
    }
    if let (Some(a), Some(b)) = (text.last_chunk::<8>(), with.last_chunk::<8>()) {
        let first = text.first_chunk::<8>() == with.first_chunk::<8>();
        return first && u64::from_le_bytes(*a) == u64::from_le_bytes(*b);
    }
    text.iter().zip(with).all(|(a, b)| a == b)
}

/// The terms last used with a predicate. Logs often repeat lines of the same shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastTerms {
    /// The predicate of the next line.
    pub next: RecentTerm,
    pub object: RecentTerm,
    pub datatype: RecentTerm,
}

impl LastTerms {
    const NONE: Self = Self {
        next: RecentTerm::NONE,
        object: RecentTerm::NONE,
        datatype: RecentTerm::NONE,
    };
}

/// Recent terms by hash, and the last terms of each predicate. An empty cache finds nothing and
/// costs nothing.
#[derive(Default)]
pub(crate) struct Cache {
    slots: Box<[RecentTerm]>,
    by_predicate: Box<[LastTerms]>,
}

impl Cache {
    pub fn new() -> Self {
        Self {
            slots: vec![RecentTerm::NONE; SLOTS].into(),
            by_predicate: vec![LastTerms::NONE; PREDICATES].into(),
        }
    }

    /// Returns the slot for a kind and text.
    #[inline]
    pub fn slot(kind: TermKind, text: &[u8]) -> usize {
        const K: u64 = 0x9E37_79B9_7F4A_7C15;
        // Strings differ most at their ends, which often contain names and numbers.
        let hash = if let Some(last) = text.last_chunk::<16>() {
            let all = u128::from_le_bytes(*last);
            let middle = text.get(text.len() / 2 - 8..).and_then(<[u8]>::first_chunk);
            let middle = middle.map_or(0, |chunk| u64::from_le_bytes(*chunk));
            ((all >> 64) as u64)
                .wrapping_mul(K)
                .rotate_left(29)
                .wrapping_add(all as u64)
                .wrapping_mul(K)
                ^ middle
        } else if let (Some(a), Some(b)) = (text.first_chunk(), text.last_chunk()) {
            u64::from_le_bytes(*a).wrapping_mul(K).rotate_left(29) ^ u64::from_le_bytes(*b)
        } else {
            text.iter()
                .fold(0, |hash, &byte| hash << 8 | u64::from(byte))
        };
        let hash = (hash ^ (text.len() as u64) << 3 ^ kind as u64).wrapping_mul(K);
        (hash >> 52) as usize & (SLOTS - 1)
    }

    #[inline]
    pub fn get(&self, slot: usize) -> RecentTerm {
        self.slots.get(slot).copied().unwrap_or(RecentTerm::NONE)
    }

    #[inline]
    pub fn set(&mut self, slot: usize, known: RecentTerm) {
        if let Some(entry) = self.slots.get_mut(slot) {
            *entry = known;
        }
    }

    #[inline]
    pub fn last_terms(&self, predicate: TermId) -> LastTerms {
        let index = predicate.index() & (PREDICATES - 1);
        self.by_predicate
            .get(index)
            .copied()
            .unwrap_or(LastTerms::NONE)
    }

    #[inline]
    pub fn set_last_terms(&mut self, predicate: TermId, set: impl Fn(&mut LastTerms)) {
        if let Some(last_terms) = self
            .by_predicate
            .get_mut(predicate.index() & (PREDICATES - 1))
        {
            set(last_terms);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_every_length_are_compared_completely() {
        let text: Vec<u8> = (0..80).collect();
        for length in 0..=text.len() {
            assert!(starts_with(&text, &text[..length]));
            for index in 0..length {
                let mut other = text[..length].to_vec();
                other[index] ^= 0x40;
                assert!(!starts_with(&text, &other), "{length} {index}");
            }
            assert!(Cache::slot(TermKind::Iri, &text[..length]) < SLOTS);
        }
        assert!(!starts_with(b"a", b"ab"));
    }
}

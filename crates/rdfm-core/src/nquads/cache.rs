//! Finds terms of the batch again, so that terms that recur are stored once.
//!
//! - In: a token's bytes, or a guess which term comes next.
//! - Out: the id of the same term, if it is found; sharing is never needed.
//! - Cost: a comparison a guess; a hash of 24 bytes and a comparison a lookup. Fixed size.
//! - Law: self-verifying: what is found has the same bytes in the batch's arena.

use crate::batch::BatchBuilder;
use crate::term::{TermId, TermKind};

/// Slots for terms; a power of two.
const SLOTS: usize = 4096;
/// Slots for what followed a term; a power of two.
const FOLLOWERS: usize = 1024;

/// A term of a batch, with what is needed to compare it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    serial: u32,
    pub id: TermId,
    offset: u32,
    length: u32,
    pub kind: TermKind,
}

impl Default for Known {
    fn default() -> Self {
        Self::NONE
    }
}

impl Known {
    /// Matches no token.
    pub const NONE: Self = Self {
        serial: 0,
        id: TermId::DEFAULT_GRAPH,
        offset: 0,
        length: 0,
        kind: TermKind::DefaultGraph,
    };

    #[inline]
    pub fn new(builder: &BatchBuilder, id: TermId) -> Self {
        let term = builder.table().term(id);
        Self {
            serial: builder.serial(),
            id,
            offset: term.offset,
            length: term.length,
            kind: term.kind,
        }
    }

    /// A term that is not to be found again: its text is not its token.
    #[inline]
    pub fn unshared(id: TermId) -> Self {
        Self { id, ..Self::NONE }
    }

    #[inline]
    pub fn same(&self, other: Self) -> bool {
        self.id == other.id && self.serial == other.serial
    }

    /// Whether it is of the batch under construction, of a kind, and has a text.
    #[inline]
    pub fn is(&self, builder: &BatchBuilder, kind: TermKind, text: &[u8]) -> bool {
        self.kind == kind && self.text(builder) == Some(text)
    }

    /// The text, if it is a term of the batch under construction.
    #[inline]
    pub fn text<'b>(&self, builder: &'b BatchBuilder) -> Option<&'b [u8]> {
        if self.serial != builder.serial() {
            return None;
        }
        let arena = builder.table().arena();
        arena
            .get(self.offset as usize..)?
            .get(..self.length as usize)
    }
}

/// What goes with a predicate: lines of one shape follow each other in logs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Follower {
    /// The next line's predicate.
    Predicate,
    /// The object.
    Object,
    /// The object's datatype.
    Datatype,
}

/// The tables. Empty ones find nothing and cost nothing.
#[derive(Default)]
pub(super) struct Cache {
    slots: Box<[Known]>,
    followers: Box<[Known]>,
}

impl Cache {
    pub fn new() -> Self {
        Self {
            slots: vec![Known::NONE; SLOTS].into(),
            followers: vec![Known::NONE; 4 * FOLLOWERS].into(),
        }
    }

    /// The slot of a text of a kind.
    #[inline]
    pub fn slot(kind: TermKind, text: &[u8]) -> usize {
        const K: u64 = 0x9E37_79B9_7F4A_7C15;
        let word = |from: usize| {
            text.get(from..)
                .and_then(<[u8]>::first_chunk)
                .map_or(0, |chunk| u64::from_le_bytes(*chunk))
        };
        // The ends differ most: names and numbers.
        let length = text.len();
        let hash = if length >= 8 {
            let last = word(length - 8);
            let middle = word((length - 8) / 2);
            let before = word(length.saturating_sub(16));
            (last.wrapping_mul(K) ^ before)
                .rotate_left(29)
                .wrapping_mul(K)
                ^ middle
        } else {
            text.iter()
                .fold(0, |hash, &byte| hash << 8 | u64::from(byte))
        };
        let hash = (hash ^ (length as u64) << 3 ^ kind as u64).wrapping_mul(K);
        (hash >> 52) as usize & (SLOTS - 1)
    }

    #[inline]
    pub fn get(&self, slot: usize) -> Known {
        self.slots.get(slot).copied().unwrap_or(Known::NONE)
    }

    #[inline]
    pub fn set(&mut self, slot: usize, known: Known) {
        if let Some(entry) = self.slots.get_mut(slot) {
            *entry = known;
        }
    }

    /// What went with a predicate last time.
    #[inline]
    pub fn follower(&self, predicate: TermId, what: Follower) -> Known {
        let at = 4 * (predicate.index() & (FOLLOWERS - 1)) + what as usize;
        self.followers.get(at).copied().unwrap_or(Known::NONE)
    }

    #[inline]
    pub fn set_follower(&mut self, predicate: TermId, what: Follower, known: Known) {
        let at = 4 * (predicate.index() & (FOLLOWERS - 1)) + what as usize;
        if let Some(entry) = self.followers.get_mut(at) {
            *entry = known;
        }
    }
}

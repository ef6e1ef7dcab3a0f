//! Counts of distinct terms in a message, by kind and position.
//!
//! - In: occurrences of a message's terms, as slots of its batch. Out: one number per series at the
//!   end of the message.
//! - Cost: one comparison per occurrence, and more if a term is new in the message.
//! - Law: a message in parts is counted like a complete one. The counts are exact up to
//!   [`MAX_EXACT`](super::MAX_EXACT) terms and [`MAX_EXACT_QUADS`] quads. Above these limits,
//!   counts may be estimates or include repeated quads.

use super::distinct::{Distinct, SERIES, bits, for_each};
use super::terms::{BatchTerms, TermSlot, mix};

/// Number of bits for series in a slot's stamp. The upper bits contain the number of the message.
pub const STAMP_BITS: u32 = 16;

/// Maximum number of quads for which repetitions are detected in a message in parts.
pub const MAX_EXACT_QUADS: usize = 1 << 18;

/// A message in parts, after its first part has been read.
#[derive(Debug)]
pub struct OpenMessage {
    /// Terms of the message.
    pub terms: Distinct,
    /// Quads of the message.
    pub quads: Distinct,
    /// Sums over the parts.
    pub sums: Sums,
}

impl Default for OpenMessage {
    fn default() -> Self {
        Self {
            terms: Distinct::default(),
            quads: Distinct::with_limit(MAX_EXACT_QUADS),
            sums: Sums::default(),
        }
    }
}

/// Sums over a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    /// Number of quads or operations.
    pub records: u64,
    /// Number of distinct quads.
    pub statements: u64,
    /// Size of these quads as N-Quads, in bytes.
    pub bytes: u64,
    /// Number of control characters in their literals.
    pub controls: u64,
    /// Number of their triple terms, including nested ones.
    pub triples: u64,
    /// Whether any of these quads is in the default graph.
    pub default_graph: bool,
    /// For patches: number of added quads.
    pub adds: u64,
    /// For patches: number of deleted quads.
    pub deletes: u64,
}

/// The scope of a blank node.
#[derive(Clone, Copy, Debug)]
pub enum Scope {
    /// A message, by index.
    Message(u64),
    /// A log, by number.
    Log(u64),
}

impl Default for Scope {
    fn default() -> Self {
        Self::Message(0)
    }
}

/// Counts the terms of messages and of the log.
#[derive(Debug, Default)]
pub struct TermCounter {
    /// Distinct terms of the log.
    pub log: Distinct,
    /// Number of distinct terms of the message in each series.
    pub counts: [u64; SERIES],
    /// The incomplete message in parts, if any.
    pub open: Option<Box<OpenMessage>>,
    /// Number of the message in its batch, from 1, shifted by [`STAMP_BITS`].
    stamp: u64,
    scope: Scope,
}

impl TermCounter {
    /// Starts message `number` of the batch, or a part of it.
    pub fn start(&mut self, number: usize, scope: Scope) {
        self.stamp = (number as u64 + 1) << STAMP_BITS;
        self.scope = scope;
        self.counts = [0; SERIES];
    }

    /// Counts an occurrence of a term and returns its slot.
    #[inline]
    pub fn count_occurrence<'a>(
        &mut self,
        terms: &'a mut BatchTerms,
        slot: u32,
        position: u16,
    ) -> &'a TermSlot {
        let entry = &mut terms.slots[slot as usize];
        entry.count += 1;
        let series = entry.kind | position;
        let mut stamp = entry.stamp;
        if stamp >> STAMP_BITS != self.stamp >> STAMP_BITS {
            stamp = self.stamp;
        }
        let new = series & !(stamp as u16);
        if new != 0 {
            entry.stamp = stamp | u64::from(new);
            self.count_new(terms, slot, new);
        }
        &terms.slots[slot as usize]
    }

    /// Counts an occurrence of a term within another term.
    fn count_nested(&mut self, terms: &mut BatchTerms, slot: u32, series: u16) {
        let entry = &mut terms.slots[slot as usize];
        if entry.stamp >> STAMP_BITS != self.stamp >> STAMP_BITS {
            entry.stamp = self.stamp;
        }
        let new = series & !(entry.stamp as u16);
        if new != 0 {
            entry.stamp |= u64::from(new);
            self.count_new(terms, slot, new);
        }
    }

    /// Counts a term in the series `new`, in which it has not yet occurred in this message or part.
    #[inline]
    fn count_new(&mut self, terms: &mut BatchTerms, slot: u32, new: u16) {
        let entry = &mut terms.slots[slot as usize];
        if entry.scoped {
            let (own, new) = match self.scope {
                // Blank nodes do not occur in other messages, so the counts of all messages can be
                // added.
                Scope::Message(index) => (mix(entry.hash, index), new & !bits::BNODE),
                Scope::Log(number) => (mix(entry.hash, number), new),
            };
            if new != 0 {
                self.log.add(own, new);
            }
        } else if new & !entry.done != 0 {
            self.log.add(entry.hash, new & !entry.done);
            entry.done |= new;
        }
        if let Some(open) = &mut self.open {
            open.terms.add(entry.hash, new);
        } else {
            for_each(new, |series| self.counts[series] += 1);
        }
        if new & (bits::TYPED | bits::TRIPLE) != 0 {
            self.count_parts(terms, slot, new);
        }
    }

    /// Counts the datatype of a new literal, or the parts of a new triple term.
    fn count_parts(&mut self, terms: &mut BatchTerms, slot: u32, new: u16) {
        let aux = terms.slots[slot as usize].aux;
        if new & bits::TYPED != 0 {
            self.count_nested(terms, aux, bits::DATATYPE);
        } else {
            let parts = terms.triples[aux as usize];
            for (part, position) in parts.into_iter().zip(POSITIONS) {
                let series = terms.slots[part as usize].kind | position;
                self.count_nested(terms, part, series);
            }
        }
    }
}

/// Series of the positions in a triple.
pub const POSITIONS: [u16; 3] = [bits::SUBJECT, bits::PREDICATE, bits::OBJECT];

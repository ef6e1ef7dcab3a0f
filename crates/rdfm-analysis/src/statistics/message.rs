//! Counts of distinct terms in a message, by kind and position.
//!
//! - In: occurrences of a message's terms, as slots of its batch. Out: one number per series at its end.
//! - Cost: one comparison per occurrence, and more if a term is new in the message.
//! - Law: a message in parts is counted like a complete one, exactly up to [`EXACT`](super::EXACT) terms and
//!   [`EXACT_QUADS`] quads. Above that, repeated quads are counted.

use super::distinct::{Distinct, SERIES, bits, for_each};
use super::terms::{BatchTerms, TermSlot, mix};

/// Number of bits for series in a slot's stamp. The number of the message is above them.
pub const STAMP_BITS: u32 = 16;

/// Maximum number of quads for which repetitions are detected in a message in parts.
pub const EXACT_QUADS: usize = 1 << 18;

/// A message in parts whose first part was read.
#[derive(Debug)]
pub struct Open {
    /// Its terms.
    pub terms: Distinct,
    /// Its quads.
    pub quads: Distinct,
    /// Sums over its parts.
    pub sums: Sums,
}

impl Default for Open {
    fn default() -> Self {
        Self {
            terms: Distinct::default(),
            quads: Distinct::with_limit(EXACT_QUADS),
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
    /// Bytes of these quads as N-Quads.
    pub bytes: u64,
    /// Number of control characters in their literals.
    pub controls: u64,
    /// Number of their triple terms, including nested ones.
    pub triples: u64,
    /// Whether one of them is in the default graph.
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
pub struct Counting {
    /// Distinct terms of the log.
    pub log: Distinct,
    /// Numbers for the message, by series.
    pub counts: [u64; SERIES],
    /// The open message in parts, if any.
    pub open: Option<Box<Open>>,
    /// Number of the message in its batch, from 1, shifted by [`STAMP_BITS`].
    stamp: u64,
    scope: Scope,
}

impl Counting {
    /// Starts message `number` of the batch, or a part of it.
    pub fn start(&mut self, number: usize, scope: Scope) {
        self.stamp = (number as u64 + 1) << STAMP_BITS;
        self.scope = scope;
        self.counts = [0; SERIES];
    }

    /// Counts an occurrence of a term and returns its slot.
    #[inline]
    pub fn occurs<'a>(
        &mut self,
        terms: &'a mut BatchTerms,
        slot: u32,
        position: u16,
    ) -> &'a TermSlot {
        let of = &mut terms.slots[slot as usize];
        of.count += 1;
        let wanted = of.kind | position;
        let mut known = of.stamp;
        if known >> STAMP_BITS != self.stamp >> STAMP_BITS {
            known = self.stamp;
        }
        let fresh = wanted & !(known as u16);
        if fresh != 0 {
            of.stamp = known | u64::from(fresh);
            self.first(terms, slot, fresh);
        }
        &terms.slots[slot as usize]
    }

    /// Counts a term in the message that does not occur separately.
    fn contains(&mut self, terms: &mut BatchTerms, slot: u32, wanted: u16) {
        let of = &mut terms.slots[slot as usize];
        if of.stamp >> STAMP_BITS != self.stamp >> STAMP_BITS {
            of.stamp = self.stamp;
        }
        let fresh = wanted & !(of.stamp as u16);
        if fresh != 0 {
            of.stamp |= u64::from(fresh);
            self.first(terms, slot, fresh);
        }
    }

    /// Counts a term that is new in series of the message or part.
    #[inline]
    fn first(&mut self, terms: &mut BatchTerms, slot: u32, fresh: u16) {
        let of = &mut terms.slots[slot as usize];
        if of.scoped {
            let (own, fresh) = match self.scope {
                // No other message has it, so the numbers of messages can be added.
                Scope::Message(index) => (mix(of.hash, index), fresh & !bits::BNODE),
                Scope::Log(number) => (mix(of.hash, number), fresh),
            };
            if fresh != 0 {
                self.log.add(own, fresh);
            }
        } else if fresh & !of.done != 0 {
            self.log.add(of.hash, fresh & !of.done);
            of.done |= fresh;
        }
        if let Some(open) = &mut self.open {
            open.terms.add(of.hash, fresh);
        } else {
            for_each(fresh, |series| self.counts[series] += 1);
        }
        if fresh & (bits::TYPED | bits::TRIPLE) != 0 {
            self.parts(terms, slot, fresh);
        }
    }

    /// Counts the parts of a term that is new in the message.
    fn parts(&mut self, terms: &mut BatchTerms, slot: u32, fresh: u16) {
        let aux = terms.slots[slot as usize].aux;
        if fresh & bits::TYPED != 0 {
            self.contains(terms, aux, bits::DATATYPE);
        } else {
            let parts = terms.triples[aux as usize];
            for (part, position) in parts.into_iter().zip(POSITIONS) {
                let wanted = terms.slots[part as usize].kind | position;
                self.contains(terms, part, wanted);
            }
        }
    }
}

/// Series of the positions in a triple.
pub const POSITIONS: [u16; 3] = [bits::SUBJECT, bits::PREDICATE, bits::OBJECT];

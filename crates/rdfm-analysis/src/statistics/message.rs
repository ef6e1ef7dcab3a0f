//! What a message holds: how many different terms of each kind and in each position.
//!
//! - In: occurrences of a message's terms, slots of its batch. Out: a number a series at its end.
//! - Cost: a comparison an occurrence; more where a term is new in the message.
//! - Law: a message in parts counts as it would in one, exactly up to [`EXACT`](super::EXACT) terms and
//!   [`EXACT_QUADS`] quads; beyond, repeated quads count.

use super::distinct::{Distinct, SERIES, bits, for_each};
use super::terms::{Slot, Terms, mix};

/// Series as bits of a slot's stamp; the message is above them.
pub const STAMP_BITS: u32 = 16;

/// Quads up to which repetitions are found in a message in parts.
pub const EXACT_QUADS: usize = 1 << 18;

/// A message whose first part was read.
#[derive(Debug)]
pub struct Open {
    /// Its terms.
    pub terms: Distinct,
    /// Its quads.
    pub quads: Distinct,
    /// What is added up over its parts.
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

/// What is added up over a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    /// Quads, or operations.
    pub records: u64,
    /// Quads that are not repeated.
    pub statements: u64,
    /// Their bytes as N-Quads.
    pub bytes: u64,
    /// Control characters of their literals.
    pub controls: u64,
    /// Their triple terms, inner ones included.
    pub triples: u64,
    /// Whether one is in the default graph.
    pub default_graph: bool,
    /// Of patches, those added and those deleted.
    pub adds: u64,
    /// Those deleted.
    pub deletes: u64,
}

/// What a blank node belongs to.
#[derive(Clone, Copy, Debug)]
pub enum Scope {
    /// A message, by its index.
    Message(u64),
    /// A log, by its number.
    Log(u64),
}

impl Default for Scope {
    fn default() -> Self {
        Self::Message(0)
    }
}

/// Counts the terms of messages, and of the log.
#[derive(Debug, Default)]
pub struct Counting {
    /// Distinct terms of the log.
    pub log: Distinct,
    /// Numbers of the message by series.
    pub counts: [u64; SERIES],
    /// The message in parts that the part belongs to.
    pub open: Option<Box<Open>>,
    /// Of the message in its batch, from 1, above [`STAMP_BITS`].
    stamp: u64,
    scope: Scope,
}

impl Counting {
    /// Begins a message, or a part of one: the `number`th of its batch.
    pub fn start(&mut self, number: usize, scope: Scope) {
        self.stamp = (number as u64 + 1) << STAMP_BITS;
        self.scope = scope;
        self.counts = [0; SERIES];
    }

    /// A term occurs; gives its slot.
    #[inline]
    pub fn occurs<'a>(&mut self, terms: &'a mut Terms, slot: u32, position: u16) -> &'a Slot {
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

    /// A term is in the message, besides what occurs.
    fn holds(&mut self, terms: &mut Terms, slot: u32, wanted: u16) {
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

    /// A term is new in series of the message, or of its part.
    #[inline]
    fn first(&mut self, terms: &mut Terms, slot: u32, fresh: u16) {
        let of = &mut terms.slots[slot as usize];
        if of.scoped {
            let (own, fresh) = match self.scope {
                // No other message has it, so that the numbers of messages add up.
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

    /// What a term that is new in the message has within.
    fn parts(&mut self, terms: &mut Terms, slot: u32, fresh: u16) {
        let aux = terms.slots[slot as usize].aux;
        if fresh & bits::TYPED != 0 {
            self.holds(terms, aux, bits::DATATYPE);
        } else {
            let parts = terms.triples[aux as usize];
            for (part, position) in parts.into_iter().zip(POSITIONS) {
                let wanted = terms.slots[part as usize].kind | position;
                self.holds(terms, part, wanted);
            }
        }
    }
}

/// Those of a triple.
pub const POSITIONS: [u16; 3] = [bits::SUBJECT, bits::PREDICATE, bits::OBJECT];

//! Messages as a multiset: 16 bytes each.
//!
//! - In: signatures of the messages of two logs. Out: how many only one of them has, and which.
//! - Cost: 16 bytes a message, sorted once.

use rustc_hash::FxHashMap;

/// The signatures of both sides.
#[derive(Debug, Default)]
pub struct Multiset {
    sides: [Vec<u128>; 2],
    /// What is left over on each side: signatures and how many messages have them.
    left: [FxHashMap<u128, u64>; 2],
}

/// How the multisets compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Messages that both have.
    pub same: u64,
    /// Messages that one of them has more than the other.
    pub only: [u64; 2],
}

impl Multiset {
    /// Takes a message of a side.
    pub fn add(&mut self, side: usize, signature: u128) {
        self.sides[side].push(signature);
    }

    /// Compares the sides, and forgets all but what is left over: of at most so many messages of each.
    pub fn settle(&mut self, kept: u64) -> Settled {
        let [mut a, mut b] = std::mem::take(&mut self.sides);
        a.sort_unstable();
        b.sort_unstable();
        let mut settled = Settled::default();
        let [mut ours, mut theirs] = [a, b].map(|side| side.into_iter().peekable());
        loop {
            let next = (ours.peek().copied(), theirs.peek().copied());
            let side = match next {
                (None, None) => break,
                (Some(one), Some(other)) if one == other => {
                    settled.same += 1;
                    ours.next();
                    theirs.next();
                    continue;
                }
                (Some(one), other) if other.is_none_or(|other| one < other) => 0,
                _ => 1,
            };
            let Some(signature) = (if side == 0 {
                ours.next()
            } else {
                theirs.next()
            }) else {
                break;
            };
            settled.only[side] += 1;
            if settled.only[side] <= kept {
                *self.left[side].entry(signature).or_default() += 1;
            }
        }
        settled
    }

    /// Whether a message is one of those that are left over on a side; it is told once.
    pub fn take(&mut self, side: usize, signature: u128) -> bool {
        match self.left[side].get_mut(&signature) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}

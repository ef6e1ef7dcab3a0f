//! Lookup of numbers by hash.
//!
//! - In: hashes for the numbers 0, 1, 2 and so on. Out: the numbers with a given hash in ascending
//!   order, possibly with false positives.
//! - Cost: 8 bytes per number. The memory is reused.

/// Marks the end of a chain.
const NONE: u32 = u32::MAX;

/// Chains of numbers with equal hashes.
#[derive(Default)]
pub(super) struct Chains {
    heads: Vec<u32>,
    next: Vec<u32>,
}

impl Chains {
    /// Replaces the contents with the hashes of the numbers 0, 1, 2 and so on.
    pub(super) fn fill(&mut self, count: usize, hash: impl Fn(usize) -> u64) {
        self.heads.clear();
        self.heads.resize((2 * count).next_power_of_two(), NONE);
        self.next.clear();
        self.next.resize(count, NONE);
        for number in (0..count).rev() {
            let head = self.slot(hash(number));
            self.next[number] = self.heads[head];
            self.heads[head] = number as u32;
        }
    }

    fn slot(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.heads.len() - 1)
    }

    /// Returns the first number that may have this hash.
    #[inline]
    pub(super) fn first(&self, hash: u64) -> Option<usize> {
        let head = self.heads[self.slot(hash)];
        (head != NONE).then_some(head as usize)
    }

    /// Returns the next number in the chain.
    #[inline]
    pub(super) fn after(&self, number: usize) -> Option<usize> {
        let next = self.next[number];
        (next != NONE).then_some(next as usize)
    }
}

/// Returns the hash of a sequence of classes.
#[inline]
pub(super) fn hash(classes: impl Iterator<Item = u32>) -> u64 {
    classes.fold(0, |state: u64, class| {
        (state.rotate_left(5) ^ u64::from(class)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

#[cfg(test)]
mod tests {
    use super::{Chains, hash};

    #[test]
    fn numbers_with_the_same_hash_are_in_ascending_order() {
        let mut chains = Chains::default();
        for count in [1, 5, 100] {
            chains.fill(count, |number| hash([number as u32 % 3].into_iter()));
            let mut actual = Vec::new();
            let mut next = chains.first(hash([1].into_iter()));
            while let Some(number) = next {
                actual.push(number);
                next = chains.after(number);
            }
            let wanted = (0..count).filter(|number| number % 3 == 1);
            assert!(wanted.clone().all(|number| actual.contains(&number)));
            assert!(actual.is_sorted());
        }
    }
}

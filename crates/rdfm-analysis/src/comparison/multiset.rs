//! Logs as multisets of messages, with 16 bytes per message.
//!
//! - In: message signatures of two logs. Out: the messages that only one log has, and their number.
//! - Cost: 16 bytes of memory per message, and one sort.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

/// The signatures of both logs. After the comparison, the sorted signatures of the messages that
/// only one log has.
#[derive(Debug, Default)]
pub struct Multiset {
    sides: [Vec<u128>; 2],
    /// Number of messages that have been reported, by signature.
    reported: [FxHashMap<u128, usize>; 2],
}

/// The result of comparing the multisets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MultisetResult {
    /// Number of messages that both logs have.
    pub same: u64,
    /// For each log, the number of messages that it has more often than the other log, counting
    /// repetitions.
    pub only: [u64; 2],
}

impl Multiset {
    /// Adds a message to a side.
    pub fn add(&mut self, side: usize, signature: u128) {
        self.sides[side].push(signature);
    }

    /// Compares the sides and removes their common messages.
    pub fn compare(&mut self) -> MultisetResult {
        let [a, b] = &mut self.sides;
        a.sort_unstable();
        b.sort_unstable();
        let mut same = 0;
        // Read and write positions in each side.
        let (mut index, mut left) = ([0, 0], [0, 0]);
        while let (Some(&one), Some(&other)) = (a.get(index[0]), b.get(index[1])) {
            let order = one.cmp(&other);
            same += u64::from(order == Ordering::Equal);
            if order == Ordering::Less {
                a[left[0]] = one;
                left[0] += 1;
            }
            if order == Ordering::Greater {
                b[left[1]] = other;
                left[1] += 1;
            }
            index[0] += usize::from(order != Ordering::Greater);
            index[1] += usize::from(order != Ordering::Less);
        }
        for (number, side) in [a, b].into_iter().enumerate() {
            let rest = side.len() - index[number];
            side.copy_within(index[number].., left[number]);
            side.truncate(left[number] + rest);
        }
        let only = [0, 1].map(|side| self.sides[side].len() as u64);
        MultisetResult { same, only }
    }

    /// Whether this side has an unreported message with this signature that the other side lacks.
    /// If so, one such message counts as reported afterwards.
    pub fn take(&mut self, side: usize, signature: u128) -> bool {
        let left = &self.sides[side];
        let start = left.partition_point(|&other| other < signature);
        let count = left[start..].partition_point(|&other| other == signature);
        if count == 0 {
            return false;
        }
        let reported = self.reported[side].entry(signature).or_default();
        *reported += 1;
        *reported <= count
    }
}

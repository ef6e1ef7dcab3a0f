//! Common blocks of two sequences, in order, by Myers's algorithm in linear space.
//!
//! - In: two sequences of numbers. Out: the blocks that both contain.
//! - Cost: at most the length times the number of differences. Elements that only one sequence
//!   contains are removed first.
//! - Method: E. W. Myers, An O(ND) Difference Algorithm and Its Variations, Algorithmica 1, 1986.

#![allow(
    clippy::many_single_char_names,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "two sequences and coordinates in them, which may be negative"
)]

use rustc_hash::FxHashSet;

/// The blocks that two sequences share, in order: the start in each sequence, and the length.
pub fn blocks(a: &[u128], b: &[u128]) -> Vec<(usize, usize, usize)> {
    let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let shorter = a.len().min(b.len()) - head;
    let tails = a.iter().rev().zip(b.iter().rev()).take(shorter);
    let tail = tails.take_while(|(a, b)| a == b).count();
    let mut blocks = Blocks::default();
    blocks.add(0, 0, head);
    let (middle_a, middle_b) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);
    let (kept_a, kept_b) = (
        find_shared_positions(middle_a, middle_b),
        find_shared_positions(middle_b, middle_a),
    );
    let pick = |sequence: &[u128], positions: &[usize]| {
        positions
            .iter()
            .map(|&index| sequence[index])
            .collect::<Vec<_>>()
    };
    let (left, right) = (pick(middle_a, &kept_a), pick(middle_b, &kept_b));
    let mut matches = Vec::new();
    search(&left, &right, 0, 0, &mut matches);
    for (x, y) in matches {
        blocks.add(head + kept_a[x], head + kept_b[y], 1);
    }
    blocks.add(a.len() - tail, b.len() - tail, tail);
    blocks.0
}

/// A list of blocks in which adjacent blocks are merged.
#[derive(Default)]
struct Blocks(Vec<(usize, usize, usize)>);

impl Blocks {
    fn add(&mut self, a: usize, b: usize, length: usize) {
        if length == 0 {
            return;
        }
        match self.0.last_mut() {
            Some((x, y, known)) if *x + *known == a && *y + *known == b => *known += length,
            _ => self.0.push((a, b, length)),
        }
    }
}

/// Positions of the elements that the other sequence also contains.
fn find_shared_positions(sequence: &[u128], other: &[u128]) -> Vec<usize> {
    let other_numbers: FxHashSet<u128> = other.iter().copied().collect();
    (0..sequence.len())
        .filter(|&index| other_numbers.contains(&sequence[index]))
        .collect()
}

/// Finds a longest common subsequence, as pairs of the positions of equal elements.
fn search(a: &[u128], b: &[u128], x: usize, y: usize, pairs: &mut Vec<(usize, usize)>) {
    let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    pairs.extend((0..head).map(|index| (x + index, y + index)));
    let (a, b, x, y) = (&a[head..], &b[head..], x + head, y + head);
    let tail = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    if !a.is_empty() && !b.is_empty() {
        let (i, j) = middle(a, b);
        search(&a[..i], &b[..j], x, y, pairs);
        search(&a[i..], &b[j..], x + i, y + j, pairs);
    }
    pairs.extend((0..tail).map(|index| (x + a.len() + index, y + b.len() + index)));
}

/// A point near the middle of a shortest path through the differences. The first elements of the
/// sequences must differ, and so must the last elements.
fn middle(a: &[u128], b: &[u128]) -> (usize, usize) {
    let (n, m) = (a.len() as isize, b.len() as isize);
    let delta = n - m;
    let odd = delta % 2 != 0;
    let max = (n + m + 1) / 2;
    let size = (2 * max + 3) as usize;
    let index = |diagonal: isize| (diagonal + max + 1) as usize;
    let (mut forward, mut backward) = (vec![0isize; size], vec![0isize; size]);
    for depth in 0..=max {
        for diagonal in (-depth..=depth).step_by(2) {
            let down = diagonal == -depth
                || (diagonal != depth
                    && forward[index(diagonal - 1)] < forward[index(diagonal + 1)]);
            let mut x = if down {
                forward[index(diagonal + 1)]
            } else {
                forward[index(diagonal - 1)] + 1
            };
            let mut y = x - diagonal;
            while x < n && y < m && x >= 0 && y >= 0 && a[x as usize] == b[y as usize] {
                x += 1;
                y += 1;
            }
            forward[index(diagonal)] = x;
            let other = delta - diagonal;
            if odd
                && other.abs() < depth
                && x + backward[index(other)] >= n
                && is_within(x, y, n, m)
            {
                return (x as usize, y as usize);
            }
        }
        for diagonal in (-depth..=depth).step_by(2) {
            let down = diagonal == -depth
                || (diagonal != depth
                    && backward[index(diagonal - 1)] < backward[index(diagonal + 1)]);
            let mut x = if down {
                backward[index(diagonal + 1)]
            } else {
                backward[index(diagonal - 1)] + 1
            };
            let mut y = x - diagonal;
            while x < n
                && y < m
                && x >= 0
                && y >= 0
                && a[(n - 1 - x) as usize] == b[(m - 1 - y) as usize]
            {
                x += 1;
                y += 1;
            }
            backward[index(diagonal)] = x;
            let other = delta - diagonal;
            if !odd
                && other.abs() <= depth
                && x + forward[index(other)] >= n
                && is_within(n - x, m - y, n, m)
            {
                return ((n - x) as usize, (m - y) as usize);
            }
        }
    }
    (a.len(), 0) // no common elements
}

/// Whether a point is within the box and divides it.
const fn is_within(x: isize, y: isize, n: isize, m: isize) -> bool {
    0 <= x && x <= n && 0 <= y && y <= m && x + y > 0 && x + y < n + m
}

#[cfg(test)]
mod tests {
    use super::blocks;

    /// The length of a longest common subsequence, by dynamic programming.
    fn longest_length(a: &[u128], b: &[u128]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut before = 0;
            for (index, y) in b.iter().enumerate() {
                let above = row[index + 1];
                row[index + 1] = if x == y {
                    before + 1
                } else {
                    above.max(row[index])
                };
                before = above;
            }
        }
        row[b.len()]
    }

    #[test]
    fn blocks_form_a_longest_common_subsequence() {
        let mut state = 1u64;
        let mut next = |limit: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % limit
        };
        for round in 0..3000 {
            let letters = 1 + next(6);
            let mut make = |length| (0..length).map(|_| u128::from(next(letters))).collect();
            let a: Vec<u128> = make(round % 13);
            let b: Vec<u128> = make(round % 11);
            let actual = blocks(&a, &b);
            let mut last = (0, 0);
            for &(x, y, length) in &actual {
                assert!(
                    length > 0 && x >= last.0 && y >= last.1,
                    "{a:?} {b:?} {actual:?}"
                );
                assert_eq!(a[x..x + length], b[y..y + length]);
                last = (x + length, y + length);
            }
            let sum: usize = actual.iter().map(|block| block.2).sum();
            assert_eq!(sum, longest_length(&a, &b), "{a:?} {b:?} {actual:?}");
        }
    }

    #[test]
    fn insertions_and_deletions_separate_blocks() {
        let a: Vec<u128> = (0..1000).collect();
        let mut b = a.clone();
        b.insert(300, 5000);
        b.remove(700);
        assert_eq!(
            blocks(&a, &b),
            [(0, 0, 300), (300, 301, 399), (700, 700, 300)]
        );
        assert_eq!(blocks(&a, &[]), []);
    }
}

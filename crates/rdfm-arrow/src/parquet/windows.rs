//! Maximum sizes of aligned groups of 1, 2, 4 … rows.

/// Number of window sizes: 1 to 2^13 rows.
pub const LEVELS: usize = 14;

/// The maximum sizes of aligned groups of rows. Rows are added in order.
#[derive(Debug, Default)]
pub struct Windows {
    /// For each window size: the index and the bytes of the current window, and the bytes of the
    /// largest window so far.
    levels: [(u64, u64, u64); LEVELS],
}

impl Windows {
    /// Adds the bytes of the next row.
    #[inline]
    pub fn add(&mut self, row: u64, bytes: u64) {
        self.spread(row, 1, bytes, 0);
    }

    /// Adds the next `count` rows of `row_bytes` bytes each, plus `shared_bytes` bytes that may
    /// belong to any of these rows.
    #[inline]
    pub fn spread(&mut self, first: u64, count: u64, row_bytes: u64, shared_bytes: u64) {
        let Some(last) = (first + count).checked_sub(1) else {
            return;
        };
        for (level, (window, sum, largest)) in self.levels.iter_mut().enumerate() {
            let bytes_of = |rows: u64| row_bytes.saturating_mul(rows).saturating_add(shared_bytes);
            let (start, end) = (first >> level, last >> level);
            if start != *window {
                *sum = 0;
            }
            *window = end;
            if start == end {
                *sum = sum.saturating_add(bytes_of(count));
            } else {
                let size = 1 << level;
                let head = sum.saturating_add(bytes_of(size - (first & (size - 1))));
                let middle = if end - start > 1 { bytes_of(size) } else { 0 };
                *largest = (*largest).max(head).max(middle);
                *sum = bytes_of((last & (size - 1)) + 1);
            }
            *largest = (*largest).max(*sum);
        }
    }

    /// Returns the maximum for each window size.
    pub fn largest(&self) -> [u64; LEVELS] {
        self.levels.map(|(_, _, largest)| largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_aligned_and_sum_the_sizes_of_their_rows() {
        let mut windows = Windows::default();
        for (row, bytes) in [1, 2, 30, 4, 5].into_iter().enumerate() {
            windows.add(row as u64, bytes);
        }
        let largest = windows.largest();
        assert_eq!(largest[..4], [30, 34, 37, 42]);
    }

    #[test]
    fn the_largest_sum_is_found_for_each_window_size() {
        let mut windows = Windows::default();
        windows.add(0, 7);
        windows.spread(1, 4, 10, 100);
        assert_eq!(windows.largest()[..4], [110, 120, 137, 147]);
    }
}

//! Reads the layout of a column: how often each of its values occurs, and where cells are unbound.
//!
//! - In: the tokens of a column, and the number of its values.
//! - Out: runs of cells ([`Layout::next`]).
//! - Cost: constant per run.
//! - Law: [`check`] accepts exactly the layouts that have the expected number of cells. After it,
//!   no run goes beyond the values.

use super::fields::{List, Locate as _, Located, Numbers, fault};
use crate::syntax::wire::Checked;

/// Field number of the tokens in a column.
pub(super) const LAYOUTS: u32 = 2;

/// Equal or similar cells that follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// So many values occur once each.
    Once(usize),
    /// The next value occurs so many times.
    Repeat(u64),
    /// So many cells are unbound.
    Unbound(u64),
}

/// A cursor over the runs of a column. The unbound cells at its end, which have no token, are not
/// part of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    tokens: Numbers,
    /// Number of values after the last run.
    values: usize,
    /// The run after the values that occur once.
    pending: Option<Run>,
}

impl Layout {
    /// Creates a cursor over the layout of so many values.
    pub fn new(tokens: &List, values: usize) -> Self {
        Self {
            tokens: Numbers::new(LAYOUTS, tokens),
            values,
            pending: None,
        }
    }

    /// Returns the next run. A run may go beyond the values.
    pub fn next(&mut self, bytes: &[u8]) -> Checked<Option<Run>> {
        if let Some(run) = self.pending.take() {
            return Ok(Some(self.take(run)));
        }
        let Some(token) = self.tokens.next(bytes)? else {
            let rest = std::mem::take(&mut self.values);
            return Ok((rest > 0).then_some(Run::Once(rest)));
        };
        let mut length = u64::from(token & 0xf);
        if length == 15 {
            match self.tokens.next(bytes)? {
                Some(more) => length += u64::from(more),
                None => return Err(no_extension()),
            }
        }
        let run = if token & 0x10 == 0 {
            Run::Repeat(length + 2)
        } else {
            Run::Unbound(length + 1)
        };
        let skip = (token >> 5) as usize;
        if skip == 0 {
            return Ok(Some(self.take(run)));
        }
        self.pending = Some(run);
        Ok(Some(self.take(Run::Once(skip))))
    }

    /// Subtracts the values of a run.
    fn take(&mut self, run: Run) -> Run {
        let values = match run {
            Run::Once(values) => values,
            Run::Repeat(_) => 1,
            Run::Unbound(_) => 0,
        };
        self.values = self.values.saturating_sub(values);
        run
    }
}

#[cold]
fn no_extension() -> crate::syntax::wire::WireError {
    crate::syntax::wire::malformed_error("the layout ends before the extension of its last length")
}

/// Checks the layout of `values` values in `rows` rows. If `bound`, every cell must have a value.
pub(super) fn check(
    bytes: &[u8],
    tokens: &List,
    values: usize,
    rows: u32,
    bound: bool,
) -> Located<()> {
    let start = tokens.range.start;
    let (mut used, mut cells) = (0, 0);
    let mut layout = Layout::new(tokens, values);
    while let Some(run) = layout.next(bytes).locate(start)? {
        let (new_values, new_cells) = match run {
            Run::Once(values) => (values, values as u64),
            Run::Repeat(cells) => (1, cells),
            Run::Unbound(_) if bound => {
                return Err(fault(start, "the layout has unbound cells"));
            }
            Run::Unbound(cells) => (0, cells),
        };
        used += new_values;
        cells += new_cells;
        if used > values {
            return Err(fault(
                start,
                format!("the layout needs more than {values} values"),
            ));
        }
        if cells > u64::from(rows) {
            return Err(fault(
                start,
                format!("the cells of the layout exceed {rows} rows"),
            ));
        }
    }
    if bound && cells < u64::from(rows) {
        return Err(fault(
            start,
            format!("the layout has {cells} cells, expected {rows}"),
        ));
    }
    Ok(())
}

/// Returns the row of a value, for errors.
#[cold]
pub(super) fn row_of(bytes: &[u8], tokens: &List, values: usize, value: usize) -> u64 {
    let (mut used, mut row) = (0, 0);
    let mut layout = Layout::new(tokens, values);
    while let Ok(Some(run)) = layout.next(bytes) {
        match run {
            Run::Once(values) if used + values > value => return row + (value - used) as u64,
            Run::Once(values) => {
                used += values;
                row += values as u64;
            }
            Run::Repeat(_) if used == value => return row,
            Run::Repeat(cells) => {
                used += 1;
                row += cells;
            }
            Run::Unbound(cells) => row += cells,
        }
    }
    row
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    /// Packed tokens, which must each be one byte.
    fn tokens(tokens: &[u8]) -> (Vec<u8>, List) {
        let bytes = [&[0x12, tokens.len() as u8], tokens].concat();
        let list = List {
            count: tokens.len(),
            range: 0..bytes.len(),
        };
        (bytes, list)
    }

    /// The index of the value in each cell.
    fn cells(layout: &[u8], values: usize) -> Vec<Option<usize>> {
        let (bytes, list) = tokens(layout);
        let mut layout = Layout::new(&list, values);
        let (mut next, mut cells) = (0, Vec::new());
        while let Some(run) = layout.next(&bytes).unwrap() {
            match run {
                Run::Once(values) => {
                    cells.extend((next..next + values).map(Some));
                    next += values;
                }
                Run::Repeat(times) => {
                    cells.extend((0..times).map(|_| Some(next)));
                    next += 1;
                }
                Run::Unbound(times) => cells.extend((0..times).map(|_| None)),
            }
        }
        for value in 0..values {
            let row = cells.iter().position(|cell| *cell == Some(value)).unwrap();
            assert_eq!(row_of(&bytes, &list, values, value), row as u64);
        }
        cells
    }

    #[test]
    fn tokens_describe_repeated_and_unbound_cells() {
        let some = |values: &[usize]| values.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(cells(&[], 3), some(&[0, 1, 2]));
        assert_eq!(cells(&[0], 1), some(&[0, 0]));
        assert_eq!(cells(&[1 << 5 | 1, 0], 4), some(&[0, 1, 1, 1, 2, 2, 3]));
        let unbound = vec![Some(0), None, None, Some(1), Some(1), Some(2), None];
        assert_eq!(cells(&[1 << 5 | 0x11, 0, 1 << 5 | 0x10], 3), unbound);
        assert_eq!(cells(&[0x1f, 2], 0), vec![None; 18]);
        assert_eq!(cells(&[15, 1], 1), vec![Some(0); 18]);
        assert_eq!(cells(&[14], 1), vec![Some(0); 16]);
    }

    #[test]
    fn wrong_numbers_of_cells_are_errors() {
        let reason = |layout: &[u8], values, rows, bound| {
            let (bytes, list) = tokens(layout);
            let checked = check(&bytes, &list, values, rows, bound);
            let reason = checked.map_err(|fault| fault.error.into_parts().1);
            reason.err().map(|reason| reason.text().to_owned())
        };
        assert_eq!(reason(&[], 3, 3, true), None);
        assert_eq!(reason(&[], 2, 3, false), None);
        assert_eq!(reason(&[0x10], 2, 3, false), None);
        for (layout, values, rows, bound, expected) in [
            (&[][..], 2, 3, true, "the layout has 2 cells, expected 3"),
            (&[], 4, 3, false, "the cells of the layout exceed 3 rows"),
            (
                &[0x10],
                3,
                3,
                false,
                "the cells of the layout exceed 3 rows",
            ),
            (&[0x10], 2, 3, true, "the layout has unbound cells"),
            (&[0], 0, 3, false, "the layout needs more than 0 values"),
            (
                &[3 << 5],
                3,
                9,
                false,
                "the layout needs more than 3 values",
            ),
            (
                &[2 << 5],
                1,
                9,
                false,
                "the layout needs more than 1 values",
            ),
            (
                &[15],
                1,
                99,
                false,
                "the layout ends before the extension of its last length",
            ),
        ] {
            assert_eq!(
                reason(layout, values, rows, bound).as_deref(),
                Some(expected)
            );
        }
    }
}

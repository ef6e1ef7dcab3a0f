//! Result variables: how often each one is bound, and to how many distinct terms.
//!
//! - In: cells. Out: one [`VariableReport`] per variable. Cost: one table lookup per cell; at most
//!   16 MiB of sketches.

use rustc_hash::FxHashMap;

use super::distinct::{Distinct, MAX_EXACT, bits};
use super::merge::{Mergeable, Reader, Unreadable, Writer};
use super::report::VariableReport;

/// Maximum number of variables whose distinct terms are counted.
const MAX_COUNTED_VARIABLES: usize = 256;
/// Maximum number of variables whose bound rows are counted.
const MAX_VARIABLES: usize = 1 << 14;

/// Counts by variable.
#[derive(Debug, Default)]
pub struct Variables {
    by_name: FxHashMap<Box<str>, usize>,
    names: Vec<Box<str>>,
    bound: Vec<u64>,
    distinct: Vec<Distinct>,
}

impl Variables {
    /// The column of each variable, or `None` for a variable beyond the maximum number.
    pub fn find_columns(&mut self, names: &[Box<str>]) -> Vec<Option<usize>> {
        names.iter().map(|name| self.find_column(name)).collect()
    }

    fn find_column(&mut self, name: &str) -> Option<usize> {
        if let Some(column) = self.by_name.get(name) {
            return Some(*column);
        }
        let column = self.names.len();
        if column >= MAX_VARIABLES {
            return None;
        }
        self.names.push(name.into());
        self.by_name.insert(name.into(), column);
        self.bound.push(0);
        if column < MAX_COUNTED_VARIABLES {
            self.distinct.push(Distinct::with_limit(MAX_EXACT / 16));
        }
        Some(column)
    }

    /// Records that a variable is bound to a term.
    #[inline]
    pub fn bind(&mut self, column: usize, hash: u64) {
        self.bound[column] += 1;
        if let Some(distinct) = self.distinct.get_mut(column) {
            distinct.add(hash, bits::IRI);
        }
    }

    /// All variables, in order of first occurrence.
    pub fn report(&self) -> Vec<VariableReport> {
        let named = self.names.iter().zip(&self.bound).enumerate();
        named
            .map(|(column, (name, bound))| VariableReport {
                name: name.to_string(),
                bound: *bound,
                unique: self
                    .distinct
                    .get(column)
                    .map(|terms| terms.count(bits::IRI)),
            })
            .collect()
    }
}

impl Mergeable for Variables {
    fn write(&self, out: &mut Writer) {
        out.write_number(self.names.len() as u64);
        for (column, name) in self.names.iter().enumerate() {
            out.write_bytes(name.as_bytes());
            out.write_number(self.bound[column]);
            match self.distinct.get(column) {
                Some(distinct) => {
                    out.write_number(1);
                    distinct.write(out);
                }
                None => out.write_number(0),
            }
        }
    }

    fn merge(&mut self, input: &mut Reader<'_>) -> Result<(), Unreadable> {
        for _ in 0..input.read_number()? {
            let name = std::str::from_utf8(input.read_bytes()?).map_err(|_| Unreadable)?;
            let column = self.find_column(name);
            let bound = input.read_number()?;
            if let Some(column) = column {
                self.bound[column] += bound;
            }
            if input.read_number()? > 0 {
                let mut uncounted = Distinct::with_limit(MAX_EXACT / 16);
                let counter = column.and_then(|column| self.distinct.get_mut(column));
                counter.unwrap_or(&mut uncounted).merge(input)?;
            }
        }
        Ok(())
    }
}

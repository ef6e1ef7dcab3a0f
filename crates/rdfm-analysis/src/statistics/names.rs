//! Name counts in bounded memory.
//!
//! - In: names with counts. Out: the counts of the kept names, and the total of the others.
//! - Law: the first names are kept, with exact counts. No other name occurs more than `others`
//!   times.

use rustc_hash::FxHashMap;

use super::merge::{Mergeable, Reader, Unreadable, Writer};

/// Maximum number of kept names.
pub const MAX_NAMES: usize = 1 << 14;
/// Maximum total size of the kept names in bytes.
const MAX_BYTES: usize = 2 << 20;

/// Counts names.
#[derive(Debug, Default)]
pub struct Names {
    counted: FxHashMap<Box<[u8]>, u32>,
    counts: Vec<u64>,
    bytes: usize,
    others: u64,
}

/// Slot of a name that is not kept.
const NOT_KEPT: u32 = u32::MAX;

/// Names with their numbers of occurrences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamesReport {
    /// Sorted by frequency (highest first), then by name.
    pub names: Vec<(String, u64)>,
    /// Number of kept names, including those that are not in `names`.
    pub counted: u64,
    /// Total number of occurrences of names that are not kept.
    pub others: u64,
}

impl Names {
    /// Adds occurrences of a name.
    pub fn add(&mut self, name: &[u8], count: u64) {
        let index = self.find_or_add_slot(name);
        self.count(index, count);
    }

    /// Returns the slot in which a name is counted. A new name is added if the limits allow.
    pub fn find_or_add_slot(&mut self, name: &[u8]) -> u32 {
        if let Some(existing) = self.counted.get(name) {
            return *existing;
        }
        if self.counts.len() >= MAX_NAMES || self.bytes + name.len() > MAX_BYTES {
            return NOT_KEPT;
        }
        let index = self.counts.len() as u32;
        self.bytes += name.len();
        self.counts.push(0);
        self.counted.insert(name.into(), index);
        index
    }

    /// Adds occurrences of the name in a slot.
    #[inline]
    pub fn count(&mut self, slot: u32, count: u64) {
        match self.counts.get_mut(slot as usize) {
            Some(existing) => *existing += count,
            None => self.others += count,
        }
    }

    /// The `top` most frequent names.
    pub fn report(&self, top: usize) -> NamesReport {
        self.report_with(&[], top)
    }

    /// Like [`Self::report`], with additional names.
    pub fn report_with(&self, additional: &[(&[u8], u64)], top: usize) -> NamesReport {
        let additional = additional.iter().filter(|(_, count)| *count > 0);
        let mut names: Vec<(&[u8], u64)> = self
            .counted
            .iter()
            .map(|(name, index)| (&**name, self.counts[*index as usize]))
            .chain(additional.copied())
            .collect();
        names
            .sort_unstable_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(right.0)));
        NamesReport {
            counted: names.len() as u64,
            names: names
                .into_iter()
                .take(top)
                .map(|(name, count)| (String::from_utf8_lossy(name).into_owned(), count))
                .collect(),
            others: self.others,
        }
    }

    /// Whether all names are kept.
    pub const fn is_complete(&self) -> bool {
        self.others == 0
    }

    /// Number of kept names.
    pub fn len(&self) -> usize {
        self.counted.len()
    }
}

impl Mergeable for Names {
    fn write(&self, out: &mut Writer) {
        let mut names: Vec<(&[u8], u32)> = self
            .counted
            .iter()
            .map(|(n, index)| (&**n, *index))
            .collect();
        names.sort_unstable_by_key(|(_, index)| *index);
        out.write_number(names.len() as u64);
        for (name, index) in names {
            out.write_bytes(name);
            out.write_number(self.counts[index as usize]);
        }
        out.write_number(self.others);
    }

    fn merge(&mut self, input: &mut Reader<'_>) -> Result<(), Unreadable> {
        for _ in 0..input.read_number()? {
            let name = input.read_bytes()?;
            self.add(name, input.read_number()?);
        }
        self.others += input.read_number()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_above_the_maximum_are_counted_together() {
        let mut names = Names::default();
        for number in 0..MAX_NAMES + 10 {
            names.add(number.to_string().as_bytes(), 2);
        }
        names.add(b"0", 5);
        let report = names.report(1);
        assert_eq!(report.names, [("0".to_owned(), 7)]);
        assert_eq!((report.counted, report.others), (MAX_NAMES as u64, 20));
        names.add(&vec![b'x'; MAX_BYTES], 1);
        assert_eq!(names.report(0).others, 21);
    }
}

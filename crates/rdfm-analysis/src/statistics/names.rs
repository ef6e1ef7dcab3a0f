//! Names with how often each occurs, in bounded memory.
//!
//! - In: names and numbers. Out: the held names by number, and the number of the others.
//! - Law: what is held is what came first, with its exact number; no other name occurs more often than `others` says.

use rustc_hash::FxHashMap;

/// Names that are held.
pub const HELD: usize = 1 << 14;
/// Bytes of the names that are held.
const HELD_BYTES: usize = 2 << 20;

/// Counts names.
#[derive(Debug, Default)]
pub struct Names {
    held: FxHashMap<Box<[u8]>, u32>,
    counts: Vec<u64>,
    bytes: usize,
    others: u64,
}

/// Where a name is counted that is not held.
const NOT_HELD: u32 = u32::MAX;

/// Names and how often each occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamesReport {
    /// The most frequent first; those of equal number by name.
    pub names: Vec<(String, u64)>,
    /// How many are held, those included that are not in `names`.
    pub held: u64,
    /// How often names occur that are not held.
    pub others: u64,
}

impl Names {
    /// Takes a name that occurs so often.
    pub fn add(&mut self, name: &[u8], count: u64) {
        let at = self.place(name);
        self.count(at, count);
    }

    /// Where a name is counted.
    pub fn place(&mut self, name: &[u8]) -> u32 {
        if let Some(known) = self.held.get(name) {
            return *known;
        }
        if self.counts.len() >= HELD || self.bytes + name.len() > HELD_BYTES {
            return NOT_HELD;
        }
        let at = self.counts.len() as u32;
        self.bytes += name.len();
        self.counts.push(0);
        self.held.insert(name.into(), at);
        at
    }

    /// A name that is counted there occurs so often.
    #[inline]
    pub fn count(&mut self, place: u32, count: u64) {
        match self.counts.get_mut(place as usize) {
            Some(known) => *known += count,
            None => self.others += count,
        }
    }

    /// The `top` most frequent names.
    pub fn report(&self, top: usize) -> NamesReport {
        self.report_with(&[], top)
    }

    /// The same with more names.
    pub fn report_with(&self, more: &[(&[u8], u64)], top: usize) -> NamesReport {
        let more = more.iter().filter(|(_, count)| *count > 0);
        let mut names: Vec<(&[u8], u64)> = self
            .held
            .iter()
            .map(|(name, at)| (&**name, self.counts[*at as usize]))
            .chain(more.copied())
            .collect();
        names.sort_unstable_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(other.0)));
        NamesReport {
            held: names.len() as u64,
            names: names
                .into_iter()
                .take(top)
                .map(|(name, count)| (String::from_utf8_lossy(name).into_owned(), count))
                .collect(),
            others: self.others,
        }
    }

    /// Whether every name is held.
    pub const fn is_whole(&self) -> bool {
        self.others == 0
    }

    /// How many names are held.
    pub fn len(&self) -> usize {
        self.held.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_those_held_are_counted_together() {
        let mut names = Names::default();
        for number in 0..HELD + 10 {
            names.add(number.to_string().as_bytes(), 2);
        }
        names.add(b"0", 5);
        let report = names.report(1);
        assert_eq!(report.names, [("0".to_owned(), 7)]);
        assert_eq!((report.held, report.others), (HELD as u64, 20));
        names.add(&vec![b'x'; HELD_BYTES], 1);
        assert_eq!(names.report(0).others, 21);
    }
}

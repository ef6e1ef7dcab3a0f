//! Distinct counts of several series. Small counts are exact, larger ones are estimated with
//! sketches.
//!
//! - In: 64-bit hashes, and the series to which they belong. Out: [`Estimate`]s.
//! - Cost: one table lookup per hash while counts are exact, then one register update or table
//!   lookup per series.
//! - Law: adding a value again does not change the counts.

use datasketches::common::NumStdDev;
use datasketches::hll::{Coupon, HllSketch, HllType, HllUnion};
use rustc_hash::{FxHashMap, FxHashSet};

use super::merge::{Mergeable, Reader, Unreadable, Writer};

/// Number of distinct values, over all series, up to which all counts are exact.
pub const MAX_EXACT: usize = 1 << 16;

/// Number of distinct values in one series up to which its count is always exact.
const MAX_EXACT_PER_SERIES: usize = 1 << 12;

/// Number of distinct values at which the full table is allocated.
const RESERVE_AT: usize = 1 << 13;

/// Binary logarithm of the number of registers of a sketch, as in `RiverBench`.
const LG_K: u8 = 16;

/// Number of series.
pub const SERIES: usize = 13;

/// Series as bits of a set.
pub mod bits {
    /// IRIs.
    pub const IRI: u16 = 1;
    /// Blank nodes.
    pub const BNODE: u16 = 1 << 1;
    /// Literals: the union of the next three series.
    pub const LITERAL: u16 = 1 << 2;
    /// Literals with the datatype xsd:string.
    pub const SIMPLE: u16 = 1 << 3;
    /// Literals with other datatypes.
    pub const TYPED: u16 = 1 << 4;
    /// Literals with a language tag.
    pub const LANGUAGE: u16 = 1 << 5;
    /// Datatypes of [`TYPED`].
    pub const DATATYPE: u16 = 1 << 6;
    /// Subjects.
    pub const SUBJECT: u16 = 1 << 7;
    /// Predicates.
    pub const PREDICATE: u16 = 1 << 8;
    /// Objects.
    pub const OBJECT: u16 = 1 << 9;
    /// Graphs.
    pub const GRAPH: u16 = 1 << 10;
    /// Triple terms.
    pub const TRIPLE: u16 = 1 << 11;
    /// Quads.
    pub const STATEMENT: u16 = 1 << 12;
}

/// A number of distinct values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number, or its most likely value.
    pub value: u64,
    /// The estimate minus 2 standard deviations, or the exact number.
    pub lower: u64,
    /// The estimate plus 2 standard deviations, or the exact number.
    pub upper: u64,
}

impl Estimate {
    /// An exact number.
    pub const fn exact(value: u64) -> Self {
        Self {
            value,
            lower: value,
            upper: value,
        }
    }

    /// Whether the number is exact.
    pub const fn is_exact(self) -> bool {
        self.lower == self.upper
    }
}

/// Counts distinct values.
#[derive(Debug)]
pub struct Distinct {
    limit: usize,
    seen: FxHashMap<u64, u16>,
    counts: [u64; SERIES],
    counters: Option<Box<[Counter; SERIES]>>,
}

/// The values of one series, after the total number has exceeded the limit.
#[derive(Debug)]
enum Counter {
    Exact(FxHashSet<u64>),
    Sketch(HllSketch),
}

impl Default for Distinct {
    fn default() -> Self {
        Self::with_limit(MAX_EXACT)
    }
}

impl Distinct {
    /// Creates a counter that is exact up to the given number of values.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            seen: FxHashMap::default(),
            counts: [0; SERIES],
            counters: None,
        }
    }

    /// Whether all counts are exact.
    pub fn is_exact(&self) -> bool {
        let is_exact = |counter: &Counter| matches!(counter, Counter::Exact(_));
        self.counters
            .as_ref()
            .is_none_or(|counters| counters.iter().all(is_exact))
    }

    /// Adds a value to some series. Returns the series in which it is new, or all of these series
    /// if that is unknown.
    pub fn add(&mut self, hash: u64, series: u16) -> u16 {
        if let Some(counters) = &mut self.counters {
            let coupon = Coupon::from_value(hash);
            for_each(series & !bits::LITERAL, |index| {
                counters[index].add(hash, coupon);
            });
            return series;
        }
        let recorded = self.seen.entry(hash).or_default();
        let new = series & !*recorded;
        *recorded |= series;
        for_each(new, |index| self.counts[index] += 1);
        if self.seen.len() == RESERVE_AT {
            // Allocates once instead of growing several times.
            self.seen.reserve(self.limit.saturating_sub(RESERVE_AT) + 1);
        }
        if self.seen.len() > self.limit {
            self.separate_sketch();
        }
        new
    }

    /// Starts a separate counter for each series.
    #[cold]
    fn separate_sketch(&mut self) {
        let few = self.limit.min(MAX_EXACT_PER_SERIES);
        self.counts[bits::LITERAL.trailing_zeros() as usize] = 0; // each kind of literal is counted instead
        let mut counters = Box::new(
            self.counts
                .map(|count| Counter::with_capacity(count as usize, few)),
        );
        for (hash, series) in std::mem::take(&mut self.seen) {
            let coupon = Coupon::from_value(hash);
            for_each(series & !bits::LITERAL, |index| {
                counters[index].add(hash, coupon);
            });
        }
        self.counters = Some(counters);
    }

    /// Number of distinct values of a series.
    pub fn count(&self, series: u16) -> Estimate {
        let index = series.trailing_zeros() as usize;
        let Some(counters) = &self.counters else {
            return Estimate::exact(self.counts[index]);
        };
        if series == bits::LITERAL {
            let kinds = [bits::SIMPLE, bits::TYPED, bits::LANGUAGE];
            return union(&kinds.map(|kind| &counters[kind.trailing_zeros() as usize]));
        }
        match &counters[index] {
            Counter::Exact(seen) => Estimate::exact(seen.len() as u64),
            Counter::Sketch(sketch) => {
                let bound = |bound: fn(&HllSketch, NumStdDev) -> f64| bound(sketch, NumStdDev::Two);
                estimate(
                    sketch.estimate(),
                    bound(HllSketch::lower_bound),
                    bound(HllSketch::upper_bound),
                )
            }
        }
    }
}

/// Total number of values in several disjoint counters.
fn union(counters: &[&Counter]) -> Estimate {
    let mut exact = 0;
    let mut all: Option<HllUnion> = None;
    for counter in counters {
        match counter {
            Counter::Exact(seen) => exact += seen.len() as u64,
            Counter::Sketch(sketch) => {
                if all.is_none() {
                    all = HllUnion::new(LG_K).ok(); // LG_K is valid, so this never fails
                }
                if let Some(all) = &mut all {
                    all.update(sketch);
                }
            }
        }
    }
    let Some(all) = all else {
        return Estimate::exact(exact);
    };
    let two = NumStdDev::Two;
    let union = estimate(all.estimate(), all.lower_bound(two), all.upper_bound(two));
    Estimate {
        value: union.value + exact,
        lower: union.lower + exact,
        upper: union.upper + exact,
    }
}

/// Rounds an estimate and its bounds to integers.
fn estimate(value: f64, lower: f64, upper: f64) -> Estimate {
    #[allow(clippy::cast_sign_loss, reason = "the number is not negative")]
    let to_integer = |number: f64| number.round().max(0.0) as u64;
    Estimate {
        value: to_integer(value),
        lower: to_integer(lower.floor()),
        upper: to_integer(upper.ceil()),
    }
}

impl Counter {
    /// Creates an empty counter for a series with at least `count` values. The counter is a sketch
    /// if `count` is greater than `few`.
    fn with_capacity(count: usize, few: usize) -> Self {
        match HllSketch::new(LG_K, HllType::Hll8) {
            Ok(sketch) if count > few => Self::Sketch(sketch),
            _ => Self::Exact(FxHashSet::default()),
        }
    }

    #[inline]
    fn add(&mut self, hash: u64, coupon: Coupon) {
        match self {
            Self::Sketch(sketch) => sketch.update_with_coupon(coupon),
            Self::Exact(seen) => {
                if seen.insert(hash) && seen.len() > MAX_EXACT_PER_SERIES {
                    let mut sketch = Self::with_capacity(usize::MAX, 0);
                    for hash in seen.drain() {
                        sketch.add(hash, Coupon::from_value(hash));
                    }
                    *self = sketch;
                }
            }
        }
    }
}

impl Counter {
    /// Adds the values of a sketch.
    fn add_sketch(&mut self, sketch: &HllSketch) {
        match self {
            Self::Exact(seen) => {
                let seen = std::mem::take(seen);
                *self = Self::Sketch(sketch.clone());
                for hash in seen {
                    self.add(hash, Coupon::from_value(hash));
                }
            }
            Self::Sketch(own) => {
                // LG_K is valid, so this never fails.
                if let Ok(mut all) = HllUnion::new(LG_K) {
                    all.update(own);
                    all.update(sketch);
                    *own = all.to_sketch(HllType::Hll8);
                }
            }
        }
    }
}

impl Mergeable for Distinct {
    fn write(&self, out: &mut Writer) {
        let Some(counters) = &self.counters else {
            out.write_number(0);
            out.write_number(self.seen.len() as u64);
            for (hash, series) in &self.seen {
                out.write_number(*hash);
                out.write_number(u64::from(*series));
            }
            return;
        };
        out.write_number(1);
        for counter in counters.iter() {
            match counter {
                Counter::Exact(seen) => {
                    out.write_number(0);
                    out.write_number(seen.len() as u64);
                    for hash in seen {
                        out.write_number(*hash);
                    }
                }
                Counter::Sketch(sketch) => {
                    out.write_number(1);
                    out.write_bytes(&sketch.serialize());
                }
            }
        }
    }

    fn merge(&mut self, input: &mut Reader<'_>) -> Result<(), Unreadable> {
        if input.read_number()? == 0 {
            for _ in 0..input.read_number()? {
                let (hash, series) = (input.read_number()?, input.read_number()?);
                let series = u16::try_from(series).map_err(|_| Unreadable)?;
                if series >> SERIES != 0 {
                    return Err(Unreadable);
                }
                self.add(hash, series);
            }
            return Ok(());
        }
        if self.counters.is_none() {
            self.separate_sketch();
        }
        for counter in self
            .counters
            .iter_mut()
            .flat_map(|counters| counters.iter_mut())
        {
            if input.read_number()? == 0 {
                for _ in 0..input.read_number()? {
                    let hash = input.read_number()?;
                    counter.add(hash, Coupon::from_value(hash));
                }
            } else {
                let sketch = HllSketch::deserialize(input.read_bytes()?).map_err(|_| Unreadable)?;
                if sketch.lg_config_k() != LG_K {
                    return Err(Unreadable);
                }
                counter.add_sketch(&sketch);
            }
        }
        Ok(())
    }
}

/// Calls `take` with the number of each bit that is set.
#[inline]
pub fn for_each(mut bits: u16, mut take: impl FnMut(usize)) {
    while bits != 0 {
        take(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

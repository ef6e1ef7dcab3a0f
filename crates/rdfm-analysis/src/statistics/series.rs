//! Series of one number a message: extremes, mean, deviation, and for some percentiles and a histogram.
//!
//! - In: numbers. Out: reports of them.
//! - Cost: a few additions a number. The counts of percentiles take at most 900 kB.
//! - Law: sums are whole numbers, so that no order of messages changes them.

/// Values below this, and the leading bits of larger ones, are counted each by themselves.
const EXACT_BITS: u32 = 12;

/// Percentiles that are given.
pub const PERCENTILES: [u8; 6] = [5, 25, 50, 75, 95, 99];

/// A series of whole numbers. The last number is added when another one comes: many messages are alike.
#[derive(Clone, Debug, Default)]
pub struct Series {
    last: u64,
    /// How often the last number came, one after the other.
    run: u64,
    count: u64,
    minimum: u64,
    maximum: u64,
    sum: u128,
    squares: u128,
}

/// What a series comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeriesReport {
    /// Smallest and largest number, mean and deviation; None of no numbers.
    pub spread: Option<Spread>,
    /// All numbers added.
    pub sum: u64,
}

/// Extremes, mean and deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread<T = u64> {
    /// The smallest.
    pub minimum: T,
    /// The largest.
    pub maximum: T,
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the population.
    pub deviation: f64,
}

impl Series {
    /// Takes a number.
    #[inline]
    pub fn add(&mut self, value: u64) {
        if value != self.last {
            self.end_run();
            self.last = value;
        }
        self.run += 1;
    }

    /// Adds the last number as often as it came.
    fn end_run(&mut self) {
        if self.run == 0 {
            return;
        }
        let (value, run) = (u128::from(self.last), u128::from(self.run));
        self.minimum = if self.count == 0 {
            self.last
        } else {
            self.minimum.min(self.last)
        };
        self.maximum = self.maximum.max(self.last);
        self.count += self.run;
        self.sum += value * run;
        self.squares = self
            .squares
            .saturating_add((value * value).saturating_mul(run));
        self.run = 0;
    }

    /// What it comes to.
    pub fn report(&self) -> SeriesReport {
        let mut whole = self.clone();
        whole.end_run();
        SeriesReport {
            spread: (whole.count > 0).then(|| whole.spread()),
            sum: u64::try_from(whole.sum).unwrap_or(u64::MAX),
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "means are no whole numbers")]
    fn spread(&self) -> Spread {
        let count = u128::from(self.count);
        let mean = self.sum as f64 / self.count as f64;
        // (n Σx² - (Σx)²) / n², without loss while it fits
        let exact = count
            .checked_mul(self.squares)
            .zip(self.sum.checked_mul(self.sum))
            .map(|(squares, square)| {
                squares.saturating_sub(square) as f64 / (count * count) as f64
            });
        let variance =
            exact.unwrap_or_else(|| (self.squares as f64 / self.count as f64) - mean * mean);
        Spread {
            minimum: self.minimum,
            maximum: self.maximum,
            mean,
            deviation: variance.max(0.0).sqrt(),
        }
    }
}

/// A series of ratios: bytes by statements.
#[derive(Clone, Debug, Default)]
pub struct Density {
    count: u64,
    minimum: f64,
    maximum: f64,
    mean: f64,
    squares: f64,
}

/// What a series of ratios comes to; None of none.
pub type DensityReport = Option<Spread<f64>>;

impl Density {
    /// Takes a ratio; one by 0 is none.
    #[allow(clippy::cast_precision_loss, reason = "ratios are no whole numbers")]
    pub fn add(&mut self, bytes: u64, statements: u64) {
        if statements == 0 {
            return;
        }
        let value = bytes as f64 / statements as f64;
        if self.count == 0 {
            (self.minimum, self.maximum) = (value, value);
        }
        self.minimum = self.minimum.min(value);
        self.maximum = self.maximum.max(value);
        self.count += 1;
        // Welford's: stable where the deviation is small beside the mean
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// What it comes to.
    #[allow(clippy::cast_precision_loss, reason = "means are no whole numbers")]
    pub fn report(&self) -> DensityReport {
        (self.count > 0).then(|| Spread {
            minimum: self.minimum,
            maximum: self.maximum,
            mean: self.mean,
            deviation: (self.squares / self.count as f64).max(0.0).sqrt(),
        })
    }
}

/// A series with percentiles and a histogram. Values below 4,096 are counted each, larger ones by their leading 12
/// bits: percentiles are exact below it, and above it at most 0.05 % too small.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    series: Series,
    counts: Vec<u64>,
}

/// A bar of a histogram: the numbers from `from` up to `to`, and how many there were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// The smallest number of the bar.
    pub from: u64,
    /// The largest.
    pub to: u64,
    /// How many there were.
    pub count: u64,
}

/// What sizes come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizesReport {
    /// As of any series.
    pub series: SeriesReport,
    /// The [`PERCENTILES`]: the smallest number that so many in a hundred do not exceed.
    pub percentiles: Option<[u64; PERCENTILES.len()]>,
    /// Bars by powers of two, from the first that is not empty to the last.
    pub histogram: Vec<Histogram>,
}

impl Sizes {
    /// Takes a number.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.series.add(value);
        let index = index(value);
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
    }

    /// What they come to.
    pub fn report(&self) -> SizesReport {
        let series = self.series.report();
        SizesReport {
            series,
            percentiles: series
                .spread
                .map(|spread| PERCENTILES.map(|percent| self.percentile(percent, &spread))),
            histogram: self.histogram(),
        }
    }

    fn percentile(&self, percent: u8, spread: &Spread) -> u64 {
        let count: u128 = self.counts.iter().map(|count| u128::from(*count)).sum();
        let rank = (count * u128::from(percent)).div_ceil(100).max(1);
        let mut before = 0;
        for (index, count) in self.counts.iter().enumerate() {
            before += u128::from(*count);
            if before >= rank {
                return value(index).clamp(spread.minimum, spread.maximum);
            }
        }
        spread.maximum
    }

    fn histogram(&self) -> Vec<Histogram> {
        let mut bars: Vec<Histogram> = Vec::new();
        for (index, count) in self.counts.iter().enumerate() {
            if *count == 0 {
                continue;
            }
            let (from, to) = bar(value(index));
            while let Some(last) = bars.last()
                && last.to < from - 1
            {
                let (from, to) = bar(last.to + 1);
                bars.push(Histogram { from, to, count: 0 });
            }
            match bars.last_mut() {
                Some(last) if last.to == to => last.count += count,
                _ => bars.push(Histogram {
                    from,
                    to,
                    count: *count,
                }),
            }
        }
        bars
    }
}

/// The first and the last value of a value's bar: of equal numbers of bits.
const fn bar(value: u64) -> (u64, u64) {
    match value.checked_ilog2() {
        None => (0, 0),
        Some(log) => (1 << log, u64::MAX >> (63 - log)),
    }
}

/// Where a value is counted.
fn index(value: u64) -> usize {
    let bits = u64::BITS - value.leading_zeros();
    let shift = bits.saturating_sub(EXACT_BITS);
    // Each doubling beyond the exact values has half of their number.
    ((value >> shift) as usize) + ((shift as usize) << (EXACT_BITS - 1))
}

/// The smallest value that is counted there.
fn value(index: usize) -> u64 {
    let half = 1_usize << (EXACT_BITS - 1);
    if index < 2 * half {
        return index as u64;
    }
    let shift = index / half - 1;
    ((index - shift * half) as u64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::cast_precision_loss, reason = "it is compared with a ratio")]
    fn values_are_counted_where_they_belong() {
        for number in (0..20_000).chain([1 << 40, (1 << 40) + 1, u64::MAX, u64::MAX - 1]) {
            let least = value(index(number));
            assert!(least <= number, "{number}");
            assert!(
                (number - least) as f64 <= number as f64 / 2048.0,
                "{number}"
            );
            assert_eq!(index(least), index(number));
        }
        assert!((0..4096).all(|number| value(index(number)) == number));
    }

    #[test]
    fn a_histogram_has_all_bars_between_the_first_and_the_last() {
        let mut sizes = Sizes::default();
        for number in [2, 3, 3, 17, 5000] {
            sizes.add(number);
        }
        let bars: Vec<_> = sizes
            .report()
            .histogram
            .iter()
            .map(|bar| (bar.from, bar.to, bar.count))
            .collect();
        assert_eq!(bars.first(), Some(&(2, 3, 3)));
        assert_eq!(bars[1], (4, 7, 0));
        assert_eq!(bars[3], (16, 31, 1));
        assert_eq!(bars.last(), Some(&(4096, 8191, 1)));
        assert_eq!(bars.len(), 12);
    }

    #[test]
    #[allow(clippy::float_cmp, reason = "they are whole")]
    fn a_deviation_is_that_of_the_population() {
        let mut series = Series::default();
        for number in [2, 4, 4, 4, 5, 5, 7, 9] {
            series.add(number);
        }
        let spread = series.report().spread.unwrap_or_else(|| unreachable!());
        assert_eq!((spread.mean, spread.deviation), (5.0, 2.0));
    }
}

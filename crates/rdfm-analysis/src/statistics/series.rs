//! Statistics of series with one number per message: extremes, mean and deviation. Some series also
//! have percentiles and a histogram.
//!
//! - In: numbers. Out: reports.
//! - Cost: a few additions per number. The counts for percentiles need at most 900 kB.
//! - Law: sums are integers, so they do not depend on the order of messages.

use super::merge::{Mergeable, Reader, Unreadable, Writer};

/// Values below 2 to this power are counted individually, larger values by this number of leading
/// bits.
const EXACT_BITS: u32 = 12;

/// The percentiles in reports.
pub const PERCENTILES: [u8; 6] = [5, 25, 50, 75, 95, 99];

/// A series of integers. Consecutive equal numbers are common, so they are added together when a
/// different number follows.
#[derive(Clone, Debug, Default)]
pub struct Series {
    last: u64,
    /// Number of consecutive occurrences of the last number.
    run: u64,
    count: u64,
    minimum: u64,
    maximum: u64,
    sum: u128,
    squares: u128,
}

/// Results of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeriesReport {
    /// Extremes, mean and deviation, or `None` for an empty series.
    pub spread: Option<Spread>,
    /// Sum of all numbers.
    pub sum: u64,
}

/// Extremes, mean and deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread<T = u64> {
    /// The smallest number.
    pub minimum: T,
    /// The largest number.
    pub maximum: T,
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the population.
    pub deviation: f64,
}

impl Series {
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, value: u64) {
        if value != self.last {
            self.end_run();
            self.last = value;
        }
        self.run += 1;
    }

    /// Adds the consecutive occurrences of the last number to the totals.
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

    /// The results of the series.
    pub fn report(&self) -> SeriesReport {
        let mut complete = self.clone();
        complete.end_run();
        SeriesReport {
            spread: (complete.count > 0).then(|| complete.spread()),
            sum: u64::try_from(complete.sum).unwrap_or(u64::MAX),
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "means are not integers")]
    fn spread(&self) -> Spread {
        let count = u128::from(self.count);
        let mean = self.sum as f64 / self.count as f64;
        // (n Σx² - (Σx)²) / n² is exact unless it overflows.
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

impl Mergeable for Series {
    fn write(&self, out: &mut Writer) {
        let mut complete = self.clone();
        complete.end_run();
        [complete.count, complete.minimum, complete.maximum].write(out);
        out.write_large_number(complete.sum);
        out.write_large_number(complete.squares);
    }

    fn merge(&mut self, input: &mut Reader<'_>) -> Result<(), Unreadable> {
        self.end_run();
        let (count, minimum, maximum) = (
            input.read_number()?,
            input.read_number()?,
            input.read_number()?,
        );
        let (sum, squares) = (input.read_large_number()?, input.read_large_number()?);
        if count > 0 {
            self.minimum = if self.count == 0 {
                minimum
            } else {
                self.minimum.min(minimum)
            };
            self.maximum = self.maximum.max(maximum);
            self.count += count;
            self.sum += sum;
            self.squares = self.squares.saturating_add(squares);
        }
        Ok(())
    }
}

/// A series of ratios: bytes per statement.
#[derive(Clone, Debug, Default)]
pub struct Density {
    count: u64,
    minimum: f64,
    maximum: f64,
    mean: f64,
    squares: f64,
}

/// Results of a series of ratios, or `None` for an empty series.
pub type DensityReport = Option<Spread<f64>>;

impl Density {
    /// Adds a ratio. A ratio with 0 statements is ignored.
    #[allow(clippy::cast_precision_loss, reason = "ratios are not integers")]
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
        // Welford's algorithm is stable if the deviation is small compared to the mean.
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// The results of the series.
    #[allow(clippy::cast_precision_loss, reason = "means are not integers")]
    pub fn report(&self) -> DensityReport {
        (self.count > 0).then(|| Spread {
            minimum: self.minimum,
            maximum: self.maximum,
            mean: self.mean,
            deviation: (self.squares / self.count as f64).max(0.0).sqrt(),
        })
    }
}

impl Mergeable for Density {
    fn write(&self, out: &mut Writer) {
        out.write_number(self.count);
        for ratio in [self.minimum, self.maximum, self.mean, self.squares] {
            out.write_number(ratio.to_bits());
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "means are not integers")]
    fn merge(&mut self, input: &mut Reader<'_>) -> Result<(), Unreadable> {
        let count = input.read_number()?;
        let mut ratio = || input.read_number().map(f64::from_bits);
        let (minimum, maximum, mean, squares) = (ratio()?, ratio()?, ratio()?, ratio()?);
        if count == 0 {
            return Ok(());
        }
        if self.count == 0 {
            (self.minimum, self.maximum) = (minimum, maximum);
        }
        self.minimum = self.minimum.min(minimum);
        self.maximum = self.maximum.max(maximum);
        // Chan's formula for the mean and the squared deviations of two sets.
        let (ours, theirs) = (self.count as f64, count as f64);
        let difference = mean - self.mean;
        self.count += count;
        let all = self.count as f64;
        self.mean += difference * theirs / all;
        self.squares += squares + difference * difference * ours * theirs / all;
        Ok(())
    }
}

/// A series with percentiles and a histogram. Values below 4,096 are counted individually, larger
/// values by their leading 12 bits. Percentiles below 4,096 are exact. Larger percentiles may be
/// too small, by at most 0.05 %.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    series: Series,
    counts: Vec<u64>,
}

/// A bar of a histogram: the number of values from `from` to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistogramBar {
    /// The smallest value of the bar.
    pub from: u64,
    /// The largest value of the bar.
    pub to: u64,
    /// Number of values.
    pub count: u64,
}

/// Results of a series with percentiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizesReport {
    /// The results that every series has.
    pub series: SeriesReport,
    /// The [`PERCENTILES`]: for each percentage, the smallest number that this percentage of the
    /// numbers does not exceed.
    pub percentiles: Option<[u64; PERCENTILES.len()]>,
    /// Bars between powers of two, from the first to the last non-empty bar.
    pub histogram: Vec<HistogramBar>,
}

impl Sizes {
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.series.add(value);
        let index = index(value);
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
    }

    /// The results of the series.
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

    fn histogram(&self) -> Vec<HistogramBar> {
        let mut bars: Vec<HistogramBar> = Vec::new();
        for (index, count) in self.counts.iter().enumerate() {
            if *count == 0 {
                continue;
            }
            let (from, to) = bar(value(index));
            while let Some(last) = bars.last()
                && last.to < from - 1
            {
                let (from, to) = bar(last.to + 1);
                bars.push(HistogramBar { from, to, count: 0 });
            }
            match bars.last_mut() {
                Some(last) if last.to == to => last.count += count,
                _ => bars.push(HistogramBar {
                    from,
                    to,
                    count: *count,
                }),
            }
        }
        bars
    }
}

impl Mergeable for Sizes {
    fn write(&self, out: &mut Writer) {
        self.series.write(out);
        let counted = self.counts.iter().enumerate();
        let counted = counted.filter(|(_, count)| **count > 0);
        out.write_number(counted.clone().count() as u64);
        for (index, count) in counted {
            out.write_number(index as u64);
            out.write_number(*count);
        }
    }

    fn merge(&mut self, input: &mut Reader<'_>) -> Result<(), Unreadable> {
        self.series.merge(input)?;
        for _ in 0..input.read_number()? {
            let position = usize::try_from(input.read_number()?).map_err(|_| Unreadable)?;
            if position > index(u64::MAX) {
                return Err(Unreadable);
            }
            if position >= self.counts.len() {
                self.counts.resize(position + 1, 0);
            }
            self.counts[position] += input.read_number()?;
        }
        Ok(())
    }
}

/// The first and last value of the bar that contains a value. All values in a bar have the same
/// number of bits.
const fn bar(value: u64) -> (u64, u64) {
    match value.checked_ilog2() {
        None => (0, 0),
        Some(log) => (1 << log, u64::MAX >> (63 - log)),
    }
}

/// Index of the counter for a value.
fn index(value: u64) -> usize {
    let bits = u64::BITS - value.leading_zeros();
    let shift = bits.saturating_sub(EXACT_BITS);
    // Above the exact values, each range between powers of two has half as many counters.
    ((value >> shift) as usize) + ((shift as usize) << (EXACT_BITS - 1))
}

/// The smallest value that a counter counts.
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
    #[allow(
        clippy::cast_precision_loss,
        reason = "the numbers are compared with a ratio"
    )]
    fn values_counted_together_have_similar_sizes() {
        for number in (0..20_000).chain([1 << 40, (1 << 40) + 1, u64::MAX, u64::MAX - 1]) {
            let smallest = value(index(number));
            assert!(smallest <= number, "{number}");
            assert!(
                (number - smallest) as f64 <= number as f64 / 2048.0,
                "{number}"
            );
            assert_eq!(index(smallest), index(number));
        }
        assert!((0..4096).all(|number| value(index(number)) == number));
    }

    #[test]
    fn histograms_include_empty_bars_between_nonempty_bars() {
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
    #[allow(clippy::float_cmp, reason = "the expected values are exact")]
    fn the_deviation_is_the_population_standard_deviation() {
        let mut series = Series::default();
        for number in [2, 4, 4, 4, 5, 5, 7, 9] {
            series.add(number);
        }
        let spread = series.report().spread.unwrap_or_else(|| unreachable!());
        assert_eq!((spread.mean, spread.deviation), (5.0, 2.0));
    }
}

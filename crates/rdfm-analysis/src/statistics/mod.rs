//! Statistics of a log: counts, distinct counts, distributions.
//!
//! - In: the batches of a log, in order, of messages, patches or results; messages may come in parts.
//! - Out: a [`Report`] of plain numbers, at the end or at any message before it.
//! - Cost: each term of a batch is hashed once, where it first occurs in it; a look at each position of each quad.
//!   Memory is bounded: distinct terms are counted exactly up to [`EXACT`] of them, then by sketches of 64 KiB;
//!   names are held up to [`names::HELD`] of a list.
//! - Law: neither the cut into batches nor the order of a batch's term table changes a number.
//!
//! A message is a dataset: a quad that it repeats counts once, in everything but the numbers of quads.

mod batch;
mod distinct;
mod listing;
mod message;
mod names;
mod report;
mod results;
mod series;
mod statements;
mod terms;

pub use batch::Statistics;
pub use distinct::{EXACT, Estimate, bits};
pub use listing::{Listing, ListingReport, datatype};
pub use names::NamesReport;
pub use report::{Occurrences, Report, Unique, VariableReport};
pub use series::{
    DensityReport, Histogram, PERCENTILES, Series, SeriesReport, SizesReport, Spread,
};

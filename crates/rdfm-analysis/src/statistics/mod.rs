//! Statistics of a log: counts, distinct counts, distributions.
//!
//! - In: the batches of a log (messages, patches or results) in order. Messages may arrive in
//!   parts.
//! - Out: a [`Report`] of plain numbers, at the end or after any message.
//! - Cost: each term of a batch is hashed once, at its first occurrence, and each position of each
//!   quad is visited once. Memory use is bounded: up to [`MAX_EXACT`] distinct terms are counted
//!   exactly, and larger counts are estimated with sketches of 64 KiB. Each list keeps up to
//!   [`names::MAX_NAMES`] names.
//! - Law: neither the division into batches nor the order of a batch's term table affects any
//!   number.
//!
//! A message is a dataset, so repeated quads are counted once, except in the numbers of quads.

mod batch;
mod distinct;
mod listing;
mod merge;
mod message;
mod names;
mod report;
mod results;
mod seen_quads;
mod series;
mod terms;

pub use batch::Statistics;
pub use distinct::{Estimate, MAX_EXACT, bits};
pub use listing::{Listing, ListingReport, datatype};
pub use merge::Unreadable;
pub use names::NamesReport;
pub use report::{DistinctTerms, Occurrences, Report, VariableReport};
pub use series::{
    DensityReport, HistogramBar, PERCENTILES, Series, SeriesReport, SizesReport, Spread,
};

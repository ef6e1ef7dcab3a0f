//! Analysis of batches: [`statistics`], [`comparison`], [`canonical`], [`warnings`], [`streams`],
//! [`nanopub`].
//!
//! - In: batches of logs from decoders. Out: numbers, differences, findings.
//! - Cost: one pass over each batch's term table and quads. Memory use is bounded.
//! - Law: the division of messages into batches does not affect the results.

pub mod canonical;
pub mod comparison;
pub mod nanopub;
pub mod statistics;
pub mod streams;
pub mod warnings;

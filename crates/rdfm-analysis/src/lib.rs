//! Analysis of batches: [`statistics`], [`comparison`], [`warnings`], [`streams`], [`nanopub`].
//!
//! - In: batches of logs from decoders. Out: numbers, differences, findings.
//! - Cost: one pass over the term table and the quads of each batch. Memory is bounded.
//! - Law: the division of messages into batches changes nothing.

pub mod comparison;
pub mod nanopub;
pub mod statistics;
pub mod streams;
pub mod warnings;

//! What answers questions about batches: [`statistics`], [`comparison`], [`warnings`].
//!
//! - In: batches of logs, as decoders give them. Out: numbers, differences, findings.
//! - Cost: a pass over the term table and the quads of each batch; what is kept is bounded.
//! - Law: how messages are cut into batches changes nothing.

pub mod comparison;
pub mod statistics;
pub mod warnings;

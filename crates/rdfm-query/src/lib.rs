//! Selects and queries messages: [`filter`], [`query`] and [`keys`].
//!
//! - In: message batches. Out: the matching messages or quads, or query results.
//! - Cost: one check of each distinct term of a batch, then of each quad.

pub mod filter;
pub mod keys;
pub mod labelled;
pub mod query;

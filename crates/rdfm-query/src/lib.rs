//! Selecting and querying messages: [`filter`], [`query`] and [`keys`].
//!
//! - In: batches of messages. Out: the matching messages or quads, or the results of a query.
//! - Cost: each distinct term of a batch is checked once, then each quad.

pub mod filter;
pub mod keys;
pub mod labelled;
pub mod query;

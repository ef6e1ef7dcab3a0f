//! Questions about what messages hold: [`filter`] and [`query`].
//!
//! - In: batches of messages. Out: the messages or quads that are wanted, or the results of a query.
//! - Cost: each distinct term of a batch is looked at once; then a look at each quad.

pub mod filter;
pub mod labelled;
pub mod query;

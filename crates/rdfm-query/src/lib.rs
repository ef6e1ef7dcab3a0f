//! Questions about what messages hold: [`filter`].
//!
//! - In: batches of messages. Out: the messages, or the quads, that are wanted.
//! - Cost: each distinct term of a batch is tested once; then a look at each quad.

pub mod filter;

//! RDF-STaX stream types: whether each message is a valid stream element, and the quad order in
//! RiverBench files.
//!
//! - In: batches of complete messages.
//! - Out: the same messages as sets of quads in a fixed order, and violations of the stream type.
//! - Cost: a sort of each message.
//! - Law: the order and repetition of quads in a message do not affect the result.

mod order;
mod rules;

pub use order::sort_messages;
pub use rules::{NamedGraphs, StreamRules, StreamViolation, SubjectShape};

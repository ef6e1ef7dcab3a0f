//! Stream types of RDF-STaX: whether each message is an element of such a stream, and the order of
//! its quads in the files of RiverBench.
//!
//! - In: batches of complete messages.
//! - Out: the same messages as sets of quads in a fixed order, and violations of the stream type.
//! - Cost: a sort of each message.
//! - Law: the order in which a message has its quads, and how often, makes no difference.

mod order;
mod rules;

pub use order::ordered;
pub use rules::{NamedGraphs, StreamRules, StreamViolation, SubjectShape};

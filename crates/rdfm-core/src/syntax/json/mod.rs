//! JSON texts as flat tapes: what the formats made of JSON-LD read from.
//!
//! - In: a JSON text ([`parse::parse`]), or the events of another syntax ([`Tape`]'s methods).
//! - Out: a [`Tape`]: a node a value or key, in document order; [`write`] gives JSON text again.
//! - [`stream`]: tokens of a text that arrives in pieces, for what is too large for a tape.
//! - Cost: linear, no recursion; 20 bytes a node, and the text of strings that hold escapes.
//! - Law: depth and size are bounded before memory is taken; duplicate keys are found.

pub mod parse;
pub(crate) mod stream;
pub mod tape;
pub mod write;

pub use parse::parse;
pub use tape::{Bounds, Kind, Node, ParseError, Tape, View, mark};

//! JSON texts as flat tapes, the input of the JSON-LD formats.
//!
//! - In: a JSON text ([`parse::parse`]), or the events of another syntax (methods of [`Tape`]).
//! - Out: a [`Tape`] with one node per value or key, in document order; [`write`] turns it back
//!   into JSON text.
//! - [`template`]: tapes of texts that are mostly identical to an earlier text.
//! - [`stream`]: tokens of a text that arrives in pieces, for texts too large for a tape.
//! - Cost: linear, without recursion; 20 bytes per node, plus the text of strings with escapes.
//! - Law: depth and size are checked before memory is allocated. Duplicate keys are detected.

pub mod parse;
pub(crate) mod stream;
pub(crate) mod survey;
pub mod tape;
pub(crate) mod template;
pub mod write;

pub use parse::parse;
pub use tape::{Bounds, JsonKind, Node, ParseError, Tape, View, mark};

//! The data model, used by all other modules.
//!
//! - [`term`], [`table`], [`record`], [`batch`], [`builder`]: terms, records (quads, operations,
//!   cells) and messages, dictionary-encoded; [`namespaces`].
//! - [`write`]: writes terms; their characters ([`chars`]) and labels.
//! - [`datatypes`]: checks lexical forms of datatypes.
//! - [`fast_path`]: switches for measuring and testing fast paths.
//! - [`limits`], [`error`], [`remedy`]: limits, errors with positions, and options that would help.

pub mod batch;
pub mod builder;
pub mod chars;
pub mod datatypes;
pub mod error;
pub mod fast_path;
pub(crate) mod labels;
pub mod limits;
pub mod namespaces;
pub mod record;
pub mod remedy;
pub mod table;
pub mod term;
pub mod write;
mod written_size;

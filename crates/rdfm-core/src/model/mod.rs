//! The data model: what every other part of the core speaks of.
//!
//! - [`term`], [`table`], [`record`], [`batch`], [`builder`]: terms, records (quads, operations, cells) and messages,
//!   dictionary-encoded; [`namespaces`].
//! - [`write`]: how a term is written, its characters ([`chars`]) and labels.
//! - [`datatypes`]: which texts are lexical forms of a datatype.
//! - [`limits`], [`error`], [`remedy`]: what stops a codec, where, and what would help.

pub mod batch;
pub mod builder;
pub mod chars;
pub mod datatypes;
pub mod error;
pub(crate) mod labels;
pub mod limits;
pub mod namespaces;
pub mod record;
pub mod remedy;
pub mod table;
pub mod term;
pub mod write;
mod written;

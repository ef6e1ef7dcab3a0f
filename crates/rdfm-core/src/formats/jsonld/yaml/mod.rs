//! YAML-LD: JSON-LD in YAML 1.2 with the core schema; a document is a message.
//!
//! - In: pieces of a stream of documents. Out: batches ([`decode`]); and back ([`write`]).
//! - [`stream`] finds the documents, [`compose`] makes a JSON tape of each, with what [`schema`] says that its
//!   scalars are; what the tape means is JSON-LD's matter.

pub mod compose;
pub mod decode;
pub mod schema;
pub mod stream;
pub mod write;

//! YAML-LD: JSON-LD in YAML 1.2 with the core schema. Each document is a message.
//!
//! - In: pieces of a document stream. Out: batches ([`decode`]). [`write`] does the reverse.
//! - [`stream`] finds the documents. [`compose`] creates a JSON tape from each, with the scalar
//!   types of [`schema`]. [`block`] does so for documents in plain block style. The tape is
//!   interpreted as JSON-LD.

pub mod block;
pub mod compose;
pub mod decode;
mod layout;
pub mod schema;
pub mod stream;
pub mod write;

//! YAML-LD: JSON-LD in YAML 1.2 with the core schema. Each document is a message.
//!
//! - In: pieces of a stream of documents. Out: batches ([`decode`]); the reverse is [`write`].
//! - [`stream`] finds the documents, and [`compose`] converts each to a JSON tape with the types of scalars that
//!   [`schema`] determines. The tape is interpreted as JSON-LD.

pub mod compose;
pub mod decode;
pub mod schema;
pub mod stream;
pub mod write;

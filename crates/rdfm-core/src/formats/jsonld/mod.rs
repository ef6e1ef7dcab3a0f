//! JSON-LD 1.1: NDJSON-LD logs, and documents that are one message.
//!
//! - In: lines ([`lines`]), a document ([`document`]), or tapes of another syntax ([`reader`]).
//! - Out: batches. Neither the order of quads in a message nor their repetitions are significant.
//! - Decoding follows the order of the specification. [`reader`] separates contexts from messages. [`process`]
//!   processes contexts and [`definition`] their terms, into the [`table`]s of [`context`], which expands [`keys`] and
//!   IRIs. [`walk`] visits the values of a message, [`shape`] classifies objects, [`node`] reads nodes, [`container`]
//!   properties and their maps, and [`value`] literals with their [`number`]s and [`canonical`] JSON. [`terms`] are
//!   stored in the batch. Remote contexts are loaded if the caller allows it ([`loader`]).
//! - [`encode`] writes batches.

mod canonical;
mod container;
mod context;
mod definition;
pub mod document;
pub mod encode;
mod error;
mod iri;
mod keys;
mod keyword;
pub mod lines;
pub mod loader;
mod lost;
mod node;
mod number;
pub mod options;
mod process;
pub mod reader;
mod shape;
pub mod sink;
pub mod sniff;
pub mod spec;
mod table;
mod terms;
mod value;
mod walk;
pub mod yaml;

/// True for the two datatypes that require a language tag.
pub(crate) fn is_language_type(iri: &[u8]) -> bool {
    matches!(
        iri.strip_prefix(b"http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
        Some(b"langString" | b"dirLangString")
    )
}

//! JSON-LD 1.1: NDJSON-LD logs, and documents that are one message.
//!
//! - In: lines ([`lines`]), a document ([`document`]), or tapes of another syntax ([`reader`]).
//! - Out: batches. The order and the repetitions of quads within a message mean nothing.
//! - From bytes to quads, in the order of the specification: [`reader`] tells contexts from messages;
//!   [`process`] processes contexts and [`definition`] terms, into the [`table`]s of [`context`], which expands
//!   [`keys`] and IRIs; [`walk`] goes over the values of a message, [`shape`] tells what an object is, [`node`]
//!   takes nodes, [`container`] properties and their maps, [`value`] literals with their [`number`]s and
//!   [`canonical`] JSON; [`terms`] are stored in the batch. Contexts are loaded as the caller allows ([`loader`]).
//! - Batches are written by [`encode`].

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

/// Datatypes that go with a language tag only.
pub(crate) fn is_language_type(iri: &[u8]) -> bool {
    matches!(
        iri.strip_prefix(b"http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
        Some(b"langString" | b"dirLangString")
    )
}

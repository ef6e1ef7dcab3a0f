//! Codecs of RDF message logs: bytes to columnar batches and back. No Python, no I/O.
//!
//! - [`term`], [`batch`]: the data model, one message after the other, dictionary-encoded.
//! - [`codec`]: the contract of every decoder and encoder, and their options.
//! - [`formats`]: the formats, what each carries, and where to get its codecs.
//! - [`needed`]: which namespaces a message declares or uses.
//! - [`regroup`]: other boundaries of messages, between a decoder and an encoder.
//! - [`slices`]: parts of batches, each for a log of its own.
//! - [`error`], [`limits`]: what stops a codec, and where; [`start`]: files of another format.
//! - [`json`]: JSON texts as tapes.
//! - [`text`]: what the text formats share. One folder a format: [`jelly`], [`nquads`], [`turtle`],
//!   [`rdf_binary`].

pub mod batch;
mod cache;
pub mod codec;
pub mod error;
pub mod formats;
pub mod jelly;
pub mod json;
pub mod jsonld;
pub mod limits;
pub mod needed;
pub mod nquads;
pub mod rdf_binary;
pub mod rdfxml;
pub mod regroup;
pub mod slices;
pub mod start;
pub mod term;
pub mod text;
pub mod turtle;
mod wire;
pub mod yaml;

//! Codecs for RDF message logs: bytes to columnar batches and back. No Python, no I/O.
//!
//! The modules are layers, listed from the top. Each one uses only the modules below it:
//!
//! - [`registry`]: the formats, their capabilities and their codecs.
//! - [`archive`]: members of tar archives.
//! - [`regroup`]: changes message boundaries between a decoder and an encoder.
//! - [`changes`]: datasets, differences between them, and the patches that change them.
//! - [`formats`]: the codecs, one folder per family.
//! - [`syntax`]: code shared by several families.
//! - [`codec`]: the contract of all decoders and encoders, and their options.
//! - [`model`]: terms, batches, limits and errors.

pub mod archive;
pub mod changes;
pub mod codec;
pub mod formats;
pub mod model;
pub mod registry;
pub mod regroup;
pub mod syntax;

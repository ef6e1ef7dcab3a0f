//! Codecs of RDF message logs: bytes to columnar batches and back. No Python, no I/O.
//!
//! A folder a floor, from the top; each uses those below it:
//!
//! - [`registry`]: the formats, what each carries, and where to get its codecs.
//! - [`archive`]: the members of tar archives.
//! - [`regroup`]: other message boundaries, between a decoder and an encoder.
//! - [`changes`]: datasets, the differences between them, and the patches that change them.
//! - [`formats`]: the codecs, a folder a family.
//! - [`syntax`]: what several families share.
//! - [`codec`]: the contract of every decoder and encoder, and their options.
//! - [`model`]: terms, batches, limits and errors.

pub mod archive;
pub mod changes;
pub mod codec;
pub mod formats;
pub mod model;
pub mod registry;
pub mod regroup;
pub mod syntax;

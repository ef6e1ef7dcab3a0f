//! Patches as written by Apache Jena and rdflib: RDF Patch, which consists of text rows, and the
//! same rows in Thrift.
//!
//! - `decode`, `rows`: text to patches, and the content of rows. `encode`: patches to text.
//! - `thrift`: the same for the Thrift encoding.
//! - `order`: the end of a patch and the positions of its headers, shared by both encodings.
//!
//! A log is a sequence of patches. A segment (`Z`) ends a patch, and a header after other rows
//! begins one. Blank node labels identify nodes in the patched store, so they are never changed.

mod decode;
mod encode;
mod options;
mod order;
mod rows;
pub mod spec;
mod thrift;

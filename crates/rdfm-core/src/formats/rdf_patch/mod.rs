//! Patches in the formats of Apache Jena and rdflib: RDF Patch, which consists of rows of text, and the same rows in
//! Thrift.
//!
//! - `decode`, `rows`: text to patches, and single rows. `encode`: patches to text.
//! - `thrift`: the same in Thrift.
//! - `order`: boundaries of patches and positions of headers, the same in both encodings.
//!
//! A log is a sequence of patches. A segment (`Z`) ends a patch; a header after other rows begins one. Labels of blank
//! nodes belong to the store that the patches change, so they are never renamed.

mod decode;
mod encode;
mod options;
mod order;
mod rows;
pub mod spec;
mod thrift;

//! Patches as Apache Jena and rdflib write them: RDF Patch, rows of text, and the same rows in Thrift.
//!
//! - `decode`, `rows`: text to patches, and what a row says. `encode`: patches to text.
//! - `thrift`: the same in Thrift.
//! - `order`: where a patch ends, and where its headers stand; the same in both encodings.
//!
//! A log is patches one after the other. A segment (`Z`) ends a patch; a header behind other rows begins one.
//! Labels of blank nodes are those of the store that patches change: they stay as they are.

mod decode;
mod encode;
mod options;
mod order;
mod rows;
pub mod spec;
mod thrift;

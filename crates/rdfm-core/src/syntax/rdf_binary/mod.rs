//! RDF Binary, as Apache Jena defines it: the terms that its data, patches and results are made of.
//!
//! - `model`: terms as they stand in the bytes; `protobuf`, `thrift`: to and from bytes.
//! - `terms`: what is read becomes terms of a batch; `values`: the value forms of numbers.
//! - `encode`: the terms of a batch, each encoded once.

pub(crate) mod encode;
pub(crate) mod model;
pub(crate) mod protobuf;
pub(crate) mod terms;
pub(crate) mod thrift;
mod values;

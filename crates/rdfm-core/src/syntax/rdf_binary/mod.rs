//! RDF Binary, as defined by Apache Jena: the terms in its data, patches and results.
//!
//! - `model`: encoded terms; `protobuf`, `thrift`: decoding and encoding them.
//! - `terms`: converts decoded terms to terms of a batch; `values`: native numbers.
//! - `encode`: the terms of a batch, each encoded once.

pub(crate) mod encode;
pub(crate) mod model;
pub(crate) mod protobuf;
pub(crate) mod terms;
pub(crate) mod thrift;
mod values;

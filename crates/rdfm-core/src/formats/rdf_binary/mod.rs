//! RDF Binary as defined by Apache Jena: RDF Protobuf and RDF Thrift, two encodings of the same rows.
//!
//! - `row`: rows of a log. `protobuf`, `thrift`: conversion of rows to and from bytes. Their terms are in `syntax`.
//! - [`decode`], [`encode`]: logs.
//!
//! A log of RDF Protobuf is a sequence of length-prefixed `RDF_Stream`s, each of which is a message, or of
//! length-prefixed rows that together form one message, as Jena writes them. RDF Thrift has only rows, so a log is one
//! message. Prefixes and the base apply until the end of the log.

pub mod decode;
pub mod encode;
pub mod sniff;

mod options;
mod protobuf;
mod row;
pub mod spec;
mod thrift;

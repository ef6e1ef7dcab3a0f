//! RDF Binary, as Apache Jena defines it: RDF Protobuf and RDF Thrift, one model of rows in two encodings.
//!
//! - `row`: rows as they stand in the bytes; `protobuf`, `thrift`: rows to and from bytes. Their terms are in
//!   `syntax`.
//! - [`decode`], [`encode`]: logs.
//!
//! A log of RDF Protobuf is a sequence of length-prefixed `RDF_Stream`, each a message, or of
//! length-prefixed rows that are one message together, as Jena writes them. RDF Thrift knows rows alone:
//! a log is one message. Prefixes and the base stay in force to the end of the log.

pub mod decode;
pub mod encode;
pub mod sniff;

mod options;
mod protobuf;
mod row;
pub mod spec;
mod thrift;

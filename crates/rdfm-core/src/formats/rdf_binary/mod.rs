//! RDF Binary, as defined by Apache Jena: RDF Protobuf and RDF Thrift, two encodings of the same
//! rows.
//!
//! - `row`: decoded rows; `protobuf`, `thrift`: decoding and encoding rows. The code for terms is
//!   in `syntax`.
//! - [`decode`], [`encode`]: logs.
//!
//! A log of RDF Protobuf is a sequence of length-prefixed `RDF_Stream` structures, each of which is
//! a message. Alternatively, it is a sequence of length-prefixed rows, which together are one
//! message, as Jena writes them. RDF Thrift has only rows: a log is one message. Prefixes and the
//! base apply to the rest of the log.

pub mod decode;
pub mod encode;
pub mod sniff;

mod options;
mod protobuf;
mod row;
pub mod spec;
mod thrift;

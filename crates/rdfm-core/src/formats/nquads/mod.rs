//! N-Triples and N-Quads logs, RDF 1.1 and 1.2: read here, written by [`encode`].
//!
//! - In: a log in pieces cut anywhere ([`LineReader`]), one term ([`parse_term`]), or terms of
//!   rows ([`CellReader`]).
//! - Out: batches; a term that recurs is mostly stored once.
//! - Cost: linear; memory holds a message, a piece and a batch. An unfinished line is scanned once.
//! - Law: the cutting changes neither the messages nor the error; messages before an error come first.
//!
//! Messages are delimited as [`crate::syntax::text::dialect`] says. IRIs are absolute and of the characters of
//! `IRIREF`, their escapes included; what their scheme asks for beyond that is not checked.
//!
//! With `generalized` any term stands anywhere, and `<< s p o >>` (RDF-star) is a triple term too.
//! `lenient` accepts these deviations and no other:
//! - relative IRIs, and escapes of characters that an IRI cannot hold;
//! - `MESSAGE` in a log that announces no messages, such as `VERSION "1.1"`;
//! - a byte order mark at the start;
//! - parts of a language tag longer than eight characters;
//! - the datatypes rdf:langString and rdf:dirLangString without a language tag.

pub mod count;
mod decode;
pub mod encode;
mod options;
mod skip;
pub mod sniff;
pub mod spec;

pub use crate::syntax::ntriples::{CellError, CellReader, parse_term};
pub use decode::LineReader;

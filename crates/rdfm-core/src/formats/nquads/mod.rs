//! N-Triples and N-Quads logs, RDF 1.1 and 1.2. This module reads them; [`encode`] writes them.
//!
//! - In: a log in pieces cut anywhere ([`LineReader`]), a single term ([`parse_term`]), or the terms of rows
//!   ([`CellReader`]).
//! - Out: batches. Most repeated terms are stored once.
//! - Cost: linear. Memory is bounded by one message, one piece and one batch. An incomplete line is scanned once.
//! - Law: cutting the input differently changes neither messages nor the error. Messages before an error are returned
//!   first.
//!
//! [`crate::syntax::text::dialect`] describes how messages are delimited. IRIs are absolute and consist of the
//! characters that `IRIREF` allows, including escapes. Rules of specific schemes are not checked.
//!
//! With `generalized`, any term is allowed in any position, and `<< s p o >>` (RDF-star) is also a triple term.
//! `lenient` accepts exactly these deviations:
//! - relative IRIs, and escapes of characters that are not allowed in IRIs;
//! - `MESSAGE` in a log that does not announce messages, for example one with `VERSION "1.1"`;
//! - a byte order mark at the start;
//! - subtags of a language tag longer than eight characters;
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

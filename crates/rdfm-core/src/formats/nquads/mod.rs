//! N-Triples and N-Quads logs, RDF 1.1 and 1.2. This module reads them; [`encode`] writes them.
//!
//! - In: a log in pieces of any size ([`LineReader`]), one term ([`parse_term`]), or terms of rows
//!   ([`CellReader`]).
//! - Out: batches. Most recurring terms are stored only once.
//! - Cost: linear. Memory is bounded by a message, a piece and a batch. A partial line is scanned
//!   once.
//! - Law: how the input is cut changes neither messages nor errors. Messages completed before an
//!   error are returned first.
//!
//! Messages are delimited as described in [`crate::syntax::text::dialect`]. IRIs must be absolute
//! and consist of the characters of `IRIREF`, even after decoding escapes. Rules of individual
//! schemes are not checked.
//!
//! With `generalized`, any term is accepted in any position, and `<< s p o >>` (RDF-star) is a
//! triple term. `lenient` accepts exactly these deviations:
//! - relative IRIs, and escapes of characters that are not allowed in an IRI;
//! - `MESSAGE` in a log that does not announce messages, for example after `VERSION "1.1"`;
//! - a byte order mark at the start;
//! - language subtags longer than eight characters;
//! - the datatypes rdf:langString and rdf:dirLangString without a language tag.

mod bad_lines;
pub mod count;
mod decode;
pub mod encode;
mod options;
mod skip;
pub mod sniff;
pub mod spec;

pub use crate::syntax::ntriples::{CellError, CellReader, parse_term};
pub use decode::LineReader;

//! Jelly-SPARQL, a draft: result sets in frames, with the columns, terms and lookups of Jelly 1.2.
//!
//! `frame` reads the fields of a frame, and `decode` the rows; `encode` writes them. `stream`
//! defines the stream options.

pub mod spec;

mod decode;
mod encode;
mod frame;
mod sniff;
mod stream;

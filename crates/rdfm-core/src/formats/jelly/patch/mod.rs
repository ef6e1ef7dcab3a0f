//! Jelly-Patch, a draft: logs of RDF patches in frames of rows, with the terms and lookups of Jelly-RDF.
//!
//! `rows` reads the rows of frames; [`encode`] writes them; [`options`] and `stream` describe the log's options.

pub mod encode;
pub mod options;
pub mod spec;

mod rows;
mod stream;

//! Jelly-Patch, a draft: logs of RDF patches in row frames, with the terms and lookups of
//! Jelly-RDF.
//!
//! `rows` reads the rows of frames, and [`encode`] writes them. [`options`] and `stream` define the
//! options of a log.

pub mod encode;
pub mod options;
pub mod spec;

mod rows;
mod stream;

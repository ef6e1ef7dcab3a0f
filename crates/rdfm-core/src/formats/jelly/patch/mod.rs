//! Jelly-Patch, a draft: logs of RDF patches in frames of rows, with the terms and lookups of Jelly-RDF.
//!
//! [`decode`] reads frames, `rows` their rows; [`encode`] writes them; [`options`] and `stream` say what a log says
//! about itself.

pub mod decode;
pub mod encode;
pub mod options;
pub mod spec;

mod rows;
mod stream;

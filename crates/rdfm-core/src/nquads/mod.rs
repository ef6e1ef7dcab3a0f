//! N-Triples and N-Quads.

pub mod encode;

//! Turtle and TriG.

pub mod encode;
pub mod prefixes;

//! Turtle and TriG logs: one parser for both, RDF 1.1 and 1.2, and both message dialects; and their encoder.
//!
//! - [`decode`]: pieces of bytes to batches, and errors with positions.
//! - `machine`: the grammar, as a push-down automaton with an explicit stack. Directives, literals, space and errors
//!   are in separate files.
//! - `terms`: prefixes, base, labels and the term cache.
//! - `lexer`: the tokens.
//! - [`encode`]: batches to bytes.
//!
//! In each message, anonymous blank nodes are named `_g0`, `_g1`, … and differ from its other labels: see
//! [`crate::model::labels`].

pub mod decode;
pub mod encode;
mod lexer;
mod machine;
pub mod sniff;
pub mod spec;
mod terms;

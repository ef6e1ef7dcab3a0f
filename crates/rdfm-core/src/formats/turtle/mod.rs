//! Turtle and TriG logs: one parser for both, with RDF 1.1 and 1.2 and both message dialects; and
//! their writer.
//!
//! - [`decode`]: bytes in pieces to batches; errors with their positions.
//! - `machine`: the grammar, as a push-down automaton with an explicit stack. Directives, literals,
//!   space and errors have separate files.
//! - `terms`: prefixes, base, labels and the term cache.
//! - `lexer`: the tokens.
//! - [`encode`]: batches to bytes. `memo` copies terms that were written before. `short_forms`
//!   abbreviates terms. `pretty` writes text that depends only on the dataset and the prefixes.
//!
//! Anonymous blank nodes are named `_g0`, `_g1`, … in each message, distinct from its other
//! labels: see [`crate::model::labels`].

pub mod decode;
pub mod encode;
mod lexer;
mod machine;
mod memo;
mod options;
mod pretty;
mod short_forms;
pub mod sniff;
pub mod spec;
mod terms;

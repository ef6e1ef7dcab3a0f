//! RDF/XML: one XML document a line, or a single document of many lines. Each document is a message.
//!
//! - [`decode`]: the decoder. [`machine`]: RDF/XML's grammar as a push-down automaton over the tokens, namespaces and
//!   entities of [`xml`](crate::syntax::xml), with the XML literals of [`canonical`].
//! - [`encode`]: the encoder. [`names`]: how a predicate becomes an XML name.
//! - [`vocabulary`]: the names to which RDF/XML itself gives a meaning.

mod canonical;
pub mod decode;
pub mod encode;
mod machine;
mod names;
pub mod sniff;
pub mod spec;
mod terms;
mod vocabulary;

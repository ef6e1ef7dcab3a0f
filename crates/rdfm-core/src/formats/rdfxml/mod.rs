//! RDF/XML: one XML document a line, or a single document of many lines. Each document is a message.
//!
//! - [`decode`]: the decoder. [`machine`]: RDF/XML's grammar as a push-down automaton over the tokens of
//!   [`xml`](crate::syntax::xml), with the names of [`scope`], the entities of [`entities`] and XML literals of [`canonical`].
//! - [`encode`]: the encoder. [`names`]: how a predicate becomes an XML name.
//! - [`vocabulary`]: the names to which RDF/XML itself gives a meaning.

mod canonical;
pub mod decode;
pub mod encode;
mod entities;
mod machine;
mod names;
mod scope;
pub mod sniff;
pub mod spec;
mod terms;
mod vocabulary;

//! RDF/XML: one XML document per line, or a single document of many lines. Each document is a
//! message.
//!
//! - [`decode`]: the decoder. [`machine`]: the grammar of RDF/XML as a push-down automaton over the
//!   tokens, namespaces and entities of [`xml`](crate::syntax::xml), with the XML literals of
//!   [`canonical`].
//! - [`encode`]: the encoder. [`names`]: the conversion of predicates to XML names.
//! - [`vocabulary`]: the names that are part of the syntax of RDF/XML.

mod canonical;
pub mod decode;
pub mod encode;
mod fourth_edition;
mod machine;
mod names;
pub mod sniff;
pub mod spec;
mod terms;
mod vocabulary;

//! RDF/XML: one XML document a line, or a single document of many lines. Each document is a message.
//!
//! - [`decode`]: the decoder. [`machine`]: RDF/XML's grammar as a push-down automaton over the tokens of
//!   [`xml`], with the names of [`scope`], the entities of [`entities`] and XML literals of [`canonical`].
//! - [`encode`]: the encoder. [`names`]: how a predicate becomes an XML name.

mod canonical;
pub mod decode;
pub mod encode;
mod entities;
mod machine;
mod names;
mod scope;
mod terms;
mod xml;

/// The namespace of RDF.
const RDF: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#";
/// The namespace of base directions (`its:dir`).
const ITS: &[u8] = b"http://www.w3.org/2005/11/its";
/// The namespace that `xml:` is bound to, and no other prefix.
const XML: &[u8] = b"http://www.w3.org/XML/1998/namespace";
/// The namespace that no prefix may be bound to.
const XMLNS: &[u8] = b"http://www.w3.org/2000/xmlns/";

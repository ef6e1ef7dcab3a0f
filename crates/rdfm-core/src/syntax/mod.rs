//! What several families of formats share, below them all.
//!
//! - [`text`]: lines, message dialects, IRIs, labels, and how terms are written; `iri`: references and bases;
//!   [`prefixes`]: IRIs by prefixes; [`moment`]: dates and times; [`needed`]: which namespaces a message declares or uses.
//! - [`ntriples`]: terms and statements of N-Quads, which rows of other formats are made of too.
//! - [`json`]: JSON texts as tapes and as tokens; `xml`: the tokens of XML. `wire`: Protocol Buffers and Thrift;
//!   `rdf_binary`: the terms of Jena's binary formats. `cache`: terms that recur.

pub(crate) mod cache;
pub(crate) mod default_graph;
pub(crate) mod iri;
pub mod json;
pub mod moment;
pub mod needed;
pub mod ntriples;
pub mod prefixes;
pub(crate) mod rdf_binary;
pub mod stack;
pub mod text;
pub(crate) mod wire;
pub(crate) mod xml;

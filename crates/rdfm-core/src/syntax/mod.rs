//! Code shared by several families of formats.
//!
//! - [`text`]: lines, message dialects, IRIs, labels, and written terms; `iri`: references and
//!   bases; [`prefixes`]: prefixed IRIs; [`moment`]: dates and times; [`needed`]: the namespaces
//!   that a message declares or uses; `shape`: nodes, nested blank nodes and lists of a message;
//!   [`rdfc`]: canonical labels.
//! - [`ntriples`]: terms and statements of N-Quads, also used for rows of other formats.
//! - [`json`]: JSON texts as tapes and as tokens; `xml`: XML tokens. `wire`: Protocol Buffers and
//!   Thrift; `rdf_binary`: the terms of Jena's binary formats. `cache`: recurring terms. `double`:
//!   decimal forms of doubles.

pub(crate) mod cache;
pub(crate) mod default_graph;
pub(crate) mod double;
pub(crate) mod iri;
pub mod json;
pub mod moment;
pub mod needed;
pub mod ntriples;
pub mod prefixes;
pub(crate) mod rdf_binary;
pub mod rdfc;
pub(crate) mod shape;
pub mod stack;
pub mod text;
pub(crate) mod wire;
pub(crate) mod xml;

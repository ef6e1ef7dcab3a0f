//! The formats: one folder a family, none of which knows another.

pub mod jelly;
pub mod jsonld;
pub mod nquads;
pub mod rdf_binary;
pub mod rdf_patch;
pub mod rdfxml;
pub mod results;
pub mod turtle;

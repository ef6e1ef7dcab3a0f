//! The formats: one folder per family. Families do not depend on each other.

pub mod jelly;
pub mod jsonld;
pub mod nquads;
pub mod rdf_binary;
pub mod rdf_patch;
pub mod rdfxml;
pub mod results;
pub mod turtle;

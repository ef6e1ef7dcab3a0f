//! SPARQL over messages.

pub mod dictionary;
pub mod message;
pub mod native;

//! Jelly-RDF 1.1: binary logs, one frame a message.

pub mod options;

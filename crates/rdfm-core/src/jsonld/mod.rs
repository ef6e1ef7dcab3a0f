//! JSON-LD.

pub mod encode;
pub mod sink;

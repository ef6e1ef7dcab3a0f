//! Patches in Thrift's compact protocol, as in Apache Jena: one union per row.
//!
//! - `row`: decoding and encoding rows. [`decode`], [`encode`]: logs.

pub(super) mod decode;
pub(super) mod encode;
mod row;

//! Patches in Thrift's compact protocol as defined by Apache Jena: each row is a union.
//!
//! - `row`: rows to and from bytes. [`decode`], [`encode`]: logs.

pub(super) mod decode;
pub(super) mod encode;
mod row;

//! Patches in Thrift's compact protocol, as Apache Jena has them: a union a row.
//!
//! - `row`: rows to and from bytes. [`decode`], [`encode`]: logs.

pub(super) mod decode;
pub(super) mod encode;
mod row;

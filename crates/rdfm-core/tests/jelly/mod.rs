//! Tests Jelly and Jelly-Patch with the conformance suite, files of Jelly-JVM, and the laws of
//! every codec.
//!
//! The tests that read suites are ignored by default; `make test-suites` runs them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests may panic

mod columns;
mod conformance;
mod decode;
mod encode;
mod json;
mod model;
mod patch;
mod restart;
mod usual_rows;
pub mod wire;

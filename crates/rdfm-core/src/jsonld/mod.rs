//! JSON-LD 1.1: NDJSON-LD logs, and documents that are one message.
//!
//! - In: lines ([`lines`]), a document ([`document`]), or tapes of another syntax ([`reader`]).
//! - Out: batches. The order and the repetitions of quads within a message mean nothing.
//! - Two ways of reading: [`walk`] reads the common shapes straight into the batch, with the context
//!   compiled once ([`context`]); a message that it declines is read by the `oxjsonld` crate
//!   ([`complete`]). Contexts are loaded as the caller allows ([`loader`]).
//! - Batches are written by [`encode`].
//! - Law: both ways give the same dataset.

mod complete;
mod context;
pub mod document;
pub mod encode;
mod guard;
mod ignored;
mod iri;
pub mod lines;
pub mod loader;
mod number;
mod protect;
pub mod reader;
pub mod sink;
mod terms;
mod walk;

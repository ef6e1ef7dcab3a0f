//! JSON-LD 1.1: NDJSON-LD logs, and documents that are one message.
//!
//! - In: lines ([`lines`]), a document ([`document`]), or tapes of another syntax ([`reader`]).
//! - Out: batches. Order and repetition of quads within a message are not significant.
//! - From bytes to quads, in the order of the specification: [`reader`] distinguishes contexts and
//!   messages. [`process`] processes contexts, and [`definition`] their terms, which are stored in
//!   the [`table`]s of [`context`]. [`context`] also expands [`keys`] and IRIs. [`walk`] traverses
//!   the values of a message, and [`shape`] classifies objects. [`node`] processes nodes,
//!   [`container`] properties and their maps, [`value`] literals with their [`number`]s and
//!   [`canonical`] JSON. [`terms`] adds terms to the batch. The caller controls how contexts are
//!   loaded ([`loader`]).
//! - A message with the same keys as an earlier one ([`forms`]) uses the same [`plan`], so most of
//!   these steps are performed only once.
//! - [`encode`] writes batches.

mod canonical;
mod container;
mod context;
mod definition;
pub mod document;
pub mod encode;
mod error;
mod forms;
mod iri;
mod keys;
mod keyword;
pub mod lines;
pub mod loader;
mod lost;
mod node;
mod number;
pub mod options;
mod plan;
mod process;
pub mod reader;
mod shape;
pub mod sink;
pub mod sniff;
pub mod spec;
mod table;
mod terms;
mod value;
mod walk;
pub mod yaml;

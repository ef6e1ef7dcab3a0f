//! Batches as Arrow and back: rows with a message each, and columns of values that hold a message each.
//!
//! - [`schema`]: the columns of rows.
//! - [`to_arrow`]: rows of batches, and rows regrouped. [`from_arrow`]: batches of rows.
//! - [`columns`]: rows of results as typed columns, with the messages that they are of.
//! - [`parquet`]: sizes of Parquet pages before they are decoded.
//! - [`values`]: columns of values, decoded and encoded.
//! - [`error`]: why not, and in which row.
//!
//! No Python and no I/O: arrays come in and go out, whoever calls moves them across a border.

pub mod columns;
pub mod error;
pub mod from_arrow;
pub mod parquet;
pub mod schema;
pub mod to_arrow;
pub mod values;

pub use error::Error;

//! Conversion between batches and Arrow: rows with one message or quad each, and value columns with
//! one message per value.
//!
//! - [`schema`]: row columns.
//! - [`to_arrow`]: batches to rows, in record batches of similar size. [`from_arrow`]: rows to
//!   batches.
//! - [`columns`]: typed columns of result rows, with the message of each row.
//! - [`parquet`]: sizes of Parquet pages before they are decoded.
//! - [`values`]: decoding and encoding of value columns.
//! - [`widths`]: conversion of arrays to the types that a consumer requests.
//! - [`error`]: errors, and the rows that caused them.
//!
//! No Python and no I/O: the caller passes arrays in and out.

pub mod columns;
pub mod error;
pub mod from_arrow;
pub mod parquet;
pub mod schema;
pub mod to_arrow;
pub mod values;
pub mod widths;

pub use error::Error;

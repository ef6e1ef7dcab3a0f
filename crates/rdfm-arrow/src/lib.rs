//! Batches as Arrow and back: rows with one message each, and columns of values with one message
//! each.
//!
//! - [`schema`]: the columns of rows.
//! - [`to_arrow`]: batches to rows, and rows regrouped. [`from_arrow`]: rows to batches.
//! - [`columns`]: result rows as typed columns, with the message of each row.
//! - [`parquet`]: sizes of Parquet pages before they are decoded.
//! - [`values`]: columns of values, decoded and encoded.
//! - [`widths`]: arrays in the types that a consumer requests.
//! - [`error`]: errors, and the rows at fault.
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

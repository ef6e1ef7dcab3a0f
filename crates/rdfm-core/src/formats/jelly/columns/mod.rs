//! The column layout of Jelly 1.2, a draft: statements by column, and messages by their lengths.
//!
//! To read, `stream` opens a frame and `batch` its columns, which `column` checks and `cursor`
//! expands. They are based on `fields`, `layout` (runs of cells) and `triples` (terms that are
//! messages). To write, `encode` collects statements in the columns of `column_writer`.

mod batch;
mod column;
mod column_writer;
mod cursor;
mod encode;
mod fields;
mod layout;
mod stream;
mod triples;

pub(super) use column_writer::PackedEntries;
pub(super) use encode::ColumnLogWriter;
pub(super) use fields::{Fault, Found, Locate};
pub(super) use stream::{ColumnReader, FrameParts, check_meaning};

/// The definition that rdfm reads. The version number does not distinguish states of the draft.
pub(super) const DRAFT: &str = "commit 15c10bef of jelly-protobuf";

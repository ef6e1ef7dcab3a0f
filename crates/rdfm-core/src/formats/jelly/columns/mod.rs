//! The column layout of Jelly 1.2, a draft: statements by column, and messages by their lengths.
//!
//! To read, `stream` opens a frame and `batch` its columns. `entries` reads lookup entries, `column`
//! checks a column, and `cursor` expands it. They are based on `fields`, `layout` (runs of cells) and
//! `triples` (terms that are messages). To write, `encode` collects statements: `cell_writer` encodes
//! terms, and `column_writer` the columns. `counter` counts messages.

mod batch;
mod cell_writer;
mod column;
mod column_writer;
mod counter;
mod cursor;
mod encode;
mod entries;
mod fields;
mod layout;
mod stream;
mod triples;

pub(super) use batch::MAX_ROWS;
pub(super) use cell_writer::{Cell, CellWriter};
pub(super) use column::{Column, ColumnRules, Version};
pub(super) use column_writer::{ColumnWriter, PackedEntries};
pub(super) use counter::MessageCounter;
pub(super) use cursor::CellCursor;
pub(super) use encode::ColumnLogWriter;
pub(super) use entries::{Tables, set_entries};
pub(super) use fields::{Fault, Fields, Locate, Located, fault};
pub(super) use stream::{ColumnReader, FrameParts, NO_OPTIONS, check_meaning};

/// The definition that rdfm reads. The version number does not distinguish states of the draft.
pub(super) const DRAFT: &str = "commit 15c10bef of jelly-protobuf";

//! Encoder for Jelly-SPARQL.
//!
//! - In: batches, divided anywhere between rows.
//! - Out: frames of rows by column. A frame ends at a number of rows or bytes, when a lookup table is
//!   full, and where the caller pauses.
//! - Cost: memory for the lookups and one frame.
//! - Law: the bytes depend only on the rows. A log that ends with an error is closed in the same way
//!   as a complete one.

use super::super::columns::{Cell, CellWriter, ColumnRules, ColumnWriter};
use super::super::options::OptionsRow;
use super::super::owned::OwnedTerm;
use super::super::term_writer::FrameSize;
use super::frame::{LINK, is_message};
use super::spec::RESULTS_JELLY;
use super::stream::options_of;
use crate::codec::messages::{Counts, Dropped, Head, MessageLoop, Writer};
use crate::codec::result_head::{length_error, reject_duplicate, reject_row};
use crate::codec::spec::CodecResult;
use crate::codec::unsupported::WriteResult;
use crate::codec::values::Values;
use crate::codec::{Encoder, LogEnd};
use crate::model::batch::ResultBatch;
use crate::model::error::{ErrorClass, quote};
use crate::model::record::ResultHead;
use crate::model::table::TermTable;
use crate::model::term::TermId;
use crate::syntax::wire::{put_bytes, put_number, put_varint};

/// Tags of the fields in a frame.
const OPTIONS: u8 = 0x0a;
const VARIABLE: u8 = 0x12;
const ROW_COUNT: u8 = 0x18;
const ANSWER: u8 = 0x42;
const TRAILER: u8 = 0x4a;
const METADATA: u8 = 0x7a;
/// Field numbers of the first lookup table, and of columns.
const FIRST_TABLE: u32 = 4;
const COLUMN: u32 = 7;
/// Number of rows after which the size of a frame is checked.
const SIZE_CHECK: u32 = 16;
/// What the column of a variable may contain.
const RULES: ColumnRules<'static> = ColumnRules {
    name: "result",
    kinds: 0b1111,
    bound: false,
};

/// Creates a Jelly-SPARQL encoder for a new log.
///
/// # Errors
/// If an option is invalid. The error names it.
pub(super) fn encoder(values: &Values) -> CodecResult<dyn Encoder> {
    let writer = ResultSetWriter::new(options_of(values)?, FrameSize::of_columns(values));
    Ok(Box::new(MessageLoop::new(&RESULTS_JELLY, values, writer)))
}

/// The last term of a column.
#[derive(Default)]
struct LastTerm {
    id: TermId,
    /// The term, if it belongs to an earlier batch.
    kept: Option<OwnedTerm>,
}

impl LastTerm {
    #[inline]
    fn equals(&self, table: &TermTable, id: TermId) -> bool {
        match &self.kept {
            None => self.id == id || table.is_same_term(self.id, table, id),
            Some(kept) => kept.equals(table, id),
        }
    }
}

/// A column of the open frame.
#[derive(Default)]
struct OpenColumn {
    writer: ColumnWriter,
    last: LastTerm,
}

/// Writes result sets.
struct ResultSetWriter {
    options: OptionsRow,
    frame_size: FrameSize,
    cells: CellWriter,
    columns: Vec<OpenColumn>,
    /// The cells of a row.
    row: Vec<Cell>,
    rows: u32,
    /// Fields of the first frame, until it is written, and its metadata.
    header: Vec<u8>,
    metadata: Vec<u8>,
    /// The previous frame, while the row after it may still be rejected.
    pending: Vec<u8>,
    is_answer: bool,
    /// Whether the trailer was written.
    is_closed: bool,
}

impl ResultSetWriter {
    fn new(options: OptionsRow, frame_size: FrameSize) -> Self {
        Self {
            cells: CellWriter::new(&options, FIRST_TABLE as u8),
            options,
            frame_size,
            columns: Vec::new(),
            row: Vec::new(),
            rows: 0,
            header: Vec::new(),
            metadata: Vec::new(),
            pending: Vec::new(),
            is_answer: false,
            is_closed: false,
        }
    }

    /// Writes the open frame. The last frame has the trailer.
    fn write_frame(&mut self, is_last: bool, out: &mut Vec<u8>) {
        let mut frame = std::mem::take(&mut self.header);
        put_number(&mut frame, ROW_COUNT, self.rows);
        if let Some(tables) = &mut self.cells.terms.packed {
            for (table, field) in tables.iter_mut().zip(FIRST_TABLE..) {
                table.put(field, &mut frame);
            }
        }
        for column in &mut self.columns {
            if self.rows > 0 {
                let length = frame.len();
                column.writer.put(COLUMN, &mut frame);
                if frame.len() == length {
                    // All cells are unbound.
                    put_bytes(&mut frame, (COLUMN as u8) << 3 | 2, &[]);
                }
            }
            column.writer.clear();
        }
        self.rows = 0;
        if is_last {
            put_bytes(&mut frame, TRAILER, &[]);
            self.is_closed = true;
        }
        frame.append(&mut self.metadata);
        put_varint(out, frame.len() as u64);
        out.extend_from_slice(&frame);
        self.cells.terms.begin_row();
    }

    /// Adds a row. After an error none of its cells has been added.
    fn add(&mut self, table: &TermTable, row: &[TermId]) -> WriteResult<()> {
        self.row.clear();
        for (column, &id) in self.columns.iter().zip(row) {
            let repeats = column.writer.can_repeat() && column.last.equals(table, id);
            self.row.push(if repeats {
                Cell::Repeat
            } else {
                self.cells.cell(table, id, RULES, &column.writer)?
            });
        }
        for ((column, mut cell), &id) in self.columns.iter_mut().zip(self.row.drain(..)).zip(row) {
            if matches!(cell, Cell::Triple(_)) {
                // The bytes are those of the last triple term. Its entries are in the frame.
                cell = self.cells.cell(table, id, RULES, &column.writer)?;
            }
            self.cells.add(&mut column.writer, cell, table, id);
            column.last = LastTerm { id, kept: None };
        }
        self.rows += 1;
        Ok(())
    }

    fn size(&self) -> usize {
        let columns: usize = self.columns.iter().map(|column| column.writer.size()).sum();
        columns + self.cells.terms.packed_size()
    }
}

/// Rejects the name of a variable that readers would not accept.
fn check_name(name: &str) -> WriteResult<()> {
    if !name.is_empty() && !is_message(name.as_bytes()) {
        return Ok(());
    }
    let reason = format!(
        "Jelly-SPARQL does not allow a variable with the name {}",
        quote(name.as_bytes())
    );
    Err((ErrorClass::Unsupported, reason.into()))
}

/// Encodes the links of a result set.
fn encode_links(head: &ResultHead) -> WriteResult<Vec<u8>> {
    let mut out = Vec::new();
    if head.links.is_empty() {
        return Ok(out);
    }
    if let Some(link) = head
        .links
        .iter()
        .find(|link| link.is_empty() || link.contains('\n'))
    {
        let reason = format!(
            "Jelly-SPARQL does not allow the link {}, because links are lines",
            quote(link.as_bytes())
        );
        return Err((ErrorClass::Unsupported, reason.into()));
    }
    let mut entry = Vec::new();
    put_bytes(&mut entry, 0x0a, LINK.as_bytes());
    put_bytes(&mut entry, 0x12, head.links.join("\n").as_bytes());
    put_bytes(&mut out, METADATA, &entry);
    Ok(out)
}

impl Writer for ResultSetWriter {
    type Record = TermId;

    fn write_message_head(&mut self, head: &Head<TermId>, _out: &mut Vec<u8>) -> WriteResult<()> {
        reject_duplicate(head)?;
        for name in &head.variables {
            check_name(name)?;
        }
        self.metadata = encode_links(head)?;
        let mut options = Vec::new();
        self.options.write(&mut options);
        put_bytes(&mut self.header, OPTIONS, &options);
        if let Some(answer) = head.boolean {
            let value: &[u8] = if answer { &[8, 1] } else { &[] };
            put_bytes(&mut self.header, ANSWER, value);
            self.is_answer = true;
        } else {
            for name in &head.variables {
                put_bytes(&mut self.header, VARIABLE, name.as_bytes());
            }
            self.columns
                .resize_with(head.variables.len(), OpenColumn::default);
        }
        self.cells.terms.begin_row();
        Ok(())
    }

    fn begin_batch(&mut self, batch: &ResultBatch, _out: &mut Vec<u8>) {
        self.cells.terms.begin_batch(batch);
    }

    fn declare(&mut self, _: &[u8], _: &[u8], _: &mut Vec<u8>) -> WriteResult<bool> {
        Ok(false)
    }

    fn write(&mut self, batch: &ResultBatch, message: usize, out: &mut Vec<u8>) -> WriteResult<()> {
        reject_row(self.is_answer)?;
        let (table, row) = (batch.table(), batch.message(message));
        if row.len() != self.columns.len() {
            let reason = length_error(row.len(), self.columns.len());
            return Err((ErrorClass::Unsupported, reason.into()));
        }
        let added = self.add(table, row);
        // All entries of a table are in use in the frame. In a new frame they are not.
        if added.is_err() && self.cells.terms.take_full() && self.rows > 0 {
            let mut frame = Vec::new();
            self.write_frame(false, &mut frame);
            self.pending = frame;
            self.add(table, row)?;
            out.append(&mut self.pending);
            return Ok(());
        }
        added
    }

    fn end_message(&mut self, out: &mut Vec<u8>) {
        let is_large =
            self.rows.is_multiple_of(SIZE_CHECK) && self.size() >= self.frame_size.bytes();
        if is_large || self.rows as usize >= self.frame_size.rows() {
            self.write_frame(false, out);
        }
    }

    fn end_batch(&mut self, batch: &ResultBatch) {
        for OpenColumn { writer, last } in &mut self.columns {
            if last.kept.is_none() && writer.can_repeat() {
                last.kept = Some(OwnedTerm::new(batch.table(), last.id));
            }
        }
    }

    fn remove_message(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.pending);
        self.write_frame(true, out);
    }

    fn pause(&mut self, out: &mut Vec<u8>) -> Option<LogEnd> {
        if self.rows > 0 || !self.header.is_empty() {
            self.write_frame(false, out);
        }
        None
    }

    fn finish(&mut self, _open: bool, out: &mut Vec<u8>) {
        if !self.is_closed {
            self.write_frame(true, out);
        }
    }

    fn reset(&mut self) {
        self.cells.reset();
        self.columns.clear();
        self.rows = 0;
        self.header.clear();
        self.metadata.clear();
        self.pending.clear();
        self.is_answer = false;
        self.is_closed = false;
    }

    fn count_dropped(&self, dropped: Dropped) -> Counts {
        vec![
            ("namespaces", dropped.namespaces),
            ("metadata", dropped.metadata),
        ]
    }
}

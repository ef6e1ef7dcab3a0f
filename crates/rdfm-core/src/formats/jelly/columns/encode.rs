//! Encoder for the column layout.
//!
//! - In: batches, divided anywhere.
//! - Out: frames of statements by column. A frame ends at a number of statements or bytes, when a
//!   lookup table is full, and where the caller pauses.
//! - Cost: memory for the lookups and one frame, and a copy of it while a message spans frames.
//! - Law: the bytes depend only on the messages, not on how they are divided into batches. A
//!   message with metadata or namespaces begins a frame, so that readers assign them to it.

use super::batch::MAX_ROWS;
use super::cell_writer::{Cell, CellWriter, put_iri};
use super::column::{ColumnRules, GRAPHS, OBJECTS, PREDICATES, SUBJECTS};
use super::column_writer::{ColumnMark, ColumnWriter, PackedEntries};
use super::triples::IriState;
use crate::codec::LogEnd;
use crate::codec::messages::{Counts, Dropped, Writer};
use crate::codec::unsupported::WriteResult;
use crate::formats::jelly::encode::{graph_name_error, put_metadata};
use crate::formats::jelly::frame_writer::FrameWriter;
use crate::formats::jelly::options::{FrameMeaning, OptionsRow, PhysicalType};
use crate::formats::jelly::stream::StreamSettings;
use crate::model::batch::MessageBatch;
use crate::model::error::ErrorClass;
use crate::model::namespaces::Namespaces;
use crate::model::remedy::Reason;
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId};
use crate::syntax::wire::{put_bytes, put_number, put_varint};

/// Tags of the columns in a frame, of the options in a row, and of fields of the batch.
const COLUMNS: u8 = 0x12;
const OPTIONS: u8 = 0x0a;
const ROW_COUNT: u8 = 0x08;
const NAMESPACE: u8 = 0x2a;
const LENGTHS: u8 = 0x7a;
/// Field numbers of the first lookup table and the first column.
const FIRST_TABLE: u32 = 2;
const FIRST_COLUMN: u32 = 6;
const OBJECT: usize = 2;
const GRAPH: usize = 3;
/// Largest number of statements in a frame of a log that can have restart marks. The bytes of a mark
/// include the number 1,884,031, which is therefore not in the layout of a column or a message
/// length.
const MAX_MARKED_ROWS: usize = 1 << 15;
/// Number of statements after which the size of a frame is checked.
const SIZE_CHECK: u32 = 64;

/// The statements of the open frame.
#[derive(Clone, Default)]
struct Content {
    rows: u32,
    /// Number of rows after the last message end in the frame.
    since: u32,
    /// Message lengths, encoded.
    lengths: Vec<u8>,
    /// Namespace declarations, encoded, and the state of their IRIs.
    namespaces: Vec<u8>,
    declared: IriState,
    columns: [ColumnWriter; 4],
}

/// A length of the open frame.
#[derive(Clone, Copy, Default)]
struct ContentMark {
    rows: u32,
    since: u32,
    lengths: usize,
    namespaces: usize,
    declared: IriState,
    columns: [ColumnMark; 4],
    /// Number of bytes of the rows, which are the stream options.
    options: usize,
}

impl Content {
    fn clear(&mut self) {
        self.rows = 0;
        self.since = 0;
        self.lengths.clear();
        self.namespaces.clear();
        self.declared = IriState::default();
        for column in &mut self.columns {
            column.clear();
        }
    }

    /// Whether a message has rows in the frame, or ends in it.
    fn has_messages(&self) -> bool {
        self.rows > 0 || !self.lengths.is_empty()
    }

    fn size(&self) -> usize {
        let columns: usize = self.columns.iter().map(ColumnWriter::size).sum();
        columns + self.lengths.len() + self.namespaces.len()
    }

    fn mark(&self, options: usize) -> ContentMark {
        ContentMark {
            rows: self.rows,
            since: self.since,
            lengths: self.lengths.len(),
            namespaces: self.namespaces.len(),
            declared: self.declared,
            columns: [0, 1, 2, 3].map(|index| self.columns[index].mark()),
            options,
        }
    }

    fn cut(&mut self, mark: &ContentMark) {
        self.rows = mark.rows;
        self.since = mark.since;
        self.lengths.truncate(mark.lengths);
        self.namespaces.truncate(mark.namespaces);
        self.declared = mark.declared;
        for (column, mark) in self.columns.iter_mut().zip(&mark.columns) {
            column.cut(mark);
        }
    }
}

/// A frame as it was before the open message.
struct Saved {
    content: Content,
    entries: [PackedEntries; 3],
    options: Vec<u8>,
}

/// Writes the column layout.
pub(in crate::formats::jelly) struct ColumnLogWriter {
    options: OptionsRow,
    quads: bool,
    /// Whether all messages become one.
    flat: bool,
    delimited: bool,
    merge_graphs: bool,
    omits_namespaces: bool,
    /// Statements and bytes after which a frame ends.
    max_rows: usize,
    frame_bytes: usize,
    cells: CellWriter,
    content: Content,
    frames: FrameWriter,
    before: ContentMark,
    saved: Option<Box<Saved>>,
    /// Whether the open message has metadata.
    has_metadata: bool,
    /// Whether the open message has statements.
    has_rows: bool,
    /// Index of the open message.
    number: u64,
    /// Output bytes after which the next message restarts the stream; 0 if the log has no marks.
    restart_bytes: u64,
    declared: Namespaces,
    /// Whether the open message must redeclare the current namespaces.
    redeclares: bool,
    merged_quads: u64,
    dropped_metadata: u64,
}

impl ColumnLogWriter {
    pub fn new(stream: StreamSettings) -> Self {
        let options = stream.options;
        let flat = stream.frames == FrameMeaning::Flat;
        let messages = stream.delimited && !flat;
        Self {
            quads: options.physical_type == PhysicalType::Quads as u32,
            flat,
            restart_bytes: if messages { stream.restart_bytes } else { 0 },
            redeclares: false,
            delimited: stream.delimited,
            merge_graphs: stream.merge_graphs,
            omits_namespaces: stream.omits_namespaces,
            max_rows: if messages {
                stream.frame_size.rows().min(MAX_MARKED_ROWS)
            } else {
                stream.frame_size.rows()
            },
            frame_bytes: stream.frame_size.bytes(),
            cells: CellWriter::new(&options, FIRST_TABLE as u8),
            content: Content::default(),
            frames: FrameWriter::new(stream.delimited),
            before: ContentMark::default(),
            saved: None,
            has_metadata: false,
            has_rows: false,
            number: 0,
            declared: Namespaces::default(),
            merged_quads: 0,
            dropped_metadata: 0,
            options,
        }
    }

    /// Writes the open frame, unless it is empty.
    fn write_frame(&mut self, out: &mut Vec<u8>) {
        let content = &mut self.content;
        let mut batch = Vec::with_capacity(content.size() + 256);
        put_number(&mut batch, ROW_COUNT, content.rows);
        if let Some(tables) = &mut self.cells.terms.packed {
            for (table, field) in tables.iter_mut().zip(FIRST_TABLE..) {
                table.put(field, &mut batch);
            }
        }
        batch.extend_from_slice(&content.namespaces);
        for (column, field) in content.columns.iter_mut().zip(FIRST_COLUMN..) {
            column.put(field, &mut batch);
        }
        if !content.lengths.is_empty() {
            put_bytes(&mut batch, LENGTHS, &content.lengths);
        }
        content.clear();
        if !batch.is_empty() {
            put_bytes(&mut self.cells.terms.rows.bytes, COLUMNS, &batch);
        }
        if !self.cells.terms.rows.bytes.is_empty() || !self.frames.metadata.is_empty() {
            self.frames.write(&mut self.cells.terms.rows, out);
        }
        self.begin_frame();
    }

    /// Whether the next message must restart the stream.
    fn is_restart_due(&self) -> bool {
        self.restart_bytes > 0 && self.frames.bytes >= self.restart_bytes
    }

    /// Begins a frame that does not refer to earlier frames, except for the namespaces.
    fn begin_stream(&mut self) {
        self.cells.terms.write_options(OPTIONS, &self.options);
        self.begin_frame();
        self.redeclares = !self.declared.is_empty();
        self.frames.marked = self.restart_bytes > 0;
        self.frames.bytes = 0;
    }

    /// Redeclares the current namespaces, once after a restart.
    fn redeclare(&mut self, out: &mut Vec<u8>) -> WriteResult<()> {
        if std::mem::take(&mut self.redeclares) {
            for (name, iri) in self.declared.clone().iter() {
                self.add_namespace(name, iri, out)?;
            }
        }
        Ok(())
    }

    fn add_namespace(&mut self, name: &[u8], iri: &[u8], out: &mut Vec<u8>) -> WriteResult<()> {
        let ids = match self.cells.terms.iri_ids(iri) {
            Err(_) if self.cells.terms.take_full() && self.delimited => {
                self.write_part(out);
                self.cells.terms.iri_ids(iri)?
            }
            other => other?,
        };
        let mut fields = Vec::new();
        if !name.is_empty() {
            put_bytes(&mut fields, 0x0a, name);
        }
        put_iri(&mut fields, 0x12, ids, &mut self.content.declared);
        put_bytes(&mut self.content.namespaces, NAMESPACE, &fields);
        Ok(())
    }

    /// Begins a frame. Its statements use other lookup entries than those before, if the tables are
    /// full.
    fn begin_frame(&mut self) {
        self.cells.terms.begin_row();
        self.cells.terms.forget_last();
    }

    /// Writes the frame within a message, which may still be rejected.
    fn write_part(&mut self, out: &mut Vec<u8>) {
        if self.saved.is_none() {
            let mut content = self.content.clone();
            content.cut(&self.before);
            let options = self.cells.terms.rows.bytes[..self.before.options].to_vec();
            let entries = self.cells.terms.packed.clone().unwrap_or_default();
            self.saved = Some(Box::new(Saved {
                content,
                entries,
                options,
            }));
        }
        // The metadata of a message are in the frame of its first statement.
        let metadata = if self.flat || self.content.has_messages() {
            Vec::new()
        } else {
            std::mem::take(&mut self.frames.metadata)
        };
        self.write_frame(out);
        self.frames.metadata = metadata;
    }

    fn statement(
        &mut self,
        table: &TermTable,
        mut quad: Quad,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        if !self.quads && quad.graph != TermId::DEFAULT_GRAPH {
            if !self.merge_graphs {
                return Err(graph_name_error());
            }
            self.merged_quads += 1;
            quad.graph = TermId::DEFAULT_GRAPH;
        }
        if self.content.rows == MAX_ROWS {
            let reason = format!("a frame cannot have more than {MAX_ROWS} statements");
            return Err((ErrorClass::Limit, reason.into()));
        }
        let added = self.add(table, quad);
        // All entries of a table are in use in the frame. In a new frame they are not.
        let is_used = self.content.rows > 0 || !self.content.namespaces.is_empty();
        if added.is_err() && self.cells.terms.take_full() && self.delimited && is_used {
            self.write_part(out);
            return self.add(table, quad);
        }
        added
    }

    /// Adds a statement. After an error none of its cells has been added.
    fn add(&mut self, table: &TermTable, quad: Quad) -> WriteResult<()> {
        let subject = self.cell::<0>(table, quad.subject)?;
        let predicate = self.cell::<1>(table, quad.predicate)?;
        let object = self.cell::<OBJECT>(table, quad.object)?;
        let graph = self.cell::<GRAPH>(table, quad.graph)?;
        let [subjects, predicates, objects, graphs] = &mut self.content.columns;
        self.cells.add(subjects, subject, table, quad.subject);
        self.cells.add(predicates, predicate, table, quad.predicate);
        self.cells.add(objects, object, table, quad.object);
        self.cells.add(graphs, graph, table, quad.graph);
        self.has_rows = true;
        self.content.rows += 1;
        self.content.since += 1;
        Ok(())
    }

    /// Returns the cell for a term, whose lookup entries are in the frame.
    #[inline]
    fn cell<const POSITION: usize>(&mut self, table: &TermTable, id: TermId) -> WriteResult<Cell> {
        if POSITION == GRAPH && id == TermId::DEFAULT_GRAPH {
            return Ok(Cell::Unbound);
        }
        let column = &self.content.columns[POSITION];
        let last = &mut self.cells.terms.last;
        if last.equals_then_replace::<POSITION>(table, id) && column.can_repeat() {
            return Ok(Cell::Repeat);
        }
        self.cells.cell(table, id, RULES[POSITION], column)
    }

    /// Whether the next values could complete the bytes of a restart mark in the kinds of a column,
    /// so that the frame must end. Only objects have kinds with such bytes.
    #[inline]
    fn resembles_mark(&self) -> bool {
        self.content.columns[OBJECT].resembles_mark
    }

    /// Adds the metadata of a message, which begins a frame with them.
    fn add_metadata(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        let metadata = batch.metadata(message);
        if metadata.is_empty() {
            return Ok(());
        }
        let is_first = self.number == 0 && self.frames.count == 0 && self.content.rows == 0;
        // A later part of a message, and a later message of a frame that cannot end, have none.
        let begins = !self.has_rows && self.delimited && !self.flat;
        if !is_first && !begins {
            self.dropped_metadata += metadata.len() as u64;
            return Ok(());
        }
        if self.content.has_messages() {
            self.write_part(out);
        }
        self.has_metadata = true;
        for entry in metadata {
            put_metadata(&mut self.frames.metadata, entry)?;
        }
        Ok(())
    }
}

/// The positions of a statement, for errors.
const RULES: [ColumnRules; 4] = [SUBJECTS, PREDICATES, OBJECTS, GRAPHS];

impl Writer for ColumnLogWriter {
    type Record = Quad;

    fn begin_batch(&mut self, batch: &MessageBatch, _out: &mut Vec<u8>) {
        self.cells.terms.begin_batch(batch);
    }

    fn begin_message(&mut self, batch: &MessageBatch, number: u64, _out: &mut Vec<u8>) {
        let is_due = self.is_restart_due();
        if is_due {
            self.cells.terms.restart();
        }
        self.before = self.content.mark(self.cells.terms.rows.bytes.len());
        self.saved = None;
        self.has_metadata = false;
        self.has_rows = false;
        self.number = number;
        if number == 0 || is_due {
            self.begin_stream();
        }
        if self.flat {
            self.cells.terms.set_apart(number, batch.table());
        }
    }

    fn check_second_message(&self) -> WriteResult<bool> {
        Ok(self.flat)
    }

    /// Declares a namespace, unless the same declaration is already in force.
    fn declare(&mut self, name: &[u8], iri: &[u8], out: &mut Vec<u8>) -> WriteResult<bool> {
        if self.omits_namespaces {
            return Ok(false);
        }
        if self.declared.get(name) == Some(iri) {
            return Ok(true);
        }
        if self.delimited && self.content.has_messages() {
            self.write_part(out);
        }
        self.redeclare(out)?;
        self.declared.set(name, iri);
        self.add_namespace(name, iri, out)?;
        Ok(true)
    }

    #[inline(never)]
    fn write(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        self.redeclare(out)?;
        self.add_metadata(batch, message, out)?;
        let table = batch.table();
        for quad in batch.message(message) {
            self.statement(table, *quad, out)?;
            let rows = self.content.rows;
            let is_large = rows.is_multiple_of(SIZE_CHECK)
                && self.content.size() + self.cells.terms.packed_size() >= self.frame_bytes;
            if self.delimited
                && (is_large || rows as usize >= self.max_rows || self.resembles_mark())
            {
                self.write_part(out);
            }
        }
        Ok(())
    }

    fn end_message(&mut self, out: &mut Vec<u8>) {
        if self.flat {
            return;
        }
        put_varint(&mut self.content.lengths, u64::from(self.content.since));
        self.content.since = 0;
        let is_full = self.content.lengths.len() >= self.frame_bytes;
        // Before a restart the frame ends here, since the output of a rejected message is removed.
        if self.delimited && (self.has_metadata || is_full || self.is_restart_due()) {
            self.write_frame(out);
        }
    }

    fn end_batch(&mut self, batch: &MessageBatch) {
        self.cells.terms.last.keep(batch.table());
    }

    fn remove_message(&mut self, out: &mut Vec<u8>) {
        if self.has_metadata {
            self.frames.metadata.clear();
        }
        if let Some(saved) = self.saved.take() {
            self.content = saved.content;
            self.cells.terms.packed = Some(saved.entries);
            self.cells.terms.rows.bytes = saved.options;
        } else {
            self.content.cut(&self.before);
            self.cells.terms.rows.bytes.truncate(self.before.options);
        }
        if self.content.has_messages() {
            self.write_frame(out);
        }
    }

    fn continue_log(&mut self, _end: LogEnd) -> Result<(), Reason> {
        if self.flat || !self.delimited {
            return Err(
                "messages can be appended only to a log of messages in length-prefixed frames"
                    .into(),
            );
        }
        Ok(())
    }

    fn pause(&mut self, out: &mut Vec<u8>) -> Option<LogEnd> {
        if self.flat || !self.delimited {
            return None;
        }
        self.write_frame(out);
        Some(LogEnd::Delimiter)
    }

    fn finish(&mut self, _open: bool, out: &mut Vec<u8>) {
        self.write_frame(out);
    }

    fn reset(&mut self) {
        self.cells.reset();
        self.content.clear();
        self.frames = FrameWriter::new(self.delimited);
        self.before = ContentMark::default();
        self.saved = None;
        self.has_metadata = false;
        self.declared = Namespaces::default();
        self.redeclares = false;
        self.merged_quads = 0;
        self.dropped_metadata = 0;
    }

    fn count_dropped(&self, dropped: Dropped) -> Counts {
        vec![
            ("namespaces", dropped.namespaces),
            ("graph names", self.merged_quads),
            ("metadata", self.dropped_metadata),
            ("boundaries", dropped.boundaries),
        ]
    }
}

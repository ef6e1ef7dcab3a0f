//! Encoder for the column layout.
//!
//! - In: batches, divided anywhere.
//! - Out: frames of statements by column. A frame ends at a number of statements or bytes, when a
//!   lookup table is full, and where the caller pauses.
//! - Cost: memory for the lookups and one frame, and a copy of it while a message spans frames.
//! - Law: the bytes depend only on the messages, not on how they are divided into batches. A
//!   message with metadata or namespaces begins a frame, so that readers assign them to it.

use super::batch::MAX_ROWS;
use super::column::{GRAPHS, Place};
use super::column_writer::{ColumnMark, ColumnWriter, PackedEntries, put_two};
use super::triples::{IriState, O_BNODE, O_IRI, O_LITERAL, O_TRIPLE, P_IRI, S_BNODE, S_IRI};
use crate::codec::LogEnd;
use crate::codec::messages::{Counts, Dropped, Writer};
use crate::codec::unsupported::WriteResult;
use crate::formats::jelly::encode::{graph_name_error, put_metadata};
use crate::formats::jelly::frame_writer::FrameWriter;
use crate::formats::jelly::options::{FrameMeaning, OptionsRow, PhysicalType};
use crate::formats::jelly::stream::StreamSettings;
use crate::formats::jelly::term_writer::{EntryTags, FrameSize, TermWriter};
use crate::model::batch::MessageBatch;
use crate::model::error::{ErrorClass, quote};
use crate::model::namespaces::Namespaces;
use crate::model::remedy::Reason;
use crate::model::table::TermTable;
use crate::model::term::{Quad, Term, TermId, TermKind, flags, is_language_type};
use crate::syntax::wire::{put_bytes, put_number, put_varint};

/// Tags of the columns in a frame, of the options in a row, and of fields of the batch.
const COLUMNS: u8 = 0x12;
const OPTIONS: u8 = 0x0a;
const ROW_COUNT: u8 = 0x08;
const NAMESPACE: u8 = 0x2a;
const LENGTHS: u8 = 0x7a;
/// Tags of the lookup entries, which are not rows here.
const ENTRIES: EntryTags = EntryTags {
    name: 2,
    prefix: 3,
    datatype: 4,
};
/// Field number of the first column.
const FIRST_COLUMN: u32 = 6;
const GRAPH: usize = 3;
/// The size of a frame is checked after every so many statements.
const SIZE_CHECK: u32 = 64;

/// A cell whose ids are known.
enum Cell {
    /// The value of the previous cell.
    Repeat,
    Unbound,
    Iri(u32, u32),
    Bnode,
    /// A literal without a language tag; datatype 0 stands for none.
    Literal(u32),
    Tagged,
    /// A triple term, whose bytes are in the buffer, and the state after it.
    Triple(IriState),
}

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
            columns: [0, 1, 2, 3].map(|at| self.columns[at].mark()),
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
    frame_size: FrameSize,
    terms: TermWriter,
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
    declared: Namespaces,
    triple: Vec<u8>,
    merged_quads: u64,
    dropped_metadata: u64,
}

impl ColumnLogWriter {
    pub fn new(stream: StreamSettings) -> Self {
        let options = stream.options;
        let mut terms = TermWriter::new(ENTRIES, &options);
        terms.packed = Some(Default::default());
        Self {
            quads: options.physical_type == PhysicalType::Quads as u32,
            flat: stream.frames == FrameMeaning::Flat,
            delimited: stream.delimited,
            merge_graphs: stream.merge_graphs,
            omits_namespaces: stream.omits_namespaces,
            frame_size: stream.frame_size,
            terms,
            content: Content::default(),
            frames: FrameWriter::new(stream.delimited),
            before: ContentMark::default(),
            saved: None,
            has_metadata: false,
            has_rows: false,
            number: 0,
            declared: Namespaces::default(),
            triple: Vec::new(),
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
        if let Some(tables) = &mut self.terms.packed {
            for (table, field) in tables.iter_mut().zip(2..) {
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
            put_bytes(&mut self.terms.rows.bytes, COLUMNS, &batch);
        }
        if !self.terms.rows.bytes.is_empty() || !self.frames.metadata.is_empty() {
            self.frames.write(&mut self.terms.rows, out);
        }
        self.begin_frame();
    }

    /// Begins a frame. Its statements use other lookup entries than those before, if the tables are
    /// full.
    fn begin_frame(&mut self) {
        self.terms.begin_row();
        self.terms.forget_last();
    }

    /// Writes the frame within a message, which may still be rejected.
    fn write_part(&mut self, out: &mut Vec<u8>) {
        if self.saved.is_none() {
            let mut content = self.content.clone();
            content.cut(&self.before);
            let options = self.terms.rows.bytes[..self.before.options].to_vec();
            let entries = self.terms.packed.clone().unwrap_or_default();
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
        if added.is_err() && self.terms.take_full() && self.delimited && is_used {
            self.write_part(out);
            return self.add(table, quad);
        }
        added
    }

    /// Adds a statement. After an error none of its cells has been added.
    fn add(&mut self, table: &TermTable, quad: Quad) -> WriteResult<()> {
        let cells = [
            self.cell::<0>(table, quad.subject)?,
            self.cell::<1>(table, quad.predicate)?,
            self.cell::<2>(table, quad.object)?,
            self.cell::<GRAPH>(table, quad.graph)?,
        ];
        let ids = [quad.subject, quad.predicate, quad.object, quad.graph];
        for ((column, cell), id) in self.content.columns.iter_mut().zip(cells).zip(ids) {
            let term = || table.term(id);
            match cell {
                Cell::Repeat => column.repeat(),
                Cell::Unbound => column.unbound(),
                Cell::Iri(prefix, name) => column.iri(prefix, name),
                Cell::Bnode => {
                    let (head, rest) = self.terms.label_parts(table.text(id));
                    column.bnode(head, rest);
                }
                Cell::Literal(datatype) => column.literal(table.text(id), datatype),
                Cell::Tagged => {
                    let language = table.text(TermId(term().aux));
                    column.tagged(table.text(id), language, direction(term()));
                }
                Cell::Triple(state) => column.triple(&self.triple, state),
            }
        }
        self.has_rows = true;
        self.content.rows += 1;
        self.content.since += 1;
        Ok(())
    }

    /// Returns the cell for a term, whose lookup entries are in the frame.
    #[inline]
    fn cell<const POSITION: usize>(&mut self, table: &TermTable, id: TermId) -> WriteResult<Cell> {
        let repeats = self.terms.last.equals_then_replace::<POSITION>(table, id);
        if repeats && self.content.columns[POSITION].can_repeat() {
            return Ok(Cell::Repeat);
        }
        let term = table.term(id);
        let place = PLACES[POSITION];
        Ok(match term.kind {
            TermKind::DefaultGraph if POSITION == GRAPH => Cell::Unbound,
            TermKind::Iri => {
                let (prefix, name) = self.terms.iri(table, id, term)?;
                Cell::Iri(prefix, name)
            }
            TermKind::Bnode if POSITION != 1 => Cell::Bnode,
            TermKind::Literal if POSITION == 2 => Cell::Literal(0),
            TermKind::LangLiteral if POSITION == 2 => Cell::Tagged,
            TermKind::TypedLiteral if POSITION == 2 => {
                Cell::Literal(self.datatype(table, TermId(term.aux))?)
            }
            TermKind::TripleTerm if POSITION == 2 => {
                let mut state = self.content.columns[POSITION].nested;
                let mut bytes = std::mem::take(&mut self.triple);
                bytes.clear();
                let written = self.triple(table, term, &mut state, &mut bytes);
                self.triple = bytes;
                written?;
                Cell::Triple(state)
            }
            kind => return Err(misplaced(kind, place.name)),
        })
    }

    fn datatype(&mut self, table: &TermTable, id: TermId) -> WriteResult<u32> {
        let text = table.text(id);
        if is_language_type(text) {
            let reason = format!(
                "a literal of datatype {} has no language tag, which Jelly 1.2 does not allow",
                quote(text)
            );
            return Err((ErrorClass::Unsupported, reason.into()));
        }
        self.terms.datatype(table, id)
    }

    /// Appends the fields of a triple term.
    fn triple(
        &mut self,
        table: &TermTable,
        term: Term,
        state: &mut IriState,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        let ids = table.triple(term);
        for (id, [iri, bnode], name) in [
            (ids[0], [S_IRI, S_BNODE], "subject of a triple term"),
            (ids[1], [P_IRI, 0], "predicate of a triple term"),
            (ids[2], [O_IRI, O_BNODE], "object of a triple term"),
        ] {
            let part = table.term(id);
            let is_object = iri == O_IRI;
            match part.kind {
                TermKind::Iri => {
                    let (prefix, name) = self.terms.iri(table, id, part)?;
                    put_iri(out, tag(iri), (prefix, name), state);
                }
                TermKind::Bnode if bnode != 0 => {
                    let (head, rest) = self.terms.label_parts(table.text_of(part));
                    put_two(out, tag(bnode), head, rest);
                }
                TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral if is_object => {
                    let literal = self.literal(table, part)?;
                    put_bytes(out, tag(O_LITERAL), &literal);
                }
                TermKind::TripleTerm if is_object => {
                    let mut nested = Vec::new();
                    self.triple(table, part, state, &mut nested)?;
                    put_bytes(out, tag(O_TRIPLE), &nested);
                }
                kind => return Err(misplaced(kind, name)),
            }
        }
        Ok(())
    }

    /// Returns the fields of a literal in a triple term.
    fn literal(&mut self, table: &TermTable, term: Term) -> WriteResult<Vec<u8>> {
        let mut out = Vec::new();
        put_bytes(&mut out, 0x0a, table.text_of(term));
        match term.kind {
            TermKind::LangLiteral => {
                put_bytes(&mut out, 0x12, table.text(TermId(term.aux)));
                put_number(&mut out, 4 << 3, u32::from(direction(term)));
            }
            TermKind::TypedLiteral => {
                let datatype = self.datatype(table, TermId(term.aux))?;
                put_number(&mut out, 3 << 3, datatype);
            }
            _ => {}
        }
        Ok(out)
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
const PLACES: [Place; 4] = [
    super::column::SUBJECTS,
    super::column::PREDICATES,
    super::column::OBJECTS,
    GRAPHS,
];

/// Returns the tag of a string or message.
const fn tag(field: u32) -> u8 {
    (field as u8) << 3 | 2
}

/// Returns the direction of a literal as a number of the log.
fn direction(term: Term) -> u8 {
    match term.flags & (flags::LTR | flags::RTL) {
        flags::LTR => 1,
        flags::RTL => 2,
        _ => 0,
    }
}

/// Appends an IRI, whose ids may be inferred from the previous one.
fn put_iri(out: &mut Vec<u8>, tag: u8, (prefix, name): (u32, u32), state: &mut IriState) {
    let mut ids = Vec::with_capacity(12);
    put_number(
        &mut ids,
        1 << 3,
        if prefix == state.prefix { 0 } else { prefix },
    );
    let is_next = name == state.name.saturating_add(1);
    put_number(&mut ids, 2 << 3, if is_next { 0 } else { name });
    put_bytes(out, tag, &ids);
    *state = IriState { prefix, name };
}

/// Returns the error for a term that only generalized RDF, or RDF-star, allows in its position.
#[cold]
fn misplaced(kind: TermKind, position: &str) -> (ErrorClass, Reason) {
    let what = match kind {
        TermKind::Bnode => "a blank node",
        TermKind::TripleTerm => "a triple term",
        TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral => "a literal",
        _ => "another term",
    };
    let reason = format!("Jelly 1.2 does not allow {what} in the {position}; version 1.1 does");
    (ErrorClass::Unsupported, reason.into())
}

impl Writer for ColumnLogWriter {
    type Record = Quad;

    fn begin_batch(&mut self, batch: &MessageBatch, _out: &mut Vec<u8>) {
        self.terms.begin_batch(batch);
    }

    fn begin_message(&mut self, batch: &MessageBatch, number: u64, _out: &mut Vec<u8>) {
        self.before = self.content.mark(self.terms.rows.bytes.len());
        self.saved = None;
        self.has_metadata = false;
        self.has_rows = false;
        self.number = number;
        if number == 0 {
            self.terms.write_options(OPTIONS, &self.options);
            self.begin_frame();
        }
        if self.flat {
            self.terms.set_apart(number, batch.table());
        }
    }

    fn second_message(&self) -> WriteResult<bool> {
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
        let ids = match self.terms.iri_ids(iri) {
            Err(_) if self.terms.take_full() && self.delimited => {
                self.write_part(out);
                self.terms.iri_ids(iri)?
            }
            other => other?,
        };
        self.declared.set(name, iri);
        let mut fields = Vec::new();
        if !name.is_empty() {
            put_bytes(&mut fields, 0x0a, name);
        }
        put_iri(&mut fields, 0x12, ids, &mut self.content.declared);
        put_bytes(&mut self.content.namespaces, NAMESPACE, &fields);
        Ok(true)
    }

    #[inline(never)]
    fn write(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        self.add_metadata(batch, message, out)?;
        let table = batch.table();
        for quad in batch.message(message) {
            self.statement(table, *quad, out)?;
            let rows = self.content.rows;
            let is_large = rows.is_multiple_of(SIZE_CHECK)
                && self.content.size() + self.terms.packed_size() >= self.frame_size.bytes();
            if self.delimited && (is_large || rows as usize >= self.frame_size.rows()) {
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
        let is_full = self.content.lengths.len() >= self.frame_size.bytes();
        if self.delimited && (self.has_metadata || is_full) {
            self.write_frame(out);
        }
    }

    fn end_batch(&mut self, batch: &MessageBatch) {
        self.terms.last.keep(batch.table());
    }

    fn remove_message(&mut self, out: &mut Vec<u8>) {
        if self.has_metadata {
            self.frames.metadata.clear();
        }
        if let Some(saved) = self.saved.take() {
            self.content = saved.content;
            self.terms.packed = Some(saved.entries);
            self.terms.rows.bytes = saved.options;
        } else {
            self.content.cut(&self.before);
            self.terms.rows.bytes.truncate(self.before.options);
        }
        if self.content.has_messages() {
            self.write_frame(out);
        }
    }

    fn continue_log(&mut self, _end: LogEnd) -> Result<(), Reason> {
        Err("messages cannot be appended to a log of version 3 yet; convert it together with the new messages".into())
    }

    fn pause(&mut self, out: &mut Vec<u8>) -> Option<LogEnd> {
        if self.flat || !self.delimited {
            return None;
        }
        self.write_frame(out);
        Some(LogEnd::Content)
    }

    fn finish(&mut self, _open: bool, out: &mut Vec<u8>) {
        self.write_frame(out);
    }

    fn reset(&mut self) {
        self.terms.reset();
        self.terms.packed = Some(Default::default());
        self.content.clear();
        self.frames = FrameWriter::new(self.delimited);
        self.before = ContentMark::default();
        self.saved = None;
        self.has_metadata = false;
        self.declared = Namespaces::default();
        self.merged_quads = 0;
        self.dropped_metadata = 0;
    }

    fn dropped(&self, dropped: Dropped) -> Counts {
        vec![
            ("namespaces", dropped.namespaces),
            ("graph names", self.merged_quads),
            ("metadata", self.dropped_metadata),
            ("boundaries", dropped.boundaries),
        ]
    }
}

//! Encodes the terms and rows of a log, with its lookups and repeated terms.
//!
//! - In: terms of a batch, and the options of the log.
//! - Out: the fields of the current statement, rows of lookup entries before it, and the rows of a
//!   frame.
//! - Cost: a memo for each term and batch avoids hashing in the lookups.
//! - Law: the bytes depend only on the terms; the memo and equal ids only avoid comparisons.

use super::columns::PackedEntries;
use super::encoder_table::EncoderTable;
use super::options::{FRAME_ROWS, OptionsRow};
use super::owned::OwnedTerm;
use crate::codec::unsupported::{WriteResult, misread_tag_error};
use crate::codec::values::Values;
use crate::model::batch::LogBatch;
use crate::model::error::{ErrorClass, quote};
use crate::model::record::Record;
use crate::model::remedy::{Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{Quad, Term, TermId, TermKind, flags};
use crate::model::write::MessagePrefix;
use crate::syntax::text::encode::contains_labels;
use crate::syntax::wire::{put_bytes, put_number, put_varint, varint_size};

/// Tag of a row in a frame.
const ROW: u8 = 0x0a;
/// Index of the graph in a statement.
pub(super) const GRAPH: usize = 3;
/// Value of `last_name` before the first IRI. No name follows it, so the first name id is explicit.
const NO_NAME: u32 = u32::MAX;
/// Maximum size in bytes of a frame that contains a complete message and is therefore built in
/// memory.
pub(super) const MAX_FRAME_BYTES: usize = 1 << 30;

/// Statements and bytes after which a frame in the column layout ends.
const COLUMN_ROWS: usize = 8192;
const COLUMN_BYTES: usize = 512 << 10;
/// Largest number of statements that a frame in the column layout can have.
const MAX_COLUMN_ROWS: usize = (1 << 27) - 1;

/// Tags of the lookup entry rows.
#[derive(Clone, Copy)]
pub(super) struct EntryTags {
    pub name: u8,
    pub prefix: u8,
    pub datatype: u8,
}

/// The lookup entries that a term of the batch used when it was last written.
#[derive(Clone, Copy, Default)]
struct TermMemo {
    /// The batch; 0 for none.
    epoch: u32,
    name: u32,
    name_serial: u32,
    prefix: u32,
    prefix_serial: u32,
}

/// Encodes the terms of a log, and collects the rows of its open frame.
pub(super) struct TermWriter {
    tags: EntryTags,
    /// Whether generalized statements are allowed.
    generalized: bool,
    /// Whether triple terms are allowed.
    rdf_star: bool,

    names: EncoderTable,
    prefixes: EncoderTable,
    datatypes: EncoderTable,
    /// Ids of the previous IRI. After a restart they are [`NO_NAME`] and prefix 0, so that the
    /// first IRI has explicit ids.
    last_name: u32,
    last_prefix: u32,
    pub last: PreviousTerms,
    /// Number of the current row. Lookup entries that this row uses are not replaced.
    row: u64,

    memos: Vec<TermMemo>,
    datatype_memos: Vec<TermMemo>,
    epoch: u32,

    pub rows: FrameRows,
    /// Names, prefixes and datatypes of the open frame in the column layout. In the row layout, they
    /// are rows.
    pub packed: Option<[PackedEntries; 3]>,
    /// Whether a table has no entry that the current row does not use.
    is_full: bool,
    /// The fields of the statement being built.
    pub statement: Vec<u8>,
    /// Whether labels of different messages must differ, and the prefix of the labels of the open
    /// message.
    sets_apart: bool,
    label_prefix: MessagePrefix,
}

/// The rows of the current frame.
#[derive(Default)]
pub(super) struct FrameRows {
    pub bytes: Vec<u8>,
    pub count: usize,
}

/// The size at which a frame ends even if its message is incomplete.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameSize {
    rows: usize,
    bytes: usize,
}

impl FrameSize {
    /// Creates a limit from a size in bytes and the number of rows in the options.
    pub fn of(values: &Values, bytes: usize) -> Self {
        Self {
            rows: values.number(&FRAME_ROWS) as usize,
            bytes,
        }
    }

    /// Returns the limit of a frame in the column layout, in which statements count.
    pub fn of_columns(values: &Values) -> Self {
        let given = values.get(&FRAME_ROWS).is_some();
        Self {
            rows: if given {
                (values.number(&FRAME_ROWS) as usize).min(MAX_COLUMN_ROWS)
            } else {
                COLUMN_ROWS
            },
            bytes: COLUMN_BYTES,
        }
    }

    /// Maximum number of rows.
    pub fn rows(self) -> usize {
        self.rows
    }

    /// Maximum number of bytes.
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Whether a frame with these rows has reached the limit.
    pub fn is_reached(self, rows: &FrameRows) -> bool {
        rows.count >= self.rows || rows.bytes.len() >= self.bytes
    }
}

/// Whether a quad has a term that only generalized RDF allows in its position, also in a triple term.
fn is_generalized(table: &TermTable, quad: Quad) -> bool {
    use TermKind::{BlankNode, LangLiteral, Literal, TripleTerm, TypedLiteral};
    let is_wrong_triple = |id: TermId| {
        let term = table.term(id);
        term.kind == TripleTerm && {
            let [subject, predicate, object] = table.triple(term);
            let graph = TermId::DEFAULT_GRAPH;
            is_generalized(
                table,
                Quad {
                    subject,
                    predicate,
                    object,
                    graph,
                },
            )
        }
    };
    let kind = |id: TermId| table.term(id).kind;
    matches!(kind(quad.subject), Literal | LangLiteral | TypedLiteral)
        || matches!(
            kind(quad.predicate),
            BlankNode | Literal | LangLiteral | TypedLiteral | TripleTerm
        )
        || matches!(kind(quad.graph), Literal | LangLiteral | TypedLiteral)
        || is_wrong_triple(quad.subject)
        || is_wrong_triple(quad.object)
}

/// The terms of the previous statement.
#[derive(Default)]
pub(super) struct PreviousTerms {
    ids: [TermId; 4],
    /// Positions whose ids belong to the current batch, as a bit set. The others are in `kept`.
    live: u8,
    kept: [Option<OwnedTerm>; 4],
}

impl TermWriter {
    pub fn new(tags: EntryTags, options: &OptionsRow) -> Self {
        let tables = options.tables;
        Self {
            tags,
            generalized: options.generalized,
            rdf_star: options.rdf_star,
            names: EncoderTable::new(tables.name),
            prefixes: EncoderTable::new(tables.prefix),
            datatypes: EncoderTable::new(tables.datatype),
            last_name: NO_NAME,
            last_prefix: 0,
            last: PreviousTerms::default(),
            row: 0,
            memos: Vec::new(),
            datatype_memos: Vec::new(),
            epoch: 0,
            rows: FrameRows::default(),
            packed: None,
            is_full: false,
            statement: Vec::new(),
            sets_apart: false,
            label_prefix: MessagePrefix::default(),
        }
    }

    /// Declares generalized statements if the first message, given as its statements, has any.
    pub fn declare_generalized(
        &mut self,
        options: &mut OptionsRow,
        table: &TermTable,
        mut quads: impl Iterator<Item = Quad>,
    ) {
        options.generalized = quads.any(|quad| is_generalized(table, quad));
        self.generalized = options.generalized;
    }

    /// Adds the options row with the given tag.
    pub fn write_options(&mut self, tag: u8, options: &OptionsRow) {
        self.statement.clear();
        options.write(&mut self.statement);
        self.rows.add(tag, &self.statement);
    }

    /// Prepares for the next log.
    pub fn reset(&mut self) {
        self.restart();
        self.row = 0;
        self.rows.clear();
    }

    /// Discards all entries, ids and terms, so that later rows do not refer to earlier rows.
    pub fn restart(&mut self) {
        self.names.reset();
        self.prefixes.reset();
        self.datatypes.reset();
        self.last_name = NO_NAME;
        self.last_prefix = 0;
        self.last = PreviousTerms::default();
        self.new_epoch();
    }

    /// Discards the memos of the previous batch.
    pub fn begin_batch<R: Record>(&mut self, batch: &LogBatch<R>) {
        self.new_epoch();
        let terms = batch.table().terms().len();
        if self.memos.len() < terms {
            self.memos.resize(terms, TermMemo::default());
            self.datatype_memos.resize(terms, TermMemo::default());
        }
    }

    /// Discards all memos.
    fn new_epoch(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.memos.fill(TermMemo::default());
            self.datatype_memos.fill(TermMemo::default());
            self.epoch = 1;
        }
    }

    /// Begins a message whose labels denote different nodes than earlier labels in the same frames.
    pub fn set_apart(&mut self, number: u64, table: &TermTable) {
        self.sets_apart = true;
        self.label_prefix.begin(number);
        self.last.forget_labels(table);
    }

    /// Begins a row.
    #[inline]
    pub fn begin_row(&mut self) {
        self.row += 1;
        self.statement.clear();
    }

    /// Appends the subject, predicate and object, except those that repeat the previous statement.
    #[allow(clippy::inline_always)] // a call per statement costs 5 % of the encoder's instructions
    #[inline(always)]
    pub fn triple(&mut self, table: &TermTable, triple: [TermId; 3]) -> WriteResult<()> {
        let [subject, predicate, object] = triple;
        if !self.last.equals_then_replace::<0>(table, subject) {
            self.term_at::<0, 0>(table, subject)?;
        }
        if !self.last.equals_then_replace::<1>(table, predicate) {
            self.term_at::<1, 0>(table, predicate)?;
        }
        if !self.last.equals_then_replace::<2>(table, object) {
            self.term_at::<2, 0>(table, object)?;
        }
        Ok(())
    }

    /// Appends any term to a row whose term field numbers are one higher than those of a subject.
    pub fn value(&mut self, table: &TermTable, id: TermId) -> WriteResult<()> {
        self.term_at::<0, 1>(table, id)
    }

    /// Appends the subject, predicate or object (`POSITION` 0 to 2). Its field numbers are
    /// `FIELD_OFFSET` higher than those of a statement.
    #[inline]
    fn term_at<const POSITION: u8, const FIELD_OFFSET: u8>(
        &mut self,
        table: &TermTable,
        id: TermId,
    ) -> WriteResult<()> {
        let field = POSITION * 4 + 1 + FIELD_OFFSET;
        // Only IRIs have a memo.
        if let Some((prefix, name)) = self.cached_iri(id) {
            self.put_iri(field << 3 | 2, prefix, name);
            return Ok(());
        }
        let term = table.term(id);
        match term.kind {
            TermKind::Iri => {
                let (prefix, name) = self.new_iri(table, id, term)?;
                self.put_iri(field << 3 | 2, prefix, name);
                Ok(())
            }
            TermKind::BlankNode => {
                if POSITION == 1 {
                    self.check_generalized("a blank node as the predicate")?;
                }
                self.label((field + 1) << 3 | 2, table.text_of(term));
                Ok(())
            }
            TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral => {
                if POSITION < 2 && FIELD_OFFSET == 0 {
                    self.check_generalized("a literal as the subject or predicate")?;
                }
                self.statement.push((field + 2) << 3 | 2);
                self.literal(table, term)
            }
            TermKind::TripleTerm => {
                if POSITION == 1 {
                    self.check_generalized("a triple term as the predicate")?;
                }
                self.triple_term(table, term, (field + 3) << 3 | 2)
            }
            TermKind::DefaultGraph | TermKind::Language => Err((
                ErrorClass::Internal,
                "the batch has a term in a position that does not allow its kind".into(),
            )),
        }
    }

    /// Appends a label, made unique across messages if messages share frames.
    #[inline]
    fn label(&mut self, tag: u8, text: &[u8]) {
        if !self.sets_apart {
            put_bytes(&mut self.statement, tag, text);
            return;
        }
        let (prefix, rest) = self.label_prefix.split(text);
        self.statement.push(tag);
        put_varint(&mut self.statement, (prefix.len() + rest.len()) as u64);
        self.statement.extend_from_slice(prefix);
        self.statement.extend_from_slice(rest);
    }

    fn check_generalized(&self, what: &str) -> WriteResult<()> {
        if self.generalized {
            return Ok(());
        }
        Err((
            ErrorClass::Unsupported,
            Reason::from(format!(
                "{what}, but the header does not declare generalized statements"
            ))
            .with(Remedy::write("generalized", "true", "declares them")),
        ))
    }

    fn triple_term(&mut self, table: &TermTable, term: Term, tag: u8) -> WriteResult<()> {
        if !self.rdf_star {
            return Err((
                ErrorClass::Unsupported,
                Reason::new("a triple term, but the header does not declare triple terms")
                    .with(Remedy::write("rdf_star", "true", "declares them")),
            ));
        }
        self.statement.push(tag);
        let start = self.statement.len();
        let [subject, predicate, object] = table.triple(term);
        self.term_at::<0, 0>(table, subject)?;
        self.term_at::<1, 0>(table, predicate)?;
        self.term_at::<2, 0>(table, object)?;
        // The length precedes the bytes that it counts.
        let length = self.statement.len() - start;
        put_varint(&mut self.statement, length as u64);
        self.statement[start..].rotate_right(varint_size(length as u64));
        Ok(())
    }

    /// Appends a graph to a row. `before` is the field number just before those of the graph: 12 in
    /// a quad, 0 or 2 in other rows.
    pub fn graph(&mut self, table: &TermTable, id: TermId, before: u8) -> WriteResult<()> {
        let term = table.term(id);
        match term.kind {
            TermKind::Iri => {
                let (prefix, name) = self.iri(table, id, term)?;
                self.put_iri((before + 1) << 3 | 2, prefix, name);
            }
            TermKind::BlankNode => self.label((before + 2) << 3 | 2, table.text_of(term)),
            TermKind::DefaultGraph => {
                self.statement
                    .extend_from_slice(&[(before + 3) << 3 | 2, 0]);
            }
            TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral => {
                self.check_generalized("a literal as the graph name")?;
                put_varint(&mut self.statement, u64::from(before + 4) << 3 | 2);
                self.literal(table, term)?;
            }
            TermKind::TripleTerm | TermKind::Language => {
                return Err((
                    ErrorClass::Unsupported,
                    "a triple term as the graph name, which Jelly does not support".into(),
                ));
            }
        }
        Ok(())
    }

    /// Appends the length and the fields of a literal.
    #[inline]
    fn literal(&mut self, table: &TermTable, term: Term) -> WriteResult<()> {
        let text = table.text_of(term);
        let lexical = if text.is_empty() {
            0
        } else {
            1 + varint_size(text.len() as u64) + text.len()
        };
        match term.kind {
            TermKind::LangLiteral => {
                let tag = table.text(TermId(term.aux));
                let direction: &[u8] = match term.flags & (flags::LTR | flags::RTL) {
                    flags::LTR => b"--ltr",
                    flags::RTL => b"--rtl",
                    _ if is_read_as_directed(table, TermId(term.aux)) => {
                        return Err(misread_tag_error(tag, "a base direction"));
                    }
                    _ => b"",
                };
                let length = tag.len() + direction.len();
                let size = lexical + 1 + varint_size(length as u64) + length;
                put_varint(&mut self.statement, size as u64);
                self.lexical(text);
                self.statement.push(0x12);
                put_varint(&mut self.statement, length as u64);
                self.statement.extend_from_slice(tag);
                self.statement.extend_from_slice(direction);
            }
            TermKind::TypedLiteral => {
                let datatype = self.datatype(table, TermId(term.aux))?;
                if datatype < 0x80 && (1..0x7c).contains(&text.len()) {
                    let length = text.len() as u8;
                    self.statement
                        .extend_from_slice(&[length + 4, 0x0a, length]);
                    self.statement.extend_from_slice(text);
                    self.statement.extend_from_slice(&[0x18, datatype as u8]);
                    return Ok(());
                }
                let size = lexical + 1 + varint_size(u64::from(datatype));
                put_varint(&mut self.statement, size as u64);
                self.lexical(text);
                self.statement.push(0x18);
                put_varint(&mut self.statement, u64::from(datatype));
            }
            _ => {
                put_varint(&mut self.statement, lexical as u64);
                self.lexical(text);
            }
        }
        Ok(())
    }

    #[inline]
    fn lexical(&mut self, text: &[u8]) {
        if !text.is_empty() {
            put_bytes(&mut self.statement, 0x0a, text);
        }
    }

    /// Adds a lookup entry of a table: names, prefixes or datatypes.
    #[inline]
    fn add_entry(&mut self, table: usize, tag: u8, id: u32, text: &[u8]) {
        match &mut self.packed {
            None => self.rows.entry(tag, id, text),
            Some(packed) => packed[table].add(u32::from(tag), id, text),
        }
    }

    /// Number of bytes of the lookup entries of the frame, in the column layout.
    pub fn packed_size(&self) -> usize {
        let tables = self.packed.iter().flatten();
        tables.map(PackedEntries::size).sum()
    }

    /// Whether the last term did not fit in a lookup table. Returns true once.
    pub fn take_full(&mut self) -> bool {
        std::mem::take(&mut self.is_full)
    }

    /// Forgets the terms of the previous statement.
    pub fn forget_last(&mut self) {
        self.last = PreviousTerms::default();
    }

    /// Returns the two parts of a label, made unique across messages if messages are merged.
    pub fn label_parts<'a>(&'a mut self, text: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        if self.sets_apart {
            self.label_prefix.split(text)
        } else {
            (b"", text)
        }
    }

    /// Returns the ids of an IRI that is not a term of the batch.
    pub fn iri_ids(&mut self, iri: &[u8]) -> WriteResult<(u32, u32)> {
        let (prefix, name, _) = self.iri_entries(iri)?;
        Ok((prefix, name))
    }

    #[inline]
    pub fn datatype(&mut self, table: &TermTable, id: TermId) -> WriteResult<u32> {
        let memo = self.datatype_memos[id.index()];
        if memo.epoch == self.epoch && self.datatypes.is_current(memo.name, memo.name_serial) {
            self.datatypes.touch(memo.name, self.row);
            return Ok(memo.name);
        }
        let text = table.text(id);
        if self.datatypes.size() == 0 {
            return Err((
                ErrorClass::Unsupported,
                Reason::from(format!(
                    "a literal of datatype {} needs a datatype table, but the log has none",
                    quote(text)
                ))
                .with(Remedy::larger("datatype_table")),
            ));
        }
        let Ok(assigned) = self.datatypes.find_or_insert(text, self.row) else {
            self.is_full = true;
            return Err(too_small("datatype_table", self.datatypes.size()));
        };
        if let Some(entry) = assigned.entry {
            self.add_entry(2, self.tags.datatype, entry, text);
        }
        self.datatype_memos[id.index()] = TermMemo {
            epoch: self.epoch,
            name: assigned.id,
            name_serial: assigned.serial,
            ..TermMemo::default()
        };
        Ok(assigned.id)
    }

    /// Returns the ids of an IRI's prefix and name. New entries are written before the row.
    #[inline]
    pub fn iri(&mut self, table: &TermTable, id: TermId, term: Term) -> WriteResult<(u32, u32)> {
        match self.cached_iri(id) {
            Some(ids) => Ok(ids),
            None => self.new_iri(table, id, term),
        }
    }

    /// Returns the ids of an IRI that was written before in the batch, if its entries are
    /// unchanged.
    #[inline]
    fn cached_iri(&mut self, id: TermId) -> Option<(u32, u32)> {
        let memo = self.memos[id.index()];
        if memo.epoch != self.epoch
            || !self.names.is_current(memo.name, memo.name_serial)
            || !self.prefixes.is_current(memo.prefix, memo.prefix_serial)
        {
            return None;
        }
        self.names.touch(memo.name, self.row);
        if memo.prefix != 0 {
            self.prefixes.touch(memo.prefix, self.row);
        }
        Some((memo.prefix, memo.name))
    }

    fn new_iri(&mut self, table: &TermTable, id: TermId, term: Term) -> WriteResult<(u32, u32)> {
        let (prefix, name, memo) = self.iri_entries(table.text_of(term))?;
        self.memos[id.index()] = memo;
        Ok((prefix, name))
    }

    /// Appends an IRI that is not a term of the batch.
    pub fn iri_text(&mut self, tag: u8, iri: &[u8]) -> WriteResult<()> {
        let (prefix, name, _) = self.iri_entries(iri)?;
        self.put_iri(tag, prefix, name);
        Ok(())
    }

    fn iri_entries(&mut self, iri: &[u8]) -> WriteResult<(u32, u32, TermMemo)> {
        let mut memo = TermMemo {
            epoch: self.epoch,
            ..TermMemo::default()
        };
        let mut name = iri;
        if self.prefixes.size() > 0 {
            // The split depends only on the text, because the split in the input may differ between
            // occurrences of an IRI.
            let split = iri
                .iter()
                .rposition(|byte| matches!(byte, b'#' | b'/'))
                .map_or(0, |at| at + 1);
            let (head, tail) = iri.split_at(split);
            name = tail;
            let assigned = if self.prefixes.has_text(self.last_prefix, head) {
                self.prefixes.reuse(self.last_prefix, self.row)
            } else if let Ok(assigned) = self.prefixes.find_or_insert(head, self.row) {
                assigned
            } else {
                self.is_full = true;
                return Err(too_small("prefix_table", self.prefixes.size()));
            };
            if let Some(entry) = assigned.entry {
                self.add_entry(1, self.tags.prefix, entry, head);
            }
            memo.prefix = assigned.id;
            memo.prefix_serial = assigned.serial;
        }
        let Ok(assigned) = self.names.find_or_insert(name, self.row) else {
            self.is_full = true;
            return Err(too_small("name_table", self.names.size()));
        };
        if let Some(entry) = assigned.entry {
            self.add_entry(0, self.tags.name, entry, name);
        }
        memo.name = assigned.id;
        memo.name_serial = assigned.serial;
        Ok((memo.prefix, memo.name, memo))
    }

    /// Appends an IRI field. Prefix 0 means the previous prefix, name 0 the name after the previous
    /// one.
    #[inline]
    fn put_iri(&mut self, tag: u8, prefix: u32, name: u32) {
        let written_prefix = if prefix == self.last_prefix {
            0
        } else {
            prefix
        };
        let written_name = if name == self.last_name.wrapping_add(1) {
            0
        } else {
            name
        };
        self.last_prefix = prefix;
        self.last_name = name;
        let out = &mut self.statement;
        match (written_prefix, written_name) {
            (0, 0) => out.extend_from_slice(&[tag, 0]),
            (0, 1..=0x7f) => out.extend_from_slice(&[tag, 2, 0x10, name as u8]),
            (0, 0x80..=0x3fff) => {
                out.extend_from_slice(&[tag, 3, 0x10, name as u8 | 0x80, (name >> 7) as u8]);
            }
            (1..=0x7f, 0) => out.extend_from_slice(&[tag, 2, 0x08, prefix as u8]),
            (1..=0x7f, 1..=0x7f) => {
                out.extend_from_slice(&[tag, 4, 0x08, prefix as u8, 0x10, name as u8]);
            }
            _ => {
                let field = |value: u32| match value {
                    0 => 0,
                    _ => 1 + varint_size(u64::from(value)),
                };
                let size = field(written_prefix) + field(written_name);
                out.extend_from_slice(&[tag, size as u8]);
                put_number(out, 0x08, written_prefix);
                put_number(out, 0x10, written_name);
            }
        }
    }
}

impl FrameRows {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
    }

    /// Appends a row of one field.
    #[inline]
    pub fn add(&mut self, tag: u8, fields: &[u8]) {
        self.count += 1;
        let length = fields.len();
        if length < 0x7e {
            self.bytes
                .extend_from_slice(&[ROW, length as u8 + 2, tag, length as u8]);
            self.bytes.extend_from_slice(fields);
            return;
        }
        let row = 1 + varint_size(length as u64) + length;
        self.bytes.push(ROW);
        put_varint(&mut self.bytes, row as u64);
        put_bytes(&mut self.bytes, tag, fields);
    }

    /// Appends a lookup entry.
    #[inline]
    pub fn entry(&mut self, tag: u8, id: u32, text: &[u8]) {
        let mut size = 0;
        if id != 0 {
            size += 1 + varint_size(u64::from(id));
        }
        if !text.is_empty() {
            size += 1 + varint_size(text.len() as u64) + text.len();
        }
        self.count += 1;
        if id == 0 && !text.is_empty() && text.len() < 0x7c {
            let length = text.len() as u8;
            self.bytes
                .extend_from_slice(&[ROW, length + 4, tag, length + 2, 0x12, length]);
            self.bytes.extend_from_slice(text);
            return;
        }
        self.bytes.push(ROW);
        put_varint(
            &mut self.bytes,
            (1 + varint_size(size as u64) + size) as u64,
        );
        self.bytes.push(tag);
        put_varint(&mut self.bytes, size as u64);
        put_number(&mut self.bytes, 0x08, id);
        if !text.is_empty() {
            put_bytes(&mut self.bytes, 0x12, text);
        }
    }
}

impl PreviousTerms {
    /// Whether a term equals the previous one in the same position. The term becomes the previous
    /// one.
    #[allow(clippy::inline_always)] // a call per term costs 12 % of the encoder's instructions
    #[inline(always)]
    pub fn equals_then_replace<const POSITION: usize>(
        &mut self,
        table: &TermTable,
        id: TermId,
    ) -> bool {
        if self.live >> POSITION & 1 == 0 {
            return self.equals_kept(POSITION, table, id);
        }
        let last = self.ids[POSITION];
        if last == id {
            return true;
        }
        self.ids[POSITION] = id;
        let (a, b) = (table.term(last), table.term(id));
        a.kind == b.kind && a.length == b.length && table.is_same_term(last, table, id)
    }

    /// Like [`equals_then_replace`](Self::equals_then_replace), if the previous term belongs to an earlier batch.
    #[cold]
    fn equals_kept(&mut self, position: usize, table: &TermTable, id: TermId) -> bool {
        self.ids[position] = id;
        self.live |= 1 << position;
        let kept = self.kept[position].as_ref();
        kept.is_some_and(|kept| kept.equals(table, id))
    }

    /// Discards terms that contain labels, because a label denotes another node in the next
    /// message. The table must belong to the current batch.
    pub fn forget_labels(&mut self, table: &TermTable) {
        for position in 0..4 {
            let kind = if self.live >> position & 1 == 1 {
                Some(table.term(self.ids[position]).kind)
            } else {
                self.kept[position].as_ref().map(OwnedTerm::kind)
            };
            if kind.is_some_and(contains_labels) {
                self.live &= !(1 << position);
                self.kept[position] = None;
            }
        }
    }

    /// Copies the terms so that they outlive their batch.
    pub fn keep(&mut self, table: &TermTable) {
        for position in 0..4 {
            if self.live >> position & 1 == 1 {
                self.kept[position] = Some(OwnedTerm::new(table, self.ids[position]));
            }
        }
        self.live = 0;
    }
}

#[cold]
fn too_small(option: &'static str, size: u32) -> (ErrorClass, Reason) {
    (
        ErrorClass::Unsupported,
        Reason::from(format!(
            "one statement needs more than {size} lookup entries at once"
        ))
        .with(Remedy::larger(option)),
    )
}

/// Whether an invalid language tag ends with what readers take for a base direction.
#[inline]
fn is_read_as_directed(table: &TermTable, tag: TermId) -> bool {
    table.term(tag).flags & flags::PLAIN == 0
        && [b"--ltr", b"--rtl"]
            .iter()
            .any(|suffix| table.text(tag).ends_with(*suffix))
}

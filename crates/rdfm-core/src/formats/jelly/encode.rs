//! Batches to Jelly logs.
//!
//! - In: batches, cut anywhere between messages or (parts) inside one.
//! - Out: one frame a message, or with [`Frames::Flat`] frames of a number of rows.
//! - Cost: a memo a term and batch saves the lookups' hashing; memory holds the lookups and a frame.
//! - Law: the bytes depend on the messages alone, not on how they were cut into batches: the memo
//!   and equal ids only save comparisons. After an error nothing more is written. With
//!   [`Frames::Flat`] blank nodes of different messages have different labels.

use super::lru::Lru;
use super::options::{Frames, JellyOptions, MAX_VERSION, MIN_NAME_TABLE, PhysicalType};
use super::owned::OwnedTerm;
use super::spec::JELLY;
use super::stream::Stream;
use crate::codec::messages::{Counts, Dropped, MessageLoop, Writer};
use crate::codec::refuse::Refused;
use crate::codec::spec::Made;
use crate::codec::values::Values;
use crate::codec::{Encoder, Source};
use crate::model::batch::MessageBatch;
use crate::model::error::{ErrorClass, quote};
use crate::model::namespaces::Namespaces;
use crate::model::remedy::{Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{Quad, Term, TermId, TermKind, flags};
use crate::model::write::{set_apart, write_apart};
use crate::syntax::text::encode::holds_labels;
use crate::syntax::wire::{put_bytes, put_number, put_varint, varint_size};

/// Rows' tags in a frame, and the tags of the rows' kinds.
const ROW: u8 = 0x0a;
const METADATA: u8 = 0x7a;
const OPTIONS: u8 = 0x0a;
const TRIPLE: u8 = 0x12;
const QUAD: u8 = 0x1a;
const GRAPH_START: u8 = 0x22;
const GRAPH_END: u8 = 0x2a;
const NAMESPACE: u8 = 0x32;
const NAME: u8 = 0x4a;
const PREFIX: u8 = 0x52;
const DATATYPE: u8 = 0x5a;

/// The graph's place among the positions.
const GRAPH: usize = 3;
/// A message that is one frame is collected in memory, up to this many bytes.
const MAX_FRAME_BYTES: usize = 1 << 30;

/// Where an IRI stood in the lookups when the batch's term was last written.
#[derive(Clone, Copy, Default)]
struct Memo {
    /// The batch; 0 is none.
    epoch: u32,
    name: u32,
    name_serial: u32,
    prefix: u32,
    prefix_serial: u32,
}

/// An encoder of Jelly at the start of a log.
///
/// # Errors
/// An option does not fit; the text says which.
pub(super) fn encoder(values: &Values, source: Option<&Source>) -> Made<dyn Encoder> {
    let writer = JellyWriter::new(Stream::of(values, source)?)?;
    Ok(Box::new(MessageLoop::new(&JELLY, values, writer)))
}

/// Writes Jelly-RDF.
struct JellyWriter {
    options: JellyOptions,
    merge_graphs: bool,
    delimited: bool,
    flat: bool,
    frame_rows: usize,

    names: Lru,
    prefixes: Lru,
    datatypes: Lru,
    last_name: u32,
    last_prefix: u32,
    last: Repeats,
    in_graph: bool,
    /// Number of the row being built; lookups pin what it uses.
    row: u64,

    memos: Vec<Memo>,
    datatype_memos: Vec<Memo>,
    epoch: u32,

    rows: Rows,
    /// The fields of the statement being built.
    statement: Vec<u8>,
    /// Metadata of the open message; it goes on the frame in which the message ends. With flat frames
    /// only that of the first message is written, on the first frame, where readers take it.
    metadata: Vec<u8>,
    frame_metadata: Vec<u8>,
    dropped_metadata: u64,
    /// Frames written.
    frames: u64,
    /// The number of the open message.
    number: u64,
    /// With flat frames: what goes before the labels of the open message ([`set_apart`]).
    apart: Vec<u8>,
    mark: Mark,
    declared: Namespaces,
    merged_quads: u64,
}

/// The rows of the frame being built.
#[derive(Default)]
struct Rows {
    bytes: Vec<u8>,
    count: usize,
}

/// The terms of the statement before.
#[derive(Default)]
struct Repeats {
    ids: [TermId; 4],
    /// Which ids are of the current batch; the others are kept as terms.
    live: u8,
    kept: [Option<OwnedTerm>; 4],
}

/// Where the open message began, to take it back from frames that it shares with others.
#[derive(Default)]
struct Mark {
    /// Bytes of the frame's rows at that time.
    rows: usize,
    /// The rows before the message and their metadata, once the frame was written.
    carried: Option<(Vec<u8>, Vec<u8>)>,
}

impl JellyWriter {
    fn new(stream: Stream) -> Result<Self, Reason> {
        let jelly = stream.options;
        if jelly.name_table < MIN_NAME_TABLE {
            return Err(format!(
                "name_table is {}, expected {MIN_NAME_TABLE} or more",
                jelly.name_table
            )
            .into());
        }
        if !(1..=MAX_VERSION).contains(&jelly.version) {
            return Err(
                format!("version is {}, expected 1 or {MAX_VERSION}", jelly.version).into(),
            );
        }
        jelly.check_types()?;
        Ok(Self {
            merge_graphs: stream.merge_graphs,
            delimited: stream.delimited,
            flat: stream.frames == Frames::Flat,
            frame_rows: stream.frame_rows,
            names: Lru::new(jelly.name_table),
            prefixes: Lru::new(jelly.prefix_table),
            datatypes: Lru::new(jelly.datatype_table),
            last_name: 0,
            last_prefix: 0,
            last: Repeats::default(),
            in_graph: false,
            row: 0,
            memos: Vec::new(),
            datatype_memos: Vec::new(),
            epoch: 0,
            rows: Rows::default(),
            statement: Vec::new(),
            metadata: Vec::new(),
            frame_metadata: Vec::new(),
            dropped_metadata: 0,
            frames: 0,
            number: 0,
            apart: Vec::new(),
            mark: Mark::default(),
            declared: Namespaces::default(),
            merged_quads: 0,
            options: jelly,
        })
    }

    fn write_options(&mut self) {
        let options = &self.options;
        let fields = &mut self.statement;
        fields.clear();
        if !options.stream_name.is_empty() {
            put_bytes(fields, 0x0a, options.stream_name.as_bytes());
        }
        put_number(fields, 2 << 3, options.physical_type as u32);
        put_number(fields, 3 << 3, u32::from(options.generalized));
        put_number(fields, 4 << 3, u32::from(options.rdf_star));
        put_number(fields, 9 << 3, options.name_table);
        put_number(fields, 10 << 3, options.prefix_table);
        put_number(fields, 11 << 3, options.datatype_table);
        put_number(fields, 14 << 3, options.logical_type);
        put_number(fields, 15 << 3, options.version);
        self.rows.add(OPTIONS, fields);
    }

    #[inline]
    fn quad(&mut self, table: &TermTable, quad: Quad) -> Refused<()> {
        match self.options.physical_type {
            PhysicalType::Triples => {
                if quad.graph != TermId::DEFAULT_GRAPH {
                    if !self.merge_graphs {
                        return Err(needs_graphs());
                    }
                    self.merged_quads += 1;
                }
                self.row += 1;
                self.statement.clear();
            }
            PhysicalType::Quads => {
                self.row += 1;
                self.statement.clear();
            }
            PhysicalType::Graphs => {
                if !(self.last.is(GRAPH, table, quad.graph) && self.in_graph) {
                    self.end_graph();
                    self.row += 1;
                    self.statement.clear();
                    self.graph(table, quad.graph, 0)?;
                    self.rows.add(GRAPH_START, &self.statement);
                    self.in_graph = true;
                }
                self.row += 1;
                self.statement.clear();
            }
        }
        for (position, id) in [quad.subject, quad.predicate, quad.object]
            .into_iter()
            .enumerate()
        {
            if !self.last.is(position, table, id) {
                self.term(table, id, position)?;
            }
        }
        if self.options.physical_type == PhysicalType::Quads {
            if !self.last.is(GRAPH, table, quad.graph) {
                self.graph(table, quad.graph, 12)?;
            }
            self.rows.add(QUAD, &self.statement);
        } else {
            self.rows.add(TRIPLE, &self.statement);
        }
        Ok(())
    }

    fn end_graph(&mut self) {
        if self.in_graph {
            self.rows.add(GRAPH_END, &[]);
            self.in_graph = false;
        }
    }

    /// Appends a subject, predicate or object to the statement.
    #[inline]
    fn term(&mut self, table: &TermTable, id: TermId, position: usize) -> Refused<()> {
        let term = table.term(id);
        let field = position as u8 * 4 + 1;
        match term.kind {
            TermKind::Iri => {
                let (prefix, name) = self.iri(table, id, term)?;
                self.put_iri(field << 3 | 2, prefix, name);
                Ok(())
            }
            TermKind::Bnode => {
                if position == 1 {
                    self.generalized("a blank node as predicate")?;
                }
                self.label((field + 1) << 3 | 2, table.text_of(term));
                Ok(())
            }
            TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral => {
                if position < 2 {
                    self.generalized("a literal as subject or predicate")?;
                }
                self.statement.push((field + 2) << 3 | 2);
                self.literal(table, term)
            }
            TermKind::TripleTerm => {
                if position == 1 {
                    self.generalized("a triple term as predicate")?;
                }
                self.triple_term(table, term, (field + 3) << 3 | 2)
            }
            TermKind::DefaultGraph | TermKind::Language => Err((
                ErrorClass::Internal,
                "the batch has a term where none of its kind can stand".into(),
            )),
        }
    }

    /// Appends a label; with flat frames so that labels of different messages differ.
    #[inline]
    fn label(&mut self, tag: u8, text: &[u8]) {
        if !self.flat || !set_apart(self.number, text) {
            put_bytes(&mut self.statement, tag, text);
            return;
        }
        self.statement.push(tag);
        put_varint(&mut self.statement, (self.apart.len() + text.len()) as u64);
        self.statement.extend_from_slice(&self.apart);
        self.statement.extend_from_slice(text);
    }

    fn generalized(&self, what: &str) -> Refused<()> {
        if self.options.generalized {
            return Ok(());
        }
        Err((
            ErrorClass::Unsupported,
            Reason::from(format!("{what}, and the header says that there are none"))
                .with(Remedy::write("generalized", "true", "declares them")),
        ))
    }

    fn triple_term(&mut self, table: &TermTable, term: Term, tag: u8) -> Refused<()> {
        if !self.options.rdf_star {
            return Err((
                ErrorClass::Unsupported,
                Reason::new("a triple term, and the header says that there are none")
                    .with(Remedy::write("rdf_star", "true", "declares them")),
            ));
        }
        self.statement.push(tag);
        let start = self.statement.len();
        for (position, part) in table.triple(term).into_iter().enumerate() {
            self.term(table, part, position)?;
        }
        // The length goes before what it counts.
        let length = self.statement.len() - start;
        put_varint(&mut self.statement, length as u64);
        self.statement[start..].rotate_right(varint_size(length as u64));
        Ok(())
    }

    /// Appends a graph to a quad (field numbers after 12) or a graph start (after 0).
    fn graph(&mut self, table: &TermTable, id: TermId, before: u8) -> Refused<()> {
        let term = table.term(id);
        match term.kind {
            TermKind::Iri => {
                let (prefix, name) = self.iri(table, id, term)?;
                self.put_iri((before + 1) << 3 | 2, prefix, name);
            }
            TermKind::Bnode => self.label((before + 2) << 3 | 2, table.text_of(term)),
            TermKind::DefaultGraph => {
                self.statement
                    .extend_from_slice(&[(before + 3) << 3 | 2, 0]);
            }
            TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral => {
                self.generalized("a literal as graph")?;
                put_varint(&mut self.statement, u64::from(before + 4) << 3 | 2);
                self.literal(table, term)?;
            }
            TermKind::TripleTerm | TermKind::Language => {
                return Err((
                    ErrorClass::Unsupported,
                    "a triple term as graph, which Jelly cannot hold".into(),
                ));
            }
        }
        Ok(())
    }

    /// Appends a literal's length and fields.
    #[inline]
    fn literal(&mut self, table: &TermTable, term: Term) -> Refused<()> {
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

    #[inline]
    fn datatype(&mut self, table: &TermTable, id: TermId) -> Refused<u32> {
        let memo = self.datatype_memos[id.index()];
        if memo.epoch == self.epoch && self.datatypes.holds(memo.name, memo.name_serial) {
            self.datatypes.touch(memo.name, self.row);
            return Ok(memo.name);
        }
        let text = table.text(id);
        if self.datatypes.size() == 0 {
            return Err((
                ErrorClass::Unsupported,
                Reason::from(format!(
                    "a literal of datatype {} needs a datatype table, and there is none",
                    quote(text)
                ))
                .with(Remedy::larger("datatype_table")),
            ));
        }
        let place = self
            .datatypes
            .place(text, self.row)
            .map_err(|_| too_small("datatype_table", self.datatypes.size()))?;
        if let Some(entry) = place.entry {
            self.rows.entry(DATATYPE, entry, text);
        }
        self.datatype_memos[id.index()] = Memo {
            epoch: self.epoch,
            name: place.id,
            name_serial: place.serial,
            ..Memo::default()
        };
        Ok(place.id)
    }

    /// Ids of an IRI's prefix and name; new entries are written before the row.
    #[inline]
    fn iri(&mut self, table: &TermTable, id: TermId, term: Term) -> Refused<(u32, u32)> {
        let memo = self.memos[id.index()];
        if memo.epoch == self.epoch
            && self.names.holds(memo.name, memo.name_serial)
            && self.prefixes.holds(memo.prefix, memo.prefix_serial)
        {
            self.names.touch(memo.name, self.row);
            if memo.prefix != 0 {
                self.prefixes.touch(memo.prefix, self.row);
            }
            return Ok((memo.prefix, memo.name));
        }
        let (prefix, name, memo) = self.place_iri(table.text_of(term))?;
        self.memos[id.index()] = memo;
        Ok((prefix, name))
    }

    fn place_iri(&mut self, iri: &[u8]) -> Refused<(u32, u32, Memo)> {
        let mut memo = Memo {
            epoch: self.epoch,
            ..Memo::default()
        };
        let mut name = iri;
        if self.prefixes.size() > 0 {
            // By the text alone: a split that the source knows may differ from one occurrence of an
            // IRI to the next.
            let split = iri
                .iter()
                .rposition(|byte| matches!(byte, b'#' | b'/'))
                .map_or(0, |at| at + 1);
            let (head, tail) = iri.split_at(split);
            name = tail;
            let place = if self.prefixes.stands_for(self.last_prefix, head) {
                self.prefixes.again(self.last_prefix, self.row)
            } else {
                self.prefixes
                    .place(head, self.row)
                    .map_err(|_| too_small("prefix_table", self.prefixes.size()))?
            };
            if let Some(entry) = place.entry {
                self.rows.entry(PREFIX, entry, head);
            }
            memo.prefix = place.id;
            memo.prefix_serial = place.serial;
        }
        let place = self
            .names
            .place(name, self.row)
            .map_err(|_| too_small("name_table", self.names.size()))?;
        if let Some(entry) = place.entry {
            self.rows.entry(NAME, entry, name);
        }
        memo.name = place.id;
        memo.name_serial = place.serial;
        Ok((memo.prefix, memo.name, memo))
    }

    /// Appends an IRI field: prefix 0 is the last one, name 0 the one after the last.
    #[inline]
    fn put_iri(&mut self, tag: u8, prefix: u32, name: u32) {
        let written_prefix = if prefix == self.last_prefix {
            0
        } else {
            prefix
        };
        let written_name = if name == self.last_name + 1 { 0 } else { name };
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

    /// Ends the frame.
    fn write_frame(&mut self, out: &mut Vec<u8>) {
        let length = self.rows.bytes.len() + self.frame_metadata.len();
        if self.delimited {
            put_varint(out, length as u64);
        }
        out.extend_from_slice(&self.rows.bytes);
        out.extend_from_slice(&self.frame_metadata);
        self.rows.bytes.clear();
        self.rows.count = 0;
        self.frame_metadata.clear();
        self.frames += 1;
    }
}

impl Writer for JellyWriter {
    type Record = Quad;

    /// Forgets what was noted about the terms of the batch before.
    fn begin_batch(&mut self, batch: &MessageBatch, _out: &mut Vec<u8>) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.memos.clear();
            self.datatype_memos.clear();
            self.epoch = 1;
        }
        let terms = batch.table().terms().len();
        if self.memos.len() < terms {
            self.memos.resize(terms, Memo::default());
            self.datatype_memos.resize(terms, Memo::default());
        }
    }

    fn begin_message(&mut self, batch: &MessageBatch, number: u64, _out: &mut Vec<u8>) {
        self.mark = Mark {
            rows: self.rows.bytes.len(),
            carried: None,
        };
        self.number = number;
        if self.flat {
            self.apart.clear();
            write_apart(number, &mut self.apart);
            self.last.forget_labels(batch.table());
        }
        if number == 0 {
            self.write_options();
        }
    }

    fn second(&self) -> Refused<bool> {
        if self.delimited || self.flat {
            return Ok(self.flat);
        }
        Err((
            ErrorClass::Unsupported,
            Reason::new("a log of more than one frame needs length prefixes")
                .with(Remedy::write("delimited", "true", "writes them"))
                .with(Remedy::write("frames", "flat", "writes one message")),
        ))
    }

    /// Declares a namespace, unless it is in force already.
    fn declare(&mut self, name: &[u8], iri: &[u8], _out: &mut Vec<u8>) -> Refused<bool> {
        if self.declared.get(name) == Some(iri) {
            return Ok(true);
        }
        self.declared.set(name, iri);
        if self.options.version < 2 {
            return Ok(false);
        }
        self.row += 1;
        self.statement.clear();
        if !name.is_empty() {
            put_bytes(&mut self.statement, 0x0a, name);
        }
        let (prefix, local, _) = self.place_iri(iri)?;
        self.put_iri(0x12, prefix, local);
        self.rows.add(NAMESPACE, &self.statement);
        Ok(true)
    }

    // Within the loop of all formats it would lack registers: 2 % more instructions a quad.
    #[inline(never)]
    fn write(&mut self, batch: &MessageBatch, message: usize, out: &mut Vec<u8>) -> Refused<()> {
        for entry in batch.metadata(message) {
            let target = if !self.flat {
                &mut self.metadata
            } else if self.number == 0 && self.frames == 0 {
                &mut self.frame_metadata
            } else {
                self.dropped_metadata += 1;
                continue;
            };
            let key = entry.key.as_bytes();
            let size = 2 + varint_size(key.len() as u64) + varint_size(entry.value.len() as u64);
            target.push(METADATA);
            put_varint(target, (size + key.len() + entry.value.len()) as u64);
            put_bytes(target, 0x0a, key);
            put_bytes(target, 0x12, &entry.value);
        }
        let table = batch.table();
        for quad in batch.message(message) {
            self.quad(table, *quad)?;
            if self.flat && self.delimited && self.rows.count >= self.frame_rows {
                if self.mark.carried.is_none() {
                    let rows = self.rows.bytes[..self.mark.rows].to_vec();
                    self.mark.carried = Some((rows, self.frame_metadata.clone()));
                }
                self.write_frame(out);
            } else if self.rows.bytes.len() + self.metadata.len() > MAX_FRAME_BYTES {
                return Err((
                    ErrorClass::Limit,
                    Reason::new("the message's frame is larger than 1 GiB").with(Remedy::write(
                        "frames",
                        "flat",
                        "writes it over many",
                    )),
                ));
            }
        }
        Ok(())
    }

    fn end_message(&mut self, out: &mut Vec<u8>) {
        self.frame_metadata.append(&mut self.metadata);
        if !self.flat {
            self.end_graph();
            self.write_frame(out);
        }
    }

    fn end_batch(&mut self, batch: &MessageBatch) {
        self.last.keep(batch.table());
    }

    fn take_back(&mut self, out: &mut Vec<u8>) {
        if !self.flat {
            return;
        }
        match self.mark.carried.take() {
            Some(carried) => (self.rows.bytes, self.frame_metadata) = carried,
            None => self.rows.bytes.truncate(self.mark.rows),
        }
        if self.number == 0 {
            self.frame_metadata.clear();
        }
        if !self.rows.bytes.is_empty() {
            self.write_frame(out);
        }
    }

    fn finish(&mut self, _open: bool, out: &mut Vec<u8>) {
        self.end_graph();
        self.frame_metadata.append(&mut self.metadata);
        if !self.rows.bytes.is_empty() || !self.frame_metadata.is_empty() {
            self.write_frame(out);
        }
    }

    fn reset(&mut self) {
        self.names.reset();
        self.prefixes.reset();
        self.datatypes.reset();
        self.last_name = 0;
        self.last_prefix = 0;
        self.last = Repeats::default();
        self.in_graph = false;
        self.row = 0;
        self.rows.bytes.clear();
        self.rows.count = 0;
        self.metadata.clear();
        self.frame_metadata.clear();
        self.dropped_metadata = 0;
        self.frames = 0;
        self.declared = Namespaces::default();
        self.merged_quads = 0;
    }

    fn dropped(&self, dropped: Dropped) -> Counts {
        vec![
            ("namespaces", dropped.namespaces),
            ("graph names", self.merged_quads),
            ("metadata", self.dropped_metadata),
            ("boundaries", dropped.boundaries),
        ]
    }

    fn notes(&self, messages: u64) -> Vec<String> {
        let read_as = match (self.options.is_flat(), self.flat) {
            (true, false) if messages > 1 => {
                "one message, in which equal blank node labels are one node"
            }
            (false, true) if self.frames > 1 => {
                "a message a frame, in each of which blank node labels are others"
            }
            _ => return Vec::new(),
        };
        let name = self.options.type_name();
        vec![format!(
            "{name}, as asked: readers, rdfm too, will read {read_as}"
        )]
    }
}

impl Rows {
    /// Appends a row of one field.
    #[inline]
    fn add(&mut self, tag: u8, fields: &[u8]) {
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
    fn entry(&mut self, tag: u8, id: u32, text: &[u8]) {
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

impl Repeats {
    /// Whether a term repeats the one in the same position before; it is the one before from now on.
    #[inline]
    fn is(&mut self, position: usize, table: &TermTable, id: TermId) -> bool {
        let same = if self.live >> position & 1 == 1 {
            let last = self.ids[position];
            if last == id {
                return true;
            }
            let (a, b) = (table.term(last), table.term(id));
            a.kind == b.kind && a.length == b.length && table.same_term(last, table, id)
        } else {
            self.kept[position]
                .as_ref()
                .is_some_and(|kept| kept.is(table, id))
        };
        self.ids[position] = id;
        self.live |= 1 << position;
        same
    }

    /// Forgets the terms with labels, which mean other nodes in the next message. The table is that
    /// of the current batch.
    fn forget_labels(&mut self, table: &TermTable) {
        for position in 0..4 {
            let kind = if self.live >> position & 1 == 1 {
                Some(table.term(self.ids[position]).kind)
            } else {
                self.kept[position].as_ref().map(OwnedTerm::kind)
            };
            if kind.is_some_and(holds_labels) {
                self.live &= !(1 << position);
                self.kept[position] = None;
            }
        }
    }

    /// Makes the terms independent of their batch.
    fn keep(&mut self, table: &TermTable) {
        for position in 0..4 {
            if self.live >> position & 1 == 1 {
                self.kept[position] = Some(OwnedTerm::new(table, self.ids[position]));
            }
        }
        self.live = 0;
    }
}

#[cold]
fn needs_graphs() -> (ErrorClass, Reason) {
    (
        ErrorClass::Unsupported,
        Reason::new("physical type TRIPLES holds no graph names")
            .with(Remedy::write(
                "merge_graphs",
                "true",
                "drops them on purpose",
            ))
            .with(Remedy::write("physical_type", "quads", "keeps them")),
    )
}

#[cold]
fn too_small(option: &'static str, size: u32) -> (ErrorClass, Reason) {
    (
        ErrorClass::Unsupported,
        Reason::from(format!(
            "one statement needs more than {size} entries at once"
        ))
        .with(Remedy::larger(option)),
    )
}

//! Encoder for Jelly logs.
//!
//! - In: batches. They may be divided between any messages and, with parts, inside a message.
//! - Out: one frame for each message, or frames with a fixed number of rows with
//!   [`FrameMeaning::Flat`].
//! - Cost: memory for the lookups and one frame.
//! - Law: the bytes depend only on the messages, not on how they are divided into batches. After an
//!   error nothing more is written. With [`FrameMeaning::Flat`], blank nodes of different messages
//!   have different labels.

use super::columns::ColumnLogWriter;
use super::frame_writer::FrameWriter;
use super::options::{COLUMNS_VERSION, FrameMeaning, MAX_VERSION, OptionsRow, PhysicalType};
use super::restart::is_reserved;
use super::spec::JELLY;
use super::stream::StreamSettings;
use super::term_writer::{EntryTags, FrameSize, GRAPH, MAX_FRAME_BYTES, TermWriter};
use crate::codec::messages::{Counts, Dropped, MessageLoop, Writer};
use crate::codec::spec::CodecResult;
use crate::codec::unsupported::WriteResult;
use crate::codec::values::Values;
use crate::codec::{Encoder, LogEnd, Source};
use crate::model::batch::{MessageBatch, Metadata};
use crate::model::error::ErrorClass;
use crate::model::namespaces::Namespaces;
use crate::model::remedy::{Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId};
use crate::syntax::wire::{put_bytes, put_varint, varint_size};

/// Tag of the metadata in a frame, and tags of the row kinds.
const METADATA: u8 = 0x7a;
const OPTIONS: u8 = 0x0a;
const TRIPLE: u8 = 0x12;
const QUAD: u8 = 0x1a;
const GRAPH_START: u8 = 0x22;
const GRAPH_END: u8 = 0x2a;
const NAMESPACE: u8 = 0x32;
const ENTRIES: EntryTags = EntryTags {
    name: 0x4a,
    prefix: 0x52,
    datatype: 0x5a,
};

/// Creates a Jelly encoder for a new log.
///
/// # Errors
/// If an option is invalid. The error names the option.
pub(super) fn encoder(values: &Values, source: Option<&Source>) -> CodecResult<dyn Encoder> {
    let stream = StreamSettings::of(values, source)?;
    if stream.options.version == COLUMNS_VERSION {
        let writer = ColumnLogWriter::new(stream);
        return Ok(Box::new(MessageLoop::new(&JELLY, values, writer)));
    }
    let writer = JellyWriter::new(stream)?;
    Ok(Box::new(MessageLoop::new(&JELLY, values, writer)))
}

/// Writes Jelly-RDF.
struct JellyWriter {
    options: OptionsRow,
    physical: PhysicalType,
    merge_graphs: bool,
    detects_generalized: bool,
    delimited: bool,
    flat: bool,
    frame_size: FrameSize,
    /// Output bytes after which the next message restarts the stream; 0 if the log has no marks.
    restart_bytes: u64,

    terms: TermWriter,
    in_graph: bool,
    /// Metadata of the open message, written in the frame in which the message ends. With flat
    /// frames only the metadata of the first message is written, in the first frame, where readers
    /// expect it.
    metadata: Vec<u8>,
    dropped_metadata: u64,
    frames: FrameWriter,
    /// Index of the open message.
    number: u64,
    declared: Namespaces,
    /// Whether the open message must redeclare the current namespaces.
    redeclares: bool,
    merged_quads: u64,
    /// Whether a namespace declaration is an error if the Jelly version does not support it.
    keeps_namespaces: bool,
    /// A note about the version.
    note: Option<Reason>,
}

impl JellyWriter {
    fn new(stream: StreamSettings) -> Result<Self, Reason> {
        let options = stream.options;
        options.check_tables()?;
        let physical = PhysicalType::from_number(options.physical_type).unwrap_or_default();
        if !(1..=MAX_VERSION).contains(&options.version) {
            let version = options.version;
            return Err(format!("version is {version}, expected 1 or {MAX_VERSION}").into());
        }
        options.check_types(physical)?;
        let flat = stream.frames == FrameMeaning::Flat;
        let messages = stream.delimited && !flat && !options.is_flat();
        Ok(Self {
            merge_graphs: stream.merge_graphs,
            detects_generalized: stream.detects_generalized,
            delimited: stream.delimited,
            flat,
            frame_size: stream.frame_size,
            restart_bytes: if messages { stream.restart_bytes } else { 0 },
            terms: TermWriter::new(ENTRIES, &options),
            in_graph: false,
            metadata: Vec::new(),
            dropped_metadata: 0,
            frames: FrameWriter::new(stream.delimited),
            number: 0,
            declared: Namespaces::default(),
            redeclares: false,
            merged_quads: 0,
            keeps_namespaces: stream.keeps_namespaces,
            note: stream.note,
            physical,
            options,
        })
    }

    #[inline]
    fn quad(&mut self, table: &TermTable, quad: Quad) -> WriteResult<()> {
        match self.physical {
            PhysicalType::Triples => {
                if quad.graph != TermId::DEFAULT_GRAPH {
                    if !self.merge_graphs {
                        return Err(graph_name_error());
                    }
                    self.merged_quads += 1;
                }
            }
            PhysicalType::Quads => {}
            PhysicalType::Graphs => {
                if !(self
                    .terms
                    .last
                    .equals_then_replace::<GRAPH>(table, quad.graph)
                    && self.in_graph)
                {
                    self.end_graph();
                    self.terms.begin_row();
                    self.terms.graph(table, quad.graph, 0)?;
                    self.terms.rows.add(GRAPH_START, &self.terms.statement);
                    self.in_graph = true;
                }
            }
        }
        let terms = &mut self.terms;
        terms.begin_row();
        terms.triple(table, [quad.subject, quad.predicate, quad.object])?;
        if self.physical == PhysicalType::Quads {
            if !terms.last.equals_then_replace::<GRAPH>(table, quad.graph) {
                terms.graph(table, quad.graph, 12)?;
            }
            terms.rows.add(QUAD, &terms.statement);
        } else {
            terms.rows.add(TRIPLE, &terms.statement);
        }
        Ok(())
    }

    /// Begins a restart frame. The term writer then refers only to entries and terms written after
    /// this point.
    fn begin_stream(&mut self) {
        self.terms.write_options(OPTIONS, &self.options);
        self.redeclares = self.options.version >= 2 && !self.declared.is_empty();
        self.frames.marked = self.restart_bytes > 0;
        self.frames.bytes = 0;
    }

    /// Redeclares the current namespaces, once after a restart.
    #[inline]
    fn redeclare(&mut self) -> WriteResult<()> {
        if self.redeclares {
            self.redeclare_all()?;
        }
        Ok(())
    }

    #[cold]
    fn redeclare_all(&mut self) -> WriteResult<()> {
        self.redeclares = false;
        for (name, iri) in self.declared.clone().iter() {
            self.namespace(name, iri)?;
        }
        Ok(())
    }

    fn namespace(&mut self, name: &[u8], iri: &[u8]) -> WriteResult<()> {
        let terms = &mut self.terms;
        terms.begin_row();
        if !name.is_empty() {
            put_bytes(&mut terms.statement, 0x0a, name);
        }
        terms.iri_text(0x12, iri)?;
        terms.rows.add(NAMESPACE, &terms.statement);
        Ok(())
    }

    fn end_graph(&mut self) {
        if self.in_graph {
            self.terms.rows.add(GRAPH_END, &[]);
            self.in_graph = false;
        }
    }
}

impl Writer for JellyWriter {
    type Record = Quad;

    fn begin_batch(&mut self, batch: &MessageBatch, _out: &mut Vec<u8>) {
        self.terms.begin_batch(batch);
    }

    fn begin_message(&mut self, batch: &MessageBatch, number: u64, _out: &mut Vec<u8>) {
        self.frames.begin_message(&self.terms.rows);
        self.number = number;
        if self.flat {
            self.terms.set_apart(number, batch.table());
        }
        if number == 0 && self.detects_generalized {
            let quads = batch.message(0).iter().copied();
            self.terms
                .declare_generalized(&mut self.options, batch.table(), quads);
        }
        let due = self.restart_bytes > 0 && self.frames.bytes >= self.restart_bytes;
        if due {
            self.terms.restart();
        }
        if number == 0 || due {
            self.begin_stream();
        }
    }

    fn check_second_message(&self) -> WriteResult<bool> {
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

    /// Declares a namespace, unless the same declaration is already in force.
    fn declare(&mut self, name: &[u8], iri: &[u8], _out: &mut Vec<u8>) -> WriteResult<bool> {
        if self.declared.get(name) == Some(iri) {
            return Ok(true);
        }
        self.redeclare()?;
        self.declared.set(name, iri);
        if self.options.version < 2 {
            if self.keeps_namespaces {
                return Err(needs_version_2_error());
            }
            return Ok(false);
        }
        self.namespace(name, iri)?;
        Ok(true)
    }

    // Not inlined: inside the loop that all formats share, it would use too many registers (2 %
    // more instructions per quad).
    #[inline(never)]
    fn write(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        self.redeclare()?;
        for entry in batch.metadata(message) {
            if is_reserved(&entry.key, &entry.value) {
                return Err(reserved_metadata_error());
            }
            let target = if !self.flat {
                &mut self.metadata
            } else if self.number == 0 && self.frames.count == 0 {
                &mut self.frames.metadata
            } else {
                self.dropped_metadata += 1;
                continue;
            };
            put_metadata(target, entry)?;
        }
        let table = batch.table();
        for quad in batch.message(message) {
            self.quad(table, *quad)?;
            if self.flat && self.delimited && self.frame_size.is_reached(&self.terms.rows) {
                self.frames.write_part(&mut self.terms.rows, out);
            } else if self.terms.rows.bytes.len() + self.metadata.len() > MAX_FRAME_BYTES {
                return Err((
                    ErrorClass::Limit,
                    Reason::new("the message's frame is larger than 1 GiB").with(Remedy::write(
                        "frames",
                        "flat",
                        "splits it into several frames",
                    )),
                ));
            }
        }
        Ok(())
    }

    fn end_message(&mut self, out: &mut Vec<u8>) {
        self.frames.metadata.append(&mut self.metadata);
        if !self.flat {
            self.end_graph();
            self.frames.write(&mut self.terms.rows, out);
        }
    }

    fn end_batch(&mut self, batch: &MessageBatch) {
        self.terms.last.keep(batch.table());
    }

    fn remove_message(&mut self, out: &mut Vec<u8>) {
        if !self.flat {
            return;
        }
        self.frames.roll_back_message(&mut self.terms.rows);
        if self.number == 0 {
            self.frames.metadata.clear();
        }
        if !self.terms.rows.bytes.is_empty() {
            self.frames.write(&mut self.terms.rows, out);
        }
    }

    fn continue_log(&mut self, _end: LogEnd) -> Result<(), Reason> {
        if self.flat || !self.delimited {
            return Err(
                "messages can be appended only if every frame is a length-prefixed message".into(),
            );
        }
        Ok(())
    }

    fn pause(&mut self, _out: &mut Vec<u8>) -> Option<LogEnd> {
        (!self.flat && self.delimited).then_some(LogEnd::Content)
    }

    fn finish(&mut self, _open: bool, out: &mut Vec<u8>) {
        self.end_graph();
        self.frames.metadata.append(&mut self.metadata);
        if !self.terms.rows.bytes.is_empty() || !self.frames.metadata.is_empty() {
            self.frames.write(&mut self.terms.rows, out);
        }
    }

    fn reset(&mut self) {
        self.terms.reset();
        self.in_graph = false;
        self.metadata.clear();
        self.dropped_metadata = 0;
        self.frames = FrameWriter::new(self.delimited);
        self.declared = Namespaces::default();
        self.redeclares = false;
        self.merged_quads = 0;
    }

    fn count_dropped(&self, dropped: Dropped) -> Counts {
        vec![
            ("namespaces", dropped.namespaces),
            ("graph names", self.merged_quads),
            ("metadata", self.dropped_metadata),
            ("boundaries", dropped.boundaries),
        ]
    }

    fn notes(&self, messages: u64) -> Vec<Reason> {
        let mut notes: Vec<Reason> = self.note.clone().into_iter().collect();
        let read_as = match (self.options.is_flat(), self.flat) {
            (true, false) if messages > 1 => {
                "one message, in which equal blank node labels denote the same node"
            }
            (false, true) if self.frames.count > 1 => {
                "each frame as a message with its own blank nodes"
            }
            _ => return notes,
        };
        let name = self.options.type_name();
        let text = format!("{name} was requested: readers, including rdfm, will read {read_as}");
        notes.push(text.into());
        notes
    }
}

/// Appends a metadata entry.
///
/// # Errors
/// If the entry could be mistaken for a restart mark.
pub(super) fn put_metadata(target: &mut Vec<u8>, entry: &Metadata) -> WriteResult<()> {
    if is_reserved(&entry.key, &entry.value) {
        return Err(reserved_metadata_error());
    }
    let key = entry.key.as_bytes();
    let size = 2 + varint_size(key.len() as u64) + varint_size(entry.value.len() as u64);
    target.push(METADATA);
    put_varint(target, (size + key.len() + entry.value.len()) as u64);
    put_bytes(target, 0x0a, key);
    put_bytes(target, 0x12, &entry.value);
    Ok(())
}

#[cold]
fn needs_version_2_error() -> (ErrorClass, Reason) {
    (
        ErrorClass::Unsupported,
        Reason::new("the log has Jelly version 1, which does not support namespaces")
            .with(Remedy::write("namespaces", "false", "omits them")),
    )
}

#[cold]
fn reserved_metadata_error() -> (ErrorClass, Reason) {
    (
        ErrorClass::Unsupported,
        "the metadata is reserved for restart marks: its key is rdfm.restart, or its value contains a mark".into(),
    )
}

#[cold]
pub(super) fn graph_name_error() -> (ErrorClass, Reason) {
    (
        ErrorClass::Unsupported,
        Reason::new("physical type TRIPLES does not allow graph names")
            .with(Remedy::write("merge_graphs", "true", "drops them"))
            .with(Remedy::write("physical_type", "quads", "keeps them")),
    )
}

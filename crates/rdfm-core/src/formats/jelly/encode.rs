//! Batches to Jelly logs.
//!
//! - In: batches, cut anywhere between messages or (parts) inside one.
//! - Out: one frame a message, or with [`Frames::Flat`] frames of a number of rows.
//! - Cost: memory holds the lookups and a frame.
//! - Law: the bytes depend on the messages alone, not on how they were cut into batches. After an error nothing
//!   more is written. With [`Frames::Flat`] blank nodes of different messages have different labels.

use super::options::{Frames, JellyOptions, MAX_VERSION, MIN_NAME_TABLE, PhysicalType};
use super::spec::JELLY;
use super::stream::Stream;
use super::term_writer::{EntryTags, FrameSize, GRAPH, MAX_FRAME_BYTES, TermWriter};
use crate::codec::messages::{Counts, Dropped, MessageLoop, Writer};
use crate::codec::refuse::Refused;
use crate::codec::spec::Made;
use crate::codec::values::Values;
use crate::codec::{Encoder, Source};
use crate::model::batch::MessageBatch;
use crate::model::error::ErrorClass;
use crate::model::namespaces::Namespaces;
use crate::model::remedy::{Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId};
use crate::syntax::wire::{put_bytes, put_number, put_varint, varint_size};

/// The tag of metadata in a frame, and the tags of the rows' kinds.
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
    frame_size: FrameSize,

    terms: TermWriter,
    in_graph: bool,
    /// Metadata of the open message; it goes on the frame in which the message ends. With flat frames
    /// only that of the first message is written, on the first frame, where readers take it.
    metadata: Vec<u8>,
    frame_metadata: Vec<u8>,
    dropped_metadata: u64,
    /// Frames written.
    frames: u64,
    /// The number of the open message.
    number: u64,
    mark: Mark,
    declared: Namespaces,
    merged_quads: u64,
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
            frame_size: stream.frame_size,
            terms: TermWriter::new(ENTRIES, jelly.tables(), jelly.generalized, jelly.rdf_star),
            in_graph: false,
            metadata: Vec::new(),
            frame_metadata: Vec::new(),
            dropped_metadata: 0,
            frames: 0,
            number: 0,
            mark: Mark::default(),
            declared: Namespaces::default(),
            merged_quads: 0,
            options: jelly,
        })
    }

    fn write_options(&mut self) {
        let options = &self.options;
        let fields = &mut self.terms.statement;
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
        self.terms.rows.add(OPTIONS, fields);
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
            }
            PhysicalType::Quads => {}
            PhysicalType::Graphs => {
                if !(self.terms.last.is(GRAPH, table, quad.graph) && self.in_graph) {
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
        if self.options.physical_type == PhysicalType::Quads {
            if !terms.last.is(GRAPH, table, quad.graph) {
                terms.graph(table, quad.graph, 12)?;
            }
            terms.rows.add(QUAD, &terms.statement);
        } else {
            terms.rows.add(TRIPLE, &terms.statement);
        }
        Ok(())
    }

    fn end_graph(&mut self) {
        if self.in_graph {
            self.terms.rows.add(GRAPH_END, &[]);
            self.in_graph = false;
        }
    }

    /// Ends the frame.
    fn write_frame(&mut self, out: &mut Vec<u8>) {
        let length = self.terms.rows.bytes.len() + self.frame_metadata.len();
        if self.delimited {
            put_varint(out, length as u64);
        }
        out.extend_from_slice(&self.terms.rows.bytes);
        out.extend_from_slice(&self.frame_metadata);
        self.terms.rows.clear();
        self.frame_metadata.clear();
        self.frames += 1;
    }
}

impl Writer for JellyWriter {
    type Record = Quad;

    fn begin_batch(&mut self, batch: &MessageBatch, _out: &mut Vec<u8>) {
        self.terms.begin_batch(batch);
    }

    fn begin_message(&mut self, batch: &MessageBatch, number: u64, _out: &mut Vec<u8>) {
        self.mark = Mark {
            rows: self.terms.rows.bytes.len(),
            carried: None,
        };
        self.number = number;
        if self.flat {
            self.terms.set_apart(number, batch.table());
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
        let terms = &mut self.terms;
        terms.begin_row();
        if !name.is_empty() {
            put_bytes(&mut terms.statement, 0x0a, name);
        }
        terms.iri_text(0x12, iri)?;
        terms.rows.add(NAMESPACE, &terms.statement);
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
            if self.flat && self.delimited && self.frame_size.is_reached(&self.terms.rows) {
                if self.mark.carried.is_none() {
                    let rows = self.terms.rows.bytes[..self.mark.rows].to_vec();
                    self.mark.carried = Some((rows, self.frame_metadata.clone()));
                }
                self.write_frame(out);
            } else if self.terms.rows.bytes.len() + self.metadata.len() > MAX_FRAME_BYTES {
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
        self.terms.last.keep(batch.table());
    }

    fn take_back(&mut self, out: &mut Vec<u8>) {
        if !self.flat {
            return;
        }
        match self.mark.carried.take() {
            Some(carried) => (self.terms.rows.bytes, self.frame_metadata) = carried,
            None => self.terms.rows.bytes.truncate(self.mark.rows),
        }
        if self.number == 0 {
            self.frame_metadata.clear();
        }
        if !self.terms.rows.bytes.is_empty() {
            self.write_frame(out);
        }
    }

    fn finish(&mut self, _open: bool, out: &mut Vec<u8>) {
        self.end_graph();
        self.frame_metadata.append(&mut self.metadata);
        if !self.terms.rows.bytes.is_empty() || !self.frame_metadata.is_empty() {
            self.write_frame(out);
        }
    }

    fn reset(&mut self) {
        self.terms.reset();
        self.in_graph = false;
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

//! Encoder for Jelly-Patch logs.
//!
//! - In: batches, divided anywhere between patches or, in parts, inside a patch.
//! - Out: frames, one per patch or of limited size; the stream type determines how patches end.
//! - Cost: memory for the lookups and one frame.
//! - Law: the bytes depend only on the patches, not on how they are divided into batches. The only
//!   exception is a first patch that arrives in parts if neither the options nor the source
//!   specifies the statement type. After an error nothing more is written. Blank nodes keep their
//!   labels.

use super::super::frame_writer::FrameWriter;
use super::super::term_writer::{EntryTags, GRAPH, MAX_FRAME_BYTES, TermWriter};
use super::options::{StatementType, StreamType};
use super::spec::JELLY_PATCH;
use super::stream::PatchStreamSettings;
use crate::codec::messages::{Counts, Dropped, MessageLoop, Writer};
use crate::codec::spec::CodecResult;
use crate::codec::unsupported::{WriteResult, reject_second};
use crate::codec::values::Values;
use crate::codec::{Encoder, LogEnd, Source};
use crate::model::batch::PatchBatch;
use crate::model::error::ErrorClass;
use crate::model::record::{Operation, OperationCode};
use crate::model::remedy::{Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{TermId, TermKind};
use crate::syntax::wire::put_bytes;

/// Tags of the row kinds.
const OPTIONS: u8 = 0x0a;
const ADD: u8 = 0x12;
const DELETE: u8 = 0x1a;
const ADD_PREFIX: u8 = 0x22;
const DELETE_PREFIX: u8 = 0x2a;
const BEGIN: u8 = 0x32;
const COMMIT: u8 = 0x3a;
const ABORT: u8 = 0x42;
const ENTRIES: EntryTags = EntryTags {
    name: 0x5a,
    prefix: 0x62,
    datatype: 0x6a,
};
const HEADER: u8 = 0x72;
const PUNCTUATION: u8 = 0x7a;
/// A frame that contains only a mark, with its length prefix.
const MARK_FRAME: [u8; 5] = [4, 0x0a, 2, PUNCTUATION, 0];

/// Number of the last field before the graph fields, in a namespace and in a quad.
const NAMESPACE_GRAPH: u8 = 2;
const QUAD_GRAPH: u8 = 12;

/// Creates a Jelly-Patch encoder for a new log.
///
/// # Errors
/// If an option is invalid. The error names it.
pub(super) fn encoder(values: &Values, source: Option<&Source>) -> CodecResult<dyn Encoder> {
    let writer = PatchWriter::new(PatchStreamSettings::of(values, source)?);
    Ok(Box::new(MessageLoop::new(&JELLY_PATCH, values, writer)))
}

/// Writes Jelly-Patch.
struct PatchWriter {
    stream: PatchStreamSettings,
    terms: TermWriter,
    in_transaction: bool,
    frames: FrameWriter,
    /// Number of graph names that were omitted.
    merged: u64,
    /// Whether the existing log lacks the mark after its last patch.
    unmarked: bool,
}

impl PatchWriter {
    fn new(stream: PatchStreamSettings) -> Self {
        Self {
            terms: TermWriter::new(ENTRIES, &stream.options),
            in_transaction: false,
            frames: FrameWriter::new(stream.delimited),
            merged: 0,
            unmarked: false,
            stream,
        }
    }

    /// Whether a frame may end inside a patch.
    fn cuts(&self) -> bool {
        self.stream.delimited && self.stream.kind != StreamType::Frame
    }

    /// Whether patches can be appended to the log.
    fn continues(&self) -> bool {
        self.stream.delimited && self.stream.kind != StreamType::Flat
    }

    #[inline]
    fn operation(&mut self, table: &TermTable, operation: Operation) -> WriteResult<()> {
        match operation.code {
            OperationCode::Add => self.statement(table, operation, ADD),
            OperationCode::Delete => self.statement(table, operation, DELETE),
            _ => self.rare_operation(table, operation),
        }
    }

    #[inline(never)]
    fn rare_operation(&mut self, table: &TermTable, operation: Operation) -> WriteResult<()> {
        match operation.code {
            OperationCode::Header => {
                self.begin_named(table, operation)?;
                self.terms.value(table, operation.object)?;
                self.terms.rows.add(HEADER, &self.terms.statement);
                Ok(())
            }
            OperationCode::AddPrefix => {
                self.begin_named(table, operation)?;
                if table.term(operation.object).kind != TermKind::Iri {
                    return Err(misplaced_term_error());
                }
                self.terms.value(table, operation.object)?;
                self.graph(table, operation.graph, NAMESPACE_GRAPH)?;
                self.terms.rows.add(ADD_PREFIX, &self.terms.statement);
                Ok(())
            }
            OperationCode::DeletePrefix => {
                self.begin_named(table, operation)?;
                self.graph(table, operation.graph, NAMESPACE_GRAPH)?;
                self.terms.rows.add(DELETE_PREFIX, &self.terms.statement);
                Ok(())
            }
            OperationCode::Begin => self.transaction(BEGIN),
            OperationCode::Commit => self.transaction(COMMIT),
            OperationCode::Abort => self.transaction(ABORT),
            OperationCode::Add | OperationCode::Delete => Err(misplaced_term_error()),
        }
    }

    #[inline]
    fn statement(&mut self, table: &TermTable, operation: Operation, tag: u8) -> WriteResult<()> {
        self.terms.begin_row();
        let triple = [operation.subject, operation.predicate, operation.object];
        self.terms.triple(table, triple)?;
        self.graph(table, operation.graph, QUAD_GRAPH)?;
        self.terms.rows.add(tag, &self.terms.statement);
        Ok(())
    }

    /// Begins a row with a key or a prefix.
    fn begin_named(&mut self, table: &TermTable, operation: Operation) -> WriteResult<()> {
        let name = table.term(operation.name);
        if name.kind != TermKind::Literal {
            return Err(misplaced_term_error());
        }
        self.terms.begin_row();
        let text = table.text_of(name);
        if !text.is_empty() {
            put_bytes(&mut self.terms.statement, 0x0a, text);
        }
        Ok(())
    }

    /// Appends a graph, unless it repeats the previous one.
    #[inline]
    fn graph(&mut self, table: &TermTable, graph: TermId, before: u8) -> WriteResult<()> {
        if self.stream.statements == StatementType::Quads {
            if !self.terms.last.equals_then_replace::<GRAPH>(table, graph) {
                self.terms.graph(table, graph, before)?;
            }
        } else if graph != TermId::DEFAULT_GRAPH {
            if !self.stream.merge_graphs {
                return Err(graph_name_error());
            }
            self.merged += 1;
        }
        Ok(())
    }

    fn transaction(&mut self, tag: u8) -> WriteResult<()> {
        let begins = tag == BEGIN;
        if begins == self.in_transaction {
            let text = match tag {
                BEGIN => "a transaction starts inside another transaction",
                COMMIT => "a commit outside a transaction",
                _ => "an abort outside a transaction",
            };
            return Err(transaction_error(text));
        }
        self.in_transaction = begins;
        self.terms.begin_row();
        self.terms.rows.add(tag, &[]);
        Ok(())
    }
}

impl Writer for PatchWriter {
    type Record = Operation;

    fn begin_batch(&mut self, batch: &PatchBatch, _out: &mut Vec<u8>) {
        self.terms.begin_batch(batch);
    }

    fn begin_message(&mut self, batch: &PatchBatch, number: u64, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.unmarked) {
            out.extend_from_slice(&MARK_FRAME);
        }
        self.frames.begin_message(&self.terms.rows);
        self.in_transaction = false;
        if number == 0 {
            if self.stream.detects_generalized {
                let quads = batch.message(0).iter().map(|operation| operation.quad());
                self.terms
                    .declare_generalized(&mut self.stream.options, batch.table(), quads);
            }
            self.terms.write_options(OPTIONS, &self.stream.options);
        }
    }

    fn check_second_message(&self) -> WriteResult<bool> {
        match self.stream.kind {
            StreamType::Flat => reject_second(self.stream.flat).map_err(|(class, reason)| {
                let marks = Remedy::write("stream_type", "punctuated", "ends patches with marks");
                let first = Reason::from(reason.text().to_owned()).with(marks);
                (class, first.because_of(&reason))
            }),
            StreamType::Frame if !self.stream.delimited => Err((
                ErrorClass::Unsupported,
                Reason::new("a log of more than one frame needs length prefixes")
                    .with(Remedy::write("delimited", "true", "writes them"))
                    .with(Remedy::write(
                        "stream_type",
                        "punctuated",
                        "ends patches with marks",
                    )),
            )),
            _ => Ok(false),
        }
    }

    fn declare(&mut self, _name: &[u8], _iri: &[u8], _out: &mut Vec<u8>) -> WriteResult<bool> {
        Ok(false)
    }

    // Not inlined into the loop that all formats share, for the same reason as in the Jelly
    // encoder.
    #[inline(never)]
    fn write(&mut self, batch: &PatchBatch, message: usize, out: &mut Vec<u8>) -> WriteResult<()> {
        let table = batch.table();
        let cuts = self.cuts();
        for operation in batch.message(message) {
            self.operation(table, *operation)?;
            let rows = &self.terms.rows;
            let stream = &self.stream;
            if cuts {
                if stream.frame_size.is_reached(rows) {
                    self.frames.write_part(&mut self.terms.rows, out);
                }
            } else if rows.bytes.len() > MAX_FRAME_BYTES {
                return Err(too_large(stream));
            }
        }
        let continues = batch.continues() && message + 1 == batch.len();
        if self.in_transaction && !continues {
            return Err(transaction_error("the patch ends inside a transaction"));
        }
        Ok(())
    }

    fn end_message(&mut self, out: &mut Vec<u8>) {
        match self.stream.kind {
            StreamType::Flat => {}
            StreamType::Frame => self.frames.write(&mut self.terms.rows, out),
            StreamType::Punctuated => {
                self.terms.rows.add(PUNCTUATION, &[]);
                if self.stream.delimited {
                    self.frames.write(&mut self.terms.rows, out);
                }
            }
        }
    }

    fn end_batch(&mut self, batch: &PatchBatch) {
        self.terms.last.keep(batch.table());
    }

    fn remove_message(&mut self, out: &mut Vec<u8>) {
        if self.stream.kind == StreamType::Frame {
            return;
        }
        self.frames.roll_back_message(&mut self.terms.rows);
        if !self.terms.rows.bytes.is_empty() {
            self.frames.write(&mut self.terms.rows, out);
        }
    }

    fn continue_log(&mut self, end: LogEnd) -> Result<(), Reason> {
        if !self.continues() {
            return Err("patches can be appended only to length-prefixed frames".into());
        }
        self.unmarked = self.stream.kind == StreamType::Punctuated && end == LogEnd::Content;
        Ok(())
    }

    fn pause(&mut self, _out: &mut Vec<u8>) -> Option<LogEnd> {
        self.continues().then_some(LogEnd::Delimiter)
    }

    fn finish(&mut self, _open: bool, out: &mut Vec<u8>) {
        if !self.terms.rows.bytes.is_empty() {
            self.frames.write(&mut self.terms.rows, out);
        }
    }

    fn reset(&mut self) {
        self.terms.reset();
        self.in_transaction = false;
        self.frames = FrameWriter::new(self.stream.delimited);
        self.merged = 0;
        self.unmarked = false;
    }

    fn count_dropped(&self, dropped: Dropped) -> Counts {
        vec![
            ("namespaces", dropped.namespaces),
            ("graph names", self.merged),
            ("metadata", dropped.metadata),
            ("boundaries", dropped.boundaries),
        ]
    }
}

#[cold]
fn misplaced_term_error() -> (ErrorClass, Reason) {
    (
        ErrorClass::Internal,
        "the batch has a term in a position that does not allow its kind".into(),
    )
}

#[cold]
fn transaction_error(text: &'static str) -> (ErrorClass, Reason) {
    let text = format!("{text}, which Jelly-Patch does not allow");
    (ErrorClass::Unsupported, Reason::from(text))
}

#[cold]
fn graph_name_error() -> (ErrorClass, Reason) {
    (
        ErrorClass::Unsupported,
        Reason::new("statement type TRIPLES does not allow graph names")
            .with(Remedy::write("statement_type", "quads", "keeps them"))
            .with(Remedy::write("merge_graphs", "true", "drops them")),
    )
}

#[cold]
fn too_large(stream: &PatchStreamSettings) -> (ErrorClass, Reason) {
    let reason = Reason::new("the patch's frame is larger than 1 GiB");
    let remedy = if stream.delimited {
        Remedy::write("stream_type", "punctuated", "splits it into several frames")
    } else {
        Remedy::write("delimited", "true", "allows several frames")
    };
    (ErrorClass::Limit, reason.with(remedy))
}

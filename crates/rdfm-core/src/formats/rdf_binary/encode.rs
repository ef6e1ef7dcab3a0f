//! Encodes logs of RDF Protobuf and RDF Thrift.
//!
//! - In: batches, which may begin and end inside messages.
//! - Out: one `RDF_Stream` per message, or only rows.
//! - Cost: each term is encoded once per batch and then copied. Memory is bounded by the terms of a
//!   batch and one `RDF_Stream`. The output of a batch, or of a length-prefixed message, is at most
//!   [`MAX_BYTES`] long, however often terms repeat.
//! - Law: the bytes depend only on the messages, not on how they were divided into batches. After
//!   an error nothing more is written. If all messages become one, their blank nodes get distinct
//!   labels.

use super::options::{BinaryWriting, Framing};
use super::protobuf::ProtobufRows;
use super::spec::{PROTOBUF, THRIFT};
use super::thrift::ThriftRows;
use crate::codec::messages::{Counts, Dropped, MessageLoop, Writer};
use crate::codec::spec::CodecResult;
use crate::codec::unsupported::{WriteResult, reject_second};
use crate::codec::values::Values;
use crate::codec::{Encoder, LogEnd};
use crate::model::batch::MessageBatch;
use crate::model::error::ErrorClass;
use crate::model::namespaces::Namespaces;
use crate::model::remedy::{Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId};
use crate::syntax::default_graph;
use crate::syntax::prefixes::{DeclareResult, Prefixes};
use crate::syntax::rdf_binary::encode::{
    BinaryTermWriter, EncodedTerms, MAX_BYTES, TermRange, too_long,
};
use crate::syntax::wire::put_varint;

/// Writes rows in one of the two encodings, Protobuf or Thrift.
pub(super) trait RowWriter: Send + 'static {
    /// Writes the terms of the rows.
    type Terms: BinaryTermWriter;

    /// Writes a row with three or four terms.
    fn write_statement(&self, terms: &[u8], parts: &[TermRange], out: &mut Vec<u8>);
    /// Writes a prefix declaration.
    fn write_prefix(&self, name: &[u8], iri: &[u8], out: &mut Vec<u8>);
}

/// Returns an RDF Thrift encoder for a new log.
pub(super) fn new_thrift_encoder(values: &Values) -> Box<dyn Encoder> {
    let options = BinaryWriting::from_values(values);
    // Like Jena, only RDF Thrift abbreviates IRIs with the namespaces.
    let writer = RdfBinaryWriter::new(&options, true, false, ThriftRows);
    Box::new(MessageLoop::new(&THRIFT, values, writer))
}

/// Returns an RDF Protobuf encoder for a new log.
///
/// # Errors
/// If options cannot be combined.
pub(super) fn new_protobuf_encoder(values: &Values) -> CodecResult<dyn Encoder> {
    let options = BinaryWriting::from_values(values);
    let in_message = match options.framing {
        Some(Framing::Messages) if options.flat => {
            let reason = "flat writes all messages as one, but the framing keeps them separate";
            let rows = Remedy::write("framing", "rows", "writes them as one");
            return Err(Reason::new(reason).with(rows));
        }
        framing => !options.flat && framing != Some(Framing::Rows),
    };
    let rows = ProtobufRows { in_message };
    let mut writer = RdfBinaryWriter::new(&options, false, in_message, rows);
    writer.can_frame = true;
    writer.notes_framing = in_message && options.framing.is_none();
    Ok(Box::new(MessageLoop::new(&PROTOBUF, values, writer)))
}

/// Writes rows.
struct RdfBinaryWriter<W> {
    /// Whether the format also supports messages with lengths.
    can_frame: bool,
    /// Whether to note that Jena does not read this framing, which was not requested.
    notes_framing: bool,
    rows: W,
    /// Whether messages are written with their lengths.
    in_message: bool,
    flat: bool,
    declared: Namespaces,
    terms: EncodedTerms,
    /// The graph that was checked last.
    last_graph: TermId,
    /// The open message, if it must be buffered because its length is written first.
    message: Vec<u8>,
}

impl<W: RowWriter> RdfBinaryWriter<W> {
    fn new(options: &BinaryWriting, abbreviates: bool, in_message: bool, rows: W) -> Self {
        Self {
            can_frame: false,
            notes_framing: false,
            rows,
            in_message,
            flat: options.flat,
            declared: Namespaces::default(),
            terms: EncodedTerms::new(options.values, abbreviates, options.flat),
            last_graph: TermId::DEFAULT_GRAPH,
            message: Vec::new(),
        }
    }

    /// Appends the rows of quads to `out`, in which the message or batch begins at `start`.
    fn write_quads(
        &mut self,
        table: &TermTable,
        quads: &[Quad],
        start: usize,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        for quad in quads {
            let mut parts = [
                self.terms.encode_term::<W::Terms>(table, quad.subject)?,
                self.terms.encode_term::<W::Terms>(table, quad.predicate)?,
                self.terms.encode_term::<W::Terms>(table, quad.object)?,
                TermRange::default(),
            ];
            let terms = if quad.graph == TermId::DEFAULT_GRAPH {
                &parts[..3]
            } else {
                parts[3] = self.encode_graph(table, quad.graph)?;
                &parts
            };
            self.rows.write_statement(&self.terms.bytes, terms, out);
            if out.len() - start > MAX_BYTES {
                return Err(too_long());
            }
        }
        Ok(())
    }

    /// Adds a remedy to the limit errors of length-prefixed messages: writing rows instead.
    #[cold]
    fn explain_error(&self, (class, reason): (ErrorClass, Reason)) -> (ErrorClass, Reason) {
        let rows = Remedy::write("framing", "rows", "writes it row by row");
        match class {
            ErrorClass::Limit if self.in_message => (class, reason.with(rows)),
            _ => (class, reason),
        }
    }

    #[inline]
    fn encode_graph(&mut self, table: &TermTable, id: TermId) -> WriteResult<TermRange> {
        if id != self.last_graph {
            default_graph::check(table, id)?;
            self.last_graph = id;
        }
        self.terms.encode_term::<W::Terms>(table, id)
    }
}

impl<W: RowWriter> Writer for RdfBinaryWriter<W> {
    type Record = Quad;

    fn begin_batch(&mut self, batch: &MessageBatch, _out: &mut Vec<u8>) {
        self.last_graph = TermId::DEFAULT_GRAPH;
        self.terms.begin(batch.table().terms().len());
    }

    fn begin_message(&mut self, _batch: &MessageBatch, number: u64, _out: &mut Vec<u8>) {
        self.message.clear();
        self.terms.begin_message(number);
    }

    fn check_second_message(&self) -> WriteResult<bool> {
        if self.in_message {
            return Ok(false);
        }
        reject_second(self.flat).map_err(|(class, reason)| {
            let separate = Remedy::write("framing", "messages", "keeps them separate");
            (
                class,
                if self.can_frame {
                    reason.with(separate)
                } else {
                    reason
                },
            )
        })
    }

    /// Declares a namespace, unless it is already in force.
    fn declare(&mut self, name: &[u8], iri: &[u8], out: &mut Vec<u8>) -> WriteResult<bool> {
        if self.declared.get(name) == Some(iri) {
            return Ok(true);
        }
        self.declared.set(name, iri);
        if let Some(prefixes) = &mut self.terms.prefixes {
            if prefixes.declare(name, iri) == DeclareResult::Refused {
                // Written anyway, so that the name loses its old meaning.
                prefixes.forget(name);
            }
            self.terms.begin(0);
        }
        let out = if self.in_message {
            &mut self.message
        } else {
            out
        };
        self.rows.write_prefix(name, iri, out);
        Ok(true)
    }

    fn write(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        let (table, quads) = (batch.table(), batch.message(message));
        if !self.in_message {
            return self.write_quads(table, quads, out.len(), out);
        }
        let mut rows = std::mem::take(&mut self.message);
        let result = self.write_quads(table, quads, 0, &mut rows);
        self.message = rows;
        result.map_err(|error| self.explain_error(error))
    }

    fn end_message(&mut self, out: &mut Vec<u8>) {
        if self.in_message {
            put_varint(out, self.message.len() as u64);
            out.extend_from_slice(&self.message);
            self.message.clear();
        }
    }

    fn continue_log(&mut self, _end: LogEnd) -> Result<(), Reason> {
        self.notes_framing = false; // the log has other messages
        if self.in_message {
            Ok(())
        } else {
            Err("messages cannot be appended as rows, which have no message boundaries".into())
        }
    }

    fn pause(&mut self, _out: &mut Vec<u8>) -> Option<LogEnd> {
        self.in_message.then_some(LogEnd::Content)
    }

    fn finish(&mut self, open: bool, out: &mut Vec<u8>) {
        if open {
            self.end_message(out);
        }
    }

    fn reset(&mut self) {
        self.declared = Namespaces::default();
        if self.terms.prefixes.is_some() {
            self.terms.prefixes = Some(Prefixes::default());
        }
    }

    fn note_if_empty(&self) -> Option<Reason> {
        let has_rows = self.in_message || !self.declared.is_empty();
        (self.can_frame && !has_rows).then(|| {
            Reason::new("an empty message takes up no bytes, so readers will not find it")
                .with(Remedy::write("framing", "messages", "writes its length"))
                .with(Remedy::read("framing", "rows", "reads it"))
                .with(Remedy::stage("message_per_file", "true", "reads it"))
        })
    }

    fn count_dropped(&self, dropped: Dropped) -> Counts {
        let Dropped {
            metadata,
            boundaries,
            ..
        } = dropped;
        vec![("metadata", metadata), ("boundaries", boundaries)]
    }

    fn notes(&self, messages: u64) -> Vec<Reason> {
        if messages != 1 || !self.notes_framing {
            return Vec::new();
        }
        let text = "Apache Jena reads a log with message framing as an empty file";
        let rows = Remedy::write("framing", "rows", "writes a file for Jena");
        vec![Reason::new(text).with(rows)]
    }
}

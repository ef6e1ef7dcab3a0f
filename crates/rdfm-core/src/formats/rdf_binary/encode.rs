//! Batches to logs of RDF Protobuf and RDF Thrift.
//!
//! - In: batches, cut anywhere between messages or (parts) inside one.
//! - Out: an `RDF_Stream` a message, or rows alone.
//! - Cost: a term is encoded once a batch and copied from there; memory holds the batch's terms, and an
//!   `RDF_Stream` whole. A batch may not become longer than [`MAX_BYTES`], however often terms repeat.
//! - Law: the bytes depend on the messages alone, not on how they were cut into batches. After an error
//!   nothing more is written. Where all messages become one, their blank nodes have different labels.

use std::ops::Range;

use super::model::{Kind, Name, Value};
use super::options::{Framing, Writing};
use super::protobuf::ProtobufRows;
use super::spec::{PROTOBUF, THRIFT};
use super::terms::{BNODE_IRI, DEFAULT_GRAPHS};
use super::thrift::ThriftRows;
use super::values::of_literal;
use crate::codec::Encoder;
use crate::codec::messages::{Counts, Dropped, MessageLoop, Writer};
use crate::codec::refuse::{Refused, refuse_second};
use crate::codec::spec::Made;
use crate::codec::values::Values;
use crate::model::batch::MessageBatch;
use crate::model::error::{ErrorClass, quote};
use crate::model::namespaces::Namespaces;
use crate::model::remedy::{Feature, Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{Quad, Term, TermId, TermKind, flags};
use crate::model::write::{set_apart, write_apart};
use crate::syntax::prefixes::{Declared, Prefixes};
use crate::syntax::text::encode::holds_labels;
use crate::syntax::wire::put_varint;

/// Most bytes that one batch, or one message, may be written as.
const MAX_BYTES: usize = 1 << 30;

/// Where an encoded term stands among the batch's.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    start: u32,
    length: u32,
}

impl Place {
    #[inline]
    pub fn length(self) -> usize {
        self.length as usize
    }

    #[inline]
    pub fn range(self) -> Range<usize> {
        self.start as usize..(self.start + self.length) as usize
    }
}

/// An encoding. Terms are written so that they can be copied into any position of any statement.
pub(super) trait RowWriter: Send {
    fn iri(out: &mut Vec<u8>, text: &[u8]);
    fn name(out: &mut Vec<u8>, name: Name<'_>);
    /// A blank node whose label begins with `apart`.
    fn bnode(out: &mut Vec<u8>, apart: &[u8], label: &[u8]);
    fn literal(out: &mut Vec<u8>, lexical: &[u8], kind: Kind<'_>);
    fn value(out: &mut Vec<u8>, value: Value);
    /// A triple term of terms before it.
    fn triple(terms: &mut Vec<u8>, parts: [Place; 3]);
    /// A row of three terms, or of four.
    fn statement(&self, terms: &[u8], parts: &[Place], out: &mut Vec<u8>);
    /// A row.
    fn prefix(&self, name: &[u8], iri: &[u8], out: &mut Vec<u8>);
}

/// An encoder of RDF Thrift at the start of a log.
pub(super) fn thrift(values: &Values) -> Box<dyn Encoder> {
    let options = Writing::of(values);
    let abbreviates = options.prefixed_names.unwrap_or(true);
    let writer = BinaryWriter::new(&options, abbreviates, false, ThriftRows);
    Box::new(MessageLoop::new(&THRIFT, values, writer))
}

/// An encoder of RDF Protobuf at the start of a log.
///
/// # Errors
/// Options contradict each other.
pub(super) fn protobuf(values: &Values) -> Made<dyn Encoder> {
    let options = Writing::of(values);
    let abbreviates = options.prefixed_names.unwrap_or(false);
    let in_message = match options.framing {
        Some(Framing::Messages) if options.flat => {
            return Err(Reason::new(
                "flat makes all messages one, and framing messages keeps them apart; leave one of them out",
            ));
        }
        framing => !options.flat && framing != Some(Framing::Rows),
    };
    let rows = ProtobufRows { in_message };
    let mut writer = BinaryWriter::new(&options, abbreviates, in_message, rows);
    writer.can_frame = true;
    Ok(Box::new(MessageLoop::new(&PROTOBUF, values, writer)))
}

/// Writes rows.
struct BinaryWriter<W> {
    /// Whether the format can also be written with messages behind their lengths.
    can_frame: bool,
    rows: W,
    /// Messages are behind their lengths.
    in_message: bool,
    flat: bool,
    values: bool,
    declared: Namespaces,
    /// What IRIs are abbreviated with, if they are.
    prefixes: Option<Prefixes>,
    terms: Terms,
    /// The open message, where its length goes before it.
    message: Vec<u8>,
    /// The number of the open message.
    number: u64,
    /// With `flat`: what goes before the labels of the open message ([`set_apart`]).
    apart: Vec<u8>,
}

/// The encoded terms of a batch.
#[derive(Default)]
struct Terms {
    bytes: Vec<u8>,
    /// By term id: the generation in which it was encoded, and where.
    places: Vec<(u32, Place)>,
    generation: u32,
    /// Of these, what is written differs in the next message.
    labelled: Vec<TermId>,
    /// The graph that was looked at last.
    graph: TermId,
}

impl Terms {
    /// Forgets all; a batch of so many terms follows.
    fn begin(&mut self, terms: usize) {
        self.bytes.clear();
        self.labelled.clear();
        self.graph = TermId::DEFAULT_GRAPH;
        if self.places.len() < terms {
            self.places.resize(terms, (0, Place::default()));
        }
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.places.fill((0, Place::default()));
            self.generation = 1;
        }
    }

    /// Forgets terms with labels.
    fn forget_labels(&mut self) {
        for id in self.labelled.drain(..) {
            if let Some(entry) = self.places.get_mut(id.index()) {
                entry.0 = 0;
            }
        }
    }
}

impl<W: RowWriter> BinaryWriter<W> {
    fn new(options: &Writing, abbreviates: bool, in_message: bool, rows: W) -> Self {
        Self {
            can_frame: false,
            rows,
            in_message,
            flat: options.flat,
            values: options.values,
            declared: Namespaces::default(),
            prefixes: abbreviates.then(Prefixes::default),
            terms: Terms::default(),
            message: Vec::new(),
            number: 0,
            apart: Vec::new(),
        }
    }

    /// Appends the rows of quads to `out`, in which the message or batch begins at `start`.
    fn quads(
        &mut self,
        table: &TermTable,
        quads: &[Quad],
        start: usize,
        out: &mut Vec<u8>,
    ) -> Refused<()> {
        for quad in quads {
            let mut parts = [
                self.term(table, quad.subject)?,
                self.term(table, quad.predicate)?,
                self.term(table, quad.object)?,
                Place::default(),
            ];
            let used = if quad.graph == TermId::DEFAULT_GRAPH {
                &parts[..3]
            } else {
                parts[3] = self.graph(table, quad.graph)?;
                &parts
            };
            self.rows.statement(&self.terms.bytes, used, out);
            if out.len() - start > MAX_BYTES {
                return Err(self.too_long());
            }
        }
        Ok(())
    }

    #[cold]
    fn too_long(&self) -> (ErrorClass, Reason) {
        let text = format!("the message is longer than {MAX_BYTES} bytes");
        let reason = Reason::from(text).lacking(Feature::Parts);
        let rows = Remedy::write("framing", "rows", "writes it row by row");
        let reason = if self.in_message {
            reason.with(rows)
        } else {
            reason
        };
        (ErrorClass::Limit, reason)
    }

    #[inline]
    fn graph(&mut self, table: &TermTable, id: TermId) -> Refused<Place> {
        if id != self.terms.graph {
            let term = table.term(id);
            let text = table.text_of(term);
            if term.kind == TermKind::Iri && DEFAULT_GRAPHS.contains(&text) {
                return Err(taken_for(text, "the default graph"));
            }
            self.terms.graph = id;
        }
        self.term(table, id)
    }

    /// Where a term is encoded.
    #[inline]
    fn term(&mut self, table: &TermTable, id: TermId) -> Refused<Place> {
        match self.terms.places.get(id.index()) {
            Some((generation, place)) if *generation == self.terms.generation => Ok(*place),
            _ => self.new_term(table, id),
        }
    }

    fn new_term(&mut self, table: &TermTable, id: TermId) -> Refused<Place> {
        let term = table.term(id);
        let text = table.text_of(term);
        // The parts of a triple term go before it.
        let triple = if term.kind == TermKind::TripleTerm {
            let [s, p, o] = table.triple(term);
            let parts = [
                self.term(table, s)?,
                self.term(table, p)?,
                self.term(table, o)?,
            ];
            let size: usize = parts.iter().map(|part| part.length()).sum();
            if size + self.terms.bytes.len() > MAX_BYTES {
                return Err(self.too_long());
            }
            Some(parts)
        } else {
            None
        };
        let start = self.terms.bytes.len();
        let bytes = &mut self.terms.bytes;
        match (term.kind, triple) {
            (_, Some(parts)) => W::triple(bytes, parts),
            (TermKind::Iri, _) => {
                if text.starts_with(BNODE_IRI) {
                    return Err(taken_for(text, "a blank node"));
                }
                match name(self.prefixes.as_ref(), text) {
                    Some(name) => W::name(bytes, name),
                    None => W::iri(bytes, text),
                }
            }
            (TermKind::Bnode, _) if self.flat && set_apart(self.number, text) => {
                W::bnode(bytes, &self.apart, text);
            }
            (TermKind::Bnode, _) => W::bnode(bytes, b"", text),
            (TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral, _) => {
                let value = if self.values && term.kind == TermKind::TypedLiteral {
                    of_literal(text, table.text(TermId(term.aux)))
                } else {
                    None
                };
                match value {
                    Some(value) => W::value(bytes, value),
                    None => W::literal(bytes, text, kind(self.prefixes.as_ref(), table, term)),
                }
            }
            _ => {
                return Err((
                    ErrorClass::Internal,
                    "the batch has a term where none of its kind can stand".into(),
                ));
            }
        }
        if self.terms.bytes.len() > MAX_BYTES {
            return Err(self.too_long());
        }
        if self.flat && holds_labels(term.kind) {
            self.terms.labelled.push(id);
        }
        let place = Place {
            start: start as u32,
            length: (self.terms.bytes.len() - start) as u32,
        };
        if let Some(entry) = self.terms.places.get_mut(id.index()) {
            *entry = (self.terms.generation, place);
        }
        Ok(place)
    }
}

/// The name that abbreviates an IRI.
fn name<'a>(prefixes: Option<&'a Prefixes>, iri: &'a [u8]) -> Option<Name<'a>> {
    let (prefix, local) = prefixes?.split(iri)?;
    Some(Name { prefix, local })
}

/// What a literal is beside its lexical form.
fn kind<'a>(prefixes: Option<&'a Prefixes>, table: &'a TermTable, term: Term) -> Kind<'a> {
    match term.kind {
        TermKind::LangLiteral => {
            let tag = table.text(TermId(term.aux));
            if term.flags & flags::LTR != 0 {
                Kind::Directed(tag, b"ltr")
            } else if term.flags & flags::RTL != 0 {
                Kind::Directed(tag, b"rtl")
            } else {
                Kind::Language(tag)
            }
        }
        TermKind::TypedLiteral => {
            let iri = table.text(TermId(term.aux));
            name(prefixes, iri).map_or(Kind::Datatype(iri), Kind::DatatypeName)
        }
        _ => Kind::Plain,
    }
}

#[cold]
fn taken_for(iri: &[u8], what: &str) -> (ErrorClass, Reason) {
    (
        ErrorClass::Unsupported,
        format!(
            "readers of the format take the IRI {} for {what}; other formats hold it",
            quote(iri)
        )
        .into(),
    )
}

impl<W: RowWriter> Writer for BinaryWriter<W> {
    type Record = Quad;

    fn begin_batch(&mut self, batch: &MessageBatch, _out: &mut Vec<u8>) {
        self.terms.begin(batch.table().terms().len());
    }

    fn begin_message(&mut self, _batch: &MessageBatch, number: u64, _out: &mut Vec<u8>) {
        self.message.clear();
        self.number = number;
        if self.flat {
            self.apart.clear();
            write_apart(number, &mut self.apart);
            self.terms.forget_labels();
        }
    }

    fn second(&self) -> Refused<bool> {
        if self.in_message {
            return Ok(false);
        }
        refuse_second(self.flat).map_err(|(class, reason)| {
            let apart = Remedy::write("framing", "messages", "keeps them apart");
            (
                class,
                if self.can_frame {
                    reason.with(apart)
                } else {
                    reason
                },
            )
        })
    }

    /// Declares a namespace, unless it is in force already.
    fn declare(&mut self, name: &[u8], iri: &[u8], out: &mut Vec<u8>) -> Refused<bool> {
        if self.declared.get(name) == Some(iri) {
            return Ok(true);
        }
        self.declared.set(name, iri);
        if let Some(prefixes) = &mut self.prefixes {
            if prefixes.declare(name, iri) == Declared::Refused {
                // It is declared all the same, so that the name no longer means what it did.
                prefixes.forget(name);
            }
            self.terms.begin(0);
        }
        let out = if self.in_message {
            &mut self.message
        } else {
            out
        };
        self.rows.prefix(name, iri, out);
        Ok(true)
    }

    fn write(&mut self, batch: &MessageBatch, message: usize, out: &mut Vec<u8>) -> Refused<()> {
        let (table, quads) = (batch.table(), batch.message(message));
        if !self.in_message {
            return self.quads(table, quads, out.len(), out);
        }
        let mut rows = std::mem::take(&mut self.message);
        let result = self.quads(table, quads, 0, &mut rows);
        self.message = rows;
        result
    }

    fn end_message(&mut self, out: &mut Vec<u8>) {
        if self.in_message {
            put_varint(out, self.message.len() as u64);
            out.extend_from_slice(&self.message);
            self.message.clear();
        }
    }

    fn finish(&mut self, open: bool, out: &mut Vec<u8>) {
        if open {
            self.end_message(out);
        }
    }

    fn reset(&mut self) {
        self.declared = Namespaces::default();
        if self.prefixes.is_some() {
            self.prefixes = Some(Prefixes::default());
        }
    }

    fn dropped(&self, dropped: Dropped) -> Counts {
        let Dropped {
            metadata,
            boundaries,
            ..
        } = dropped;
        vec![("metadata", metadata), ("boundaries", boundaries)]
    }
}

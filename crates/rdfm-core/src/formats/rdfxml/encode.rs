//! Encoder for RDF/XML logs: one document per line, with consecutive quads of a subject grouped.
//!
//! - In: batches.
//! - Out: `<rdf:RDF …>…</rdf:RDF>` and LF for each message. A document declares the namespaces of
//!   its predicates, and those that the log has declared since the previous document.
//! - Cost: two passes over the quads of a message. A term is checked and escaped once per batch.
//! - Law: quads keep their order. The text does not depend on how messages are divided into
//!   batches, and no term can end its token or its line.
//!
//! If the log does not declare the namespace of a predicate, the namespace gets a prefix `ns0`,
//! `ns1`, …, in order of first use in the message.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::names::{Edition, is_declarable, split};
use super::spec::RDFXML;
use super::vocabulary::{ITS, RDF};
use crate::codec::Encoder;
use crate::codec::messages::{MessageLoop, Writer};
use crate::codec::options::LENIENT;
use crate::codec::unsupported::WriteResult;
use crate::codec::values::Values;
use crate::model::batch::MessageBatch;
use crate::model::error::{ErrorClass, quote};
use crate::model::labels;
use crate::model::remedy::{Feature, Reason};
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId, TermKind, flags};
use crate::model::write::{TermError, term_error};
use crate::syntax::text::encode::{MAX_TEXT, TextMemo, describe, too_long};
use crate::syntax::xml::{code_point, is_nc_name, not_xml};

/// The element name for a predicate.
#[derive(Clone, Copy, Default)]
struct PredicateElement {
    /// The batch for which the name is valid.
    batch: u32,
    /// Its namespace, as an index into [`PredicateNames::namespaces`].
    namespace: u32,
    /// Start of the local part in the IRI.
    split: u32,
}

/// A namespace of predicates.
#[derive(Clone)]
struct PredicateNamespace {
    iri: Box<[u8]>,
    /// The last message that declared the namespace.
    message: u64,
    /// The prefix of the namespace in that message.
    prefix: Vec<u8>,
}

type Bytes = Box<[u8]>;

/// The prefixes of the log and the names of predicates.
#[derive(Clone, Default)]
struct PredicateNames {
    /// IRIs of the log's prefixes, with the numbers of their declarations.
    by_prefix: FxHashMap<Bytes, (Bytes, u64)>,
    /// Prefixes of the log by IRI, in order of declaration.
    by_iri: FxHashMap<Bytes, BTreeMap<u64, Bytes>>,
    /// Number of the next declaration.
    declared: u64,
    /// Prefixes declared since the last document, by declaration number.
    waiting: BTreeMap<u64, Box<[u8]>>,
    /// Namespaces of predicates.
    namespaces: Vec<PredicateNamespace>,
    /// Indices into `namespaces`, by IRI.
    index_by_iri: FxHashMap<Box<[u8]>, u32>,
    elements: Vec<PredicateElement>,
    /// Whether a name of a predicate is valid only in the fifth edition of XML 1.0.
    needs_fifth_edition: bool,
    batch: u32,
    message: u64,
    /// Number of the next generated prefix.
    generated: u64,
    /// Lower bound for generated numbers, above those that the log itself declares.
    min_generated: u64,
}

/// Maximum number of predicate namespaces kept from batch to batch.
const MAX_NAMESPACES: usize = 4096;

impl PredicateNames {
    /// Declares a prefix. Returns false if XML cannot express the declaration.
    fn declare(&mut self, prefix: &[u8], iri: &[u8]) -> bool {
        if self
            .by_prefix
            .get(prefix)
            .is_some_and(|(known, _)| **known == *iri)
        {
            return true;
        }
        if !is_declarable(prefix, iri) {
            return false;
        }
        if let Some(number) = parse_generated_number(prefix) {
            self.min_generated = self.min_generated.max(number + 1);
        }
        let number = self.declared;
        self.declared += 1;
        if let Some((old, before)) = self.by_prefix.insert(prefix.into(), (iri.into(), number)) {
            self.waiting.remove(&before);
            if let Some(prefixes) = self.by_iri.get_mut(&old) {
                prefixes.remove(&before);
                if prefixes.is_empty() {
                    self.by_iri.remove(&old);
                }
            }
        }
        self.by_iri
            .entry(iri.into())
            .or_default()
            .insert(number, prefix.into());
        self.waiting.insert(number, prefix.into());
        true
    }

    fn begin_batch(&mut self, terms: usize) {
        self.batch = self.batch.wrapping_add(1).max(1);
        if self.elements.len() < terms {
            self.elements.resize(terms, PredicateElement::default());
        }
        if self.batch == 1 || self.namespaces.len() > MAX_NAMESPACES {
            self.elements.fill(PredicateElement::default());
            self.namespaces.clear();
            self.index_by_iri.clear();
        }
    }

    /// Begins the start tag of the root.
    fn begin_message(&mut self, out: &mut Vec<u8>) {
        self.message += 1;
        self.generated = 0;
        out.extend_from_slice(b"<rdf:RDF xmlns:rdf=\"");
        out.extend_from_slice(RDF);
        out.push(b'"');
        for prefix in std::mem::take(&mut self.waiting).into_values() {
            if let Some((iri, _)) = self.by_prefix.get(&prefix)
                && *prefix != *b"rdf"
            {
                write_declaration(&prefix, iri, out);
                // Avoids declaring the namespace again for a predicate.
                if self.first_prefix(iri) == Some(&*prefix) {
                    let iri = iri.clone();
                    let index = self.intern(&iri);
                    let namespace = &mut self.namespaces[index as usize];
                    namespace.message = self.message;
                    namespace.prefix = prefix.into();
                }
            }
        }
    }

    /// Returns the prefix that the log declares for a namespace. Attributes require a prefix that
    /// is not empty.
    fn first_prefix(&self, iri: &[u8]) -> Option<&[u8]> {
        let all = self.by_iri.get(iri)?;
        all.values()
            .map(|prefix| &**prefix)
            .find(|prefix| !prefix.is_empty() || iri != ITS)
    }

    fn intern(&mut self, iri: &[u8]) -> u32 {
        if let Some(&index) = self.index_by_iri.get(iri) {
            return index;
        }
        let index = self.namespaces.len() as u32;
        self.namespaces.push(PredicateNamespace {
            iri: iri.into(),
            message: 0,
            prefix: Vec::new(),
        });
        self.index_by_iri.insert(iri.into(), index);
        index
    }

    /// Declares a namespace in the open start tag, unless it is already declared.
    #[inline]
    fn ensure_declared(&mut self, index: u32, out: &mut Vec<u8>) {
        if self.namespaces[index as usize].message != self.message {
            self.declare_here(index, out);
        }
    }

    fn declare_here(&mut self, index: u32, out: &mut Vec<u8>) {
        let iri = &self.namespaces[index as usize].iri;
        let prefix = if **iri == *RDF {
            b"rdf".to_vec()
        } else if let Some(prefix) = self.first_prefix(iri) {
            write_declaration(prefix, iri, out);
            prefix.to_vec()
        } else {
            let prefix = loop {
                let prefix = format!("ns{}", self.generated).into_bytes();
                self.generated += 1;
                if !self.by_prefix.contains_key(&*prefix) {
                    break prefix;
                }
                self.generated = self.generated.max(self.min_generated);
            };
            write_declaration(&prefix, iri, out);
            prefix
        };
        let namespace = &mut self.namespaces[index as usize];
        namespace.message = self.message;
        namespace.prefix = prefix;
    }

    /// Prepares the element name of a predicate and its namespace.
    #[inline]
    fn prepare_predicate(
        &mut self,
        table: &TermTable,
        id: TermId,
        lenient: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), DocumentError> {
        let element = self.elements[id.index()];
        if element.batch == self.batch {
            self.ensure_declared(element.namespace, out);
            return Ok(());
        }
        let iri = table.text(id);
        if let Some(error) = term_error(table, id, lenient) {
            return Err(DocumentError::Term(error));
        }
        let Some((index, edition)) = split(iri) else {
            return Err(DocumentError::Predicate(id));
        };
        if let Some(index) = not_xml(&iri[..index]) {
            return Err(DocumentError::Character(id, index));
        }
        self.needs_fifth_edition |= edition == Edition::Fifth;
        let namespace = self.intern(&iri[..index]);
        self.elements[id.index()] = PredicateElement {
            batch: self.batch,
            namespace,
            split: index as u32,
        };
        self.ensure_declared(namespace, out);
        Ok(())
    }

    /// Appends the name of a predicate's element.
    #[inline]
    fn write(&self, table: &TermTable, id: TermId, out: &mut Vec<u8>) {
        let element = self.elements[id.index()];
        let prefix = &self.namespaces[element.namespace as usize].prefix;
        if !prefix.is_empty() {
            out.extend_from_slice(prefix);
            out.push(b':');
        }
        out.extend_from_slice(&table.text(id)[element.split as usize..]);
    }
}

/// Returns the number of a prefix that has the form of a generated one.
fn parse_generated_number(prefix: &[u8]) -> Option<u64> {
    let number = prefix.strip_prefix(b"ns").filter(|rest| rest.len() < 16)?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

fn write_declaration(prefix: &[u8], iri: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b" xmlns");
    if !prefix.is_empty() {
        out.push(b':');
        out.extend_from_slice(prefix);
    }
    out.extend_from_slice(b"=\"");
    escape(iri, out);
    out.push(b'"');
}

/// Appends a string, escaped so that it cannot end its quotes, its element or its line.
fn escape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(index) = escape_at(rest) {
        out.extend_from_slice(&rest[..index]);
        out.extend_from_slice(match rest[index] {
            b'&' => b"&amp;",
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            b'"' => b"&quot;",
            b'\t' => b"&#9;",
            b'\n' => b"&#10;",
            _ => b"&#13;",
        });
        rest = &rest[index + 1..];
    }
    out.extend_from_slice(rest);
}

fn escape_at(text: &[u8]) -> Option<usize> {
    let special = |byte: u8| matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\t' | b'\n' | b'\r');
    let mut start = 0;
    // Checks sixteen bytes at a time, so that the compiler can vectorize the comparisons.
    for chunk in text.chunks_exact(16) {
        let any = chunk
            .iter()
            .fold(0, |any, &byte| any | u8::from(special(byte)));
        if any != 0 {
            break;
        }
        start += 16;
    }
    let index = text[start..].iter().position(|&byte| special(byte))?;
    Some(start + index)
}

/// The reason why a message cannot be written.
#[derive(Clone, Copy)]
enum DocumentError {
    /// A term that cannot be written in any text format.
    Term(TermError),
    /// A predicate that cannot be an XML name.
    Predicate(TermId),
    /// A character that XML does not allow, at this byte of the term.
    Character(TermId, usize),
    /// Text above the size limit.
    TooLong,
}

/// Creates an RDF/XML encoder for a new log.
pub(super) fn encoder(values: &Values) -> Box<dyn Encoder> {
    let writer = RdfXmlWriter {
        lenient: values.is_on(&LENIENT),
        names: PredicateNames::default(),
        iris: TextMemo::default(),
        labels: TextMemo::default(),
        max: 0,
    };
    Box::new(MessageLoop::new(&RDFXML, values, writer))
}

/// Writes RDF/XML.
struct RdfXmlWriter {
    lenient: bool,
    names: PredicateNames,
    /// Positions in the output of IRIs written as attribute values.
    iris: TextMemo,
    /// Positions in the output of blank nodes written as labels.
    labels: TextMemo,
    /// Maximum size of the output at the end of the batch.
    max: usize,
}

impl RdfXmlWriter {
    fn write_message(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DocumentError> {
        let table = batch.table();
        let quads = batch.message(message);
        self.names.begin_message(out);
        let mut new = false;
        for quad in quads {
            self.names
                .prepare_predicate(table, quad.predicate, self.lenient, out)?;
            new |= self.prepare_object(table, quad.object, out)?;
        }
        if new {
            out.extend_from_slice(b" rdf:version=\"1.2\"");
        }
        if quads.is_empty() {
            out.extend_from_slice(b"/>\n");
            return Ok(());
        }
        out.push(b'>');
        let mut open: Option<TermId> = None;
        for quad in quads {
            let is_same_subject = open.is_some_and(|last| {
                last == quad.subject || table.is_same_term(last, table, quad.subject)
            });
            if !is_same_subject {
                if open.is_some() {
                    out.extend_from_slice(b"</rdf:Description>");
                }
                self.begin_node(table, quad.subject, out)?;
                open = Some(quad.subject);
            }
            self.property(table, [quad.predicate, quad.object], out)?;
            if out.len() > self.max {
                return Err(DocumentError::TooLong);
            }
        }
        out.extend_from_slice(b"</rdf:Description></rdf:RDF>\n");
        Ok(())
    }

    /// Prepares the names that an object needs. Returns whether the object requires RDF 1.2.
    fn prepare_object(
        &mut self,
        table: &TermTable,
        id: TermId,
        out: &mut Vec<u8>,
    ) -> Result<bool, DocumentError> {
        let term = table.term(id);
        match term.kind {
            TermKind::TripleTerm => {
                if out.len() > self.max {
                    return Err(DocumentError::TooLong);
                }
                let [_, predicate, object] = table.triple(term);
                self.names
                    .prepare_predicate(table, predicate, self.lenient, out)?;
                self.prepare_object(table, object, out)?;
                Ok(true)
            }
            TermKind::LangLiteral if term.flags & (flags::LTR | flags::RTL) != 0 => {
                let index = self.names.intern(ITS);
                self.names.ensure_declared(index, out);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Appends the start tag of a node.
    fn begin_node(
        &mut self,
        table: &TermTable,
        id: TermId,
        out: &mut Vec<u8>,
    ) -> Result<(), DocumentError> {
        out.extend_from_slice(b"<rdf:Description rdf:");
        if table.term(id).kind == TermKind::BlankNode {
            out.extend_from_slice(b"nodeID=\"");
            self.write_label(table, id, out);
        } else {
            out.extend_from_slice(b"about=\"");
            self.write_iri(table, id, out)?;
        }
        out.extend_from_slice(b"\">");
        Ok(())
    }

    /// Appends a property.
    fn property(
        &mut self,
        table: &TermTable,
        [predicate, object]: [TermId; 2],
        out: &mut Vec<u8>,
    ) -> Result<(), DocumentError> {
        out.push(b'<');
        let name = out.len();
        self.names.write(table, predicate, out);
        let name = name..out.len();
        let term = table.term(object);
        match term.kind {
            TermKind::Iri => {
                out.extend_from_slice(b" rdf:resource=\"");
                self.write_iri(table, object, out)?;
                out.extend_from_slice(b"\"/>");
                return Ok(());
            }
            TermKind::BlankNode => {
                out.extend_from_slice(b" rdf:nodeID=\"");
                self.write_label(table, object, out);
                out.extend_from_slice(b"\"/>");
                return Ok(());
            }
            TermKind::TripleTerm => {
                if out.len() > self.max {
                    return Err(DocumentError::TooLong);
                }
                out.extend_from_slice(b" rdf:parseType=\"Triple\">");
                let [subject, predicate, object] = table.triple(term);
                self.begin_node(table, subject, out)?;
                self.property(table, [predicate, object], out)?;
                out.extend_from_slice(b"</rdf:Description>");
            }
            _ => {
                if let Some(error) = term_error(table, object, self.lenient) {
                    return Err(DocumentError::Term(error));
                }
                match term.kind {
                    TermKind::TypedLiteral => {
                        out.extend_from_slice(b" rdf:datatype=\"");
                        self.write_iri(table, TermId(term.aux), out)?;
                        out.push(b'"');
                    }
                    TermKind::LangLiteral => {
                        out.extend_from_slice(b" xml:lang=\"");
                        out.extend_from_slice(table.text(TermId(term.aux)));
                        out.push(b'"');
                        self.write_direction(term.flags, out);
                    }
                    _ => {}
                }
                let text = table.text_of(term);
                if text.is_empty() {
                    out.extend_from_slice(b"/>");
                    return Ok(());
                }
                out.push(b'>');
                Self::write_text(object, text, term.flags & flags::PLAIN != 0, out)?;
            }
        }
        out.extend_from_slice(b"</");
        out.extend_from_within(name);
        out.push(b'>');
        Ok(())
    }

    /// Appends a base direction, if there is one.
    fn write_direction(&mut self, direction: u8, out: &mut Vec<u8>) {
        let value: &[u8] = match direction & (flags::LTR | flags::RTL) {
            0 => return,
            flags::LTR => b"ltr",
            _ => b"rtl",
        };
        let its = self.names.intern(ITS) as usize;
        let prefix = &self.names.namespaces[its].prefix;
        for (name, value) in [(&b"version"[..], &b"2.0"[..]), (b"dir", value)] {
            out.push(b' ');
            out.extend_from_slice(prefix);
            out.push(b':');
            out.extend_from_slice(name);
            out.extend_from_slice(b"=\"");
            out.extend_from_slice(value);
            out.push(b'"');
        }
    }

    /// Appends the text of a literal. `plain`: the text contains only characters that XML allows.
    fn write_text(
        id: TermId,
        text: &[u8],
        plain: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), DocumentError> {
        if !plain && let Some(index) = not_xml(text) {
            return Err(DocumentError::Character(id, index));
        }
        escape(text, out);
        Ok(())
    }

    /// Appends an IRI as the value of an attribute.
    #[inline]
    fn write_iri(
        &mut self,
        table: &TermTable,
        id: TermId,
        out: &mut Vec<u8>,
    ) -> Result<(), DocumentError> {
        if self.iris.copy(id, out) {
            return Ok(());
        }
        if let Some(error) = term_error(table, id, self.lenient) {
            return Err(DocumentError::Term(error));
        }
        let start = out.len();
        Self::write_text(id, table.text(id), false, out)?;
        self.iris.keep(id, start, out);
        Ok(())
    }

    /// Appends the label of a blank node, escaped if it is not an XML name.
    fn write_label(&mut self, table: &TermTable, id: TermId, out: &mut Vec<u8>) {
        if self.labels.copy(id, out) {
            return;
        }
        let start = out.len();
        labels::write(table.text(id), false, is_nc_name, out);
        self.labels.keep(id, start, out);
    }

    #[cold]
    fn rejection(table: &TermTable, stop: DocumentError) -> (ErrorClass, Reason) {
        match stop {
            DocumentError::Term(error) => (ErrorClass::Unsupported, describe(table, error)),
            DocumentError::Predicate(id) => (
                ErrorClass::Unsupported,
                Reason::from(format!(
                    "the predicate {} cannot be written as an XML name; it must end with a letter \
                     or '_', optionally followed by letters, digits, '-', '_' and '.', and must \
                     not be a syntax term of RDF/XML",
                    quote(table.text(id))
                ))
                .lacking(Feature::AnyText),
            ),
            DocumentError::Character(id, index) => (
                ErrorClass::Unsupported,
                Reason::from(format!(
                    "XML cannot represent the character {}, found in {}",
                    code_point(&table.text(id)[index..]),
                    quote(table.text(id))
                ))
                .lacking(Feature::AnyText),
            ),
            DocumentError::TooLong => (ErrorClass::Limit, too_long(MAX_TEXT)),
        }
    }
}

impl Writer for RdfXmlWriter {
    type Record = Quad;

    const NAMESPACES_BEFORE: bool = true;

    const PARTS: bool = false;

    fn begin_batch(&mut self, batch: &MessageBatch, out: &mut Vec<u8>) {
        self.max = out.len().saturating_add(MAX_TEXT);
        let terms = batch.table().terms().len();
        self.names.begin_batch(terms);
        self.iris.begin_batch(terms, out);
        self.labels.begin_batch(terms, out);
    }

    fn declare(&mut self, name: &[u8], iri: &[u8], _out: &mut Vec<u8>) -> WriteResult<bool> {
        Ok(self.names.declare(name, iri))
    }

    #[inline]
    fn write(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        self.write_message(batch, message, out)
            .map_err(|stop| Self::rejection(batch.table(), stop))
    }

    fn skip(&mut self, _batch: &MessageBatch, _open: bool) -> Option<bool> {
        self.names.waiting.is_empty().then_some(false)
    }

    fn twin(&self) -> Option<Self> {
        Some(Self {
            lenient: self.lenient,
            names: self.names.clone(),
            iris: TextMemo::default(),
            labels: TextMemo::default(),
            max: self.max,
        })
    }

    fn reset(&mut self) {
        self.names = PredicateNames::default();
    }

    fn notes(&self, _messages: u64) -> Vec<Reason> {
        // The text is the same for all twins, so that their notes become one.
        let text = "the local names of some predicates have characters that XML 1.0 allows only \
                    since its fifth edition, so many readers, such as Apache Jena and all that use \
                    expat, reject them";
        let needed = self.names.needs_fifth_edition;
        needed.then(|| Reason::new(text)).into_iter().collect()
    }
}

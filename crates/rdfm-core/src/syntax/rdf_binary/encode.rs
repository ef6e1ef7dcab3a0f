//! Encodes terms of a batch.
//!
//! - In: terms of a batch.
//! - Out: the position of each encoded term among those of the batch.
//! - Cost: each term is encoded once per batch and then copied.
//! - Law: the encoding depends only on the term and, with `flat`, on the message.

use std::ops::Range;

use super::model::{NativeValue, PrefixedName, RawLiteralKind};
use super::terms::BNODE_IRI;
use super::values::from_literal;
use crate::codec::unsupported::{WriteResult, misread_iri_error, misread_tag_error};
use crate::model::error::ErrorClass;
use crate::model::remedy::{Feature, Reason};
use crate::model::table::TermTable;
use crate::model::term::{Term, TermId, TermKind, flags};
use crate::model::write::MessagePrefix;
use crate::syntax::prefixes::Prefixes;
use crate::syntax::text::encode::contains_labels;

/// Maximum encoded size in bytes of a batch, and of a message.
pub(crate) const MAX_BYTES: usize = 1 << 30;

/// Position of an encoded term among those of the batch.
#[derive(Clone, Copy, Default)]
pub(crate) struct TermRange {
    start: u32,
    length: u32,
}

impl TermRange {
    #[inline]
    pub fn length(self) -> usize {
        self.length as usize
    }

    #[inline]
    pub fn range(self) -> Range<usize> {
        self.start as usize..(self.start + self.length) as usize
    }
}

/// An encoding. Encoded terms can be copied into any position of any row.
pub(crate) trait BinaryTermWriter: Send {
    fn write_iri(out: &mut Vec<u8>, text: &[u8]);
    fn name(out: &mut Vec<u8>, name: PrefixedName<'_>);
    /// Writes a blank node. Its label begins with `label_prefix`.
    fn write_blank_node(out: &mut Vec<u8>, label_prefix: &[u8], label: &[u8]);
    fn write_literal(out: &mut Vec<u8>, lexical: &[u8], kind: RawLiteralKind<'_>);
    fn write_value(out: &mut Vec<u8>, value: NativeValue);
    /// Writes a triple term from terms that were encoded before it.
    fn write_triple(terms: &mut Vec<u8>, parts: [TermRange; 3]);
}

/// The encoded terms of a batch.
pub(crate) struct EncodedTerms {
    pub bytes: Vec<u8>,
    /// The generation and position of each encoded term, by term id.
    ranges: Vec<(u32, TermRange)>,
    generation: u32,
    /// Whether numbers are written as native values.
    values: bool,
    /// The prefixes that abbreviate IRIs, if enabled.
    pub prefixes: Option<Prefixes>,
    /// Whether all messages become one, with distinct blank node labels.
    flat: bool,
    /// Terms whose encoding differs in the next message.
    labelled: Vec<TermId>,
    /// If `flat`, the prefix of the labels of the open message.
    label_prefix: MessagePrefix,
}

impl EncodedTerms {
    pub fn new(values: bool, abbreviates: bool, flat: bool) -> Self {
        Self {
            bytes: Vec::new(),
            ranges: Vec::new(),
            generation: 0,
            values,
            prefixes: abbreviates.then(Prefixes::default),
            flat,
            labelled: Vec::new(),
            label_prefix: MessagePrefix::default(),
        }
    }

    /// Removes all terms, and makes room for a batch with this number of terms.
    pub fn begin(&mut self, terms: usize) {
        self.bytes.clear();
        self.labelled.clear();
        if self.ranges.len() < terms {
            self.ranges.resize(terms, (0, TermRange::default()));
        }
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.ranges.fill((0, TermRange::default()));
            self.generation = 1;
        }
    }

    /// Begins a message.
    pub fn begin_message(&mut self, number: u64) {
        if self.flat {
            self.label_prefix.begin(number);
            for id in self.labelled.drain(..) {
                if let Some(entry) = self.ranges.get_mut(id.index()) {
                    entry.0 = 0;
                }
            }
        }
    }

    /// Returns the position of an encoded term.
    ///
    /// # Errors
    /// If the encoding does not support the term, or all terms together become too long.
    #[inline]
    pub fn encode_term<W: BinaryTermWriter>(
        &mut self,
        table: &TermTable,
        id: TermId,
    ) -> WriteResult<TermRange> {
        match self.ranges.get(id.index()) {
            Some((generation, range)) if *generation == self.generation => Ok(*range),
            _ => self.encode_new_term::<W>(table, id),
        }
    }

    fn encode_new_term<W: BinaryTermWriter>(
        &mut self,
        table: &TermTable,
        id: TermId,
    ) -> WriteResult<TermRange> {
        let term = table.term(id);
        let text = table.text_of(term);
        // The parts of a triple term are encoded before it.
        let triple = if term.kind == TermKind::TripleTerm {
            let [s, p, o] = table.triple(term);
            let parts = [
                self.encode_term::<W>(table, s)?,
                self.encode_term::<W>(table, p)?,
                self.encode_term::<W>(table, o)?,
            ];
            let size: usize = parts.iter().map(|part| part.length()).sum();
            if size + self.bytes.len() > MAX_BYTES {
                return Err(too_long());
            }
            Some(parts)
        } else {
            None
        };
        let start = self.bytes.len();
        let bytes = &mut self.bytes;
        match (term.kind, triple) {
            (_, Some(parts)) => W::write_triple(bytes, parts),
            (TermKind::Iri, _) => {
                if text.starts_with(BNODE_IRI) {
                    return Err(misread_iri_error(text, "a blank node"));
                }
                match name(self.prefixes.as_ref(), text) {
                    Some(name) => W::name(bytes, name),
                    None => W::write_iri(bytes, text),
                }
            }
            (TermKind::BlankNode, _) if self.flat => {
                let (prefix, rest) = self.label_prefix.split(text);
                W::write_blank_node(bytes, prefix, rest);
            }
            (TermKind::BlankNode, _) => W::write_blank_node(bytes, b"", text),
            (TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral, _) => {
                let value = if self.values && term.kind == TermKind::TypedLiteral {
                    from_literal(text, table.text(TermId(term.aux)))
                } else {
                    None
                };
                match value {
                    Some(value) => W::write_value(bytes, value),
                    None if term.kind == TermKind::LangLiteral
                        && table.text(TermId(term.aux)).is_empty() =>
                    {
                        return Err(misread_tag_error(b"", "none"));
                    }
                    None => {
                        W::write_literal(bytes, text, kind(self.prefixes.as_ref(), table, term));
                    }
                }
            }
            _ => {
                return Err((
                    ErrorClass::Internal,
                    "the batch has a term in a position that does not allow its kind".into(),
                ));
            }
        }
        if self.bytes.len() > MAX_BYTES {
            return Err(too_long());
        }
        if self.flat && contains_labels(term.kind) {
            self.labelled.push(id);
        }
        let range = TermRange {
            start: start as u32,
            length: (self.bytes.len() - start) as u32,
        };
        if let Some(entry) = self.ranges.get_mut(id.index()) {
            *entry = (self.generation, range);
        }
        Ok(range)
    }
}

/// Returns the prefixed name that abbreviates an IRI.
fn name<'a>(prefixes: Option<&'a Prefixes>, iri: &'a [u8]) -> Option<PrefixedName<'a>> {
    let (prefix, local) = prefixes?.split(iri)?;
    Some(PrefixedName { prefix, local })
}

/// Kind of a literal: everything except its lexical form.
fn kind<'a>(
    prefixes: Option<&'a Prefixes>,
    table: &'a TermTable,
    term: Term,
) -> RawLiteralKind<'a> {
    match term.kind {
        TermKind::LangLiteral => {
            let tag = table.text(TermId(term.aux));
            if term.flags & flags::LTR != 0 {
                RawLiteralKind::Directed(tag, b"ltr")
            } else if term.flags & flags::RTL != 0 {
                RawLiteralKind::Directed(tag, b"rtl")
            } else {
                RawLiteralKind::Language(tag)
            }
        }
        TermKind::TypedLiteral => {
            let iri = table.text(TermId(term.aux));
            name(prefixes, iri).map_or(RawLiteralKind::Datatype(iri), RawLiteralKind::DatatypeName)
        }
        _ => RawLiteralKind::Plain,
    }
}

/// Returns the error for a message that is too long.
#[cold]
pub(crate) fn too_long() -> (ErrorClass, Reason) {
    let text = format!("the message is longer than {MAX_BYTES} bytes");
    let reason = Reason::from(text).lacking(Feature::Parts);
    (ErrorClass::Limit, reason)
}

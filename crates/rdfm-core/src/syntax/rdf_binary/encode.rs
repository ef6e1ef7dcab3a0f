//! Terms of a batch to bytes.
//!
//! - In: terms of a batch.
//! - Out: where each stands, encoded, among those of the batch.
//! - Cost: a term is encoded once a batch and copied from there.
//! - Law: what a term is written as depends on it alone; with `flat`, on the message too.

use std::ops::Range;

use super::model::{Kind, Name, Value};
use super::terms::BNODE_IRI;
use super::values::of_literal;
use crate::codec::refuse::{Refused, taken_for};
use crate::model::error::ErrorClass;
use crate::model::remedy::{Feature, Reason};
use crate::model::table::TermTable;
use crate::model::term::{Term, TermId, TermKind, flags};
use crate::model::write::{set_apart, write_apart};
use crate::syntax::prefixes::Prefixes;
use crate::syntax::text::encode::holds_labels;

/// Most bytes that one batch, or one message, may be written as.
pub(crate) const MAX_BYTES: usize = 1 << 30;

/// Where an encoded term stands among the batch's.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
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

/// An encoding. Terms are written so that they can be copied into any position of any row.
pub(crate) trait TermWriter: Send {
    fn iri(out: &mut Vec<u8>, text: &[u8]);
    fn name(out: &mut Vec<u8>, name: Name<'_>);
    /// A blank node whose label begins with `apart`.
    fn bnode(out: &mut Vec<u8>, apart: &[u8], label: &[u8]);
    fn literal(out: &mut Vec<u8>, lexical: &[u8], kind: Kind<'_>);
    fn value(out: &mut Vec<u8>, value: Value);
    /// A triple term of terms before it.
    fn triple(terms: &mut Vec<u8>, parts: [Place; 3]);
}

/// The encoded terms of a batch.
pub(crate) struct Encoded {
    pub bytes: Vec<u8>,
    /// By term id: the generation in which it was encoded, and where.
    places: Vec<(u32, Place)>,
    generation: u32,
    /// Numbers are written as values.
    values: bool,
    /// What IRIs are abbreviated with, if they are.
    pub prefixes: Option<Prefixes>,
    /// All messages become one, their labels kept apart.
    flat: bool,
    /// Of these, what is written differs in the next message.
    labelled: Vec<TermId>,
    /// With `flat`: the number of the open message, and what goes before its labels ([`set_apart`]).
    number: u64,
    apart: Vec<u8>,
}

impl Encoded {
    pub fn new(values: bool, abbreviates: bool, flat: bool) -> Self {
        Self {
            bytes: Vec::new(),
            places: Vec::new(),
            generation: 0,
            values,
            prefixes: abbreviates.then(Prefixes::default),
            flat,
            labelled: Vec::new(),
            number: 0,
            apart: Vec::new(),
        }
    }

    /// Forgets all; a batch of so many terms follows.
    pub fn begin(&mut self, terms: usize) {
        self.bytes.clear();
        self.labelled.clear();
        if self.places.len() < terms {
            self.places.resize(terms, (0, Place::default()));
        }
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.places.fill((0, Place::default()));
            self.generation = 1;
        }
    }

    /// A message begins.
    pub fn begin_message(&mut self, number: u64) {
        if self.flat {
            self.number = number;
            self.apart.clear();
            write_apart(number, &mut self.apart);
            for id in self.labelled.drain(..) {
                if let Some(entry) = self.places.get_mut(id.index()) {
                    entry.0 = 0;
                }
            }
        }
    }

    /// Where a term is encoded.
    ///
    /// # Errors
    /// The encodings cannot hold it, or together they become too long.
    #[inline]
    pub fn term<W: TermWriter>(&mut self, table: &TermTable, id: TermId) -> Refused<Place> {
        match self.places.get(id.index()) {
            Some((generation, place)) if *generation == self.generation => Ok(*place),
            _ => self.new_term::<W>(table, id),
        }
    }

    fn new_term<W: TermWriter>(&mut self, table: &TermTable, id: TermId) -> Refused<Place> {
        let term = table.term(id);
        let text = table.text_of(term);
        // The parts of a triple term go before it.
        let triple = if term.kind == TermKind::TripleTerm {
            let [s, p, o] = table.triple(term);
            let parts = [
                self.term::<W>(table, s)?,
                self.term::<W>(table, p)?,
                self.term::<W>(table, o)?,
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
                    "the batch has a term where none of its kind is allowed".into(),
                ));
            }
        }
        if self.bytes.len() > MAX_BYTES {
            return Err(too_long());
        }
        if self.flat && holds_labels(term.kind) {
            self.labelled.push(id);
        }
        let place = Place {
            start: start as u32,
            length: (self.bytes.len() - start) as u32,
        };
        if let Some(entry) = self.places.get_mut(id.index()) {
            *entry = (self.generation, place);
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

/// The error of a message that becomes too long.
#[cold]
pub(crate) fn too_long() -> (ErrorClass, Reason) {
    let text = format!("the message is longer than {MAX_BYTES} bytes");
    let reason = Reason::from(text).lacking(Feature::Parts);
    (ErrorClass::Limit, reason)
}

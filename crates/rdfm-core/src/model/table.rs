//! The terms of a batch: an arena of text, and a table of 16-byte terms over it.
//!
//! - Law: all text in the arena is valid UTF-8 (checked by the decoder). Equal ids mean equal
//!   terms, but equal terms may have different ids.

use super::term::{NO_SPLIT, Term, TermId, TermKind, flags};

/// A range of bytes in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub offset: u32,
    /// Number of bytes.
    pub length: u32,
}

/// The terms of a batch: an arena of text, the term records, and the triples of triple terms.
#[derive(Clone, Debug)]
pub struct TermTable {
    pub(super) arena: Vec<u8>,
    pub(super) terms: Vec<Term>,
    pub(super) triples: Vec<[TermId; 3]>,
}

impl TermTable {
    pub(super) fn with_capacity(arena: usize, terms: usize) -> Self {
        let mut table = Self {
            arena: Vec::with_capacity(arena),
            terms: Vec::with_capacity(terms),
            triples: Vec::new(),
        };
        table.terms.push(Term {
            offset: 0,
            length: 0,
            aux: 0,
            split: NO_SPLIT,
            kind: TermKind::DefaultGraph,
            flags: 0,
        });
        table
    }

    /// Appends a term whose text needs no escaping ([`flags::PLAIN`]).
    pub(super) fn push_text(&mut self, kind: TermKind, text: &[u8]) -> TermId {
        let id = TermId(self.terms.len() as u32);
        self.terms.push(Term {
            offset: self.arena.len() as u32,
            length: text.len() as u32,
            aux: 0,
            split: NO_SPLIT,
            kind,
            flags: flags::PLAIN,
        });
        self.arena.extend_from_slice(text);
        id
    }

    /// All term records; index 0 is the default graph.
    #[inline]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The record of a term.
    #[inline]
    pub fn term(&self, id: TermId) -> Term {
        self.terms[id.index()]
    }

    /// Text of a term: IRI, label, lexical form or tag, depending on its kind. Valid UTF-8.
    #[inline]
    pub fn text(&self, id: TermId) -> &[u8] {
        self.text_of(self.terms[id.index()])
    }

    /// Text of a term record of this table.
    #[inline]
    pub fn text_of(&self, term: Term) -> &[u8] {
        &self.arena[term.offset as usize..][..term.length as usize]
    }

    /// Text of a span of this table's arena.
    #[inline]
    pub fn span(&self, span: Span) -> &[u8] {
        &self.arena[span.offset as usize..][..span.length as usize]
    }

    /// Triple of a [`TermKind::TripleTerm`] record: subject, predicate, object.
    #[inline]
    pub fn triple(&self, term: Term) -> [TermId; 3] {
        self.triples[term.aux as usize]
    }

    /// The entire arena.
    #[inline]
    pub fn arena(&self) -> &[u8] {
        &self.arena
    }

    /// Whether a term of this table and a term of another table are equal.
    #[inline]
    pub fn is_same_term(&self, id: TermId, other: &Self, other_id: TermId) -> bool {
        let (a, b) = (self.term(id), other.term(other_id));
        a.kind == b.kind && a.length == b.length && self.has_same_content(a, other, b)
    }

    /// Whether two terms of the same kind are equal.
    fn has_same_content(&self, a: Term, other: &Self, b: Term) -> bool {
        match a.kind {
            TermKind::DefaultGraph => true,
            TermKind::Iri | TermKind::BlankNode | TermKind::Literal | TermKind::Language => {
                self.text_of(a) == other.text_of(b)
            }
            TermKind::LangLiteral => {
                let directions = crate::model::term::flags::LTR | crate::model::term::flags::RTL;
                a.flags & directions == b.flags & directions
                    && self.text_of(a) == other.text_of(b)
                    && self.text(TermId(a.aux)) == other.text(TermId(b.aux))
            }
            TermKind::TypedLiteral => {
                self.text_of(a) == other.text_of(b)
                    && self.text(TermId(a.aux)) == other.text(TermId(b.aux))
            }
            TermKind::TripleTerm => self
                .triple(a)
                .into_iter()
                .zip(other.triple(b))
                .all(|(x, y)| self.is_same_term(x, other, y)),
        }
    }
}

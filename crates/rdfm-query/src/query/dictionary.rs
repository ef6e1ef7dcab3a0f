//! Classes of equal terms in a batch.
//!
//! - In: the terms in the quads of a batch. Out: the class of equal terms for each term, and the
//!   class of a query term.
//! - Cost: each distinct term is hashed once per batch.
//! - Law: terms are equal as defined by RDF 1.2, so language tags are compared case-insensitively.
//!   Blank nodes are compared by label, so a class represents the same blank node only within one
//!   message.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use oxrdf::{BaseDirection, BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::record::Record;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind, flags};
use rustc_hash::FxHasher;

/// Class of the default graph.
pub const DEFAULT_GRAPH: u32 = TermId::DEFAULT_GRAPH.0;
/// Cell without a value.
pub const UNBOUND: u32 = u32::MAX;
const DIRECTION_FLAGS: u8 = flags::LTR | flags::RTL;

/// The content of a term, used to find equal terms.
#[derive(Clone, Copy)]
pub(super) enum Content<'a> {
    DefaultGraph,
    Iri(&'a [u8]),
    BlankNode(&'a [u8]),
    Plain(&'a [u8]),
    Typed(&'a [u8], &'a [u8]),
    Tagged(&'a [u8], &'a [u8], u8),
    Triple([u32; 3]),
}

impl Content<'_> {
    pub fn hash(self) -> u64 {
        let mut state = FxHasher::default();
        match self {
            Self::DefaultGraph => 0_u8.hash(&mut state),
            Self::Iri(text) => (1_u8, text).hash(&mut state),
            Self::BlankNode(text) => (2_u8, text).hash(&mut state),
            Self::Plain(text) => (3_u8, text).hash(&mut state),
            Self::Typed(text, datatype) => (4_u8, text, datatype).hash(&mut state),
            Self::Tagged(text, tag, direction) => {
                (5_u8, text, tag.len(), direction).hash(&mut state);
            }
            Self::Triple(triple) => (6_u8, triple).hash(&mut state),
        }
        state.finish()
    }

    pub fn is(self, other: Content<'_>) -> bool {
        match (self, other) {
            (Self::DefaultGraph, Content::DefaultGraph) => true,
            (Self::Iri(a), Content::Iri(b))
            | (Self::BlankNode(a), Content::BlankNode(b))
            | (Self::Plain(a), Content::Plain(b)) => a == b,
            (Self::Typed(a, datatype), Content::Typed(b, other)) => a == b && datatype == other,
            (Self::Tagged(a, tag, direction), Content::Tagged(b, other, other_direction)) => {
                a == b && tag.eq_ignore_ascii_case(other) && direction == other_direction
            }
            (Self::Triple(a), Content::Triple(b)) => a == b,
            _ => false,
        }
    }
}

/// Returns the content of a term in a term table. `class` returns the class of each part of a
/// triple term.
pub(super) fn content(
    table: &TermTable,
    id: TermId,
    class: impl FnMut(TermId) -> u32,
) -> Content<'_> {
    let term = table.term(id);
    let text = table.text_of(term);
    match term.kind {
        TermKind::DefaultGraph => Content::DefaultGraph,
        TermKind::Iri | TermKind::Language => Content::Iri(text),
        TermKind::BlankNode => Content::BlankNode(text),
        TermKind::Literal => Content::Plain(text),
        TermKind::TypedLiteral => Content::Typed(text, table.text(TermId(term.aux))),
        TermKind::LangLiteral => Content::Tagged(
            text,
            table.text(TermId(term.aux)),
            term.flags & DIRECTION_FLAGS,
        ),
        TermKind::TripleTerm => Content::Triple(table.triple(term).map(class)),
    }
}

/// An index of classes by the content of their terms.
#[derive(Default)]
pub(super) struct ClassIndex(HashTable<(u64, u32)>);

impl ClassIndex {
    /// Returns the class with this hash for which `is_same` is true.
    pub fn find(&self, hash: u64, is_same: impl Fn(u32) -> bool) -> Option<u32> {
        let class = self
            .0
            .find(hash, |entry| entry.0 == hash && is_same(entry.1));
        class.map(|entry| entry.1)
    }

    pub fn insert(&mut self, hash: u64, class: u32) {
        self.0.insert_unique(hash, (hash, class), |entry| entry.0);
    }
}

/// Classes of equal terms in a batch.
pub struct Dictionary<'b> {
    table: &'b TermTable,
    /// Class of each term in the term table, or [`UNBOUND`] if the term is not in a quad.
    classes: Vec<u32>,
    /// Hash of each class, which is the same in every batch.
    hashes: Vec<u32>,
    index: ClassIndex,
    /// Whether any class has terms with different spellings.
    varies: bool,
}

impl<'b> Dictionary<'b> {
    /// Creates a dictionary of the terms in a batch's quads or rows.
    pub fn of<R: Record>(batch: &'b LogBatch<R>) -> Self {
        let table = batch.table();
        let mut dictionary = Self {
            table,
            classes: vec![UNBOUND; table.terms().len()],
            hashes: vec![0; table.terms().len()],
            index: ClassIndex::default(),
            varies: false,
        };
        dictionary.add(TermId::DEFAULT_GRAPH);
        for record in batch.records() {
            record.each(|id| {
                if dictionary.classes[id.index()] == UNBOUND {
                    dictionary.add(id);
                }
            });
        }
        dictionary
    }

    /// Adds a term and returns its class. The recursion depth is the nesting depth of triple terms.
    fn add(&mut self, id: TermId) -> u32 {
        let class = self.classes[id.index()];
        if class != UNBOUND {
            return class;
        }
        let table = self.table;
        let term_content = content(table, id, |part| self.add(part));
        let same = |class: u32| term_content.is(self.content(class));
        let hash = term_content.hash();
        let class = if let Some(class) = self.index.find(hash, same) {
            self.varies |= self.is_spelled_differently(TermId(class), id);
            class
        } else {
            self.index.insert(hash, id.0);
            self.hashes[id.index()] = if let Content::Triple(parts) = term_content {
                triple_hash(parts.map(|part| self.hash(part)))
            } else {
                (hash >> 32) as u32
            };
            id.0
        };
        self.classes[id.index()] = class;
        class
    }

    fn content(&self, class: u32) -> Content<'_> {
        content(self.table, TermId(class), |part| self.classes[part.index()])
    }

    /// Whether two equal terms have different spellings, which can only occur in language tags.
    fn is_spelled_differently(&self, a: TermId, b: TermId) -> bool {
        !self.table.is_same_term(a, self.table, b)
    }

    /// Returns the class of a term that is in a quad.
    #[inline]
    pub fn class(&self, id: TermId) -> u32 {
        self.classes[id.index()]
    }

    /// Returns a number for ordering and hashing. Unlike the class, it is the same in every batch.
    #[inline]
    pub fn hash(&self, class: u32) -> u32 {
        self.hashes[class as usize]
    }

    /// Returns the number of terms in the term table. Every class is less than this number.
    pub fn terms(&self) -> u32 {
        self.classes.len() as u32
    }

    /// Whether any class has terms with different spellings.
    pub fn is_varying(&self) -> bool {
        self.varies
    }

    /// Returns the term table.
    pub fn table(&self) -> &'b TermTable {
        self.table
    }

    /// Returns the class of a query term, if the batch contains an equal term.
    pub fn find(&self, term: &Term) -> Option<u32> {
        let content = match term {
            Term::Triple(triple) => Content::Triple([
                self.find(&triple.subject.clone().into())?,
                self.find(&triple.predicate.clone().into())?,
                self.find(&triple.object)?,
            ]),
            _ => simple(term),
        };
        let is = |class| content.is(self.content(class));
        self.index.find(content.hash(), is)
    }

    /// Returns the class of a query term, if the representative term of the class has the same
    /// spelling.
    pub fn find_as_written(&self, term: &Term) -> Option<u32> {
        self.find(term)
            .filter(|class| self.is_spelled_as(*class, term))
    }

    /// Whether the representative term of a class has the same spelling as an equal term.
    pub fn is_spelled_as(&self, class: u32, term: &Term) -> bool {
        !may_vary(term) || self.term(class).as_ref() == Some(term)
    }

    /// Returns a term of the term table as written. Returns `None` for a triple term that is
    /// invalid in RDF 1.2, for example if its subject is a literal.
    pub fn term(&self, id: u32) -> Option<Term> {
        self.read(id, false)
    }

    /// Returns a term of the term table as expressions use it, with lower-case language tags like
    /// those of queries. Returns `None` in the same cases as `term`.
    pub fn value(&self, id: u32) -> Option<Term> {
        self.read(id, true)
    }

    /// Reads a term. The recursion depth is the nesting depth of triple terms.
    fn read(&self, id: u32, lower: bool) -> Option<Term> {
        let term = self.table.term(TermId(id));
        let text = to_string(self.table.text_of(term));
        Some(match term.kind {
            TermKind::DefaultGraph => return None,
            TermKind::Iri | TermKind::Language => NamedNode::new_unchecked(text).into(),
            TermKind::BlankNode => BlankNode::new_unchecked(text).into(),
            TermKind::Literal => Literal::new_simple_literal(text).into(),
            TermKind::TypedLiteral => {
                let datatype = to_string(self.table.text(TermId(term.aux)));
                Literal::new_typed_literal(text, NamedNode::new_unchecked(datatype)).into()
            }
            TermKind::LangLiteral => {
                let mut tag = to_string(self.table.text(TermId(term.aux)));
                if lower {
                    tag.make_ascii_lowercase();
                }
                let direction = match term.flags & DIRECTION_FLAGS {
                    flags::LTR => Some(BaseDirection::Ltr),
                    flags::RTL => Some(BaseDirection::Rtl),
                    _ => None,
                };
                match direction {
                    None => Literal::new_language_tagged_literal_unchecked(text, tag),
                    Some(direction) => Literal::new_directional_language_tagged_literal_unchecked(
                        text, tag, direction,
                    ),
                }
                .into()
            }
            TermKind::TripleTerm => {
                let [subject, predicate, object] = self.table.triple(term);
                let subject = match self.read(subject.0, lower)? {
                    Term::NamedNode(iri) => NamedOrBlankNode::from(iri),
                    Term::BlankNode(node) => node.into(),
                    _ => return None,
                };
                let Term::NamedNode(predicate) = self.read(predicate.0, lower)? else {
                    return None;
                };
                Triple::new(subject, predicate, self.read(object.0, lower)?).into()
            }
        })
    }
}

/// Returns the content of a query term that is not a triple term.
pub(super) fn simple(term: &Term) -> Content<'_> {
    match term {
        Term::NamedNode(iri) => Content::Iri(iri.as_str().as_bytes()),
        Term::BlankNode(node) => Content::BlankNode(node.as_str().as_bytes()),
        Term::Literal(literal) => {
            let text = literal.value().as_bytes();
            match (literal.language(), literal.datatype()) {
                (Some(tag), _) => {
                    Content::Tagged(text, tag.as_bytes(), direction(literal.direction()))
                }
                (None, oxrdf::vocab::xsd::STRING) => Content::Plain(text),
                (None, datatype) => Content::Typed(text, datatype.as_str().as_bytes()),
            }
        }
        Term::Triple(_) => Content::DefaultGraph,
    }
}

/// Returns the hash of a query term. It is equal to [`Dictionary::hash`] of the term's class.
pub fn hash_of(term: &Term) -> u32 {
    match term {
        Term::Triple(triple) => triple_hash([
            hash_of(&triple.subject.clone().into()),
            hash_of(&triple.predicate.clone().into()),
            hash_of(&triple.object),
        ]),
        _ => (simple(term).hash() >> 32) as u32,
    }
}

fn triple_hash(parts: [u32; 3]) -> u32 {
    let mut state = FxHasher::default();
    parts.hash(&mut state);
    (state.finish() >> 32) as u32
}

/// Whether a term can be equal to a term with a different spelling.
pub fn may_vary(term: &Term) -> bool {
    match term {
        Term::Literal(literal) => literal.language().is_some(),
        Term::Triple(_) => true,
        Term::NamedNode(_) | Term::BlankNode(_) => false,
    }
}

/// Returns the flag of a base direction.
pub(super) const fn direction(direction: Option<BaseDirection>) -> u8 {
    match direction {
        None => 0,
        Some(BaseDirection::Ltr) => flags::LTR,
        Some(BaseDirection::Rtl) => flags::RTL,
    }
}

/// Converts a string of the term table, which is valid UTF-8.
fn to_string(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

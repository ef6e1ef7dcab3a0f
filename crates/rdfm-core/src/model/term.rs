//! Terms as a batch holds them: fixed-size records over the batch's arena.
//!
//! - In: offsets into an arena, made by a decoder.
//! - Out: [`Term`], 16 bytes each, addressed by [`TermId`].
//! - Law: equal ids within a batch mean equal terms, never the reverse.

/// Index of a term in its batch's term table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct TermId(pub u32);

impl TermId {
    /// The default graph: term 0 of every batch. It stands in the graph position only.
    pub const DEFAULT_GRAPH: Self = Self(0);

    /// Position in the term table.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a term is; also says how [`Term::aux`] is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TermKind {
    /// The default graph (term 0). No text.
    DefaultGraph,
    /// An IRI; the text is the IRI without angle brackets.
    Iri,
    /// A blank node; the text is the label without `_:`.
    Bnode,
    /// A literal of datatype xsd:string; the text is the lexical form.
    Literal,
    /// A language-tagged literal; `aux` is the id of a [`TermKind::Language`] entry.
    LangLiteral,
    /// A literal of another datatype; `aux` is the id of the datatype's IRI term.
    TypedLiteral,
    /// A language tag, referred to by literals; never stands in a quad.
    Language,
    /// A triple term; `aux` is the index of its triple in the triple table. No text.
    TripleTerm,
}

/// Flags of a term (a bit set).
pub mod flags {
    /// The text needs no escape and no check in any text grammar: an IRI whose characters are all
    /// allowed in `IRIREF`, a lexical form without `"`, `\`, LF, CR, or other control characters,
    /// a label that is a `BLANK_NODE_LABEL` of N-Triples, a tag that is a `LANG_DIR` without `@`.
    /// Not set means unknown.
    pub const PLAIN: u8 = 1;
    /// On a [`super::TermKind::LangLiteral`]: base direction left to right.
    pub const LTR: u8 = 2;
    /// On a [`super::TermKind::LangLiteral`]: base direction right to left.
    pub const RTL: u8 = 4;
}

/// One entry of a batch's term table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Term {
    /// First byte of the text in the arena.
    pub offset: u32,
    /// Bytes of the text.
    pub length: u32,
    /// Datatype or language term id, or triple index, by [`Term::kind`].
    pub aux: u32,
    /// Length of the prefix part of an IRI where a codec knows it (Jelly's split, or a namespace);
    /// [`NO_SPLIT`] where it does not.
    pub split: u16,
    /// What the term is.
    pub kind: TermKind,
    /// [`flags`].
    pub flags: u8,
}

/// [`Term::split`] of an IRI whose split is not known or does not fit.
pub const NO_SPLIT: u16 = u16::MAX;

/// A quad: four term ids. `graph` is [`TermId::DEFAULT_GRAPH`] for the default graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Quad {
    /// Subject.
    pub subject: TermId,
    /// Predicate.
    pub predicate: TermId,
    /// Object.
    pub object: TermId,
    /// Graph.
    pub graph: TermId,
}

/// The IRI of xsd:string: typed literals of it are stored as [`TermKind::Literal`].
pub const XSD_STRING: &[u8] = b"http://www.w3.org/2001/XMLSchema#string";

//! Terms in a batch: fixed-size records over the batch's arena.
//!
//! - In: offsets into an arena, from a decoder.
//! - Out: [`Term`], 16 bytes each, addressed by [`TermId`].
//! - Law: equal ids within a batch mean equal terms, but equal terms may have different ids.

/// Index of a term in its batch's term table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct TermId(pub u32);

impl TermId {
    /// The default graph: term 0 of every batch. Occurs only in the graph position.
    pub const DEFAULT_GRAPH: Self = Self(0);

    /// Index in the term table.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Kind of a term, which also determines the meaning of [`Term::aux`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TermKind {
    /// The default graph (term 0). No text.
    DefaultGraph,
    /// An IRI; the text is the IRI without angle brackets.
    Iri,
    /// A blank node; the text is the label without `_:`.
    BlankNode,
    /// A literal of datatype xsd:string; the text is the lexical form.
    Literal,
    /// A language-tagged literal; `aux` is the id of a [`TermKind::Language`] entry.
    LangLiteral,
    /// A literal of another datatype; `aux` is the id of the datatype's IRI term.
    TypedLiteral,
    /// A language tag, referenced by literals; never in a quad.
    Language,
    /// A triple term; `aux` is the index of its triple in the triple table. No text.
    TripleTerm,
}

/// Flags of a term (a bit set).
pub mod flags {
    /// The text needs no escaping and no check in any text grammar. An IRI is absolute and has only
    /// characters that `IRIREF` allows. A lexical form contains no `"`, `\`, LF, CR, or other
    /// control characters, and neither U+FFFE nor U+FFFF. A label is a `BLANK_NODE_LABEL` of
    /// N-Triples, and a tag is a `LANG_DIR` without `@`. If the flag is not set, these properties
    /// are unknown.
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
    /// Offset of the text in the arena.
    pub offset: u32,
    /// Length of the text in bytes.
    pub length: u32,
    /// Term id of the datatype or language, or triple index, depending on [`Term::kind`].
    pub aux: u32,
    /// Length of the prefix part of an IRI if a codec knows it (Jelly's split, or a namespace);
    /// otherwise [`NO_SPLIT`].
    pub split: u16,
    /// Kind of the term.
    pub kind: TermKind,
    /// Bit set of [`flags`].
    pub flags: u8,
}

/// [`Term::split`] of an IRI if the split is unknown or too long.
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

/// IRI of xsd:string. Literals of this datatype are stored as [`TermKind::Literal`].
pub const XSD_STRING: &[u8] = b"http://www.w3.org/2001/XMLSchema#string";

const RDF_LANG_STRING: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
const RDF_DIR_LANG_STRING: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString";

/// Whether a datatype requires a language tag. Literals with a tag are [`TermKind::LangLiteral`]s,
/// without a datatype term.
#[inline]
pub fn is_language_type(datatype: &[u8]) -> bool {
    // Writers call this for each literal, so the lengths are compared first.
    match datatype.len() {
        53 => datatype == RDF_LANG_STRING,
        56 => datatype == RDF_DIR_LANG_STRING,
        _ => false,
    }
}

const _: () = assert!(RDF_LANG_STRING.len() == 53 && RDF_DIR_LANG_STRING.len() == 56);

//! The IRIs that nanopublications use, and cached properties of a batch's terms.

use oxiri::Iri;
use rdfm_core::model::datatypes::Datatype;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind};
use rdfm_core::model::write::{write_iri, write_string, write_term};
use rustc_hash::FxHashMap;

const NP: &[u8] = b"http://www.nanopub.org/nschema#";
const NPX: &[u8] = b"http://purl.org/nanopub/x/";
const DCTERMS: &[u8] = b"http://purl.org/dc/terms/";
const DC: &[u8] = b"http://purl.org/dc/elements/1.1/";
const PAV: &[u8] = b"http://purl.org/pav/";
const PROV: &[u8] = b"http://www.w3.org/ns/prov#";
const RDF: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const CC: &[u8] = b"http://creativecommons.org/ns#";

/// Maximum length of a term in an error message, in characters.
const MAX_SHOWN_CHARS: usize = 160;

/// The meaning of an IRI in a nanopublication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IriMeaning {
    Other,
    Type,
    Nanopublication,
    HasAssertion,
    HasProvenance,
    HasPublicationInfo,
    HasSignatureTarget,
    HasSignatureElement,
    HasAlgorithm,
    HasPublicKey,
    HasSignature,
    HasNanopubType,
    Introduces,
    Describes,
    Embeds,
    Retracts,
    Supersedes,
    DeclaredBy,
    Creator,
    Created,
    License,
    Rights,
}

impl IriMeaning {
    /// Returns the meaning of an IRI.
    fn from_iri(iri: &[u8]) -> Self {
        if let Some(local) = iri.strip_prefix(NP) {
            match local {
                b"Nanopublication" => Self::Nanopublication,
                b"hasAssertion" => Self::HasAssertion,
                b"hasProvenance" => Self::HasProvenance,
                b"hasPublicationInfo" => Self::HasPublicationInfo,
                _ => Self::Other,
            }
        } else if let Some(local) = iri.strip_prefix(NPX) {
            match local {
                b"hasSignatureTarget" => Self::HasSignatureTarget,
                b"hasSignatureElement" => Self::HasSignatureElement,
                b"hasAlgorithm" => Self::HasAlgorithm,
                b"hasPublicKey" => Self::HasPublicKey,
                b"hasSignature" => Self::HasSignature,
                b"hasNanopubType" => Self::HasNanopubType,
                b"introduces" => Self::Introduces,
                b"describes" => Self::Describes,
                b"embeds" => Self::Embeds,
                b"retracts" => Self::Retracts,
                b"supersedes" => Self::Supersedes,
                b"declaredBy" => Self::DeclaredBy,
                _ => Self::Other,
            }
        } else if let Some(local) = iri.strip_prefix(DCTERMS) {
            match local {
                b"creator" => Self::Creator,
                b"created" => Self::Created,
                b"license" => Self::License,
                b"rights" => Self::Rights,
                _ => Self::Other,
            }
        } else if let Some(local) = iri.strip_prefix(PAV) {
            match local {
                b"createdBy" => Self::Creator,
                b"createdOn" => Self::Created,
                _ => Self::Other,
            }
        } else if let Some(local) = iri.strip_prefix(PROV) {
            match local {
                b"wasAttributedTo" => Self::Creator,
                b"generatedAtTime" => Self::Created,
                _ => Self::Other,
            }
        } else if iri.strip_prefix(RDF) == Some(b"type") {
            Self::Type
        } else if let Some(local) = iri.strip_prefix(DC) {
            match local {
                b"creator" => Self::Creator,
                b"rights" => Self::Rights,
                _ => Self::Other,
            }
        } else if iri.strip_prefix(CC) == Some(b"license") {
            Self::License
        } else {
            Self::Other
        }
    }
}

/// Kind and text of a term.
pub(super) type TermKey<'a> = (u8, &'a [u8]);

/// The terms of a batch, with properties that are determined once per term.
#[derive(Debug)]
pub(super) struct Vocabulary<'a> {
    pub table: &'a TermTable,
    meanings: Vec<Option<IriMeaning>>,
    well_formed: Vec<Option<bool>>,
    datatypes: FxHashMap<u32, Option<Datatype>>,
}

impl<'a> Vocabulary<'a> {
    pub fn new(table: &'a TermTable) -> Self {
        Self {
            table,
            meanings: vec![None; table.terms().len()],
            well_formed: Vec::new(),
            datatypes: FxHashMap::default(),
        }
    }

    /// Meaning of a term, or `Other` if it is not an IRI.
    pub fn find_meaning(&mut self, id: TermId) -> IriMeaning {
        if let Some(meaning) = self.meanings[id.index()] {
            return meaning;
        }
        let meaning = match self.table.term(id).kind {
            TermKind::Iri => IriMeaning::from_iri(self.table.text(id)),
            _ => IriMeaning::Other,
        };
        self.meanings[id.index()] = Some(meaning);
        meaning
    }

    /// Whether an IRI conforms to RFC 3987.
    pub fn is_well_formed(&mut self, id: TermId) -> bool {
        if self.well_formed.is_empty() {
            self.well_formed = vec![None; self.meanings.len()];
        }
        *self.well_formed[id.index()].get_or_insert_with(|| {
            std::str::from_utf8(self.table.text(id)).is_ok_and(|text| Iri::parse(text).is_ok())
        })
    }

    /// Returns the datatype of a literal if its lexical form is invalid.
    pub fn find_violated_datatype(&mut self, id: TermId) -> Option<Datatype> {
        let term = self.table.term(id);
        if term.kind != TermKind::TypedLiteral {
            return None;
        }
        let datatype_of = |aux| Datatype::from_iri(self.table.text(TermId(aux)));
        let datatype = *self
            .datatypes
            .entry(term.aux)
            .or_insert_with_key(|aux| datatype_of(*aux));
        datatype.filter(|datatype| !datatype.allows(self.table.text_of(term)))
    }

    /// A key that is equal for equal IRIs, blank nodes and plain literals.
    pub fn key(&self, id: TermId) -> TermKey<'a> {
        let term = self.table.term(id);
        (term.kind as u8, self.table.text_of(term))
    }

    /// Whether two terms are equal.
    pub fn are_same(&self, a: TermId, b: TermId) -> bool {
        a == b || self.table.is_same_term(a, self.table, b)
    }

    pub fn is_iri(&self, id: TermId) -> bool {
        self.table.term(id).kind == TermKind::Iri
    }

    /// The text of a term: an IRI without brackets, or the lexical form of a literal.
    pub fn string(&self, id: TermId) -> String {
        String::from_utf8_lossy(self.table.text(id)).into_owned()
    }

    /// The term as in N-Triples, for an error message. Long terms are shortened in the middle.
    pub fn quote(&self, id: TermId) -> String {
        let mut out = Vec::new();
        if self.is_iri(id) {
            write_iri(self.table.text(id), false, &mut out);
        } else {
            write_term(self.table, id, &mut out);
        }
        let text = String::from_utf8_lossy(&out).into_owned();
        let count = text.chars().count();
        if count <= MAX_SHOWN_CHARS {
            return text;
        }
        let half = MAX_SHOWN_CHARS / 2;
        let start: String = text.chars().take(half).collect();
        let end: String = text.chars().skip(count - half).collect();
        format!("{start}…{end}")
    }

    /// The term as it is usually written in text logs.
    pub fn write_term(&self, id: TermId) -> Vec<u8> {
        let mut out = Vec::new();
        write_term(self.table, id, &mut out);
        out
    }

    /// The literal as it is usually written in text logs, up to the `^^` before its datatype.
    pub fn write_string(&self, id: TermId) -> Vec<u8> {
        let mut out = Vec::new();
        write_string(self.table.text(id), false, &mut out);
        out.extend_from_slice(b"^^");
        out
    }
}

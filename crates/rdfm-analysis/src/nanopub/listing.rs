//! Descriptions of nanopublications: their creators, creation times and topics.
//!
//! - In: a nanopublication. Out: one [`Description`].
//! - Cost: one pass over its quads.
//! - Law: nothing is checked. Missing values are empty.

use std::fmt::Write as _;

use rdfm_core::model::term::{Quad, TermId, TermKind};
use rustc_hash::FxHashSet;
use sha2::{Digest, Sha256};

use super::signature;
use super::structure::{ASSERTION, INFO, PROVENANCE, Structure};
use super::vocabulary::{IriMeaning, TermKey, Vocabulary};

/// Description of a nanopublication. Values are in the order of the quads, without repetitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Index of the message in its batch.
    pub message: usize,
    /// The IRI of the nanopublication.
    pub uri: String,
    /// Creators, as IRIs or names.
    pub creators: Vec<String>,
    /// Creation time: an xsd:dateTime, or a date.
    pub created: Option<String>,
    /// License, or rights if there is no license.
    pub license: Option<String>,
    /// Types, by the rules of the Java library nanopub-java.
    pub types: Vec<String>,
    /// Resources that the nanopublication introduces.
    pub introduces: Vec<String>,
    /// Nanopublications that this one retracts.
    pub retracts: Vec<String>,
    /// Nanopublications that this one supersedes.
    pub supersedes: Vec<String>,
    /// Hexadecimal SHA-256 hash of the public key's text. Registries identify keys by this hash.
    pub pubkey_hash: Option<String>,
}

/// Describes a nanopublication.
pub(super) fn describe(
    terms: &mut Vocabulary,
    quads: &[Quad],
    structure: &Structure,
    message: usize,
) -> Description {
    let (mut created, mut license, mut rights) = (None, None, None);
    let (mut creators, mut types, mut introduces) = (Vec::new(), Vec::new(), Vec::new());
    let mut topics = FxHashSet::default();
    for quad in structure.quads(quads, INFO) {
        if !terms.are_same(quad.subject, structure.uri) {
            continue;
        }
        let is_iri = terms.is_iri(quad.object);
        match terms.find_meaning(quad.predicate) {
            IriMeaning::Creator => creators.push(quad.object),
            IriMeaning::Created if created.is_none() && !is_iri => created = Some(quad.object),
            IriMeaning::License if license.is_none() => license = Some(quad.object),
            IriMeaning::Rights if rights.is_none() => rights = Some(quad.object),
            IriMeaning::Type | IriMeaning::HasNanopubType if is_iri => types.push(quad.object),
            IriMeaning::Introduces if is_iri => {
                topics.insert(terms.key(quad.object));
                introduces.push(quad.object);
            }
            IriMeaning::Describes | IriMeaning::Embeds if is_iri => {
                topics.insert(terms.key(quad.object));
            }
            _ => {}
        }
    }
    let (mut retracts, mut supersedes) = (Vec::new(), Vec::new());
    for quad in quads {
        match terms.find_meaning(quad.predicate) {
            IriMeaning::Retracts if terms.is_iri(quad.object) => retracts.push(quad.object),
            IriMeaning::Supersedes
                if terms.is_iri(quad.object) && terms.are_same(quad.subject, structure.uri) =>
            {
                supersedes.push(quad.object);
            }
            _ => {}
        }
    }
    add_types(terms, quads, structure, &topics, &mut types);
    let public_key = signature::find_public_key(terms, quads, structure);
    Description {
        message,
        uri: terms.string(structure.uri),
        creators: distinct(terms, &creators),
        created: created.map(|id| terms.string(id)),
        license: license.or(rights).map(|id| terms.string(id)),
        types: distinct(terms, &types),
        introduces: distinct(terms, &introduces),
        retracts: distinct(terms, &retracts),
        supersedes: distinct(terms, &supersedes),
        pubkey_hash: public_key.map(|key| hexadecimal(&Sha256::digest(terms.table.text(key)))),
    }
}

/// Adds the types that follow from the provenance and the assertion, by the rules of
/// `NanopubUtils.getTypes` in nanopub-java.
fn add_types(
    terms: &mut Vocabulary,
    quads: &[Quad],
    structure: &Structure,
    topics: &FxHashSet<TermKey>,
    types: &mut Vec<TermId>,
) {
    let assertion = structure.graphs[ASSERTION].unwrap_or(structure.uri);
    for quad in structure.quads(quads, PROVENANCE) {
        if terms.find_meaning(quad.predicate) == IriMeaning::Type
            && terms.is_iri(quad.object)
            && terms.are_same(quad.subject, assertion)
        {
            types.push(quad.object);
        }
    }
    let Some(first) = structure.quads(quads, ASSERTION).next() else {
        return;
    };
    let one_subject =
        (structure.quads(quads, ASSERTION)).all(|quad| terms.are_same(quad.subject, first.subject));
    let one_predicate = (structure.quads(quads, ASSERTION))
        .all(|quad| terms.are_same(quad.predicate, first.predicate));
    for quad in structure.quads(quads, ASSERTION) {
        match terms.find_meaning(quad.predicate) {
            IriMeaning::Type
                if terms.is_iri(quad.object)
                    && (one_subject
                        || terms.are_same(quad.subject, assertion)
                        || topics.contains(&terms.key(quad.subject))) =>
            {
                types.push(quad.object);
            }
            IriMeaning::DeclaredBy => types.push(quad.predicate),
            _ => {}
        }
    }
    if one_predicate {
        types.push(first.predicate);
    }
}

/// The distinct terms as text. Blank nodes and triple terms are skipped, because blank node labels
/// are meaningless outside the message.
fn distinct(terms: &Vocabulary, ids: &[TermId]) -> Vec<String> {
    let mut seen = FxHashSet::default();
    ids.iter()
        .filter(|id| {
            let kind = terms.table.term(**id).kind;
            !matches!(kind, TermKind::BlankNode | TermKind::TripleTerm)
                && seen.insert(terms.table.text(**id))
        })
        .map(|id| terms.string(*id))
        .collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

//! Descriptions of nanopublications: who made them, when, and what they are about.
//!
//! - In: a nanopublication. Out: one [`Description`].
//! - Cost: one pass over its quads.
//! - Law: nothing is checked; a missing value is empty.

use std::fmt::Write as _;

use rdfm_core::model::term::{Quad, TermId, TermKind};
use sha2::{Digest, Sha256};

use super::signature;
use super::structure::{ASSERTION, INFO, PROVENANCE, Structure};
use super::vocabulary::{Vocabulary, Word};

/// Description of a nanopublication. Values are in the order of the quads, without repetitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Number of the message in its batch.
    pub message: usize,
    /// The IRI of the nanopublication.
    pub uri: String,
    /// Creators, as IRIs or names.
    pub creators: Vec<String>,
    /// Time of creation: an xsd:dateTime, or a date.
    pub created: Option<String>,
    /// License; without one, rights.
    pub license: Option<String>,
    /// Types, by the rules of the Java library `nanopub`.
    pub types: Vec<String>,
    /// Things that it introduces.
    pub introduces: Vec<String>,
    /// Nanopublications that it retracts.
    pub retracts: Vec<String>,
    /// Nanopublications that it supersedes.
    pub supersedes: Vec<String>,
    /// SHA-256 of the text of the public key, in hexadecimal, as registries identify keys.
    pub pubkey_hash: Option<String>,
}

/// Describes a nanopublication.
pub(super) fn describe(
    terms: &mut Vocabulary,
    quads: &[Quad],
    found: &Structure,
    message: usize,
) -> Description {
    let mut made = Description {
        message,
        uri: terms.string(found.uri),
        ..Description::default()
    };
    let mut rights = None;
    let mut topics = Vec::new();
    let mut types = Vec::new();
    for quad in found.quads(quads, INFO) {
        if !terms.same(quad.subject, found.uri) {
            continue;
        }
        let is_iri = terms.is_iri(quad.object);
        match terms.word(quad.predicate) {
            Word::Creator => add(&mut made.creators, terms, quad.object),
            Word::Created if made.created.is_none() && !is_iri => {
                made.created = Some(terms.string(quad.object));
            }
            Word::License if made.license.is_none() => {
                made.license = Some(terms.string(quad.object));
            }
            Word::Rights if rights.is_none() => rights = Some(terms.string(quad.object)),
            Word::Type | Word::HasNanopubType if is_iri => types.push(quad.object),
            Word::Introduces if is_iri => {
                topics.push(quad.object);
                add(&mut made.introduces, terms, quad.object);
            }
            Word::Describes | Word::Embeds if is_iri => topics.push(quad.object),
            _ => {}
        }
    }
    made.license = made.license.or(rights);
    for quad in quads {
        if terms.is_iri(quad.object) {
            match terms.word(quad.predicate) {
                Word::Retracts => add(&mut made.retracts, terms, quad.object),
                Word::Supersedes if terms.same(quad.subject, found.uri) => {
                    add(&mut made.supersedes, terms, quad.object);
                }
                _ => {}
            }
        }
    }
    add_types(terms, quads, found, &topics, &mut types);
    for id in types {
        add(&mut made.types, terms, id);
    }
    made.pubkey_hash = signature::public_key(terms, quads, found)
        .map(|key| hexadecimal(&Sha256::digest(terms.table.text(key))));
    made
}

/// Adds types that follow from the provenance and the assertion, as `NanopubUtils.getTypes` of nanopub-java does.
fn add_types(
    terms: &mut Vocabulary,
    quads: &[Quad],
    found: &Structure,
    topics: &[TermId],
    types: &mut Vec<TermId>,
) {
    let assertion = found.graphs[ASSERTION].unwrap_or(found.uri);
    for quad in found.quads(quads, PROVENANCE) {
        if terms.word(quad.predicate) == Word::Type
            && terms.is_iri(quad.object)
            && terms.same(quad.subject, assertion)
        {
            types.push(quad.object);
        }
    }
    let Some(first) = found.quads(quads, ASSERTION).next() else {
        return;
    };
    let one_subject =
        (found.quads(quads, ASSERTION)).all(|quad| terms.same(quad.subject, first.subject));
    let one_predicate =
        (found.quads(quads, ASSERTION)).all(|quad| terms.same(quad.predicate, first.predicate));
    for quad in found.quads(quads, ASSERTION) {
        match terms.word(quad.predicate) {
            Word::Type if terms.is_iri(quad.object) => {
                let about = |topic: &TermId| terms.same(quad.subject, *topic);
                if one_subject || about(&assertion) || topics.iter().any(about) {
                    types.push(quad.object);
                }
            }
            Word::DeclaredBy => types.push(quad.predicate),
            _ => {}
        }
    }
    if one_predicate {
        types.push(first.predicate);
    }
}

/// Adds the text of a term if it is new. Blank nodes are not added: their labels mean nothing outside their message.
fn add(values: &mut Vec<String>, terms: &Vocabulary, id: TermId) {
    if matches!(
        terms.table.term(id).kind,
        TermKind::Bnode | TermKind::TripleTerm
    ) {
        return;
    }
    let text = terms.string(id);
    if !values.contains(&text) {
        values.push(text);
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

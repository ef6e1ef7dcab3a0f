//! Nanopublication signatures: the element in the publication info, and the digest that the
//! signature covers.
//!
//! - In: a nanopublication. Out: the values of its signature element, or a problem.
//! - Law: keys are not used here. The caller verifies the signature with a cryptographic library.

use rdfm_core::model::term::{Quad, TermId, TermKind};

use super::structure::{INFO, Structure};
use super::vocabulary::{IriMeaning, Vocabulary};
use super::{NanopubRule, Violation};

/// The values of a signature element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// "RSA" or "DSA".
    pub algorithm: String,
    /// The public key: a DER `SubjectPublicKeyInfo` in Base64.
    pub public_key: String,
    /// The signature in Base64.
    pub signature: String,
    /// The SHA-256 digest of the signed text.
    pub digest: [u8; 32],
}

/// The signature element of a nanopublication.
pub(super) struct SignatureElement {
    pub algorithm: TermId,
    pub public_key: TermId,
    pub signature: TermId,
    /// The quad with the signature value. The signature does not cover this quad.
    pub quad: Quad,
}

/// Finds the signature element. Adds a problem if the element is incomplete or repeated, or uses
/// the old scheme.
pub(super) fn find(
    terms: &mut Vocabulary,
    quads: &[Quad],
    structure: &Structure,
    problems: &mut Vec<Violation>,
) -> Option<SignatureElement> {
    let mut element: Option<TermId> = None;
    let (mut is_old, mut has_signature) = (false, false);
    for quad in structure.quads(quads, INFO) {
        match terms.find_meaning(quad.predicate) {
            IriMeaning::HasSignatureTarget if terms.are_same(quad.object, structure.uri) => {
                if let Some(first) = element
                    && !terms.are_same(first, quad.subject)
                {
                    let (a, b) = (terms.quote(first), terms.quote(quad.subject));
                    let text =
                        format!("there are two signature elements, {a} and {b}, expected one");
                    problems.push(problem(text, terms.write_term(quad.subject)));
                    return None;
                }
                element = Some(quad.subject);
            }
            IriMeaning::HasSignatureElement => is_old = true,
            IriMeaning::HasSignature => has_signature = true,
            _ => {}
        }
    }
    let Some(element) = element else {
        if is_old {
            let text =
                "the signature uses the old scheme (npx:hasSignatureElement) and is not checked";
            problems.push(Violation::warning(
                NanopubRule::OldSignature,
                text.to_owned(),
                Vec::new(),
            ));
        } else if has_signature {
            let text = format!(
                "there is a signature, but no npx:hasSignatureTarget with the value {}",
                terms.quote(structure.uri)
            );
            problems.push(problem(text, Vec::new()));
        }
        return None;
    };
    if !terms.is_iri(element) {
        let text = format!(
            "the signature element {} is not an IRI",
            terms.quote(element)
        );
        problems.push(problem(text, Vec::new()));
        return None;
    }
    let mut value = |terms: &mut Vocabulary, meaning: IriMeaning, name: &str| {
        let mut first: Option<Quad> = None;
        for quad in structure.quads(quads, INFO) {
            if terms.find_meaning(quad.predicate) != meaning
                || !terms.are_same(quad.subject, element)
            {
                continue;
            }
            if first.is_some_and(|first| !terms.are_same(first.object, quad.object)) {
                let text = format!("the signature element has two values of {name}, expected one");
                problems.push(problem(text, terms.write_term(element)));
                return None;
            }
            first = Some(*quad);
        }
        let text = match first {
            Some(quad) if terms.table.term(quad.object).kind == TermKind::Literal => return first,
            Some(quad) => format!(
                "the value of {name} is {}, expected a string",
                terms.quote(quad.object)
            ),
            None => format!("the signature element has no {name}"),
        };
        problems.push(problem(text, terms.write_term(element)));
        None
    };
    let algorithm = value(terms, IriMeaning::HasAlgorithm, "npx:hasAlgorithm")?.object;
    let public_key = value(terms, IriMeaning::HasPublicKey, "npx:hasPublicKey")?.object;
    let quad = value(terms, IriMeaning::HasSignature, "npx:hasSignature")?;
    if !matches!(terms.table.text(algorithm), b"RSA" | b"DSA") {
        let text = format!(
            "the signature algorithm is {}, expected \"RSA\" or \"DSA\"",
            terms.quote(algorithm)
        );
        problems.push(problem(text, terms.write_term(element)));
        return None;
    }
    Some(SignatureElement {
        algorithm,
        public_key,
        signature: quad.object,
        quad,
    })
}

/// Returns the public key of the signature element, without checking the element.
pub(super) fn find_public_key(
    terms: &mut Vocabulary,
    quads: &[Quad],
    structure: &Structure,
) -> Option<TermId> {
    let target = structure.quads(quads, INFO).find(|quad| {
        terms.find_meaning(quad.predicate) == IriMeaning::HasSignatureTarget
            && terms.are_same(quad.object, structure.uri)
    })?;
    let key = structure.quads(quads, INFO).find(|quad| {
        terms.find_meaning(quad.predicate) == IriMeaning::HasPublicKey
            && terms.are_same(quad.subject, target.subject)
    })?;
    Some(key.object)
}

fn problem(text: String, term_text: Vec<u8>) -> Violation {
    Violation::error(NanopubRule::Signature, text, term_text)
}

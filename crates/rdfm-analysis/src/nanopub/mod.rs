//! Nanopublications: structure, trusty URIs, signature elements, and descriptions.
//!
//! - In: batches of messages. Out: a [`Verdict`] or a [`listing::Description`] for each
//!   nanopublication.
//! - Cost: a few visits to each quad, a sort of the distinct terms, and a hash of the text.
//! - Law: the order and repetition of quads and the division of messages into batches do not affect
//!   the results.
//!
//! Each message is expected to be one nanopublication. If a message contains several, as in files
//! without message boundaries, each of them is handled separately.

pub mod listing;
pub mod signature;
mod structure;
pub mod trusty;
mod vocabulary;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::error::quote;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermKind};
use rustc_hash::{FxHashMap, FxHashSet};

use listing::Description;
use signature::Signature;
use structure::Structure;
use trusty::Hasher;
use vocabulary::{TermKey, Vocabulary};

/// Maximum number of malformed terms that are reported for a nanopublication.
const MAX_REPORTED_TERMS: usize = 20;

/// A rule for nanopublications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NanopubRule {
    /// The declaration of a nanopublication is missing or not unique.
    Head,
    /// A quad is in the default graph.
    DefaultGraph,
    /// The head does not name exactly one graph of each kind.
    Link,
    /// A graph has the wrong IRI.
    GraphIri,
    /// There is a fifth graph.
    ExtraGraph,
    /// A graph is empty.
    EmptyGraph,
    /// A graph does not mention its topic.
    Reference,
    /// An IRI is malformed.
    Iri,
    /// A lexical form is invalid for its datatype.
    IllTypedLiteral,
    /// The artifact code in the IRI differs from that of the quads.
    ArtifactCode,
    /// The signature element is incomplete or repeated.
    Signature,
    /// The signature uses the old scheme.
    OldSignature,
}

impl NanopubRule {
    /// The stable name of the rule.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Head => "nanopub-head",
            Self::DefaultGraph => "nanopub-default-graph",
            Self::Link => "nanopub-link",
            Self::GraphIri => "nanopub-graph-iri",
            Self::ExtraGraph => "nanopub-extra-graph",
            Self::EmptyGraph => "nanopub-empty-graph",
            Self::Reference => "nanopub-reference",
            Self::Iri => "nanopub-iri",
            Self::IllTypedLiteral => "ill-typed-literal",
            Self::ArtifactCode => "artifact-code",
            Self::Signature => "signature",
            Self::OldSignature => "old-signature",
        }
    }
}

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: NanopubRule,
    /// Whether the violation is an error. Otherwise it is a warning.
    pub is_error: bool,
    /// The data found, and what was expected.
    pub text: String,
    /// The affected term as it is usually written in text logs. Empty if there is none.
    pub term_text: Vec<u8>,
}

impl Violation {
    fn error(rule: NanopubRule, text: String, term_text: Vec<u8>) -> Self {
        Self {
            rule,
            is_error: true,
            text,
            term_text,
        }
    }

    fn warning(rule: NanopubRule, text: String, term_text: Vec<u8>) -> Self {
        Self {
            is_error: false,
            ..Self::error(rule, text, term_text)
        }
    }
}

/// The result of checking a nanopublication.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Index of the message in its batch.
    pub message: usize,
    /// Number of nanopublications in the message, or 1 if it contains none.
    pub count: usize,
    /// The IRI of the nanopublication, if it has one.
    pub uri: Option<String>,
    /// Whether the IRI has an artifact code of module RA that matches the quads.
    pub is_trusty: bool,
    /// The violations.
    pub problems: Vec<Violation>,
    /// The unverified signature.
    pub signature: Option<Signature>,
}

/// Checks the nanopublications of a batch of complete messages: structure, IRIs, literals, artifact
/// codes and signature elements. Signatures are returned, not verified.
#[must_use]
pub fn check(batch: &MessageBatch) -> Vec<Verdict> {
    let mut checker = NanopubChecker::new(batch);
    let mut verdicts = Vec::with_capacity(batch.len());
    for message in 0..batch.len() {
        let first = verdicts.len();
        checker.for_each_nanopub(batch.message(message), |checker, quads| {
            let mut verdict = checker.check_nanopub(quads);
            verdict.message = message;
            verdicts.push(verdict);
        });
        let count = verdicts.len() - first;
        for verdict in &mut verdicts[first..] {
            verdict.count = count;
        }
    }
    verdicts
}

/// Returns the hash in the artifact code (of module RA) in the IRI of a nanopublication. The quads
/// are not compared with it.
pub fn find_code_hash(table: &TermTable, quads: &[Quad]) -> Option<[u8; 32]> {
    let mut terms = Vocabulary::new(table);
    let declarations = quads
        .iter()
        .filter(|quad| structure::is_declaration(&mut terms, quad));
    let code = declarations
        .filter(|quad| table.term(quad.subject).kind == TermKind::Iri)
        .find_map(|quad| trusty::dataset_code(table.text(quad.subject)))?;
    URL_SAFE_NO_PAD.decode(&code[2..]).ok()?.try_into().ok()
}

/// Checks structure and artifact codes. For each message, returns the first reason why it is not a
/// nanopublication with a correct trusty URI, or `None` if it is one.
#[must_use]
pub fn verify(batch: &MessageBatch) -> Vec<Option<String>> {
    let mut checker = NanopubChecker::new(batch);
    let messages = 0..batch.len();
    messages
        .map(|message| checker.find_invalid_reason(batch.message(message)))
        .collect()
}

/// Describes the nanopublications of a batch of complete messages. Messages without one are
/// skipped.
#[must_use]
pub fn describe(batch: &MessageBatch) -> Vec<Description> {
    let mut checker = NanopubChecker::new(batch);
    let mut descriptions = Vec::with_capacity(batch.len());
    for message in 0..batch.len() {
        checker.for_each_nanopub(batch.message(message), |checker, quads| {
            if let Some(structure) = structure::find(&mut checker.terms, quads, &mut Vec::new()) {
                let terms = &mut checker.terms;
                descriptions.push(listing::describe(terms, quads, &structure, message));
            }
        });
    }
    descriptions
}

/// Computes the artifact code of a message. In the message's IRIs, `code` is replaced by a space.
///
/// # Errors
/// If no artifact code can be computed. The error is the reason.
pub fn find_artifact_code(
    batch: &MessageBatch,
    message: usize,
    code: Option<&[u8]>,
) -> Result<String, String> {
    let mut hasher = Hasher::new(batch.table());
    match hasher.load(batch.message(message), code) {
        Ok(()) => Ok(hasher.compute_code()),
        Err(reason) => Err(reason.text(batch.table())),
    }
}

struct NanopubChecker<'a> {
    terms: Vocabulary<'a>,
    hasher: Hasher<'a>,
}

impl<'a> NanopubChecker<'a> {
    fn new(batch: &'a MessageBatch) -> Self {
        Self {
            terms: Vocabulary::new(batch.table()),
            hasher: Hasher::new(batch.table()),
        }
    }

    /// Calls a function with the quads of each nanopublication of a message.
    fn for_each_nanopub(&mut self, quads: &[Quad], mut call: impl FnMut(&mut Self, &[Quad])) {
        let heads = self.find_heads(quads);
        if heads.len() < 2 {
            call(self, quads);
            return;
        }
        let mut quads_by_head = vec![Vec::new(); heads.len()];
        for quad in quads {
            if let Some(head) = heads.get(&self.terms.key(quad.graph)) {
                quads_by_head[*head].push(*quad);
            }
        }
        let mut owners = FxHashMap::default();
        for (head, head_quads) in quads_by_head.iter().enumerate() {
            let structure = structure::find(&mut self.terms, head_quads, &mut Vec::new());
            for graph in structure
                .iter()
                .flat_map(|structure| structure.graphs)
                .flatten()
            {
                owners.entry(self.terms.key(graph)).or_insert(head);
            }
        }
        let mut parts = vec![Vec::new(); heads.len()];
        let mut last = 0;
        for quad in quads {
            let graph = self.terms.key(quad.graph);
            last = heads.get(&graph).copied().unwrap_or(last);
            // A graph that no head names belongs to the preceding head.
            parts[owners.get(&graph).copied().unwrap_or(last)].push(*quad);
        }
        for part in parts {
            call(self, &part);
        }
    }

    /// The graphs that declare nanopublications, with their numbers.
    fn find_heads(&mut self, quads: &[Quad]) -> FxHashMap<TermKey<'a>, usize> {
        let mut heads = FxHashMap::default();
        for quad in quads {
            if structure::is_declaration(&mut self.terms, quad) {
                let count = heads.len();
                heads.entry(self.terms.key(quad.graph)).or_insert(count);
            }
        }
        heads
    }

    fn check_nanopub(&mut self, quads: &[Quad]) -> Verdict {
        let mut verdict = Verdict::default();
        let problems = &mut verdict.problems;
        let Some(structure) = structure::find(&mut self.terms, quads, problems) else {
            return verdict;
        };
        verdict.uri = Some(self.terms.string(structure.uri));
        structure::check(&mut self.terms, quads, &structure, problems);
        let uri = self.terms.table.text(structure.uri);
        let code = trusty::dataset_code(uri);
        self.check_terms(quads, code.is_none(), problems);
        let element = signature::find(&mut self.terms, quads, &structure, problems);
        if code.is_none() && element.is_none() {
            return verdict;
        }
        // Preliminary IRIs can have a code of a different length. A signature covers the text
        // without the code.
        if let Err(reason) = self.hasher.load(quads, trusty::artifact_code(uri)) {
            let text = reason.text(self.terms.table);
            let text = format!("the artifact code cannot be computed: {text}");
            problems.push(Violation::error(
                NanopubRule::ArtifactCode,
                text,
                Vec::new(),
            ));
            return verdict;
        }
        if let Some(code) = code {
            match describe_wrong_code(code, &self.hasher.compute_code()) {
                None => verdict.is_trusty = true,
                Some(text) => {
                    let uri_text = self.terms.write_term(structure.uri);
                    problems.push(Violation::error(NanopubRule::ArtifactCode, text, uri_text));
                }
            }
        }
        verdict.signature = element.map(|element| Signature {
            algorithm: self.terms.string(element.algorithm),
            public_key: self.terms.string(element.public_key),
            signature: self.terms.string(element.signature),
            digest: self.hasher.digest_without(&element.quad),
        });
        verdict
    }

    /// Checks that IRIs and literals are well-formed. Each term is reported once, up to
    /// [`MAX_REPORTED_TERMS`] in total.
    fn check_terms(&mut self, quads: &[Quad], is_plain: bool, problems: &mut Vec<Violation>) {
        let mut reported = FxHashSet::default();
        for quad in quads {
            for id in [quad.graph, quad.subject, quad.predicate, quad.object] {
                let (rule, text, term_text) = if self.terms.is_iri(id) {
                    if self.terms.is_well_formed(id) {
                        continue;
                    }
                    let text = format!("{} is not a valid IRI", self.terms.quote(id));
                    (NanopubRule::Iri, text, self.terms.write_term(id))
                } else if let Some(datatype) = self.terms.find_violated_datatype(id) {
                    let text = format!(
                        "{} is not a valid {}: expected {}",
                        quote(self.terms.table.text(id)),
                        datatype.name(),
                        datatype.expected_form()
                    );
                    (
                        NanopubRule::IllTypedLiteral,
                        text,
                        self.terms.write_string(id),
                    )
                } else {
                    continue;
                };
                if reported.insert(term_text.clone()) {
                    problems.push(Violation {
                        is_error: is_plain || rule == NanopubRule::Iri,
                        ..Violation::error(rule, text, term_text)
                    });
                    if reported.len() == MAX_REPORTED_TERMS {
                        return;
                    }
                }
            }
        }
    }

    fn find_invalid_reason(&mut self, quads: &[Quad]) -> Option<String> {
        let heads = self.find_heads(quads).len();
        if heads > 1 {
            return Some(format!(
                "the message contains {heads} nanopublications, expected one"
            ));
        }
        let mut problems = Vec::new();
        let structure = structure::find(&mut self.terms, quads, &mut problems);
        if let Some(structure) = &structure {
            structure::check(&mut self.terms, quads, structure, &mut problems);
        }
        let (Some(structure), true) = (structure, problems.is_empty()) else {
            return problems.into_iter().next().map(|problem| problem.text);
        };
        self.describe_wrong_code(quads, &structure)
    }

    fn describe_wrong_code(&mut self, quads: &[Quad], structure: &Structure) -> Option<String> {
        let uri = self.terms.table.text(structure.uri);
        let Some(code) = trusty::dataset_code(uri) else {
            return Some(format!(
                "{} is not a trusty URI: expected RA and 43 more characters at its end",
                self.terms.quote(structure.uri)
            ));
        };
        match self.hasher.load(quads, Some(code)) {
            Ok(()) => describe_wrong_code(code, &self.hasher.compute_code()),
            Err(reason) => Some(format!(
                "the artifact code cannot be computed: {}",
                reason.text(self.terms.table)
            )),
        }
    }
}

/// Returns the problem if the code of an IRI differs from the code computed from the quads.
fn describe_wrong_code(code: &[u8], computed: &str) -> Option<String> {
    (code != computed.as_bytes()).then(|| {
        let code = String::from_utf8_lossy(code);
        format!("the artifact code of the quads is {computed}, but the IRI contains {code}")
    })
}

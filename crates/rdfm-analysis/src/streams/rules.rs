//! The rules of a stream type, for each message.
//!
//! - In: messages without repeated quads. Out: the first violation of each message.
//! - Cost: one visit to each quad, and a few more for subject shapes and reachability.
//! - Law: terms are compared by their text, not by their ids.

use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::error::quote;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermId, TermKind, flags};
use rustc_hash::FxHashMap;

const RDF_TYPE: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// The named graphs that a message may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NamedGraphs {
    /// None, as in graph streams.
    None,
    /// Exactly one; the default graph may contain quads.
    One,
    /// Any number.
    #[default]
    Any,
}

/// The shape of the subject node of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubjectShape {
    /// Instances of a class.
    Class(Vec<u8>),
    /// Subjects of a property.
    SubjectsOf(Vec<u8>),
    /// Objects of a property.
    ObjectsOf(Vec<u8>),
    /// Subjects of triple terms in the subject position: `rb:yagoTarget`.
    QuotedSubjects,
}

/// The rules of a stream type.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is declared separately")]
pub struct StreamRules {
    /// Named graphs of a message.
    pub graphs: NamedGraphs,
    /// IRI of the time property. The default graph must contain exactly one value of this property
    /// for the named graph.
    pub time: Option<Vec<u8>>,
    /// Shapes that together select exactly one node.
    pub subjects: Vec<SubjectShape>,
    /// Whether all nodes must be reachable from one node.
    pub has_root: bool,
    /// Whether literals are allowed as subjects, and literals and blank nodes as predicates.
    pub generalized_triples: bool,
    /// Whether literals are allowed as graph names.
    pub generalized_graphs: bool,
    /// Whether triple terms and literals with a base direction are allowed.
    pub rdf12: bool,
}

/// A violation of the rules by a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamViolation {
    /// Index of the message in the log.
    pub message_index: u64,
    /// The rule: "graphs", "time", "subject", "rdf12" or "generalized".
    pub rule: &'static str,
    /// The text of the violation. It continues a sentence that begins with, for example,
    /// "message 5".
    pub text: String,
}

impl StreamRules {
    /// Returns the first violation of each message.
    pub fn violations(&self, batch: &MessageBatch) -> Vec<StreamViolation> {
        (0..batch.len())
            .filter_map(|number| {
                let (rule, text) = self.violation(batch.table(), batch.message(number))?;
                Some(StreamViolation {
                    message_index: batch.message_index(number),
                    rule,
                    text,
                })
            })
            .collect()
    }

    fn violation(&self, table: &TermTable, quads: &[Quad]) -> Option<(&'static str, String)> {
        let graphs = self.graphs(table, quads).map(|text| ("graphs", text));
        graphs
            .or_else(|| self.time(table, quads).map(|text| ("time", text)))
            .or_else(|| self.subject(table, quads).map(|text| ("subject", text)))
            .or_else(|| self.terms(table, quads))
    }

    fn graphs(&self, table: &TermTable, quads: &[Quad]) -> Option<String> {
        if self.graphs == NamedGraphs::Any {
            return None;
        }
        let same = |a: TermId, b: TermId| a == b || table.is_same_term(a, table, b);
        let mut graphs: Vec<TermId> = Vec::new();
        for quad in quads {
            // Quads are sorted by graph.
            let is_known = graphs.last().is_some_and(|last| same(*last, quad.graph));
            if quad.graph != TermId::DEFAULT_GRAPH && !is_known {
                graphs.push(quad.graph);
            }
        }
        match (self.graphs, &graphs[..]) {
            (NamedGraphs::None, [graph, ..]) => Some(format!(
                "has the named graph {}, expected only a default graph",
                quote(table.text(*graph))
            )),
            (NamedGraphs::One, []) => Some("has no named graph, expected exactly one".to_owned()),
            (NamedGraphs::One, [_, _, ..]) => Some(format!(
                "has {} named graphs, expected exactly one",
                graphs.len()
            )),
            _ => None,
        }
    }

    /// Checks the time property of a message with one named graph.
    fn time(&self, table: &TermTable, quads: &[Quad]) -> Option<String> {
        let time = self.time.as_ref()?;
        let named = quads
            .iter()
            .find(|quad| quad.graph != TermId::DEFAULT_GRAPH);
        let graph = named?.graph;
        let count = quads
            .iter()
            .filter(|quad| {
                quad.graph == TermId::DEFAULT_GRAPH
                    && is_iri(table, quad.predicate, time)
                    && (quad.subject == graph || table.is_same_term(quad.subject, table, graph))
            })
            .count();
        let violation = match count {
            0 => "no value".to_owned(),
            1 => return None,
            _ => format!("{count} values"),
        };
        Some(format!(
            "has {violation} of the time property {} for its graph {} in the default graph, expected exactly one",
            quote(time),
            quote(table.text(graph)),
        ))
    }

    fn subject(&self, table: &TermTable, quads: &[Quad]) -> Option<String> {
        if self.has_root && !has_root(table, quads) {
            let text = if quads.is_empty() {
                "is empty, expected a node from which all others can be reached"
            } else {
                "has no node from which all others can be reached, expected one"
            };
            return Some(text.to_owned());
        }
        if self.subjects.is_empty() {
            return None;
        }
        let mut subject: Option<TermId> = None;
        for quad in quads {
            for shape in &self.subjects {
                let node = match shape {
                    SubjectShape::Class(class) => (is_iri(table, quad.predicate, RDF_TYPE)
                        && is_iri(table, quad.object, class))
                    .then_some(quad.subject),
                    SubjectShape::SubjectsOf(property) => {
                        is_iri(table, quad.predicate, property).then_some(quad.subject)
                    }
                    SubjectShape::ObjectsOf(property) => {
                        is_iri(table, quad.predicate, property).then_some(quad.object)
                    }
                    SubjectShape::QuotedSubjects => {
                        let term = table.term(quad.subject);
                        (term.kind == TermKind::TripleTerm).then(|| table.triple(term)[0])
                    }
                };
                let Some(node) = node else { continue };
                match subject {
                    None => subject = Some(node),
                    Some(other) if other == node || table.is_same_term(other, table, node) => {}
                    Some(_) => {
                        let text =
                            "has several nodes that match the subject shape, expected exactly one";
                        return Some(text.to_owned());
                    }
                }
            }
        }
        let text = || "has no node that matches the subject shape, expected exactly one".to_owned();
        subject.is_none().then(text)
    }

    fn terms(&self, table: &TermTable, quads: &[Quad]) -> Option<(&'static str, String)> {
        if self.rdf12 && self.generalized_triples && self.generalized_graphs {
            return None;
        }
        let kind = |id: TermId| table.term(id).kind;
        let is_literal = |id: TermId| {
            matches!(
                kind(id),
                TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral
            )
        };
        for quad in quads {
            let Quad {
                subject,
                predicate,
                object,
                graph,
            } = *quad;
            if !self.rdf12
                && ([subject, predicate, object, graph].into_iter())
                    .any(|id| kind(id) == TermKind::TripleTerm)
            {
                let text = "has a triple term, but RDF 1.2 is not declared";
                return Some(("rdf12", text.to_owned()));
            }
            if !self.rdf12 && table.term(object).flags & (flags::LTR | flags::RTL) != 0 {
                let text = format!(
                    "has the literal {} with a base direction, but RDF 1.2 is not declared",
                    quote(table.text(object))
                );
                return Some(("rdf12", text));
            }
            let misplaced = if is_literal(subject) {
                Some(("the literal", subject, "as a subject"))
            } else if is_literal(predicate) {
                Some(("the literal", predicate, "as a predicate"))
            } else if kind(predicate) == TermKind::BlankNode {
                Some(("the blank node", predicate, "as a predicate"))
            } else {
                None
            };
            if let (Some((description, id, position)), false) =
                (misplaced, self.generalized_triples)
            {
                let name = quote(table.text(id));
                let text = format!(
                    "has {description} {name} {position}, but generalized triples are not declared"
                );
                return Some(("generalized", text));
            }
            if !self.generalized_graphs && is_literal(graph) {
                let text = format!(
                    "has the literal {} as a graph name, but generalized datasets are not declared",
                    quote(table.text(graph))
                );
                return Some(("generalized", text));
            }
        }
        None
    }
}

fn is_iri(table: &TermTable, id: TermId, iri: &[u8]) -> bool {
    let term = table.term(id);
    term.kind == TermKind::Iri && table.text_of(term) == iri
}

/// Numbers the terms of a message. Equal terms have the same number. Literals that differ only in
/// datatype or language may also have the same number.
#[derive(Default)]
struct NodeNumbers<'a> {
    terms: FxHashMap<(u8, &'a [u8]), usize>,
    triples: FxHashMap<[usize; 3], usize>,
}

impl<'a> NodeNumbers<'a> {
    fn assign_number(&mut self, table: &'a TermTable, id: TermId) -> usize {
        let term = table.term(id);
        if term.kind == TermKind::TripleTerm {
            let parts = table
                .triple(term)
                .map(|part| self.assign_number(table, part));
            let next = self.len();
            return *self.triples.entry(parts).or_insert(next);
        }
        let next = self.len();
        *(self.terms.entry((term.kind as u8, table.text_of(term)))).or_insert(next)
    }

    fn len(&self) -> usize {
        self.terms.len() + self.triples.len()
    }
}

/// Whether all subjects, and therefore all objects, can be reached from one subject.
fn has_root(table: &TermTable, quads: &[Quad]) -> bool {
    let mut numbers = NodeNumbers::default();
    let mut edges = Vec::with_capacity(quads.len());
    for quad in quads {
        let from = numbers.assign_number(table, quad.subject);
        edges.push((from, numbers.assign_number(table, quad.object)));
    }
    let nodes = numbers.len();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (from, to) in &edges {
        next[*from].push(*to);
    }
    // If there is a root, the last node at which a search starts is a root.
    let mut seen = vec![false; nodes];
    let mut last = None;
    for (from, _) in &edges {
        if !seen[*from] {
            search(&next, *from, &mut seen);
            last = Some(*from);
        }
    }
    let Some(last) = last else { return false };
    seen.fill(false);
    search(&next, last, &mut seen);
    edges.iter().all(|(from, _)| seen[*from])
}

fn search(next: &[Vec<usize>], start: usize, seen: &mut [bool]) {
    let mut open = vec![start];
    seen[start] = true;
    while let Some(node) = open.pop() {
        for to in &next[node] {
            if !seen[*to] {
                seen[*to] = true;
                open.push(*to);
            }
        }
    }
}

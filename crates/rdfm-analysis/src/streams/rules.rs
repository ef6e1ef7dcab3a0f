//! The rules of a stream type, for each message.
//!
//! - In: messages without repeated quads. Out: the first violation of each message.
//! - Cost: one visit of each quad; for subject shapes and reachability a few more.
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
    /// None: messages of graph streams.
    None,
    /// Exactly one, and any default graph.
    One,
    /// Any number.
    #[default]
    Any,
}

/// Which nodes are the subject of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubjectShape {
    /// Instances of a class.
    Class(Vec<u8>),
    /// Subjects of a property.
    SubjectsOf(Vec<u8>),
    /// Objects of a property.
    ObjectsOf(Vec<u8>),
    /// Subjects of triple terms that are subjects: `rb:yagoTarget`.
    QuotedSubjects,
}

/// The rules of a stream.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is declared on its own")]
pub struct StreamRules {
    /// Named graphs of a message.
    pub graphs: NamedGraphs,
    /// IRI of the property that the named graph has exactly once, in the default graph.
    pub time: Option<Vec<u8>>,
    /// Shapes that select exactly one node, all together.
    pub subjects: Vec<SubjectShape>,
    /// Whether one node reaches all others.
    pub has_root: bool,
    /// Whether subjects may be literals, and predicates literals or blank nodes.
    pub generalized_triples: bool,
    /// Whether graph names may be literals.
    pub generalized_graphs: bool,
    /// Whether there may be triple terms and literals with a base direction.
    pub rdf12: bool,
}

/// A violation of the rules by a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Index of the message in the log.
    pub message: u64,
    /// The rule: "graphs", "time", "subject", "rdf12" or "generalized".
    pub rule: &'static str,
    /// The violation, to follow the word "message 5".
    pub text: String,
}

impl StreamRules {
    /// Returns the first violation of each message.
    pub fn violations(&self, batch: &MessageBatch) -> Vec<Violation> {
        (0..batch.len())
            .filter_map(|number| {
                let (rule, text) = self.violation(batch.table(), batch.message(number))?;
                let message = batch.index(number);
                Some(Violation {
                    message,
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
        let is_named = |quad: &&Quad| quad.graph != TermId::DEFAULT_GRAPH;
        let first = quads.iter().find(is_named).map(|quad| quad.graph);
        let Some(graph) = first else {
            let text = || "has no named graph, expected exactly one".to_owned();
            return (self.graphs == NamedGraphs::One).then(text);
        };
        let name = quote(table.text(graph));
        if self.graphs == NamedGraphs::None {
            return Some(format!(
                "has the named graph {name}, expected only a default graph"
            ));
        }
        let same = |a: TermId, b: TermId| a == b || table.same_term(a, table, b);
        let other = (quads.iter().filter(is_named)).find(|quad| !same(quad.graph, graph));
        if let Some(other) = other {
            return Some(format!(
                "has several named graphs, such as {name} and {}, expected exactly one",
                quote(table.text(other.graph))
            ));
        }
        None
    }

    /// The rule of the time property, in a message with one named graph.
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
                    && (quad.subject == graph || table.same_term(quad.subject, table, graph))
            })
            .count();
        let found = match count {
            0 => "no value".to_owned(),
            1 => return None,
            _ => format!("{count} values"),
        };
        Some(format!(
            "has {found} of the time property {} for its graph {} in the default graph, expected exactly one",
            quote(time),
            quote(table.text(graph)),
        ))
    }

    fn subject(&self, table: &TermTable, quads: &[Quad]) -> Option<String> {
        if self.has_root && !has_root(table, quads) {
            let text = "has no node from which all others can be reached, expected one";
            return Some(text.to_owned());
        }
        if self.subjects.is_empty() {
            return None;
        }
        let mut found: Vec<TermId> = Vec::new();
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
                let known = |id: &TermId| *id == node || table.same_term(*id, table, node);
                if !found.iter().any(known) {
                    found.push(node);
                }
                if let [first, second, ..] = found[..] {
                    return Some(format!(
                        "has several nodes that match the subject shape, such as {} and {}, expected exactly one",
                        quote(table.text(first)),
                        quote(table.text(second)),
                    ));
                }
            }
        }
        let text = || "has no node that matches the subject shape, expected exactly one".to_owned();
        found.is_empty().then(text)
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
            let wrong = if is_literal(subject) {
                Some(("the literal", subject, "as a subject"))
            } else if is_literal(predicate) {
                Some(("the literal", predicate, "as a predicate"))
            } else if kind(predicate) == TermKind::Bnode {
                Some(("the blank node", predicate, "as a predicate"))
            } else {
                None
            };
            if let (Some((what, id, place)), false) = (wrong, self.generalized_triples) {
                let name = quote(table.text(id));
                let text =
                    format!("has {what} {name} {place}, but generalized triples are not declared");
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

/// Whether all subjects can be reached from one of them. Then all objects can be reached too.
fn has_root(table: &TermTable, quads: &[Quad]) -> bool {
    let mut numbers: FxHashMap<(u8, &[u8]), usize> = FxHashMap::default();
    let mut triple_terms: Vec<(TermId, usize)> = Vec::new();
    let mut number = |id: TermId| {
        let term = table.term(id);
        let next = numbers.len() + triple_terms.len();
        if term.kind != TermKind::TripleTerm {
            return *numbers
                .entry((term.kind as u8, table.text_of(term)))
                .or_insert(next);
        }
        let known = triple_terms
            .iter()
            .find(|(other, _)| table.same_term(*other, table, id));
        if let Some((_, number)) = known {
            return *number;
        }
        triple_terms.push((id, next));
        next
    };
    // Literals with the same text share a number, which is harmless: they lead nowhere.
    let edges: Vec<(usize, usize)> = (quads.iter())
        .map(|quad| (number(quad.subject), number(quad.object)))
        .collect();
    let nodes = numbers.len() + triple_terms.len();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (from, to) in &edges {
        next[*from].push(*to);
    }
    // If there is a root, the last node from which a search starts is one.
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

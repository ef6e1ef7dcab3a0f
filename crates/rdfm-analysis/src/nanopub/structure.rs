//! The structure of a nanopublication: its head and the three graphs that the head names.
//!
//! - In: the quads of one nanopublication. Out: its IRI and graphs, and one problem for each
//!   violated rule.
//! - Cost: a few comparisons per quad.
//! - Law: the result does not depend on the order or repetition of quads.
//!
//! The rules come from the nanopublication guidelines:
//!
//! 1. Every quad is in a named graph, and there are quads.
//! 2. One quad declares the nanopublication. Its graph is the head.
//! 3. The head names one assertion, one provenance and one publication info, as IRIs.
//! 4. These four graphs are different. The IRI of each graph begins with the IRI of the
//!    nanopublication, but is not equal to it.
//! 5. There is no other graph.
//! 6. Assertion, provenance and publication info are not empty.
//! 7. The provenance contains a quad about the assertion, and the publication info contains a quad
//!    about the nanopublication.

use rdfm_core::model::term::{Quad, TermId, TermKind};

use super::vocabulary::{IriMeaning, Vocabulary};
use super::{NanopubRule, Violation};

/// Names of the graphs in error texts, in the order of [`Structure::graphs`].
const NAMES: [&str; 4] = ["head", "assertion", "provenance", "publication info"];
/// The predicates that name graphs 1 to 3.
const LINKS: [(IriMeaning, &str); 3] = [
    (IriMeaning::HasAssertion, "np:hasAssertion"),
    (IriMeaning::HasProvenance, "np:hasProvenance"),
    (IriMeaning::HasPublicationInfo, "np:hasPublicationInfo"),
];
pub(super) const HEAD: usize = 0;
pub(super) const ASSERTION: usize = 1;
pub(super) const PROVENANCE: usize = 2;
pub(super) const INFO: usize = 3;
/// Value in [`Structure::graph_indices`] for quads in any other graph.
const OUTSIDE: u8 = 4;

/// The IRI of a nanopublication and its graphs.
#[derive(Debug)]
pub(super) struct Structure {
    /// The IRI of the nanopublication.
    pub uri: TermId,
    /// Head, assertion, provenance and publication info. A graph is `None` if the head does not
    /// name it.
    pub graphs: [Option<TermId>; 4],
    /// For each quad, the index of its graph in `graphs`, or [`OUTSIDE`].
    graph_indices: Vec<u8>,
}

impl Structure {
    /// The quads of one of the four graphs.
    pub fn quads<'q>(&self, quads: &'q [Quad], graph: usize) -> impl Iterator<Item = &'q Quad> {
        let places = self.graph_indices.iter();
        let quads = quads.iter().zip(places);
        quads.filter_map(move |(quad, graph_index)| {
            (usize::from(*graph_index) == graph).then_some(quad)
        })
    }
}

/// Whether a quad declares a nanopublication (rule 2).
pub(super) fn is_declaration(terms: &mut Vocabulary, quad: &Quad) -> bool {
    terms.find_meaning(quad.object) == IriMeaning::Nanopublication
        && terms.find_meaning(quad.predicate) == IriMeaning::Type
}

/// Finds the nanopublication and its graphs, without checking them. Returns `None` and adds a
/// problem if there is no unique declaration.
pub(super) fn find(
    terms: &mut Vocabulary,
    quads: &[Quad],
    problems: &mut Vec<Violation>,
) -> Option<Structure> {
    if quads.is_empty() {
        let text = "the message is empty, expected a nanopublication".to_owned();
        problems.push(Violation::error(NanopubRule::Head, text, Vec::new()));
        return None;
    }
    let mut declared: Option<&Quad> = None;
    for quad in quads {
        if !is_declaration(terms, quad) {
            continue;
        }
        let Some(first) = declared else {
            declared = Some(quad);
            continue;
        };
        if !terms.are_same(first.subject, quad.subject) || !terms.are_same(first.graph, quad.graph)
        {
            let both = [first.subject, quad.subject].map(|id| terms.quote(id));
            let text = format!(
                "two quads declare an np:Nanopublication, {} and {}, expected one",
                both[0], both[1]
            );
            problems.push(Violation::error(
                NanopubRule::Head,
                text,
                terms.write_term(quad.subject),
            ));
            return None;
        }
    }
    let Some(declared) = declared else {
        let text = "no quad has rdf:type np:Nanopublication, expected one in the head".to_owned();
        problems.push(Violation::error(NanopubRule::Head, text, Vec::new()));
        return None;
    };
    let (uri, head) = (declared.subject, declared.graph);
    if !terms.is_iri(uri) {
        let text = format!(
            "the nanopublication {} is not identified by an IRI",
            terms.quote(uri)
        );
        problems.push(Violation::error(NanopubRule::Head, text, Vec::new()));
        return None;
    }
    let mut graphs = [Some(head), None, None, None];
    for quad in quads {
        let meaning = terms.find_meaning(quad.predicate);
        if let Some(link) = LINKS.iter().position(|link| link.0 == meaning)
            && graphs[link + 1].is_none()
            && terms.are_same(quad.graph, head)
            && terms.are_same(quad.subject, uri)
        {
            graphs[link + 1] = Some(quad.object);
        }
    }
    let graph_index = |quad: &Quad| {
        let graph_iris = graphs
            .iter()
            .position(|graph| graph.is_some_and(|graph| terms.are_same(graph, quad.graph)));
        graph_iris.map_or(OUTSIDE, |graph_index| graph_index as u8)
    };
    let places = quads.iter().map(graph_index).collect();
    Some(Structure {
        uri,
        graphs,
        graph_indices: places,
    })
}

/// Checks rules 1 and 3 to 7.
pub(super) fn check(
    terms: &mut Vocabulary,
    quads: &[Quad],
    structure: &Structure,
    problems: &mut Vec<Violation>,
) {
    if quads.iter().any(|quad| quad.graph == TermId::DEFAULT_GRAPH) {
        let text =
            "a quad is in the default graph, expected one of the four named graphs".to_owned();
        problems.push(Violation::error(
            NanopubRule::DefaultGraph,
            text,
            Vec::new(),
        ));
    }
    if structure.graphs[HEAD] == Some(TermId::DEFAULT_GRAPH) {
        return;
    }
    if !check_links(terms, quads, structure, problems)
        || !check_graph_iris(terms, structure, problems)
    {
        return;
    }
    check_contents(terms, quads, structure, problems);
}

/// Checks rule 3: the head names one graph of each kind.
fn check_links(
    terms: &mut Vocabulary,
    quads: &[Quad],
    structure: &Structure,
    problems: &mut Vec<Violation>,
) -> bool {
    let before = problems.len();
    let mut add = |terms: &Vocabulary, text| {
        problems.push(Violation::error(
            NanopubRule::Link,
            text,
            terms.write_term(structure.uri),
        ));
    };
    for (index, (meaning, name)) in LINKS.into_iter().enumerate() {
        let Some(graph) = structure.graphs[index + 1] else {
            let uri = terms.quote(structure.uri);
            add(
                terms,
                format!("{uri} has no {name} in the head, expected one"),
            );
            continue;
        };
        if !terms.is_iri(graph) {
            let graph = terms.quote(graph);
            add(
                terms,
                format!("the value of {name} is {graph}, expected an IRI"),
            );
            continue;
        }
        let other = structure.quads(quads, HEAD).find(|quad| {
            terms.find_meaning(quad.predicate) == meaning
                && terms.are_same(quad.subject, structure.uri)
                && !terms.are_same(quad.object, graph)
        });
        if let Some(other) = other {
            let (a, b) = (terms.quote(graph), terms.quote(other.object));
            add(
                terms,
                format!("{name} has the values {a} and {b}, expected one value"),
            );
        }
    }
    problems.len() == before
}

/// Checks rule 4: the four graphs are different, and their IRIs begin with the IRI of the
/// nanopublication. Reports only the first violation, since further ones are usually of the same
/// kind.
fn check_graph_iris(
    terms: &Vocabulary,
    structure: &Structure,
    problems: &mut Vec<Violation>,
) -> bool {
    let graphs = structure.graphs.map(|graph| graph.unwrap_or(structure.uri));
    for (index, graph) in graphs.into_iter().enumerate() {
        let name = NAMES[index];
        let same = graphs[..index]
            .iter()
            .position(|other| terms.are_same(*other, graph));
        let text = if let Some(other) = same {
            format!(
                "the {} and the {name} are the same graph {}",
                NAMES[other],
                terms.quote(graph)
            )
        } else if terms.are_same(graph, structure.uri) {
            format!(
                "the {name} graph has the IRI of the nanopublication, {}",
                terms.quote(graph)
            )
        } else if terms.table.term(graph).kind != TermKind::Iri
            || !terms
                .table
                .text(graph)
                .starts_with(terms.table.text(structure.uri))
        {
            format!(
                "the IRI of the {name} graph, {}, does not begin with that of the nanopublication, {}",
                terms.quote(graph),
                terms.quote(structure.uri)
            )
        } else {
            continue;
        };
        problems.push(Violation::error(
            NanopubRule::GraphIri,
            text,
            terms.write_term(graph),
        ));
        return false;
    }
    true
}

/// Checks rules 5 to 7: there is no other graph, no graph is empty, and the provenance and
/// publication info mention their topics.
fn check_contents(
    terms: &Vocabulary,
    quads: &[Quad],
    structure: &Structure,
    problems: &mut Vec<Violation>,
) {
    let other = quads
        .iter()
        .zip(&structure.graph_indices)
        .find(|(quad, graph_index)| {
            **graph_index == OUTSIDE && quad.graph != TermId::DEFAULT_GRAPH
        });
    if let Some((quad, _)) = other {
        let graph = terms.quote(quad.graph);
        let text =
            format!("the graph {graph} is not one of the four graphs of the nanopublication");
        let graph_text = terms.write_term(quad.graph);
        problems.push(Violation::error(NanopubRule::ExtraGraph, text, graph_text));
    }
    for graph_index in [ASSERTION, PROVENANCE, INFO] {
        let Some(graph) = structure.graphs[graph_index] else {
            continue;
        };
        let (name, iri) = (NAMES[graph_index], terms.quote(graph));
        if structure.quads(quads, graph_index).next().is_none() {
            let text = format!("the {name} graph {iri} is empty");
            problems.push(Violation::error(
                NanopubRule::EmptyGraph,
                text,
                terms.write_term(graph),
            ));
            continue;
        }
        let (subject, topic) = match graph_index {
            PROVENANCE => ("assertion graph", structure.graphs[ASSERTION]),
            INFO => ("nanopublication", Some(structure.uri)),
            _ => continue,
        };
        let mentions = |quad: &Quad| {
            topic.is_some_and(|topic| {
                terms.are_same(quad.subject, topic) || terms.are_same(quad.object, topic)
            })
        };
        if !structure.quads(quads, graph_index).any(mentions) {
            let topic = terms.quote(topic.unwrap_or(structure.uri));
            let text = format!("no quad of the {name} is about the {subject} {topic}");
            problems.push(Violation::error(
                NanopubRule::Reference,
                text,
                terms.write_term(graph),
            ));
        }
    }
}

//! The quads of a message as a SPARQL dataset.
//!
//! - In: a message of a batch, and the graphs to query. Out: the quads of the message, in order and
//!   without duplicates. Each term is represented by its class of equal terms (see [`Dictionary`]).
//! - Law: batch boundaries affect only the numbers of the classes.

use std::cell::OnceCell;

use oxrdf::{NamedNode, Term};
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::term::TermId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::budget;
use super::dictionary::{DEFAULT_GRAPH, Dictionary};

/// Maximum number of quads for which duplicates are found by linear search.
const FEW_QUADS: usize = 16;

/// Classes of the subject, predicate, object and graph.
pub type Quad = [u32; 4];

/// The graphs to query.
#[derive(Clone, Debug, Default)]
pub enum Graphs {
    /// The default graph, and all named graphs.
    #[default]
    AsTheyAre,
    /// The union of all graphs as the default graph, and all named graphs.
    Union,
    /// The union of the `FROM` graphs as the default graph, and the `FROM NAMED` graphs.
    Named(Vec<NamedNode>, Vec<NamedNode>),
}

impl Graphs {
    /// Converts the graph names to classes of a batch.
    pub fn by_class(&self, dictionary: &Dictionary<'_>) -> GraphClasses {
        let classes = |names: &[NamedNode]| {
            let terms = names.iter().map(|name| name.clone().into());
            terms.filter_map(|name| dictionary.find(&name)).collect()
        };
        match self {
            Self::AsTheyAre => GraphClasses::AsTheyAre,
            Self::Union => GraphClasses::Union,
            Self::Named(default, named) => GraphClasses::Named(classes(default), classes(named)),
        }
    }
}

/// Like [`Graphs`], with classes of a batch.
pub enum GraphClasses {
    /// The default graph, and all named graphs.
    AsTheyAre,
    /// The union of all graphs as the default graph, and all named graphs.
    Union,
    /// The union of the first list of graphs as the default graph, and the second list as named
    /// graphs.
    Named(Vec<u32>, Vec<u32>),
}

impl GraphClasses {
    /// Whether the triples of a graph belong to the default graph, and whether the graph is a named
    /// graph.
    #[inline]
    fn has(&self, graph: u32) -> (bool, bool) {
        let is_default = graph == DEFAULT_GRAPH;
        match self {
            Self::AsTheyAre => (is_default, !is_default),
            Self::Union => (true, !is_default),
            Self::Named(default, named) => (default.contains(&graph), named.contains(&graph)),
        }
    }
}

/// The quads of a message, without duplicates.
#[derive(Default)]
pub struct Message {
    /// Quads in the order of their first occurrence.
    pub quads: Vec<Quad>,
    /// Set of all quads, to find duplicates if there are many quads.
    seen: FxHashSet<Quad>,
    /// The term that this message uses for each class with several spellings.
    term_of_class: FxHashMap<u32, u32>,
    /// Classes of the terms, computed on first use if there are many quads.
    present: OnceCell<FxHashSet<u32>>,
    /// Whether a named graph has quads.
    pub has_named: bool,
}

impl Message {
    /// Reads a message of a batch.
    pub fn read(
        &mut self,
        dictionary: &Dictionary<'_>,
        graphs: &GraphClasses,
        batch: &MessageBatch,
        index: usize,
    ) {
        self.clear();
        let quads = batch.message(index);
        for quad in quads {
            let ids = [quad.subject, quad.predicate, quad.object, quad.graph];
            let classes = ids.map(|id| dictionary.class(id));
            if dictionary.is_varying() {
                for (id, class) in ids.into_iter().zip(classes) {
                    self.term_of_class.entry(class).or_insert(id.0);
                }
            }
            self.add(graphs, classes);
        }
    }

    /// Reads quads that are already in memory, without duplicates.
    pub fn read_all(&mut self, graphs: &GraphClasses, quads: impl Iterator<Item = Quad>) {
        self.clear();
        for quad in quads {
            self.add(graphs, quad);
        }
        self.seen = FxHashSet::default();
    }

    fn clear(&mut self) {
        self.quads.clear();
        self.seen.clear();
        self.term_of_class.clear();
        self.present.take();
        self.has_named = false;
    }

    #[inline]
    fn add(&mut self, graphs: &GraphClasses, quad: Quad) {
        let [subject, predicate, object, graph] = quad;
        let (is_default, is_named) = graphs.has(graph);
        self.has_named |= graph != DEFAULT_GRAPH;
        if is_default {
            self.push([subject, predicate, object, DEFAULT_GRAPH]);
        }
        if is_named {
            self.push(quad);
        }
    }

    #[inline]
    fn push(&mut self, quad: Quad) {
        let is_new = if self.quads.len() < FEW_QUADS {
            !self.quads.contains(&quad)
        } else {
            if self.seen.is_empty() {
                self.seen.extend(&self.quads);
            }
            self.seen.insert(quad)
        };
        if is_new {
            self.quads.push(quad);
        }
    }

    /// Returns the classes of the message's terms, with duplicates.
    pub fn classes(&self) -> impl Iterator<Item = u32> + Clone {
        self.quads.iter().flatten().copied()
    }

    /// Returns the class of a query term, or `None` if no message of the batch contains it. Also
    /// returns `None` if this message does not contain the term and other messages spell it
    /// differently, so that results keep the spelling of the query.
    pub fn find(&self, dictionary: &Dictionary<'_>, term: &Term) -> Option<u32> {
        let class = dictionary.find(term)?;
        (dictionary.is_spelled_as(class, term) || self.has(class)).then_some(class)
    }

    /// Whether a quad contains a term of a class.
    pub fn has(&self, class: u32) -> bool {
        if self.quads.len() <= FEW_QUADS {
            return self.quads.iter().any(|quad| quad.contains(&class));
        }
        let all = || {
            budget::step();
            self.classes().collect()
        };
        self.present.get_or_init(all).contains(&class)
    }

    /// Returns the term of a class as spelled in this message.
    #[inline]
    pub fn term_in_message(&self, class: u32) -> TermId {
        TermId(self.term_of_class.get(&class).copied().unwrap_or(class))
    }
}

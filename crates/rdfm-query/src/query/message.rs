//! The quads of a message as SPARQL sees them: a dataset.
//!
//! - In: a message of a batch, and which of its graphs are queried. Out: its quads by class, each once, in order.
//! - Law: how the message came to its batch changes nothing but the numbers of classes.

use std::cell::OnceCell;

use oxrdf::{NamedNode, Term};
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::term::TermId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::budget;
use super::dictionary::{DEFAULT_GRAPH, Dictionary};

/// Quads up to which repeated ones are looked for one by one.
const FEW: usize = 16;

/// Subject, predicate, object and graph, by class.
pub type Quad = [u32; 4];

/// Which graphs are queried.
#[derive(Clone, Debug, Default)]
pub enum Graphs {
    /// The default graph, and all named graphs.
    #[default]
    AsTheyAre,
    /// All graphs together as the default graph, and all named graphs.
    Union,
    /// Those of `FROM` together as the default graph, and those of `FROM NAMED`.
    Named(Vec<NamedNode>, Vec<NamedNode>),
}

impl Graphs {
    /// By classes of a batch.
    pub fn by_class(&self, dictionary: &Dictionary<'_>) -> GraphClasses {
        let classes = |names: &[NamedNode]| {
            let found = names.iter().map(|name| name.clone().into());
            found.filter_map(|name| dictionary.find(&name)).collect()
        };
        match self {
            Self::AsTheyAre => GraphClasses::AsTheyAre,
            Self::Union => GraphClasses::Union,
            Self::Named(default, named) => GraphClasses::Named(classes(default), classes(named)),
        }
    }
}

/// As [`Graphs`], by classes of a batch.
pub enum GraphClasses {
    /// The default graph, and all named graphs.
    AsTheyAre,
    /// All graphs together as the default graph, and all named graphs.
    Union,
    /// These graphs together as the default graph, and these.
    Named(Vec<u32>, Vec<u32>),
}

impl GraphClasses {
    /// Whether a graph's triples are of the default graph, and whether it is a named graph.
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

/// The quads of a message, each once.
#[derive(Default)]
pub struct Message {
    /// In order of their first appearance.
    pub quads: Vec<Quad>,
    /// Those of many, to find repeated ones.
    seen: FxHashSet<Quad>,
    /// How terms are written in this message whose class is written in different ways.
    written: FxHashMap<u32, u32>,
    /// The classes of the terms of many quads, once somebody asks for one.
    present: OnceCell<FxHashSet<u32>>,
    /// Whether a named graph has quads.
    pub has_named: bool,
}

impl Message {
    /// Takes a message of a batch.
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
            if dictionary.varies() {
                for (id, class) in ids.into_iter().zip(classes) {
                    self.written.entry(class).or_insert(id.0);
                }
            }
            self.add(graphs, classes);
        }
    }

    /// Takes quads that lie in memory, each once.
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
        self.written.clear();
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
        let is_new = if self.quads.len() < FEW {
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

    /// The classes of its terms.
    pub fn classes(&self) -> impl Iterator<Item = u32> + Clone {
        self.quads.iter().flatten().copied()
    }

    /// The class of a term of a query. None as well where other messages have the term, written otherwise: then it is
    /// as the query has it.
    pub fn find(&self, dictionary: &Dictionary<'_>, term: &Term) -> Option<u32> {
        let class = dictionary.find(term)?;
        (dictionary.writes(class, term) || self.has(class)).then_some(class)
    }

    /// Whether a quad has a term of a class.
    pub fn has(&self, class: u32) -> bool {
        if self.quads.len() <= FEW {
            return self.quads.iter().any(|quad| quad.contains(&class));
        }
        let all = || {
            budget::step();
            self.classes().collect()
        };
        self.present.get_or_init(all).contains(&class)
    }

    /// The term of a class as this message has it.
    #[inline]
    pub fn written(&self, class: u32) -> TermId {
        TermId(self.written.get(&class).copied().unwrap_or(class))
    }
}

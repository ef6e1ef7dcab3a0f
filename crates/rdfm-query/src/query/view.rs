//! The evaluator's access to the quads of a message.
//!
//! - In: the quads of a message as classes of equal terms, and the dictionary of these classes.
//!   Out: the quads that match a pattern.
//! - Cost: a message with few quads is scanned. Otherwise its quads are sorted once for each order
//!   that a query needs.

use std::cell::{OnceCell, RefCell};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;

use oxrdf::{Literal, NamedNode, Term};
use rdfm_core::model::term::TermId;
use rustc_hash::{FxHashMap, FxHashSet};
use spareval::{ExpressionTerm, InternalQuad, QueryableDataset};

use super::budget;
use super::dictionary::{DEFAULT_GRAPH, Dictionary, hash_of};
use super::graphs::{class_of_name, name_of_class};
use super::message::{Message, Quad};
use super::order::{is_marker, key, key_of};

/// Maximum number of quads in a message that is scanned.
const FEW_QUADS: usize = 24;
/// Maximum size of the cached ORDER BY keys in bytes, including the overhead of each entry.
const MAX_KEY_BYTES: usize = 64 << 20;
/// Overhead of a cached key in bytes.
const KEY_OVERHEAD: usize = 48;
/// Order of the quad positions in each index.
const ORDERS: [[usize; 4]; 4] = [[0, 1, 2, 3], [1, 2, 0, 3], [2, 0, 1, 3], [3, 0, 1, 2]];

/// A term during evaluation: a class of equal terms, or a term that the query computed and that no
/// quad of the batch contains.
#[derive(PartialEq, Eq)]
pub struct EvaluationTerm(Inner);

#[derive(Clone, PartialEq, Eq)]
enum Inner {
    /// A class and its hash.
    Class(u32, u32),
    Computed(Rc<Computed>),
    /// ORDER BY key of a class.
    KeyOf(u32),
    /// ORDER BY key of a computed term.
    KeyOfComputed(Rc<Computed>),
}

/// A computed term. It counts towards the limit until it is dropped.
#[derive(PartialEq, Eq)]
struct Computed(Term);

impl Computed {
    fn weight(&self) -> u64 {
        1 + length(&self.0) as u64 / budget::BYTES
    }
}

/// Number of bytes of text in a term. The recursion depth is the nesting depth of triple terms.
pub(super) fn length(term: &Term) -> usize {
    match term {
        Term::Literal(literal) => {
            // Datatype names are short unless a query computes them.
            let datatype = literal.datatype().as_str().len().saturating_sub(64);
            literal.value().len() + literal.language().map_or(0, str::len) + datatype
        }
        Term::NamedNode(iri) => iri.as_str().len(),
        Term::BlankNode(_) => 0,
        Term::Triple(triple) => {
            let subject = length(&triple.subject.clone().into());
            subject + triple.predicate.as_str().len() + length(&triple.object)
        }
    }
}

impl Drop for Computed {
    fn drop(&mut self) {
        budget::release(self.weight());
    }
}

impl EvaluationTerm {
    fn from_class(dictionary: &Dictionary<'_>, class: u32) -> Self {
        budget::acquire(1);
        Self(Inner::Class(class, dictionary.hash(class)))
    }

    fn class(&self) -> Option<u32> {
        match self.0 {
            Inner::Class(class, _) => Some(class),
            Inner::Computed(_) | Inner::KeyOf(_) | Inner::KeyOfComputed(_) => None,
        }
    }
}

impl Clone for EvaluationTerm {
    fn clone(&self) -> Self {
        budget::acquire(1);
        Self(self.0.clone())
    }
}

impl Drop for EvaluationTerm {
    fn drop(&mut self) {
        budget::release(1);
    }
}

impl Hash for EvaluationTerm {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            // The order of rows may depend on this hash, so it must be the same in every batch.
            Inner::Class(_, hash) => hash.hash(state),
            Inner::Computed(term) | Inner::KeyOfComputed(term) => hash_of(&term.0).hash(state),
            Inner::KeyOf(class) => class.hash(state),
        }
    }
}

/// The quads of a message as the evaluator sees them.
pub struct View<'d> {
    dictionary: &'d Dictionary<'d>,
    message: &'d Message,
    /// Graphs named by `FROM NAMED`. They belong to the dataset even if they have no quads.
    named: Option<&'d [NamedNode]>,
    sorted: [OnceCell<Vec<u32>>; ORDERS.len()],
    /// The last term that an expression read.
    last: RefCell<Option<Inner>>,
    keys: RefCell<OrderKeys>,
}

/// A cache of class keys with a limited size.
#[derive(Default)]
struct OrderKeys {
    by_class: FxHashMap<u32, Box<str>>,
    bytes: usize,
}

impl<'d> View<'d> {
    /// Creates a view of a message. `named` contains the named graphs of the dataset, if the query
    /// lists them.
    pub fn new(
        dictionary: &'d Dictionary<'d>,
        message: &'d Message,
        named: Option<&'d [NamedNode]>,
    ) -> Self {
        Self {
            dictionary,
            message,
            named,
            sorted: Default::default(),
            last: RefCell::default(),
            keys: RefCell::default(),
        }
    }

    /// Returns the ORDER BY key of a class.
    fn key(&self, class: u32) -> String {
        let mut keys = self.keys.borrow_mut();
        if let Some(key) = keys.by_class.get(&class) {
            return (**key).to_owned();
        }
        let key = key_of(self.dictionary.table(), TermId(class));
        if keys.bytes + key.len() < MAX_KEY_BYTES {
            keys.bytes += key.len() + KEY_OVERHEAD;
            keys.by_class.insert(class, key.as_str().into());
        }
        key
    }

    /// Returns the named graphs, as names for `GRAPH`.
    pub fn graph_names(&self) -> Vec<NamedNode> {
        if let Some(named) = self.named {
            let mut seen = FxHashSet::default();
            return named
                .iter()
                .filter(|name| seen.insert(*name))
                .cloned()
                .collect();
        }
        self.graphs().into_iter().map(name_of_class).collect()
    }

    /// Returns the classes of the graphs that have quads.
    fn graphs(&self) -> Vec<u32> {
        let mut graphs: Vec<u32> = Vec::new();
        if self.message.quads.len() <= FEW_QUADS {
            for &[.., graph] in &self.message.quads {
                if graph != DEFAULT_GRAPH && !graphs.contains(&graph) {
                    graphs.push(graph);
                }
            }
        } else {
            let numbers = self.sorted_quads(3).iter();
            graphs.extend(numbers.map(|&index| self.message.quads[index as usize][3]));
            graphs.dedup();
            graphs.retain(|&graph| graph != DEFAULT_GRAPH);
        }
        graphs
    }

    /// Returns the representation of a query term.
    fn internalize(&self, term: Term) -> EvaluationTerm {
        if let Term::NamedNode(name) = &term
            && let Some(class) = class_of_name(name)
        {
            return EvaluationTerm::from_class(self.dictionary, class);
        }
        if let Some(class) = self.message.find(self.dictionary, &term) {
            return EvaluationTerm::from_class(self.dictionary, class);
        }
        let computed = Rc::new(Computed(term));
        budget::acquire(1 + computed.weight());
        EvaluationTerm(Inner::Computed(computed))
    }

    /// Sort key of a class: the hash, which is the same in every batch, and then the class.
    fn rank(&self, class: u32) -> (u32, u32) {
        (self.dictionary.hash(class), class)
    }

    /// Returns the quad numbers, sorted in one of the [`ORDERS`].
    fn sorted_quads(&self, order: usize) -> &[u32] {
        self.sorted[order].get_or_init(|| {
            let quads = &self.message.quads;
            let mut numbers: Vec<u32> = (0..quads.len() as u32).collect();
            numbers.sort_unstable_by_key(|&index| {
                let quad = quads[index as usize];
                (ORDERS[order].map(|part| self.rank(quad[part])), index)
            });
            numbers
        })
    }

    fn find(&self, selection: QuadSelection) -> MatchingQuads<'_> {
        let quads = self.message.quads.as_slice();
        let all = || MatchingQuads {
            quads,
            numbers: None,
            range: 0..quads.len(),
            selection,
        };
        if quads.len() <= FEW_QUADS {
            return all();
        }
        let bound = selection.bound_terms();
        let length = |order: &[usize; 4]| {
            let prefix = order.iter().take_while(|&&part| bound[part].is_some());
            prefix.count()
        };
        // The order with the most bound leading positions. If several tie, the first one is used.
        let best = (0..ORDERS.len())
            .rev()
            .max_by_key(|&index| length(&ORDERS[index]));
        let Some((order, bound_count)) = best.map(|index| (index, length(&ORDERS[index]))) else {
            return all();
        };
        if bound_count == 0 {
            return all();
        }
        let numbers = self.sorted_quads(order);
        let key = |index: u32| {
            let quad = quads[index as usize];
            let parts = ORDERS[order].iter().take(bound_count);
            parts.map(move |&part| self.rank(quad[part]))
        };
        let target = || {
            let parts = ORDERS[order].iter().take(bound_count);
            parts.map(|&part| self.rank(bound[part].unwrap_or_default()))
        };
        let start = numbers.partition_point(|&index| key(index).lt(target()));
        let end = start + numbers[start..].partition_point(|&index| key(index).eq(target()));
        MatchingQuads {
            quads,
            numbers: Some(numbers),
            range: start..end,
            selection,
        }
    }
}

/// A quad pattern.
#[derive(Clone, Copy)]
struct QuadSelection {
    triple: [Option<u32>; 3],
    /// Class of the graph. `None` matches any named graph.
    graph: Option<u32>,
    /// True if no quad matches.
    never: bool,
}

impl QuadSelection {
    fn bound_terms(self) -> [Option<u32>; 4] {
        let [subject, predicate, object] = self.triple;
        [subject, predicate, object, self.graph]
    }

    #[inline]
    fn is(self, quad: Quad) -> bool {
        let [subject, predicate, object, graph] = quad;
        let same = |bound: Option<u32>, class: u32| bound.is_none_or(|bound| bound == class);
        !self.never
            && same(self.triple[0], subject)
            && same(self.triple[1], predicate)
            && same(self.triple[2], object)
            && self
                .graph
                .map_or(graph != DEFAULT_GRAPH, |bound| bound == graph)
    }
}

/// An iterator over the quads that match a pattern.
struct MatchingQuads<'d> {
    quads: &'d [Quad],
    numbers: Option<&'d [u32]>,
    range: Range<usize>,
    selection: QuadSelection,
}

impl Iterator for MatchingQuads<'_> {
    type Item = Quad;

    fn next(&mut self) -> Option<Quad> {
        loop {
            let index = self.range.next()?;
            budget::step();
            let index = self
                .numbers
                .map_or(index, |numbers| numbers[index] as usize);
            let quad = self.quads[index];
            if self.selection.is(quad) {
                return Some(quad);
            }
        }
    }
}

/// A term in the data that SPARQL expressions do not support.
#[derive(Debug)]
pub struct UnsupportedTerm;

impl std::fmt::Display for UnsupportedTerm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a triple term that is valid only in generalized RDF cannot be evaluated")
    }
}

impl std::error::Error for UnsupportedTerm {}

/// Converts a key to the form that the evaluator compares.
fn of_key(key: String) -> ExpressionTerm {
    budget::count_scanned(key.len());
    ExpressionTerm::StringLiteral(key)
}

impl<'d> QueryableDataset<'d> for &'d View<'d> {
    type InternalTerm = EvaluationTerm;
    type Error = UnsupportedTerm;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&EvaluationTerm>,
        predicate: Option<&EvaluationTerm>,
        object: Option<&EvaluationTerm>,
        graph_name: Option<Option<&EvaluationTerm>>,
    ) -> impl Iterator<Item = Result<InternalQuad<EvaluationTerm>, UnsupportedTerm>> + use<'d> {
        let mut never = false;
        let mut class = |key: Option<&EvaluationTerm>| {
            let class = key.and_then(EvaluationTerm::class);
            never |= key.is_some() && class.is_none();
            class
        };
        let triple = [subject, predicate, object].map(&mut class);
        let graph =
            graph_name.map(|graph| graph.map_or(Some(DEFAULT_GRAPH), |key| class(Some(key))));
        let selection = QuadSelection {
            triple,
            graph: graph.flatten(),
            never,
        };
        let view: &'d View<'d> = self;
        view.find(selection)
            .map(|[subject, predicate, object, graph]| {
                let key = |class| EvaluationTerm::from_class(view.dictionary, class);
                Ok(InternalQuad {
                    subject: key(subject),
                    predicate: key(predicate),
                    object: key(object),
                    graph_name: (graph != DEFAULT_GRAPH).then(|| key(graph)),
                })
            })
    }

    fn internal_named_graphs(
        &self,
    ) -> impl Iterator<Item = Result<EvaluationTerm, UnsupportedTerm>> + use<'d> {
        let view: &'d View<'d> = self;
        let terms: Vec<EvaluationTerm> = if view.named.is_some() {
            let names = view.graph_names().into_iter();
            names.map(|name| view.internalize(name.into())).collect()
        } else {
            let classes = view.graphs().into_iter();
            classes
                .map(|class| EvaluationTerm::from_class(view.dictionary, class))
                .collect()
        };
        terms.into_iter().map(Ok)
    }

    fn contains_internal_graph_name(
        &self,
        graph_name: &EvaluationTerm,
    ) -> Result<bool, UnsupportedTerm> {
        if let Some(names) = self.named {
            let mut names = names
                .iter()
                .map(|name| self.internalize(name.clone().into()));
            return Ok(names.any(|name| name == *graph_name));
        }
        let quads = self.find(QuadSelection {
            triple: [None; 3],
            graph: graph_name.class(),
            never: graph_name.class().is_none(),
        });
        Ok(quads.into_iter().next().is_some())
    }

    fn internalize_term(&self, term: Term) -> Result<EvaluationTerm, UnsupportedTerm> {
        Ok(self.internalize(term))
    }

    fn externalize_term(&self, term: EvaluationTerm) -> Result<Term, UnsupportedTerm> {
        let term = match &term.0 {
            Inner::Class(class, _) => {
                let written = self.message.term_in_message(*class);
                self.dictionary.term(written.0).ok_or(UnsupportedTerm)?
            }
            Inner::Computed(term) => term.0.clone(),
            Inner::KeyOf(class) => Literal::from(self.key(*class)).into(),
            Inner::KeyOfComputed(term) => Literal::from(key(&term.0)).into(),
        };
        budget::count_scanned(length(&term));
        Ok(term)
    }

    fn externalize_expression_term(
        &self,
        term: EvaluationTerm,
    ) -> Result<ExpressionTerm, UnsupportedTerm> {
        let value = match &term.0 {
            Inner::Class(class, _) => self.dictionary.value(*class).ok_or(UnsupportedTerm)?,
            Inner::Computed(term) => term.0.clone(),
            Inner::KeyOf(class) => return Ok(of_key(self.key(*class))),
            Inner::KeyOfComputed(term) => return Ok(of_key(key(&term.0))),
        };
        budget::count_copied(length(&value));
        self.last.replace(Some(term.0.clone()));
        Ok(value.into())
    }

    fn internalize_expression_term(
        &self,
        term: ExpressionTerm,
    ) -> Result<EvaluationTerm, UnsupportedTerm> {
        if is_marker(&term) {
            let key = match self.last.take() {
                Some(Inner::Class(class, _)) => Inner::KeyOf(class),
                Some(Inner::Computed(term)) => Inner::KeyOfComputed(term),
                _ => return Err(UnsupportedTerm),
            };
            budget::acquire(1);
            return Ok(EvaluationTerm(key));
        }
        Ok(self.internalize(term.into()))
    }
}

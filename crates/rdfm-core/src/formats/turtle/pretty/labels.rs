//! The numbers of the blank nodes that are not nested.
//!
//! - In: a message's dataset and shape.
//! - Out: numbers in the order of the RDFC-1.0 labels, over the dataset in which each nested tree
//!   without labelled nodes is a literal of its text and count. Over all nodes, RDFC-1.0 fails on
//!   ordinary data, such as two nodes with nine equal children each.
//! - Cost: nothing for fewer than two such nodes; otherwise see [`rdfc`].
//!
//! RDFC-1.0 does not define blank nodes in triple terms. Such a triple term is a node with the
//! three parts as objects.

use std::io::Write as _;

use rustc_hash::FxHashMap;

use super::dataset::{NO_NUMBER, SortedDataset};
use super::order::SortedShape;
use crate::model::table::TermTable;
use crate::model::term::{TermId, TermKind};
use crate::model::write::write_string;
use crate::syntax::rdfc::{self, Effort, MAX_STEPS, RankedDataset, Terms};
use crate::syntax::shape::{MessageShape, NestingRule};
use crate::syntax::text::encode::{MAX_TEXT, StatementError};

/// Predicates from a triple term to its parts. No IRI has this text.
const PARTS: [&[u8]; 3] = [b"< 0> ", b"< 1> ", b"< 2> "];

/// Returns the number of each blank node, by rank.
pub fn number(
    table: &TermTable,
    dataset: &SortedDataset,
    shape: &mut MessageShape,
    rule: NestingRule,
) -> Result<Vec<u32>, StatementError> {
    let blanks = dataset.blanks();
    let mut numbers = vec![NO_NUMBER; blanks.len()];
    let mut order = SortedShape::new(table, dataset, shape, rule);
    let mut labelled = Vec::new();
    for rank in blanks.clone() {
        let id = dataset.id(rank);
        if order.nested_node(id).is_none() && !order.is_empty_node(id) {
            labelled.push(rank - blanks.start);
        }
    }
    if labelled.len() > 1 {
        let mut graph = LabelGraph::new(order, &labelled);
        graph.add_quads()?;
        let names = graph.number()?;
        labelled.sort_by_key(|blank| names[*blank as usize]);
    }
    for (number, blank) in labelled.into_iter().enumerate() {
        numbers[blank as usize] = number as u32;
    }
    Ok(numbers)
}

/// A term of the dataset for RDFC-1.0.
#[derive(Clone, Copy)]
enum LabelTerm {
    /// Index of a text.
    Text(u32),
    /// Index of a node.
    Node(u32),
}

/// The dataset for RDFC-1.0.
struct LabelGraph<'a> {
    order: SortedShape<'a>,
    is_labelled: Vec<bool>,
    /// Whether the tree of each node of the shape contains a labelled node.
    is_open: Vec<bool>,
    /// Texts, each followed by a space.
    buffer: Vec<u8>,
    texts: Vec<(u32, u32)>,
    /// Index of the text of each ground term.
    by_id: FxHashMap<TermId, u32>,
    /// Node of each triple term with blank nodes.
    triples: FxHashMap<TermId, u32>,
    /// Number of nodes: the blank nodes, then the triple terms.
    nodes: u32,
    quads: Vec<[LabelTerm; 4]>,
}

impl<'a> LabelGraph<'a> {
    fn new(order: SortedShape<'a>, labelled: &[u32]) -> Self {
        let blanks = order.dataset.blanks().len();
        let mut is_labelled = vec![false; blanks];
        for blank in labelled {
            is_labelled[*blank as usize] = true;
        }
        let mut graph = Self {
            is_labelled,
            is_open: vec![false; order.shape.nodes.len()],
            order,
            buffer: Vec::new(),
            texts: Vec::new(),
            by_id: FxHashMap::default(),
            triples: FxHashMap::default(),
            nodes: blanks as u32,
            quads: Vec::new(),
        };
        graph.find_open_trees();
        graph
    }

    fn find_open_trees(&mut self) {
        for node in 0..self.is_open.len() as u32 {
            if !self.order.shape.is_inside(node) || !self.has_labelled_object(node) {
                continue;
            }
            let mut next = Some(node);
            while let Some(node) = next
                && !std::mem::replace(&mut self.is_open[node as usize], true)
            {
                next = self.order.shape.parent(node);
            }
        }
    }

    fn has_labelled_object(&self, node: u32) -> bool {
        self.order.properties(node).any(|property| {
            (0..self.order.count_objects(property)).any(|index| {
                let object = self.order.object(property, index);
                match self.order.table.term(object).kind {
                    TermKind::BlankNode => self.is_labelled[self.blank(object) as usize],
                    _ => !self.order.dataset.is_ground(object),
                }
            })
        })
    }

    /// Index of a blank node.
    fn blank(&self, id: TermId) -> u32 {
        self.order.dataset.rank(id) - self.order.dataset.blanks().start
    }

    fn add_quads(&mut self) -> Result<(), StatementError> {
        for graph in 0..self.order.shape.graphs.len() {
            let name = self.order.graph(graph);
            for node in self.order.shape.graphs[graph].nodes.clone() {
                if self.order.shape.is_inside(node) && !self.is_open[node as usize] {
                    continue;
                }
                let subject = self.order.subject(node);
                for property in self.order.properties(node) {
                    self.add_property(name, subject, property)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the quads of a property. Equal trees become one literal with their number.
    fn add_property(
        &mut self,
        graph: TermId,
        subject: TermId,
        property: u32,
    ) -> Result<(), StatementError> {
        let predicate = self.term(self.order.predicate(property))?;
        let (graph, subject) = (self.term(graph)?, self.term(subject)?);
        let mut keys = Vec::new();
        let mut trees = Vec::new();
        for index in 0..self.order.count_objects(property) {
            let object = self.order.object(property, index);
            if self.is_closed_tree(object) {
                let start = keys.len();
                self.order.write_key(object, &mut keys)?;
                trees.push(start..keys.len());
            } else {
                let object = self.term(object)?;
                self.quads.push([subject, predicate, object, graph]);
            }
        }
        trees.sort_by(|a, b| keys[a.clone()].cmp(&keys[b.clone()]));
        for equal in trees.chunk_by(|a, b| keys[a.clone()] == keys[b.clone()]) {
            let start = self.buffer.len();
            write_string(&keys[equal[0].clone()], false, &mut self.buffer);
            // No datatype has this text. Writing to a vector does not fail.
            let _ = write!(self.buffer, "^^< {}> ", equal.len());
            let object = LabelTerm::Text(self.end_text(start)?);
            self.quads.push([subject, predicate, object, graph]);
        }
        Ok(())
    }

    fn is_closed_tree(&mut self, object: TermId) -> bool {
        match self.order.nested_node(object) {
            Some(node) => !self.is_open[node as usize],
            None => self.order.is_empty_node(object),
        }
    }

    fn term(&mut self, id: TermId) -> Result<LabelTerm, StatementError> {
        if self.order.table.term(id).kind == TermKind::BlankNode {
            return Ok(LabelTerm::Node(self.blank(id)));
        }
        if id == TermId::DEFAULT_GRAPH {
            let start = self.buffer.len();
            return Ok(LabelTerm::Text(self.end_text(start)?));
        }
        if !self.order.dataset.is_ground(id) {
            return self.triple(id);
        }
        let id = self.order.dataset.unique_id(id);
        if let Some(index) = self.by_id.get(&id) {
            return Ok(LabelTerm::Text(*index));
        }
        let start = self.buffer.len();
        self.buffer.extend_from_slice(self.order.dataset.text(id));
        if self.order.table.term(id).kind == TermKind::Iri {
            self.buffer.pop();
            self.buffer.extend_from_slice(b"> ");
        }
        let index = self.end_text(start)?;
        self.by_id.insert(id, index);
        Ok(LabelTerm::Text(index))
    }

    fn triple(&mut self, id: TermId) -> Result<LabelTerm, StatementError> {
        let id = self.order.dataset.unique_id(id);
        if let Some(node) = self.triples.get(&id) {
            return Ok(LabelTerm::Node(*node));
        }
        let node = self.nodes;
        self.nodes += 1;
        self.triples.insert(id, node);
        let graph = self.term(TermId::DEFAULT_GRAPH)?;
        let parts = self.order.table.triple(self.order.table.term(id));
        for (part, predicate) in parts.into_iter().zip(PARTS) {
            let start = self.buffer.len();
            self.buffer.extend_from_slice(predicate);
            let predicate = LabelTerm::Text(self.end_text(start)?);
            let part = self.term(part)?;
            self.quads
                .push([LabelTerm::Node(node), predicate, part, graph]);
        }
        Ok(LabelTerm::Node(node))
    }

    /// Ends a text. Returns its index.
    fn end_text(&mut self, start: usize) -> Result<u32, StatementError> {
        if self.buffer.len() > MAX_TEXT {
            return Err(StatementError::TooLong);
        }
        self.texts.push((start as u32, self.buffer.len() as u32));
        Ok(self.texts.len() as u32 - 1)
    }

    /// Returns the numbers of the nodes.
    fn number(self) -> Result<Vec<u32>, StatementError> {
        let text = |(start, end): (u32, u32)| &self.buffer[start as usize..end as usize];
        let mut order: Vec<u32> = (0..self.texts.len() as u32).collect();
        order.sort_by(|a, b| text(self.texts[*a as usize]).cmp(text(self.texts[*b as usize])));
        let mut ranges: Vec<(u32, u32)> = Vec::with_capacity(order.len());
        let mut ranks = vec![0; order.len()];
        for index in order {
            let range = self.texts[index as usize];
            if ranges.last().is_none_or(|last| text(*last) != text(range)) {
                ranges.push(range);
            }
            ranks[index as usize] = ranges.len() as u32 - 1;
        }
        let first_node = ranges.len() as u32;
        let rank = |term| match term {
            LabelTerm::Text(index) => ranks[index as usize],
            LabelTerm::Node(node) => first_node + node,
        };
        let mut quads: Vec<[u32; 4]> = self.quads.iter().map(|quad| quad.map(rank)).collect();
        quads.sort_unstable();
        quads.dedup();
        let terms = Terms {
            buffer: self.buffer,
            ranges,
        };
        let view = RankedDataset {
            quads: &quads,
            terms: &terms,
            nodes: &(first_node..first_node + self.nodes),
        };
        rdfc::number(view, Effort::new(MAX_STEPS)).map_err(|_| StatementError::TooManySteps)
    }
}

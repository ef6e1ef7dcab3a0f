//! The order of graphs, subjects and objects.
//!
//! - In: a message's dataset and shape. Out: sorted indices.
//! - Cost: objects are compared by rank. If one of several objects contains a blank node, their
//!   texts are compared: a nested node is copied once per level.

use std::io::Write as _;

use super::dataset::SortedDataset;
use crate::model::table::TermTable;
use crate::model::term::{TermId, TermKind};
use crate::syntax::shape::{MessageShape, NestingRule};
use crate::syntax::text::encode::{MAX_TEXT, StatementError};

/// The shape of a message, in the order of writing.
pub struct SortedShape<'a> {
    pub table: &'a TermTable,
    pub dataset: &'a SortedDataset,
    pub shape: &'a mut MessageShape,
    rule: NestingRule,
    /// Texts of objects that are being sorted.
    keys: Vec<u8>,
}

impl<'a> SortedShape<'a> {
    pub const fn new(
        table: &'a TermTable,
        dataset: &'a SortedDataset,
        shape: &'a mut MessageShape,
        rule: NestingRule,
    ) -> Self {
        Self {
            table,
            dataset,
            shape,
            rule,
            keys: Vec::new(),
        }
    }

    /// The graphs: the default graph, then IRIs, then blank nodes.
    pub fn graphs(&self) -> Vec<usize> {
        let mut graphs: Vec<usize> = (0..self.shape.graphs.len()).collect();
        graphs.sort_by_key(|graph| self.dataset.position(self.graph(*graph)));
        graphs
    }

    /// The name of a graph.
    pub fn graph(&self, graph: usize) -> TermId {
        self.shape.graphs[graph].name
    }

    /// The nodes of a graph that are not nested: IRIs, then blank nodes.
    pub fn top_nodes(&self, graph: usize) -> Vec<u32> {
        let nodes = self.shape.graphs[graph].nodes.clone();
        let mut nodes: Vec<u32> = nodes.filter(|node| !self.shape.is_inside(*node)).collect();
        nodes.sort_by_key(|node| self.dataset.position(self.subject(*node)));
        nodes
    }

    pub fn subject(&self, node: u32) -> TermId {
        self.shape.nodes[node as usize].subject
    }

    /// The properties of a node. They are sorted, because the quads are.
    pub fn properties(&self, node: u32) -> std::ops::Range<u32> {
        self.shape.nodes[node as usize].properties.clone()
    }

    pub fn predicate(&self, property: u32) -> TermId {
        self.shape.properties[property as usize].predicate
    }

    pub fn count_objects(&self, property: u32) -> u32 {
        self.shape.places(property).len() as u32
    }

    pub fn object(&self, property: u32, index: u32) -> TermId {
        let place = self.shape.places(property).start + index;
        self.shape.quad(&self.dataset.quads, place).object
    }

    pub fn number(&self, id: TermId) -> u32 {
        self.dataset.number(id)
    }

    pub fn nested_node(&mut self, id: TermId) -> Option<u32> {
        self.shape.nested_node(self.table, id)
    }

    /// Whether a blank node is written as `[]`.
    pub fn is_empty_node(&mut self, id: TermId) -> bool {
        self.shape.is_empty_node(self.table, id, self.rule)
    }

    pub fn is_nil(&mut self, id: TermId) -> bool {
        self.shape.is_nil(self.table, id)
    }

    pub fn is_list(&self, node: u32) -> bool {
        self.shape.is_list(node)
    }

    /// The item and the rest of a list cell.
    pub fn cell(&self, node: u32) -> Option<(TermId, TermId)> {
        let (first, rest) = self.shape.cell(&self.dataset.quads, node)?;
        Some((first.object, rest.object))
    }

    /// Sorts the objects of a property by their text. Ground objects are sorted already.
    pub fn sort_objects(&mut self, property: u32) -> Result<(), StatementError> {
        let count = self.count_objects(property);
        let is_sorted =
            (0..count).all(|index| self.dataset.is_ground(self.object(property, index)));
        if count < 2 || is_sorted {
            return Ok(());
        }
        let mut keys = std::mem::take(&mut self.keys);
        let start = keys.len();
        let result = self.write_object_keys(property, &mut keys);
        keys.truncate(start);
        self.keys = keys;
        result
    }

    /// Sorts the objects of a property by their text, and appends their texts.
    fn write_object_keys(
        &mut self,
        property: u32,
        keys: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        let start = keys.len();
        let count = self.count_objects(property);
        let mut ranges = Vec::with_capacity(count as usize);
        for index in 0..count {
            let from = keys.len();
            self.write_key(self.object(property, index), keys)?;
            ranges.push((
                from,
                keys.len(),
                self.shape.order_mut(property)[index as usize],
            ));
        }
        let text = |from: usize, to: usize| &keys[from..to];
        if ranges.is_sorted_by(|a, b| text(a.0, a.1) <= text(b.0, b.1)) {
            return Ok(());
        }
        ranges.sort_by(|a, b| text(a.0, a.1).cmp(text(b.0, b.1)));
        let end = keys.len();
        for (place, (from, to, quad)) in ranges.into_iter().enumerate() {
            self.shape.order_mut(property)[place] = quad;
            keys.extend_from_within(from..to);
        }
        keys.drain(start..end);
        Ok(())
    }

    /// Appends the text of an object by which it is sorted, and a space. Labels have numbers of ten
    /// digits, so that they are sorted by number.
    pub fn write_key(&mut self, id: TermId, keys: &mut Vec<u8>) -> Result<(), StatementError> {
        if keys.len() > MAX_TEXT {
            return Err(StatementError::TooLong);
        }
        let term = self.table.term(id);
        match term.kind {
            TermKind::BlankNode => {
                if let Some(node) = self.nested_node(id) {
                    return self.write_node_key(node, keys);
                }
                if self.is_empty_node(id) {
                    keys.extend_from_slice(b"[ ] ");
                } else {
                    // Writing to a vector does not fail.
                    let _ = write!(keys, "_:b{:010} ", self.number(id));
                }
            }
            TermKind::TripleTerm if !self.dataset.is_ground(id) => {
                keys.extend_from_slice(b"<<( ");
                for part in self.table.triple(term) {
                    self.write_key(part, keys)?;
                }
                keys.extend_from_slice(b")>> ");
            }
            _ => keys.extend_from_slice(self.dataset.text(id)),
        }
        Ok(())
    }

    fn write_node_key(&mut self, node: u32, keys: &mut Vec<u8>) -> Result<(), StatementError> {
        if self.is_list(node) {
            keys.extend_from_slice(b"( ");
            let mut cell = Some(node);
            while let Some((first, rest)) = cell.and_then(|cell| self.cell(cell)) {
                self.write_key(first, keys)?;
                cell = self.nested_node(rest);
            }
            keys.extend_from_slice(b") ");
            return Ok(());
        }
        keys.extend_from_slice(b"[ ");
        for property in self.properties(node) {
            keys.extend_from_slice(self.dataset.text(self.predicate(property)));
            self.write_object_keys(property, keys)?;
            keys.extend_from_slice(b"; ");
        }
        keys.extend_from_slice(b"] ");
        Ok(())
    }
}

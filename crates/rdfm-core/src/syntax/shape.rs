//! The structure of a message: graphs, nodes, properties, nested blank nodes and lists.
//!
//! - In: a message's quads, without repetitions for the rule below.
//! - Out: [`MessageShape`], the quads grouped by graph, subject and predicate, each in the order of
//!   first occurrence.
//! - Cost: linear in the quads. The memory for a batch's terms and a message's quads is reused.
//! - Law: the result depends only on the message. Every quad is in one property of one node.
//!
//! A blank node is nested in another node if exactly one quad has it as object and nothing else
//! refers to it: neither a graph nor a triple term. That quad must be in the graph of the blank
//! node's own quads. The nodes of a cycle are not nested, nor are nodes deeper than
//! [`NestingRule::max_depth`]: readers limit the depth. The cells of a list have the same depth.

use std::hash::BuildHasher;
use std::ops::Range;

use rustc_hash::FxBuildHasher;

use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId, TermKind};

/// The part of the rule that depends on the format.
#[derive(Clone, Copy, Debug)]
pub struct NestingRule {
    /// Maximum depth of nested nodes.
    pub max_depth: u8,
    /// Whether the object of `rdf:type` may be nested.
    pub types: bool,
}

const RDF: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// Role of an IRI in the shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RdfTerm {
    /// Any other term.
    #[default]
    Other,
    Type,
    First,
    Rest,
    Nil,
}

/// A graph of the message.
pub struct Graph {
    /// Name of the graph.
    pub name: TermId,
    /// Range of its [`MessageShape::nodes`].
    pub nodes: Range<u32>,
}

/// A subject within a graph.
pub struct ShapeNode {
    /// The subject.
    pub subject: TermId,
    /// Range of its [`MessageShape::properties`].
    pub properties: Range<u32>,
    /// The node in which this node may be nested.
    parent: Option<u32>,
    nesting: NodeNesting,
    depth: u8,
    list: ListCell,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NodeNesting {
    Unknown,
    /// On the path that is being followed from a node to the nodes that contain it.
    Walked,
    Top,
    Inside,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ListCell {
    Unknown,
    Walked,
    Cell,
    No,
}

/// A predicate of a node.
pub struct ShapeProperty {
    /// The predicate.
    pub predicate: TermId,
    /// Role of the predicate.
    pub role: RdfTerm,
    /// Range of its quads in the order of the shape.
    pub quads: Range<u32>,
}

/// Cached properties of a term, by term id.
#[derive(Clone, Copy, Default)]
struct CachedTerm {
    generation: u32,
    /// First id in this batch with the same text.
    first_id: TermId,
    role: RdfTerm,
}

/// State of a blank node of the message, by term id.
#[derive(Clone, Copy, Default)]
struct Blank {
    generation: u32,
    /// Number of quads that have the blank node as object. Any other use counts twice, so that the
    /// blank node is not nested.
    uses: u32,
    /// The node whose subject is the blank node, and the number of such nodes: one per graph.
    node: u32,
    nodes: u32,
    /// The node of a quad that has the blank node as object.
    user: u32,
    /// The graph of that quad, and the graph of the blank node's quads.
    used_in: u32,
    subject_in: u32,
}

/// Numbers assigned to terms. All numbers can be reset at once.
#[derive(Default)]
struct TermMarks {
    entries: Vec<(u32, u32)>,
    generation: u32,
}

impl TermMarks {
    fn begin(&mut self, terms: usize) {
        if self.entries.len() < terms {
            self.entries.resize(terms, (0, 0));
        }
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.entries.fill((0, 0));
            self.generation = 1;
        }
    }

    /// Returns the number of a term; a new term gets the given number.
    #[inline]
    fn assign_number(&mut self, id: TermId, new: u32) -> u32 {
        let entry = &mut self.entries[id.index()];
        if entry.0 != self.generation {
            *entry = (self.generation, new);
        }
        entry.1
    }
}

/// The shape of one message at a time.
#[derive(Default)]
pub struct MessageShape {
    /// Indices of the message's quads.
    order: Vec<u32>,
    pub graphs: Vec<Graph>,
    pub nodes: Vec<ShapeNode>,
    pub properties: Vec<ShapeProperty>,
    entries: Vec<CachedTerm>,
    /// Open-addressing table of ids by the hash of their strings.
    slots: Vec<(u32, TermId)>,
    batch: u32,
    blanks: Vec<Blank>,
    message: u32,
    marks: TermMarks,
    scratch: Vec<u32>,
    ranks: Vec<u32>,
    next: Vec<u32>,
    ends: Vec<u32>,
    walk: Vec<u32>,
}

impl MessageShape {
    /// Begins a batch: from now on, ids refer to its terms.
    pub fn begin_batch(&mut self, terms: usize) {
        if self.entries.len() < terms {
            self.entries.resize(terms, CachedTerm::default());
            self.blanks.resize(terms, Blank::default());
            self.slots = vec![(0, TermId(0)); (terms * 2).next_power_of_two()];
        }
        self.batch = self.batch.wrapping_add(1);
        if self.batch == 0 {
            self.entries.fill(CachedTerm::default());
            self.slots.fill((0, TermId(0)));
            self.batch = 1;
        }
    }

    /// Returns the entry of a term of the batch.
    #[inline]
    fn entry_of_term(&mut self, table: &TermTable, id: TermId) -> CachedTerm {
        let entry = self.entries[id.index()];
        if entry.generation == self.batch {
            return entry;
        }
        self.new_entry(table, id)
    }

    fn new_entry(&mut self, table: &TermTable, id: TermId) -> CachedTerm {
        let term = table.term(id);
        let text = table.text_of(term);
        let mask = self.slots.len() - 1;
        let mut index = FxBuildHasher.hash_one((text, term.kind)) as usize & mask;
        let mut entry = CachedTerm {
            generation: self.batch,
            first_id: id,
            role: RdfTerm::Other,
        };
        loop {
            let (generation, other) = self.slots[index];
            if generation != self.batch {
                self.slots[index] = (self.batch, id);
                if term.kind == TermKind::Iri {
                    entry.role = match text.strip_prefix(RDF) {
                        Some(b"type") => RdfTerm::Type,
                        Some(b"first") => RdfTerm::First,
                        Some(b"rest") => RdfTerm::Rest,
                        Some(b"nil") => RdfTerm::Nil,
                        _ => RdfTerm::Other,
                    };
                }
                break;
            }
            if table.term(other).kind == term.kind && table.text(other) == text {
                entry = self.entries[other.index()];
                break;
            }
            index = (index + 1) & mask;
        }
        self.entries[id.index()] = entry;
        entry
    }

    /// Places of a property's quads.
    pub fn places(&self, property: u32) -> Range<u32> {
        self.properties[property as usize].quads.clone()
    }

    /// Returns the quad at a place.
    #[inline]
    pub fn quad<'a>(&self, quads: &'a [Quad], rank: u32) -> &'a Quad {
        &quads[self.order[rank as usize] as usize]
    }

    /// Whether a node is nested in another.
    pub fn is_inside(&self, node: u32) -> bool {
        self.nodes[node as usize].nesting == NodeNesting::Inside
    }

    /// Returns the node in which a nested node is written.
    pub fn parent(&self, node: u32) -> Option<u32> {
        let node = &self.nodes[node as usize];
        node.parent.filter(|_| node.nesting == NodeNesting::Inside)
    }

    /// Whether this object is a blank node without properties that may be nested.
    pub fn is_empty_node(&mut self, table: &TermTable, object: TermId, rule: NestingRule) -> bool {
        let Some(&mut Blank {
            uses, nodes, user, ..
        }) = self.blank_mut(table, object)
        else {
            return false;
        };
        uses == 1 && nodes == 0 && self.nodes[user as usize].depth < rule.max_depth
    }

    /// The quads of a property, which may be reordered.
    pub fn order_mut(&mut self, property: u32) -> &mut [u32] {
        let Range { start, end } = self.places(property);
        &mut self.order[start as usize..end as usize]
    }

    /// Whether a node is a cell of a list that ends with rdf:nil.
    pub fn is_list(&self, node: u32) -> bool {
        self.nodes[node as usize].list == ListCell::Cell
    }

    /// Returns the node to be written in place of this object, if it is nested.
    pub fn nested_node(&mut self, table: &TermTable, object: TermId) -> Option<u32> {
        if table.term(object).kind != TermKind::BlankNode {
            return None;
        }
        let first_id = self.entry_of_term(table, object).first_id;
        let blank = self.blanks[first_id.index()];
        (blank.generation == self.message && blank.nodes == 1 && self.is_inside(blank.node))
            .then_some(blank.node)
    }

    /// Whether an object is rdf:nil.
    pub fn is_nil(&mut self, table: &TermTable, object: TermId) -> bool {
        table.term(object).kind == TermKind::Iri
            && self.entry_of_term(table, object).role == RdfTerm::Nil
    }

    /// Returns the quads of a cell's rdf:first and rdf:rest.
    pub fn cell<'a>(&self, quads: &'a [Quad], node: u32) -> Option<(&'a Quad, &'a Quad)> {
        let range = self.nodes[node as usize].properties.clone();
        let [a, b] = &self.properties[range.start as usize..range.end as usize] else {
            return None;
        };
        let (first, rest) = match (a.role, b.role) {
            (RdfTerm::First, RdfTerm::Rest) => (a, b),
            (RdfTerm::Rest, RdfTerm::First) => (b, a),
            _ => return None,
        };
        if first.quads.len() != 1 || rest.quads.len() != 1 {
            return None;
        }
        let quad =
            |property: &ShapeProperty| &quads[self.order[property.quads.start as usize] as usize];
        Some((quad(first), quad(rest)))
    }

    /// Computes the shape of a message. `graphs` is false if all quads are in the default graph.
    pub fn analyze(&mut self, table: &TermTable, quads: &[Quad], graphs: bool, rule: NestingRule) {
        self.message = self.message.wrapping_add(1);
        if self.message == 0 {
            self.blanks.fill(Blank::default());
            self.message = 1;
        }
        self.graphs.clear();
        self.nodes.clear();
        self.properties.clear();
        self.order.clear();
        self.order.extend(0..quads.len() as u32);
        let mut order = std::mem::take(&mut self.order);
        let mut blanks = false;
        let whole = 0..order.len();
        if graphs {
            let groups = self.group_quads(table, &mut order, whole, |index| {
                quads[index as usize].graph
            });
            let first = groups.start;
            for group in groups {
                let range = self.range(group);
                let name = quads[order[range.start] as usize].graph;
                blanks |= self.group_graph(table, quads, &mut order, range, name);
            }
            self.ends.truncate(first);
        } else {
            blanks |= self.group_graph(table, quads, &mut order, whole, TermId::DEFAULT_GRAPH);
        }
        self.order = order;
        if blanks {
            self.nest_blanks(table, quads, rule);
        } else {
            for node in &mut self.nodes {
                node.nesting = NodeNesting::Top;
                node.list = ListCell::No;
            }
        }
    }

    /// Groups the quads of a graph. Returns whether any object is a blank node.
    fn group_graph(
        &mut self,
        table: &TermTable,
        quads: &[Quad],
        order: &mut [u32],
        range: Range<usize>,
        name: TermId,
    ) -> bool {
        let first_node = self.nodes.len() as u32;
        let mut blanks = false;
        let subjects = self.group_quads(table, order, range, |index| quads[index as usize].subject);
        for group in subjects.clone() {
            let range = self.range(group);
            let subject = quads[order[range.start] as usize].subject;
            let first_property = self.properties.len() as u32;
            let predicates =
                self.group_quads(table, order, range, |index| quads[index as usize].predicate);
            for group in predicates.clone() {
                let range = self.range(group);
                let predicate = quads[order[range.start] as usize].predicate;
                let role = self.entry_of_term(table, predicate).role;
                for &index in &order[range.clone()] {
                    blanks |= table.term(quads[index as usize].object).kind == TermKind::BlankNode;
                }
                self.properties.push(ShapeProperty {
                    predicate,
                    role,
                    quads: range.start as u32..range.end as u32,
                });
            }
            self.ends.truncate(predicates.start);
            self.nodes.push(ShapeNode {
                subject,
                properties: first_property..self.properties.len() as u32,
                parent: None,
                nesting: NodeNesting::Unknown,
                depth: 0,
                list: ListCell::Unknown,
            });
        }
        self.ends.truncate(subjects.start);
        self.graphs.push(Graph {
            name,
            nodes: first_node..self.nodes.len() as u32,
        });
        blanks
    }

    /// Groups quads with equal terms in the order of first occurrence. Returns the numbers of the
    /// groups. Their ranges stay on a stack until the caller removes them.
    fn group_quads(
        &mut self,
        table: &TermTable,
        order: &mut [u32],
        range: Range<usize>,
        term: impl Fn(u32) -> TermId,
    ) -> Range<usize> {
        let start = range.start;
        let slice = &mut order[range];
        self.marks.begin(table.terms().len());
        self.ranks.clear();
        let mut groups = 0;
        let mut sorted = true;
        let mut last = None;
        let mut rank = 0;
        for &index in &*slice {
            let id = term(index);
            if last != Some(id) {
                last = Some(id);
                let first_id = self.entry_of_term(table, id).first_id;
                let group = self.marks.assign_number(first_id, groups);
                groups += u32::from(group == groups);
                sorted &= group >= rank;
                rank = group;
            }
            self.ranks.push(rank);
        }
        let first = self.ends.len();
        self.ends.resize(first + groups as usize + 1, 0);
        let ends = &mut self.ends[first..];
        for &rank in &self.ranks {
            ends[rank as usize + 1] += 1;
        }
        let mut sum = start as u32;
        for end in &mut *ends {
            sum += *end;
            *end = sum;
        }
        if !sorted {
            self.scratch.clear();
            self.scratch.extend_from_slice(slice);
            self.next.clear();
            self.next.extend_from_slice(ends);
            for (&index, &rank) in self.scratch.iter().zip(&self.ranks) {
                let next_rank = &mut self.next[rank as usize];
                slice[*next_rank as usize - start] = index;
                *next_rank += 1;
            }
        }
        first..first + groups as usize
    }

    /// Range of a group that [`Self::group_quads`] returned.
    fn range(&self, group: usize) -> Range<usize> {
        self.ends[group] as usize..self.ends[group + 1] as usize
    }

    /// Determines the nested blank nodes and the lists.
    fn nest_blanks(&mut self, table: &TermTable, quads: &[Quad], rule: NestingRule) {
        self.count_uses(table, quads, rule);
        for index in 0..self.nodes.len() {
            let subject = self.nodes[index].subject;
            let user = match table.term(subject).kind {
                TermKind::BlankNode => {
                    let first_id = self.entry_of_term(table, subject).first_id;
                    let blank = &self.blanks[first_id.index()];
                    (blank.uses == 1 && blank.nodes == 1 && blank.used_in == blank.subject_in)
                        .then_some(blank.user)
                }
                _ => None,
            };
            let node = &mut self.nodes[index];
            node.parent = user;
            if user.is_none() {
                node.nesting = NodeNesting::Top;
                node.list = ListCell::No;
            }
        }
        for node in 0..self.nodes.len() as u32 {
            self.find_list(table, quads, node);
        }
        for node in 0..self.nodes.len() as u32 {
            self.decide_nesting(table, quads, node, rule.max_depth);
        }
    }

    fn count_uses(&mut self, table: &TermTable, quads: &[Quad], rule: NestingRule) {
        for graph_at in 0..self.graphs.len() {
            let graph = &self.graphs[graph_at];
            let (name, nodes) = (graph.name, graph.nodes.clone());
            if let Some(blank) = self.blank_mut(table, name) {
                blank.uses += 2;
            }
            for node_at in nodes {
                let node = &self.nodes[node_at as usize];
                let (subject, properties) = (node.subject, node.properties.clone());
                if let Some(blank) = self.blank_mut(table, subject) {
                    blank.nodes += 1;
                    blank.node = node_at;
                    blank.subject_in = graph_at as u32;
                }
                for property_at in properties {
                    let property = &self.properties[property_at as usize];
                    let uses = 1 + u32::from(property.role == RdfTerm::Type && !rule.types);
                    for index in property.quads.clone() {
                        let object = quads[self.order[index as usize] as usize].object;
                        if let Some(blank) = self.blank_mut(table, object) {
                            blank.uses += uses;
                            blank.user = node_at;
                            blank.used_in = graph_at as u32;
                        } else if table.term(object).kind == TermKind::TripleTerm {
                            self.count_uses_in_triple(table, object);
                        }
                    }
                }
            }
        }
    }

    fn count_uses_in_triple(&mut self, table: &TermTable, id: TermId) {
        for part in table.triple(table.term(id)) {
            if let Some(blank) = self.blank_mut(table, part) {
                blank.uses += 2;
            } else if table.term(part).kind == TermKind::TripleTerm {
                self.count_uses_in_triple(table, part);
            }
        }
    }

    /// Returns the state of a blank node of this message.
    fn blank_mut(&mut self, table: &TermTable, id: TermId) -> Option<&mut Blank> {
        if table.term(id).kind != TermKind::BlankNode {
            return None;
        }
        let first_id = self.entry_of_term(table, id).first_id;
        let blank = &mut self.blanks[first_id.index()];
        if blank.generation != self.message {
            *blank = Blank {
                generation: self.message,
                ..Blank::default()
            };
        }
        Some(blank)
    }

    /// Returns the node of a cell's rest, or `None` if the list ends or is invalid.
    fn next_cell(&mut self, table: &TermTable, rest: TermId) -> Option<u32> {
        let blank = *self.blank_mut(table, rest)?;
        (blank.nodes == 1 && self.nodes[blank.node as usize].parent.is_some()).then_some(blank.node)
    }

    /// Determines whether a node is a list cell, by following the list that begins with it.
    fn find_list(&mut self, table: &TermTable, quads: &[Quad], start: u32) {
        let mut walk = std::mem::take(&mut self.walk);
        let mut node = start;
        let list = loop {
            match self.nodes[node as usize].list {
                ListCell::Unknown => {}
                ListCell::Cell => break ListCell::Cell,
                ListCell::No | ListCell::Walked => break ListCell::No,
            }
            self.nodes[node as usize].list = ListCell::Walked;
            walk.push(node);
            let Some((_, rest)) = self.cell(quads, node) else {
                break ListCell::No;
            };
            if self.is_nil(table, rest.object) {
                break ListCell::Cell;
            }
            match self.next_cell(table, rest.object) {
                Some(next) => node = next,
                None => break ListCell::No,
            }
        };
        for node in walk.drain(..) {
            self.nodes[node as usize].list = list;
        }
        self.walk = walk;
    }

    /// Determines whether a node is nested and how deeply, by following the nodes that contain it.
    fn decide_nesting(&mut self, table: &TermTable, quads: &[Quad], start: u32, max_depth: u8) {
        let mut walk = std::mem::take(&mut self.walk);
        let mut index = start;
        loop {
            let node = &mut self.nodes[index as usize];
            match (node.nesting, node.parent) {
                (NodeNesting::Unknown, Some(user)) => {
                    node.nesting = NodeNesting::Walked;
                    walk.push(index);
                    index = user;
                }
                (NodeNesting::Walked, Some(_)) => {
                    // The end of the path, from this node on, is a cycle.
                    while let Some(member) = walk.pop() {
                        self.nodes[member as usize].nesting = NodeNesting::Top;
                        if member == index {
                            break;
                        }
                    }
                    break;
                }
                (NodeNesting::Walked | NodeNesting::Unknown, _) => {
                    node.nesting = NodeNesting::Top;
                    break;
                }
                (NodeNesting::Top | NodeNesting::Inside, _) => break,
            }
        }
        while let Some(index) = walk.pop() {
            let node = &self.nodes[index as usize];
            let (NodeNesting::Walked, Some(user)) = (node.nesting, node.parent) else {
                continue;
            };
            let continues_list =
                node.list == ListCell::Cell && self.is_list_continuation(table, quads, user, index);
            let depth = self.nodes[user as usize].depth + u8::from(!continues_list);
            let node = &mut self.nodes[index as usize];
            if depth > max_depth {
                node.nesting = NodeNesting::Top;
            } else {
                node.nesting = NodeNesting::Inside;
                node.depth = depth;
            }
        }
        self.walk = walk;
    }

    /// Whether a cell is the rest of a nested cell, so that both are in one list.
    fn is_list_continuation(
        &mut self,
        table: &TermTable,
        quads: &[Quad],
        user: u32,
        cell: u32,
    ) -> bool {
        if !self.is_list(user) || !self.is_inside(user) {
            return false;
        }
        let Some((_, rest)) = self.cell(quads, user) else {
            return false;
        };
        self.next_cell(table, rest.object) == Some(cell)
    }
}

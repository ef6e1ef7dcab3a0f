//! The quads of a message as JSON-LD has them: graphs, their nodes, the properties of these; which blank
//! nodes stand inside others, and which are lists.
//!
//! - In: a message's quads.
//! - Out: [`Shape`]: an order of the quads with its divisions, all in the order in which things first come.
//! - Cost: linear in the quads; memory for a batch's terms and a message's quads, kept.
//! - Law: depends on the message alone; every quad stands in one property of one node.
//!
//! A blank node stands inside another node if one quad alone has it as object, in the graph that its own
//! quads are in, and nothing else names it. Cycles of such nodes are cut at their first, and nesting ends at
//! [`MAX_NESTED`], so that readers with a bound of their own follow.

use std::hash::BuildHasher;
use std::ops::Range;

use rustc_hash::FxBuildHasher;

use crate::model::batch::MessageBatch;
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId, TermKind};

/// Nodes within nodes.
const MAX_NESTED: u8 = 12;

/// So many terms are compared each with each.
const FEW: usize = 12;

const RDF: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// What the shape knows an IRI to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Known {
    /// Another term.
    #[default]
    Other,
    Type,
    First,
    Rest,
    Nil,
}

/// A graph of the message.
pub struct Graph {
    /// Its name.
    pub name: TermId,
    /// Its [`Shape::nodes`].
    pub nodes: Range<u32>,
}

/// A subject within a graph.
pub struct Node {
    /// The subject.
    pub subject: TermId,
    /// Its [`Shape::properties`].
    pub properties: Range<u32>,
    /// The node that it stands inside of.
    inside: Option<u32>,
    place: Place,
    depth: u8,
    list: List,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Unknown,
    /// On the way from a node to the one it is inside of.
    Walked,
    Top,
    Inside,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Unknown,
    Walked,
    Cell,
    No,
}

/// A predicate of a node.
pub struct Property {
    /// The predicate.
    pub predicate: TermId,
    /// Which one it is.
    pub known: Known,
    /// Where its quads are in [`Shape::quads`].
    pub quads: Range<u32>,
}

/// What the batch's term table says of a term; by term id.
#[derive(Clone, Copy, Default)]
struct Entry {
    generation: u32,
    /// The first id of this batch with the same text.
    same: TermId,
    known: Known,
}

/// A blank node of the message; by term id.
#[derive(Clone, Copy, Default)]
struct Blank {
    generation: u32,
    /// Quads that have it as object; one that `@type` would write counts twice.
    uses: u32,
    /// The node of its quads, and how many there are, one a graph.
    node: u32,
    nodes: u32,
    /// The node of a quad that has it as object.
    user: u32,
    /// The graph of that quad and of its own node.
    used_in: u32,
    stands_in: u32,
}

/// Marks of terms, all forgotten at once.
#[derive(Default)]
struct Marks {
    entries: Vec<(u32, u32)>,
    generation: u32,
}

impl Marks {
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

    /// The number of a term; a new one gets the number given.
    #[inline]
    fn number(&mut self, id: TermId, new: u32) -> u32 {
        let entry = &mut self.entries[id.index()];
        if entry.0 != self.generation {
            *entry = (self.generation, new);
        }
        entry.1
    }
}

/// The shape of one message at a time.
#[derive(Default)]
pub struct Shape {
    /// Indices of the message's quads.
    order: Vec<u32>,
    pub graphs: Vec<Graph>,
    pub nodes: Vec<Node>,
    pub properties: Vec<Property>,
    entries: Vec<Entry>,
    /// Ids by the hash of their texts, open addressing.
    slots: Vec<(u32, TermId)>,
    batch: u32,
    blanks: Vec<Blank>,
    message: u32,
    marks: Marks,
    scratch: Vec<u32>,
    ranks: Vec<u32>,
    next: Vec<u32>,
    ends: Vec<u32>,
    walk: Vec<u32>,
}

impl Shape {
    /// A batch begins: ids mean other terms.
    pub fn begin_batch(&mut self, terms: usize) {
        if self.entries.len() < terms {
            self.entries.resize(terms, Entry::default());
            self.blanks.resize(terms, Blank::default());
            self.slots = vec![(0, TermId(0)); (terms * 2).next_power_of_two()];
        }
        self.batch = self.batch.wrapping_add(1);
        if self.batch == 0 {
            self.entries.fill(Entry::default());
            self.slots.fill((0, TermId(0)));
            self.batch = 1;
        }
    }

    /// The entry of a term of the batch.
    #[inline]
    fn entry(&mut self, table: &TermTable, id: TermId) -> Entry {
        let entry = self.entries[id.index()];
        if entry.generation == self.batch {
            return entry;
        }
        self.new_entry(table, id)
    }

    fn new_entry(&mut self, table: &TermTable, id: TermId) -> Entry {
        let term = table.term(id);
        let text = table.text_of(term);
        let mask = self.slots.len() - 1;
        let mut at = FxBuildHasher.hash_one((text, term.kind)) as usize & mask;
        let mut entry = Entry {
            generation: self.batch,
            same: id,
            known: Known::Other,
        };
        loop {
            let (generation, other) = self.slots[at];
            if generation != self.batch {
                self.slots[at] = (self.batch, id);
                if term.kind == TermKind::Iri {
                    entry.known = match text.strip_prefix(RDF) {
                        Some(b"type") => Known::Type,
                        Some(b"first") => Known::First,
                        Some(b"rest") => Known::Rest,
                        Some(b"nil") => Known::Nil,
                        _ => Known::Other,
                    };
                }
                break;
            }
            if table.term(other).kind == term.kind && table.text(other) == text {
                entry = self.entries[other.index()];
                break;
            }
            at = (at + 1) & mask;
        }
        self.entries[id.index()] = entry;
        entry
    }

    /// The places of a property's quads.
    pub fn places(&self, property: u32) -> Range<u32> {
        self.properties[property as usize].quads.clone()
    }

    /// The quad at a place.
    #[inline]
    pub fn quad<'a>(&self, quads: &'a [Quad], place: u32) -> &'a Quad {
        &quads[self.order[place as usize] as usize]
    }

    /// Whether a node stands inside another.
    pub fn is_inside(&self, node: u32) -> bool {
        self.nodes[node as usize].place == Place::Inside
    }

    /// Whether a node is a cell of a list that ends with rdf:nil.
    pub fn is_list(&self, node: u32) -> bool {
        self.nodes[node as usize].list == List::Cell
    }

    /// The node that stands where this object is, if it stands inside.
    pub fn inner(&mut self, table: &TermTable, object: TermId) -> Option<u32> {
        if table.term(object).kind != TermKind::Bnode {
            return None;
        }
        let same = self.entry(table, object).same;
        let blank = self.blanks[same.index()];
        (blank.generation == self.message && blank.nodes == 1 && self.is_inside(blank.node))
            .then_some(blank.node)
    }

    /// Whether an object is rdf:nil.
    pub fn is_nil(&mut self, table: &TermTable, object: TermId) -> bool {
        table.term(object).kind == TermKind::Iri && self.entry(table, object).known == Known::Nil
    }

    /// The quads of a cell's rdf:first and rdf:rest.
    pub fn cell<'a>(&self, quads: &'a [Quad], node: u32) -> Option<(&'a Quad, &'a Quad)> {
        let range = self.nodes[node as usize].properties.clone();
        let [a, b] = &self.properties[range.start as usize..range.end as usize] else {
            return None;
        };
        let (first, rest) = match (a.known, b.known) {
            (Known::First, Known::Rest) => (a, b),
            (Known::Rest, Known::First) => (b, a),
            _ => return None,
        };
        if first.quads.len() != 1 || rest.quads.len() != 1 {
            return None;
        }
        let quad = |property: &Property| &quads[self.order[property.quads.start as usize] as usize];
        Some((quad(first), quad(rest)))
    }

    /// Shapes a message.
    pub fn shape(&mut self, batch: &MessageBatch, message: usize) {
        let quads = batch.message(message);
        let table = batch.table();
        self.graphs.clear();
        self.nodes.clear();
        self.properties.clear();
        self.order.clear();
        self.order.extend(0..quads.len() as u32);
        let mut order = std::mem::take(&mut self.order);
        let mut blanks = false;
        let whole = 0..order.len();
        if batch.has_graphs() {
            let groups = self.group(table, &mut order, whole, |at| quads[at as usize].graph);
            let first = groups.start;
            for group in groups {
                let range = self.range(group);
                let name = quads[order[range.start] as usize].graph;
                blanks |= self.graph(table, quads, &mut order, range, name);
            }
            self.ends.truncate(first);
        } else {
            blanks |= self.graph(table, quads, &mut order, whole, TermId::DEFAULT_GRAPH);
        }
        self.order = order;
        if blanks {
            self.place_blanks(table, quads);
        } else {
            for node in &mut self.nodes {
                node.place = Place::Top;
                node.list = List::No;
            }
        }
    }

    /// Divides the quads of a graph. Says whether there are blank nodes among their objects.
    fn graph(
        &mut self,
        table: &TermTable,
        quads: &[Quad],
        order: &mut [u32],
        range: Range<usize>,
        name: TermId,
    ) -> bool {
        let first_node = self.nodes.len() as u32;
        let mut blanks = false;
        let subjects = self.group(table, order, range, |at| quads[at as usize].subject);
        for group in subjects.clone() {
            let range = self.range(group);
            let subject = quads[order[range.start] as usize].subject;
            let first_property = self.properties.len() as u32;
            let predicates = self.group(table, order, range, |at| quads[at as usize].predicate);
            for group in predicates.clone() {
                let range = self.range(group);
                let predicate = quads[order[range.start] as usize].predicate;
                let known = self.entry(table, predicate).known;
                for &at in &order[range.clone()] {
                    blanks |= table.term(quads[at as usize].object).kind == TermKind::Bnode;
                }
                self.properties.push(Property {
                    predicate,
                    known,
                    quads: range.start as u32..range.end as u32,
                });
            }
            self.ends.truncate(predicates.start);
            self.nodes.push(Node {
                subject,
                properties: first_property..self.properties.len() as u32,
                inside: None,
                place: Place::Unknown,
                depth: 0,
                list: List::Unknown,
            });
        }
        self.ends.truncate(subjects.start);
        self.graphs.push(Graph {
            name,
            nodes: first_node..self.nodes.len() as u32,
        });
        blanks
    }

    /// Brings quads with equal terms together, in the order in which the terms first come. Gives the numbers
    /// of the groups, whose ranges stay on a stack until the caller takes them off.
    fn group(
        &mut self,
        table: &TermTable,
        order: &mut [u32],
        range: Range<usize>,
        term: impl Fn(u32) -> TermId,
    ) -> Range<usize> {
        let start = range.start;
        let slice = &mut order[range];
        if let Some(groups) = self.few(table, slice, start, &term) {
            return groups;
        }
        self.marks.begin(table.terms().len());
        self.ranks.clear();
        let mut groups = 0;
        let mut sorted = true;
        let mut last = None;
        let mut rank = 0;
        for &at in &*slice {
            let id = term(at);
            if last != Some(id) {
                last = Some(id);
                let same = self.entry(table, id).same;
                let found = self.marks.number(same, groups);
                groups += u32::from(found == groups);
                sorted &= found >= rank;
                rank = found;
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
            for (&at, &rank) in self.scratch.iter().zip(&self.ranks) {
                let place = &mut self.next[rank as usize];
                slice[*place as usize - start] = at;
                *place += 1;
            }
        }
        first..first + groups as usize
    }

    /// The groups of a few quads with distinct terms, or of quads with one term, which need no order.
    fn few(
        &mut self,
        table: &TermTable,
        slice: &[u32],
        start: usize,
        term: impl Fn(u32) -> TermId,
    ) -> Option<Range<usize>> {
        let first = self.ends.len();
        let (&head, rest) = slice.split_first()?;
        let id = term(head);
        if rest.iter().all(|&at| term(at) == id) {
            let end = start + slice.len();
            self.ends.extend_from_slice(&[start as u32, end as u32]);
            return Some(first..first + 1);
        }
        let mut seen = [TermId(0); FEW];
        if slice.len() > FEW {
            return None;
        }
        for (count, &at) in slice.iter().enumerate() {
            let same = self.entry(table, term(at)).same;
            if seen[..count].contains(&same) {
                return None;
            }
            seen[count] = same;
        }
        self.ends
            .extend((0..=slice.len()).map(|count| (start + count) as u32));
        Some(first..first + slice.len())
    }

    /// The range of a group of [`Self::group`].
    fn range(&self, group: usize) -> Range<usize> {
        self.ends[group] as usize..self.ends[group + 1] as usize
    }

    /// Finds the blank nodes that stand inside others, and the lists.
    fn place_blanks(&mut self, table: &TermTable, quads: &[Quad]) {
        self.message = self.message.wrapping_add(1);
        if self.message == 0 {
            self.blanks.fill(Blank::default());
            self.message = 1;
        }
        self.count_uses(table, quads);
        for at in 0..self.nodes.len() {
            let subject = self.nodes[at].subject;
            let user = match table.term(subject).kind {
                TermKind::Bnode => {
                    let same = self.entry(table, subject).same;
                    let blank = &self.blanks[same.index()];
                    (blank.uses == 1 && blank.nodes == 1 && blank.used_in == blank.stands_in)
                        .then_some(blank.user)
                }
                _ => None,
            };
            let node = &mut self.nodes[at];
            node.inside = user;
            if user.is_none() {
                node.place = Place::Top;
                node.list = List::No;
            }
        }
        for node in 0..self.nodes.len() as u32 {
            self.find_list(table, quads, node);
        }
        for node in 0..self.nodes.len() as u32 {
            self.place(table, quads, node);
        }
    }

    fn count_uses(&mut self, table: &TermTable, quads: &[Quad]) {
        for graph_at in 0..self.graphs.len() {
            let graph = &self.graphs[graph_at];
            let (name, nodes) = (graph.name, graph.nodes.clone());
            if let Some(blank) = self.blank(table, name) {
                blank.uses += 2;
            }
            for node_at in nodes {
                let node = &self.nodes[node_at as usize];
                let (subject, properties) = (node.subject, node.properties.clone());
                if let Some(blank) = self.blank(table, subject) {
                    blank.nodes += 1;
                    blank.node = node_at;
                    blank.stands_in = graph_at as u32;
                }
                for property_at in properties {
                    let property = &self.properties[property_at as usize];
                    let uses = 1 + u32::from(property.known == Known::Type);
                    for at in property.quads.clone() {
                        let object = quads[self.order[at as usize] as usize].object;
                        if let Some(blank) = self.blank(table, object) {
                            blank.uses += uses;
                            blank.user = node_at;
                            blank.used_in = graph_at as u32;
                        }
                    }
                }
            }
        }
    }

    /// What is counted of a blank node of this message.
    fn blank(&mut self, table: &TermTable, id: TermId) -> Option<&mut Blank> {
        if table.term(id).kind != TermKind::Bnode {
            return None;
        }
        let same = self.entry(table, id).same;
        let blank = &mut self.blanks[same.index()];
        if blank.generation != self.message {
            *blank = Blank {
                generation: self.message,
                ..Blank::default()
            };
        }
        Some(blank)
    }

    /// The node of a cell's rest, or None where the list ends or is none.
    fn next_cell(&mut self, table: &TermTable, rest: TermId) -> Option<u32> {
        let blank = *self.blank(table, rest)?;
        (blank.nodes == 1 && self.nodes[blank.node as usize].inside.is_some()).then_some(blank.node)
    }

    /// Finds whether a node is a cell, along the list from it.
    fn find_list(&mut self, table: &TermTable, quads: &[Quad], start: u32) {
        let mut walk = std::mem::take(&mut self.walk);
        let mut node = start;
        let found = loop {
            match self.nodes[node as usize].list {
                List::Unknown => {}
                List::Cell => break List::Cell,
                List::No | List::Walked => break List::No,
            }
            self.nodes[node as usize].list = List::Walked;
            walk.push(node);
            let Some((_, rest)) = self.cell(quads, node) else {
                break List::No;
            };
            if self.is_nil(table, rest.object) {
                break List::Cell;
            }
            match self.next_cell(table, rest.object) {
                Some(next) => node = next,
                None => break List::No,
            }
        };
        for node in walk.drain(..) {
            self.nodes[node as usize].list = found;
        }
        self.walk = walk;
    }

    /// Finds whether a node stands inside another, and how deep, along the nodes that it is inside of.
    fn place(&mut self, table: &TermTable, quads: &[Quad], start: u32) {
        let mut walk = std::mem::take(&mut self.walk);
        let mut at = start;
        loop {
            let node = &mut self.nodes[at as usize];
            match (node.place, node.inside) {
                (Place::Unknown, Some(user)) => {
                    node.place = Place::Walked;
                    walk.push(at);
                    at = user;
                }
                (Place::Walked, Some(user)) => {
                    // A cycle is cut here, and a list that went on here does not.
                    node.place = Place::Top;
                    self.end_lists(table, quads, user, at);
                    break;
                }
                (Place::Walked | Place::Unknown, _) => {
                    node.place = Place::Top;
                    break;
                }
                (Place::Top | Place::Inside, _) => break,
            }
        }
        while let Some(at) = walk.pop() {
            let node = &self.nodes[at as usize];
            let (Place::Walked, Some(user)) = (node.place, node.inside) else {
                continue;
            };
            let goes_on = node.list == List::Cell && self.goes_on(table, quads, user, at);
            let depth = self.nodes[user as usize].depth + u8::from(!goes_on);
            let node = &mut self.nodes[at as usize];
            if depth > MAX_NESTED {
                node.place = Place::Top;
            } else {
                node.place = Place::Inside;
                node.depth = depth;
            }
        }
        self.walk = walk;
    }

    /// The cells before a cell that no longer follows them are no list: reading them as one would end it.
    fn end_lists(&mut self, table: &TermTable, quads: &[Quad], mut user: u32, mut cell: u32) {
        while self.is_list(user)
            && let Some((_, rest)) = self.cell(quads, user)
            && self.next_cell(table, rest.object) == Some(cell)
        {
            let node = &mut self.nodes[user as usize];
            node.list = List::No;
            cell = user;
            match node.inside {
                Some(next) => user = next,
                None => break,
            }
        }
    }

    /// Whether a cell is the rest of another that stands inside a node itself, so that both are in one list.
    fn goes_on(&mut self, table: &TermTable, quads: &[Quad], user: u32, cell: u32) -> bool {
        if !self.is_list(user) || !self.is_inside(user) {
            return false;
        }
        let Some((_, rest)) = self.cell(quads, user) else {
            return false;
        };
        self.next_cell(table, rest.object) == Some(cell)
    }
}

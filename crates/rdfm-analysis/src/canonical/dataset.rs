//! One dataset in canonical order.
//!
//! - In: quads of a batch. Out: their N-Quads in sorted lines, with canonical labels.
//! - Cost: see the parent module. Buffers are reused for the next dataset.
//! - Law: no token and a space is the beginning of another one. Lines are therefore in the order of
//!   their terms.

use std::ops::Range;

use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermId, TermKind};
use rdfm_core::model::write::Style;

use rdfm_core::syntax::rdfc::{
    self, CANONICAL, END, Effort, Hash, RankedDataset, Terms, TextHasher, write_label,
};

use super::{CanonicalError, MAX_TEXT_BYTES, Unsupported};

const TEXT: Style = Style {
    max_bytes: MAX_TEXT_BYTES,
    ..Style::CANONICAL
};

/// Brings datasets of one batch into canonical form, one after the other.
#[derive(Debug)]
pub struct Canonicalizer<'a> {
    table: &'a TermTable,
    /// For each term of the table, its rank, or `NEW`.
    ranks: Vec<u32>,
    /// The terms of the dataset, in order of their first use.
    ids: Vec<TermId>,
    /// Range in the buffer and id of each term, for sorting.
    unsorted: Vec<(u32, u32, TermId)>,
    terms: Terms,
    /// Subject, predicate, object and graph of each distinct quad, as ranks.
    quads: Vec<[u32; 4]>,
    /// Any of the ids of each term, by rank.
    by_rank: Vec<TermId>,
    nodes: Range<u32>,
    /// Number of each blank node, from the first rank of `nodes`.
    numbers: Vec<u32>,
    repeated: usize,
    hasher: TextHasher,
}

const NEW: u32 = u32::MAX;

impl<'a> Canonicalizer<'a> {
    /// Creates a canonicalizer for quads with terms of the given table.
    pub fn new(table: &'a TermTable) -> Self {
        Self {
            table,
            ranks: vec![NEW; table.terms().len()],
            ids: Vec::new(),
            unsorted: Vec::new(),
            terms: Terms::default(),
            quads: Vec::new(),
            by_rank: Vec::new(),
            nodes: 0..0,
            numbers: Vec::new(),
            repeated: 0,
            hasher: TextHasher::default(),
        }
    }

    /// Brings a dataset into canonical form. It replaces the previous one.
    ///
    /// # Errors
    /// If the dataset has no canonical form.
    pub fn load(&mut self, quads: &[Quad], effort: Effort<'_>) -> Result<(), CanonicalError> {
        for quad in quads {
            if let Some(reason) = self.find_unsupported(*quad) {
                return Err(CanonicalError::Unsupported(reason, *quad));
            }
        }
        self.rank_terms(quads)?;
        self.quads.clear();
        for quad in quads {
            let ids = [quad.subject, quad.predicate, quad.object, quad.graph];
            self.quads.push(ids.map(|id| self.ranks[id.index()]));
        }
        self.quads.sort_unstable();
        self.quads.dedup();
        self.repeated = quads.len() - self.quads.len();
        self.find_nodes();
        self.numbers = rdfc::number(
            RankedDataset {
                quads: &self.quads,
                terms: &self.terms,
                nodes: &self.nodes,
            },
            effort,
        )?;
        self.relabel();
        Ok(())
    }

    /// Number of quads that were equal to other quads.
    pub fn repeated(&self) -> usize {
        self.repeated
    }

    /// Appends the canonical N-Quads.
    pub fn write(&self, out: &mut Vec<u8>) {
        for quad in &self.quads {
            for rank in quad {
                out.extend_from_slice(self.terms.text(*rank));
            }
            out.extend_from_slice(END);
        }
    }

    /// The SHA-256 hash of the canonical N-Quads.
    pub fn hash(&mut self) -> Hash {
        for quad in &self.quads {
            for rank in quad {
                self.hasher.push(self.terms.text(*rank));
            }
            self.hasher.push(END);
        }
        self.hasher.finish()
    }

    /// The distinct quads in canonical order, as terms of the table.
    pub fn quads(&self) -> impl Iterator<Item = Quad> {
        self.quads.iter().map(|quad| {
            let [subject, predicate, object, graph] = quad.map(|rank| self.by_rank[rank as usize]);
            Quad {
                subject,
                predicate,
                object,
                graph,
            }
        })
    }

    /// The number in the canonical label of a term, or `None` if it is not a blank node of the
    /// dataset.
    #[inline]
    pub fn number(&self, id: TermId) -> Option<u32> {
        let rank = self.ranks[id.index()];
        let node = rank.checked_sub(self.nodes.start)?;
        self.numbers.get(node as usize).copied()
    }

    /// Number of blank nodes of the dataset.
    pub fn count_nodes(&self) -> u32 {
        self.numbers.len() as u32
    }

    /// The blank nodes and the numbers in their labels, in order of their first use. A blank node
    /// that has several ids in the table occurs several times.
    pub fn numbers(&self) -> impl Iterator<Item = (TermId, u32)> {
        self.ids
            .iter()
            .filter_map(|id| self.number(*id).map(|number| (*id, number)))
    }

    /// Writes and sorts the distinct terms.
    fn rank_terms(&mut self, quads: &[Quad]) -> Result<(), CanonicalError> {
        for id in self.ids.drain(..) {
            self.ranks[id.index()] = NEW;
        }
        self.unsorted.clear();
        self.terms.buffer.clear();
        for quad in quads {
            for id in [quad.subject, quad.predicate, quad.object, quad.graph] {
                if self.ranks[id.index()] == NEW {
                    self.ranks[id.index()] = 0;
                    self.ids.push(id);
                    let start = self.terms.buffer.len() as u32;
                    self.write_term(id);
                    if self.terms.buffer.len() > MAX_TEXT_BYTES {
                        return Err(CanonicalError::TooLarge);
                    }
                    let end = self.terms.buffer.len() as u32;
                    self.unsorted.push((start, end, id));
                }
            }
        }
        let buffer = &self.terms.buffer;
        let text = |start: u32, end: u32| &buffer[start as usize..end as usize];
        self.unsorted
            .sort_unstable_by(|a, b| text(a.0, a.1).cmp(text(b.0, b.1)));
        self.terms.ranges.clear();
        self.by_rank.clear();
        for (start, end, id) in &self.unsorted {
            let last = self.terms.ranges.last();
            if last.is_none_or(|last| text(last.0, last.1) != text(*start, *end)) {
                self.terms.ranges.push((*start, *end));
                self.by_rank.push(*id);
            }
            self.ranks[id.index()] = self.terms.ranges.len() as u32 - 1;
        }
        Ok(())
    }

    fn write_term(&mut self, id: TermId) {
        if id != TermId::DEFAULT_GRAPH {
            TEXT.write(self.table, id, &mut self.terms.buffer);
            self.terms.buffer.push(b' ');
        }
    }

    /// Finds the ranks of the blank nodes. They follow all other terms, because `_` is greater than
    /// `"` and `<`.
    fn find_nodes(&mut self) {
        let kind = |id: &TermId| self.table.term(*id).kind;
        let start = self
            .by_rank
            .partition_point(|id| kind(id) != TermKind::BlankNode);
        self.nodes = start as u32..self.by_rank.len() as u32;
    }

    /// Replaces the texts of the blank nodes, and sorts these and the quads by the new texts.
    fn relabel(&mut self) {
        if self.nodes.is_empty() {
            return;
        }
        let start = self.nodes.start;
        let mut nodes: Vec<(u32, u32, u32)> = Vec::with_capacity(self.nodes.len());
        for (node, number) in self.numbers.iter().enumerate() {
            let begin = self.terms.buffer.len() as u32;
            write_label(CANONICAL, *number as usize, &mut self.terms.buffer);
            self.terms.buffer.push(b' ');
            nodes.push((begin, self.terms.buffer.len() as u32, node as u32));
        }
        let text = |start: u32, end: u32| &self.terms.buffer[start as usize..end as usize];
        nodes.sort_unstable_by(|a, b| text(a.0, a.1).cmp(text(b.0, b.1)));
        let mut new_ranks = vec![0; nodes.len()];
        let mut by_rank = Vec::with_capacity(nodes.len());
        let mut numbers = Vec::with_capacity(nodes.len());
        for (index, (begin, end, node)) in nodes.into_iter().enumerate() {
            new_ranks[node as usize] = start + index as u32;
            by_rank.push(self.by_rank[(start + node) as usize]);
            numbers.push(self.numbers[node as usize]);
            self.terms.ranges[start as usize + index] = (begin, end);
        }
        let range = start as usize..self.nodes.end as usize;
        self.by_rank[range].copy_from_slice(&by_rank);
        self.numbers = numbers;
        let nodes = self.nodes.clone();
        let new_rank = |rank: u32| {
            if nodes.contains(&rank) {
                new_ranks[(rank - start) as usize]
            } else {
                rank
            }
        };
        for quad in &mut self.quads {
            *quad = quad.map(new_rank);
        }
        for id in &self.ids {
            let rank = &mut self.ranks[id.index()];
            *rank = new_rank(*rank);
        }
        self.quads.sort_unstable();
    }

    /// Why RDFC-1.0 does not support a quad.
    fn find_unsupported(&self, quad: Quad) -> Option<Unsupported> {
        let kind = |id: TermId| self.table.term(id).kind;
        if !matches!(kind(quad.subject), TermKind::Iri | TermKind::BlankNode)
            || kind(quad.predicate) != TermKind::Iri
            || !matches!(
                kind(quad.graph),
                TermKind::Iri | TermKind::BlankNode | TermKind::DefaultGraph
            )
        {
            return Some(Unsupported::GeneralizedQuad);
        }
        let mut term = quad.object;
        while kind(term) == TermKind::TripleTerm {
            let [subject, predicate, object] = self.table.triple(self.table.term(term));
            if !matches!(kind(subject), TermKind::Iri | TermKind::BlankNode)
                || kind(predicate) != TermKind::Iri
            {
                return Some(Unsupported::GeneralizedTripleTerm);
            }
            if kind(subject) == TermKind::BlankNode || kind(object) == TermKind::BlankNode {
                return Some(Unsupported::BlankNodeInTripleTerm);
            }
            term = object;
        }
        None
    }
}

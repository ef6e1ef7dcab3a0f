//! The distinct terms and quads of a message, sorted.
//!
//! - In: the quads of a message. Out: ranks of terms by their text with full IRIs, and quads sorted
//!   by these ranks.
//! - Law: equal terms have the same rank, whatever their ids. `rdf:type` is the first predicate.
//!   Blank nodes have the last ranks, in any order.

use std::ops::Range;

use crate::formats::turtle::short_forms::RDF_TYPE;
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId, TermKind};
use crate::model::write::{Style, term_error};
use crate::syntax::text::encode::{MAX_TEXT, StatementError};

const NEW: u32 = u32::MAX;

/// Number of a blank node that has no label.
pub const NO_NUMBER: u32 = u32::MAX;

/// A distinct term: the range of its text, and one of its ids.
#[derive(Clone, Copy)]
struct SortedTerm {
    start: u32,
    end: u32,
    id: TermId,
    /// Whether it contains no blank node.
    is_ground: bool,
}

/// The distinct terms and quads of a message.
pub struct SortedDataset {
    graphs: bool,
    lenient: bool,
    /// Rank of each term of the batch, or `NEW`.
    ranks: Vec<u32>,
    /// The ids of the message.
    ids: Vec<TermId>,
    unsorted: Vec<SortedTerm>,
    /// Texts of the terms, each followed by a space. IRIs do not end with `>`.
    text: Vec<u8>,
    by_rank: Vec<SortedTerm>,
    keys: Vec<[u32; 4]>,
    /// The distinct quads, with one id for each term.
    pub quads: Vec<Quad>,
    blanks: Range<u32>,
    /// Number in the label of each blank node, by rank.
    numbers: Vec<u32>,
    triple_depth: u8,
}

impl SortedDataset {
    /// Creates an empty dataset. Without `graphs`, quads lose their graphs.
    pub fn new(graphs: bool, lenient: bool) -> Self {
        Self {
            graphs,
            lenient,
            ranks: Vec::new(),
            ids: Vec::new(),
            unsorted: Vec::new(),
            text: Vec::new(),
            by_rank: Vec::new(),
            keys: Vec::new(),
            quads: Vec::new(),
            blanks: 0..0,
            numbers: Vec::new(),
            triple_depth: 0,
        }
    }

    /// Begins a batch with this number of terms.
    pub fn begin_batch(&mut self, terms: usize) {
        self.forget();
        if self.ranks.len() < terms {
            self.ranks.resize(terms, NEW);
        }
    }

    fn forget(&mut self) {
        for id in self.ids.drain(..) {
            self.ranks[id.index()] = NEW;
        }
    }

    pub const fn has_graphs(&self) -> bool {
        self.graphs
    }

    /// Maximum depth of triple terms.
    pub const fn triple_depth(&self) -> u8 {
        self.triple_depth
    }

    /// Replaces the dataset. Returns the number of quads that are equal to others.
    pub fn load(&mut self, table: &TermTable, quads: &[Quad]) -> Result<u64, StatementError> {
        self.forget();
        self.unsorted.clear();
        self.text.clear();
        self.triple_depth = 0;
        let graphs = self.graphs;
        let ids = |quad: &Quad| {
            let graph = if graphs {
                quad.graph
            } else {
                TermId::DEFAULT_GRAPH
            };
            [graph, quad.subject, quad.predicate, quad.object]
        };
        for quad in quads {
            for id in ids(quad) {
                if self.ranks[id.index()] == NEW {
                    self.add(table, id)?;
                }
            }
        }
        self.sort_terms();
        let type_text = [b"<", RDF_TYPE, b" "].concat();
        let type_rank = self
            .by_rank
            .binary_search_by(|term| self.text_of(term).cmp(&type_text))
            .map_or(NEW, |rank| rank as u32);
        self.keys.clear();
        self.keys.extend(quads.iter().map(|quad| {
            let mut key = ids(quad).map(|id| self.ranks[id.index()]);
            key[2] = if key[2] == type_rank { 0 } else { key[2] + 1 };
            key
        }));
        self.keys.sort_unstable();
        self.keys.dedup();
        let id = |rank: u32| self.by_rank[rank as usize].id;
        self.quads.clear();
        self.quads.extend(self.keys.iter().map(|key| Quad {
            graph: id(key[0]),
            subject: id(key[1]),
            predicate: id(if key[2] == 0 { type_rank } else { key[2] - 1 }),
            object: id(key[3]),
        }));
        let start = self
            .by_rank
            .partition_point(|term| table.term(term.id).kind != TermKind::BlankNode);
        self.blanks = start as u32..self.by_rank.len() as u32;
        Ok((quads.len() - self.quads.len()) as u64)
    }

    /// Adds a term, and its parts if it is a triple term with blank nodes.
    fn add(&mut self, table: &TermTable, id: TermId) -> Result<(), StatementError> {
        let depth = self.check(table, id)?;
        self.triple_depth = self.triple_depth.max(depth);
        let start = self.text.len() as u32;
        if id != TermId::DEFAULT_GRAPH {
            let style = Style {
                max_bytes: MAX_TEXT,
                ..Style::TEXT
            };
            style.write(table, id, &mut self.text);
            if table.term(id).kind == TermKind::Iri {
                self.text.pop(); // sorts an IRI before longer ones
            }
            self.text.push(b' ');
        }
        if self.text.len() > MAX_TEXT {
            return Err(StatementError::TooLong);
        }
        self.ranks[id.index()] = 0;
        self.ids.push(id);
        let is_ground = is_ground(table, id);
        self.unsorted.push(SortedTerm {
            start,
            end: self.text.len() as u32,
            id,
            is_ground,
        });
        if !is_ground && table.term(id).kind == TermKind::TripleTerm {
            for part in table.triple(table.term(id)) {
                if self.ranks[part.index()] == NEW {
                    self.add(table, part)?;
                }
            }
        }
        Ok(())
    }

    /// Checks that strict readers accept a term. Returns the depth of triple terms in it.
    fn check(&self, table: &TermTable, id: TermId) -> Result<u8, StatementError> {
        let term = table.term(id);
        if term.kind == TermKind::TripleTerm {
            let mut depth = 0_u8;
            for part in table.triple(term) {
                depth = depth.max(self.check(table, part)?);
            }
            return Ok(depth.saturating_add(1));
        }
        match term_error(table, id, self.lenient) {
            Some(error) => Err(StatementError::Term(error)),
            None => Ok(0),
        }
    }

    fn sort_terms(&mut self) {
        let text = &self.text;
        let text_of = |term: &SortedTerm| &text[term.start as usize..term.end as usize];
        self.unsorted
            .sort_unstable_by(|a, b| text_of(a).cmp(text_of(b)));
        self.by_rank.clear();
        for term in &self.unsorted {
            let last = self.by_rank.last();
            if last.is_none_or(|last| text_of(last) != text_of(term)) {
                self.by_rank.push(*term);
            }
            self.ranks[term.id.index()] = self.by_rank.len() as u32 - 1;
        }
    }

    fn text_of(&self, term: &SortedTerm) -> &[u8] {
        &self.text[term.start as usize..term.end as usize]
    }

    pub fn rank(&self, id: TermId) -> u32 {
        self.ranks[id.index()]
    }

    /// The text of a term, followed by a space. An IRI does not end with `>`.
    pub fn text(&self, id: TermId) -> &[u8] {
        self.text_of(&self.by_rank[self.rank(id) as usize])
    }

    /// The id that stands for all ids of equal terms.
    pub fn unique_id(&self, id: TermId) -> TermId {
        self.by_rank[self.rank(id) as usize].id
    }

    /// Whether a term contains no blank node.
    pub fn is_ground(&self, id: TermId) -> bool {
        self.by_rank[self.rank(id) as usize].is_ground
    }

    /// The ranks of the blank nodes.
    pub fn blanks(&self) -> Range<u32> {
        self.blanks.clone()
    }

    /// The id of a rank.
    pub fn id(&self, rank: u32) -> TermId {
        self.by_rank[rank as usize].id
    }

    /// Sets the number in the label of each blank node, by rank.
    pub fn set_numbers(&mut self, numbers: Vec<u32>) {
        self.numbers = numbers;
    }

    /// The number in the label of a blank node.
    pub fn number(&self, id: TermId) -> u32 {
        let index = self.rank(id).checked_sub(self.blanks.start);
        let number = index.and_then(|index| self.numbers.get(index as usize));
        number.copied().unwrap_or(NO_NUMBER)
    }

    /// The position of a graph or subject among the others: IRIs by text, then blank nodes by
    /// number.
    pub fn position(&self, id: TermId) -> (bool, u32) {
        let rank = self.rank(id);
        let is_blank = self.blanks.contains(&rank);
        (is_blank, if is_blank { self.number(id) } else { rank })
    }
}

fn is_ground(table: &TermTable, id: TermId) -> bool {
    let term = table.term(id);
    match term.kind {
        TermKind::BlankNode => false,
        TermKind::TripleTerm => table
            .triple(term)
            .into_iter()
            .all(|part| is_ground(table, part)),
        _ => true,
    }
}

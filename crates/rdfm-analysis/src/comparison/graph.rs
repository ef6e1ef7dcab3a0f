//! A message as a set of patterns of term hashes and blank nodes.
//!
//! - In: records of a batch. Out: the sorted hashes of records without blank nodes, and patterns
//!   for the other records.
//! - Law: repeated records are removed. Blank nodes are identified by number, not by label. The
//!   order of the patterns does not depend on the values of the hashes.

use std::collections::HashMap;

use rdfm_core::model::record::{Operation, Record};
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermId, TermKind};

use super::hashing::{Keys, TermHashes};

/// A record that can be compared.
pub trait ComparableRecord: Record {
    /// A missing record: an unbound cell.
    const ABSENT: Self;

    /// Numeric code of a patch operation, or 0 for other records.
    fn tag(self) -> u8 {
        0
    }
}

impl ComparableRecord for Quad {
    const ABSENT: Self = Self {
        subject: TermId::DEFAULT_GRAPH,
        predicate: TermId::DEFAULT_GRAPH,
        object: TermId::DEFAULT_GRAPH,
        graph: TermId::DEFAULT_GRAPH,
    };
}

impl ComparableRecord for Operation {
    const ABSENT: Self = Self::bare(rdfm_core::model::record::OperationCode::Header);

    fn tag(self) -> u8 {
        self.code as u8
    }
}

impl ComparableRecord for TermId {
    const ABSENT: Self = Self::DEFAULT_GRAPH;
}

/// Part of a pattern: the hash of a term, or a blank node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token(u128);

/// Blank node numbers are below this value. A hash in this range is as unlikely as a collision.
const NODES: u128 = 1 << 32;

impl Token {
    /// Start of a triple term. Its three parts follow.
    const TRIPLE: Self = Self(NODES);

    pub const fn node(number: u32) -> Self {
        Self(number as u128)
    }

    /// The number of a blank node.
    #[inline]
    pub const fn as_node(self) -> Option<u32> {
        if self.0 < NODES {
            Some(self.0 as u32)
        } else {
            None
        }
    }

    /// The hash of a term.
    #[inline]
    pub const fn hash(self) -> u128 {
        self.0
    }
}

/// The distinct records of a message.
#[derive(Debug, Default)]
pub struct Graph {
    /// Hashes of the records without blank nodes, sorted.
    pub ground: Vec<u128>,
    /// One term for each blank node, indexed by the number of the node.
    pub names: Vec<TermId>,
    tokens: Vec<Token>,
    ends: Vec<u32>,
}

/// Maximum number of blank nodes for a linear search. If there are more, labels are hashed.
const FEW_NODES: usize = 12;

/// Numbers of the blank nodes of a message, by label.
#[derive(Default)]
struct BlankNodeNumbers<'a> {
    labels: Vec<&'a [u8]>,
    numbers: HashMap<&'a [u8], u32>,
}

impl<'a> BlankNodeNumbers<'a> {
    /// Returns the number of a label, and whether the label is new.
    fn assign_number(&mut self, label: &'a [u8]) -> (u32, bool) {
        let next = self.labels.len() as u32;
        if self.labels.len() <= FEW_NODES {
            if let Some(number) = self.labels.iter().position(|other| *other == label) {
                return (number as u32, false);
            }
        } else {
            if self.numbers.is_empty() {
                self.numbers.extend(self.labels.iter().copied().zip(0..));
            }
            let number = *self.numbers.entry(label).or_insert(next);
            if number != next {
                return (number, false);
            }
        }
        self.labels.push(label);
        (next, true)
    }
}

impl Graph {
    /// Creates the graph of a message.
    pub fn from_records<R: Record>(
        records: &[R],
        table: &TermTable,
        keys: &Keys,
        hashes: &mut TermHashes,
    ) -> Self {
        let mut message_graph = Self::default();
        message_graph.ground.reserve_exact(records.len());
        let mut nodes = BlankNodeNumbers::default();
        for &record in records {
            let mut any = false;
            record.each(|id| any = any || contains_node(table, id));
            if any {
                record.each(|id| message_graph.add(table, id, &mut nodes, keys, hashes));
                message_graph.ends.push(message_graph.tokens.len() as u32);
            } else {
                let mut mix = keys.begin();
                record.each(|id| mix.add(hashes.get(keys, table, id)));
                message_graph.ground.push(mix.end());
            }
        }
        message_graph.ground.sort_unstable();
        message_graph.ground.dedup();
        message_graph.drop_repeated();
        message_graph
    }

    fn add<'a>(
        &mut self,
        table: &'a TermTable,
        id: TermId,
        nodes: &mut BlankNodeNumbers<'a>,
        keys: &Keys,
        hashes: &mut TermHashes,
    ) {
        let term = table.term(id);
        let token = match term.kind {
            TermKind::BlankNode => {
                let (number, new) = nodes.assign_number(table.text_of(term));
                if new {
                    self.names.push(id);
                }
                Token::node(number)
            }
            TermKind::TripleTerm if contains_node(table, id) => {
                self.tokens.push(Token::TRIPLE);
                for part in table.triple(term) {
                    self.add(table, part, nodes, keys, hashes);
                }
                return;
            }
            _ => Token(hashes.get(keys, table, id)),
        };
        self.tokens.push(token);
    }

    /// Removes repeated patterns. The order of the others does not change.
    fn drop_repeated(&mut self) {
        if self.len() < 2 {
            return;
        }
        let mut sorted: Vec<u32> = (0..self.len() as u32).collect();
        let by_pattern = |one: &u32, other: &u32| {
            let patterns = [one, other].map(|index| self.pattern(*index as usize));
            patterns[0].cmp(patterns[1]).then(one.cmp(other))
        };
        sorted.sort_unstable_by(by_pattern);
        let is_repeated =
            |pair: &[u32]| self.pattern(pair[0] as usize) == self.pattern(pair[1] as usize);
        let repeated: Vec<u32> = sorted
            .windows(2)
            .filter(|pair| is_repeated(pair))
            .map(|pair| pair[1])
            .collect();
        if repeated.is_empty() {
            return;
        }
        let mut kept = Self::default();
        let mut drop = vec![false; self.len()];
        for index in repeated {
            drop[index as usize] = true;
        }
        for index in (0..self.len()).filter(|index| !drop[*index]) {
            kept.tokens.extend_from_slice(self.pattern(index));
            kept.ends.push(kept.tokens.len() as u32);
        }
        self.tokens = kept.tokens;
        self.ends = kept.ends;
    }

    /// Number of patterns.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The parts of a pattern.
    #[inline]
    pub fn pattern(&self, index: usize) -> &[Token] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.tokens[start as usize..self.ends[index] as usize]
    }

    /// The sorted patterns with renamed blank nodes.
    pub fn rename_nodes(&self, name: impl Fn(u32) -> u32) -> Vec<Vec<Token>> {
        let token = |token: &Token| {
            token
                .as_node()
                .map_or(*token, |node| Token::node(name(node)))
        };
        let mut patterns: Vec<Vec<Token>> = (0..self.len())
            .map(|index| self.pattern(index).iter().map(token).collect())
            .collect();
        patterns.sort_unstable();
        patterns
    }
}

/// The patterns that contain each blank node.
#[derive(Debug, Default)]
pub struct IncidentPatterns {
    ends: Vec<u32>,
    patterns: Vec<u32>,
}

impl IncidentPatterns {
    /// Indexes several messages. Blank nodes and patterns are numbered consecutively across them.
    pub fn of(graphs: &[&Graph]) -> Self {
        let nodes = graphs.iter().map(|graph| graph.names.len()).sum();
        // The last pattern of each node, so that a node that occurs twice in a pattern is counted
        // once.
        let mut last = vec![u32::MAX; nodes];
        let mut ends = vec![0u32; nodes];
        for_each_occurrence(graphs, |node, pattern| {
            if std::mem::replace(&mut last[node], pattern) != pattern {
                ends[node] += 1;
            }
        });
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut patterns = vec![0u32; sum as usize];
        last.fill(u32::MAX);
        for_each_occurrence(graphs, |node, pattern| {
            if std::mem::replace(&mut last[node], pattern) != pattern {
                patterns[ends[node] as usize] = pattern;
                ends[node] += 1;
            }
        });
        Self { ends, patterns }
    }

    /// The patterns that contain a node.
    #[inline]
    pub fn get(&self, node: u32) -> &[u32] {
        let start = if node == 0 {
            0
        } else {
            self.ends[node as usize - 1]
        };
        &self.patterns[start as usize..self.ends[node as usize] as usize]
    }
}

/// Calls `take` with each blank node of each pattern.
fn for_each_occurrence(graphs: &[&Graph], mut take: impl FnMut(usize, u32)) {
    let (mut nodes, mut patterns) = (0, 0);
    for graph in graphs {
        for index in 0..graph.len() {
            for node in graph
                .pattern(index)
                .iter()
                .filter_map(|token| token.as_node())
            {
                take(nodes + node as usize, patterns + index as u32);
            }
        }
        nodes += graph.names.len();
        patterns += graph.len() as u32;
    }
}

/// Whether a term is or contains a blank node.
pub fn contains_node(table: &TermTable, id: TermId) -> bool {
    let term = table.term(id);
    match term.kind {
        TermKind::BlankNode => true,
        TermKind::TripleTerm => table
            .triple(term)
            .iter()
            .any(|part| contains_node(table, *part)),
        _ => false,
    }
}

//! A message as a set of patterns over numbered terms and blank nodes.
//!
//! - In: records of a batch. Out: hashes of those without blank nodes, sorted; the others as patterns.
//! - Law: order and repetitions of records leave no trace; blank nodes are known by their labels until here.

use std::collections::HashMap;

use rdfm_core::model::record::{Operation, Record};
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermId, TermKind};
use rustc_hash::FxHashMap;

use super::hashing::{Keys, TermHashes};

/// A record that can be compared.
pub trait Compared: Record {
    /// One that is not there: an unbound cell.
    const ABSENT: Self;

    /// What it does, besides its terms.
    fn tag(self) -> u8 {
        0
    }
}

impl Compared for Quad {
    const ABSENT: Self = Self {
        subject: TermId::DEFAULT_GRAPH,
        predicate: TermId::DEFAULT_GRAPH,
        object: TermId::DEFAULT_GRAPH,
        graph: TermId::DEFAULT_GRAPH,
    };
}

impl Compared for Operation {
    const ABSENT: Self = Self::bare(rdfm_core::model::record::OperationCode::Header);

    fn tag(self) -> u8 {
        self.code as u8
    }
}

impl Compared for TermId {
    const ABSENT: Self = Self::DEFAULT_GRAPH;
}

/// A part of a pattern: the number of a term, or a blank node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token(u32);

const NODE: u32 = 1 << 31;

impl Token {
    /// Begins a triple term; its three parts follow.
    const TRIPLE: Self = Self(NODE - 1);

    pub const fn node(number: u32) -> Self {
        Self(NODE | number)
    }

    /// The number of a blank node.
    pub const fn as_node(self) -> Option<u32> {
        if self.0 & NODE == 0 {
            None
        } else {
            Some(self.0 ^ NODE)
        }
    }

    pub const fn number(self) -> u32 {
        self.0
    }
}

/// Numbers of terms, as messages have them that are compared.
#[derive(Debug, Default)]
pub struct Terms {
    numbers: FxHashMap<u128, u32>,
    hashes: Vec<u128>,
}

impl Terms {
    fn token(&mut self, hash: u128) -> Token {
        let next = self.hashes.len() as u32;
        let number = *self.numbers.entry(hash).or_insert(next);
        if number == next {
            self.hashes.push(hash);
        }
        Token(number)
    }

    /// The hash of a term or of the mark of a triple term; None of a blank node.
    pub fn hash(&self, token: Token) -> Option<u128> {
        if token == Token::TRIPLE {
            return Some(1);
        }
        if token.as_node().is_some() {
            return None;
        }
        Some(self.hashes[token.0 as usize])
    }
}

/// A message: its distinct records.
#[derive(Debug, Default)]
pub struct Graph {
    /// Hashes of the records without blank nodes, sorted.
    pub ground: Vec<u128>,
    /// A term of each blank node.
    pub names: Vec<TermId>,
    tokens: Vec<Token>,
    ends: Vec<u32>,
}

impl Graph {
    /// The records of a message.
    pub fn of<R: Record>(
        records: &[R],
        table: &TermTable,
        keys: &Keys,
        hashes: &mut TermHashes,
        terms: &mut Terms,
    ) -> Self {
        let mut made = Self::default();
        let mut nodes: HashMap<&[u8], u32> = HashMap::new();
        let mut patterns: Vec<Vec<Token>> = Vec::new();
        for &record in records {
            let mut any = false;
            record.each(|id| any = any || holds_node(table, id));
            if any {
                let mut pattern = Vec::with_capacity(4);
                let mut add = |id| {
                    made.add(
                        table,
                        id,
                        &mut nodes,
                        &mut |id| terms.token(hashes.get(keys, table, id)),
                        &mut pattern,
                    );
                };
                record.each(&mut add);
                patterns.push(pattern);
            } else {
                let mut mix = keys.begin();
                record.each(|id| mix.add(hashes.get(keys, table, id)));
                made.ground.push(mix.end());
            }
        }
        made.ground.sort_unstable();
        made.ground.dedup();
        patterns.sort_unstable();
        patterns.dedup();
        for pattern in patterns {
            made.tokens.extend(pattern);
            made.ends.push(made.tokens.len() as u32);
        }
        made
    }

    fn add<'a>(
        &mut self,
        table: &'a TermTable,
        id: TermId,
        nodes: &mut HashMap<&'a [u8], u32>,
        term: &mut impl FnMut(TermId) -> Token,
        pattern: &mut Vec<Token>,
    ) {
        let found = table.term(id);
        match found.kind {
            TermKind::Bnode => {
                let next = self.names.len() as u32;
                let number = *nodes.entry(table.text_of(found)).or_insert(next);
                if number == next {
                    self.names.push(id);
                }
                pattern.push(Token::node(number));
            }
            TermKind::TripleTerm if holds_node(table, id) => {
                pattern.push(Token::TRIPLE);
                for part in table.triple(found) {
                    self.add(table, part, nodes, term, pattern);
                }
            }
            _ => pattern.push(term(id)),
        }
    }

    /// The number of patterns.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The parts of a pattern.
    pub fn pattern(&self, at: usize) -> &[Token] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.tokens[start as usize..self.ends[at] as usize]
    }

    /// The patterns that each blank node is in.
    pub fn incident(&self) -> Vec<Vec<u32>> {
        let mut incident = vec![Vec::new(); self.names.len()];
        for at in 0..self.len() {
            for node in self.pattern(at).iter().filter_map(|token| token.as_node()) {
                let patterns: &mut Vec<u32> = &mut incident[node as usize];
                if patterns.last() != Some(&(at as u32)) {
                    patterns.push(at as u32);
                }
            }
        }
        incident
    }
}

/// Whether a term is a blank node or a triple term with one.
pub fn holds_node(table: &TermTable, id: TermId) -> bool {
    let term = table.term(id);
    match term.kind {
        TermKind::Bnode => true,
        TermKind::TripleTerm => table
            .triple(term)
            .iter()
            .any(|part| holds_node(table, *part)),
        _ => false,
    }
}

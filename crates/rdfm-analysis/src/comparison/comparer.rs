//! Two logs, a batch of each at a time.
//!
//! - In: pairs of batches and where to begin in them. Out: how many pairs of messages are the same, and why the next
//!   is not; signatures.
//! - Law: how the logs are cut into batches changes nothing.

use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::term::{TermId, TermKind};
use rustc_hash::FxHashMap;

use super::budget::{Budget, Exhausted, Limits, Reached};
use super::graph::{Compared, Graph};
use super::hashing::{Keys, TermHashes};
use super::matching;
use super::multiset::{Multiset, Settled};
use super::namespaces::{self, Redeclared};
use super::order::Known;
use super::signature;

/// When messages are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As sets of quads, up to the labels of blank nodes.
    Sets,
    /// As sequences of quads, up to labels.
    Sequences,
    /// As sequences of records, labels included: what has the labels of its log.
    Exact,
}

/// Whether the namespaces in force are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamespaceUse {
    /// No.
    Ignored,
    /// Only whether they differ anywhere; pairs are the same whatever their namespaces.
    Noticed,
    /// A pair with other namespaces differs.
    Compared,
}

/// One of the two logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// What differs in a pair of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The records.
    pub records: bool,
    /// Whether it is not known if the records differ: `max_steps` were not enough.
    pub undecided: bool,
    /// The metadata.
    pub metadata: bool,
    /// The namespaces in force, from here on.
    pub namespaces: bool,
}

impl Found {
    const NOTHING: Self = Self {
        records: false,
        undecided: false,
        metadata: false,
        namespaces: false,
    };
}

/// Pairs of messages that are the same, and what differs in the next one; None where a batch ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The number of pairs.
    pub pairs: usize,
    /// The records of the first side in them.
    pub records: u64,
    /// What differs in the next pair.
    pub found: Option<Found>,
}

/// Compares the messages of two logs.
#[derive(Debug)]
pub struct Comparer {
    mode: Mode,
    metadata: bool,
    /// None if they are ignored, or if it is known that they differ and this is enough.
    namespaces: Option<namespaces::Compared>,
    namespace_use: NamespaceUse,
    namespaces_differ: bool,
    news: Vec<Redeclared>,
    /// For pairs of messages, and for the signatures of each side.
    budgets: [Budget; 2],
    /// For rows of results: the column of each side that a cell is in; None where there is none.
    columns: Option<[Vec<Option<usize>>; 2]>,
    keys: Keys,
    known: Known,
    hashes: [TermHashes; 2],
    multiset: Multiset,
}

impl Comparer {
    /// Takes when messages are the same.
    pub fn new(mode: Mode, metadata: bool, namespace_use: NamespaceUse, limits: Limits) -> Self {
        Self {
            mode,
            metadata,
            namespaces: (namespace_use != NamespaceUse::Ignored)
                .then(namespaces::Compared::default),
            namespace_use,
            namespaces_differ: false,
            news: Vec::new(),
            budgets: [Budget::new(limits), Budget::new(limits)],
            columns: None,
            keys: Keys::new(),
            known: Known::default(),
            hashes: Default::default(),
            multiset: Multiset::default(),
        }
    }

    /// Says in which column of each side the cells of rows are that belong together.
    pub fn set_columns(&mut self, columns: [Vec<Option<usize>>; 2]) {
        self.columns = Some(columns);
    }

    /// Forgets what is known of the terms of a side: its next batch is another one.
    pub fn next_batch(&mut self, side: Side) {
        self.known.clear();
        self.hashes[side as usize].clear();
    }

    /// Compares messages from `i` of `a` and `j` of `b` on, `most` pairs at most, until one differs.
    pub fn run<R: Compared>(
        &mut self,
        (a, i): (&LogBatch<R>, usize),
        (b, j): (&LogBatch<R>, usize),
        most: usize,
    ) -> Run {
        let mut run = Run::default();
        let most = most.min(a.len() - i).min(b.len() - j);
        while run.pairs < most {
            let (i, j) = (i + run.pairs, j + run.pairs);
            let mut found = self.records((a, i), (b, j));
            if !found.records && !found.undecided {
                found = self.rest((a, i), (b, j));
            }
            if found != Found::NOTHING {
                run.found = Some(found);
                return run;
            }
            run.records += a.range(i).len() as u64;
            run.pairs += 1;
        }
        run
    }

    /// Compares the metadata and the namespaces of a pair of messages.
    pub fn rest<R: Compared>(
        &mut self,
        (a, i): (&LogBatch<R>, usize),
        (b, j): (&LogBatch<R>, usize),
    ) -> Found {
        let metadata = self.metadata
            && !(a.all_metadata().is_empty() && b.all_metadata().is_empty())
            && metadata(a, i) != metadata(b, j);
        self.news.clear();
        if let Some(namespaces) = &mut self.namespaces {
            self.news = namespaces.advance((a, i), (b, j));
            self.namespaces_differ |= !self.news.is_empty();
            if self.namespaces_differ && self.namespace_use == NamespaceUse::Noticed {
                self.news.clear();
                self.namespaces = None;
            }
        }
        Found {
            metadata,
            namespaces: !self.news.is_empty(),
            ..Found::NOTHING
        }
    }

    /// The names whose IRIs differ from the last pair on.
    pub fn redeclared(&self) -> &[Redeclared] {
        &self.news
    }

    /// Whether namespaces differ in the pairs compared so far.
    pub fn namespaces_differ(&self) -> bool {
        self.namespaces_differ
    }

    /// The bounds of the work on blank nodes that were reached.
    pub fn reached(&self) -> Reached {
        let [one, other] = self.budgets.each_ref().map(Budget::reached);
        Reached {
            each: one.each || other.each,
            total: one.total || other.total,
        }
    }

    /// Compares the records of a pair of messages.
    fn records<R: Compared>(
        &mut self,
        (a, i): (&LogBatch<R>, usize),
        (b, j): (&LogBatch<R>, usize),
    ) -> Found {
        let tables = [a.table(), b.table()];
        let mut held = [Vec::new(), Vec::new()];
        let (ours, theirs) = match &self.columns {
            None => (a.message(i), b.message(j)),
            Some(columns) => {
                held[0] = arranged(a.message(i), &columns[0]);
                held[1] = arranged(b.message(j), &columns[1]);
                (&held[0][..], &held[1][..])
            }
        };
        let mut found = Found::NOTHING;
        if self.known.identical(tables, ours, theirs) {
            return found;
        }
        found.records = match self.mode {
            Mode::Exact => true,
            Mode::Sequences => !self.known.renamed(tables, ours, theirs),
            Mode::Sets if self.known.renamed(tables, ours, theirs) => false,
            Mode::Sets => {
                let [left, right] = &mut self.hashes;
                let left = Graph::of(ours, tables[0], &self.keys, left);
                let right = Graph::of(theirs, tables[1], &self.keys, right);
                let quads = ours.len() + theirs.len();
                let mapping = self.budgets[0].run(quads, |steps| {
                    matching::mapping(&left, &right, tables, &self.keys, steps)
                });
                found.undecided = mapping.is_err();
                mapping == Ok(None)
            }
        };
        found
    }

    /// Rough signatures of messages: those of messages that are the same are equal.
    pub fn signatures<R: Compared>(
        &mut self,
        side: Side,
        batch: &LogBatch<R>,
        messages: std::ops::Range<usize>,
    ) -> Vec<u128> {
        messages
            .map(|message| self.signature(side, batch, message, false).unwrap_or(0))
            .collect()
    }

    /// Takes the messages of a batch into the multiset of its side. Gives the numbers of those that need more steps
    /// than the limits allow, which are left out.
    pub fn collect<R: Compared>(&mut self, side: Side, batch: &LogBatch<R>) -> Vec<usize> {
        let mut undecided = Vec::new();
        for message in 0..batch.len() {
            match self.signature(side, batch, message, true) {
                Ok(signature) => self.multiset.add(side as usize, signature),
                Err(Exhausted) => undecided.push(message),
            }
        }
        undecided
    }

    /// Compares the multisets; messages that only one side has can be picked then, from the first batch on.
    pub fn settle(&mut self) -> Settled {
        self.budgets.iter_mut().for_each(Budget::renew);
        self.multiset.settle()
    }

    /// The messages of a batch that only its side has, each told once.
    pub fn pick<R: Compared>(&mut self, side: Side, batch: &LogBatch<R>) -> Vec<usize> {
        let mut picked = Vec::new();
        for message in 0..batch.len() {
            if let Ok(signature) = self.signature(side, batch, message, true)
                && self.multiset.take(side as usize, signature)
            {
                picked.push(message);
            }
        }
        picked
    }

    /// The signature of a message: a rough one, or the whole one within the limits, metadata included.
    fn signature<R: Compared>(
        &mut self,
        side: Side,
        batch: &LogBatch<R>,
        message: usize,
        whole: bool,
    ) -> Result<u128, Exhausted> {
        let table = batch.table();
        let held;
        let records = match &self.columns {
            None => batch.message(message),
            Some(columns) => {
                held = arranged(batch.message(message), &columns[side as usize]);
                &held
            }
        };
        let (keys, hashes) = (&self.keys, &mut self.hashes[side as usize]);
        let signature = match self.mode {
            Mode::Sets => {
                let graph = Graph::of(records, table, keys, hashes);
                if whole {
                    let budget = &mut self.budgets[side as usize];
                    budget.run(records.len(), |steps| signature::whole(&graph, keys, steps))?
                } else {
                    signature::rough(&graph, keys)
                }
            }
            Mode::Exact => {
                let mut mix = keys.begin();
                for record in records {
                    mix.add(u128::from(record.tag()));
                    record.each(|id| mix.add(hashes.get(keys, table, id)));
                }
                mix.end()
            }
            Mode::Sequences => {
                let mut mix = keys.begin();
                let mut labels = FxHashMap::default();
                for record in records {
                    mix.add(u128::from(record.tag()));
                    record.each(|id| {
                        each(table, id, &mut |id, is_node| {
                            let hash = hashes.get(keys, table, id);
                            let next = labels.len() as u128;
                            mix.add(if is_node {
                                *labels.entry(hash).or_insert(next)
                            } else {
                                hash
                            });
                        });
                    });
                }
                mix.end()
            }
        };
        if !whole || !self.metadata || batch.all_metadata().is_empty() {
            return Ok(signature);
        }
        let mut mix = keys.begin();
        mix.add(signature);
        for (key, value) in metadata(batch, message) {
            mix.add(keys.text(100, [key.as_bytes(), value]));
        }
        Ok(mix.end())
    }
}

/// The records of a row, each in the column that it belongs to.
fn arranged<R: Compared>(records: &[R], columns: &[Option<usize>]) -> Vec<R> {
    let cell = |column: &Option<usize>| column.and_then(|at| records.get(at).copied());
    columns
        .iter()
        .map(|column| cell(column).unwrap_or(R::ABSENT))
        .collect()
}

/// The metadata of a message, by key.
fn metadata<R: Compared>(batch: &LogBatch<R>, message: usize) -> Vec<(&str, &[u8])> {
    let entries = batch.metadata(message).iter();
    let mut found: Vec<_> = entries.map(|entry| (&*entry.key, &*entry.value)).collect();
    found.sort_unstable();
    found
}

/// The parts of a term that holds blank nodes, else the term; and whether each is a blank node.
fn each(
    table: &rdfm_core::model::table::TermTable,
    id: TermId,
    take: &mut impl FnMut(TermId, bool),
) {
    let term = table.term(id);
    match term.kind {
        TermKind::TripleTerm => {
            take(TermId::DEFAULT_GRAPH, false); // a triple term begins
            for part in table.triple(term) {
                each(table, part, take);
            }
        }
        kind => take(id, kind == TermKind::Bnode),
    }
}

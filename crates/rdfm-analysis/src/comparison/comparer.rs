//! Comparison of two logs, one batch of each at a time.
//!
//! - In: pairs of batches with start positions. Out: the number of equal message pairs and the
//!   differences in the next pair; message signatures.
//! - Law: the division of logs into batches does not affect the results.

use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::term::{TermId, TermKind};
use rustc_hash::FxHashMap;

use super::budget::{Budget, Exhausted, Limits, ReachedLimits};
use super::graph::{ComparableRecord, Graph};
use super::hashing::{Keys, TermHashes};
use super::matching;
use super::multiset::{Multiset, MultisetResult};
use super::namespaces::{self, RedeclaredName};
use super::order::EqualTerms;
use super::signature;

/// The way in which messages are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As sets of quads, up to blank node labels.
    Sets,
    /// As sequences of quads, up to blank node labels.
    Sequences,
    /// As sequences of records, including labels. This mode is for records whose labels are scoped
    /// to the log.
    Exact,
}

/// Role of namespaces in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamespaceUse {
    /// Namespaces are not compared.
    Ignored,
    /// The comparer records whether any namespaces differ. Pairs are equal regardless of their
    /// namespaces.
    Noticed,
    /// A pair with different namespaces differs.
    Compared,
}

/// One of the two logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first log.
    A,
    /// The second log.
    B,
}

/// The differences in a pair of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairDifferences {
    /// The records differ.
    pub records: bool,
    /// It is unknown whether the records differ, because `max_steps` was reached.
    pub undecided: bool,
    /// The metadata differs.
    pub metadata: bool,
    /// The namespaces begin to differ at this pair.
    pub namespaces: bool,
}

impl PairDifferences {
    const NOTHING: Self = Self {
        records: false,
        undecided: false,
        metadata: false,
        namespaces: false,
    };
}

/// Consecutive equal pairs of messages, and the differences in the next pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Number of equal pairs.
    pub pairs: usize,
    /// Number of records in these pairs, counted on the first side.
    pub records: u64,
    /// The differences in the next pair, or `None` at the end of a batch.
    pub differences: Option<PairDifferences>,
}

/// Compares the messages of two logs.
#[derive(Debug)]
pub struct Comparer {
    mode: Mode,
    metadata: bool,
    /// `None` if namespaces are ignored, or if finding one difference is sufficient and one has
    /// been found.
    namespaces: Option<namespaces::NamespaceComparison>,
    namespace_use: NamespaceUse,
    namespaces_differ: bool,
    redeclared_names: Vec<RedeclaredName>,
    /// One budget for the signatures of each side. The first is also used for message pairs.
    budgets: [Budget; 2],
    /// For result rows: the column of each cell on each side, or `None` if the side lacks it.
    columns: Option<[Vec<Option<usize>>; 2]>,
    keys: Keys,
    equal_terms: EqualTerms,
    hashes: [TermHashes; 2],
    multiset: Multiset,
}

impl Comparer {
    /// Creates a comparer.
    pub fn new(mode: Mode, metadata: bool, namespace_use: NamespaceUse, limits: Limits) -> Self {
        Self {
            mode,
            metadata,
            namespaces: (namespace_use != NamespaceUse::Ignored)
                .then(namespaces::NamespaceComparison::default),
            namespace_use,
            namespaces_differ: false,
            redeclared_names: Vec::new(),
            budgets: [Budget::new(limits), Budget::new(limits)],
            columns: None,
            keys: Keys::new(),
            equal_terms: EqualTerms::default(),
            hashes: Default::default(),
            multiset: Multiset::default(),
        }
    }

    /// Derives the keys from a secret, so that hashes from several processes can be compared.
    #[must_use]
    pub fn with_secret(mut self, secret: [u64; 4]) -> Self {
        self.keys = Keys::shared(secret);
        self
    }

    /// Sets the corresponding columns of rows on both sides.
    pub fn set_columns(&mut self, columns: [Vec<Option<usize>>; 2]) {
        self.columns = Some(columns);
    }

    /// Discards cached terms of a side before its next batch.
    pub fn next_batch(&mut self, side: Side) {
        self.equal_terms.clear();
        self.hashes[side as usize].clear();
    }

    /// Compares up to `max_pairs` message pairs until one differs, starting at message `i` of `a`
    /// and message `j` of `b`.
    pub fn run<R: ComparableRecord>(
        &mut self,
        (a, i): (&LogBatch<R>, usize),
        (b, j): (&LogBatch<R>, usize),
        max_pairs: usize,
    ) -> Run {
        let mut run = Run::default();
        let max_pairs = max_pairs.min(a.len() - i).min(b.len() - j);
        while run.pairs < max_pairs {
            let (i, j) = (i + run.pairs, j + run.pairs);
            let mut differences = self.compare_records((a, i), (b, j));
            if !differences.records && !differences.undecided {
                differences = self.compare_metadata_and_namespaces((a, i), (b, j));
            }
            if differences != PairDifferences::NOTHING {
                run.differences = Some(differences);
                return run;
            }
            run.records += a.range(i).len() as u64;
            run.pairs += 1;
        }
        run
    }

    /// Compares the metadata and namespaces of a message pair.
    pub fn compare_metadata_and_namespaces<R: ComparableRecord>(
        &mut self,
        (a, i): (&LogBatch<R>, usize),
        (b, j): (&LogBatch<R>, usize),
    ) -> PairDifferences {
        let metadata = self.metadata
            && !(a.all_metadata().is_empty() && b.all_metadata().is_empty())
            && metadata(a, i) != metadata(b, j);
        self.redeclared_names.clear();
        if let Some(namespaces) = &mut self.namespaces {
            self.redeclared_names = namespaces.advance((a, i), (b, j));
            self.namespaces_differ |= !self.redeclared_names.is_empty();
            if self.namespaces_differ && self.namespace_use == NamespaceUse::Noticed {
                self.redeclared_names.clear();
                self.namespaces = None;
            }
        }
        PairDifferences {
            metadata,
            namespaces: !self.redeclared_names.is_empty(),
            ..PairDifferences::NOTHING
        }
    }

    /// The namespaces that began to differ at the last compared pair.
    pub fn redeclared_names(&self) -> &[RedeclaredName] {
        &self.redeclared_names
    }

    /// Whether the namespaces differ in any pair compared so far.
    pub fn namespaces_differ(&self) -> bool {
        self.namespaces_differ
    }

    /// The limits of the search for matching blank nodes that were reached.
    pub fn reached_limits(&self) -> ReachedLimits {
        let [one, other] = self.budgets.each_ref().map(Budget::reached_limits);
        ReachedLimits {
            each: one.each || other.each,
            total: one.total || other.total,
        }
    }

    /// Compares the records of a message pair.
    fn compare_records<R: ComparableRecord>(
        &mut self,
        (a, i): (&LogBatch<R>, usize),
        (b, j): (&LogBatch<R>, usize),
    ) -> PairDifferences {
        let tables = [a.table(), b.table()];
        let mut buffers = [Vec::new(), Vec::new()];
        let (ours, theirs) = match &self.columns {
            None => (a.message(i), b.message(j)),
            Some(columns) => {
                buffers[0] = reorder_columns(a.message(i), &columns[0]);
                buffers[1] = reorder_columns(b.message(j), &columns[1]);
                (&buffers[0][..], &buffers[1][..])
            }
        };
        let mut differences = PairDifferences::NOTHING;
        if self.equal_terms.identical(tables, ours, theirs) {
            return differences;
        }
        differences.records = match self.mode {
            Mode::Exact => true,
            Mode::Sequences => !self.equal_terms.equal_up_to_labels(tables, ours, theirs),
            Mode::Sets if self.equal_terms.equal_up_to_labels(tables, ours, theirs) => false,
            Mode::Sets => {
                let [left, right] = &mut self.hashes;
                let left = Graph::from_records(ours, tables[0], &self.keys, left);
                let right = Graph::from_records(theirs, tables[1], &self.keys, right);
                let quads = ours.len() + theirs.len();
                let mapping = self.budgets[0].run(quads, |steps| {
                    matching::find_mapping(&left, &right, tables, &self.keys, steps)
                });
                differences.undecided = mapping.is_err();
                mapping == Ok(None)
            }
        };
        differences
    }

    /// Rough signatures of messages. Equal messages have equal signatures.
    pub fn compute_signatures<R: ComparableRecord>(
        &mut self,
        side: Side,
        batch: &LogBatch<R>,
        messages: std::ops::Range<usize>,
    ) -> Vec<u128> {
        messages
            .map(|message| {
                self.compute_signature(side, batch, message, false)
                    .unwrap_or(0)
            })
            .collect()
    }

    /// The full signatures of messages, or `None` for a signature that exceeds the step limit.
    pub fn compute_full_signatures<R: ComparableRecord>(
        &mut self,
        side: Side,
        batch: &LogBatch<R>,
    ) -> Vec<Option<u128>> {
        (0..batch.len())
            .map(|message| self.compute_signature(side, batch, message, true).ok())
            .collect()
    }

    /// Adds the messages of a batch to the multiset of its side, except those that exceed the step
    /// limit. Returns the indexes of these messages in the batch.
    pub fn collect<R: ComparableRecord>(&mut self, side: Side, batch: &LogBatch<R>) -> Vec<usize> {
        let mut undecided = Vec::new();
        for message in 0..batch.len() {
            match self.compute_signature(side, batch, message, true) {
                Ok(signature) => self.multiset.add(side as usize, signature),
                Err(Exhausted) => undecided.push(message),
            }
        }
        undecided
    }

    /// Compares the multisets. To get the messages that only one side has, call
    /// [`Self::find_surplus`] for each batch afterwards, starting again with the first one.
    pub fn compare_multisets(&mut self) -> MultisetResult {
        self.budgets.iter_mut().for_each(Budget::renew);
        self.multiset.compare()
    }

    /// The messages of a batch that only this side has. Each message is reported once.
    pub fn find_surplus<R: ComparableRecord>(
        &mut self,
        side: Side,
        batch: &LogBatch<R>,
    ) -> Vec<usize> {
        let mut picked = Vec::new();
        for message in 0..batch.len() {
            if let Ok(signature) = self.compute_signature(side, batch, message, true)
                && self.multiset.take(side as usize, signature)
            {
                picked.push(message);
            }
        }
        picked
    }

    /// The rough signature of a message, or the full one including metadata.
    fn compute_signature<R: ComparableRecord>(
        &mut self,
        side: Side,
        batch: &LogBatch<R>,
        message: usize,
        full: bool,
    ) -> Result<u128, Exhausted> {
        let table = batch.table();
        let buffers;
        let records = match &self.columns {
            None => batch.message(message),
            Some(columns) => {
                buffers = reorder_columns(batch.message(message), &columns[side as usize]);
                &buffers
            }
        };
        let (keys, hashes) = (&self.keys, &mut self.hashes[side as usize]);
        let signature = match self.mode {
            Mode::Sets => {
                let graph = Graph::from_records(records, table, keys, hashes);
                if full {
                    let budget = &mut self.budgets[side as usize];
                    budget.run(records.len(), |steps| {
                        signature::compute_full(&graph, keys, steps)
                    })?
                } else {
                    signature::compute_rough(&graph, keys)
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
                        visit_nested_terms(table, id, &mut |id, is_node| {
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
        if !full || !self.metadata || batch.all_metadata().is_empty() {
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

/// The cells of a row, in the order of `columns`.
fn reorder_columns<R: ComparableRecord>(records: &[R], columns: &[Option<usize>]) -> Vec<R> {
    let cell = |column: &Option<usize>| column.and_then(|index| records.get(index).copied());
    columns
        .iter()
        .map(|column| cell(column).unwrap_or(R::ABSENT))
        .collect()
}

/// The metadata of a message, sorted by key.
fn metadata<R: ComparableRecord>(batch: &LogBatch<R>, message: usize) -> Vec<(&str, &[u8])> {
    let entries = batch.metadata(message).iter();
    let mut pairs: Vec<_> = entries.map(|entry| (&*entry.key, &*entry.value)).collect();
    pairs.sort_unstable();
    pairs
}

/// Passes a term to `take`, with a flag that is true for blank nodes. For a triple term, passes the
/// default graph as a start mark, and then each part.
fn visit_nested_terms(
    table: &rdfm_core::model::table::TermTable,
    id: TermId,
    take: &mut impl FnMut(TermId, bool),
) {
    let term = table.term(id);
    match term.kind {
        TermKind::TripleTerm => {
            take(TermId::DEFAULT_GRAPH, false); // a triple term begins
            for part in table.triple(term) {
                visit_nested_terms(table, part, take);
            }
        }
        kind => take(id, kind == TermKind::BlankNode),
    }
}

//! An in-memory dataset to which patches are applied.
//!
//! - In: batches of messages, whose quads are added; batches of patches, which are applied.
//! - Out: the quads in insertion order, and the prefixes, as one message.
//! - Cost: 27 to 37 bytes per quad, plus one copy of each term. A change is one lookup. The lookups
//!   of a batch are done together, because each is likely to miss all caches.
//! - Law: adding an existing quad or deleting a missing one changes nothing. Aborted and unfinished
//!   transactions are undone.

use super::index::{Index, hash_numbers};
use super::rules::{Rules, Violation, in_row, row_error};
use super::terms::{Copies, TermIndex, TermNumber};
use crate::model::batch::{InForceNamespaces, MessageBatch, PatchBatch};
use crate::model::builder::BatchBuilder;
use crate::model::error::{DecodeError, ErrorClass, LimitExceeded};
use crate::model::limits::Limits;
use crate::model::namespaces::Namespaces;
use crate::model::record::{Operation, OperationCode};
use crate::model::remedy::Reason;
use crate::model::table::TermTable;
use crate::model::term::Quad;

/// A quad as the numbers of its subject, predicate, object and graph.
pub type QuadKey = [TermNumber; 4];

/// Counts of the effects of patches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppliedCounts {
    /// Quads added, excluding those of undone transactions.
    pub added: u64,
    /// Quads deleted, excluding those of undone transactions.
    pub deleted: u64,
    /// Additions of existing quads and deletions of missing ones.
    pub without_effect: u64,
    /// Committed transactions.
    pub committed: u64,
    /// Aborted and unfinished transactions.
    pub undone: u64,
}

/// Marks the place of a deleted quad. No real quad has this subject.
const DELETED: QuadKey = [TermNumber::MAX; 4];

/// A change, with the data needed to undo it.
#[derive(Clone, Copy)]
enum Change {
    Added(u32),
    Deleted(u32, QuadKey),
}

/// An open transaction.
struct Transaction {
    changes: Vec<Change>,
    before: AppliedCounts,
    namespaces: Namespaces,
}

/// A dataset.
#[derive(Default)]
pub struct Dataset {
    pub(super) terms: TermIndex,
    /// The quads in insertion order. Deleted quads are [`DELETED`].
    quads: Vec<QuadKey>,
    slots: Index,
    /// Reused buffer for the keys of a batch.
    keys: Vec<QuadKey>,
    namespaces: Namespaces,
    in_force: InForceNamespaces,
    transaction: Option<Transaction>,
    rules: Rules,
    applied: AppliedCounts,
}

impl Dataset {
    /// Creates an empty dataset.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of quads.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are no quads.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Effects of the patches so far.
    #[must_use]
    pub const fn applied_counts(&self) -> AppliedCounts {
        self.applied
    }

    /// The prefixes. If a prefix in a patch has a graph, the graph is ignored.
    #[must_use]
    pub const fn namespaces(&self) -> &Namespaces {
        &self.namespaces
    }

    /// Adds the quads and prefixes of messages.
    ///
    /// # Errors
    /// If there are too many terms or quads.
    pub fn add(&mut self, batch: &MessageBatch) -> Result<(), LimitExceeded> {
        let keys = self.take_keys(batch.table(), batch.quads().iter().copied())?;
        for key in &keys {
            self.insert(*key)?;
        }
        self.keys = keys;
        for (name, iri) in self.in_force.new_namespaces(batch) {
            self.namespaces.set(name, iri);
        }
        for change in batch.namespace_changes() {
            let table = batch.table();
            self.namespaces
                .set(table.span(change.name), table.span(change.iri));
        }
        Ok(())
    }

    /// Returns the keys of a batch's quads.
    pub(super) fn take_keys(
        &mut self,
        table: &TermTable,
        quads: impl Iterator<Item = Quad> + Clone,
    ) -> Result<Vec<QuadKey>, LimitExceeded> {
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        self.terms.keys(table, quads, &mut keys)?;
        self.slots
            .prefetch(keys.iter().map(|key| hash_numbers(*key)));
        Ok(keys)
    }

    /// Returns the place of a quad, if the dataset contains the quad.
    pub(super) fn find_slot(&self, key: &QuadKey) -> Option<u32> {
        let matches = |slot: u32| self.quads[slot as usize] == *key;
        self.slots.find(hash_numbers(*key), matches)
    }

    /// Returns the existing quads at or after a place, with their places.
    pub(super) fn present_quads(&self, from: usize) -> impl Iterator<Item = (usize, &QuadKey)> {
        let quads = self.quads.iter().enumerate().skip(from);
        quads.filter(|(_, key)| **key != DELETED)
    }

    /// Returns the quad in a place, or `None` if the quad was deleted.
    pub(super) fn quad_in_slot(&self, slot: usize) -> Option<QuadKey> {
        self.quads.get(slot).copied().filter(|key| *key != DELETED)
    }

    /// Number of places.
    pub(super) fn slot_count(&self) -> usize {
        self.quads.len()
    }

    fn insert(&mut self, key: QuadKey) -> Result<Option<u32>, LimitExceeded> {
        if self.find_slot(&key).is_some() {
            return Ok(None);
        }
        let slot = self.quads.len() as u32;
        if slot >= TermNumber::MAX - 1 {
            return Err(LimitExceeded("more than 4,294,967,294 quads".into()));
        }
        self.slots.insert(hash_numbers(key), slot);
        self.quads.push(key);
        Ok(Some(slot))
    }

    fn remove(&mut self, key: &QuadKey) -> Option<u32> {
        let quads = &self.quads;
        let matches = |slot: u32| quads[slot as usize] == *key;
        let slot = self.slots.remove(hash_numbers(*key), matches)?;
        self.quads[slot as usize] = DELETED;
        Some(slot)
    }

    /// Applies patches. If `chain` is true, a broken patch chain is an error.
    ///
    /// # Errors
    /// If a rule of [`super::rules`] is violated, or there are too many terms or quads. Earlier
    /// patches remain applied, and the open transaction is undone.
    pub fn apply(&mut self, batch: &PatchBatch, chain: bool) -> Result<(), DecodeError> {
        let quads = batch.records().iter().map(|operation| operation.change());
        let keys = self.take_keys(batch.table(), quads);
        let keys = keys.map_err(|error| row_error(batch, 0, None, (ErrorClass::Limit, error.0)))?;
        let mut next = keys.iter();
        for patch in 0..batch.len() {
            if patch > 0 || !batch.continued() {
                self.rules.begin_patch();
            }
            for (index, key) in batch.range(patch).zip(&mut next) {
                let operation = batch.records()[index];
                let done = self.check_operation(batch.table(), operation, chain);
                if let Err(error) =
                    done.and_then(|()| self.apply_operation(batch.table(), operation, *key))
                {
                    self.undo();
                    let error = row_error(batch, patch, Some(index), error);
                    self.rules.skip();
                    return Err(error);
                }
                self.rules.next_row();
            }
            if patch + 1 < batch.len() || !batch.continues() {
                self.rules.end_patch();
                self.undo();
            }
        }
        self.keys = keys;
        self.compact();
        Ok(())
    }

    /// Checks an operation against the rules.
    #[inline]
    fn check_operation(
        &mut self,
        table: &TermTable,
        operation: Operation,
        chain: bool,
    ) -> Result<(), (ErrorClass, Reason)> {
        let Err(violation) = self.rules.check_row(table, operation) else {
            return Ok(());
        };
        self.check_violation(violation, chain)
    }

    #[cold]
    fn check_violation(
        &self,
        violation: Violation,
        chain: bool,
    ) -> Result<(), (ErrorClass, Reason)> {
        if violation.rule.is_chain() && !chain {
            return Ok(());
        }
        Err((ErrorClass::Malformed, violation.reason(self.rules.row())))
    }

    fn apply_operation(
        &mut self,
        table: &TermTable,
        operation: Operation,
        key: QuadKey,
    ) -> Result<(), (ErrorClass, Reason)> {
        let row = self.rules.row();
        let limit = |error: LimitExceeded| (ErrorClass::Limit, in_row(row, error.0));
        match operation.code {
            OperationCode::Add => {
                let slot = self.insert(key).map_err(limit)?;
                self.applied.added += u64::from(slot.is_some());
                self.record_change(slot.map(Change::Added));
            }
            OperationCode::Delete => {
                let slot = self.remove(&key);
                self.applied.deleted += u64::from(slot.is_some());
                self.record_change(slot.map(|slot| Change::Deleted(slot, key)));
            }
            OperationCode::Begin => {
                self.transaction = Some(Transaction {
                    changes: Vec::new(),
                    before: self.applied,
                    namespaces: self.namespaces.clone(),
                });
            }
            OperationCode::Commit => {
                self.transaction = None;
                self.applied.committed += 1;
            }
            OperationCode::Abort => self.undo(),
            OperationCode::AddPrefix => {
                self.namespaces
                    .set(table.text(operation.name), table.text(operation.object));
            }
            OperationCode::DeletePrefix => self.namespaces.remove(table.text(operation.name)),
            OperationCode::Header => {}
        }
        Ok(())
    }

    fn record_change(&mut self, change: Option<Change>) {
        match (change, &mut self.transaction) {
            (Some(change), Some(transaction)) => transaction.changes.push(change),
            (None, _) => self.applied.without_effect += 1,
            _ => {}
        }
    }

    /// Undoes the open transaction, if any.
    fn undo(&mut self) {
        let Some(transaction) = self.transaction.take() else {
            return;
        };
        for change in transaction.changes.into_iter().rev() {
            match change {
                Change::Added(slot) => {
                    let key = self.quads[slot as usize];
                    self.remove(&key);
                }
                Change::Deleted(slot, key) => {
                    self.slots.insert(hash_numbers(key), slot);
                    self.quads[slot as usize] = key;
                }
            }
        }
        self.namespaces = transaction.namespaces;
        self.applied = AppliedCounts {
            undone: self.applied.undone + 1,
            ..transaction.before
        };
    }

    /// Removes the places of deleted quads if they outnumber the quads by at least a million.
    fn compact(&mut self) {
        if self.transaction.is_some() || self.quads.len() < 2 * self.len() + 1_000_000 {
            return;
        }
        self.quads.retain(|key| *key != DELETED);
        self.slots = Index::default();
        for (slot, key) in self.quads.iter().enumerate() {
            self.slots.insert(hash_numbers(*key), slot as u32);
        }
    }

    /// Returns the dataset as one message. If `parts` is true, a large message is returned in
    /// parts.
    #[must_use]
    pub fn message(&self, parts: bool) -> Quads<'_> {
        Quads {
            dataset: self,
            builder: if parts {
                BatchBuilder::new(Limits::default())
            } else {
                BatchBuilder::within_2_gib()
            },
            copies: Copies::default(),
            next: 0,
            parts,
            has_begun: false,
            ended: false,
        }
    }
}

/// Yields the quads of a dataset as one message, in one or more batches.
pub struct Quads<'a> {
    dataset: &'a Dataset,
    builder: BatchBuilder,
    copies: Copies,
    next: usize,
    parts: bool,
    has_begun: bool,
    ended: bool,
}

impl Quads<'_> {
    /// Returns the next batch, or `None` at the end.
    ///
    /// # Errors
    /// If the message is too large for one batch and `parts` is false.
    pub fn next_batch(&mut self) -> Result<Option<MessageBatch>, LimitExceeded> {
        if self.ended {
            return Ok(None);
        }
        if !self.has_begun {
            self.has_begun = true;
            self.builder.begin_message(None);
            for (name, iri) in self.dataset.namespaces.iter() {
                self.builder.add_namespace(name, iri)?;
            }
        }
        for (slot, key) in self.dataset.present_quads(self.next) {
            self.next = slot + 1;
            let quad = copy_quad(
                &self.dataset.terms,
                key,
                &mut self.copies,
                &mut self.builder,
            )?;
            self.builder.push_quad(quad);
            if self.parts && self.builder.is_full() {
                return Ok(Some(self.builder.take_part()));
            }
            if slot.is_multiple_of(1 << 16) {
                self.builder.check_2_gib()?;
            }
        }
        self.builder.check_2_gib()?;
        self.ended = true;
        self.builder.end_message();
        Ok(self.builder.take())
    }
}

/// Copies the terms of a quad into a builder's batch. Returns the quad with the ids of the copies.
pub(super) fn copy_quad<R: crate::model::record::Record>(
    terms: &TermIndex,
    key: &QuadKey,
    copies: &mut Copies,
    builder: &mut crate::model::builder::LogBuilder<R>,
) -> Result<Quad, LimitExceeded> {
    let mut term = |number| copies.copy(terms, number, builder);
    Ok(Quad {
        subject: term(key[0])?,
        predicate: term(key[1])?,
        object: term(key[2])?,
        graph: term(key[3])?,
    })
}

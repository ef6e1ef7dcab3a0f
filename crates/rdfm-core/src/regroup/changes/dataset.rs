//! A dataset in memory, which patches change.
//!
//! - In: batches of messages, whose quads are added; batches of patches, which are applied.
//! - Out: the quads, in the order in which they were added, and the prefixes, as one message.
//! - Cost: some 60 bytes a quad, and each term once; a change is a look-up.
//! - Law: adding what is there and deleting what is not change nothing. What an aborted transaction changed, or one
//!   that its patch does not end, is undone.

use rustc_hash::FxHashMap;

use super::terms::{Copies, Number, Terms};
use crate::model::batch::{InForce, MessageBatch, PatchBatch};
use crate::model::builder::BatchBuilder;
use crate::model::error::{DecodeError, ErrorClass, LimitExceeded, Position};
use crate::model::limits::Limits;
use crate::model::namespaces::Namespaces;
use crate::model::record::{Operation, OperationCode};
use crate::model::remedy::Reason;
use crate::model::table::TermTable;
use crate::model::term::Quad;

/// Subject, predicate, object, graph.
pub type Key = [Number; 4];

/// What patches did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Quads that were added, and stayed.
    pub added: u64,
    /// Quads that were deleted, and stayed so.
    pub deleted: u64,
    /// Adding what was there, and deleting what was not.
    pub without_effect: u64,
    /// Transactions that were committed.
    pub committed: u64,
    /// Transactions that were aborted, or not ended.
    pub undone: u64,
}

/// A change, and what undoes it.
#[derive(Clone, Copy)]
enum Change {
    Added(u32),
    Deleted(u32),
}

/// A transaction that is open.
struct Transaction {
    changes: Vec<Change>,
    before: Applied,
    namespaces: Namespaces,
}

/// A dataset.
#[derive(Default)]
pub struct Dataset {
    pub(super) terms: Terms,
    /// All quads that were ever added, in order.
    pub(super) quads: Vec<Key>,
    /// Whether each is there.
    pub(super) there: Vec<bool>,
    places: FxHashMap<Key, u32>,
    namespaces: Namespaces,
    in_force: InForce,
    transaction: Option<Transaction>,
    /// The row of the patch that is applied next.
    row: u64,
    applied: Applied,
}

impl Dataset {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of quads.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no quad.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// What patches did so far.
    #[must_use]
    pub const fn applied(&self) -> Applied {
        self.applied
    }

    /// The prefixes. The graph that a prefix of a patch may have does not count.
    #[must_use]
    pub const fn namespaces(&self) -> &Namespaces {
        &self.namespaces
    }

    /// Adds all quads of messages, and their prefixes.
    ///
    /// # Errors
    /// There are too many terms or quads.
    pub fn add(&mut self, batch: &MessageBatch) -> Result<(), LimitExceeded> {
        self.terms.begin_batch(batch.table());
        for quad in batch.quads() {
            let key = self.key(batch.table(), *quad)?;
            self.insert(key)?;
        }
        for (name, iri) in self.in_force.news(batch) {
            self.namespaces.set(name, iri);
        }
        for change in batch.namespace_changes() {
            let table = batch.table();
            self.namespaces
                .set(table.span(change.name), table.span(change.iri));
        }
        Ok(())
    }

    pub(super) fn key(&mut self, table: &TermTable, quad: Quad) -> Result<Key, LimitExceeded> {
        Ok([
            self.terms.number(table, quad.subject)?,
            self.terms.number(table, quad.predicate)?,
            self.terms.number(table, quad.object)?,
            self.terms.number(table, quad.graph)?,
        ])
    }

    /// The place of a quad that is there.
    pub(super) fn place(&self, key: &Key) -> Option<u32> {
        self.places.get(key).copied()
    }

    fn insert(&mut self, key: Key) -> Result<Option<u32>, LimitExceeded> {
        let place = u32::try_from(self.quads.len())
            .map_err(|_| LimitExceeded("more than 4,294,967,295 quads".into()))?;
        let std::collections::hash_map::Entry::Vacant(entry) = self.places.entry(key) else {
            return Ok(None);
        };
        entry.insert(place);
        self.quads.push(key);
        self.there.push(true);
        Ok(Some(place))
    }

    fn remove(&mut self, key: &Key) -> Option<u32> {
        let place = self.places.remove(key)?;
        self.there[place as usize] = false;
        Some(place)
    }

    /// Applies patches.
    ///
    /// # Errors
    /// A transaction ends that did not begin, or begins in another; or there are too many terms or quads. The patches
    /// before are applied, and what the transaction that is open changed is undone.
    pub fn apply(&mut self, batch: &PatchBatch) -> Result<(), DecodeError> {
        self.terms.begin_batch(batch.table());
        for patch in 0..batch.len() {
            if patch > 0 || !batch.continued() {
                self.row = 0;
            }
            for operation in batch.message(patch) {
                self.operation(batch.table(), *operation)
                    .map_err(|(class, reason)| {
                        self.undo();
                        DecodeError {
                            format: "patches",
                            class,
                            reason: in_row(self.row, reason),
                            position: Position {
                                offset: batch.position(patch),
                                message: Some(batch.first_index() + patch as u64),
                                ..Position::default()
                            },
                        }
                    })?;
                self.row += 1;
            }
            if patch + 1 < batch.len() || !batch.continues() {
                self.undo();
            }
        }
        self.compact();
        Ok(())
    }

    fn operation(
        &mut self,
        table: &TermTable,
        operation: Operation,
    ) -> Result<(), (ErrorClass, Reason)> {
        let limit = |error: LimitExceeded| (ErrorClass::Limit, error.0);
        match operation.code {
            OperationCode::Add => {
                let key = self.key(table, operation.quad()).map_err(limit)?;
                let place = self.insert(key).map_err(limit)?;
                self.applied.added += u64::from(place.is_some());
                self.changed(place.map(Change::Added));
            }
            OperationCode::Delete => {
                let key = self.key(table, operation.quad()).map_err(limit)?;
                let place = self.remove(&key);
                self.applied.deleted += u64::from(place.is_some());
                self.changed(place.map(Change::Deleted));
            }
            OperationCode::Begin => {
                if self.transaction.is_some() {
                    let reason = "TX within a transaction; expected TC or TA before it";
                    return Err((ErrorClass::Malformed, reason.into()));
                }
                self.transaction = Some(Transaction {
                    changes: Vec::new(),
                    before: self.applied,
                    namespaces: self.namespaces.clone(),
                });
            }
            OperationCode::Commit => {
                if self.transaction.take().is_none() {
                    return Err(outside("TC"));
                }
                self.applied.committed += 1;
            }
            OperationCode::Abort => {
                if self.transaction.is_none() {
                    return Err(outside("TA"));
                }
                self.undo();
            }
            OperationCode::AddPrefix => {
                self.namespaces
                    .set(table.text(operation.name), table.text(operation.object));
            }
            OperationCode::DeletePrefix => self.namespaces.remove(table.text(operation.name)),
            OperationCode::Header => {}
        }
        Ok(())
    }

    fn changed(&mut self, change: Option<Change>) {
        match (change, &mut self.transaction) {
            (Some(change), Some(transaction)) => transaction.changes.push(change),
            (None, _) => self.applied.without_effect += 1,
            _ => {}
        }
    }

    /// Undoes the transaction that is open, if one is.
    fn undo(&mut self) {
        let Some(transaction) = self.transaction.take() else {
            return;
        };
        for change in transaction.changes.into_iter().rev() {
            match change {
                Change::Added(place) => {
                    self.places.remove(&self.quads[place as usize]);
                    self.there[place as usize] = false;
                }
                Change::Deleted(place) => {
                    self.places.insert(self.quads[place as usize], place);
                    self.there[place as usize] = true;
                }
            }
        }
        self.namespaces = transaction.namespaces;
        self.applied = Applied {
            undone: self.applied.undone + 1,
            ..transaction.before
        };
    }

    /// Forgets the places of quads that are gone, where they are most.
    fn compact(&mut self) {
        if self.transaction.is_some() || self.quads.len() < 2 * self.places.len() + 1_000_000 {
            return;
        }
        let mut there = self.there.iter();
        self.quads.retain(|_| there.next() == Some(&true));
        self.there = vec![true; self.quads.len()];
        for (place, key) in self.quads.iter().enumerate() {
            self.places.insert(*key, place as u32);
        }
    }

    /// The dataset as one message.
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
            begun: false,
            ended: false,
        }
    }
}

/// A reason that names the row of the patch, from 0.
#[cold]
pub(super) fn in_row(row: u64, reason: Reason) -> Reason {
    reason.reworded(|text| format!("row {row} of the patch: {text}"))
}

fn outside(code: &str) -> (ErrorClass, Reason) {
    let reason = format!("{code} without TX before it");
    (ErrorClass::Malformed, reason.into())
}

/// The quads of a dataset, as batches of one message.
pub struct Quads<'a> {
    dataset: &'a Dataset,
    builder: BatchBuilder,
    copies: Copies,
    next: usize,
    parts: bool,
    begun: bool,
    ended: bool,
}

impl Quads<'_> {
    /// The next batch, or None behind the last.
    ///
    /// # Errors
    /// The message is too large for one batch, and may not come in parts.
    pub fn next_batch(&mut self) -> Result<Option<MessageBatch>, LimitExceeded> {
        if self.ended {
            return Ok(None);
        }
        if !self.begun {
            self.begun = true;
            self.builder.begin_message(0);
            for (name, iri) in self.dataset.namespaces.iter() {
                self.builder.add_namespace(name, iri)?;
            }
        }
        while let Some(key) = self.dataset.quads.get(self.next) {
            let place = self.next;
            self.next += 1;
            if !self.dataset.there[place] {
                continue;
            }
            let quad = quad(
                &self.dataset.terms,
                key,
                &mut self.copies,
                &mut self.builder,
            )?;
            self.builder.push_quad(quad);
            if self.parts && self.builder.full() {
                return Ok(Some(self.builder.take_part()));
            }
            if place.is_multiple_of(1 << 16) {
                self.builder.check_2_gib()?;
            }
        }
        self.builder.check_2_gib()?;
        self.ended = true;
        self.builder.end_message();
        Ok(self.builder.take())
    }
}

/// A quad of numbers in a builder's batch.
pub(super) fn quad<R: crate::model::record::Record>(
    terms: &Terms,
    key: &Key,
    copies: &mut Copies,
    builder: &mut crate::model::builder::LogBuilder<R>,
) -> Result<Quad, LimitExceeded> {
    let mut term = |number| copies.of(terms, number, builder);
    Ok(Quad {
        subject: term(key[0])?,
        predicate: term(key[1])?,
        object: term(key[2])?,
        graph: term(key[3])?,
    })
}

//! The difference of two datasets: what is to be deleted and added, by the labels of blank nodes.
//!
//! - In: a dataset, and the batches of another one. Out: one patch.
//! - Cost: both datasets.
//! - Law: the patch, applied to the one, gives the other.

use super::dataset::{Dataset, Key, quad};
use super::index::{Index, hash_numbers};
use super::terms::Copies;
use crate::model::batch::{MessageBatch, PatchBatch};
use crate::model::builder::PatchBuilder;
use crate::model::error::LimitExceeded;
use crate::model::limits::Limits;
use crate::model::record::{Operation, OperationCode};

/// The difference of a dataset to another one.
pub struct Difference {
    old: Dataset,
    kept: Vec<bool>,
    added: Vec<Key>,
    /// Their places.
    known: Index,
    builder: PatchBuilder,
    copies: Copies,
    /// Whether a patch larger than a batch comes in parts.
    parts: bool,
    /// What of the patch is next: a place of a quad of the old dataset, then behind them one of those added.
    next: usize,
    begun: bool,
    ended: bool,
}

impl Difference {
    /// From a dataset to one of which nothing is known yet. The patch has this index in its log; with `parts` it comes
    /// in parts where it is larger than a batch.
    #[must_use]
    pub fn from(old: Dataset, index: u64, parts: bool) -> Self {
        let mut builder = if parts {
            PatchBuilder::new(Limits::default())
        } else {
            PatchBuilder::within_2_gib()
        };
        builder.start_at(index);
        Self {
            kept: vec![false; old.places()],
            old,
            added: Vec::new(),
            known: Index::default(),
            builder,
            copies: Copies::default(),
            parts,
            next: 0,
            begun: false,
            ended: false,
        }
    }

    /// The other dataset has the quads of these messages.
    ///
    /// # Errors
    /// There are too many terms.
    pub fn add(&mut self, batch: &MessageBatch) -> Result<(), LimitExceeded> {
        let keys = self
            .old
            .take_keys(batch.table(), batch.quads().iter().copied())?;
        for key in keys {
            if let Some(place) = self.old.place(&key) {
                self.kept[place as usize] = true;
                continue;
            }
            let hash = hash_numbers(key);
            let is = |at: u32| self.added[at as usize] == key;
            if self.known.find(hash, is).is_none() {
                let at = u32::try_from(self.added.len())
                    .ok()
                    .filter(|at| *at < u32::MAX);
                let at = at.ok_or_else(|| LimitExceeded("more than 4,294,967,294 quads".into()))?;
                self.known.insert(hash, at);
                self.added.push(key);
            }
        }
        Ok(())
    }

    /// The numbers of quads to delete and to add.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let present = self.old.present(0);
        let deleted = present.filter(|(place, _)| !self.kept[*place]);
        (deleted.count(), self.added.len())
    }

    /// The next batch of the patch, a transaction of its own: what is deleted, then what is added, in order. None
    /// behind the last.
    ///
    /// # Errors
    /// The patch is larger than 2 GiB, and may not come in parts.
    pub fn next_batch(&mut self) -> Result<Option<PatchBatch>, LimitExceeded> {
        if self.ended {
            return Ok(None);
        }
        if !self.begun {
            self.begun = true;
            self.builder.begin_message(0);
            self.builder.push(Operation::bare(OperationCode::Begin));
        }
        let old = self.old.places();
        while self.next < old + self.added.len() {
            let at = self.next;
            self.next += 1;
            let (code, key) = if at >= old {
                (OperationCode::Add, self.added[at - old])
            } else if let Some(key) = self.old.at(at)
                && !self.kept[at]
            {
                (OperationCode::Delete, key)
            } else {
                continue;
            };
            let quad = quad(&self.old.terms, &key, &mut self.copies, &mut self.builder)?;
            self.builder.push(Operation::of(code, quad));
            if self.parts && self.builder.full() {
                return Ok(Some(self.builder.take_part()));
            }
            if at.is_multiple_of(1 << 16) {
                self.builder.check_2_gib()?;
            }
        }
        self.builder.check_2_gib()?;
        self.ended = true;
        self.builder.push(Operation::bare(OperationCode::Commit));
        self.builder.end_message();
        Ok(self.builder.take())
    }
}

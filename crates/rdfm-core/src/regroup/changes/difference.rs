//! The difference of two datasets: what is to be deleted and added, by the labels of blank nodes.
//!
//! - In: a dataset, and the batches of another one. Out: one patch.
//! - Cost: both datasets.
//! - Law: the patch, applied to the one, gives the other.

use rustc_hash::FxHashSet;

use super::dataset::{Dataset, Key, quad};
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
    known: FxHashSet<Key>,
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
            kept: vec![false; old.quads.len()],
            old,
            added: Vec::new(),
            known: FxHashSet::default(),
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
        self.old.terms.begin_batch(batch.table());
        for quad in batch.quads() {
            let key = self.old.key(batch.table(), *quad)?;
            match self.old.place(&key) {
                Some(place) => self.kept[place as usize] = true,
                None => {
                    if self.known.insert(key) {
                        self.added.push(key);
                    }
                }
            }
        }
        Ok(())
    }

    /// The numbers of quads to delete and to add.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let deleted = |place: &usize| self.old.there[*place] && !self.kept[*place];
        let deleted = (0..self.old.quads.len()).filter(deleted).count();
        (deleted, self.added.len())
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
        let old = self.old.quads.len();
        while self.next < old + self.added.len() {
            let at = self.next;
            self.next += 1;
            let (code, key) = if at >= old {
                (OperationCode::Add, self.added[at - old])
            } else if self.old.there[at] && !self.kept[at] {
                (OperationCode::Delete, self.old.quads[at])
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

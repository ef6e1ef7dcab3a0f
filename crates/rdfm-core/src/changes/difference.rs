//! The difference of two datasets: the quads to delete and to add. Blank nodes are compared by
//! label.
//!
//! - In: a dataset, and the batches of another one. Out: one patch.
//! - Cost: both datasets are in memory.
//! - Law: applying the patch to the old dataset results in the new one.

use super::dataset::{Dataset, QuadKey, copy_quad};
use super::index::{Index, hash_numbers};
use super::terms::Copies;
use crate::model::batch::{MessageBatch, PatchBatch};
use crate::model::builder::PatchBuilder;
use crate::model::error::LimitExceeded;
use crate::model::limits::Limits;
use crate::model::record::{Operation, OperationCode, Record as _};

/// The difference from one dataset to another.
pub struct Difference {
    old: Dataset,
    /// Whether the new dataset also contains the quad, by place in the old dataset.
    is_kept: Vec<bool>,
    /// Quads that only the new dataset contains.
    added: Vec<QuadKey>,
    /// Places in `added` by quad.
    added_index: Index,
    builder: PatchBuilder,
    copies: Copies,
    /// Whether a patch larger than a batch is returned in parts.
    parts: bool,
    /// Whether the limit is below 2 GiB.
    is_limited: bool,
    /// Next item of the patch: places of the old dataset, followed by indices of `added`.
    next: usize,
    has_begun: bool,
    ended: bool,
}

impl Difference {
    /// Starts with the old dataset and an empty new one. `index` is the index of the patch in its
    /// log. If `parts` is true, a patch larger than a batch is returned in parts. Otherwise, the
    /// patch may have `max_bytes` decoded bytes, or 2 GiB.
    #[must_use]
    pub fn from(old: Dataset, index: u64, parts: bool, max_bytes: Option<u64>) -> Self {
        let mut builder = match max_bytes {
            _ if parts => PatchBuilder::new(Limits::default()),
            None => PatchBuilder::within_2_gib(),
            Some(max_message_bytes) => PatchBuilder::new(Limits {
                max_message_bytes,
                ..Limits::default()
            }),
        };
        builder.start_at(index);
        Self {
            is_kept: vec![false; old.slot_count()],
            old,
            added: Vec::new(),
            added_index: Index::default(),
            builder,
            copies: Copies::default(),
            parts,
            is_limited: max_bytes.is_some(),
            next: 0,
            has_begun: false,
            ended: false,
        }
    }

    /// Adds the quads of these messages to the new dataset.
    ///
    /// # Errors
    /// If there are too many terms.
    pub fn add(&mut self, batch: &MessageBatch) -> Result<(), LimitExceeded> {
        let keys = self
            .old
            .take_keys(batch.table(), batch.quads().iter().copied())?;
        for key in keys {
            if let Some(slot) = self.old.find_slot(&key) {
                self.is_kept[slot as usize] = true;
                continue;
            }
            let hash = hash_numbers(key);
            let matches = |index: u32| self.added[index as usize] == key;
            if self.added_index.find(hash, matches).is_none() {
                let index = u32::try_from(self.added.len())
                    .ok()
                    .filter(|index| *index < u32::MAX);
                let index =
                    index.ok_or_else(|| LimitExceeded("more than 4,294,967,294 quads".into()))?;
                self.added_index.insert(hash, index);
                self.added.push(key);
            }
        }
        Ok(())
    }

    /// Numbers of quads to delete and to add.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let present = self.old.present_quads(0);
        let deleted = present.filter(|(slot, _)| !self.is_kept[*slot]);
        (deleted.count(), self.added.len())
    }

    /// Returns the next batch of the patch, or `None` at the end. The patch is one transaction: the
    /// deletions followed by the additions, each in order.
    ///
    /// # Errors
    /// If the patch is too large and `parts` is false.
    pub fn next_batch(&mut self) -> Result<Option<PatchBatch>, LimitExceeded> {
        if self.ended {
            return Ok(None);
        }
        if !self.has_begun {
            self.has_begun = true;
            self.builder.begin_message(None);
            if self.is_limited && !self.parts {
                let (deleted, added) = self.counts();
                self.builder.charge(Operation::BYTES * (deleted + added))?;
            }
            self.builder.push(Operation::bare(OperationCode::Begin));
        }
        let old = self.old.slot_count();
        while self.next < old + self.added.len() {
            let index = self.next;
            self.next += 1;
            let (code, key) = if index >= old {
                (OperationCode::Add, self.added[index - old])
            } else if let Some(key) = self.old.quad_in_slot(index)
                && !self.is_kept[index]
            {
                (OperationCode::Delete, key)
            } else {
                continue;
            };
            let quad = copy_quad(&self.old.terms, &key, &mut self.copies, &mut self.builder)?;
            self.builder.push(Operation::new(code, quad));
            if self.parts && self.builder.is_full() {
                return Ok(Some(self.builder.take_part()));
            }
            if index.is_multiple_of(1 << 16) {
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

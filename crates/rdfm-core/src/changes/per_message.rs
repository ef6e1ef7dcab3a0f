//! Differences between consecutive messages of a log, or between messages with the same index in
//! two logs.
//!
//! - In: batches of complete messages. Out: batches of patches, one per message.
//! - Cost: memory for the messages that wait for their counterparts, and for their terms. Terms of
//!   finished messages are dropped when they are the majority.
//! - Law: applying a patch to the old message results in the new one. Deletions are in the order of
//!   the old message, followed by additions in the order of the new one.

use std::collections::VecDeque;

use super::dataset::{QuadKey, copy_quad};
use super::index::{Index, hash_numbers};
use super::terms::{Copies, TermIndex};
use crate::model::batch::{MessageBatch, PatchBatch};
use crate::model::builder::{BatchBuilder, PatchBuilder};
use crate::model::error::LimitExceeded;
use crate::model::record::{Operation, OperationCode};

/// Below these numbers of terms and bytes, no terms are dropped.
const FEW_TERMS: usize = 1 << 20;
const FEW_BYTES: usize = 64 << 20;
/// Up to this number of quads, a message is searched linearly, which is faster than hashing.
const FEW_QUADS: usize = 16;

/// Waiting messages of one log.
#[derive(Default)]
struct LogSide {
    keys: VecDeque<QuadKey>,
    lengths: VecDeque<usize>,
    ended: bool,
}

impl LogSide {
    fn add(&mut self, batch: &MessageBatch, keys: &[QuadKey]) {
        self.keys.extend(keys);
        self.lengths
            .extend((0..batch.len()).map(|message| batch.range(message).len()));
    }

    /// Returns the quads of the next message; empty after the last message.
    fn take(&mut self) -> Vec<QuadKey> {
        let length = self.lengths.pop_front().unwrap_or_default();
        self.keys.drain(..length).collect()
    }
}

/// One of the two logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldOrNew {
    /// The old log.
    Old,
    /// The new log.
    New,
}

/// Computes patches between messages.
pub struct MessageDifferences {
    terms: TermIndex,
    /// Number of terms, and their total size in bytes, above which unused terms are dropped.
    limits: (usize, usize),
    old: LogSide,
    new: LogSide,
    /// The previous message if a single log is compared; it is the old message of the next patch.
    last: Option<Vec<QuadKey>>,
    builder: PatchBuilder,
    copies: Copies,
    keys: Vec<QuadKey>,
    deleted: u64,
    added: u64,
}

impl MessageDifferences {
    /// Compares two logs, message by message. The shorter one is padded with empty messages.
    #[must_use]
    pub fn of_logs() -> Self {
        Self {
            terms: TermIndex::default(),
            limits: (FEW_TERMS, FEW_BYTES),
            old: LogSide::default(),
            new: LogSide::default(),
            last: None,
            builder: PatchBuilder::within_2_gib(),
            copies: Copies::default(),
            keys: Vec::new(),
            deleted: 0,
            added: 0,
        }
    }

    /// Compares each message of a log with the next. The first patch creates the first message. All
    /// messages must be added as [`OldOrNew::New`].
    #[must_use]
    pub fn of_snapshots() -> Self {
        let mut differences = Self::of_logs();
        differences.last = Some(Vec::new());
        differences.old.ended = true;
        differences
    }

    /// The log whose messages are needed next: the one with fewer waiting messages. `None` if
    /// both have ended.
    #[must_use]
    pub fn next_log(&self) -> Option<OldOrNew> {
        match (self.old.ended, self.new.ended) {
            (true, true) => None,
            (false, true) => Some(OldOrNew::Old),
            (false, false) if self.old.lengths.len() <= self.new.lengths.len() => {
                Some(OldOrNew::Old)
            }
            (_, false) => Some(OldOrNew::New),
        }
    }

    fn side_mut(&mut self, which: OldOrNew) -> &mut LogSide {
        match which {
            OldOrNew::Old => &mut self.old,
            OldOrNew::New => &mut self.new,
        }
    }

    /// Adds messages of a log.
    ///
    /// # Errors
    /// If there are too many terms, or they are too large in total.
    pub fn add(&mut self, which: OldOrNew, batch: &MessageBatch) -> Result<(), LimitExceeded> {
        if self.terms.len() > self.limits.0 || self.terms.bytes() > self.limits.1 {
            self.drop_unused_terms()?;
        }
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        self.terms
            .keys(batch.table(), batch.quads().iter().copied(), &mut keys)?;
        self.side_mut(which).add(batch, &keys);
        self.keys = keys;
        Ok(())
    }

    /// Marks the end of a log.
    pub fn end(&mut self, which: OldOrNew) {
        self.side_mut(which).ended = true;
    }

    /// Numbers of quads deleted and added so far.
    #[must_use]
    pub const fn counts(&self) -> (u64, u64) {
        (self.deleted, self.added)
    }

    /// Returns the patches between the available messages, if any.
    ///
    /// # Errors
    /// If the patches are larger than 2 GiB.
    pub fn next_batch(&mut self) -> Result<Option<PatchBatch>, LimitExceeded> {
        while self.is_ready() && !self.builder.is_full() {
            let new = self.new.take();
            if let Some(old) = self.last.take() {
                self.write_patch(&old, &new)?;
                self.last = Some(new);
            } else {
                let old = self.old.take();
                self.write_patch(&old, &new)?;
            }
        }
        Ok(self.builder.take())
    }

    fn is_ready(&self) -> bool {
        let has_message = |side: &LogSide| !side.lengths.is_empty();
        let (old, new) = (has_message(&self.old), has_message(&self.new));
        (old || self.old.ended) && (new || self.new.ended) && (old || new)
    }

    fn write_patch(&mut self, old: &[QuadKey], new: &[QuadKey]) -> Result<(), LimitExceeded> {
        let mut before = DistinctQuads::default();
        for key in old {
            before.add(key);
        }
        let mut is_kept = vec![false; before.keys.len()];
        let mut added = DistinctQuads::default();
        for key in new {
            match before.find(key) {
                Some(slot) => is_kept[slot] = true,
                None => added.add(key),
            }
        }
        let missing = before
            .keys
            .iter()
            .zip(&is_kept)
            .filter(|(_, is_kept)| !**is_kept);
        let deletes = missing.map(|(key, _)| (OperationCode::Delete, key));
        let adds = added.keys.iter().map(|key| (OperationCode::Add, key));
        self.builder.begin_message(None);
        self.builder.push(Operation::bare(OperationCode::Begin));
        for (index, (code, key)) in deletes.chain(adds).enumerate() {
            let quad = copy_quad(&self.terms, key, &mut self.copies, &mut self.builder)?;
            self.builder.push(Operation::new(code, quad));
            let count = match code {
                OperationCode::Delete => &mut self.deleted,
                _ => &mut self.added,
            };
            *count += 1;
            if index % (1 << 16) == 1 << 15 {
                self.builder.check_2_gib()?;
            }
        }
        self.builder.push(Operation::bare(OperationCode::Commit));
        self.builder.end_message();
        self.builder.check_2_gib()
    }

    /// Keeps only the terms of the waiting messages and of the previous message.
    #[cold]
    fn drop_unused_terms(&mut self) -> Result<(), LimitExceeded> {
        let mut builder = BatchBuilder::within_2_gib();
        let mut copies = Copies::default();
        builder.begin_message(None);
        let last = self.last.iter().flatten();
        for key in self.old.keys.iter().chain(&self.new.keys).chain(last) {
            let quad = copy_quad(&self.terms, key, &mut copies, &mut builder)?;
            builder.push_quad(quad);
        }
        builder.end_message();
        let mut terms = TermIndex::default();
        if let Some(batch) = builder.take() {
            let mut keys = Vec::with_capacity(batch.quads().len());
            terms.keys(batch.table(), batch.quads().iter().copied(), &mut keys)?;
            let mut keys = keys.into_iter();
            let last = self.last.iter_mut().flatten();
            let places = self.old.keys.iter_mut().chain(&mut self.new.keys);
            for (slot, key) in places.chain(last).zip(&mut keys) {
                *slot = key;
            }
        }
        self.limits = (
            FEW_TERMS.max(2 * terms.len()),
            FEW_BYTES.max(2 * terms.bytes()),
        );
        self.terms = terms;
        self.copies = Copies::default();
        Ok(())
    }
}

/// The distinct quads of a message, in order.
#[derive(Default)]
struct DistinctQuads {
    keys: Vec<QuadKey>,
    /// Places of the quads; empty if there are at most [`FEW_QUADS`].
    slots: Index,
}

impl DistinctQuads {
    fn find(&self, key: &QuadKey) -> Option<usize> {
        if self.keys.len() <= FEW_QUADS {
            return self.keys.iter().position(|other| other == key);
        }
        let matches = |slot: u32| self.keys[slot as usize] == *key;
        Some(self.slots.find(hash_numbers(*key), matches)? as usize)
    }

    /// Adds a quad unless it has been added before.
    fn add(&mut self, key: &QuadKey) {
        if self.find(key).is_some() {
            return;
        }
        self.keys.push(*key);
        if self.keys.len() > FEW_QUADS {
            for slot in self.slots.len()..self.keys.len() {
                self.slots
                    .insert(hash_numbers(self.keys[slot]), slot as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::model::term::{Quad, TermId, TermKind};

    /// A message of quads with these objects.
    fn message(objects: impl IntoIterator<Item = u32>) -> MessageBatch {
        let mut builder = BatchBuilder::within_2_gib();
        builder.begin_message(0);
        for object in objects {
            let mut iri = |text: &str| {
                builder
                    .add_simple(TermKind::Iri, text.as_bytes(), 0)
                    .unwrap()
            };
            let quad = Quad {
                subject: iri("a:s"),
                predicate: iri("a:p"),
                object: iri(&format!("a:{object}")),
                graph: TermId::DEFAULT_GRAPH,
            };
            builder.push_quad(quad);
        }
        builder.end_message();
        builder.take().unwrap()
    }

    /// Code and object of the operations of each patch.
    fn operations(differences: &mut MessageDifferences) -> Vec<Vec<String>> {
        let mut patches = Vec::new();
        while let Some(batch) = differences.next_batch().unwrap() {
            for patch in 0..batch.len() {
                let shown = batch.message(patch).iter().map(|operation| {
                    let object = batch.table().text(operation.object);
                    format!(
                        "{}{}",
                        operation.code.name(),
                        String::from_utf8_lossy(object)
                    )
                });
                patches.push(shown.collect());
            }
        }
        patches
    }

    #[test]
    fn unused_terms_are_dropped() {
        let mut differences = MessageDifferences::of_snapshots();
        differences.limits = (8, usize::MAX);
        for number in 0..200 {
            let batch = message([number, number + 1, number]);
            differences.limits = (8, usize::MAX);
            differences.add(OldOrNew::New, &batch).unwrap();
            let first = match number {
                0 => "Aa:0".to_owned(),
                _ => format!("Da:{}", number - 1),
            };
            let second = format!("Aa:{}", number + 1);
            let expected = ["TX".to_owned(), first, second, "TC".to_owned()];
            assert_eq!(operations(&mut differences), [expected]);
            assert!(differences.terms.len() < 12);
        }
    }

    #[test]
    fn repeated_quads_count_once() {
        for count in [1, FEW_QUADS as u32, FEW_QUADS as u32 + 1, 100] {
            let mut differences = MessageDifferences::of_snapshots();
            let twice = |range: std::ops::Range<u32>| message(range.clone().chain(range));
            differences.add(OldOrNew::New, &twice(0..count)).unwrap();
            differences
                .add(OldOrNew::New, &twice(1..count + 1))
                .unwrap();
            let patches = operations(&mut differences);
            assert_eq!(patches[0].len() as u32, count + 2);
            assert_eq!(patches[1], ["TX", "Da:0", &format!("Aa:{count}"), "TC"]);
        }
    }

    #[test]
    fn messages_wait_for_their_counterparts() {
        let mut differences = MessageDifferences::of_logs();
        assert_eq!(differences.next_log(), Some(OldOrNew::Old));
        differences.add(OldOrNew::Old, &message([1])).unwrap();
        assert_eq!(differences.next_log(), Some(OldOrNew::New));
        assert!(operations(&mut differences).is_empty());
        differences.limits = (0, 0);
        differences.add(OldOrNew::Old, &message([2, 3])).unwrap();
        differences.limits = (0, 0);
        differences.add(OldOrNew::New, &message([4, 1])).unwrap();
        assert_eq!(operations(&mut differences), [["TX", "Aa:4", "TC"]]);
        differences.end(OldOrNew::New);
        assert_eq!(differences.next_log(), Some(OldOrNew::Old));
        let expected = [["TX", "Da:2", "Da:3", "TC"]];
        assert_eq!(operations(&mut differences), expected);
        differences.end(OldOrNew::Old);
        assert_eq!(differences.next_log(), None);
        assert_eq!(differences.counts(), (2, 1));
    }
}

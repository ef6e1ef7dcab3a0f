//! Slices the batches of a log into several logs: files of a folder or members of an archive.
//!
//! - In: batches, and the number of messages for each log.
//! - Out: consecutive slices. Each log begins with the namespaces in force at its start. If more
//!   than [`MAX_REPEATED`] are in force, it has only those that its messages declare or use.
//! - Cost: the quads and declarations of the slices, independent of the number of namespaces in
//!   force.
//! - Law: the logs do not depend on how the messages are divided into batches.

use std::ops::Range;
use std::sync::Arc;

use crate::model::batch::MessageBatch;
use crate::model::namespaces::{MAX_REPEATED, Namespaces};
use crate::syntax::needed::NeededNamespaces;

/// Cuts batches into slices.
#[derive(Default)]
pub struct Slices {
    needs: NeededNamespaces,
    /// Namespaces in force before the next message of the batch.
    in_force: Arc<Namespaces>,
    next: usize,
    /// Whether the current log has all namespaces in force.
    has_all: bool,
}

impl Slices {
    /// Begins a batch.
    pub fn begin_batch(&mut self, batch: &MessageBatch) {
        self.needs.begin_batch(batch);
        self.in_force = Arc::clone(batch.namespaces_at_start());
        self.next = 0;
    }

    /// Returns the next messages of the batch, up to `stop`, in one or more slices; `None` means
    /// the unchanged batch. `begins` is true if they are the first messages of a log.
    pub fn take(
        &mut self,
        batch: &MessageBatch,
        stop: usize,
        begins: bool,
    ) -> Option<Vec<MessageBatch>> {
        let stop = stop.clamp(self.next, batch.len());
        let range = self.next..stop;
        self.next = stop;
        if begins {
            self.has_all = self.in_force.len() <= MAX_REPEATED;
        }
        if !self.has_all {
            return Some(
                range
                    .map(|message| self.with_needed_namespaces(batch, message))
                    .collect(),
            );
        }
        let before = Arc::clone(&self.in_force);
        for message in range.clone() {
            self.needs.declare(batch, message);
            self.needs.leave();
        }
        self.advance(batch, &range);
        if range.len() == batch.len() {
            return None;
        }
        Some(vec![
            batch.slice_with(range, [before, Arc::clone(&self.in_force)]),
        ])
    }

    /// Continues after a range.
    fn advance(&mut self, batch: &MessageBatch, range: &Range<usize>) {
        if range.end == batch.len() {
            self.in_force = Arc::clone(batch.namespaces_at_end());
        } else {
            self.in_force = with_changes(&self.in_force, batch, range);
        }
    }

    /// Returns a message with only the namespaces that it needs.
    fn with_needed_namespaces(&mut self, batch: &MessageBatch, message: usize) -> MessageBatch {
        let mut used = Namespaces::default();
        for (name, iri, declared) in self.needs.find_needed(batch, message) {
            if !declared {
                used.set(name, iri);
            }
        }
        self.needs.leave();
        let range = message..message + 1;
        self.advance(batch, &range);
        let before = Arc::new(used);
        let after = with_changes(&before, batch, &range);
        batch.slice_with(range, [before, after])
    }
}

/// Returns the namespaces in force after the declarations of these messages.
fn with_changes(
    namespaces: &Arc<Namespaces>,
    batch: &MessageBatch,
    messages: &Range<usize>,
) -> Arc<Namespaces> {
    let mut result = Arc::clone(namespaces);
    for message in messages.clone() {
        for change in batch.namespace_changes_of(message) {
            let (name, iri) = (
                batch.table().span(change.name),
                batch.table().span(change.iri),
            );
            if result.get(name) != Some(iri) {
                Arc::make_mut(&mut result).set(name, iri);
            }
        }
    }
    result
}

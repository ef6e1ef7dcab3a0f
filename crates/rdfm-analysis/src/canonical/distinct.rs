//! The first of equal messages, over any number of batches.
//!
//! - In: complete messages. Out: whether each is new.
//! - Cost: a hash of 32 bytes is stored for each distinct message, in a table with free slots.

use std::collections::HashSet;

use rdfm_core::model::batch::MessageBatch;
use rustc_hash::FxBuildHasher;

use super::{CanonicalError, Canonicalizer, Effort, Hash};
use crate::nanopub;

/// Maximum size of the stored hashes: those of 33,554,432 messages.
pub const MAX_HASH_BYTES: usize = 1 << 30;

/// Messages with the same key are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKey {
    /// The hash of the canonical dataset.
    Dataset,
    /// The artifact code in the IRI of the nanopublication; the dataset for messages without one.
    Nanopub,
}

/// The messages so far.
#[derive(Debug)]
pub struct SeenMessages {
    key: MessageKey,
    hashes: HashSet<Hash, FxBuildHasher>,
    max_count: usize,
}

impl SeenMessages {
    /// Begins without messages.
    pub fn new(key: MessageKey) -> Self {
        Self {
            key,
            hashes: HashSet::default(),
            max_count: MAX_HASH_BYTES / size_of::<Hash>(),
        }
    }

    /// Adds the messages of a batch. Returns whether each of them is new.
    ///
    /// # Errors
    /// If a message has no canonical form, or there are too many messages. Returns the answers for
    /// the messages before it, too.
    pub fn add(
        &mut self,
        batch: &MessageBatch,
        effort: Effort<'_>,
    ) -> (Vec<bool>, Option<(usize, CanonicalError)>) {
        let mut canonicalizer = Canonicalizer::new(batch.table());
        let mut are_new = Vec::with_capacity(batch.len());
        for message in 0..batch.len() {
            let quads = batch.message(message);
            let code = match self.key {
                MessageKey::Nanopub => nanopub::find_code_hash(batch.table(), quads),
                MessageKey::Dataset => None,
            };
            let hash = match code {
                Some(hash) => hash,
                None => match canonicalizer.load(quads, effort) {
                    Ok(()) => canonicalizer.hash(),
                    Err(error) => return (are_new, Some((message, error))),
                },
            };
            let is_new = self.hashes.insert(hash);
            if self.hashes.len() > self.max_count {
                return (are_new, Some((message, CanonicalError::TooManyMessages)));
            }
            are_new.push(is_new);
        }
        (are_new, None)
    }
}

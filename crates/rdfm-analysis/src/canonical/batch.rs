//! The complete messages of a batch in canonical form.

use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermId};
use rdfm_core::syntax::rdfc::{CANONICAL, Effort, Hash};

use super::{CanonicalError, Canonicalizer};

/// Messages in canonical form.
#[derive(Debug)]
pub struct CanonicalBatch {
    /// The messages with sorted, distinct quads and canonical labels.
    pub batch: MessageBatch,
    /// Number of quads that were equal to other quads of their message.
    pub repeated: usize,
}

/// Brings the messages of a batch into canonical form.
///
/// # Errors
/// If a message has no canonical form. Returns the messages before it, too.
pub fn canonicalize(
    batch: &MessageBatch,
    effort: Effort<'_>,
) -> (CanonicalBatch, Option<(usize, CanonicalError)>) {
    let mut canonicalizer = Canonicalizer::new(batch.table());
    let mut quads = Vec::with_capacity(batch.quads().len());
    let mut ends = Vec::with_capacity(batch.len());
    let mut repeated = 0;
    let mut labels = 0;
    let mut error = None;
    // Blank nodes get the ids after those of the table.
    let first = batch.table().terms().len() as u32;
    for message in 0..batch.len() {
        if let Err(reason) = canonicalizer.load(batch.message(message), effort) {
            error = Some((message, reason));
            break;
        }
        let relabel = |id: TermId| {
            let number = canonicalizer.number(id);
            number.map_or(id, |number| TermId(first + number))
        };
        quads.extend(canonicalizer.quads().map(|quad| Quad {
            subject: relabel(quad.subject),
            predicate: quad.predicate,
            object: relabel(quad.object),
            graph: relabel(quad.graph),
        }));
        repeated += canonicalizer.repeated();
        labels = labels.max(canonicalizer.count_nodes());
        ends.push(quads.len() as u32);
    }
    let done = if error.is_none() {
        batch.clone()
    } else {
        batch.slice(0..ends.len())
    };
    let batch = done.with_labels(CANONICAL, labels).with_quads(quads, ends);
    (CanonicalBatch { batch, repeated }, error)
}

/// Computes the SHA-256 hash of the canonical N-Quads of each message.
///
/// # Errors
/// If a message has no canonical form. Returns the hashes of the messages before it, too.
pub fn hash_messages(
    batch: &MessageBatch,
    effort: Effort<'_>,
) -> (Vec<Hash>, Option<(usize, CanonicalError)>) {
    let mut canonicalizer = Canonicalizer::new(batch.table());
    let mut hashes = Vec::with_capacity(batch.len());
    for message in 0..batch.len() {
        if let Err(reason) = canonicalizer.load(batch.message(message), effort) {
            return (hashes, Some((message, reason)));
        }
        hashes.push(canonicalizer.hash());
    }
    (hashes, None)
}

/// Returns the blank nodes of a dataset with the numbers in their canonical labels: 0 is `c14n0`. A
/// blank node that has several ids in the table occurs several times.
///
/// # Errors
/// If the dataset has no canonical form.
pub fn label_blank_nodes(
    table: &TermTable,
    quads: &[Quad],
    effort: Effort<'_>,
) -> Result<Vec<(TermId, u32)>, CanonicalError> {
    let mut canonicalizer = Canonicalizer::new(table);
    canonicalizer.load(quads, effort)?;
    Ok(canonicalizer.numbers().collect())
}

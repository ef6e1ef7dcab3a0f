//! Comparison of the namespaces of two logs.
//!
//! - In: message pairs, in order. Out: the names whose IRIs begin to differ at this pair, or differ
//!   in a different way than before.
//! - Cost: proportional to the declarations since the previous pair, or to all namespaces when a
//!   log restarts.

use std::collections::BTreeMap;
use std::sync::Arc;

use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::namespaces::Namespaces;
use rdfm_core::model::record::Record;

/// A name whose IRIs differ. An IRI is `None` if the name is not declared.
pub type RedeclaredName = (Vec<u8>, [Option<Vec<u8>>; 2]);

/// The names whose IRIs differ, and the current namespaces of both sides.
#[derive(Debug, Default)]
pub struct NamespaceComparison {
    sides: [CurrentNamespaces; 2],
    differing: BTreeMap<Vec<u8>, [Option<Vec<u8>>; 2]>,
}

#[derive(Debug, Default)]
struct CurrentNamespaces {
    /// Namespaces before the current batch, and the number of the batch's declarations that have
    /// been applied.
    start: Arc<Namespaces>,
    applied: usize,
    current: Arc<Namespaces>,
}

impl CurrentNamespaces {
    /// Moves to a message. Returns whether the namespaces may have changed.
    fn advance<R: Record>(&mut self, batch: &LogBatch<R>, message: usize) -> bool {
        let start = batch.namespaces_at_start();
        let changes = batch.namespace_changes();
        let due = changes.partition_point(|change| change.message as usize <= message);
        if Arc::ptr_eq(start, &self.start) && due == self.applied {
            return false;
        }
        let is_unchanged = due == 0 && Arc::ptr_eq(start, &self.current);
        self.start = Arc::clone(start);
        self.applied = due;
        if is_unchanged {
            return false;
        }
        self.current = match due {
            0 => Arc::clone(start),
            _ if due == changes.len() => Arc::clone(batch.namespaces_at_end()),
            _ => Arc::new(batch.namespaces(message)),
        };
        true
    }
}

impl NamespaceComparison {
    /// Moves to a message pair. Returns the names whose IRIs differ, except those that had the same
    /// differing IRIs at the previous pair.
    pub fn advance<R: Record>(
        &mut self,
        (a, i): (&LogBatch<R>, usize),
        (b, j): (&LogBatch<R>, usize),
    ) -> Vec<RedeclaredName> {
        let moved = [self.sides[0].advance(a, i), self.sides[1].advance(b, j)];
        if moved == [false, false] {
            return Vec::new();
        }
        let [ours, theirs] = [&self.sides[0].current, &self.sides[1].current];
        let before = std::mem::take(&mut self.differing);
        if Arc::ptr_eq(ours, theirs) {
            return Vec::new();
        }
        for (name, iri) in ours.iter() {
            let other = theirs.get(name);
            if other != Some(iri) {
                let pair = [Some(iri.to_vec()), other.map(<[u8]>::to_vec)];
                self.differing.insert(name.to_vec(), pair);
            }
        }
        for (name, iri) in theirs.iter() {
            if ours.get(name).is_none() {
                self.differing
                    .insert(name.to_vec(), [None, Some(iri.to_vec())]);
            }
        }
        let changed = self
            .differing
            .iter()
            .filter(|(name, pair)| before.get(*name) != Some(*pair));
        changed
            .map(|(name, pair)| (name.clone(), pair.clone()))
            .collect()
    }
}

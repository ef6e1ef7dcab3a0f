//! Namespaces in force in two logs: where they begin to differ.
//!
//! - In: pairs of messages, in order. Out: the names whose IRIs differ from here on, each once.
//! - Cost: a look at the declarations since the pair before; of a log that begins anew, at all that are in force.

use std::collections::BTreeMap;
use std::sync::Arc;

use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::namespaces::Namespaces;
use rdfm_core::model::record::Record;

/// A name whose IRIs differ; None where it is not declared.
pub type Redeclared = (Vec<u8>, [Option<Vec<u8>>; 2]);

/// The names that differ, and what is in force on both sides.
#[derive(Debug, Default)]
pub struct Compared {
    sides: [InForce; 2],
    differing: BTreeMap<Vec<u8>, [Option<Vec<u8>>; 2]>,
}

#[derive(Debug, Default)]
struct InForce {
    /// Before the batch that was looked at last, and how many of its declarations are taken.
    start: Arc<Namespaces>,
    taken: usize,
    now: Arc<Namespaces>,
}

impl InForce {
    /// Goes on to a message. Gives whether anything may be otherwise than before.
    fn advance<R: Record>(&mut self, batch: &LogBatch<R>, message: usize) -> bool {
        let start = batch.namespaces_at_start();
        let changes = batch.namespace_changes();
        let due = changes.partition_point(|change| change.message as usize <= message);
        if Arc::ptr_eq(start, &self.start) && due == self.taken {
            return false;
        }
        let quiet = due == 0 && Arc::ptr_eq(start, &self.now);
        self.start = Arc::clone(start);
        self.taken = due;
        if quiet {
            return false;
        }
        self.now = match due {
            0 => Arc::clone(start),
            _ if due == changes.len() => Arc::clone(batch.namespaces_at_end()),
            _ => Arc::new(batch.namespaces(message)),
        };
        true
    }
}

impl Compared {
    /// Goes on to a pair of messages. Gives the names that differ now and did not before.
    pub fn advance<R: Record>(
        &mut self,
        (a, i): (&LogBatch<R>, usize),
        (b, j): (&LogBatch<R>, usize),
    ) -> Vec<Redeclared> {
        let moved = [self.sides[0].advance(a, i), self.sides[1].advance(b, j)];
        if moved == [false, false] {
            return Vec::new();
        }
        let [ours, theirs] = [&self.sides[0].now, &self.sides[1].now];
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
        let news = self
            .differing
            .iter()
            .filter(|(name, pair)| before.get(*name) != Some(*pair));
        news.map(|(name, pair)| (name.clone(), pair.clone()))
            .collect()
    }
}

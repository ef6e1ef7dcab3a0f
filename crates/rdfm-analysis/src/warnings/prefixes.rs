//! Prefixes that are redeclared with another IRI in the same log.
//!
//! - In: the declarations of a batch. Out: the first declaration of each prefix that changes its IRI.
//! - Cost: one lookup per declaration. Memory: [`MAX_PREFIXES`] prefixes; further ones are not compared.

use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::error::quote;
use rdfm_core::model::record::Record;
use rustc_hash::FxHashMap;

use super::{Finding, FindingSink, Rule};

/// Maximum number of remembered prefixes.
pub const MAX_PREFIXES: usize = 10_000;
/// Maximum bytes of remembered prefixes and IRIs.
const MAX_BYTES: usize = 4 << 20;

/// The prefixes of a log with their current IRIs.
#[derive(Debug, Default)]
pub(super) struct Prefixes {
    /// The IRI is `None` once a change has been reported.
    known: FxHashMap<Box<[u8]>, Option<Box<[u8]>>>,
    bytes: usize,
}

impl Prefixes {
    pub fn clear(&mut self) {
        self.known.clear();
        self.bytes = 0;
    }

    pub fn check<R: Record>(&mut self, batch: &LogBatch<R>, sink: &mut FindingSink) {
        let table = batch.table();
        for change in batch.namespace_changes() {
            let (name, iri) = (table.span(change.name), table.span(change.iri));
            let Some(known) = self.known.get_mut(name) else {
                let bytes = self.bytes + name.len() + iri.len();
                if self.known.len() < MAX_PREFIXES && bytes <= MAX_BYTES {
                    self.known.insert(name.into(), Some(iri.into()));
                    self.bytes = bytes;
                }
                continue;
            };
            let Some(before) = known.take_if(|before| **before != *iri) else {
                continue;
            };
            let message = change.message as usize;
            sink.add(Rule::RedeclaredNamespace, || Finding {
                rule: Rule::RedeclaredNamespace,
                message: batch.index(message),
                position: batch.position(message.min(batch.len().saturating_sub(1))),
                text: format!(
                    "the prefix {}: is declared as {} here but was declared as {} earlier in this log",
                    String::from_utf8_lossy(name),
                    quote(iri),
                    quote(&before)
                ),
                written: [b"<", iri, b">"].concat(),
            });
        }
    }
}

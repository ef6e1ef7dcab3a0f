//! Prefixes that are redeclared with a different IRI in the same log.
//!
//! - In: the declarations of a batch. Out: for each prefix, the first declaration that changes
//!   its IRI.
//! - Cost: one lookup per declaration. Memory: [`MAX_PREFIXES`] prefixes; further ones are not
//!   compared.

use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::error::quote;
use rdfm_core::model::record::Record;
use rustc_hash::FxHashMap;

use super::{Finding, FindingSink, Rule};

/// Maximum number of remembered prefixes.
pub const MAX_PREFIXES: usize = 10_000;
/// Maximum total size of the remembered prefixes and IRIs in bytes.
const MAX_BYTES: usize = 4 << 20;
/// Number of bytes of a long IRI that are shown before the ellipsis.
const START_BYTES: usize = 12;
/// Number of bytes of the common part that are shown after the ellipsis.
const CONTEXT_BYTES: usize = 12;

/// The prefixes of a log with their current IRIs.
#[derive(Debug, Default)]
pub(super) struct Prefixes {
    /// The IRI is `None` once a change has been reported.
    current_iris: FxHashMap<Box<[u8]>, Option<Box<[u8]>>>,
    bytes: usize,
}

impl Prefixes {
    pub fn clear(&mut self) {
        self.current_iris.clear();
        self.bytes = 0;
    }

    pub fn check<R: Record>(&mut self, batch: &LogBatch<R>, sink: &mut FindingSink) {
        let table = batch.table();
        for change in batch.namespace_changes() {
            let (name, iri) = (table.span(change.name), table.span(change.iri));
            let Some(current_iri) = self.current_iris.get_mut(name) else {
                let bytes = self.bytes + name.len() + iri.len();
                if self.current_iris.len() < MAX_PREFIXES && bytes <= MAX_BYTES {
                    self.current_iris.insert(name.into(), Some(iri.into()));
                    self.bytes = bytes;
                }
                continue;
            };
            let Some(before) = current_iri.take_if(|before| **before != *iri) else {
                continue;
            };
            let message = change.message as usize;
            let (current, earlier) = quote_difference(iri, &before);
            sink.add(Rule::RedeclaredNamespace, || Finding {
                rule: Rule::RedeclaredNamespace,
                message_index: batch.message_index(message),
                byte_offset: batch.byte_offset(message.min(batch.len().saturating_sub(1))),
                text: format!(
                    "the prefix {}: is declared as {} here but was declared as {} earlier in this log",
                    String::from_utf8_lossy(name),
                    current,
                    earlier
                ),
                term_text: [b"<", iri, b">"].concat(),
            });
        }
    }
}

/// Two different IRIs, quoted. In long IRIs, the middle of the common part is replaced by an
/// ellipsis, so that the difference is visible.
fn quote_difference(left: &[u8], right: &[u8]) -> (String, String) {
    let common = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    if common <= START_BYTES + CONTEXT_BYTES {
        return (quote(left), quote(right));
    }
    let shorten = |iri: &[u8]| {
        let start = String::from_utf8_lossy(&iri[..START_BYTES]).into_owned();
        let end = String::from_utf8_lossy(&iri[common - CONTEXT_BYTES..]).into_owned();
        quote(format!("{start}…{end}").as_bytes())
    };
    (shorten(left), shorten(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_between_long_iris_is_shown() {
        let base = "http://rdf.disgenet.org/nanopublications.trig#NP1";
        let (one, other) = quote_difference(
            format!("{base}23_head").as_bytes(),
            format!("{base}24_head").as_bytes(),
        );
        assert_eq!(one, "'http://rdf.d…ns.trig#NP123_head'");
        assert_eq!(other, "'http://rdf.d…ns.trig#NP124_head'");
        assert_eq!(
            quote_difference(b"http://a/", b"http://b/"),
            ("'http://a/'".to_owned(), "'http://b/'".to_owned())
        );
    }
}

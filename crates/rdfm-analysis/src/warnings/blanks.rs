//! Blank node labels that several messages share.
//!
//! - In: batches of a log. Out: one finding per label, at its first occurrence in a second message.
//! - Cost: one visit per quad of batches with blank nodes, and one table lookup per label and
//!   message. Memory: [`MAX_LABELS`] recent labels. A label may be missed after another label has
//!   replaced it.

use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::record::Record;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind};

use super::{Finding, FindingSink, Rule};

/// Maximum number of remembered labels.
const MAX_LABELS: usize = 1 << 16;
/// Flag in [`LabelSlot::message`]: the label has been reported.
const REPORTED: u64 = 1 << 63;

/// Shared labels that are treated as suspicious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspiciousLabels {
    /// None. In this format, labels are scoped to their message.
    Ignored,
    /// All except labels with a final number that does not exceed the number of blank nodes in the
    /// message, such as `b0` and `b1` in a message with two blank nodes. Most writers restart the
    /// numbering in each message.
    Chosen,
    /// All. Labels are scoped to the log.
    All,
}

#[derive(Clone, Copy, Debug, Default)]
struct LabelSlot {
    hash: u64,
    message: u64,
}

/// Recent labels, in a table of fixed size.
#[derive(Debug, Default)]
pub(super) struct RecentLabels {
    slots: Vec<LabelSlot>,
    /// The labels of the current message, as hash and term.
    current: Vec<(u64, TermId)>,
}

impl RecentLabels {
    pub fn clear(&mut self) {
        self.slots.clear();
    }

    pub fn check<R: Record>(
        &mut self,
        batch: &LogBatch<R>,
        labels: SuspiciousLabels,
        sink: &mut FindingSink,
    ) {
        let table = batch.table();
        let terms = table.terms();
        if self.slots.is_empty() {
            self.slots.resize(MAX_LABELS, LabelSlot::default());
        }
        for message in 0..batch.len() {
            self.current.clear();
            let mut last = TermId::DEFAULT_GRAPH;
            for &record in batch.message(message) {
                record.each(|id| match terms[id.index()].kind {
                    TermKind::BlankNode if id != last => {
                        last = id;
                        self.current.push((hash(table.text(id)), id));
                    }
                    TermKind::TripleTerm => push_nested_blanks(table, id, &mut self.current),
                    _ => {}
                });
            }
            if self.current.is_empty() {
                continue;
            }
            self.current.sort_unstable();
            self.current.dedup_by_key(|label| label.0);
            let index = batch.message_index(message);
            let distinct = self.current.len() as u64;
            for &(hash, id) in &self.current {
                let label = table.text(id);
                if labels == SuspiciousLabels::Chosen
                    && number(label).is_some_and(|count| count <= distinct)
                {
                    continue;
                }
                let slot = &mut self.slots[hash as usize % MAX_LABELS];
                let before = slot.message & !REPORTED;
                if slot.hash != hash {
                    *slot = LabelSlot {
                        hash,
                        message: index,
                    };
                } else if slot.message & REPORTED == 0 && before != index {
                    slot.message |= REPORTED;
                    sink.add(Rule::SharedBlankNode, || Finding {
                        rule: Rule::SharedBlankNode,
                        message_index: index,
                        byte_offset: batch.byte_offset(message),
                        text: format!(
                            "the blank node _:{} has the same label as a blank node in message {before}, but is a different node: \
                             blank node labels are scoped to their message",
                            String::from_utf8_lossy(&label[..label.len().min(80)])
                        ),
                        term_text: [b"_:", label].concat(),
                    });
                }
            }
        }
    }
}

/// Collects the blank nodes in a triple term.
fn push_nested_blanks(table: &TermTable, id: TermId, out: &mut Vec<(u64, TermId)>) {
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        let term = table.term(id);
        match term.kind {
            TermKind::BlankNode => out.push((hash(table.text_of(term)), id)),
            TermKind::TripleTerm => open.extend(table.triple(term)),
            _ => {}
        }
    }
}

/// The number at the end of a label, or `None` if there is no number or it has more than 18 digits.
fn number(label: &[u8]) -> Option<u64> {
    let digits = label
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if !(1..=18).contains(&digits) {
        return None;
    }
    let value = label[label.len() - digits..]
        .iter()
        .fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
    Some(value)
}

/// Hash of a label, with all bits mixed. It is never 0, which marks an empty slot.
fn hash(label: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ label.len() as u64;
    for chunk in label.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 32;
    }
    hash.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_end_of_labels_are_found() {
        assert_eq!(number(b"b12"), Some(12));
        assert_eq!(number(b"7"), Some(7));
        assert_eq!(number(b"alice"), None);
        assert_eq!(number(b""), None);
        assert_eq!(number(b"b1234567890123456789"), None);
    }

    #[test]
    fn hashes_of_labels_are_distinct() {
        let mut seen: Vec<u64> = (0..10_000)
            .map(|i| hash(format!("b{i}").as_bytes()))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 10_000);
    }
}

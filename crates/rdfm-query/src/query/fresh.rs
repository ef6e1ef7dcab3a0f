//! Labels for the blank nodes that a query creates.
//!
//! - In: the quads of a message. Out: labels that differ from those of the message's blank nodes.
//! - Law: labels depend only on the message and on the number of previous requests.

use oxrdf::BlankNode;
use rdfm_core::model::term::{TermId, TermKind};
use rustc_hash::FxHashMap;

use super::budget;
use super::dictionary::{Dictionary, UNBOUND};

/// A source of labels for new blank nodes in a message.
#[derive(Default)]
pub struct FreshLabels {
    /// Prefix of the labels, set by the first request.
    prefix: Option<String>,
    count: u64,
    /// Numbers of the nodes that `BNODE()` created. Their original labels are random.
    numbers: FxHashMap<BlankNode, u64>,
}

impl FreshLabels {
    /// Returns a new node. Its label consists of `b`, as many `_` as needed to differ from the
    /// labels in `classes`, and a number.
    pub fn name_node(
        &mut self,
        dictionary: &Dictionary<'_>,
        classes: impl Iterator<Item = u32> + Clone,
    ) -> BlankNode {
        self.count += 1;
        self.label_number(self.count, dictionary, classes)
    }

    /// Returns the replacement for a node that `BNODE()` created.
    pub fn label_node(
        &mut self,
        node: BlankNode,
        dictionary: &Dictionary<'_>,
        classes: impl Iterator<Item = u32> + Clone,
    ) -> BlankNode {
        let next = self.count + 1;
        let number = *self.numbers.entry(node).or_insert_with(|| {
            budget::acquire(1);
            next
        });
        self.count = self.count.max(number);
        self.label_number(number, dictionary, classes)
    }

    fn label_number(
        &mut self,
        number: u64,
        dictionary: &Dictionary<'_>,
        mut classes: impl Iterator<Item = u32> + Clone,
    ) -> BlankNode {
        let prefix = self.prefix.get_or_insert_with(|| {
            let all = classes.clone();
            let mut prefix = "b".to_owned();
            while classes.any(|class| has_label(dictionary, TermId(class), &prefix)) {
                prefix.push('_');
                classes = all.clone();
            }
            prefix
        });
        BlankNode::new_unchecked(format!("{prefix}{number}"))
    }
}

/// Whether a term is or contains a blank node whose label is this prefix followed by digits. The
/// recursion depth is the nesting depth of triple terms.
fn has_label(dictionary: &Dictionary<'_>, id: TermId, prefix: &str) -> bool {
    let table = dictionary.table();
    if id.0 == UNBOUND {
        return false;
    }
    let term = table.term(id);
    match term.kind {
        TermKind::BlankNode => {
            let rest = table.text_of(term).strip_prefix(prefix.as_bytes());
            rest.is_some_and(|rest| !rest.is_empty() && rest.iter().all(u8::is_ascii_digit))
        }
        TermKind::TripleTerm => {
            let mut parts = table.triple(term).into_iter();
            parts.any(|part| has_label(dictionary, part, prefix))
        }
        _ => false,
    }
}

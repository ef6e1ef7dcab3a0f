//! Messages as plain values, to compare what codecs yield.
//!
//! - In: batches.
//! - Out: [`Message`], whole values that compare with `==`, and [`Message::relabelled`], which compares
//!   up to the names of blank nodes where the order of quads is kept.

use std::collections::BTreeMap;
use std::collections::HashMap;

use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{TermId, TermKind, flags};

/// A term by value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// The default graph.
    DefaultGraph,
    /// An IRI.
    Iri(String),
    /// A blank node's label.
    Bnode(String),
    /// A literal: lexical form, language tag, direction flags, datatype where it is another.
    Literal(String, Option<String>, u8, Option<String>),
    /// A triple term.
    Triple(Box<[Self; 3]>),
}

/// A message by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Index in the log.
    pub index: u64,
    /// First byte in the log.
    pub position: u64,
    /// Subject, predicate, object, graph, in order.
    pub quads: Vec<[Term; 4]>,
    /// The namespaces in force.
    pub namespaces: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The metadata.
    pub metadata: BTreeMap<String, Vec<u8>>,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("a batch holds UTF-8 only")
}

fn term(table: &TermTable, id: TermId) -> Term {
    let record = table.term(id);
    let value = || text(table.text_of(record));
    let other = || text(table.text(TermId(record.aux)));
    match record.kind {
        TermKind::DefaultGraph => Term::DefaultGraph,
        TermKind::Iri => Term::Iri(value()),
        TermKind::Bnode => Term::Bnode(value()),
        TermKind::Literal => Term::Literal(value(), None, 0, None),
        TermKind::LangLiteral => {
            let direction = record.flags & (flags::LTR | flags::RTL);
            Term::Literal(value(), Some(other()), direction, None)
        }
        TermKind::TypedLiteral => Term::Literal(value(), None, 0, Some(other())),
        TermKind::TripleTerm => {
            Term::Triple(Box::new(table.triple(record).map(|id| term(table, id))))
        }
        TermKind::Language => panic!("a language tag stands in a quad"),
    }
}

/// The messages of a batch.
pub fn messages(batch: &MessageBatch) -> Vec<Message> {
    let table = batch.table();
    (0..batch.len())
        .map(|at| Message {
            index: batch.first_index() + at as u64,
            position: batch.position(at),
            quads: batch
                .message(at)
                .iter()
                .map(|quad| {
                    [quad.subject, quad.predicate, quad.object, quad.graph]
                        .map(|id| term(table, id))
                })
                .collect(),
            namespaces: batch
                .namespaces(at)
                .iter()
                .map(|(name, iri)| (name.to_vec(), iri.to_vec()))
                .collect(),
            metadata: batch
                .metadata(at)
                .iter()
                .map(|entry| (entry.key.to_string(), entry.value.to_vec()))
                .collect(),
        })
        .collect()
}

impl Term {
    /// Gives every blank node another label, in triple terms too.
    pub fn rename(&mut self, name: &mut impl FnMut(&str) -> String) {
        match self {
            Self::Bnode(label) => *label = name(label),
            Self::Triple(parts) => parts.iter_mut().for_each(|part| part.rename(name)),
            _ => {}
        }
    }
}

impl Message {
    /// The quads with blank nodes named by their first appearance: equal where two messages are the
    /// same dataset in the same order.
    pub fn relabelled(&self) -> Vec<[Term; 4]> {
        let mut names: HashMap<String, String> = HashMap::new();
        let mut quads = self.quads.clone();
        for term in quads.iter_mut().flatten() {
            term.rename(&mut |label| {
                let next = names.len();
                let name = names.entry(label.to_owned());
                name.or_insert_with(|| next.to_string()).clone()
            });
        }
        quads
    }
}

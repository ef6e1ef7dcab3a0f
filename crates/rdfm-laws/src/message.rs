//! Messages as plain values, to compare the output of codecs.
//!
//! - In: batches of any kind.
//! - Out: [`Message`], plain values that compare with `==`, and [`relabel`], for comparison up
//!   to the labels of blank nodes if the order of records is preserved.
//! - Law: a text is marked as plain ([`flags::PLAIN`]) only if it is.

use std::collections::BTreeMap;
use std::collections::HashMap;

use rdfm_core::codec::batch::LogRecord;
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::record::Operation;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, Term as Record, TermId, TermKind, flags};
use rdfm_core::model::{chars, write};

/// A term by value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// The default graph.
    DefaultGraph,
    /// An IRI.
    Iri(String),
    /// A blank node's label.
    BlankNode(String),
    /// A literal: lexical form, language tag, direction flags, and datatype unless it is implied.
    Literal(String, Option<String>, u8, Option<String>),
    /// A triple term.
    Triple(Box<[Self; 3]>),
    /// The code of an operation.
    Code(&'static str),
}

/// A record by value. A quad has a subject, a predicate, an object and a graph. An operation has a
/// code and a name before these terms. A cell of a result row is one term.
pub type Values = Vec<Term>;

/// A message by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Index in the log.
    pub message_index: u64,
    /// Offset of the first byte in the log.
    pub byte_offset: Option<u64>,
    /// The records, in order.
    pub records: Vec<Values>,
    /// The namespaces in scope, IRIs by name.
    pub namespaces: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The metadata.
    pub metadata: BTreeMap<String, Vec<u8>>,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("a batch contains only UTF-8")
}

/// Checks that a text is marked as plain only if writers do not need to escape or check it.
fn check_flags(record: Record, text: &[u8]) {
    if record.flags & flags::PLAIN == 0 {
        return;
    }
    let written = |plain| {
        let mut out = Vec::new();
        match record.kind {
            TermKind::Iri => write::write_iri(text, plain, &mut out),
            TermKind::BlankNode => write::write_label(text, plain, &mut out),
            TermKind::Language => write::write_language(text, plain, &mut out),
            TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral => {
                write::write_string(text, plain, &mut out);
            }
            TermKind::DefaultGraph | TermKind::TripleTerm => {}
        }
        out
    };
    let is_plain = record.kind != TermKind::Iri || chars::has_scheme(text);
    assert!(
        is_plain && written(true) == written(false),
        "a term is marked as plain: {record:?} {}",
        text.escape_ascii()
    );
}

fn term(table: &TermTable, id: TermId) -> Term {
    let record = table.term(id);
    check_flags(record, table.text_of(record));
    if matches!(record.kind, TermKind::LangLiteral | TermKind::TypedLiteral) {
        let other = TermId(record.aux);
        check_flags(table.term(other), table.text(other));
    }
    let value = || text(table.text_of(record));
    let other = || text(table.text(TermId(record.aux)));
    match record.kind {
        TermKind::DefaultGraph => Term::DefaultGraph,
        TermKind::Iri => Term::Iri(value()),
        TermKind::BlankNode => Term::BlankNode(value()),
        TermKind::Literal => Term::Literal(value(), None, 0, None),
        TermKind::LangLiteral => {
            let direction = record.flags & (flags::LTR | flags::RTL);
            Term::Literal(value(), Some(other()), direction, None)
        }
        TermKind::TypedLiteral => Term::Literal(value(), None, 0, Some(other())),
        TermKind::TripleTerm => {
            Term::Triple(Box::new(table.triple(record).map(|id| term(table, id))))
        }
        TermKind::Language => panic!("a quad contains a language tag"),
    }
}

/// Records that can be converted to values.
pub trait ToValues: LogRecord {
    /// Returns the values.
    fn to_values(self, table: &TermTable) -> Values;
}

impl ToValues for Quad {
    fn to_values(self, table: &TermTable) -> Values {
        [self.subject, self.predicate, self.object, self.graph]
            .map(|id| term(table, id))
            .to_vec()
    }
}

impl ToValues for Operation {
    fn to_values(self, table: &TermTable) -> Values {
        let mut values = vec![Term::Code(self.code.name()), term(table, self.name)];
        values.extend(self.quad().to_values(table));
        values
    }
}

impl ToValues for TermId {
    fn to_values(self, table: &TermTable) -> Values {
        vec![term(table, self)]
    }
}

/// Returns the messages of a batch.
pub fn messages<R: ToValues>(batch: &LogBatch<R>) -> Vec<Message> {
    let table = batch.table();
    (0..batch.len())
        .map(|index| Message {
            message_index: batch.message_index(index),
            byte_offset: batch.byte_offset(index),
            records: batch
                .message(index)
                .iter()
                .map(|record| record.to_values(table))
                .collect(),
            namespaces: batch
                .namespaces(index)
                .iter()
                .map(|(name, iri)| (name.to_vec(), iri.to_vec()))
                .collect(),
            metadata: batch
                .metadata(index)
                .iter()
                .map(|entry| (entry.key.to_string(), entry.value.to_vec()))
                .collect(),
        })
        .collect()
}

impl Term {
    /// Renames every blank node, including those in triple terms.
    pub fn rename(&mut self, name: &mut impl FnMut(&str) -> String) {
        match self {
            Self::BlankNode(label) => *label = name(label),
            Self::Triple(parts) => parts.iter_mut().for_each(|part| part.rename(name)),
            _ => {}
        }
    }
}

/// Returns the records of messages, with blank nodes numbered by first occurrence. The result is
/// equal for logs with the same records in the same order. `shared` is true if labels have the same
/// meaning in all messages.
pub fn relabel(messages: &[Message], shared: bool) -> Vec<Vec<Values>> {
    let mut names: HashMap<String, String> = HashMap::new();
    let mut all = Vec::new();
    for message in messages {
        if !shared {
            names.clear();
        }
        let mut records = message.records.clone();
        for term in records.iter_mut().flatten() {
            term.rename(&mut |label| {
                let next = names.len();
                let name = names.entry(label.to_owned());
                name.or_insert_with(|| next.to_string()).clone()
            });
        }
        all.push(records);
    }
    all
}

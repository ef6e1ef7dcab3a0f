//! The quad order in RiverBench files.
//!
//! - In: messages. Out: the same messages, sorted by graph, subject, predicate and object, without
//!   repeated quads.
//! - Cost: a sort of each message. Most comparisons end at equal ids or within the first literal.
//! - Law: terms are ordered by their text in Apache Jena, encoded as UTF-16. IRIs have no angle
//!   brackets, labels have no `_:`, and literals include their quotes.

use std::cmp::Ordering;

use rdfm_core::model::batch::MessageBatch;
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, Term, TermId, TermKind, flags};

/// The name of the default graph in Jena's quads.
const DEFAULT_GRAPH: &[u8] = b"urn:x-arq:DefaultGraph";

/// Returns the messages with sorted quads, without repetitions.
#[must_use]
pub fn sort_messages(batch: &MessageBatch) -> MessageBatch {
    let table = batch.table();
    let mut quads: Vec<Quad> = Vec::with_capacity(batch.quads().len());
    let mut message_ends = Vec::with_capacity(batch.len());
    let mut message: Vec<Quad> = Vec::new();
    for number in 0..batch.len() {
        message.clear();
        message.extend_from_slice(batch.message(number));
        message.sort_by(|a, b| compare(table, *a, *b));
        message.dedup_by(|a, b| are_same_quads(table, *a, *b));
        quads.extend_from_slice(&message);
        message_ends.push(quads.len() as u32);
    }
    batch.with_quads(quads, message_ends)
}

fn terms(quad: Quad) -> [TermId; 4] {
    [quad.graph, quad.subject, quad.predicate, quad.object]
}

fn are_same_quads(table: &TermTable, a: Quad, b: Quad) -> bool {
    (terms(a).into_iter().zip(terms(b))).all(|(x, y)| x == y || table.is_same_term(x, table, y))
}

fn compare(table: &TermTable, a: Quad, b: Quad) -> Ordering {
    (terms(a).into_iter().zip(terms(b)))
        .map(|(x, y)| compare_terms(table, x, y))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn compare_terms(table: &TermTable, a: TermId, b: TermId) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    let (x, y) = (table.term(a), table.term(b));
    let by_text = match (is_name(x), is_name(y)) {
        (true, true) => compare_text(table.text_of(x), table.text_of(y)),
        (false, false) => {
            compare_literals(table, x, y).unwrap_or_else(|| compare_full_text(table, x, y))
        }
        _ => compare_full_text(table, x, y),
    };
    // Different terms may have the same text, such as an IRI and a label.
    by_text
        .then_with(|| (x.kind as u8).cmp(&(y.kind as u8)))
        .then_with(|| direction(x).cmp(&direction(y)))
}

/// Whether Jena uses the text of a term unchanged.
fn is_name(term: Term) -> bool {
    matches!(term.kind, TermKind::Iri | TermKind::BlankNode)
}

fn direction(term: Term) -> u8 {
    term.flags & (flags::LTR | flags::RTL)
}

/// Compares two literals by the first byte at which their lexical forms differ. Returns `None` if
/// one form is a prefix of the other, if that byte is a quotation mark in either form, or for a
/// triple term.
fn compare_literals(table: &TermTable, a: Term, b: Term) -> Option<Ordering> {
    if a.kind == TermKind::TripleTerm || b.kind == TermKind::TripleTerm {
        return None;
    }
    let mut forms = table.text_of(a).iter().zip(table.text_of(b));
    let (byte, other) = forms.find(|(byte, other)| byte != other)?;
    (*byte != b'"' && *other != b'"').then(|| weight(*byte).cmp(&weight(*other)))
}

fn compare_full_text(table: &TermTable, x: Term, y: Term) -> Ordering {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    write_text(table, x, &mut a);
    write_text(table, y, &mut b);
    compare_text(&a, &b)
}

/// Writes a term like Jena's `Node.toString()`.
fn write_text(table: &TermTable, term: Term, out: &mut Vec<u8>) {
    match term.kind {
        TermKind::DefaultGraph => out.extend_from_slice(DEFAULT_GRAPH),
        TermKind::Iri | TermKind::BlankNode | TermKind::Language => {
            out.extend_from_slice(table.text_of(term));
        }
        TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral => {
            out.push(b'"');
            for byte in table.text_of(term) {
                if *byte == b'"' {
                    out.push(b'\\');
                }
                out.push(*byte);
            }
            out.push(b'"');
            if term.kind == TermKind::LangLiteral {
                out.push(b'@');
                out.extend_from_slice(table.text(TermId(term.aux)));
            } else if term.kind == TermKind::TypedLiteral {
                out.extend_from_slice(b"^^");
                out.extend_from_slice(table.text(TermId(term.aux)));
            }
        }
        TermKind::TripleTerm => {
            out.extend_from_slice(b"<<");
            for part in table.triple(term) {
                out.push(b' ');
                write_text(table, table.term(part), out);
            }
            out.extend_from_slice(b" >>");
        }
    }
}

/// Compares UTF-8 strings in the order of their UTF-16 code units.
fn compare_text(a: &[u8], b: &[u8]) -> Ordering {
    match a.iter().zip(b).find(|(x, y)| x != y) {
        Some((x, y)) => weight(*x).cmp(&weight(*y)),
        None => a.len().cmp(&b.len()),
    }
}

/// The rank of a byte. Characters with two UTF-16 code units (first byte F0 and above) sort before
/// U+E000 (first byte EE).
const fn weight(byte: u8) -> u16 {
    if byte >= 0xF0 {
        0xED00 | byte as u16
    } else {
        (byte as u16) << 8
    }
}

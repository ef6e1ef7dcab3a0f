//! What a format cannot hold is refused, message by message.

use super::format::{Carries, Format, TripleTerms};
use crate::model::batch::MessageBatch;
use crate::model::error::{EncodeError, ErrorClass, quote};
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId, TermKind};
use crate::model::write::Style;

/// Bytes of terms that an error may show before it cuts them.
const MOST_TOKEN: usize = 200;

/// Refuses the first message of a batch that a format cannot hold. Gives the message's index in the
/// batch beside the error, so that an encoder can write those before it.
///
/// # Errors
/// Names what cannot be held, and the option that would allow it.
pub fn refuse(
    batch: &MessageBatch,
    format: Format,
    merge_graphs: bool,
) -> Result<(), (usize, EncodeError)> {
    let carries = format.carries();
    let graphs = carries.graphs || merge_graphs || !batch.has_graphs();
    if graphs && carries.generalized && carries.triple_terms == TripleTerms::Anywhere {
        return Ok(());
    }
    for message in 0..batch.len() {
        for quad in batch.message(message) {
            if let Some(reason) = refused_quad(batch, *quad, carries, graphs) {
                let error = EncodeError {
                    format: format.name(),
                    class: ErrorClass::Unsupported,
                    reason,
                    message: batch.first_index() + message as u64,
                };
                return Err((message, error));
            }
        }
    }
    Ok(())
}

#[inline]
fn refused_quad(
    batch: &MessageBatch,
    quad: Quad,
    carries: Carries,
    graphs: bool,
) -> Option<String> {
    let kind = |id: TermId| batch.table().term(id).kind;
    if !graphs && quad.graph != TermId::DEFAULT_GRAPH {
        return Some(format!(
            "the format holds no graph names; merge_graphs (--merge-graphs) drops them on purpose; found graph {}",
            token(batch.table(), &[quad.graph])
        ));
    }
    let (s, p, o, g) = (
        kind(quad.subject),
        kind(quad.predicate),
        kind(quad.object),
        kind(quad.graph),
    );
    if carries.triple_terms < TripleTerms::Anywhere
        && (s == TermKind::TripleTerm
            || p == TermKind::TripleTerm
            || g == TermKind::TripleTerm
            || (o == TermKind::TripleTerm && !plain_triple_term(batch, quad.object, carries)))
    {
        let part = [
            (s, quad.subject),
            (p, quad.predicate),
            (g, quad.graph),
            (o, quad.object),
        ]
        .into_iter()
        .find(|(kind, _)| *kind == TermKind::TripleTerm);
        return Some(format!(
            "a triple term {}; N-Quads and Jelly hold these; found {}",
            if carries.triple_terms == TripleTerms::Object {
                "stands elsewhere than as an object, which the format cannot hold"
            } else {
                "cannot be held by the format"
            },
            token(batch.table(), part.map(|(_, id)| id).as_slice())
        ));
    }
    if !carries.generalized
        && (!matches!(s, TermKind::Iri | TermKind::Bnode | TermKind::TripleTerm)
            || p != TermKind::Iri
            || !matches!(g, TermKind::Iri | TermKind::Bnode | TermKind::DefaultGraph))
    {
        return Some(format!(
            "a generalized quad, which the format cannot hold; N-Quads and Jelly hold these; found {}",
            token(
                batch.table(),
                &[quad.subject, quad.predicate, quad.object, quad.graph]
            )
        ));
    }
    None
}

/// Refuses a message behind the first of a log, where nothing stands between messages, unless `flat` says
/// that all are to be one. `begun` counts the messages before it.
///
/// # Errors
/// Names the options that help; `more` adds one of the format's own, such as `; framing=messages …`.
pub fn refuse_second(begun: u64, flat: bool, more: &str) -> Result<(), (ErrorClass, String)> {
    if begun == 0 || flat {
        return Ok(());
    }
    Err((
        ErrorClass::Unsupported,
        format!(
            "a second message, and nothing can stand between messages here; a folder as output or \
             split_messages=1 (--split-messages 1) writes one file a message, flat (--flat) makes them \
             one message{more}"
        ),
    ))
}

/// Terms as N-Triples, cut and safe to print.
#[cold]
fn token(table: &TermTable, ids: &[TermId]) -> String {
    let mut text = Vec::new();
    for &id in ids {
        // What is cut off anyway is not written: a triple term may share its parts.
        if text.len() > MOST_TOKEN {
            break;
        }
        if !text.is_empty() {
            text.push(b' ');
        }
        let style = Style {
            most: MOST_TOKEN,
            ..Style::CANONICAL
        };
        style.write(table, id, &mut text);
    }
    quote(text.trim_ascii_end())
}

/// Whether a triple term is one of RDF 1.2, at every depth.
fn plain_triple_term(batch: &MessageBatch, id: TermId, carries: Carries) -> bool {
    let table = batch.table();
    let term = table.term(id);
    if term.kind != TermKind::TripleTerm {
        return true;
    }
    let [s, p, o] = table.triple(term);
    carries.triple_terms >= TripleTerms::Object
        && matches!(table.term(s).kind, TermKind::Iri | TermKind::Bnode)
        && table.term(p).kind == TermKind::Iri
        && plain_triple_term(batch, o, carries)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use super::*;

    #[test]
    fn a_second_message_is_refused_where_nothing_delimits_unless_all_are_to_be_one() {
        assert_eq!(refuse_second(0, false, ""), Ok(()));
        assert_eq!(refuse_second(1, true, ""), Ok(()));
        let (class, reason) = refuse_second(1, false, "; more").unwrap_err();
        assert_eq!(class, ErrorClass::Unsupported);
        for part in ["--flat", "folder", "--split-messages 1", "; more"] {
            assert!(reason.contains(part), "{reason}");
        }
    }
}

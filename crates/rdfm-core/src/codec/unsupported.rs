//! Rejects messages with content that a format does not support.

use super::batch::LogRecord;
use super::carries::{Capabilities, TripleTerms};
use super::spec::FormatSpec;
use crate::model::batch::LogBatch;
use crate::model::error::{ErrorClass, quote};
use crate::model::record::{Operation, OperationCode};
use crate::model::remedy::{Feature, Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{Quad, TermId, TermKind};
use crate::model::write::Style;

/// Number of bytes after which terms are truncated in an error.
const MAX_TOKEN: usize = 200;

/// Result of writing, or the reason why a message cannot be written.
pub type WriteResult<T> = Result<T, (ErrorClass, Reason)>;

/// A record that not all formats can contain.
pub trait Representable: LogRecord {
    /// Returns the reason why a format cannot contain the record, or `None` if it can. `graphs` is
    /// true if the format has graph names, or if graph names are dropped on request.
    fn find_unsupported_reason(
        self,
        table: &TermTable,
        carries: Capabilities,
        graphs: bool,
    ) -> Option<Reason>;
}

/// Rejects a batch at its first message that the format cannot represent. The error includes the
/// index of this message in the batch, so that an encoder can write the messages before it.
///
/// # Errors
/// If a message has content that the format does not support. The reason names the content. If an
/// option would allow the content, the reason suggests that option.
pub fn check_supported<R: Representable>(
    batch: &LogBatch<R>,
    format: &FormatSpec,
    merge_graphs: bool,
) -> Result<(), (usize, Reason)> {
    let carries = format.carries;
    let graphs = carries.graphs || merge_graphs || !batch.has_graphs();
    if graphs && carries.generalized && carries.triple_terms == TripleTerms::Anywhere {
        return Ok(());
    }
    for message in 0..batch.len() {
        for record in batch.message(message) {
            if let Some(reason) = record.find_unsupported_reason(batch.table(), carries, graphs) {
                return Err((message, reason));
            }
        }
    }
    Ok(())
}

impl Representable for Quad {
    #[inline]
    fn find_unsupported_reason(
        self,
        table: &TermTable,
        carries: Capabilities,
        graphs: bool,
    ) -> Option<Reason> {
        let kind = |id: TermId| table.term(id).kind;
        if !graphs && self.graph != TermId::DEFAULT_GRAPH {
            let text = format!(
                "the format does not support graph names; found graph {}",
                write_token(table, &[self.graph])
            );
            let merge = Remedy::write("merge_graphs", "true", "drops graph names");
            return Some(Reason::from(text).with(merge).lacking(Feature::Graphs));
        }
        let (s, p, o, g) = (
            kind(self.subject),
            kind(self.predicate),
            kind(self.object),
            kind(self.graph),
        );
        // Most quads are RDF 1.1, which every format supports.
        if matches!(s, TermKind::Iri | TermKind::BlankNode)
            && p == TermKind::Iri
            && o != TermKind::TripleTerm
            && matches!(
                g,
                TermKind::Iri | TermKind::BlankNode | TermKind::DefaultGraph
            )
        {
            return None;
        }
        if carries.triple_terms < TripleTerms::Anywhere
            && (s == TermKind::TripleTerm
                || p == TermKind::TripleTerm
                || g == TermKind::TripleTerm
                || (o == TermKind::TripleTerm
                    && (carries.triple_terms == TripleTerms::No
                        || !is_object_term(table, self.object))))
        {
            let part = [
                (s, self.subject),
                (p, self.predicate),
                (g, self.graph),
                (o, self.object),
            ]
            .into_iter()
            .find(|(kind, _)| *kind == TermKind::TripleTerm);
            let only_objects = carries.triple_terms == TripleTerms::Object;
            let as_object = [s, p, g].iter().all(|&kind| kind != TermKind::TripleTerm)
                && is_object_term(table, self.object);
            let text = format!(
                "the format {}; found {}",
                if only_objects {
                    "supports triple terms only as objects"
                } else {
                    "does not support triple terms"
                },
                write_token(table, part.map(|(_, id)| id).as_slice())
            );
            return Some(Reason::from(text).lacking(if as_object {
                Feature::TripleTermObjects
            } else {
                Feature::TripleTerms
            }));
        }
        if !carries.generalized
            && (!matches!(
                s,
                TermKind::Iri | TermKind::BlankNode | TermKind::TripleTerm
            ) || p != TermKind::Iri
                || !matches!(
                    g,
                    TermKind::Iri | TermKind::BlankNode | TermKind::DefaultGraph
                ))
        {
            let text = format!(
                "the format does not support generalized quads; found {}",
                write_token(
                    table,
                    &[self.subject, self.predicate, self.object, self.graph]
                )
            );
            return Some(Reason::from(text).lacking(Feature::Generalized));
        }
        None
    }
}

impl Representable for Operation {
    fn find_unsupported_reason(
        self,
        table: &TermTable,
        carries: Capabilities,
        graphs: bool,
    ) -> Option<Reason> {
        match self.code {
            OperationCode::Add | OperationCode::Delete => {
                self.quad().find_unsupported_reason(table, carries, graphs)
            }
            _ => None,
        }
    }
}

impl Representable for TermId {
    fn find_unsupported_reason(
        self,
        table: &TermTable,
        carries: Capabilities,
        _: bool,
    ) -> Option<Reason> {
        let is_supported = match carries.triple_terms {
            TripleTerms::Anywhere => true,
            TripleTerms::Object => is_object_term(table, self),
            TripleTerms::No => table.term(self).kind != TermKind::TripleTerm,
        };
        if is_supported {
            return None;
        }
        let found = write_token(table, &[self]);
        let what = match carries.triple_terms {
            TripleTerms::Object => "supports triple terms only as objects",
            _ => "does not support triple terms",
        };
        let text = format!("the format {what}; found {found}");
        Some(Reason::from(text).lacking(Feature::TripleTerms))
    }
}

/// Returns true if `flat` merges all messages into one, so the boundary before a second message is
/// lost.
///
/// # Errors
/// If `flat` is false, because the output has no delimiters. The reason names the option that
/// helps.
pub fn reject_second(flat: bool) -> WriteResult<bool> {
    if flat {
        return Ok(true);
    }
    let reason = Reason::new("a second message, but this output can contain only one")
        .with(Remedy::write("flat", "true", "makes them one message"))
        .lacking(Feature::Boundaries);
    Err((ErrorClass::Unsupported, reason))
}

/// Formats terms as N-Triples, truncated and safe to print.
#[cold]
fn write_token(table: &TermTable, ids: &[TermId]) -> String {
    let mut text = Vec::new();
    for &id in ids {
        // Stops early: a triple term may share its parts, so its full text can be huge.
        if text.len() > MAX_TOKEN {
            break;
        }
        if !text.is_empty() {
            text.push(b' ');
        }
        let style = Style {
            max_bytes: MAX_TOKEN,
            ..Style::CANONICAL
        };
        style.write(table, id, &mut text);
    }
    quote(text.trim_ascii_end())
}

/// Whether a term is a valid object in RDF 1.2, with triple terms only as objects at every depth.
fn is_object_term(table: &TermTable, id: TermId) -> bool {
    let term = table.term(id);
    if term.kind != TermKind::TripleTerm {
        return true;
    }
    let [s, p, o] = table.triple(term);
    matches!(table.term(s).kind, TermKind::Iri | TermKind::BlankNode)
        && table.term(p).kind == TermKind::Iri
        && is_object_term(table, o)
}

/// The error for an IRI that readers of the format would misinterpret.
#[cold]
pub(crate) fn misread_iri_error(iri: &[u8], effect: &str) -> (ErrorClass, Reason) {
    (
        ErrorClass::Unsupported,
        format!(
            "readers of the format would read the IRI {} as {effect}; other formats can represent it",
            quote(iri)
        )
        .into(),
    )
}

/// The error for an invalid language tag that readers of the format would misinterpret.
#[cold]
pub(crate) fn misread_tag_error(tag: &[u8], effect: &str) -> (ErrorClass, Reason) {
    let reason = Reason::from(format!(
        "readers of the format would read the language tag {} as {effect}",
        quote(tag)
    ));
    (
        ErrorClass::Unsupported,
        reason.lacking(Feature::AnyLanguage),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use super::*;

    #[test]
    fn a_second_message_without_delimiters_is_rejected_unless_flat() {
        assert_eq!(reject_second(true), Ok(true));
        let (class, reason) = reject_second(false).unwrap_err();
        assert_eq!(class, ErrorClass::Unsupported);
        assert_eq!(reason.remedies()[0].option, "flat");
        assert_eq!(reason.missing_feature(), Some(Feature::Boundaries));
    }
}

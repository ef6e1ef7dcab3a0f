//! Writes readable Turtle and TriG: with prefixes, and with consecutive quads grouped.
//!
//! - In: batches.
//! - Out: `PREFIX` lines where the log declares prefixes, statements grouped by subject and
//!   predicate, blocks of named graphs, and `# @message` or `MESSAGE` between messages.
//! - Cost: one copy of the output. A term is checked, abbreviated and escaped once per batch, and
//!   again after the declaration of a prefix that may abbreviate the term.
//! - Law: quads keep their order and repetitions. The text does not depend on how messages are
//!   divided into batches. The text of a term cannot end its token early.

use super::memo::{PrefixChanges, PrefixGroup, PrefixedMemo};
use super::options::PRETTY;
use super::pretty::PrettyWriter;
use super::short_forms::{RDF_TYPE, open_literal, write_short_iri};
use crate::codec::options::LENIENT;
use crate::codec::spec::{CodecResult, FormatSpec};
use crate::codec::values::Values;
use crate::codec::{Encoder, Source};
use crate::model::batch::MessageBatch;
use crate::model::table::TermTable;
use crate::model::term::{Quad, Term, TermId, TermKind};
use crate::model::write::{Style, direction, term_error, write_term};
use crate::syntax::prefixes::{DeclareResult, Prefixes, head_of};
use crate::syntax::text::encode::{
    StatementError, StatementWriter, TextLayout, TextWriter, contains_labels,
};

/// Returns a TriG or Turtle encoder.
///
/// # Errors
/// If an option is invalid.
pub(super) fn new_encoder(
    format: &'static FormatSpec,
    values: &Values,
    source: Option<&Source>,
) -> CodecResult<dyn Encoder> {
    let layout = TextLayout::from_values(values, source)?;
    if values.is_on(&PRETTY) {
        let writer = PrettyWriter::new(format, values);
        return Ok(Box::new(TextWriter::encoder(
            format, values, layout, writer,
        )));
    }
    let writer = TurtleWriter {
        graphs: format.carries.graphs,
        lenient: values.is_on(&LENIENT),
        prefixes: Prefixes::default(),
        changes: PrefixChanges::default(),
        terms: PrefixedMemo::default(),
        predicates: PrefixedMemo::default(),
        ends: PrefixedMemo::default(),
        open: None,
        carried: None,
    };
    Ok(Box::new(TextWriter::encoder(
        format, values, layout, writer,
    )))
}

struct TurtleWriter {
    graphs: bool,
    lenient: bool,
    prefixes: Prefixes,
    changes: PrefixChanges,
    terms: PrefixedMemo,
    /// Separate from `terms`, because a predicate may be written as `a`.
    predicates: PrefixedMemo,
    /// The text of literals from the closing quote on, by datatype or language.
    ends: PrefixedMemo,
    /// The last quad. Its statement and block are still open.
    open: Option<Quad>,
    /// The last quad as canonical text, kept between parts of a message because ids change.
    carried: Option<CarriedStatement>,
}

/// The open statement, as text.
struct CarriedStatement {
    subject: Vec<u8>,
    predicate: Vec<u8>,
    graph: Vec<u8>,
}

/// The terms that a quad has in common with the open statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SharedTerms {
    Nothing,
    Graph,
    Subject,
    Predicate,
}

impl TurtleWriter {
    /// The graph in which a quad is written.
    fn graph(&self, quad: &Quad) -> TermId {
        if self.graphs {
            quad.graph
        } else {
            TermId::DEFAULT_GRAPH
        }
    }

    fn count_shared_terms(&mut self, table: &TermTable, quad: &Quad) -> SharedTerms {
        let graph = self.graph(quad);
        if let Some(carried) = self.carried.take() {
            let same = |id: TermId, text: &[u8]| {
                let mut canonical = Vec::new();
                write_term(table, id, &mut canonical);
                canonical == text
            };
            return if !same(graph, &carried.graph) {
                SharedTerms::Nothing
            } else if !same(quad.subject, &carried.subject) {
                SharedTerms::Graph
            } else if !same(quad.predicate, &carried.predicate) {
                SharedTerms::Subject
            } else {
                SharedTerms::Predicate
            };
        }
        let Some(last) = self.open else {
            return SharedTerms::Nothing;
        };
        let same = |a: TermId, b: TermId| a == b || table.is_same_term(a, table, b);
        if !same(graph, self.graph(&last)) {
            SharedTerms::Nothing
        } else if !same(quad.subject, last.subject) {
            SharedTerms::Graph
        } else if !same(quad.predicate, last.predicate) {
            SharedTerms::Subject
        } else {
            SharedTerms::Predicate
        }
    }

    /// Ends the open statement and its block.
    fn close(&mut self, out: &mut Vec<u8>) {
        if let Some(last) = self.open {
            let named = self.graph(&last) != TermId::DEFAULT_GRAPH;
            out.extend_from_slice(if named { b" .\n}\n" } else { b" .\n" });
        }
        self.open = None;
        self.carried = None;
    }

    fn write_quad(
        &mut self,
        table: &TermTable,
        quad: &Quad,
        style: &Style,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        let graph = self.graph(quad);
        let named = graph != TermId::DEFAULT_GRAPH;
        match self.count_shared_terms(table, quad) {
            SharedTerms::Predicate => {
                out.extend_from_slice(if named {
                    b" ,\n            "
                } else {
                    b" ,\n        "
                });
            }
            SharedTerms::Subject => {
                out.extend_from_slice(if named { b" ;\n        " } else { b" ;\n    " });
                self.write_predicate(table, quad.predicate, style, out)?;
            }
            shared => {
                if shared == SharedTerms::Graph {
                    out.extend_from_slice(if named { b" .\n    " } else { b" .\n" });
                } else {
                    self.close(out);
                    if named {
                        self.write_term(table, graph, style, out)?;
                        out.extend_from_slice(b" {\n    ");
                    }
                }
                self.write_term(table, quad.subject, style, out)?;
                out.push(b' ');
                self.write_predicate(table, quad.predicate, style, out)?;
            }
        }
        self.write_term(table, quad.object, style, out)?;
        self.open = Some(*quad);
        Ok(())
    }

    /// Appends a predicate and a space.
    #[inline]
    fn write_predicate(
        &mut self,
        table: &TermTable,
        id: TermId,
        style: &Style,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        if self.predicates.copy(&self.changes, id, out).is_some() {
            return Ok(());
        }
        let start = out.len();
        let group = if table.text(id) == RDF_TYPE {
            out.push(b'a');
            PrefixGroup::NONE
        } else {
            self.write_term(table, id, style, out)?
        };
        out.push(b' ');
        self.predicates.keep(&self.changes, id, group, start, out);
        Ok(())
    }

    #[inline]
    fn write_term(
        &mut self,
        table: &TermTable,
        id: TermId,
        style: &Style,
        out: &mut Vec<u8>,
    ) -> Result<PrefixGroup, StatementError> {
        if let Some(group) = self.terms.copy(&self.changes, id, out) {
            return Ok(group);
        }
        let start = out.len();
        let group = self.new_term(table, id, style, out)?;
        if style.message_number.is_none() || !contains_labels(table.term(id).kind) {
            self.terms.keep(&self.changes, id, group, start, out);
        }
        Ok(group)
    }

    fn new_term(
        &mut self,
        table: &TermTable,
        id: TermId,
        style: &Style,
        out: &mut Vec<u8>,
    ) -> Result<PrefixGroup, StatementError> {
        let term = table.term(id);
        if term.kind != TermKind::TripleTerm
            && let Some(error) = term_error(table, id, self.lenient)
        {
            return Err(StatementError::Term(error));
        }
        match term.kind {
            TermKind::Iri => Ok(self.write_iri(table, term, out)),
            TermKind::LangLiteral | TermKind::TypedLiteral => {
                Ok(self.write_literal(table, term, out))
            }
            TermKind::TripleTerm => {
                out.extend_from_slice(style.open);
                for part in table.triple(term) {
                    if out.len() > style.max_bytes {
                        return Err(StatementError::TooLong);
                    }
                    self.new_term(table, part, style, out)?;
                    out.push(b' ');
                }
                out.extend_from_slice(style.close);
                Ok(PrefixGroup::ALL)
            }
            TermKind::DefaultGraph
            | TermKind::BlankNode
            | TermKind::Literal
            | TermKind::Language => {
                style.write(table, id, out);
                Ok(PrefixGroup::NONE)
            }
        }
    }

    /// Appends a literal with a datatype or a language.
    fn write_literal(&mut self, table: &TermTable, term: Term, out: &mut Vec<u8>) -> PrefixGroup {
        if !open_literal(table, term, out) {
            return PrefixGroup::NONE;
        }
        let id = TermId(term.aux);
        let tagged = term.kind == TermKind::LangLiteral;
        let group = self.ends.copy(&self.changes, id, out).unwrap_or_else(|| {
            let start = out.len();
            let end = table.term(id);
            let group = if tagged {
                out.extend_from_slice(b"\"@");
                out.extend_from_slice(table.text_of(end));
                PrefixGroup::NONE
            } else {
                out.extend_from_slice(b"\"^^");
                self.write_iri(table, end, out)
            };
            self.ends.keep(&self.changes, id, group, start, out);
            group
        });
        if tagged {
            out.extend_from_slice(direction(term.flags));
        }
        group
    }

    /// Appends an IRI.
    fn write_iri(&self, table: &TermTable, term: Term, out: &mut Vec<u8>) -> PrefixGroup {
        let head = head_of(table.text_of(term));
        write_short_iri(&self.prefixes, head, table, term, out);
        PrefixGroup::from_head(head)
    }
}

impl StatementWriter for TurtleWriter {
    fn begin_batch(&mut self, batch: &MessageBatch, out: &[u8]) {
        let terms = batch.table().terms().len();
        self.terms.begin_batch(&mut self.changes, terms, out);
        self.predicates.begin_batch(&mut self.changes, terms, out);
        self.ends.begin_batch(&mut self.changes, terms, out);
    }

    fn declare(&mut self, name: &[u8], iri: &[u8], out: &mut Vec<u8>) -> bool {
        if let Some(old) = self.prefixes.get(name)
            && old != iri
        {
            self.changes.note_change(head_of(old));
        }
        match self.prefixes.declare(name, iri) {
            DeclareResult::Refused => return false,
            DeclareResult::Known => return true,
            DeclareResult::New => {}
        }
        self.changes.note_change(head_of(iri));
        self.close(out);
        out.extend_from_slice(b"PREFIX ");
        out.extend_from_slice(name);
        out.extend_from_slice(b": <");
        out.extend_from_slice(iri);
        out.extend_from_slice(b">\n");
        true
    }

    fn write(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        style: Style,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        for quad in batch.message(message) {
            self.write_quad(batch.table(), quad, &style, out)?;
            if out.len() > style.max_bytes {
                return Err(StatementError::TooLong);
            }
        }
        Ok(())
    }

    fn end_message(&mut self, out: &mut Vec<u8>) {
        self.close(out);
    }

    fn reset(&mut self) {
        self.prefixes = Prefixes::default();
        self.open = None;
        self.carried = None;
    }

    fn end_batch(&mut self, batch: &MessageBatch) {
        let Some(last) = self.open else {
            return;
        };
        if self.carried.is_some() {
            return; // this part has no quads
        }
        let text = |id: TermId| {
            let mut canonical = Vec::new();
            write_term(batch.table(), id, &mut canonical);
            canonical
        };
        self.carried = Some(CarriedStatement {
            subject: text(last.subject),
            predicate: text(last.predicate),
            graph: text(self.graph(&last)),
        });
    }
}

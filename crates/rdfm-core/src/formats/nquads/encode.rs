//! N-Triples and N-Quads, written one quad a line in canonical form.
//!
//! - In: batches.
//! - Out: lines, `# @message` or `MESSAGE` between messages.
//! - Cost: about one copy of the output; a term is checked and escaped once a batch.
//! - Law: no term can end its token or its line; see [`crate::model::write`].

use super::options::RDF_STAR_SYNTAX;
use crate::codec::messages::MessageLoop;
use crate::codec::options::LENIENT;
use crate::codec::spec::{FormatSpec, Made};
use crate::codec::values::Values;
use crate::codec::{Encoder, Source};
use crate::model::batch::MessageBatch;
use crate::model::remedy::Reason;
use crate::model::table::TermTable;
use crate::model::term::{Term, TermId, TermKind, flags};
use crate::model::write::{Style, direction, term_error, write_escaped};
use crate::syntax::text::encode::{Layout, Memo, Statements, Stop, TextWriter, holds_labels};

/// An encoder of N-Quads, or of N-Triples.
pub(super) fn encoder(
    format: &'static FormatSpec,
    values: &Values,
    source: Option<&Source>,
) -> Made<dyn Encoder> {
    Ok(Box::new(text_encoder(format, values, source)?))
}

fn text_encoder(
    format: &'static FormatSpec,
    values: &Values,
    source: Option<&Source>,
) -> Result<MessageLoop<TextWriter<Lines>>, Reason> {
    let mut layout = Layout::of(values, source)?;
    if values.switch(&RDF_STAR_SYNTAX) {
        layout.style = Style::STAR;
    }
    let lines = Lines {
        graphs: format.carries.graphs,
        lenient: values.switch(&LENIENT),
        memo: Memo::default(),
        ends: Memo::default(),
    };
    Ok(TextWriter::encoder(format, values, layout, lines))
}

struct Lines {
    graphs: bool,
    lenient: bool,
    memo: Memo,
    /// By datatype or language: what ends a literal, from its closing quote on.
    ends: Memo,
}

impl Lines {
    /// Appends a term and a space.
    #[inline]
    fn term(
        &mut self,
        table: &TermTable,
        id: TermId,
        style: &Style,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        if self.memo.copy(id, out) {
            return Ok(());
        }
        self.new_term(table, id, style, out)
    }

    #[inline]
    fn new_term(
        &mut self,
        table: &TermTable,
        id: TermId,
        style: &Style,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let term = table.term(id);
        let text = table.text_of(term);
        let plain = term.flags & flags::PLAIN != 0;
        match term.kind {
            TermKind::Iri if plain => {
                let start = out.len();
                out.push(b'<');
                out.extend_from_slice(text);
                out.extend_from_slice(b"> ");
                self.memo.keep(id, start, out);
                Ok(())
            }
            // Literals are not kept: copying their text again costs the same.
            TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral => {
                out.push(b'"');
                if plain {
                    out.extend_from_slice(text);
                } else {
                    write_escaped(text, out);
                }
                self.end_of_literal(table, term, style, out)
            }
            _ => self.checked_term(table, id, style, out),
        }
    }

    /// Appends the closing quote of a literal, its datatype or language, and a space.
    #[inline]
    fn end_of_literal(
        &mut self,
        table: &TermTable,
        term: Term,
        style: &Style,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        if term.kind == TermKind::Literal {
            out.extend_from_slice(b"\" ");
            return Ok(());
        }
        let id = TermId(term.aux);
        let tagged = term.kind == TermKind::LangLiteral;
        if !self.ends.copy(id, out) {
            if let Some(error) = term_error(table, id, self.lenient) {
                return Err(Stop::Term(error));
            }
            let start = out.len();
            out.extend_from_slice(if tagged { b"\"" } else { b"\"^^" });
            style.write(table, id, out);
            self.ends.keep(id, start, out);
        }
        if tagged {
            out.extend_from_slice(direction(term.flags));
        }
        out.push(b' ');
        Ok(())
    }

    fn checked_term(
        &mut self,
        table: &TermTable,
        id: TermId,
        style: &Style,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let start = out.len();
        check_and_write(table, id, style, self.lenient, out)?;
        out.push(b' ');
        if style.apart.is_none() || !holds_labels(table.term(id).kind) {
            self.memo.keep(id, start, out);
        }
        Ok(())
    }
}

/// Appends a term. Triple terms are checked as they are written: what they share is written again, so that
/// the bound on the text bounds the time too.
fn check_and_write(
    table: &TermTable,
    id: TermId,
    style: &Style,
    lenient: bool,
    out: &mut Vec<u8>,
) -> Result<(), Stop> {
    let term = table.term(id);
    if term.kind != TermKind::TripleTerm {
        if let Some(error) = term_error(table, id, lenient) {
            return Err(Stop::Term(error));
        }
        style.write(table, id, out);
        return Ok(());
    }
    out.extend_from_slice(style.open);
    for part in table.triple(term) {
        if out.len() > style.most {
            return Err(Stop::TooLong);
        }
        check_and_write(table, part, style, lenient, out)?;
        out.push(b' ');
    }
    out.extend_from_slice(style.close);
    Ok(())
}

impl Statements for Lines {
    fn begin_batch(&mut self, batch: &MessageBatch, out: &[u8]) {
        let terms = batch.table().terms().len();
        self.memo.begin_batch(terms, out);
        self.ends.begin_batch(terms, out);
    }

    fn declare(&mut self, _: &[u8], _: &[u8], _: &mut Vec<u8>) -> bool {
        false
    }

    fn write(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        style: Style,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let table = batch.table();
        for quad in batch.message(message) {
            self.term(table, quad.subject, &style, out)?;
            self.term(table, quad.predicate, &style, out)?;
            self.term(table, quad.object, &style, out)?;
            if self.graphs && quad.graph != TermId::DEFAULT_GRAPH {
                self.term(table, quad.graph, &style, out)?;
            }
            out.extend_from_slice(b".\n");
            if out.len() > style.most {
                return Err(Stop::TooLong);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use super::super::spec::NQUADS;
    use super::*;
    use crate::model::builder::BatchBuilder;
    use crate::model::error::ErrorClass;
    use crate::model::limits::Limits;
    use crate::model::term::Quad;

    fn refused(builder: &mut BatchBuilder, s: TermId, p: TermId, o: TermId, quads: usize) {
        builder.begin_message(0);
        for _ in 0..quads {
            let quad = Quad {
                subject: s,
                predicate: p,
                object: o,
                graph: TermId::DEFAULT_GRAPH,
            };
            builder.add_quad(quad).unwrap();
        }
        builder.end_message();
        let mut out = b"before".to_vec();
        let mut encoder = text_encoder(&NQUADS, &Values::default(), None).unwrap();
        encoder.writer().bound(10_000);
        let error = encoder
            .encode((&builder.take().unwrap()).into(), &mut out)
            .unwrap_err();
        assert_eq!(error.class, ErrorClass::Limit);
        assert_eq!(out, b"before");
        assert!(out.capacity() < 100_000, "{}", out.capacity());
    }

    #[test]
    fn a_long_term_that_repeats_meets_the_bound() {
        let mut builder = BatchBuilder::new(Limits::default());
        let p = builder.add_simple(TermKind::Iri, b"p", 0).unwrap();
        let long = builder
            .add_simple(TermKind::Literal, &[b'x'; 1000], flags::PLAIN)
            .unwrap();
        refused(&mut builder, p, p, long, 1_000_000);
    }

    #[test]
    fn a_triple_term_that_shares_its_parts_meets_the_bound() {
        let mut builder = BatchBuilder::new(Limits::default());
        let p = builder.add_simple(TermKind::Iri, b"p", 0).unwrap();
        let mut term = p;
        for _ in 0..30 {
            term = builder.add_triple_term([term, p, term]).unwrap();
        }
        refused(&mut builder, p, p, term, 1);
    }
}

//! Writes N-Triples and N-Quads, one quad per line in canonical form.
//!
//! - In: batches.
//! - Out: lines, with `# @message` or `MESSAGE` between messages.
//! - Cost: about one copy of the output; a term is checked and escaped once per batch.
//! - Law: the text of a term cannot end its token or line; see [`crate::model::write`].

use super::options::RDF_STAR_SYNTAX;
use crate::codec::messages::MessageLoop;
use crate::codec::options::LENIENT;
use crate::codec::spec::{CodecResult, FormatSpec};
use crate::codec::values::Values;
use crate::codec::{Encoder, Source};
use crate::model::batch::MessageBatch;
use crate::model::remedy::Reason;
use crate::model::term::TermId;
use crate::model::write::Style;
use crate::syntax::text::encode::{StatementError, StatementWriter, TextLayout, TextWriter};
use crate::syntax::text::terms::TextTermWriter;

/// Returns an N-Quads or N-Triples encoder.
pub(super) fn new_encoder(
    format: &'static FormatSpec,
    values: &Values,
    source: Option<&Source>,
) -> CodecResult<dyn Encoder> {
    Ok(Box::new(new_text_encoder(format, values, source)?))
}

fn new_text_encoder(
    format: &'static FormatSpec,
    values: &Values,
    source: Option<&Source>,
) -> Result<MessageLoop<TextWriter<LineWriter>>, Reason> {
    let mut layout = TextLayout::from_values(values, source)?;
    if values.is_on(&RDF_STAR_SYNTAX) {
        layout.style = Style::STAR;
    }
    let lines = LineWriter {
        graphs: format.carries.graphs,
        terms: TextTermWriter::new(values.is_on(&LENIENT), false),
    };
    Ok(TextWriter::encoder(format, values, layout, lines))
}

struct LineWriter {
    graphs: bool,
    terms: TextTermWriter,
}

impl StatementWriter for LineWriter {
    fn begin_batch(&mut self, batch: &MessageBatch, out: &[u8]) {
        let terms = batch.table().terms().len();
        self.terms.begin_batch(terms, out);
    }

    fn declare(&mut self, _: &[u8], _: &[u8], _: &mut Vec<u8>) -> bool {
        false
    }

    fn has_twin(&self) -> bool {
        true
    }

    fn twin(&self) -> Option<Self> {
        Some(Self {
            graphs: self.graphs,
            terms: self.terms.twin(),
        })
    }

    fn write(
        &mut self,
        batch: &MessageBatch,
        message: usize,
        style: Style,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        let table = batch.table();
        for quad in batch.message(message) {
            self.terms.write_term(table, quad.subject, &style, out)?;
            self.terms.write_term(table, quad.predicate, &style, out)?;
            self.terms.write_term(table, quad.object, &style, out)?;
            if self.graphs && quad.graph != TermId::DEFAULT_GRAPH {
                self.terms.write_term(table, quad.graph, &style, out)?;
            }
            out.extend_from_slice(b".\n");
            if out.len() > style.max_bytes {
                return Err(StatementError::TooLong);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing test may panic
    use super::super::spec::NQUADS;
    use super::*;
    use crate::model::builder::BatchBuilder;
    use crate::model::error::ErrorClass;
    use crate::model::limits::Limits;
    use crate::model::term::{Quad, TermKind, flags};

    fn assert_exceeds_limit(
        builder: &mut BatchBuilder,
        s: TermId,
        p: TermId,
        o: TermId,
        quads: usize,
    ) {
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
        let mut encoder = new_text_encoder(&NQUADS, &Values::default(), None).unwrap();
        encoder.writer_mut().set_max_text(10_000);
        let error = encoder
            .encode((&builder.take().unwrap()).into(), &mut out)
            .unwrap_err();
        assert_eq!(error.class, ErrorClass::Limit);
        assert_eq!(out, b"before");
        assert!(out.capacity() < 100_000, "{}", out.capacity());
    }

    #[test]
    fn a_repeated_long_term_exceeds_the_limit() {
        let mut builder = BatchBuilder::new(Limits::default());
        let p = builder.add_simple(TermKind::Iri, b"x:p", 0).unwrap();
        let long = builder
            .add_simple(TermKind::Literal, &[b'x'; 1000], flags::PLAIN)
            .unwrap();
        assert_exceeds_limit(&mut builder, p, p, long, 1_000_000);
    }

    #[test]
    fn a_triple_term_with_shared_parts_exceeds_the_limit() {
        let mut builder = BatchBuilder::new(Limits::default());
        let p = builder.add_simple(TermKind::Iri, b"x:p", 0).unwrap();
        let mut term = p;
        for _ in 0..30 {
            term = builder.add_triple_term([term, p, term]).unwrap();
        }
        assert_exceeds_limit(&mut builder, p, p, term, 1);
    }
}

//! N-Triples and N-Quads, written one quad a line in canonical form.
//!
//! - In: batches.
//! - Out: lines, `# @message` or `MESSAGE` between messages.
//! - Cost: about one copy of the output; a term is checked and escaped once a batch.
//! - Law: no term can end its token or its line; see [`crate::text::write`].

use crate::batch::{MessageBatch, TermTable};
use crate::codec::{EncodeOptions, Encoder};
use crate::formats::Format;
use crate::term::{Term, TermId, TermKind, flags};
use crate::text::encode::{Memo, Statements, Stop, TextEncoder, holds_labels};
use crate::text::write::{Style, direction, fault, write_escaped};

/// An encoder of N-Quads, or of N-Triples.
///
/// # Errors
/// An option does not fit.
pub fn encoder(format: Format, options: &EncodeOptions) -> Result<Box<dyn Encoder>, String> {
    let lines = Lines {
        graphs: format == Format::Nq,
        lenient: options.lenient,
        memo: Memo::default(),
        ends: Memo::default(),
    };
    Ok(Box::new(TextEncoder::new(format, options, lines)?))
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
            if let Some(fault) = fault(table, id, self.lenient) {
                return Err(Stop::Term(fault));
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
        if let Some(fault) = fault(table, id, self.lenient) {
            return Err(Stop::Term(fault));
        }
        let start = out.len();
        style.write(table, id, out);
        out.push(b' ');
        if style.apart.is_none() || !holds_labels(table.term(id).kind) {
            self.memo.keep(id, start, out);
        }
        Ok(())
    }
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

    fn end_message(&mut self, _: &mut Vec<u8>) {}

    fn suspend(&mut self, _: &MessageBatch) {}
}

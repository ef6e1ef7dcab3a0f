//! N-Triples and N-Quads, written one quad a line in canonical form.
//!
//! - In: batches.
//! - Out: lines, `# @message` or `MESSAGE` between messages.
//! - Cost: about one copy of the output; a term is checked and escaped once a batch.
//! - Law: no term can end its token or its line; see [`crate::text::write`].

use crate::batch::{MessageBatch, TermTable};
use crate::codec::{EncodeOptions, Encoder};
use crate::formats::Format;
use crate::term::{TermId, TermKind, flags};
use crate::text::encode::{Memo, Statements, Stop, TextEncoder, holds_labels};
use crate::text::write::{Style, fault};

/// An encoder of N-Quads, or of N-Triples.
///
/// # Errors
/// An option does not fit.
pub fn encoder(format: Format, options: &EncodeOptions) -> Result<Box<dyn Encoder>, String> {
    let lines = Lines {
        graphs: format == Format::Nq,
        lenient: options.lenient,
        memo: Memo::default(),
        datatypes: Memo::default(),
    };
    Ok(Box::new(TextEncoder::new(format, options, lines)?))
}

struct Lines {
    graphs: bool,
    lenient: bool,
    memo: Memo,
    /// By the datatype: the end of a literal, from its closing quote to the space.
    datatypes: Memo,
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
        if term.flags & flags::PLAIN == 0 {
            return self.checked_term(table, id, style, out);
        }
        // Literals are not kept: copying their text again costs the same.
        match term.kind {
            TermKind::Iri => {
                let start = out.len();
                out.push(b'<');
                out.extend_from_slice(table.text_of(term));
                out.extend_from_slice(b"> ");
                self.memo.keep(id, start, out);
                Ok(())
            }
            TermKind::Literal => {
                out.push(b'"');
                out.extend_from_slice(table.text_of(term));
                out.extend_from_slice(b"\" ");
                Ok(())
            }
            TermKind::TypedLiteral => {
                out.push(b'"');
                out.extend_from_slice(table.text_of(term));
                let datatype = TermId(term.aux);
                if self.datatypes.copy(datatype, out) {
                    return Ok(());
                }
                let start = out.len();
                out.extend_from_slice(b"\"^^");
                self.checked_term(table, datatype, style, out)?;
                self.datatypes.keep(datatype, start, out);
                Ok(())
            }
            _ => self.checked_term(table, id, style, out),
        }
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
        self.datatypes.begin_batch(terms, out);
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

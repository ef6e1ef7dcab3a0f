//! Writes terms, each followed by a space, for the line-based formats N-Triples, N-Quads and RDF
//! Patch.
//!
//! - In: terms of a batch. Out: their text.
//! - Cost: a term is checked and escaped once per batch and then copied; literals are written each
//!   time.
//! - Law: no term can end its token or line early; see [`crate::model::write`].

use crate::model::labels;
use crate::model::table::TermTable;
use crate::model::term::{Term, TermId, TermKind, flags};
use crate::model::write::{Style, datatype_error, direction, term_error, write_escaped};
use crate::syntax::ntriples::allows_label;
use crate::syntax::text::encode::{StatementError, TextMemo, contains_labels};

/// Writes terms. Copies those that were written earlier in the batch.
pub(crate) struct TextTermWriter {
    /// Whether IRIs are escaped if necessary.
    lenient: bool,
    /// Whether blank nodes are written as `<_:label>`.
    quoted: bool,
    memo: TextMemo,
    /// The ends of literals, starting at the closing quote, by datatype or language.
    ends: TextMemo,
}

impl TextTermWriter {
    /// Creates a writer. It escapes IRIs if `lenient`, and writes blank nodes as `<_:label>` if
    /// `quoted`.
    pub fn new(lenient: bool, quoted: bool) -> Self {
        Self {
            lenient,
            quoted,
            memo: TextMemo::default(),
            ends: TextMemo::default(),
        }
    }

    /// Returns a writer with the same settings.
    pub fn twin(&self) -> Self {
        Self::new(self.lenient, self.quoted)
    }

    /// Begins a batch with this many terms. Its text begins at the end of the output.
    pub fn begin_batch(&mut self, terms: usize, out: &[u8]) {
        self.memo.begin_batch(terms, out);
        self.ends.begin_batch(terms, out);
    }

    /// Appends a term and a space.
    #[inline]
    pub fn write_term(
        &mut self,
        table: &TermTable,
        id: TermId,
        style: &Style,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
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
    ) -> Result<(), StatementError> {
        let term = table.term(id);
        let text = table.text_of(term);
        let plain = term.flags & flags::PLAIN != 0;
        match term.kind {
            TermKind::Iri if plain && !(self.quoted && is_blank_node_iri(text)) => {
                let start = out.len();
                out.push(b'<');
                out.extend_from_slice(text);
                out.extend_from_slice(b"> ");
                self.memo.keep(id, start, out);
                Ok(())
            }
            TermKind::BlankNode if plain && self.quoted && !labels::may_escape(text) => {
                let start = out.len();
                out.extend_from_slice(b"<_:");
                out.extend_from_slice(text);
                out.extend_from_slice(b"> ");
                self.memo.keep(id, start, out);
                Ok(())
            }
            // Literals are not remembered: copying the written form would cost the same.
            TermKind::Literal | TermKind::LangLiteral | TermKind::TypedLiteral => {
                out.push(b'"');
                if plain {
                    out.extend_from_slice(text);
                } else {
                    write_escaped(text, out);
                }
                self.write_literal_end(table, term, style, out)
            }
            _ => self.write_checked_term(table, id, style, out),
        }
    }

    /// Appends the closing quote of a literal, its datatype or language, and a space.
    #[inline]
    fn write_literal_end(
        &mut self,
        table: &TermTable,
        term: Term,
        style: &Style,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        if term.kind == TermKind::Literal {
            out.extend_from_slice(b"\" ");
            return Ok(());
        }
        let id = TermId(term.aux);
        let tagged = term.kind == TermKind::LangLiteral;
        if !self.ends.copy(id, out) {
            let error = if tagged {
                term_error(table, id, self.lenient)
            } else {
                datatype_error(table, id, self.lenient)
            };
            if let Some(error) = error {
                return Err(StatementError::Term(error));
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

    fn write_checked_term(
        &mut self,
        table: &TermTable,
        id: TermId,
        style: &Style,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        let start = out.len();
        self.check_and_write(table, id, style, out)?;
        out.push(b' ');
        if style.message_number.is_none() || !contains_labels(table.term(id).kind) {
            self.memo.keep(id, start, out);
        }
        Ok(())
    }

    /// Appends a term. Triple terms are checked while they are written. Shared parts are written
    /// repeatedly, so the text size limit also limits the time.
    fn check_and_write(
        &self,
        table: &TermTable,
        id: TermId,
        style: &Style,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        let term = table.term(id);
        if self.quoted && term.kind == TermKind::BlankNode {
            let plain = term.flags & flags::PLAIN != 0;
            out.extend_from_slice(b"<_:");
            labels::write(table.text_of(term), plain, allows_label, out);
            out.push(b'>');
            return Ok(());
        }
        if term.kind != TermKind::TripleTerm {
            if let Some(error) = term_error(table, id, self.lenient) {
                return Err(StatementError::Term(error));
            }
            if self.quoted && term.kind == TermKind::Iri && is_blank_node_iri(table.text_of(term)) {
                return Err(StatementError::BlankNode(id));
            }
            style.write(table, id, out);
            return Ok(());
        }
        out.extend_from_slice(style.open);
        for part in table.triple(term) {
            if out.len() > style.max_bytes {
                return Err(StatementError::TooLong);
            }
            self.check_and_write(table, part, style, out)?;
            out.push(b' ');
        }
        out.extend_from_slice(style.close);
        Ok(())
    }
}

/// Whether an IRI looks like a blank node in angle brackets.
#[inline]
const fn is_blank_node_iri(text: &[u8]) -> bool {
    matches!(text, [b'_', b':', ..])
}

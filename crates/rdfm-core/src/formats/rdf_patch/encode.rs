//! Encodes patches as RDF Patch, in the form that Jena and rdflib read.
//!
//! - In: batches of patches.
//! - Out: one row per line, `Z .` between patches. Numbers are written in full, blank nodes as
//!   `<_:label>`, prefixes and their IRIs as strings.
//! - Cost: about one copy of the output; a term is checked and escaped once per batch.
//! - Law: readers get the same patches, including empty ones.

use super::order::{Order, Patches, iterate_in_order};
use super::spec::TEXT;
use crate::codec::messages::{Counts, Dropped, MessageLoop, Writer};
use crate::codec::options::LENIENT;
use crate::codec::unsupported::WriteResult;
use crate::codec::values::Values;
use crate::codec::{Encoder, LogEnd};
use crate::model::batch::PatchBatch;
use crate::model::record::{Operation, OperationCode};
use crate::model::remedy::Reason;
use crate::model::table::TermTable;
use crate::model::term::{TermId, flags};
use crate::model::write::{Style, TermError, term_error, write_string};
use crate::syntax::default_graph;
use crate::syntax::text::encode::{MAX_TEXT, StatementError};
use crate::syntax::text::terms::TextTermWriter;

const SEGMENT: &[u8] = b"Z .\n";

/// Returns an encoder for a new log.
pub(super) fn encoder(values: &Values) -> Box<dyn Encoder> {
    Box::new(MessageLoop::new(
        &TEXT,
        values,
        TextPatchWriter::new(values),
    ))
}

struct TextPatchWriter {
    lenient: bool,
    terms: TextTermWriter,
    patches: Patches,
    style: Style,
}

impl TextPatchWriter {
    fn new(values: &Values) -> Self {
        let lenient = values.is_on(&LENIENT);
        Self {
            lenient,
            terms: TextTermWriter::new(lenient, true),
            patches: Patches::new(values, SEGMENT),
            style: Style::TEXT,
        }
    }

    #[inline]
    fn write_term(
        &mut self,
        table: &TermTable,
        id: TermId,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        self.terms.write_term(table, id, &self.style, out)
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each row
    fn write_row(
        &mut self,
        table: &TermTable,
        row: &Operation,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        match row.code {
            OperationCode::Add => out.extend_from_slice(b"A "),
            OperationCode::Delete => out.extend_from_slice(b"D "),
            OperationCode::Begin => {
                out.extend_from_slice(b"TX .\n");
                return Ok(());
            }
            OperationCode::Commit => {
                out.extend_from_slice(b"TC .\n");
                return Ok(());
            }
            _ => return self.write_other_row(table, row, out),
        }
        self.write_term(table, row.subject, out)?;
        self.write_term(table, row.predicate, out)?;
        self.write_term(table, row.object, out)?;
        self.write_row_end(table, row, out)
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // called for each row
    fn write_row_end(
        &mut self,
        table: &TermTable,
        row: &Operation,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        if row.graph != TermId::DEFAULT_GRAPH {
            if default_graph::check(table, row.graph).is_err() {
                return Err(StatementError::DefaultGraph(row.graph));
            }
            self.write_term(table, row.graph, out)?;
        }
        out.extend_from_slice(b".\n");
        if out.len() > self.style.max_bytes {
            return Err(StatementError::TooLong);
        }
        Ok(())
    }

    /// Writes a row other than a quad or the usual transaction rows. Such rows are rare and are
    /// kept out of the hot loop.
    #[inline(never)]
    fn write_other_row(
        &mut self,
        table: &TermTable,
        row: &Operation,
        out: &mut Vec<u8>,
    ) -> Result<(), StatementError> {
        match row.code {
            OperationCode::Add
            | OperationCode::Delete
            | OperationCode::Begin
            | OperationCode::Commit => {}
            OperationCode::Abort => out.extend_from_slice(b"TA "),
            OperationCode::Header => {
                out.extend_from_slice(b"H ");
                let name = table.text(row.name);
                if is_word(name) {
                    out.extend_from_slice(name);
                } else {
                    write_term_string(table, row.name, out);
                }
                out.push(b' ');
                self.write_term(table, row.object, out)?;
            }
            OperationCode::AddPrefix => {
                out.extend_from_slice(b"PA ");
                write_term_string(table, row.name, out);
                out.push(b' ');
                // Readers accept relative namespaces. Only IRIs must be absolute.
                if let Some(error @ TermError::Iri(_)) = term_error(table, row.object, self.lenient)
                {
                    return Err(StatementError::Term(error));
                }
                write_string(table.text(row.object), false, out);
                out.push(b' ');
            }
            OperationCode::DeletePrefix => {
                out.extend_from_slice(b"PD ");
                write_term_string(table, row.name, out);
                // rdflib reads the text between two spaces, here empty, as the IRI.
                let graph = row.graph != TermId::DEFAULT_GRAPH;
                out.extend_from_slice(if graph { b" " } else { b"  " });
            }
        }
        self.write_row_end(table, row, out)
    }

    fn write_rows<'a>(
        &mut self,
        batch: &PatchBatch,
        rows: impl Iterator<Item = &'a Operation>,
        out: &mut Vec<u8>,
    ) -> WriteResult<()> {
        for row in rows {
            self.write_row(batch.table(), row, out)
                .map_err(|stop| stop.explain(batch.table(), MAX_TEXT))?;
        }
        Ok(())
    }
}

/// Whether all readers accept a name as a word. Other names are written as strings.
fn is_word(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_alphabetic) && name.iter().all(u8::is_ascii_alphanumeric)
}

fn write_term_string(table: &TermTable, id: TermId, out: &mut Vec<u8>) {
    let term = table.term(id);
    write_string(table.text_of(term), term.flags & flags::PLAIN != 0, out);
}

impl Writer for TextPatchWriter {
    type Record = Operation;

    fn begin_batch(&mut self, batch: &PatchBatch, out: &mut Vec<u8>) {
        self.style.max_bytes = out.len().saturating_add(MAX_TEXT);
        self.terms.begin_batch(batch.table().terms().len(), out);
    }

    fn begin_message(&mut self, _: &PatchBatch, _: u64, out: &mut Vec<u8>) {
        self.patches.begin(out);
    }

    fn declare(&mut self, _: &[u8], _: &[u8], _: &mut Vec<u8>) -> WriteResult<bool> {
        Ok(false)
    }

    fn write(&mut self, batch: &PatchBatch, message: usize, out: &mut Vec<u8>) -> WriteResult<()> {
        let operations = batch.message(message);
        match self.patches.choose_order(operations)? {
            Order::Given => self.write_rows(batch, operations.iter(), out),
            order @ Order::HeadersFirst => {
                self.write_rows(batch, iterate_in_order(operations, order), out)
            }
        }
    }

    fn remove_message(&mut self, out: &mut Vec<u8>) {
        self.patches.remove_message(out);
    }

    fn continue_log(&mut self, end: LogEnd) -> Result<(), Reason> {
        self.patches.continue_log(end);
        Ok(())
    }

    fn pause(&mut self, out: &mut Vec<u8>) -> Option<LogEnd> {
        Some(self.patches.pause(out))
    }

    fn finish(&mut self, _: bool, out: &mut Vec<u8>) {
        self.patches.finish(out);
    }

    fn reset(&mut self) {
        self.patches.reset();
    }

    fn count_dropped(&self, dropped: Dropped) -> Counts {
        self.patches.count_dropped(dropped)
    }
}

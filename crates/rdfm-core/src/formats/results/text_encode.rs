//! Code shared by the text encoders of result sets: the head, the rows, and the text size limit.
//!
//! - In: batches, and a [`TextFormat`].
//! - Out: the log.
//! - Cost: a term is rendered once per batch; if it occurs again, its text is copied. The text of a
//!   batch must not exceed [`MAX_TEXT`].
//! - Law: a log that ends with an error is closed in the same way as a complete one.

use crate::codec::Encoder;
use crate::codec::messages::{Counts, Dropped, Head, MessageLoop, Writer};
use crate::codec::result_head::{length_error, reject_duplicate, reject_row};
use crate::codec::spec::FormatSpec;
use crate::codec::unsupported::{WriteResult, misread_tag_error};
use crate::codec::values::Values;
use crate::model::batch::ResultBatch;
use crate::model::error::ErrorClass;
use crate::model::record::ResultHead;
use crate::model::remedy::Reason;
use crate::model::table::TermTable;
use crate::model::term::TermId;
use crate::syntax::text::encode::{MAX_TEXT, TextMemo, too_long};

/// Reason why a row cannot be written.
pub(super) enum RowError {
    /// A term that the format cannot represent.
    Unsupported(Reason),
    /// Text above the size limit.
    TooLong,
}

/// Rejects an empty language tag, which readers of XML attributes read as no language.
pub(super) fn check_tag(tag: &[u8]) -> Result<(), Reason> {
    if tag.is_empty() {
        return Err(misread_tag_error(tag, "none").1);
    }
    Ok(())
}

/// A text format.
pub(super) trait TextFormat: Send + 'static {
    /// Whether the head contains links; otherwise they are omitted.
    const LINKS: bool;

    /// Writes the text before the rows. For the answer to an ASK query, nothing else is written.
    fn write_result_head(&mut self, head: &ResultHead, out: &mut Vec<u8>) -> WriteResult<()>;

    /// Writes the text before the cells of a row.
    fn begin_row(&mut self, first: bool, out: &mut Vec<u8>);

    /// Writes the text before a cell. For an unbound cell nothing else is written.
    fn begin_cell(&mut self, column: usize, bound: bool, out: &mut Vec<u8>);

    /// Writes a term. Once the output exceeds `max` bytes, no further term is begun.
    fn write_term(
        &self,
        table: &TermTable,
        id: TermId,
        max: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), RowError>;

    /// Writes the text after a cell.
    fn end_cell(&mut self, _out: &mut Vec<u8>) {}

    /// Writes the text after the cells of a row.
    fn end_row(&mut self, out: &mut Vec<u8>);

    /// Writes the text after the rows. Not used for the answer to an ASK query.
    fn end(&mut self, out: &mut Vec<u8>);
}

/// Creates an encoder for a new log.
pub(super) fn encoder<F: TextFormat>(
    format: &'static FormatSpec,
    values: &Values,
    text_format: F,
) -> Box<dyn Encoder> {
    let writer = TextFormatWriter {
        text_format,
        memo: TextMemo::default(),
        columns: 0,
        ask: false,
        links: 0,
        number: 0,
        max: 0,
    };
    Box::new(MessageLoop::new(format, values, writer))
}

/// Writes a [`TextFormat`].
struct TextFormatWriter<F> {
    text_format: F,
    memo: TextMemo,
    columns: usize,
    ask: bool,
    /// Number of links that were omitted.
    links: u64,
    /// Index of the open row.
    number: u64,
    max: usize,
}

impl<F: TextFormat> TextFormatWriter<F> {
    #[inline]
    fn write_row(
        &mut self,
        table: &TermTable,
        row: &[TermId],
        out: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        self.text_format.begin_row(self.number == 0, out);
        for (column, &id) in row.iter().enumerate() {
            let bound = id != TermId::DEFAULT_GRAPH;
            self.text_format.begin_cell(column, bound, out);
            if !bound {
                continue;
            }
            if !self.memo.copy(id, out) {
                let start = out.len();
                self.text_format.write_term(table, id, self.max, out)?;
                self.memo.keep(id, start, out);
            }
            self.text_format.end_cell(out);
            if out.len() > self.max {
                return Err(RowError::TooLong);
            }
        }
        self.text_format.end_row(out);
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        if !self.ask {
            self.text_format.end(out);
        }
    }
}

impl<F: TextFormat> Writer for TextFormatWriter<F> {
    type Record = TermId;

    fn write_message_head(&mut self, head: &Head<TermId>, out: &mut Vec<u8>) -> WriteResult<()> {
        reject_duplicate(head)?;
        self.text_format.write_result_head(head, out)?;
        self.columns = head.variables.len();
        self.ask = head.boolean.is_some();
        self.links = if F::LINKS { 0 } else { head.links.len() as u64 };
        Ok(())
    }

    fn begin_batch(&mut self, batch: &ResultBatch, out: &mut Vec<u8>) {
        self.max = out.len().saturating_add(MAX_TEXT);
        self.memo.begin_batch(batch.table().terms().len(), out);
    }

    #[inline]
    fn begin_message(&mut self, _: &ResultBatch, number: u64, _: &mut Vec<u8>) {
        self.number = number;
    }

    fn declare(&mut self, _: &[u8], _: &[u8], _: &mut Vec<u8>) -> WriteResult<bool> {
        Ok(false)
    }

    #[inline]
    fn write(&mut self, batch: &ResultBatch, message: usize, out: &mut Vec<u8>) -> WriteResult<()> {
        let row = batch.message(message);
        reject_row(self.ask)?;
        if row.len() != self.columns {
            let reason = length_error(row.len(), self.columns);
            return Err((ErrorClass::Unsupported, reason.into()));
        }
        self.write_row(batch.table(), row, out)
            .map_err(|stop| match stop {
                RowError::Unsupported(reason) => (ErrorClass::Unsupported, reason),
                RowError::TooLong => (ErrorClass::Limit, too_long(MAX_TEXT)),
            })
    }

    fn remove_message(&mut self, out: &mut Vec<u8>) {
        self.end(out);
    }

    fn finish(&mut self, _open: bool, out: &mut Vec<u8>) {
        self.end(out);
    }

    fn reset(&mut self) {
        self.links = 0;
        self.ask = false;
    }

    fn count_dropped(&self, dropped: Dropped) -> Counts {
        vec![
            ("links", self.links),
            ("namespaces", dropped.namespaces),
            ("metadata", dropped.metadata),
        ]
    }
}

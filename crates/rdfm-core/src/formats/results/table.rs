//! Result sets as text tables: a line of variables, then one line per row.
//!
//! - In: validated text, to which new pieces are appended, and a [`TableDialect`].
//! - Out: one message per line.
//! - Cost: linear; memory is bounded by one line. The scan of an incomplete line continues where it
//!   stopped.
//! - Law: LF or CRLF ends a line; the last line may lack a line end.

use super::rows::RowBuilder;
use crate::codec::Observations;
use crate::codec::result_head::length_error;
use crate::model::batch::ResultBatch;
use crate::model::builder::ResultBuilder;
use crate::model::chars::BOM;
use crate::model::error::ErrorClass;
use crate::model::limits::Limits;
use crate::model::remedy::Reason;
use crate::model::term::TermId;
use crate::syntax::text::grammar::{
    Grammar, GrammarError, Pause, Reach, Read, fail, fail_malformed, limit,
};

/// Progress of the scan of an incomplete line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineScan {
    /// Number of bytes scanned from the start of the line.
    pub index: usize,
    /// Whether the scan is inside quotes.
    pub quoted: bool,
    /// Whether a quotation mark inside an unquoted field was found. Later ones have no meaning.
    pub broken: bool,
}

/// The syntax of lines and cells.
pub(super) trait TableDialect: Send + 'static {
    /// Returns the index of the line feed that ends the line at `start`, or `None` if the line feed
    /// is not buffered yet.
    fn find_line_end(text: &[u8], start: usize, scan: &mut LineScan) -> Option<usize>;

    /// Reads the names of variables.
    fn read_names(&mut self, text: &[u8], start: usize, rows: &mut RowBuilder) -> Read<()>;

    /// Reads the cells of a line, up to the end of `text`, into the open row.
    fn read_cells(&mut self, text: &[u8], start: usize, rows: &mut RowBuilder) -> Read<()>;

    /// Whether the log is truncated inside a cell if it ends where this scan stopped.
    fn is_truncated(scan: LineScan) -> bool;

    /// Returns a note about the data that was read, if any.
    fn note(&self) -> Option<&'static str>;
}

/// Decodes a table.
pub(super) struct TableDecoder<D> {
    dialect: D,
    rows: RowBuilder,
    scan: LineScan,
    /// Index of the first unread byte of the text, and byte offset of the text in the log.
    index: usize,
    offset: u64,
    has_head: bool,
    done: bool,
}

impl<D: TableDialect> TableDecoder<D> {
    pub fn new(dialect: D, limits: Limits) -> Self {
        Self {
            dialect,
            rows: RowBuilder::new(limits),
            scan: LineScan::default(),
            index: 0,
            offset: 0,
            has_head: false,
            done: false,
        }
    }

    fn read(&mut self, text: &[u8], ended: bool) -> Read<Pause> {
        if self.offset == 0 && self.index == 0 && text.starts_with(BOM) {
            self.index = 3;
        }
        loop {
            let start = self.index;
            let line_end = D::find_line_end(text, start, &mut self.scan);
            let end = match line_end {
                Some(end) => end,
                None if ended => return self.finish(text),
                None => {
                    self.check_length(start, text.len())?;
                    return Ok(Pause::Need);
                }
            };
            self.scan = LineScan::default();
            self.check_length(start, end)?;
            let before = end.checked_sub(1).filter(|&index| index >= start);
            let carriage = before.is_some_and(|index| text[index] == b'\r');
            self.read_line(&text[..end - usize::from(carriage)], start)?;
            self.index = end + 1;
            if self.rows.builder.is_full() {
                return Ok(Pause::Full);
            }
        }
    }

    /// Reads the last line if it does not end with a line feed.
    fn finish(&mut self, text: &[u8]) -> Read<Pause> {
        if D::is_truncated(self.scan) {
            let reason = "the log ends inside a quoted field";
            return fail(text.len(), ErrorClass::Truncated, reason);
        }
        self.check_length(self.index, text.len())?;
        if self.index < text.len() {
            let line = text.strip_suffix(b"\r").unwrap_or(text);
            self.read_line(line, self.index)?;
            self.index = text.len();
        }
        if !self.has_head {
            let reason = "the log has no header line with the variables";
            return fail(text.len(), ErrorClass::Truncated, reason);
        }
        self.done = true;
        Ok(Pause::Done)
    }

    fn check_length(&self, start: usize, end: usize) -> Read<()> {
        let max = self.rows.max();
        if (end - start) as u64 <= max {
            return Ok(());
        }
        let text = format!("a line is longer than {max} bytes");
        fail(
            start,
            ErrorClass::Limit,
            Reason::limit(text, "max_message_bytes"),
        )
    }

    /// Reads a line, up to the end of the text.
    #[inline]
    fn read_line(&mut self, text: &[u8], start: usize) -> Read<()> {
        if !self.has_head {
            if start < text.len() {
                self.dialect.read_names(text, start, &mut self.rows)?;
            }
            self.rows.set_head(None, Vec::new());
            self.has_head = true;
            return Ok(());
        }
        self.rows.begin(self.offset + start as u64);
        if self.rows.variables.len() > 0 {
            self.dialect.read_cells(text, start, &mut self.rows)?;
        } else if start < text.len() {
            return fail_malformed(start, length_error(1, 0));
        }
        self.rows.end().map_err(|error| limit(start, error))
    }
}

impl<D: TableDialect> Grammar for TableDecoder<D> {
    type Record = TermId;

    fn run(&mut self, text: &[u8], reach: Reach) -> Result<Pause, Box<GrammarError>> {
        self.read(text, reach == Reach::End)
    }

    fn consumed(&self) -> usize {
        self.index
    }

    fn forget(&mut self, consumed: &[u8], offset: u64) {
        self.index -= consumed.len();
        self.offset = offset;
    }

    fn builder(&mut self) -> &mut ResultBuilder {
        &mut self.rows.builder
    }

    fn take(&mut self) -> Option<ResultBatch> {
        self.rows.take(self.done)
    }

    fn take_part(&mut self) -> ResultBatch {
        self.rows.builder.take_part()
    }

    fn reset(&mut self) {
        self.rows.reset();
        self.scan = LineScan::default();
        self.index = 0;
        self.offset = 0;
        self.has_head = false;
        self.done = false;
    }

    fn observations(&self, _done: bool) -> Observations {
        Observations {
            notes: self.dialect.note().map(Reason::from).into_iter().collect(),
            ..Observations::default()
        }
    }
}

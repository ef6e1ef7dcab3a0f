//! Result sets in TSV: terms as in Turtle, one per cell.
//!
//! - Law: a cell ends at a tab, which never occurs unescaped in a term.

use memchr::memchr;

use super::rows::RowBuilder;
use super::table::{LineScan, TableDecoder, TableDialect};
use crate::codec::Decoder;
use crate::codec::options::limits;
use crate::codec::result_head::length_error;
use crate::codec::values::Values;
use crate::model::error::quote;
use crate::syntax::ntriples::StatementReader;
use crate::syntax::text::grammar::{self, GrammarError, Read, fail_malformed};

/// Creates a decoder.
pub(super) fn decoder(name: &'static str, values: &Values) -> Box<dyn Decoder> {
    let limits = limits(values);
    let terms = StatementReader::of_cells(limits.max_depth);
    grammar::decoder(name, TableDecoder::new(TsvDialect { terms }, limits), false)
}

struct TsvDialect {
    terms: StatementReader,
}

/// Returns the end of the cell that begins at a position.
fn cell_end(text: &[u8], start: usize) -> usize {
    memchr(b'\t', &text[start..]).map_or(text.len(), |length| start + length)
}

impl TableDialect for TsvDialect {
    fn find_line_end(text: &[u8], start: usize, scan: &mut LineScan) -> Option<usize> {
        let from = start + scan.index;
        scan.index = text.len() - start;
        memchr(b'\n', &text[from..]).map(|length| from + length)
    }

    fn read_names(&mut self, text: &[u8], mut start: usize, rows: &mut RowBuilder) -> Read<()> {
        loop {
            let end = cell_end(text, start);
            let name = match &text[start..end] {
                [b'?' | b'$', name @ ..] => String::from_utf8_lossy(name),
                other => {
                    let found_text = quote(other);
                    let expected = "expected a variable, which begins with '?'";
                    return fail_malformed(start, format!("{expected}, found {found_text}"));
                }
            };
            if let Err(reason) = rows.variables.add(&name) {
                return fail_malformed(start, reason);
            }
            if end == text.len() {
                return Ok(());
            }
            start = end + 1;
        }
    }

    #[inline]
    fn read_cells(&mut self, text: &[u8], mut start: usize, rows: &mut RowBuilder) -> Read<()> {
        let columns = rows.variables.len();
        let mut column = 0;
        loop {
            let end = cell_end(text, start);
            if start < end && column < columns {
                let id = self
                    .terms
                    .parse_last_term(&mut rows.builder, &text[..end], start, column)
                    .map_err(|error| {
                        Box::new(GrammarError {
                            index: error.index,
                            class: error.class,
                            reason: error.reason,
                        })
                    })?;
                rows.set(column, id);
            }
            column += 1;
            if end == text.len() {
                break;
            }
            start = end + 1;
        }
        if column == columns {
            return Ok(());
        }
        fail_malformed(text.len(), length_error(column, columns))
    }

    fn is_truncated(_: LineScan) -> bool {
        false
    }

    fn note(&self) -> Option<&'static str> {
        None
    }
}

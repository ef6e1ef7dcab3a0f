//! Result sets in CSV (RFC 4180). Cells contain only the text of terms, without their kind; all are
//! read as plain literals.
//!
//! - Law: a field is quoted completely or not at all; an empty field without quotes is unbound.

use memchr::{memchr, memchr2, memchr3};

use super::rows::{ResultLiteralKind, RowBuilder};
use super::table::{LineScan, TableDecoder, TableDialect};
use crate::codec::Decoder;
use crate::codec::options::limits;
use crate::codec::result_head::length_error;
use crate::codec::values::Values;
use crate::syntax::text::grammar::{self, Read, fail_malformed, limit};

/// Creates a decoder.
pub(super) fn decoder(name: &'static str, values: &Values) -> Box<dyn Decoder> {
    let dialect = CsvDialect {
        unescaped: Vec::new(),
    };
    grammar::decoder(name, TableDecoder::new(dialect, limits(values)), false)
}

struct CsvDialect {
    /// The unescaped text of a field that contains quotes.
    unescaped: Vec<u8>,
}

/// A field of a line.
struct CsvField<'a> {
    /// The text, or `None` if the field is empty and not quoted.
    text: Option<&'a [u8]>,
    /// Index after the field.
    end: usize,
}

impl CsvDialect {
    /// Reads the field at a position.
    #[inline]
    fn read_field<'a>(&'a mut self, text: &'a [u8], start: usize) -> Read<CsvField<'a>> {
        let rest = &text[start..];
        if rest.first() != Some(&b'"') {
            let length = memchr3(b',', b'"', b'\r', rest).unwrap_or(rest.len());
            let next_byte = rest.get(length).copied();
            let end = start + length;
            let reason = match next_byte {
                None | Some(b',') => {
                    return Ok(CsvField {
                        text: (length > 0).then_some(&rest[..length]),
                        end,
                    });
                }
                Some(b'"') => {
                    "a quotation mark in an unquoted field; quote the field and double the mark"
                }
                _ => "a carriage return without a line feed in an unquoted field",
            };
            return fail_malformed(end, reason);
        }
        self.unescaped.clear();
        let mut index = start + 1;
        let mut copied = false;
        loop {
            let Some(length) = memchr(b'"', &text[index..]) else {
                return fail_malformed(start, "the closing quotation mark of a field is missing");
            };
            let quote = index + length;
            if text.get(quote + 1) == Some(&b'"') {
                self.unescaped.extend_from_slice(&text[index..=quote]);
                copied = true;
                index = quote + 2;
                continue;
            }
            if !matches!(text.get(quote + 1), None | Some(b',')) {
                return fail_malformed(
                    quote + 1,
                    "expected ',' or the end of the line after a closing quotation mark",
                );
            }
            let text = if copied {
                self.unescaped.extend_from_slice(&text[index..quote]);
                &*self.unescaped
            } else {
                &text[index..quote]
            };
            return Ok(CsvField {
                text: Some(text),
                end: quote + 1,
            });
        }
    }
}

impl TableDialect for CsvDialect {
    fn find_line_end(text: &[u8], start: usize, scan: &mut LineScan) -> Option<usize> {
        let mut index = start + scan.index;
        loop {
            let rest = &text[index..];
            let end = if scan.quoted {
                memchr(b'"', rest)
            } else {
                memchr2(b'"', b'\n', rest)
            };
            let Some(end) = end else {
                scan.index = text.len() - start;
                return None;
            };
            index += end + 1;
            if text[index - 1] == b'\n' {
                return Some(index - 1);
            }
            // A field begins with its mark. A doubled mark ends one quoted text and begins another.
            let before = text[start..index - 1].last();
            scan.broken |= !scan.quoted && !matches!(before, None | Some(b',' | b'"'));
            scan.quoted = !scan.quoted && !scan.broken;
        }
    }

    fn read_names(&mut self, text: &[u8], mut start: usize, rows: &mut RowBuilder) -> Read<()> {
        loop {
            let field = self.read_field(text, start)?;
            let name = String::from_utf8_lossy(field.text.unwrap_or_default());
            if let Err(reason) = rows.variables.add(&name) {
                return fail_malformed(start, reason);
            }
            if field.end == text.len() {
                return Ok(());
            }
            start = field.end + 1;
        }
    }

    #[inline]
    fn read_cells(&mut self, text: &[u8], mut start: usize, rows: &mut RowBuilder) -> Read<()> {
        let columns = rows.variables.len();
        let mut column = 0;
        loop {
            let field = self.read_field(text, start)?;
            if let Some(text) = field.text
                && column < columns
            {
                let id = rows.add_literal(text, ResultLiteralKind::Plain);
                let id = id.map_err(|error| limit(start, error))?;
                rows.set(column, id);
            }
            column += 1;
            if field.end == text.len() {
                break;
            }
            start = field.end + 1;
        }
        if column == columns {
            return Ok(());
        }
        fail_malformed(text.len(), length_error(column, columns))
    }

    fn is_truncated(scan: LineScan) -> bool {
        scan.quoted
    }

    fn note(&self) -> Option<&'static str> {
        Some("CSV does not record the kinds of terms: all cells are read as plain literals.")
    }
}

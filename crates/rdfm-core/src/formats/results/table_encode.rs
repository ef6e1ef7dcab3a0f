//! Encoders for result sets in TSV and CSV: one row per line.

use super::text_encode::{RowError, TextFormat};
use crate::codec::result_head::reject_boolean;
use crate::codec::unsupported::WriteResult;
use crate::model::error::{ErrorClass, quote};
use crate::model::record::ResultHead;
use crate::model::remedy::{Feature, Reason, Remedy};
use crate::model::table::TermTable;
use crate::model::term::{TermId, TermKind};
use crate::model::write::Style;

/// Writes TSV: terms as in N-Triples.
pub(super) struct TsvFormat;

impl TextFormat for TsvFormat {
    const LINKS: bool = false;

    fn write_result_head(&mut self, head: &ResultHead, out: &mut Vec<u8>) -> WriteResult<()> {
        reject_boolean(head)?;
        for (index, name) in head.variables.iter().enumerate() {
            if name.contains(['\t', '\n', '\r']) {
                let name = quote(name.as_bytes());
                let reason = Reason::from(format!(
                    "the variable {name} contains a tab or a line break, which TSV cannot represent"
                ));
                return Err((ErrorClass::Unsupported, reason.lacking(Feature::AnyText)));
            }
            out.extend_from_slice(if index == 0 { b"?" } else { b"\t?" });
            out.extend_from_slice(name.as_bytes());
        }
        out.push(b'\n');
        Ok(())
    }

    fn begin_row(&mut self, _first: bool, _out: &mut Vec<u8>) {}

    #[inline]
    fn begin_cell(&mut self, column: usize, _bound: bool, out: &mut Vec<u8>) {
        if column > 0 {
            out.push(b'\t');
        }
    }

    fn write_term(
        &self,
        table: &TermTable,
        id: TermId,
        max: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        let style = Style {
            max_bytes: max,
            ..Style::CANONICAL
        };
        style.write(table, id, out);
        Ok(())
    }

    #[inline]
    fn end_row(&mut self, out: &mut Vec<u8>) {
        out.push(b'\n');
    }

    fn end(&mut self, _out: &mut Vec<u8>) {}
}

/// Writes CSV if the option `lossy` is set, because CSV contains only the text of terms.
pub(super) struct CsvFormat {
    pub lossy: bool,
}

/// Appends a field, quoted if necessary. An empty text is quoted, because an empty field without
/// quotes is unbound.
fn write_field(text: &[u8], out: &mut Vec<u8>) {
    let special = |byte: &u8| matches!(byte, b'"' | b',' | b'\r' | b'\n');
    if !text.is_empty() && !text.iter().any(special) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for (index, part) in text.split(|&byte| byte == b'"').enumerate() {
        if index > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(part);
    }
    out.push(b'"');
}

impl TextFormat for CsvFormat {
    const LINKS: bool = false;

    fn write_result_head(&mut self, head: &ResultHead, out: &mut Vec<u8>) -> WriteResult<()> {
        reject_boolean(head)?;
        if !self.lossy {
            let reason = Reason::new(
                "CSV cannot distinguish IRIs, blank nodes and literals, and has no datatypes or \
                 languages",
            )
            .with(Remedy::write("lossy", "true", "writes it anyway"));
            return Err((ErrorClass::Unsupported, reason));
        }
        for (index, name) in head.variables.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_field(name.as_bytes(), out);
        }
        out.extend_from_slice(b"\r\n");
        Ok(())
    }

    fn begin_row(&mut self, _first: bool, _out: &mut Vec<u8>) {}

    #[inline]
    fn begin_cell(&mut self, column: usize, _bound: bool, out: &mut Vec<u8>) {
        if column > 0 {
            out.push(b',');
        }
    }

    fn write_term(
        &self,
        table: &TermTable,
        id: TermId,
        max: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        let term = table.term(id);
        let text = table.text_of(term);
        match term.kind {
            TermKind::BlankNode => write_field(&[b"_:", text].concat(), out),
            TermKind::TripleTerm => {
                let start = out.len();
                TsvFormat.write_term(table, id, max, out)?;
                let written = out.split_off(start);
                write_field(&written, out);
            }
            _ => write_field(text, out),
        }
        Ok(())
    }

    #[inline]
    fn end_row(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\r\n");
    }

    fn end(&mut self, _out: &mut Vec<u8>) {}
}

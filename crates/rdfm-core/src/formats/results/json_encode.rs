//! Encoder for result sets in JSON: one row per line.

use super::text_encode::{RowError, TextFormat, check_tag};
use crate::codec::unsupported::WriteResult;
use crate::model::record::ResultHead;
use crate::model::table::TermTable;
use crate::model::term::{Term, TermId, TermKind, flags};
use crate::syntax::json::write::write_string;

/// Writes JSON.
#[derive(Default)]
pub(super) struct JsonFormat {
    /// Names of the columns as JSON, with the colon.
    keys: Vec<Vec<u8>>,
    /// Whether the row already has a cell.
    has_begun: bool,
}

/// Appends an array of strings.
fn write_strings(texts: &[Box<str>], out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(text.as_bytes(), out);
    }
    out.push(b']');
}

/// Appends a string. Plain text needs no escapes.
#[inline]
fn write_text(table: &TermTable, term: Term, out: &mut Vec<u8>) {
    let text = table.text_of(term);
    if term.flags & flags::PLAIN == 0 {
        return write_string(text, out);
    }
    out.push(b'"');
    out.extend_from_slice(text);
    out.push(b'"');
}

impl TextFormat for JsonFormat {
    const LINKS: bool = true;

    fn write_result_head(&mut self, head: &ResultHead, out: &mut Vec<u8>) -> WriteResult<()> {
        out.extend_from_slice(b"{\"head\":{");
        if head.boolean.is_none() {
            out.extend_from_slice(b"\"vars\":");
            write_strings(&head.variables, out);
        }
        if !head.links.is_empty() {
            if head.boolean.is_none() {
                out.push(b',');
            }
            out.extend_from_slice(b"\"link\":");
            write_strings(&head.links, out);
        }
        out.extend_from_slice(match head.boolean {
            None => b"},\"results\":{\"bindings\":[",
            Some(true) => b"},\"boolean\":true}\n",
            Some(false) => b"},\"boolean\":false}\n",
        });
        self.keys.clear();
        for name in &head.variables {
            let mut key = Vec::new();
            write_string(name.as_bytes(), &mut key);
            key.push(b':');
            self.keys.push(key);
        }
        Ok(())
    }

    #[inline]
    fn begin_row(&mut self, first: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(if first { b"\n{" } else { b",\n{" });
        self.has_begun = false;
    }

    #[inline]
    fn begin_cell(&mut self, column: usize, bound: bool, out: &mut Vec<u8>) {
        if bound {
            if self.has_begun {
                out.push(b',');
            }
            self.has_begun = true;
            out.extend_from_slice(self.keys.get(column).map_or(b"", |key| key));
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
        match term.kind {
            TermKind::Iri => {
                out.extend_from_slice(b"{\"type\":\"uri\",\"value\":");
                write_text(table, term, out);
            }
            TermKind::BlankNode => {
                out.extend_from_slice(b"{\"type\":\"bnode\",\"value\":");
                write_text(table, term, out);
            }
            TermKind::TripleTerm => {
                out.extend_from_slice(b"{\"type\":\"triple\",\"value\":");
                let names = [&b"{\"subject\":"[..], b",\"predicate\":", b",\"object\":"];
                for (name, part) in names.into_iter().zip(table.triple(term)) {
                    if out.len() > max {
                        return Err(RowError::TooLong);
                    }
                    out.extend_from_slice(name);
                    self.write_term(table, part, max, out)?;
                }
                out.push(b'}');
            }
            _ => {
                out.extend_from_slice(b"{\"type\":\"literal\",\"value\":");
                write_text(table, term, out);
                if term.kind == TermKind::TypedLiteral {
                    out.extend_from_slice(b",\"datatype\":");
                    write_text(table, table.term(TermId(term.aux)), out);
                } else if term.kind == TermKind::LangLiteral {
                    check_tag(table.text(TermId(term.aux))).map_err(RowError::Unsupported)?;
                    out.extend_from_slice(b",\"xml:lang\":");
                    write_text(table, table.term(TermId(term.aux)), out);
                    if term.flags & flags::LTR != 0 {
                        out.extend_from_slice(b",\"its:dir\":\"ltr\"");
                    } else if term.flags & flags::RTL != 0 {
                        out.extend_from_slice(b",\"its:dir\":\"rtl\"");
                    }
                }
            }
        }
        out.push(b'}');
        Ok(())
    }

    #[inline]
    fn end_row(&mut self, out: &mut Vec<u8>) {
        out.push(b'}');
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\n]}}\n");
    }
}

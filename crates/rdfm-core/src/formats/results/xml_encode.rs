//! Encoder for result sets in XML: one row per line.

use super::text_encode::{RowError, TextFormat, check_tag};
use super::xml::{ITS, RESULTS};
use crate::codec::unsupported::WriteResult;
use crate::model::error::{ErrorClass, quote};
use crate::model::record::ResultHead;
use crate::model::remedy::{Feature, Reason};
use crate::model::table::TermTable;
use crate::model::term::{TermId, TermKind, flags};
use crate::syntax::xml::{code_point, not_xml};

/// Writes XML.
#[derive(Default)]
pub(super) struct XmlFormat {
    /// Start tags of the bindings, by column.
    tags: Vec<Vec<u8>>,
}

/// The context of a string, which determines its escaping.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapeContext {
    /// Text of a literal.
    Literal,
    /// Text of an IRI or a label, around which readers skip white space.
    Trimmed,
    Attribute,
}

/// Appends a string, escaped. The error names a character that XML does not allow.
fn escape(text: &[u8], context: EscapeContext, out: &mut Vec<u8>) -> Result<(), Reason> {
    if let Some(index) = not_xml(text) {
        let found_text = quote(text);
        let c = code_point(&text[index..]);
        let reason = Reason::from(format!(
            "XML cannot represent the character {c}, found in {found_text}"
        ));
        return Err(reason.lacking(Feature::AnyText));
    }
    let mut from = 0;
    for (index, &byte) in text.iter().enumerate() {
        let escaped: &[u8] = match byte {
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            b'&' => b"&amp;",
            b'\r' => b"&#xD;",
            b'"' if context == EscapeContext::Attribute => b"&quot;",
            b' ' | b'\n' | b'\t' if context != EscapeContext::Literal => match byte {
                b' ' if context == EscapeContext::Attribute => continue,
                b' ' => b"&#x20;",
                b'\n' => b"&#xA;",
                _ => b"&#x9;",
            },
            _ => continue,
        };
        out.extend_from_slice(&text[from..index]);
        out.extend_from_slice(escaped);
        from = index + 1;
    }
    out.extend_from_slice(&text[from..]);
    Ok(())
}

fn write_element(name: &str, text: &[u8], out: &mut Vec<u8>) -> Result<(), RowError> {
    out.push(b'<');
    out.extend_from_slice(name.as_bytes());
    out.push(b'>');
    escape(text, EscapeContext::Trimmed, out).map_err(RowError::Unsupported)?;
    out.extend_from_slice(b"</");
    out.extend_from_slice(name.as_bytes());
    out.push(b'>');
    Ok(())
}

fn write_attribute(name: &str, value: &[u8], out: &mut Vec<u8>) -> Result<(), Reason> {
    out.push(b' ');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"=\"");
    escape(value, EscapeContext::Attribute, out)?;
    out.push(b'"');
    Ok(())
}

impl XmlFormat {
    fn write_head(&mut self, head: &ResultHead, out: &mut Vec<u8>) -> Result<(), Reason> {
        out.extend_from_slice(b"<?xml version=\"1.0\"?>\n<sparql");
        write_attribute("xmlns", RESULTS, out)?;
        out.extend_from_slice(b">\n<head>");
        self.tags.clear();
        if head.boolean.is_none() {
            for name in &head.variables {
                out.extend_from_slice(b"<variable");
                write_attribute("name", name.as_bytes(), out)?;
                out.extend_from_slice(b"/>");
                let mut tag = b"<binding".to_vec();
                write_attribute("name", name.as_bytes(), &mut tag)?;
                tag.push(b'>');
                self.tags.push(tag);
            }
        }
        for link in &head.links {
            out.extend_from_slice(b"<link");
            write_attribute("href", link.as_bytes(), out)?;
            out.extend_from_slice(b"/>");
        }
        out.extend_from_slice(match head.boolean {
            None => b"</head>\n<results>\n",
            Some(true) => b"</head>\n<boolean>true</boolean>\n</sparql>\n",
            Some(false) => b"</head>\n<boolean>false</boolean>\n</sparql>\n",
        });
        Ok(())
    }

    fn write_literal(table: &TermTable, id: TermId, out: &mut Vec<u8>) -> Result<(), Reason> {
        let term = table.term(id);
        out.extend_from_slice(b"<literal");
        if term.kind == TermKind::TypedLiteral {
            write_attribute("datatype", table.text(TermId(term.aux)), out)?;
        } else if term.kind == TermKind::LangLiteral {
            let tag = table.text(TermId(term.aux));
            check_tag(tag)?;
            write_attribute("xml:lang", tag, out)?;
            let direction = match term.flags & (flags::LTR | flags::RTL) {
                0 => None,
                flags::LTR => Some(b"ltr"),
                _ => Some(b"rtl"),
            };
            if let Some(direction) = direction {
                write_attribute("xmlns:its", ITS, out)?;
                write_attribute("its:version", b"2.0", out)?;
                write_attribute("its:dir", direction, out)?;
            }
        }
        out.push(b'>');
        escape(table.text_of(term), EscapeContext::Literal, out)?;
        out.extend_from_slice(b"</literal>");
        Ok(())
    }
}

impl TextFormat for XmlFormat {
    const LINKS: bool = true;

    fn write_result_head(&mut self, head: &ResultHead, out: &mut Vec<u8>) -> WriteResult<()> {
        self.write_head(head, out)
            .map_err(|reason| (ErrorClass::Unsupported, reason))
    }

    #[inline]
    fn begin_row(&mut self, _first: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<result>");
    }

    #[inline]
    fn begin_cell(&mut self, column: usize, bound: bool, out: &mut Vec<u8>) {
        if bound {
            out.extend_from_slice(self.tags.get(column).map_or(b"", |tag| tag));
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
            TermKind::Iri => write_element("uri", text, out),
            TermKind::BlankNode => write_element("bnode", text, out),
            TermKind::TripleTerm => {
                out.extend_from_slice(b"<triple>");
                let names = ["subject", "predicate", "object"];
                for (name, part) in names.into_iter().zip(table.triple(term)) {
                    if out.len() > max {
                        return Err(RowError::TooLong);
                    }
                    out.push(b'<');
                    out.extend_from_slice(name.as_bytes());
                    out.push(b'>');
                    self.write_term(table, part, max, out)?;
                    out.extend_from_slice(b"</");
                    out.extend_from_slice(name.as_bytes());
                    out.push(b'>');
                }
                out.extend_from_slice(b"</triple>");
                Ok(())
            }
            _ => Self::write_literal(table, id, out).map_err(RowError::Unsupported),
        }
    }

    #[inline]
    fn end_cell(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"</binding>");
    }

    #[inline]
    fn end_row(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"</result>\n");
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"</results>\n</sparql>\n");
    }
}

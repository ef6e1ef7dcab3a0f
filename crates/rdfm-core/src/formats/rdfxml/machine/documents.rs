//! The sequence of documents: the text between them and before their first element, and the end of
//! the log.
//!
//! - In: the tokens outside the root element.
//! - Out: an open message at the first element; the entities of its DOCTYPE.
//! - Law: every document except the first begins on a new line. Documents are in UTF-8. A log that
//!   ends inside a document is truncated.

use super::RdfXmlMachine;
use crate::model::chars::{BOM, SPACE, is};
use crate::model::error::{ErrorClass, quote};
use crate::syntax::text::grammar::Pause;
use crate::syntax::xml::{self, Read, XmlToken, check_characters, fail, fail_malformed};

/// Progress before the root element of a document, or between two documents.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prolog {
    /// Whether a document was read before, so that the next must begin on a new line.
    pub after_document: bool,
    /// Whether the last line of that document has ended.
    pub line_ended: bool,
    /// Whether the XML declaration, a comment or a DOCTYPE of the next document was read.
    pub has_begun: bool,
    /// Whether the DOCTYPE of the next document was read.
    pub doctype: bool,
    /// Byte offset at which the next document starts.
    pub position: Option<u64>,
}

impl RdfXmlMachine {
    /// Processes a token outside the root element.
    pub(super) fn process_token_between_documents(
        &mut self,
        text: &[u8],
        token: XmlToken,
        end: usize,
    ) -> Read<()> {
        let start = self.pos;
        match token {
            XmlToken::Text => return self.check_white_space(text, end),
            XmlToken::Comment => return check_characters(text, start, end),
            XmlToken::Instruction if !xml::is_declaration(&text[start..end]) => {
                return check_characters(text, start, end);
            }
            XmlToken::CData | XmlToken::End => {
                return fail_malformed(
                    start,
                    format!("expected a document, found {}", quote(&text[start..end])),
                );
            }
            XmlToken::Instruction | XmlToken::Doctype | XmlToken::Start | XmlToken::Empty => {}
        }
        if self.prolog.after_document && !self.prolog.line_ended {
            return fail_malformed(
                start,
                "a document begins on the line where the previous one ends; start each document \
                 on a new line",
            );
        }
        self.prolog
            .position
            .get_or_insert(self.offset + start as u64);
        match token {
            XmlToken::Instruction => {
                if self.prolog.has_begun {
                    return fail_malformed(
                        start,
                        "an XML declaration is allowed only at the start of its document",
                    );
                }
                self.prolog.has_begun = true;
                xml::check_declaration(text, start, end, &mut self.attributes)
            }
            XmlToken::Doctype => {
                if self.prolog.doctype {
                    return fail_malformed(start, "a document can have only one DOCTYPE");
                }
                self.prolog.has_begun = true;
                self.prolog.doctype = true;
                check_characters(text, start, end)?;
                let max = self.max();
                self.entities.declare(text, start, end, max)?;
                self.charge_repeated(self.entities.bytes() as usize, start)
            }
            _ => {
                let position = self.prolog.position.unwrap_or_default();
                self.builder.begin_message(position);
                self.start_tag(text, end, token == XmlToken::Empty)
            }
        }
    }

    /// Checks the text between documents, up to `end`.
    fn check_white_space(&mut self, text: &[u8], end: usize) -> Read<()> {
        let mut from = self.pos;
        if self.offset + from as u64 == 0 && text.starts_with(BOM) {
            from = 3;
        }
        for (index, &byte) in text[from..end].iter().enumerate() {
            if !is(byte, SPACE) {
                let found_text = quote(&text[from + index..end]);
                return fail_malformed(
                    from + index,
                    format!("expected an XML document, which begins with '<', found {found_text}"),
                );
            }
            let is_line_end = byte == b'\n' || byte == b'\r';
            self.prolog.line_ended |= is_line_end;
            self.multiline |= is_line_end && self.prolog.has_begun;
        }
        Ok(())
    }

    /// Handles the end of the buffered text.
    pub(super) fn pause(&mut self, text: &[u8], ended: bool) -> Read<Pause> {
        if !ended {
            return Ok(Pause::Need);
        }
        if self.frames.is_empty() {
            let rest = &text[self.pos..];
            if rest.first() != Some(&b'<') {
                self.check_white_space(text, text.len())?;
                return if self.prolog.has_begun {
                    fail(
                        text.len(),
                        ErrorClass::Truncated,
                        "the log ends before the document's first element",
                    )
                } else {
                    Ok(Pause::Done)
                };
            }
            return fail(
                text.len(),
                ErrorClass::Truncated,
                "the log ends inside a tag or comment",
            );
        }
        let open = self.frames.last().map_or(0, |frame| frame.name as usize);
        fail(
            text.len(),
            ErrorClass::Truncated,
            format!(
                "the log ends before the end tag of {}",
                quote(&self.open_names[open..])
            ),
        )
    }
}

//! Text and CDATA inside a document.
//!
//! - In: text as written, and the state of the innermost element.
//! - Out: the text of the open property, with entities replaced and line breaks converted to LF.
//! - Law: text is allowed only in a property that may contain it; elsewhere only white space is
//!   allowed. The size is checked before text is copied.

use super::{ElementState, RdfXmlMachine, describe_expected};
use crate::formats::rdfxml::canonical::Canonical;
use crate::model::chars::{SPACE, is};
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::Reason;
use crate::syntax::text::grammar::limit;
use crate::syntax::xml::entities::TextContext;
use crate::syntax::xml::{Read, append_lines, check_characters, fail, fail_malformed};

impl RdfXmlMachine {
    /// Processes text or CDATA.
    pub(super) fn process_characters(
        &mut self,
        text: &[u8],
        range: (usize, usize),
        cdata: bool,
    ) -> Read<()> {
        let max = self.max();
        let (start, end) = range;
        let state = self.top_mut()?.state;
        if !cdata && let Some(index) = memchr::memmem::find(&text[start..end], b"]]>") {
            return fail_malformed(
                start + index,
                "']]>' is not allowed in text; write it as ]]&gt;",
            );
        }
        if matches!(
            state,
            ElementState::Property | ElementState::Literal | ElementState::Markup
        ) {
            let length = self.text.len();
            if cdata {
                self.copy_verbatim(text, range)?;
            } else {
                let repeated =
                    self.entities
                        .expand(text, range, TextContext::Content, max, &mut self.text)?;
                self.charge_repeated(repeated, start)?;
            }
            if state == ElementState::Property {
                return Ok(());
            }
            return Canonical::escape_from(length, max, &mut self.text)
                .map_err(|exceeded| limit(start, exceeded));
        }
        let mut from = start;
        if !cdata {
            // A character reference may represent white space, so references are expanded first.
            while from < end && is(text[from], SPACE) {
                self.multiline |= text[from] == b'\n' || text[from] == b'\r';
                from += 1;
            }
            if from == end {
                return Ok(());
            }
            self.text.clear();
            let range = (from, end);
            let repeated =
                self.entities
                    .expand(text, range, TextContext::Content, max, &mut self.text)?;
            self.charge_repeated(repeated, start)?;
            let blank = self.text.iter().all(|&byte| is(byte, SPACE));
            self.text.clear();
            if blank {
                return Ok(());
            }
        }
        fail_malformed(
            from,
            format!(
                "expected {}, found the text {}",
                describe_expected(state),
                quote(&text[from..end])
            ),
        )
    }

    /// Appends the content of CDATA.
    fn copy_verbatim(&mut self, text: &[u8], (start, end): (usize, usize)) -> Read<()> {
        check_characters(text, start, end)?;
        if (self.text.len() + end - start) as u64 > self.max() {
            let max = self.max();
            return fail(
                start,
                ErrorClass::Limit,
                Reason::limit(
                    format!("a text node is longer than {max} bytes"),
                    "max_message_bytes",
                ),
            );
        }
        append_lines(&text[start..end], &mut self.text);
        Ok(())
    }
}

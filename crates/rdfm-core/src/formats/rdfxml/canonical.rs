//! XML literals: the markup of a property with `parseType="Literal"`, as Exclusive Canonical XML
//! with comments.
//!
//! - In: tags, text and comments inside the property.
//! - Out: the same markup, with each namespace declared where it is first used and attributes
//!   sorted.
//! - Cost: one copy. A namespace is written again only if no enclosing element has declared it.
//! - Law: the text does not exceed its limit.

use crate::model::error::{ErrorClass, LimitExceeded, quote};
use crate::model::remedy::Reason;
use crate::syntax::text::grammar::GrammarError;
use crate::syntax::xml::scope::NamespaceScope;
use crate::syntax::xml::{Attribute, Read, XmlName, fail_malformed};

/// State of an XML literal while it is written.
#[derive(Default)]
pub(super) struct Canonical {
    /// Namespaces that the enclosing elements have declared in the output.
    rendered: NamespaceScope,
}

impl Canonical {
    /// Resets to a state without open elements.
    pub fn clear(&mut self) {
        self.rendered.clear();
    }

    /// Returns a mark to revert to at the end of an element.
    pub fn mark(&self) -> u32 {
        self.rendered.mark()
    }

    /// Appends a start tag.
    #[allow(clippy::too_many_arguments, reason = "all arguments describe one tag")]
    pub fn start(
        &mut self,
        text: &[u8],
        name: XmlName,
        attributes: &[Attribute],
        values: &[&[u8]],
        scope: &NamespaceScope,
        max: u64,
        out: &mut Vec<u8>,
    ) -> Read<()> {
        let mut prefixes = vec![name.prefix(text)];
        let mut sorted = Vec::new();
        for (attribute, value) in attributes.iter().zip(values) {
            let prefix = attribute.name.prefix(text);
            let local = attribute.name.local(text);
            if prefix == b"xmlns" || (prefix.is_empty() && local == b"xmlns") {
                continue;
            }
            let Some(namespace) = (if prefix.is_empty() {
                Some(&b""[..])
            } else {
                scope.get(prefix)
            }) else {
                return fail_malformed(
                    attribute.name.start,
                    format!("the prefix {} is not declared", quote(prefix)),
                );
            };
            if !prefix.is_empty() {
                prefixes.push(prefix);
            }
            sorted.push((namespace, local, attribute.name.whole(text), *value));
        }
        prefixes.sort_unstable();
        prefixes.dedup();
        sorted.sort_unstable();
        push(b"<", max, out).map_err(|exceeded| too_long(name.start, exceeded))?;
        out.extend_from_slice(name.whole(text));
        for prefix in prefixes {
            if prefix == b"xml" {
                continue;
            }
            let iri = scope.get(prefix).unwrap_or_default();
            if self.rendered.get(prefix).unwrap_or_default() == iri {
                continue;
            }
            self.rendered.bind(prefix, iri);
            let (opened, colon) = (
                &b" xmlns"[..],
                if prefix.is_empty() { &b""[..] } else { b":" },
            );
            for part in [opened, colon, prefix, b"=\""] {
                out.extend_from_slice(part);
            }
            canonicalize(iri, max, out).map_err(|exceeded| too_long(name.start, exceeded))?;
        }
        for (_, _, attribute, text) in sorted {
            out.push(b' ');
            out.extend_from_slice(attribute);
            out.extend_from_slice(b"=\"");
            canonicalize(text, max, out).map_err(|exceeded| too_long(name.start, exceeded))?;
        }
        out.push(b'>');
        Ok(())
    }

    /// Appends an end tag.
    pub fn end(
        &mut self,
        name: &[u8],
        mark: u32,
        max: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), LimitExceeded> {
        self.rendered.undo_to(mark);
        for part in [&b"</"[..], name, b">"] {
            push(part, max, out)?;
        }
        Ok(())
    }

    /// Appends a comment or a processing instruction, with line breaks converted to LF.
    pub fn copy(text: &[u8], max: u64, out: &mut Vec<u8>) -> Result<(), LimitExceeded> {
        for (index, &byte) in text.iter().enumerate() {
            match byte {
                b'\r' if text.get(index + 1) == Some(&b'\n') => {}
                b'\r' => push(b"\n", max, out)?,
                _ => push(&[byte], max, out)?,
            }
        }
        Ok(())
    }

    /// Escapes the output after `start` as text.
    pub fn escape_from(start: usize, max: u64, out: &mut Vec<u8>) -> Result<(), LimitExceeded> {
        let special = |byte: &u8| matches!(byte, b'&' | b'<' | b'>' | b'\r');
        let Some(first) = out[start..].iter().position(special) else {
            return Ok(());
        };
        let rest = out.split_off(start + first);
        for byte in rest {
            match byte {
                b'&' => push(b"&amp;", max, out)?,
                b'<' => push(b"&lt;", max, out)?,
                b'>' => push(b"&gt;", max, out)?,
                b'\r' => push(b"&#xD;", max, out)?,
                _ => push(&[byte], max, out)?,
            }
        }
        Ok(())
    }
}

/// Appends the value of an attribute and its closing quote.
fn canonicalize(text: &[u8], max: u64, out: &mut Vec<u8>) -> Result<(), LimitExceeded> {
    for &byte in text {
        match byte {
            b'&' => push(b"&amp;", max, out)?,
            b'<' => push(b"&lt;", max, out)?,
            b'"' => push(b"&quot;", max, out)?,
            b'\t' => push(b"&#x9;", max, out)?,
            b'\n' => push(b"&#xA;", max, out)?,
            b'\r' => push(b"&#xD;", max, out)?,
            _ => push(&[byte], max, out)?,
        }
    }
    push(b"\"", max, out)
}

#[inline]
fn push(text: &[u8], max: u64, out: &mut Vec<u8>) -> Result<(), LimitExceeded> {
    if (out.len() + text.len()) as u64 > max {
        return Err(LimitExceeded(Reason::limit(
            format!("an XML literal is longer than {max} bytes"),
            "max_message_bytes",
        )));
    }
    out.extend_from_slice(text);
    Ok(())
}

#[cold]
#[allow(
    clippy::unnecessary_box_returns,
    reason = "errors are boxed everywhere"
)]
fn too_long(index: usize, exceeded: LimitExceeded) -> Box<GrammarError> {
    Box::new(GrammarError {
        index,
        class: ErrorClass::Limit,
        reason: exceeded.0,
    })
}

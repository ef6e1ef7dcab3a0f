//! Additional syntax in rows of RDF Patch: the abbreviations of Turtle, blank nodes as `<_:label>`,
//! and any white space and comments between terms.
//!
//! - In: valid UTF-8 text, and the position of a token's first byte.
//! - Out: terms of the batch.
//! - Cost: linear in the text, and in the IRIs of prefixed names.

use super::lex::{
    Lexed, QuotedToken, byte, character, escape, expected, fail, found, iri, unescape_iri,
};
use super::statement::{StatementReader, limit_error, push, relative_iri_error};
use crate::model::builder::LogBuilder;
use crate::model::chars::{self, DIGIT, HEX, NAME, has_scheme, is_absolute_iri, is_iri_text};
use crate::model::error::quote;
use crate::model::labels;
use crate::model::record::Record;
use crate::model::remedy::Reason;
use crate::model::term::{TermId, TermKind, flags};
use crate::syntax::cache::{Cache, RecentTerm};
use crate::syntax::text::scan;

const INTEGER: &[u8] = b"http://www.w3.org/2001/XMLSchema#integer";
const DECIMAL: &[u8] = b"http://www.w3.org/2001/XMLSchema#decimal";
const DOUBLE: &[u8] = b"http://www.w3.org/2001/XMLSchema#double";
const BOOLEAN: &[u8] = b"http://www.w3.org/2001/XMLSchema#boolean";

/// Whether `<_:label>` allows a label unescaped.
pub(crate) fn allows_label(label: &[u8]) -> bool {
    !label.is_empty() && is_iri_text(label)
}

/// Position after white space, line breaks and comments.
pub(super) fn space(text: &[u8], mut at: usize) -> usize {
    loop {
        match byte(text, at) {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b'#' => {
                let rest = text.get(at..).unwrap_or_default();
                at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            }
            _ => return at,
        }
    }
}

/// Whether an abbreviated term may begin here.
pub(super) fn begins_term(text: &[u8], at: usize) -> bool {
    begins_name(text, at) || boolean(text, at).is_some() || number(text, at).is_some()
}

/// Whether a prefixed name begins here.
pub(super) fn begins_name(text: &[u8], at: usize) -> bool {
    byte(text, prefix_end(text, at)) == b':'
}

/// End of a boolean.
fn boolean(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..).unwrap_or_default();
    let words = [&b"true"[..], b"false"];
    let end = at + words.iter().find(|word| rest.starts_with(word))?.len();
    (!chars::is(byte(text, end), NAME)).then_some(end)
}

/// End of a possible prefix.
fn prefix_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some((c, width)) = character(text, at) {
        let fits = chars::is_letter(c) || at > start && (chars::is_name(c) || c == '.');
        if !fits {
            break;
        }
        at += width;
    }
    at
}

/// Whether a string other than `"…"` begins at a quote.
#[inline]
pub(super) fn is_other_string(text: &[u8], at: usize) -> bool {
    byte(text, at) == b'\'' || byte(text, at + 1) == b'"' && byte(text, at + 2) == b'"'
}

/// Lexes a string in single or triple quotes. `decoded` is set to the decoded string, and the
/// result is marked as escaped. The end is the position of the last closing quote.
pub(crate) fn string(text: &[u8], start: usize, decoded: &mut Vec<u8>) -> Lexed<QuotedToken> {
    let quote = byte(text, start);
    let long = byte(text, start + 1) == quote && byte(text, start + 2) == quote;
    decoded.clear();
    let mut at = if long { start + 3 } else { start + 1 };
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let stop = if long {
            memchr::memchr2(quote, b'\\', rest)
        } else {
            rest.iter()
                .position(|&byte| byte == quote || matches!(byte, b'\\' | b'\n' | b'\r'))
        };
        let Some(stop) = stop else {
            return expected(text, text.len(), "a quote at the end of the string");
        };
        decoded.extend_from_slice(&rest[..stop]);
        at += stop;
        match rest[stop] {
            b'\\' => {
                let (c, next) = escape(text, at, true)?;
                decoded.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                at = next;
            }
            b'\n' | b'\r' => {
                return fail(
                    at,
                    "the string is not closed on its line; expected a quote (write a line break \
                     in a string as \\n)",
                );
            }
            _ if long && !rest[stop..].starts_with(&[quote; 3]) => {
                decoded.push(quote);
                at += 1;
            }
            _ => {
                let end = if long { at + 2 } else { at };
                return Ok(QuotedToken {
                    end,
                    escaped: true,
                    plain: false,
                });
            }
        }
    }
}

/// End of a number, and its datatype.
fn number(text: &[u8], start: usize) -> Option<(usize, &'static [u8])> {
    let digits = |mut at: usize| {
        while chars::is(byte(text, at), DIGIT) {
            at += 1;
        }
        at
    };
    let first = start + usize::from(matches!(byte(text, start), b'+' | b'-'));
    let mut at = digits(first);
    let mut has_digits = at > first;
    let mut datatype = INTEGER;
    if byte(text, at) == b'.' {
        let end = digits(at + 1);
        let exponent = has_digits && matches!(byte(text, end), b'e' | b'E');
        // A dot that is not followed by digits ends the row.
        if end > at + 1 || exponent && exponent_end(text, end).is_some() {
            (at, has_digits, datatype) = (end, true, DECIMAL);
        }
    }
    if !has_digits {
        return None;
    }
    if let Some(end) = exponent_end(text, at) {
        return Some((end, DOUBLE));
    }
    Some((at, datatype))
}

fn exponent_end(text: &[u8], at: usize) -> Option<usize> {
    if !matches!(byte(text, at), b'e' | b'E') {
        return None;
    }
    let first = at + 1 + usize::from(matches!(byte(text, at + 1), b'+' | b'-'));
    let mut end = first;
    while chars::is(byte(text, end), DIGIT) {
        end += 1;
    }
    (end > first).then_some(end)
}

/// Appends the decoded local part of a prefixed name. Returns its end.
fn local(text: &[u8], start: usize, out: &mut Vec<u8>) -> Lexed<usize> {
    let (mut at, mut end, mut kept) = (start, start, out.len());
    loop {
        match byte(text, at) {
            b'%' => {
                let digits = text.get(at + 1..at + 3).unwrap_or_default();
                if digits.len() < 2 || !digits.iter().all(|&byte| chars::is(byte, HEX)) {
                    return expected(text, at, "two hexadecimal digits after '%'");
                }
                out.extend_from_slice(&text[at..at + 3]);
                at += 3;
            }
            b'\\' => {
                let escaped = byte(text, at + 1);
                if !b"_~.-!$&'()*+,;=/?#@%".contains(&escaped) {
                    return expected(
                        text,
                        at,
                        "an escape that is allowed in a prefixed name, such as \\,",
                    );
                }
                out.push(escaped);
                at += 2;
            }
            b'.' if at > start => {
                // A trailing dot belongs to the row.
                out.push(b'.');
                at += 1;
                continue;
            }
            _ => match character(text, at) {
                Some((c, width))
                    if chars::is_letter(c)
                        || matches!(c, '_' | ':')
                        || c.is_ascii_digit()
                        || at > start && chars::is_name(c) =>
                {
                    out.extend_from_slice(&text[at..at + width]);
                    at += width;
                }
                _ => break,
            },
        }
        (end, kept) = (at, out.len());
    }
    out.truncate(kept);
    Ok(end)
}

impl StatementReader {
    /// Sets the IRI of a prefix, or removes the prefix if `iri` is `None`.
    ///
    /// # Errors
    /// If all prefixes together are too large.
    pub fn set_prefix(
        &mut self,
        name: &[u8],
        iri: Option<&[u8]>,
        max_bytes: u64,
    ) -> Result<(), Reason> {
        let size = |iri: &[u8]| (name.len() + iri.len() + 32) as u64;
        let old = match iri {
            Some(iri) => {
                self.prefix_bytes += size(iri);
                self.prefixes.insert(name.into(), iri.into())
            }
            None => self.prefixes.remove(name),
        };
        self.prefix_bytes -= old.map_or(0, |old| size(&old));
        if self.prefix_bytes > max_bytes {
            let text = format!("the prefixes in force take more than {max_bytes} bytes of memory");
            return Err(Reason::limit(text, "max_message_bytes"));
        }
        Ok(())
    }

    /// Removes all prefixes.
    pub fn forget_prefixes(&mut self) {
        self.prefixes.clear();
        self.prefix_bytes = 0;
        self.skipped = None;
    }

    /// Records that a skipped message may have declared prefixes.
    pub fn skip_message(&mut self, index: u64) {
        self.skipped = Some(index);
    }

    /// Reads a number, a boolean or a prefixed name.
    pub(super) fn short_term<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        at: &mut usize,
    ) -> Lexed<TermId> {
        let start = *at;
        if begins_name(text, start) {
            return self.name(builder, text, at);
        }
        let found = boolean(text, start).map(|end| (end, BOOLEAN));
        let Some((end, datatype)) = found.or_else(|| number(text, start)) else {
            return expected(text, start, "a term");
        };
        let lexical = text.get(start..end).unwrap_or_default();
        *at = end;
        self.extra += datatype.len();
        let datatype = self.shared(builder, TermKind::Iri, datatype, flags::PLAIN);
        let slot = Cache::slot(TermKind::TypedLiteral, lexical);
        let known = self.cache.get(slot);
        let same = known
            .get(builder, TermKind::TypedLiteral)
            .is_some_and(|(term, text)| term.aux == datatype.0 && text == lexical);
        if same {
            return Ok(known.id);
        }
        let id = push(
            builder,
            TermKind::TypedLiteral,
            lexical,
            datatype.0,
            flags::PLAIN,
        );
        self.cache.set(slot, RecentTerm::new(builder, id));
        Ok(id)
    }

    /// Reads a prefixed name.
    pub(super) fn name<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        at: &mut usize,
    ) -> Lexed<TermId> {
        let start = *at;
        let colon = prefix_end(text, start);
        let prefix = text.get(start..colon).unwrap_or_default();
        let Some(namespace) = self.prefixes.get(prefix) else {
            let (shown, name) = (quote(prefix), found(text, start));
            let reason = Reason::from(format!(
                "the prefix {shown} of {name} is not declared; declare it with PA in an earlier row"
            ));
            return fail(start, reason.perhaps_declared_in(self.skipped));
        };
        self.iri.clear();
        self.iri.extend_from_slice(namespace);
        *at = local(text, colon + 1, &mut self.iri)?;
        if !has_scheme(&self.iri) && !self.grammar.lenient {
            return relative_iri_error(&self.iri, start);
        }
        self.extra += self.iri.len();
        let limit = builder.limits().max_message_bytes;
        if self.extra as u64 > limit {
            let text = format!("the {} is larger than {limit} decoded bytes", R::MESSAGE);
            return limit_error(start, Reason::limit(text, "max_message_bytes"));
        }
        let iri = std::mem::take(&mut self.iri);
        let plain = if is_absolute_iri(&iri) {
            flags::PLAIN
        } else {
            0
        };
        let id = self.shared(builder, TermKind::Iri, &iri, plain);
        self.iri = iri;
        Ok(id)
    }

    /// Reads a blank node in the form `<_:label>`.
    pub(super) fn quoted_label<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        at: &mut usize,
        guess: RecentTerm,
    ) -> Lexed<TermId> {
        let start = *at + 3;
        let token = iri(text, start)?;
        let raw = text.get(start..token.end).unwrap_or_default();
        if raw.is_empty() {
            return expected(text, start, "a blank node label after '<_:'");
        }
        *at = token.end + 1;
        if token.escaped {
            self.extra += raw.len();
            let mut label = std::mem::take(&mut self.iri);
            label.clear();
            unescape_iri(raw, &mut label)?;
            let id = self.shared(builder, TermKind::Bnode, &label, 0);
            self.iri = label;
            return Ok(id);
        }
        if let Some(decoded) = labels::read(raw, allows_label) {
            return Ok(self.shared(builder, TermKind::Bnode, &decoded, 0));
        }
        if guess.is(builder, TermKind::Bnode, raw) {
            return Ok(guess.id);
        }
        Ok(self.shared(builder, TermKind::Bnode, raw, scan::label(raw).unwrap_or(0)))
    }

    /// Returns a term that consists only of its text. Recurring terms are shared.
    fn shared<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        kind: TermKind,
        text: &[u8],
        flags: u8,
    ) -> TermId {
        let slot = Cache::slot(kind, text);
        let known = self.cache.get(slot);
        if known.is(builder, kind, text) {
            return known.id;
        }
        let id = push(builder, kind, text, 0, flags);
        self.cache.set(slot, RecentTerm::new(builder, id));
        id
    }
}

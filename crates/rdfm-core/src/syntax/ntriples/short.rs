//! Additional syntax in rows of RDF Patch: the abbreviations of Turtle, blank nodes as `<_:label>`,
//! and any white space and comments between terms.
//!
//! - In: valid UTF-8 text, and the position of a token's first byte.
//! - Out: terms of the batch.
//! - Cost: linear in the text, and in the IRIs of prefixed names.

use super::lex::{
    Lexed, QuotedToken, byte_at, character_at, decode_escape, describe_found, fail, fail_expected,
    lex_iri, unescape_iri,
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
pub(super) fn space(text: &[u8], mut index: usize) -> usize {
    loop {
        match byte_at(text, index) {
            b' ' | b'\t' | b'\n' | b'\r' => index += 1,
            b'#' => {
                let rest = text.get(index..).unwrap_or_default();
                index += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            }
            _ => return index,
        }
    }
}

/// Whether an abbreviated term may begin here.
pub(super) fn starts_term(text: &[u8], index: usize) -> bool {
    starts_name(text, index) || boolean(text, index).is_some() || number(text, index).is_some()
}

/// Whether a prefixed name begins here.
pub(super) fn starts_name(text: &[u8], index: usize) -> bool {
    byte_at(text, prefix_end(text, index)) == b':'
}

/// End of a boolean.
fn boolean(text: &[u8], index: usize) -> Option<usize> {
    let rest = text.get(index..).unwrap_or_default();
    let words = [&b"true"[..], b"false"];
    let end = index + words.iter().find(|word| rest.starts_with(word))?.len();
    (!chars::is(byte_at(text, end), NAME)).then_some(end)
}

/// End of a possible prefix.
fn prefix_end(text: &[u8], start: usize) -> usize {
    let mut index = start;
    while let Some((c, width)) = character_at(text, index) {
        let fits = chars::is_letter(c) || index > start && (chars::is_name(c) || c == '.');
        if !fits {
            break;
        }
        index += width;
    }
    index
}

/// Whether a string other than `"…"` begins at a quote.
#[inline]
pub(super) fn is_other_string(text: &[u8], index: usize) -> bool {
    byte_at(text, index) == b'\''
        || byte_at(text, index + 1) == b'"' && byte_at(text, index + 2) == b'"'
}

/// Lexes a string in single or triple quotes. `decoded` is set to the decoded string, and the
/// result is marked as escaped. The end is the position of the last closing quote.
pub(crate) fn lex_string(text: &[u8], start: usize, decoded: &mut Vec<u8>) -> Lexed<QuotedToken> {
    let quote = byte_at(text, start);
    let long = byte_at(text, start + 1) == quote && byte_at(text, start + 2) == quote;
    decoded.clear();
    let mut index = if long { start + 3 } else { start + 1 };
    loop {
        let rest = text.get(index..).unwrap_or_default();
        let stop = if long {
            memchr::memchr2(quote, b'\\', rest)
        } else {
            rest.iter()
                .position(|&byte| byte == quote || matches!(byte, b'\\' | b'\n' | b'\r'))
        };
        let Some(stop) = stop else {
            return fail_expected(text, text.len(), "a quote at the end of the string");
        };
        decoded.extend_from_slice(&rest[..stop]);
        index += stop;
        match rest[stop] {
            b'\\' => {
                let (c, next) = decode_escape(text, index, true)?;
                decoded.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                index = next;
            }
            b'\n' | b'\r' => {
                return fail(
                    index,
                    "the string is not closed on its line; expected a quote (write a line break \
                     in a string as \\n)",
                );
            }
            _ if long && !rest[stop..].starts_with(&[quote; 3]) => {
                decoded.push(quote);
                index += 1;
            }
            _ => {
                let end = if long { index + 2 } else { index };
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
    let digits = |mut index: usize| {
        while chars::is(byte_at(text, index), DIGIT) {
            index += 1;
        }
        index
    };
    let first = start + usize::from(matches!(byte_at(text, start), b'+' | b'-'));
    let mut index = digits(first);
    let mut has_digits = index > first;
    let mut datatype = INTEGER;
    if byte_at(text, index) == b'.' {
        let end = digits(index + 1);
        let exponent = has_digits && matches!(byte_at(text, end), b'e' | b'E');
        // A dot that is not followed by digits ends the row.
        if end > index + 1 || exponent && find_exponent_end(text, end).is_some() {
            (index, has_digits, datatype) = (end, true, DECIMAL);
        }
    }
    if !has_digits {
        return None;
    }
    if let Some(end) = find_exponent_end(text, index) {
        return Some((end, DOUBLE));
    }
    Some((index, datatype))
}

fn find_exponent_end(text: &[u8], index: usize) -> Option<usize> {
    if !matches!(byte_at(text, index), b'e' | b'E') {
        return None;
    }
    let first = index + 1 + usize::from(matches!(byte_at(text, index + 1), b'+' | b'-'));
    let mut end = first;
    while chars::is(byte_at(text, end), DIGIT) {
        end += 1;
    }
    (end > first).then_some(end)
}

/// Appends the decoded local part of a prefixed name. Returns its end.
fn lex_local(text: &[u8], start: usize, out: &mut Vec<u8>) -> Lexed<usize> {
    let (mut index, mut end, mut copied_end) = (start, start, out.len());
    loop {
        match byte_at(text, index) {
            b'%' => {
                let digits = text.get(index + 1..index + 3).unwrap_or_default();
                if digits.len() < 2 || !digits.iter().all(|&byte| chars::is(byte, HEX)) {
                    return fail_expected(text, index, "two hexadecimal digits after '%'");
                }
                out.extend_from_slice(&text[index..index + 3]);
                index += 3;
            }
            b'\\' => {
                let escaped = byte_at(text, index + 1);
                if !b"_~.-!$&'()*+,;=/?#@%".contains(&escaped) {
                    return fail_expected(
                        text,
                        index,
                        "an escape that is allowed in a prefixed name, such as \\,",
                    );
                }
                out.push(escaped);
                index += 2;
            }
            b'.' if index > start => {
                // A trailing dot belongs to the row.
                out.push(b'.');
                index += 1;
                continue;
            }
            _ => match character_at(text, index) {
                Some((c, width))
                    if chars::is_letter(c)
                        || matches!(c, '_' | ':')
                        || c.is_ascii_digit()
                        || index > start && chars::is_name(c) =>
                {
                    out.extend_from_slice(&text[index..index + width]);
                    index += width;
                }
                _ => break,
            },
        }
        (end, copied_end) = (index, out.len());
    }
    out.truncate(copied_end);
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
    pub(super) fn parse_short_term<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        index: &mut usize,
    ) -> Lexed<TermId> {
        let start = *index;
        if starts_name(text, start) {
            return self.name(builder, text, index);
        }
        let token = boolean(text, start).map(|end| (end, BOOLEAN));
        let Some((end, datatype)) = token.or_else(|| number(text, start)) else {
            return fail_expected(text, start, "a term");
        };
        let lexical = text.get(start..end).unwrap_or_default();
        *index = end;
        self.extra += datatype.len();
        let datatype = self.add_shared(builder, TermKind::Iri, datatype, flags::PLAIN);
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
        index: &mut usize,
    ) -> Lexed<TermId> {
        let start = *index;
        let colon = prefix_end(text, start);
        let prefix = text.get(start..colon).unwrap_or_default();
        let Some(namespace) = self.prefixes.get(prefix) else {
            let (shown, name) = (quote(prefix), describe_found(text, start));
            let reason = Reason::from(format!(
                "the prefix {shown} of {name} is not declared; declare it with PA in an earlier row"
            ));
            return fail(start, reason.perhaps_declared_in(self.skipped));
        };
        self.iri.clear();
        self.iri.extend_from_slice(namespace);
        *index = lex_local(text, colon + 1, &mut self.iri)?;
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
        let id = self.add_shared(builder, TermKind::Iri, &iri, plain);
        self.iri = iri;
        Ok(id)
    }

    /// Reads a blank node in the form `<_:label>`.
    pub(super) fn parse_quoted_label<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        index: &mut usize,
        guess: RecentTerm,
    ) -> Lexed<TermId> {
        let start = *index + 3;
        let token = lex_iri(text, start)?;
        let raw = text.get(start..token.end).unwrap_or_default();
        if raw.is_empty() {
            return fail_expected(text, start, "a blank node label after '<_:'");
        }
        *index = token.end + 1;
        if token.escaped {
            self.extra += raw.len();
            let mut label = std::mem::take(&mut self.iri);
            label.clear();
            unescape_iri(raw, &mut label)?;
            let id = self.add_shared(builder, TermKind::BlankNode, &label, 0);
            self.iri = label;
            return Ok(id);
        }
        if let Some(decoded) = labels::read(raw, allows_label) {
            return Ok(self.add_shared(builder, TermKind::BlankNode, &decoded, 0));
        }
        if guess.is(builder, TermKind::BlankNode, raw) {
            return Ok(guess.id);
        }
        Ok(self.add_shared(
            builder,
            TermKind::BlankNode,
            raw,
            scan::label(raw).unwrap_or(0),
        ))
    }

    /// Returns a term that consists only of its text. Recurring terms are shared.
    fn add_shared<R: Record>(
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

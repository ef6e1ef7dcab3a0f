//! Lexes the tokens of N-Triples and N-Quads (RDF 1.1 and 1.2).
//!
//! - In: valid UTF-8 text, and the position of a token's first byte.
//! - Out: the parts of the token, with decoded escapes.
//! - Cost: one pass over the token.

use crate::model::chars::{self, DIGIT, LETTER, NAME};
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::{Feature, Reason, Remedy};
use crate::model::term::flags;

use super::scan;

/// An error in a statement, with its position in the text.
#[derive(Clone, Debug)]
pub(crate) struct LexError {
    pub index: usize,
    pub class: ErrorClass,
    pub reason: Reason,
}

/// A result with a boxed error. Errors are rare, and the box keeps results small.
pub(crate) type Lexed<T> = Result<T, Box<LexError>>;

#[cold]
pub(crate) fn fail<T>(index: usize, reason: impl Into<Reason>) -> Lexed<T> {
    Err(Box::new(LexError {
        index,
        class: ErrorClass::Malformed,
        reason: reason.into(),
    }))
}

#[cold]
pub(crate) fn fail_expected<T>(text: &[u8], index: usize, expected: &str) -> Lexed<T> {
    fail(
        index,
        format!("expected {expected}, found {}", describe_found(text, index)),
    )
}

/// Describes the text at a position, for errors.
pub(crate) fn describe_found(text: &[u8], index: usize) -> String {
    let rest = text.get(index..).unwrap_or_default();
    let line = &rest[..rest.len().min(200)];
    let line = line.split(|byte| matches!(byte, b'\n' | b'\r')).next();
    match (rest.first(), line) {
        (None, _) => "the end of the input".to_owned(),
        (Some(b'\n' | b'\r'), _) | (_, None) => "the end of the line".to_owned(),
        (Some(b' ' | b'\t'), _) => "white space".to_owned(),
        (_, Some(line)) => {
            let word = line.split(|byte| matches!(byte, b' ' | b'\t')).next();
            quote(word.unwrap_or(line))
        }
    }
}

/// Explains an error if it is due to Turtle syntax in a line-based log: a prefixed name, or a
/// declaration of a prefix or base. Otherwise returns `reason` unchanged.
pub(crate) fn explain_turtle_syntax(
    text: &[u8],
    index: usize,
    graphs: bool,
    reason: Reason,
) -> Reason {
    let rest = text.get(index..).unwrap_or_default();
    let length = rest
        .iter()
        .take_while(|&&byte| chars::is(byte, NAME) || matches!(byte, b'.' | b'@' | 0x80..));
    let (word, remaining) = rest.split_at(length.count());
    let is_turtle = match remaining {
        [b':', b'/', b'/', ..] => false,
        [b':', ..] => word.first() != Some(&b'_'),
        _ => [&b"@prefix"[..], b"prefix", b"@base", b"base"]
            .iter()
            .any(|keyword| word.eq_ignore_ascii_case(keyword)),
    };
    if !is_turtle {
        return reason;
    }
    let format = if graphs { "N-Quads" } else { "N-Triples" };
    reason
        .with_rewording(|text| format!("{text}; {format} has no prefixed names"))
        .lacking(Feature::PrefixedNames)
}

/// The byte at a position, or 0 at the end. No token begins with 0.
#[inline]
pub(crate) fn byte_at(text: &[u8], index: usize) -> u8 {
    text.get(index).copied().unwrap_or(0)
}

/// Position of the first byte at or after `index` that is not a space or tab.
#[inline]
pub(crate) fn skip_space(text: &[u8], mut index: usize) -> usize {
    while matches!(byte_at(text, index), b' ' | b'\t') {
        index += 1;
    }
    index
}

/// A token with text between delimiters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuotedToken {
    /// Position of the closing delimiter.
    pub end: usize,
    /// Whether the token contains escapes.
    pub escaped: bool,
    /// Whether the text needs no escape in canonical form.
    pub plain: bool,
}

/// Lexes an IRI after its `<`. Escapes are checked but not decoded.
#[inline]
pub(crate) fn lex_iri(text: &[u8], start: usize) -> Lexed<QuotedToken> {
    let end = scan::iri_end(text, start);
    if byte_at(text, end) == b'>' {
        return Ok(QuotedToken {
            end,
            escaped: false,
            plain: true,
        });
    }
    lex_iri_with_escapes(text, end)
}

#[cold]
fn lex_iri_with_escapes(text: &[u8], mut index: usize) -> Lexed<QuotedToken> {
    loop {
        match text.get(index) {
            Some(b'>') => {
                return Ok(QuotedToken {
                    end: index,
                    escaped: true,
                    plain: false,
                });
            }
            Some(b'\\') => index = scan::iri_end(text, decode_escape(text, index, false)?.1),
            None | Some(b'\n' | b'\r') => {
                return fail_expected(text, index, "'>' at the end of the IRI");
            }
            Some(&other) => {
                let shown = quote(&[other]);
                return fail(
                    index,
                    format!(
                        "expected an IRI character or '>', found {shown}, which is not allowed \
                         in an IRI"
                    ),
                );
            }
        }
    }
}

/// Lexes a string after its `"`. If it contains escapes, `decoded` is set to the decoded string.
#[inline]
pub(crate) fn lex_string(text: &[u8], start: usize, decoded: &mut Vec<u8>) -> Lexed<QuotedToken> {
    let end = scan::string_stop(text, start);
    if byte_at(text, end) == b'"' {
        return Ok(QuotedToken {
            end,
            escaped: false,
            plain: true,
        });
    }
    lex_string_with_escapes(text, start, end, decoded)
}

fn lex_string_with_escapes(
    text: &[u8],
    start: usize,
    mut index: usize,
    decoded: &mut Vec<u8>,
) -> Lexed<QuotedToken> {
    // `decoded` contains the text up to here.
    let mut copied = start;
    let (mut escaped, mut plain) = (false, true);
    decoded.clear();
    loop {
        match text.get(index) {
            Some(b'"') => {
                if escaped {
                    decoded.extend_from_slice(&text[copied..index]);
                }
                return Ok(QuotedToken {
                    end: index,
                    escaped,
                    plain: plain && !escaped,
                });
            }
            Some(b'\\') => {
                escaped = true;
                decoded.extend_from_slice(&text[copied..index]);
                let (c, next) = decode_escape(text, index, true)?;
                decoded.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                (index, copied) = (next, next);
            }
            None => return fail_expected(text, index, "'\"' at the end of the string"),
            Some(b'\n' | b'\r') => {
                return fail(
                    index,
                    "the string is not closed on its line; expected '\"' (write a line break in \
                     a string as \\n)",
                );
            }
            Some(0xef) => {
                plain &= byte_at(text, index + 1) != 0xbf || byte_at(text, index + 2) < 0xbe;
                index += 3;
            }
            Some(_) => {
                plain = false;
                index += 1;
            }
        }
        index = scan::string_stop(text, index);
    }
}

/// Decodes an escape at `index`. Returns the character and the position after it.
pub(super) fn decode_escape(text: &[u8], index: usize, string: bool) -> Lexed<(char, usize)> {
    let digits = match byte_at(text, index + 1) {
        b'u' => 4,
        b'U' => 8,
        letter if string => {
            let c = match letter {
                b't' => '\t',
                b'b' => '\u{8}',
                b'n' => '\n',
                b'r' => '\r',
                b'f' => '\u{c}',
                b'"' | b'\'' | b'\\' => char::from(letter),
                _ => {
                    return fail_bad_escape(
                        text,
                        index,
                        "\\t \\b \\n \\r \\f \\\" \\' \\\\ \\uXXXX or \\UXXXXXXXX",
                    );
                }
            };
            return Ok((c, index + 2));
        }
        _ => return fail_bad_escape(text, index, "\\uXXXX or \\UXXXXXXXX"),
    };
    let (mut code, mut next) = (0u32, index + 2);
    while next < index + 2 + digits {
        let Some(digit) = char::from(byte_at(text, next)).to_digit(16) else {
            return fail_bad_escape(
                text,
                index,
                &format!("an escape with {digits} hexadecimal digits"),
            );
        };
        // At most eight digits, so this cannot overflow.
        code = code << 4 | digit;
        next += 1;
    }
    match char::from_u32(code) {
        Some(c) => Ok((c, next)),
        None => fail_bad_escape(
            text,
            index,
            "an escape of a character (up to U+10FFFF, no surrogates)",
        ),
    }
}

#[cold]
fn fail_bad_escape<T>(text: &[u8], index: usize, escape: &str) -> Lexed<T> {
    let rest = text.get(index..).unwrap_or_default();
    let end = rest.len().min(10);
    let token = rest[..end]
        .split(|byte| matches!(byte, b'\n' | b'\r' | b'>' | b'"'))
        .next();
    let shown = quote(
        token
            .filter(|token| token.len() > 1)
            .unwrap_or(&rest[..end.min(2)]),
    );
    fail(index, format!("expected {escape}, found {shown}"))
}

/// Decodes the escapes of an IRI that [`lex_iri`] has checked, and appends the result.
pub(crate) fn unescape_iri(text: &[u8], out: &mut Vec<u8>) -> Lexed<()> {
    let mut index = 0;
    while let Some(run) = memchr::memchr(b'\\', &text[index..]) {
        out.extend_from_slice(&text[index..index + run]);
        let (c, next) = decode_escape(text, index + run, false)?;
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        index = next;
    }
    out.extend_from_slice(&text[index..]);
    Ok(())
}

/// End of a blank node label that begins at `start`, after `_:`.
#[inline]
pub(crate) fn lex_label(text: &[u8], start: usize) -> Lexed<usize> {
    let mut index = start;
    while chars::is(byte_at(text, index), NAME) {
        index += 1;
    }
    if index > start
        && byte_at(text, start) != b'-'
        && !matches!(byte_at(text, index), b'.' | 0x80..)
    {
        return Ok(index);
    }
    unusual_label(text, start)
}

/// Lexes a label with dots or characters beyond ASCII, or an invalid one.
fn unusual_label(text: &[u8], start: usize) -> Lexed<usize> {
    let (mut index, mut end) = (start, start);
    while let Some((c, width)) = character_at(text, index) {
        let fits = if index == start {
            chars::is_letter(c) || c == '_' || c.is_ascii_digit()
        } else {
            chars::is_name(c) || c == '.'
        };
        if !fits {
            break;
        }
        index += width;
        // A trailing dot belongs to the statement.
        if c != '.' {
            end = index;
        }
    }
    if end == start {
        return fail_expected(text, start, "a blank node label after '_:'");
    }
    Ok(end)
}

/// Returns the character at a position of valid UTF-8, and its width in bytes.
pub(crate) fn character_at(text: &[u8], index: usize) -> Option<(char, usize)> {
    let width = match *text.get(index)? {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    };
    let c = std::str::from_utf8(text.get(index..index + width)?)
        .ok()?
        .chars()
        .next()?;
    Some((c, width))
}

/// A language tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    /// End of the tag without its direction.
    pub end: usize,
    /// Base direction, as flags of a literal.
    pub direction: u8,
    /// Position after the tag and direction.
    pub next: usize,
}

/// Lexes a language tag after its `@`. `lenient` accepts subtags of more than eight characters.
pub(crate) fn lex_tag(text: &[u8], start: usize, lenient: bool) -> Lexed<Tag> {
    let mut index = start;
    let mut class = LETTER;
    loop {
        let subtag = index;
        while chars::is(byte_at(text, index), class) {
            index += 1;
        }
        if index == subtag {
            return fail_expected(text, subtag, "a language tag");
        }
        if index - subtag > 8 && !lenient {
            let shown = quote(&text[subtag..index]);
            return fail(
                subtag,
                Reason::from(format!(
                    "expected a language subtag of at most 8 characters, found {shown}"
                ))
                .with(Remedy::lenient("accepts it")),
            );
        }
        class = LETTER | DIGIT;
        if byte_at(text, index) != b'-' || byte_at(text, index + 1) == b'-' {
            break;
        }
        index += 1;
    }
    let (direction, next) = match text.get(index..index + 5) {
        Some(b"--ltr") => (flags::LTR, index + 5),
        Some(b"--rtl") => (flags::RTL, index + 5),
        _ => (0, index),
    };
    if byte_at(text, next) == b'_' && byte_at(text, next + 1) != b':' {
        let rest = text.get(next..).unwrap_or_default();
        let tail = rest.iter().take_while(|&&byte| chars::is(byte, NAME));
        let end = next + tail.count();
        return fail(
            start,
            chars::describe_invalid_language_tag(&text[start..end]),
        );
    }
    if byte_at(text, index) == b'-' && (direction == 0 || chars::is(byte_at(text, next), NAME)) {
        return fail_expected(text, index, "a base direction (--ltr or --rtl)");
    }
    Ok(Tag {
        end: index,
        direction,
        next,
    })
}

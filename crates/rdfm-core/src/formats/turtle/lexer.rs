//! Lexes the Turtle and TriG tokens that have more than one byte.
//!
//! - In: valid UTF-8 text, the start of a token, and how far it was already scanned.
//! - Out: the end of the token and its parts, or a [`TokenError`].
//! - Cost: one pass over a token. Scanning of a partial token resumes where it stopped.
//! - Law: a token depends on its own bytes and a few following bytes, not on how the input was cut.

use memchr::{memchr, memchr2};

use crate::model::chars::{
    DIGIT, ESCAPE, HEX, IRI, LETTER, NAME, describe_invalid_language_tag, is, is_letter, is_name,
};
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::Reason;
use crate::model::term::flags;
use crate::syntax::text::grammar::GrammarError;

/// The reason why no token was read.
#[derive(Debug)]
pub(super) enum TokenError {
    /// The token is incomplete. The bytes before `scanned` need not be scanned again.
    Need {
        /// Index in the text.
        scanned: usize,
        /// State of the lexer within the token.
        phase: u8,
    },
    /// The input is invalid.
    Error(Box<GrammarError>),
}

/// A token, or the reason why none was read.
pub(super) type Lexed<T> = Result<T, TokenError>;

impl TokenError {
    pub fn need_more(scanned: usize) -> Self {
        Self::Need { scanned, phase: 0 }
    }

    #[cold]
    pub fn malformed_error(index: usize, reason: impl Into<Reason>) -> Self {
        Self::error(index, ErrorClass::Malformed, reason)
    }

    #[cold]
    pub fn error(index: usize, class: ErrorClass, reason: impl Into<Reason>) -> Self {
        Self::Error(Box::new(GrammarError {
            index,
            class,
            reason: reason.into(),
        }))
    }
}

/// End of the `IRIREF` at `start`: the index after its `>`.
pub(super) fn iri_end(text: &[u8], start: usize, from: usize) -> Lexed<usize> {
    let from = from.max(start + 1);
    match memchr2(b'>', b'\n', &text[from..]) {
        Some(length) if text[from + length] == b'>' => Ok(from + length + 1),
        Some(length) => Err(iri_error(text, start, from + length)),
        None => Err(TokenError::need_more(text.len())),
    }
}

/// Returns the error for an `IRIREF` that does not end before `limit`.
#[cold]
pub(super) fn iri_error(text: &[u8], start: usize, limit: usize) -> TokenError {
    let body = &text[start + 1..limit];
    let bad = body
        .iter()
        .position(|&byte| byte != b'\\' && !is(byte, IRI))
        .map_or(limit, |length| start + 1 + length);
    TokenError::malformed_error(bad, describe_bad_iri_character(text, bad))
}

/// Describes a character that is not allowed in an IRI.
#[cold]
pub(super) fn describe_bad_iri_character(text: &[u8], bad: usize) -> String {
    format!(
        "an IRI must not contain {}; write it percent-encoded, or end the IRI with '>' before it",
        quote_char(text, bad)
    )
}

/// The character at an index, quoted.
#[cold]
pub(super) fn quote_char(text: &[u8], index: usize) -> String {
    let mut end = (index + 1).min(text.len());
    while end < text.len() && text[end] & 0xc0 == 0x80 {
        end += 1;
    }
    quote(&text[index.min(end)..end])
}

/// A quoted string.
#[derive(Clone, Copy, Debug)]
pub(super) struct StringToken {
    /// Index of the first byte between the quotes.
    pub start: usize,
    /// Index after the last byte between the quotes.
    pub stop: usize,
    /// Index after the closing quotes.
    pub end: usize,
    /// Whether the string contains escapes.
    pub escaped: bool,
    /// Whether the raw text between the quotes is [`flags::PLAIN`].
    pub plain: bool,
    /// Whether the string has triple quotes.
    pub long: bool,
}

/// Lexes the string at `start`, in one or three quotation marks of either kind.
pub(super) fn string(text: &[u8], start: usize, from: usize, eof: bool) -> Lexed<StringToken> {
    let mark = text[start];
    let empty = StringToken {
        start: start + 1,
        stop: start + 1,
        end: start + 2,
        escaped: false,
        plain: true,
        long: false,
    };
    match (text.get(start + 1), text.get(start + 2)) {
        (Some(&first), Some(&second)) if first == mark && second == mark => {
            long_string(text, start, from, mark)
        }
        (Some(&first), Some(_)) if first == mark => Ok(empty),
        (Some(&first), None) if first == mark && eof => Ok(empty),
        (Some(&first), None) if first == mark => Err(TokenError::need_more(start)),
        _ => short_string(text, start, from, mark),
    }
}

fn short_string(text: &[u8], start: usize, from: usize, mark: u8) -> Lexed<StringToken> {
    let first = start + 1;
    let resumed = from > first;
    let mut index = from.max(first);
    let (mut escaped, mut plain) = (false, true);
    loop {
        index = special(text, index, mark);
        match text.get(index) {
            None => return Err(TokenError::need_more(index)),
            Some(&byte) if byte == mark => {
                if resumed {
                    escaped = memchr(b'\\', &text[first..index]).is_some();
                    plain = !escaped && is_plain(&text[first..index]);
                }
                return Ok(StringToken {
                    start: first,
                    stop: index,
                    end: index + 1,
                    escaped,
                    plain: plain && !escaped,
                    long: false,
                });
            }
            Some(b'\\') => {
                if index + 1 >= text.len() {
                    return Err(TokenError::need_more(index));
                }
                escaped = true;
                index += 2;
            }
            Some(b'\n' | b'\r') => {
                return Err(TokenError::malformed_error(
                    index,
                    "the string is not closed on its line; \
                     for several lines use three quotation marks, or write \\n",
                ));
            }
            Some(_) => {
                plain = false;
                index += 1;
            }
        }
    }
}

/// Whether raw text can be written between quotes unescaped.
fn is_plain(text: &[u8]) -> bool {
    !text.iter().any(|&byte| is(byte, ESCAPE))
}

/// Index of the first byte from `index` that is `mark` or may need an escape (see [`ESCAPE`]); or
/// the end.
#[inline]
fn special(text: &[u8], mut index: usize, mark: u8) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHS: u64 = u64::from_le_bytes([0x80; 8]);
    let marks = ONES * u64::from(mark);
    // Eight bytes at a time. The lowest hit is exact: borrows can only add hits above it.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    while let Some(chunk) = text.get(index..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let hits = (word.wrapping_sub(ONES * 0x20) & !word)
            | zero(word ^ marks)
            | zero(word ^ (ONES * u64::from(b'"')))
            | zero(word ^ (ONES * u64::from(b'\\')))
            | zero(word ^ (ONES * 0x7f))
            | zero(word ^ (ONES * 0xef));
        let hits = hits & HIGHS;
        if hits != 0 {
            return index + (hits.trailing_zeros() / 8) as usize;
        }
        index += 8;
    }
    while let Some(&byte) = text.get(index) {
        if byte == mark || is(byte, ESCAPE) {
            break;
        }
        index += 1;
    }
    index
}

fn long_string(text: &[u8], start: usize, from: usize, mark: u8) -> Lexed<StringToken> {
    let first = start + 3;
    let mut index = from.max(first);
    loop {
        match memchr2(mark, b'\\', text.get(index..).unwrap_or_default()) {
            None => return Err(TokenError::need_more(text.len().max(index))),
            Some(length) => index += length,
        }
        if text[index] == b'\\' {
            if index + 1 >= text.len() {
                return Err(TokenError::need_more(index));
            }
            index += 2;
            continue;
        }
        match (text.get(index + 1), text.get(index + 2)) {
            (Some(&one), Some(&two)) if one == mark && two == mark => {
                let body = &text[first..index];
                let escaped = memchr(b'\\', body).is_some();
                return Ok(StringToken {
                    start: first,
                    stop: index,
                    end: index + 3,
                    escaped,
                    plain: !escaped && is_plain(body),
                    long: true,
                });
            }
            (Some(&one), None) if one == mark => return Err(TokenError::need_more(index)),
            (None, _) => return Err(TokenError::need_more(index)),
            _ => index += 1,
        }
    }
}

/// Appends a decoded string. `offset` is the index of `body` in the text.
pub(super) fn unescape_string(body: &[u8], offset: usize, out: &mut Vec<u8>) -> Lexed<()> {
    unescape(body, offset, out, |c| {
        Some(match c {
            b't' => b'\t',
            b'b' => 0x08,
            b'n' => b'\n',
            b'r' => b'\r',
            b'f' => 0x0c,
            b'"' | b'\'' | b'\\' => c,
            _ => return None,
        })
    })
}

/// Appends an IRI, with its numeric escapes decoded.
pub(super) fn unescape_iri(body: &[u8], offset: usize, out: &mut Vec<u8>) -> Lexed<()> {
    unescape(body, offset, out, |_| None)
}

fn unescape(
    body: &[u8],
    offset: usize,
    out: &mut Vec<u8>,
    simple: impl Fn(u8) -> Option<u8>,
) -> Lexed<()> {
    let mut rest = 0;
    while let Some(length) = memchr(b'\\', &body[rest..]) {
        let index = rest + length;
        out.extend_from_slice(&body[rest..index]);
        let kind = body.get(index + 1).copied().unwrap_or_default();
        let digits = match kind {
            b'u' => 4,
            b'U' => 8,
            _ => {
                let Some(byte) = simple(kind) else {
                    return Err(TokenError::malformed_error(
                        offset + index,
                        format!(
                            "unknown escape '\\{}; write a backslash as '\\\\'",
                            &quote_char(body, index + 1)[1..]
                        ),
                    ));
                };
                out.push(byte);
                rest = index + 2;
                continue;
            }
        };
        let code = body
            .get(index + 2..index + 2 + digits)
            .filter(|hex| hex.iter().all(|&byte| is(byte, HEX)))
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let Some(code) = code else {
            return Err(TokenError::malformed_error(
                offset + index,
                format!(
                    "expected {digits} hexadecimal digits after '\\{}'",
                    kind as char
                ),
            ));
        };
        let Some(c) = char::from_u32(code) else {
            return Err(TokenError::malformed_error(
                offset + index,
                format!(
                    "the escape '\\{}{code:0digits$X}' is not a character",
                    kind as char
                ),
            ));
        };
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        rest = index + 2 + digits;
    }
    out.extend_from_slice(&body[rest..]);
    Ok(())
}

/// A prefixed name.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameToken {
    /// Index of the colon.
    pub colon: usize,
    /// Index after the name.
    pub end: usize,
    /// Whether the local part contains backslashes.
    pub escaped: bool,
}

/// A token that begins with a letter or a colon.
#[derive(Clone, Copy, Debug)]
pub(super) enum Word {
    /// A prefixed name.
    Name(NameToken),
    /// A word without a colon, possibly a keyword, with the index after it.
    Bare(usize),
}

/// Whether a byte may continue a prefixed name, including its escapes.
#[inline]
pub(super) fn is_in_name(byte: u8) -> bool {
    is(byte, NAME) || matches!(byte, b'.' | b':' | b'%' | b'\\' | 0x80..)
}

/// Index after the dots at the end of a name or label. They would be part of it if another name
/// character followed, so they count towards the length of the token.
#[inline]
pub(super) fn lookahead_end(text: &[u8], mut end: usize) -> usize {
    while text.get(end) == Some(&b'.') {
        end += 1;
    }
    end
}

/// End of the run of ASCII [`NAME`] bytes at `index`.
#[inline]
fn skip_name(text: &[u8], mut index: usize) -> usize {
    while let Some(chunk) = text.get(index..).and_then(|rest| rest.first_chunk::<8>()) {
        let length = names_at_start(u64::from_le_bytes(*chunk));
        index += length;
        if length < 8 {
            return index;
        }
    }
    while index < text.len() && is(text[index], NAME) {
        index += 1;
    }
    index
}

/// Number of leading bytes, from the lowest, that are ASCII letters, digits, `_` or `-`.
#[inline]
fn names_at_start(word: u64) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHS: u64 = u64::from_le_bytes([0x80; 8]);
    // Seven bits per byte, so that the sums below do not carry into the next byte.
    let low = word & !HIGHS;
    let from = |bytes: u64, first: u8| bytes + ONES * u64::from(0x80 - first);
    let folded = low | (ONES * 0x20);
    let letters = from(folded, b'a') & !from(folded, b'z' + 1);
    let digits = from(low, b'0') & !from(low, b'9' + 1);
    let differ = |byte: u8| (low ^ (ONES * u64::from(byte))) + ONES * 0x7f;
    let marks = !(differ(b'_') & differ(b'-'));
    let names = (letters | digits | marks) & !word & HIGHS;
    ((names ^ HIGHS).trailing_zeros() / 8) as usize
}

/// Lexes the name or word at `start`. A word is never a keyword if a colon follows it.
#[inline]
pub(super) fn word(text: &[u8], start: usize, from: usize, eof: bool) -> Lexed<Word> {
    if from <= start {
        let colon = skip_name(text, start);
        if colon < text.len() && text[colon] == b':' && (colon == start || is(text[start], LETTER))
        {
            let end = skip_name(text, colon + 1);
            if end < text.len() && !is_in_name(text[end]) && text[colon + 1] != b'-' {
                return Ok(Word::Name(NameToken {
                    colon,
                    end,
                    escaped: false,
                }));
            }
        }
    }
    long_word(text, start, from, eof)
}

fn long_word(text: &[u8], start: usize, from: usize, eof: bool) -> Lexed<Word> {
    let index = run_end(text, from.max(start));
    if index >= text.len() && !eof {
        // A backslash at the end is read again with the byte after it.
        return Err(TokenError::need_more(text.len() - (index - text.len())));
    }
    let run = index.min(text.len());
    if let Some(length) = prefix_end(&text[start..run]) {
        return local_end(text, start + length, run).map(Word::Name);
    }
    let mut end = start;
    while end < run && (is(text[end], NAME) || text[end] >= 0x80) {
        end += 1;
    }
    Ok(Word::Bare(end))
}

/// Index after the bytes that may be in a name, from `index` on. It is one more than the length of
/// the text if the text ends with a backslash.
pub(super) fn run_end(text: &[u8], mut index: usize) -> usize {
    while let Some(&byte) = text.get(index) {
        if !is_in_name(byte) {
            break;
        }
        index += if byte == b'\\' { 2 } else { 1 };
    }
    index
}

/// Index of the colon after the prefix, if a run of name bytes begins with a prefix.
fn prefix_end(run: &[u8]) -> Option<usize> {
    let colon = memchr(b':', run)?;
    let prefix = std::str::from_utf8(&run[..colon]).ok()?;
    let first = prefix.chars().next().is_none_or(is_letter);
    let valid = first && !prefix.ends_with('.') && prefix.chars().all(|c| is_name(c) || c == '.');
    valid.then_some(colon)
}

/// Checks the local part of a name, whose bytes end at `run` or earlier.
fn local_end(text: &[u8], colon: usize, run: usize) -> Lexed<NameToken> {
    let mut name = NameToken {
        colon,
        end: colon + 1,
        escaped: false,
    };
    let mut index = colon + 1;
    while index < run {
        let byte = text[index];
        let next = match byte {
            b'.' if index == colon + 1 => break,
            b'.' => {
                // Part of the name only if another part follows.
                index += 1;
                continue;
            }
            b':' => index + 1,
            b'%' => {
                let digits = text.get(index + 1..index + 3).unwrap_or_default();
                if digits.len() < 2 || !digits.iter().all(|&byte| is(byte, HEX)) {
                    return Err(TokenError::malformed_error(
                        index,
                        "expected two hexadecimal digits after '%' in a name; write a bare '%' \
                         as '\\%'",
                    ));
                }
                index + 3
            }
            b'\\' => {
                let escaped = text.get(index + 1).copied().unwrap_or_default();
                if !b"_~.-!$&'()*+,;=/?#@%".contains(&escaped) {
                    return Err(TokenError::malformed_error(
                        index,
                        format!(
                            "the escape '\\{} is not allowed in a name; write the IRI in angle \
                             brackets",
                            &quote_char(text, index + 1)[1..]
                        ),
                    ));
                }
                name.escaped = true;
                index + 2
            }
            _ if byte < 0x80 => {
                if index == colon + 1 && byte == b'-' {
                    return Err(bad_name(text, index));
                }
                index + 1
            }
            _ => {
                let c = char_at(text, index);
                let valid = c.is_some_and(|c| {
                    if index == colon + 1 {
                        is_letter(c)
                    } else {
                        is_name(c)
                    }
                });
                if !valid {
                    return Err(bad_name(text, index));
                }
                index + c.map_or(1, char::len_utf8)
            }
        };
        index = next;
        name.end = next;
    }
    Ok(name)
}

#[cold]
fn bad_name(text: &[u8], index: usize) -> TokenError {
    TokenError::malformed_error(
        index,
        format!(
            "{} is not allowed here in a name; write the IRI in angle brackets",
            quote_char(text, index)
        ),
    )
}

fn char_at(text: &[u8], index: usize) -> Option<char> {
    let end = (index + 4).min(text.len());
    text[index..end]
        .utf8_chunks()
        .next()
        .and_then(|chunk| chunk.valid().chars().next())
}

/// Appends the local part of a name without its backslashes.
pub(super) fn unescape_local(local: &[u8], out: &mut Vec<u8>) {
    let mut rest = local;
    while let Some(index) = memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..index]);
        // The escaped character represents itself, even if it is a backslash.
        let Some(&byte) = rest.get(index + 1) else {
            return;
        };
        out.push(byte);
        rest = &rest[index + 2..];
    }
    out.extend_from_slice(rest);
}

/// End of the `BLANK_NODE_LABEL` at `start`.
pub(super) fn label_end(text: &[u8], start: usize, from: usize, eof: bool) -> Lexed<usize> {
    match text.get(start + 1) {
        Some(b':') => {}
        None if !eof => return Err(TokenError::need_more(start)),
        _ => {
            return Err(TokenError::malformed_error(
                start,
                "expected ':' after '_' in a blank node label",
            ));
        }
    }
    let first = start + 2;
    let mut index = skip_name(text, from.max(first));
    while index < text.len() && (is(text[index], NAME) || matches!(text[index], b'.' | 0x80..)) {
        index += 1;
    }
    if index >= text.len() && !eof {
        return Err(TokenError::need_more(index));
    }
    let mut end = index;
    while end > first && text[end - 1] == b'.' {
        end -= 1;
    }
    if end > first && text[first..end].is_ascii() && text[first] != b'-' && text[first] != b'.' {
        return Ok(end);
    }
    let mut index = first;
    while index < end {
        let Some(c) = char_at(text, index) else { break };
        let valid = if index == first {
            is_letter(c) || c == '_' || c.is_ascii_digit()
        } else {
            is_name(c) || c == '.'
        };
        if !valid {
            return Err(TokenError::malformed_error(
                index,
                format!(
                    "{} is not allowed here in a blank node label",
                    quote_char(text, index)
                ),
            ));
        }
        index += c.len_utf8();
    }
    if end == first {
        return Err(TokenError::malformed_error(
            start,
            "expected a label after '_:'",
        ));
    }
    Ok(end)
}

/// A language tag with its base direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct LanguageToken {
    /// Index after the tag, which begins after the `@`.
    pub tag_end: usize,
    /// Index after the token.
    pub end: usize,
    /// [`flags::LTR`], [`flags::RTL`] or none.
    pub direction: u8,
}

/// Lexes the `LANG_DIR` at `start`.
pub(super) fn language(text: &[u8], start: usize, from: usize, eof: bool) -> Lexed<LanguageToken> {
    let end = at_word_end(text, start, from, eof)?;
    if text.get(end) == Some(&b'_') {
        return Err(underscore_error(text, start, end, eof));
    }
    let body = &text[start + 1..end];
    let (tag, direction) = match memchr::memmem::find(body, b"--") {
        None => (body.len(), 0),
        Some(length) => match &body[length + 2..] {
            b"ltr" => (length, flags::LTR),
            b"rtl" => (length, flags::RTL),
            other => {
                return Err(TokenError::malformed_error(
                    start + 1 + length,
                    format!("expected 'ltr' or 'rtl' after '--', found {}", quote(other)),
                ));
            }
        },
    };
    if !crate::model::chars::is_language_tag(&body[..tag]) {
        return Err(TokenError::malformed_error(
            start,
            describe_invalid_language_tag(&body[..tag]),
        ));
    }
    Ok(LanguageToken {
        tag_end: start + 1 + tag,
        end,
        direction,
    })
}

/// Returns the error for a language tag followed by an underscore.
#[cold]
fn underscore_error(text: &[u8], start: usize, end: usize, eof: bool) -> TokenError {
    // Errors show fewer bytes than this.
    let near = &text[end..text.len().min(end + 64)];
    let more = near.iter().take_while(|&&byte| is(byte, NAME)).count();
    if more == near.len() && near.len() < 64 && !eof {
        return TokenError::need_more(end);
    }
    TokenError::malformed_error(
        start,
        describe_invalid_language_tag(&text[start + 1..end + more]),
    )
}

/// End of a word that begins with `@`.
pub(super) fn at_word_end(text: &[u8], start: usize, from: usize, eof: bool) -> Lexed<usize> {
    let mut index = from.max(start + 1);
    while index < text.len() && (is(text[index], LETTER | DIGIT) || text[index] == b'-') {
        index += 1;
    }
    if index >= text.len() && !eof {
        return Err(TokenError::need_more(index));
    }
    Ok(index)
}

/// Kind of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberKind {
    Integer,
    Decimal,
    Double,
}

/// Lexes the longest number at `start`. `phase` comes from an earlier [`TokenError::Need`].
pub(super) fn number(
    text: &[u8],
    start: usize,
    from: usize,
    phase: u8,
    eof: bool,
) -> Lexed<(NumberKind, usize)> {
    const FRACTION: u8 = 1;
    const EXPONENT: u8 = 2;
    let digits = start + usize::from(matches!(text[start], b'+' | b'-'));
    let mut index = from.max(digits);
    let mut kind =
        [NumberKind::Integer, NumberKind::Decimal, NumberKind::Double][usize::from(phase.min(2))];
    let mut phase = phase;
    loop {
        while index < text.len() && is(text[index], DIGIT) {
            index += 1;
        }
        let ahead = |by: usize| match text.get(index + by) {
            None if !eof => Err(TokenError::Need {
                scanned: index,
                phase,
            }),
            other => Ok(other.copied().unwrap_or(b' ')),
        };
        let next = ahead(0)?;
        let mut mantissa = index > digits;
        let mut exponent = index;
        if phase == 0 && next == b'.' {
            let after = ahead(1)?;
            if is(after, DIGIT) {
                (phase, kind) = (FRACTION, NumberKind::Decimal);
                index += 1;
                continue;
            }
            exponent = index + 1;
            mantissa = mantissa && matches!(after, b'e' | b'E');
        } else if !matches!(next, b'e' | b'E') {
            mantissa = false;
        }
        if phase < EXPONENT && mantissa {
            // An `e`, an optional sign and a digit; otherwise the number ends before them.
            let by = exponent - index + 1;
            let sign = ahead(by)?;
            let signed = usize::from(matches!(sign, b'+' | b'-'));
            if is(ahead(by + signed)?, DIGIT) {
                index += by + signed;
                (phase, kind) = (EXPONENT, NumberKind::Double);
                continue;
            }
        }
        if index == digits {
            return Err(TokenError::malformed_error(
                start,
                format!("expected digits after {}", quote_char(text, start)),
            ));
        }
        return Ok((kind, index));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn scanning_eight_bytes_at_a_time_finds_the_same_position() {
        for byte in 0..=255u8 {
            for position in 0..8 {
                let mut bytes = *b"aZ09_-zA";
                bytes[position] = byte;
                let expected = if is(byte, NAME) { 8 } else { position };
                assert_eq!(
                    names_at_start(u64::from_le_bytes(bytes)),
                    expected,
                    "{byte}"
                );
                bytes[7] = b'"';
                let special_at = if position == 7 || !(byte == b'\'' || is(byte, ESCAPE)) {
                    7
                } else {
                    position
                };
                assert_eq!(special(&bytes, 0, b'\''), special_at, "{byte}");
            }
        }
    }

    fn number_of(text: &str) -> (NumberKind, usize) {
        number(text.as_bytes(), 0, 0, 0, true).unwrap()
    }

    #[test]
    fn numbers_are_as_long_as_possible() {
        for (text, kind, length) in [
            ("1", NumberKind::Integer, 1),
            ("+1 ", NumberKind::Integer, 2),
            ("1.", NumberKind::Integer, 1),
            ("1.e", NumberKind::Integer, 1),
            ("1.e+", NumberKind::Integer, 1),
            ("1.e5", NumberKind::Double, 4),
            ("1.e-5x", NumberKind::Double, 5),
            ("1e", NumberKind::Integer, 1),
            ("1e:b", NumberKind::Integer, 1),
            ("1E0.5", NumberKind::Double, 3),
            ("-1.5.", NumberKind::Decimal, 4),
            (".5e", NumberKind::Decimal, 2),
            (".5e3", NumberKind::Double, 4),
            ("1.5e3.2", NumberKind::Double, 5),
            ("1.2.3", NumberKind::Decimal, 3),
        ] {
            assert_eq!(number_of(text), (kind, length), "{text}");
        }
        for text in ["+", "-.", "+e5", "-a"] {
            assert!(number(text.as_bytes(), 0, 0, 0, true).is_err(), "{text}");
        }
    }

    #[test]
    fn pieces_do_not_change_numbers() {
        for text in ["-12.50e+3 ", "1.e5,", "12.e ", ".5 ", "1e+ ", "12345)"] {
            let bytes = text.as_bytes();
            let (mut from, mut phase, mut end) = (0, 0, 1);
            let pieces = loop {
                match number(&bytes[..end], 0, from, phase, end == bytes.len()) {
                    Ok(actual) => break actual,
                    Err(TokenError::Need {
                        scanned,
                        phase: reached,
                    }) => (from, phase) = (scanned, reached),
                    Err(TokenError::Error(error)) => unreachable!("{error:?}"),
                }
                end += 1;
            };
            assert_eq!(pieces, number_of(text), "{text}");
        }
    }

    #[test]
    fn trailing_dots_are_not_part_of_names() {
        for (text, colon, end) in [
            ("ex:a ", 2, 4),
            ("ex:a.", 2, 4),
            ("ex:a.b..", 2, 6),
            ("ex:.a", 2, 3),
            (":", 0, 1),
            ("a.b:c", 3, 5),
            ("e:a\\.", 1, 5),
            ("e:%41:x;", 1, 7),
            ("MESSAGE:x ", 7, 9),
            ("é:é×", 2, 5),
        ] {
            match word(text.as_bytes(), 0, 0, true) {
                Ok(Word::Name(name)) => assert_eq!((name.colon, name.end), (colon, end), "{text}"),
                other => assert!(text.ends_with('×'), "{text}: {other:?}"),
            }
        }
        for (text, end) in [("true.", 4), ("a ", 1), ("true.:a", 4), ("MESSAGE", 7)] {
            assert!(
                matches!(word(text.as_bytes(), 0, 0, true), Ok(Word::Bare(index)) if index == end),
                "{text}"
            );
        }
        for text in ["ex:%4", "ex:\\n", "ex:-a", "ex:a\u{d7}"] {
            assert!(word(text.as_bytes(), 0, 0, true).is_err(), "{text}");
        }
    }
}

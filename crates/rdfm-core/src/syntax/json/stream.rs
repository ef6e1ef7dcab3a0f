//! Tokens of a JSON text (RFC 8259) that arrives in pieces.
//!
//! - In: valid UTF-8 text, to which new pieces are appended, and the position of the next token.
//! - Out: tokens, with keys distinguished from strings. Commas and colons are checked and skipped.
//! - Cost: one pass. A string that arrives in pieces is scanned only once. Memory is one byte per
//!   open object or array.
//! - Law: strict, like [`parse`](super::parse()). How the text is cut changes neither the tokens
//!   nor the error.

use memchr::memchr2;

use super::parse::escape;
use crate::model::error::{ErrorClass, format_count, quote};
use crate::model::remedy::Reason;
use crate::syntax::text::grammar::{GrammarError, Read};

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    /// A key of an object, without the colon that follows it.
    Key(QuotedRange),
    String(QuotedRange),
    Number,
    True,
    False,
    Null,
}

/// The position of a string in the text, without its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuotedRange {
    pub start: usize,
    pub end: usize,
    pub escaped: bool,
}

impl QuotedRange {
    /// Returns the decoded string: a slice of the text, or of `decoded` if it contains escapes.
    #[inline]
    pub fn text<'a>(&self, text: &'a [u8], decoded: &'a mut Vec<u8>) -> Read<&'a [u8]> {
        // The text after the string is ignored because it may be incomplete.
        let text = &text[..self.end];
        if !self.escaped {
            return Ok(&text[self.start..]);
        }
        decoded.clear();
        let mut from = self.start;
        while let Some(run) = memchr::memchr(b'\\', &text[from..]) {
            decoded.extend_from_slice(&text[from..from + run]);
            from = escape(text, from + run, decoded).map_err(|error| match error.class {
                ErrorClass::Truncated => {
                    malformed_error(from + run, "the string ends inside an escape")
                }
                class => Box::new(GrammarError {
                    index: error.position,
                    class,
                    reason: error.reason,
                }),
            })?;
        }
        decoded.extend_from_slice(&text[from..]);
        Ok(decoded)
    }
}

/// The tokens that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expects {
    Value,
    /// A value, or the end of an array.
    FirstElement,
    /// A key, or the end of an object.
    FirstKey,
    Key,
    Colon,
    /// A comma, or the end of the innermost object or array.
    Comma,
    /// Only white space.
    Nothing,
}

/// Tokenizer of one text.
#[derive(Clone, Debug)]
pub(crate) struct JsonTokenizer {
    expects: Expects,
    /// The open objects and arrays; true for objects.
    open: Vec<bool>,
    /// Number of bytes of an incomplete string that were scanned.
    scanned: usize,
    /// Whether the scanned bytes contain escapes.
    escaped: bool,
    max_depth: usize,
}

impl JsonTokenizer {
    /// Creates a tokenizer that limits the nesting of objects and arrays.
    pub fn new(max_depth: usize) -> Self {
        Self {
            expects: Expects::Value,
            open: Vec::new(),
            scanned: 0,
            escaped: false,
            max_depth,
        }
    }

    /// Number of open objects and arrays.
    #[inline]
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Returns whether the next member is the first one of its object, or `None` if something else
    /// comes next or the comma before the member was already read.
    #[inline]
    pub fn begins_member(&self) -> Option<bool> {
        match self.expects {
            Expects::FirstKey => Some(true),
            Expects::Comma => Some(false),
            _ => None,
        }
    }

    /// Continues after a member of the open object that was read without this tokenizer.
    #[inline]
    pub fn skip_member(&mut self) {
        self.expects = Expects::Comma;
        self.scanned = 0;
        self.escaped = false;
    }

    /// Whether the value has ended.
    #[cfg(test)]
    pub fn is_done(&self) -> bool {
        self.expects == Expects::Nothing
    }

    /// Returns the next token and the token's start, and sets `index` to the token's end. If the
    /// text ends before the token does, returns `None` and sets `index` to the token's start.
    #[inline]
    pub fn next(
        &mut self,
        text: &[u8],
        index: &mut usize,
        ended: bool,
    ) -> Read<Option<(Token, usize)>> {
        loop {
            let Some(&byte) = text.get(*index) else {
                return Ok(None);
            };
            if byte <= b' ' && matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                *index += 1;
                continue;
            }
            let start = *index;
            let token = match (self.expects, byte) {
                (Expects::Comma, b',') => {
                    let is_object = self.open.last() == Some(&true);
                    self.expects = if is_object {
                        Expects::Key
                    } else {
                        Expects::Value
                    };
                    *index += 1;
                    continue;
                }
                (Expects::Colon, b':') => {
                    self.expects = Expects::Value;
                    *index += 1;
                    continue;
                }
                (Expects::FirstKey | Expects::Key, b'"') => match self.read_string(text, start)? {
                    None => return Ok(None),
                    Some(quoted) => {
                        *index = quoted.end + 1;
                        self.expects = Expects::Colon;
                        Token::Key(quoted)
                    }
                },
                (Expects::FirstKey, b'}') => self.close(index, Token::ObjectEnd),
                (Expects::FirstElement, b']') => self.close(index, Token::ArrayEnd),
                (Expects::Comma, b'}') if self.open.last() == Some(&true) => {
                    self.close(index, Token::ObjectEnd)
                }
                (Expects::Comma, b']') if self.open.last() == Some(&false) => {
                    self.close(index, Token::ArrayEnd)
                }
                (Expects::Value | Expects::FirstElement, _) => {
                    match self.read_value(text, index, byte, ended)? {
                        None => return Ok(None),
                        Some(token) => token,
                    }
                }
                _ => return Err(self.unexpected_error(text, start)),
            };
            return Ok(Some((token, start)));
        }
    }

    #[inline]
    fn close(&mut self, index: &mut usize, token: Token) -> Token {
        *index += 1;
        self.open.pop();
        self.end_value();
        token
    }

    #[inline]
    fn end_value(&mut self) {
        self.expects = if self.open.is_empty() {
            Expects::Nothing
        } else {
            Expects::Comma
        };
    }

    #[inline]
    fn read_value(
        &mut self,
        text: &[u8],
        index: &mut usize,
        byte: u8,
        ended: bool,
    ) -> Read<Option<Token>> {
        let start = *index;
        match byte {
            b'"' => {
                let Some(quoted) = self.read_string(text, start)? else {
                    return Ok(None);
                };
                *index = quoted.end + 1;
                self.end_value();
                Ok(Some(Token::String(quoted)))
            }
            b'{' | b'[' => {
                if self.open.len() >= self.max_depth {
                    return Err(too_deep(start, self.max_depth));
                }
                *index += 1;
                let is_object = byte == b'{';
                self.open.push(is_object);
                let (expects, token) = if is_object {
                    (Expects::FirstKey, Token::ObjectStart)
                } else {
                    (Expects::FirstElement, Token::ArrayStart)
                };
                self.expects = expects;
                Ok(Some(token))
            }
            b'-' | b'0'..=b'9' | b'a'..=b'z' => {
                let end = start + word_length(&text[start..]);
                if end == text.len() && !ended {
                    return Ok(None);
                }
                let token = match &text[start..end] {
                    b"true" => Token::True,
                    b"false" => Token::False,
                    b"null" => Token::Null,
                    number if is_number(number) => Token::Number,
                    word => return Err(self.unexpected_word_error(start, word)),
                };
                *index = end;
                self.end_value();
                Ok(Some(token))
            }
            _ => Err(self.unexpected_error(text, start)),
        }
    }

    /// Number of bytes that were inspected before an error in the token at `index` was detected.
    #[cold]
    pub fn inspected_end(&self, text: &[u8], index: usize) -> usize {
        let rest = text.get(index..).unwrap_or_default();
        match (self.expects, rest.first()) {
            (Expects::Value | Expects::FirstElement, Some(b'-' | b'0'..=b'9' | b'a'..=b'z')) => {
                word_length(rest)
            }
            _ => 0,
        }
    }

    /// Scans the string whose opening quote is at `start`.
    #[inline]
    fn read_string(&mut self, text: &[u8], start: usize) -> Read<Option<QuotedRange>> {
        let from = start + self.scanned.max(1);
        let mut index = from;
        while let Some(special) = text
            .get(index..)
            .and_then(|rest| memchr2(b'"', b'\\', rest))
        {
            index += special;
            if text[index] == b'"' {
                let quoted = QuotedRange {
                    start: start + 1,
                    end: index,
                    escaped: self.escaped,
                };
                self.scanned = 0;
                self.escaped = false;
                let inner = &text[quoted.start..index];
                if inner.iter().fold(u8::MAX, |lowest, &byte| lowest.min(byte)) < 0x20 {
                    return Err(control(inner, quoted.start));
                }
                return Ok(Some(quoted));
            }
            if index + 1 >= text.len() {
                return self.wait_for_string_end(text, start, from, index);
            }
            self.escaped = true;
            index += 2;
        }
        self.wait_for_string_end(text, start, from, text.len().max(index))
    }

    /// Records how far an incomplete string was scanned. Errors in the scanned part are reported
    /// immediately, because the string may never end.
    fn wait_for_string_end(
        &mut self,
        text: &[u8],
        start: usize,
        from: usize,
        to: usize,
    ) -> Read<Option<QuotedRange>> {
        let new = text.get(from..to.min(text.len())).unwrap_or_default();
        if new.iter().any(|&byte| byte < 0x20) {
            return Err(control(new, from));
        }
        self.scanned = to - start;
        Ok(None)
    }

    /// Creates an error for an unexpected token. It quotes only one character, because the rest may
    /// not have arrived.
    #[cold]
    #[allow(clippy::unnecessary_box_returns, reason = "errors are rare and large")]
    fn unexpected_error(&self, text: &[u8], index: usize) -> Box<GrammarError> {
        let rest = text.get(index..).unwrap_or_default();
        let length = (1..rest.len().min(4))
            .find(|&length| rest[length] & 0xc0 != 0x80)
            .unwrap_or(rest.len().min(4));
        self.unexpected_word_error(index, &rest[..length])
    }

    #[cold]
    #[allow(clippy::unnecessary_box_returns, reason = "errors are rare and large")]
    fn unexpected_word_error(&self, index: usize, word: &[u8]) -> Box<GrammarError> {
        let expected = match self.expects {
            Expects::Value | Expects::FirstElement => "a JSON value",
            Expects::FirstKey | Expects::Key => "a key in double quotes",
            Expects::Colon => "':' after the key",
            Expects::Comma if self.open.last() == Some(&true) => "',' or '}'",
            Expects::Comma => "',' or ']'",
            Expects::Nothing => "the end of the JSON value",
        };
        malformed_error(index, format!("expected {expected}, found {}", quote(word)))
    }
}

#[cold]
#[allow(clippy::unnecessary_box_returns, reason = "errors are rare and large")]
fn malformed_error(index: usize, reason: impl Into<Reason>) -> Box<GrammarError> {
    Box::new(GrammarError {
        index,
        class: ErrorClass::Malformed,
        reason: reason.into(),
    })
}

#[cold]
#[allow(clippy::unnecessary_box_returns, reason = "errors are rare and large")]
fn too_deep(index: usize, max_depth: usize) -> Box<GrammarError> {
    let text = format!(
        "objects and arrays are nested deeper than {}",
        format_count(max_depth, "level")
    );
    Box::new(GrammarError {
        index,
        class: ErrorClass::Limit,
        reason: Reason::limit(text, "max_depth"),
    })
}

#[cold]
#[allow(clippy::unnecessary_box_returns, reason = "errors are rare and large")]
fn control(inner: &[u8], start: usize) -> Box<GrammarError> {
    let index = inner.iter().position(|&byte| byte < 0x20).unwrap_or(0);
    let byte = inner.get(index).copied().unwrap_or(0);
    malformed_error(
        start + index,
        format!(
            "the control character U+{byte:04X} is not allowed in a string; JSON requires an escape"
        ),
    )
}

/// Length of the number or word at the start of a text.
#[inline]
fn word_length(text: &[u8]) -> usize {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    text.iter().take_while(|byte| word(byte)).count()
}

fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let length = digits(text);
    if length == 0 || (length > 1 && text.starts_with(b"0")) {
        return false;
    }
    let mut rest = &text[length..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let sign = usize::from(matches!(exponent, [b'+' | b'-', ..]));
        let exponent = &exponent[sign..];
        let length = digits(exponent);
        if length == 0 {
            return false;
        }
        rest = &exponent[length..];
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use super::*;

    /// Returns the tokens of a text, with decoded strings, or the error and its position.
    fn tokens(text: &str, piece: usize) -> Result<Vec<String>, (usize, String)> {
        let bytes = text.as_bytes();
        let mut tokens = JsonTokenizer::new(8);
        let (mut index, mut fed, mut actual) = (0, 0, Vec::new());
        let mut decoded = Vec::new();
        loop {
            let ended = fed == bytes.len();
            match tokens.next(&bytes[..fed], &mut index, ended) {
                Ok(None) if ended => break,
                Ok(None) => fed = (fed + piece).min(bytes.len()),
                Ok(Some((token, start))) => {
                    let text = match token {
                        Token::Key(quoted) | Token::String(quoted) => {
                            let text = quoted.text(bytes, &mut decoded);
                            let text = text.map_err(|error| (error.index, String::new()))?;
                            String::from_utf8(text.to_vec()).unwrap()
                        }
                        _ => text[start..index].to_owned(),
                    };
                    actual.push(text);
                }
                Err(error) => return Err((error.index, error.reason.text().to_owned())),
            }
        }
        if index < bytes.len() || !tokens.is_done() {
            actual.push("…".to_owned());
        }
        Ok(actual)
    }

    #[test]
    fn tokens_do_not_depend_on_the_pieces() {
        let text = " {\"a\" : [1, -2.5e+3,true,\nfalse, null, [], {}], \"b\\\"\\u0041\\\\\": \"é\\ud83d\\ude00\"}\n";
        let expected = [
            "{", "a", "[", "1", "-2.5e+3", "true", "false", "null", "[", "]", "{", "}", "]",
            "b\"A\\", "é😀", "}",
        ];
        for piece in 1..text.len() {
            assert_eq!(tokens(text, piece).unwrap(), expected, "{piece}");
        }
    }

    #[test]
    fn errors_have_a_position() {
        for (text, index) in [
            ("{a}", 1),
            ("{\"a\" 1}", 5),
            ("{\"a\":}", 5),
            ("{\"a\":1,}", 7),
            ("[1,]", 3),
            ("[1 2]", 3),
            ("[1}", 2),
            ("01", 0),
            ("1.", 0),
            ("[tru]", 1),
            ("{} x", 3),
            ("\"a\nb\"", 2),
            ("[\"\\x\"]", 2),
            ("\"\\ud800\"", 1),
            ("[[[[[[[[[", 8),
            ("'a'", 0),
        ] {
            let error = tokens(text, text.len()).unwrap_err();
            assert_eq!(error.0, index, "{text} {error:?}");
            assert_eq!(tokens(text, 1).unwrap_err(), error, "{text}");
        }
    }

    #[test]
    fn truncated_tokens_are_not_returned() {
        for text in ["", "{", "\"a", "[1", "\"\\", "tru", "{\"a\":"] {
            for piece in [1, 9] {
                let actual = tokens(text, piece);
                let last = actual
                    .as_ref()
                    .ok()
                    .and_then(|actual| actual.last().cloned());
                assert!(
                    last.as_deref() == Some("…") || actual.is_err(),
                    "{text} {actual:?}"
                );
            }
        }
    }
}

//! Parses a JSON text (RFC 8259) into a tape.
//!
//! - In: UTF-8 bytes with one value, possibly surrounded by white space.
//! - Out: the tape, or the first error.
//! - Cost: linear, one pass; only strings with backslashes are decoded.
//! - Law: strict: no comments, no trailing commas, no lone surrogates, no control characters in
//!   strings.

use super::survey::Survey;
use super::tape::{Bounds, JsonKind, ParseError, Tape};
use crate::model::error::{ErrorClass, quote};
use crate::model::remedy::Reason;

/// Parses a JSON text with one value.
///
/// # Errors
/// If the text is not a single JSON value ([`ErrorClass::Truncated`] if it ends too early), or a
/// limit is exceeded.
pub fn parse(source: &[u8], tape: &mut Tape, bounds: &Bounds) -> Result<(), ParseError> {
    parse_surveyed(source, &Survey::of(source), tape, bounds)
}

/// Like [`parse`], for a text that has been surveyed.
pub(crate) fn parse_surveyed(
    source: &[u8],
    survey: &Survey,
    tape: &mut Tape,
    bounds: &Bounds,
) -> Result<(), ParseError> {
    tape.clear();
    // Most texts contain neither control characters nor backslashes, so strings end at the next
    // quote.
    let at = if survey.has_controls {
        value::<true, true>(source, 0, tape, bounds)?
    } else if survey.has_backslashes {
        value::<false, true>(source, 0, tape, bounds)?
    } else {
        value::<false, false>(source, 0, tape, bounds)?
    };
    let at = space(source, at);
    if at < source.len() {
        return Err(expected(source, at, "the end of the JSON value"));
    }
    Ok(())
}

/// Parses one value at a position and returns the position after it.
///
/// `CONTROLS` is true if the text may contain control characters, `ESCAPES` if it may contain
/// backslashes.
fn value<const CONTROLS: bool, const ESCAPES: bool>(
    source: &[u8],
    mut at: usize,
    tape: &mut Tape,
    bounds: &Bounds,
) -> Result<usize, ParseError> {
    loop {
        // A value begins here.
        at = space(source, at);
        match source.get(at) {
            Some(b'"') => {
                at = string::<CONTROLS, ESCAPES>(source, at, JsonKind::String, tape, bounds)?;
            }
            Some(b'{') => {
                tape.start(JsonKind::Object, at, bounds)?;
                at = space(source, at + 1);
                if source.get(at) != Some(&b'}') {
                    at = key::<CONTROLS, ESCAPES>(source, at, tape, bounds)?;
                    continue;
                }
            }
            Some(b'[') => {
                tape.start(JsonKind::Array, at, bounds)?;
                at = space(source, at + 1);
                if source.get(at) != Some(&b']') {
                    continue;
                }
            }
            Some(b'-' | b'0'..=b'9') => at = number(source, at, tape, bounds)?,
            Some(b't') => at = word(source, at, b"true", JsonKind::True, tape, bounds)?,
            Some(b'f') => at = word(source, at, b"false", JsonKind::False, tape, bounds)?,
            Some(b'n') => at = word(source, at, b"null", JsonKind::Null, tape, bounds)?,
            _ => return Err(expected(source, at, "a JSON value")),
        }
        // A value ends here, or an empty object or array is about to end.
        loop {
            let Some(kind) = tape.innermost() else {
                return Ok(at);
            };
            at = space(source, at);
            match (kind, source.get(at)) {
                (JsonKind::Object, Some(b',')) => {
                    at = key::<CONTROLS, ESCAPES>(source, space(source, at + 1), tape, bounds)?;
                    break;
                }
                (JsonKind::Array, Some(b',')) => {
                    at += 1;
                    break;
                }
                (JsonKind::Object, Some(b'}')) | (JsonKind::Array, Some(b']')) => {
                    at += 1;
                    tape.end(at, source, bounds)?;
                }
                (JsonKind::Object, _) => return Err(expected(source, at, "',' or '}'")),
                _ => return Err(expected(source, at, "',' or ']'")),
            }
        }
    }
}

/// Parses a key and its colon.
#[inline(always)]
#[allow(clippy::inline_always)] // called for each token
fn key<const CONTROLS: bool, const ESCAPES: bool>(
    source: &[u8],
    at: usize,
    tape: &mut Tape,
    bounds: &Bounds,
) -> Result<usize, ParseError> {
    if source.get(at) != Some(&b'"') {
        return Err(expected(source, at, "a key in double quotes"));
    }
    let at = space(
        source,
        string::<CONTROLS, ESCAPES>(source, at, JsonKind::Key, tape, bounds)?,
    );
    if source.get(at) != Some(&b':') {
        return Err(expected(source, at, "':' after the key"));
    }
    Ok(at + 1)
}

#[inline(always)]
#[allow(clippy::inline_always)] // called for each token
fn space(source: &[u8], mut at: usize) -> usize {
    if source.get(at).is_some_and(|&byte| byte > b' ') {
        return at;
    }
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = source.get(at) {
        at += 1;
    }
    at
}

/// Index of the first byte, from a position on, that cannot be in a plain string. Most strings are
/// short; for longer strings the compiler compares many bytes at once.
#[inline(always)]
#[allow(clippy::inline_always)] // called for each token
pub(super) fn plain_end<const CONTROLS: bool, const ESCAPES: bool>(
    source: &[u8],
    mut at: usize,
) -> usize {
    const LONG: usize = 16;
    let stops = |byte: u8| byte == b'"' || (ESCAPES && byte == b'\\') || (CONTROLS && byte < 0x20);
    let short = at + LONG;
    while let Some(chunk) = source.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let hit = stops_in::<CONTROLS, ESCAPES>(*chunk);
        if hit != 0 {
            return at + (hit.trailing_zeros() / 8) as usize;
        }
        at += 8;
        if at == short {
            while let Some(chunk) = source.get(at..).and_then(<[u8]>::first_chunk::<32>) {
                if chunk.iter().fold(false, |found, &byte| found | stops(byte)) {
                    break;
                }
                at += 32;
            }
        }
    }
    while source.get(at).is_some_and(|&byte| !stops(byte)) {
        at += 1;
    }
    at
}

/// Marks the bytes that end a plain string by setting their high bits. Only the first mark is
/// reliable.
#[inline(always)]
#[allow(clippy::inline_always)] // called for each token
fn stops_in<const CONTROLS: bool, const ESCAPES: bool>(bytes: [u8; 8]) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(bytes);
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let mut hit = zeros(word ^ (ONES * u64::from(b'"')));
    if ESCAPES {
        hit |= zeros(word ^ (ONES * u64::from(b'\\')));
    }
    if CONTROLS {
        hit |= word.wrapping_sub(ONES * 0x20) & !word;
    }
    hit & HIGH
}

/// Parses a string, starting at its opening quote.
#[inline(always)]
#[allow(clippy::inline_always)] // called for each token
fn string<const CONTROLS: bool, const ESCAPES: bool>(
    source: &[u8],
    quote: usize,
    kind: JsonKind,
    tape: &mut Tape,
    bounds: &Bounds,
) -> Result<usize, ParseError> {
    let start = quote + 1;
    let end = plain_end::<CONTROLS, ESCAPES>(source, start);
    if source.get(end) == Some(&b'"') {
        match kind {
            JsonKind::Key => tape.borrowed_key(quote, start..end, source, bounds)?,
            _ => tape.borrowed(kind, quote, start..end, bounds)?,
        }
        return Ok(end + 1);
    }
    escaped(source, quote, end, kind, tape, bounds)
}

/// Parses a string with escapes or errors, starting at byte `at`.
#[cold]
fn escaped(
    source: &[u8],
    quote: usize,
    mut at: usize,
    kind: JsonKind,
    tape: &mut Tape,
    bounds: &Bounds,
) -> Result<usize, ParseError> {
    let mut text = source.get(quote + 1..at).unwrap_or_default().to_vec();
    loop {
        match source.get(at) {
            Some(b'"') => {
                tape.owned(kind, quote, &text, bounds)?;
                return Ok(at + 1);
            }
            Some(b'\\') => at = escape(source, at, &mut text)?,
            Some(byte) => {
                return Err(malformed(
                    at,
                    format!(
                        "the control character U+{byte:04X} is not allowed in a string; JSON \
                         requires an escape"
                    ),
                ));
            }
            None => return Err(truncated(source, "inside a string")),
        }
        let end = plain_end::<true, true>(source, at);
        text.extend_from_slice(source.get(at..end).unwrap_or_default());
        at = end;
    }
}

/// Decodes an escape, starting at its backslash.
pub(super) fn escape(source: &[u8], at: usize, text: &mut Vec<u8>) -> Result<usize, ParseError> {
    let simple = match source.get(at + 1) {
        Some(&byte @ (b'"' | b'\\' | b'/')) => byte,
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'u') => {
            let mut code = hex(source, at)?;
            let mut end = at + 6;
            if (0xd800..0xdc00).contains(&code)
                && source
                    .get(end..)
                    .is_some_and(|rest| rest.starts_with(b"\\u"))
            {
                let low = hex(source, end)?;
                if (0xdc00..0xe000).contains(&low) {
                    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                    end += 6;
                }
            }
            let Some(c) = char::from_u32(code) else {
                return Err(malformed(
                    at,
                    format!("the escape \\u{code:04X} is half of a surrogate pair"),
                ));
            };
            text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            return Ok(end);
        }
        Some(_) => {
            let found = source.get(at..at + 2).unwrap_or_default();
            return Err(malformed(
                at,
                format!("{} is not a JSON escape", quote(found)),
            ));
        }
        None => return Err(truncated(source, "inside a string")),
    };
    text.push(simple);
    Ok(at + 2)
}

/// Decodes the digits of a `\uXXXX` escape.
fn hex(source: &[u8], at: usize) -> Result<u32, ParseError> {
    let Some(digits) = source.get(at + 2..at + 6) else {
        return Err(truncated(source, "inside an escape"));
    };
    let number = digits.iter().try_fold(0, |sum, &digit| {
        Some(sum * 16 + (digit as char).to_digit(16)?)
    });
    number.ok_or_else(|| {
        malformed(
            at,
            "\\u is not followed by four hexadecimal digits".to_owned(),
        )
    })
}

fn number(
    source: &[u8],
    start: usize,
    tape: &mut Tape,
    bounds: &Bounds,
) -> Result<usize, ParseError> {
    let end = number_end(source, start)?;
    tape.borrowed(JsonKind::Number, start, start..end, bounds)?;
    Ok(end)
}

/// Returns the end of a number.
pub(super) fn number_end(source: &[u8], start: usize) -> Result<usize, ParseError> {
    let digits = |mut at: usize| {
        while source.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let some_digits = |at: usize| {
        let end = digits(at);
        if end == at {
            return Err(expected(source, at, "a digit"));
        }
        Ok(end)
    };
    let mut at = start + usize::from(source.get(start) == Some(&b'-'));
    if source.get(at) == Some(&b'0') {
        at += 1;
        if source.get(at).is_some_and(u8::is_ascii_digit) {
            return Err(malformed(start, "a number has a leading zero".to_owned()));
        }
    } else {
        at = some_digits(at)?;
    }
    if source.get(at) == Some(&b'.') {
        at = some_digits(at + 1)?;
    }
    if let Some(b'e' | b'E') = source.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = source.get(at) {
            at += 1;
        }
        at = some_digits(at)?;
    }
    Ok(at)
}

fn word(
    source: &[u8],
    at: usize,
    word: &[u8],
    kind: JsonKind,
    tape: &mut Tape,
    bounds: &Bounds,
) -> Result<usize, ParseError> {
    let rest = source.get(at..).unwrap_or_default();
    if rest.starts_with(word) {
        tape.scalar(kind, at, bounds)?;
        return Ok(at + word.len());
    }
    if word.starts_with(rest) {
        return Err(truncated(source, "inside true, false or null"));
    }
    Err(expected(source, at, "a JSON value"))
}

#[cold]
fn malformed(at: usize, reason: impl Into<Reason>) -> ParseError {
    ParseError {
        at,
        class: ErrorClass::Malformed,
        reason: reason.into(),
    }
}

#[cold]
fn truncated(source: &[u8], place: &str) -> ParseError {
    ParseError {
        at: source.len(),
        class: ErrorClass::Truncated,
        reason: format!("the JSON text ends {place}").into(),
    }
}

#[cold]
fn expected(source: &[u8], at: usize, what: &str) -> ParseError {
    let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) else {
        return ParseError {
            at: source.len(),
            class: ErrorClass::Truncated,
            reason: format!("expected {what}, but the JSON text ends").into(),
        };
    };
    let end = rest
        .iter()
        .position(|byte| b" \t\r\n,]}".contains(byte))
        .unwrap_or(rest.len())
        .max(1);
    let token = rest.get(..end).unwrap_or_default();
    malformed(at, format!("expected {what}, found {}", quote(token)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::model::remedy::Remedy;
    use crate::syntax::json::{View, write};

    const BOUNDS: Bounds = Bounds {
        max_depth: 64,
        max_bytes: 1 << 20,
        max_repeated: 1 << 20,
        duplicates: false,
    };

    fn round_trip(text: &str) -> Result<String, ParseError> {
        let mut tape = Tape::new();
        parse(text.as_bytes(), &mut tape, &BOUNDS)?;
        let view = View {
            tape: &tape,
            source: text.as_bytes(),
        };
        let mut out = Vec::new();
        write::write(&view, 0, &mut out);
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn valid_texts_have_the_same_values_as_in_serde_json() {
        for text in [
            "{}",
            "[]",
            " [ ] ",
            "null",
            "true",
            "\"\"",
            "0",
            "-0.5e+10",
            r#"{"a": [1, 2.50, {"b": null}, []], "": "x\ny", "é": "\ud83d\udC22\/\u00e9\b\f"}"#,
            r#"[[[["deep"]]], {"a":{"b":{"c":{}}}}, "01234567\"890123456789", false]"#,
            "[\"\u{7f}\u{80}\u{2028}\"]",
        ] {
            let ours: serde_json::Value = serde_json::from_str(&round_trip(text).unwrap()).unwrap();
            assert_eq!(
                ours,
                serde_json::from_str::<serde_json::Value>(text).unwrap(),
                "{text}"
            );
        }
    }

    #[test]
    fn texts_that_serde_json_rejects_are_invalid() {
        for text in [
            "",
            " ",
            "{",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1,}",
            "{,}",
            "{a:1}",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "tru",
            "trueish",
            "nul",
            "\"",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\ud800\"",
            "\"\\udc00\"",
            "\"\\ud800\\u0041\"",
            "\"a\nb\"",
            "[1 2]",
            "{} {}",
            "[}",
            "{]",
            "'a'",
            "NaN",
            "\u{feff}{}",
            "[1]]",
            "{\"a\" 1}",
            "\"\t\"",
            "// x\n1",
        ] {
            assert!(
                serde_json::from_str::<serde_json::Value>(text).is_err(),
                "{text}"
            );
            let error = round_trip(text).unwrap_err();
            assert!(error.at <= text.len(), "{text}");
        }
    }

    #[test]
    fn only_partial_texts_are_truncated() {
        let text = r#"{"a": [true, -1.5e3, "x\u00e9\"y"], "b": null}"#;
        for end in 0..text.len() {
            assert_eq!(
                round_trip(&text[..end]).unwrap_err().class,
                ErrorClass::Truncated,
                "{end}"
            );
        }
        assert_eq!(round_trip("{]").unwrap_err().class, ErrorClass::Malformed);
    }

    #[test]
    fn errors_contain_position_and_token() {
        let error = round_trip(r#"{"a": 1 "b"}"#).unwrap_err();
        assert_eq!(
            (error.at, error.reason.text()),
            (8, "expected ',' or '}', found '\"b\"'")
        );
        let error = round_trip(r#"{"a": 1, "b": 2, "\u0061": 3}"#).unwrap_err();
        assert_eq!(error.at, 17);
        assert!(
            error.reason.text().contains("'a' occurs twice"),
            "{}",
            error.reason
        );
    }

    #[test]
    fn a_duplicate_among_many_keys_is_found() {
        let keys = |count: usize| {
            let keys: Vec<String> = (0..count).map(|n| format!("\"k{n}\": {n}")).collect();
            keys.join(", ")
        };
        assert!(round_trip(&format!("{{{}}}", keys(500))).is_ok());
        let text = format!("{{{}, \"k7\": 0}}", keys(500));
        let error = round_trip(&text).unwrap_err();
        assert_eq!(error.at, text.rfind("\"k7\"").unwrap());
    }

    #[test]
    fn depth_and_size_are_checked_before_allocation() {
        let error = round_trip(&"[".repeat(65)).unwrap_err();
        assert_eq!((error.at, error.class), (64, ErrorClass::Limit));
        assert!(round_trip(&format!("{}{}", "[".repeat(64), "]".repeat(64))).is_ok());
        let error = round_trip(&format!("[{}1]", "1,".repeat(1 << 20))).unwrap_err();
        assert_eq!(error.class, ErrorClass::Limit);
        assert_eq!(
            error.reason.remedies(),
            [Remedy::limit("max_message_bytes")]
        );
    }
}

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
    parse_surveyed(source, &Survey::new(source), tape, bounds)
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
    let index = if survey.has_controls {
        parse_value::<true, true>(source, 0, tape, bounds)?
    } else if survey.has_backslashes {
        parse_value::<false, true>(source, 0, tape, bounds)?
    } else {
        parse_value::<false, false>(source, 0, tape, bounds)?
    };
    let index = space(source, index);
    if index < source.len() {
        return Err(expected_error(source, index, "the end of the JSON value"));
    }
    Ok(())
}

/// Parses one value at a position and returns the position after it.
///
/// `CONTROLS` is true if the text may contain control characters, `ESCAPES` if it may contain
/// backslashes.
fn parse_value<const CONTROLS: bool, const ESCAPES: bool>(
    source: &[u8],
    mut index: usize,
    tape: &mut Tape,
    bounds: &Bounds,
) -> Result<usize, ParseError> {
    loop {
        // A value begins here.
        index = space(source, index);
        match source.get(index) {
            Some(b'"') => {
                index = parse_string::<CONTROLS, ESCAPES>(
                    source,
                    index,
                    JsonKind::String,
                    tape,
                    bounds,
                )?;
            }
            Some(b'{') => {
                tape.start(JsonKind::Object, index, bounds)?;
                index = space(source, index + 1);
                if source.get(index) != Some(&b'}') {
                    index = parse_key::<CONTROLS, ESCAPES>(source, index, tape, bounds)?;
                    continue;
                }
            }
            Some(b'[') => {
                tape.start(JsonKind::Array, index, bounds)?;
                index = space(source, index + 1);
                if source.get(index) != Some(&b']') {
                    continue;
                }
            }
            Some(b'-' | b'0'..=b'9') => index = parse_number(source, index, tape, bounds)?,
            Some(b't') => index = parse_word(source, index, b"true", JsonKind::True, tape, bounds)?,
            Some(b'f') => {
                index = parse_word(source, index, b"false", JsonKind::False, tape, bounds)?;
            }
            Some(b'n') => index = parse_word(source, index, b"null", JsonKind::Null, tape, bounds)?,
            _ => return Err(expected_error(source, index, "a JSON value")),
        }
        // A value ends here, or an empty object or array is about to end.
        loop {
            let Some(kind) = tape.innermost() else {
                return Ok(index);
            };
            index = space(source, index);
            match (kind, source.get(index)) {
                (JsonKind::Object, Some(b',')) => {
                    index = parse_key::<CONTROLS, ESCAPES>(
                        source,
                        space(source, index + 1),
                        tape,
                        bounds,
                    )?;
                    break;
                }
                (JsonKind::Array, Some(b',')) => {
                    index += 1;
                    break;
                }
                (JsonKind::Object, Some(b'}')) | (JsonKind::Array, Some(b']')) => {
                    index += 1;
                    tape.end(index, source, bounds)?;
                }
                (JsonKind::Object, _) => return Err(expected_error(source, index, "',' or '}'")),
                _ => return Err(expected_error(source, index, "',' or ']'")),
            }
        }
    }
}

/// Parses a key and its colon.
#[inline(always)]
#[allow(clippy::inline_always)] // called for each token
fn parse_key<const CONTROLS: bool, const ESCAPES: bool>(
    source: &[u8],
    index: usize,
    tape: &mut Tape,
    bounds: &Bounds,
) -> Result<usize, ParseError> {
    if source.get(index) != Some(&b'"') {
        return Err(expected_error(source, index, "a key in double quotes"));
    }
    let index = space(
        source,
        parse_string::<CONTROLS, ESCAPES>(source, index, JsonKind::Key, tape, bounds)?,
    );
    if source.get(index) != Some(&b':') {
        return Err(expected_error(source, index, "':' after the key"));
    }
    Ok(index + 1)
}

#[inline(always)]
#[allow(clippy::inline_always)] // called for each token
pub(crate) fn space(source: &[u8], mut index: usize) -> usize {
    if source.get(index).is_some_and(|&byte| byte > b' ') {
        return index;
    }
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = source.get(index) {
        index += 1;
    }
    index
}

/// Index of the first byte, from a position on, that cannot be in a plain string. Most strings are
/// short; for longer strings the compiler compares many bytes at once.
#[inline(always)]
#[allow(clippy::inline_always)] // called for each token
pub(crate) fn plain_end<const CONTROLS: bool, const ESCAPES: bool>(
    source: &[u8],
    mut index: usize,
) -> usize {
    const LONG: usize = 16;
    // Without lazy operators, the compiler emits one vector comparison per condition.
    let stops = |byte: u8| {
        u8::from(byte == b'"')
            | u8::from(ESCAPES) & u8::from(byte == b'\\')
            | u8::from(CONTROLS) & u8::from(byte < 0x20)
    };
    let short = index + LONG;
    while let Some(chunk) = source.get(index..).and_then(<[u8]>::first_chunk::<8>) {
        let hit = stops_in::<CONTROLS, ESCAPES>(*chunk);
        if hit != 0 {
            return index + (hit.trailing_zeros() / 8) as usize;
        }
        index += 8;
        if index == short {
            while let Some(chunk) = source.get(index..).and_then(<[u8]>::first_chunk::<32>) {
                if chunk.iter().fold(0, |any, &byte| any | stops(byte)) != 0 {
                    break;
                }
                index += 32;
            }
        }
    }
    while source.get(index).is_some_and(|&byte| stops(byte) == 0) {
        index += 1;
    }
    index
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
fn parse_string<const CONTROLS: bool, const ESCAPES: bool>(
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
            JsonKind::Key => tape.push_borrowed_key(quote, start..end, source, bounds)?,
            _ => tape.push_borrowed(kind, quote, start..end, bounds)?,
        }
        return Ok(end + 1);
    }
    parse_escaped_string(source, quote, end, kind, tape, bounds)
}

/// Parses a string with escapes or errors, starting at byte `index`.
#[cold]
fn parse_escaped_string(
    source: &[u8],
    quote: usize,
    mut index: usize,
    kind: JsonKind,
    tape: &mut Tape,
    bounds: &Bounds,
) -> Result<usize, ParseError> {
    let mut text = source.get(quote + 1..index).unwrap_or_default().to_vec();
    loop {
        match source.get(index) {
            Some(b'"') => {
                tape.push_owned(kind, quote, &text, bounds)?;
                return Ok(index + 1);
            }
            Some(b'\\') => index = escape(source, index, &mut text)?,
            Some(byte) => {
                return Err(malformed_error(
                    index,
                    format!(
                        "the control character U+{byte:04X} is not allowed in a string; JSON \
                         requires an escape"
                    ),
                ));
            }
            None => return Err(truncated_error(source, "inside a string")),
        }
        let end = plain_end::<true, true>(source, index);
        text.extend_from_slice(source.get(index..end).unwrap_or_default());
        index = end;
    }
}

/// Decodes an escape, starting at its backslash.
pub(super) fn escape(source: &[u8], index: usize, text: &mut Vec<u8>) -> Result<usize, ParseError> {
    let simple = match source.get(index + 1) {
        Some(&byte @ (b'"' | b'\\' | b'/')) => byte,
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'u') => {
            let mut code = parse_hex(source, index)?;
            let mut end = index + 6;
            if (0xd800..0xdc00).contains(&code)
                && source
                    .get(end..)
                    .is_some_and(|rest| rest.starts_with(b"\\u"))
            {
                let low = parse_hex(source, end)?;
                if (0xdc00..0xe000).contains(&low) {
                    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                    end += 6;
                }
            }
            let Some(c) = char::from_u32(code) else {
                return Err(malformed_error(
                    index,
                    format!("the escape \\u{code:04X} is half of a surrogate pair"),
                ));
            };
            text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            return Ok(end);
        }
        Some(_) => {
            let escape = source.get(index..index + 2).unwrap_or_default();
            return Err(malformed_error(
                index,
                format!("{} is not a JSON escape", quote(escape)),
            ));
        }
        None => return Err(truncated_error(source, "inside a string")),
    };
    text.push(simple);
    Ok(index + 2)
}

/// Decodes the digits of a `\uXXXX` escape.
fn parse_hex(source: &[u8], index: usize) -> Result<u32, ParseError> {
    let Some(digits) = source.get(index + 2..index + 6) else {
        return Err(truncated_error(source, "inside an escape"));
    };
    let number = digits.iter().try_fold(0, |sum, &digit| {
        Some(sum * 16 + (digit as char).to_digit(16)?)
    });
    number.ok_or_else(|| {
        malformed_error(
            index,
            "\\u is not followed by four hexadecimal digits".to_owned(),
        )
    })
}

fn parse_number(
    source: &[u8],
    start: usize,
    tape: &mut Tape,
    bounds: &Bounds,
) -> Result<usize, ParseError> {
    let end = find_number_end(source, start)?;
    tape.push_borrowed(JsonKind::Number, start, start..end, bounds)?;
    Ok(end)
}

/// Returns the end of a number.
pub(super) fn find_number_end(source: &[u8], start: usize) -> Result<usize, ParseError> {
    let digits = |mut index: usize| {
        while source.get(index).is_some_and(u8::is_ascii_digit) {
            index += 1;
        }
        index
    };
    let some_digits = |index: usize| {
        let end = digits(index);
        if end == index {
            return Err(expected_error(source, index, "a digit"));
        }
        Ok(end)
    };
    let mut index = start + usize::from(source.get(start) == Some(&b'-'));
    if source.get(index) == Some(&b'0') {
        index += 1;
        if source.get(index).is_some_and(u8::is_ascii_digit) {
            return Err(malformed_error(
                start,
                "a number has a leading zero".to_owned(),
            ));
        }
    } else {
        index = some_digits(index)?;
    }
    if source.get(index) == Some(&b'.') {
        index = some_digits(index + 1)?;
    }
    if let Some(b'e' | b'E') = source.get(index) {
        index += 1;
        if let Some(b'+' | b'-') = source.get(index) {
            index += 1;
        }
        index = some_digits(index)?;
    }
    Ok(index)
}

fn parse_word(
    source: &[u8],
    index: usize,
    word: &[u8],
    kind: JsonKind,
    tape: &mut Tape,
    bounds: &Bounds,
) -> Result<usize, ParseError> {
    let rest = source.get(index..).unwrap_or_default();
    if rest.starts_with(word) {
        tape.push_scalar(kind, index, bounds)?;
        return Ok(index + word.len());
    }
    if word.starts_with(rest) {
        return Err(truncated_error(source, "inside true, false or null"));
    }
    Err(expected_error(source, index, "a JSON value"))
}

#[cold]
fn malformed_error(index: usize, reason: impl Into<Reason>) -> ParseError {
    ParseError {
        position: index,
        class: ErrorClass::Malformed,
        reason: reason.into(),
    }
}

#[cold]
fn truncated_error(source: &[u8], location: &str) -> ParseError {
    ParseError {
        position: source.len(),
        class: ErrorClass::Truncated,
        reason: format!("the JSON text ends {location}").into(),
    }
}

#[cold]
fn expected_error(source: &[u8], index: usize, expected: &str) -> ParseError {
    let Some(rest) = source.get(index..).filter(|rest| !rest.is_empty()) else {
        return ParseError {
            position: source.len(),
            class: ErrorClass::Truncated,
            reason: format!("expected {expected}, but the JSON text ends").into(),
        };
    };
    let end = rest
        .iter()
        .position(|byte| b" \t\r\n,]}".contains(byte))
        .unwrap_or(rest.len())
        .max(1);
    let token = rest.get(..end).unwrap_or_default();
    malformed_error(
        index,
        format!("expected {expected}, found {}", quote(token)),
    )
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
            assert!(error.position <= text.len(), "{text}");
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
            (error.position, error.reason.text()),
            (8, "expected ',' or '}', found '\"b\"'")
        );
        let error = round_trip(r#"{"a": 1, "b": 2, "\u0061": 3}"#).unwrap_err();
        assert_eq!(error.position, 17);
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
        assert_eq!(error.position, text.rfind("\"k7\"").unwrap());
    }

    #[test]
    fn depth_and_size_are_checked_before_allocation() {
        let error = round_trip(&"[".repeat(65)).unwrap_err();
        assert_eq!((error.position, error.class), (64, ErrorClass::Limit));
        assert!(round_trip(&format!("{}{}", "[".repeat(64), "]".repeat(64))).is_ok());
        let error = round_trip(&format!("[{}1]", "1,".repeat(1 << 20))).unwrap_err();
        assert_eq!(error.class, ErrorClass::Limit);
        assert_eq!(
            error.reason.remedies(),
            [Remedy::limit("max_message_bytes")]
        );
    }
}

//! Codec errors: their class, cause and position.
//!
//! Error texts say what was found and what was expected. Options that would help are separate: see
//! [`super::remedy`]. [`quote`] truncates tokens of the input to 40 characters and escapes
//! control characters.

use std::fmt::{self, Write as _};

use super::remedy::{Feature, Reason};

/// The class of an error. Callers use it to decide how to react.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The input violates the format.
    Malformed,
    /// The input ends inside a message.
    Truncated,
    /// A limit was exceeded; a remedy names its option.
    Limit,
    /// Valid, but needs a feature that this codec lacks or that is switched off.
    Unsupported,
    /// A caught bug in this crate.
    Internal,
}

/// Position of an error in the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Offset in the decompressed log, from 0; `None` if the input is not a log of bytes.
    pub byte_offset: Option<u64>,
    /// Index of the message in the log, from 0; `None` in a split if the messages before it were
    /// not counted.
    pub message_index: Option<u64>,
    /// Line and column, from 1, for formats with lines, except in splits. Columns count characters.
    pub line_column: Option<(u64, u64)>,
    /// Frame and row, from 0, for formats with frames.
    pub frame_row: Option<(u64, u64)>,
}

/// A decoding error. It is delivered after all messages completed before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Name of the format, such as `nq`.
    pub format: &'static str,
    /// The error class.
    pub class: ErrorClass,
    /// The cause, the expected input and the remedies, without the position.
    pub reason: Reason,
    /// The position.
    pub position: Position,
}

impl DecodeError {
    /// Whether the error may be a consequence of a message that was skipped before it.
    pub fn may_follow_from_skipping(&self) -> bool {
        self.reason.may_follow_from_skipping()
    }
}

impl fmt::Display for DecodeError {
    /// For example `nq: expected '.' after the object, found '<http://ex/…' (line 3, column 41,
    /// byte 127, message 1)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.position.line_column.unzip();
        let (frame, row) = self.position.frame_row.unzip();
        let known: Vec<String> = [
            ("line", line),
            ("column", column),
            ("frame", frame),
            ("row", row),
            ("byte", self.position.byte_offset),
            ("message", self.position.message_index),
        ]
        .iter()
        .filter_map(|(name, value)| Some(format!("{name} {}", (*value)?)))
        .collect();
        write!(f, "{}: {}", self.format, self.reason)?;
        if known.is_empty() {
            return Ok(());
        }
        write!(f, " ({})", known.join(", "))
    }
}

impl std::error::Error for DecodeError {}

/// An encoding error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// Name of the target format.
    pub format: &'static str,
    /// The error class.
    pub class: ErrorClass,
    /// The content that cannot be written, and remedies.
    pub reason: Reason,
    /// Index of the message in the log, from 0.
    pub message_index: u64,
}

impl EncodeError {
    /// The feature that the format lacks.
    pub fn missing_feature(&self) -> Option<Feature> {
        self.reason.missing_feature()
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} (message {})",
            self.format, self.reason, self.message_index
        )
    }
}

impl std::error::Error for EncodeError {}

/// A limit of [`crate::model::limits::Limits`] was exceeded while a batch was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitExceeded(pub Reason);

/// Formats a number with a noun, such as `1 level` and `2 levels`.
pub fn format_count(number: usize, name: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {name}{plural}")
}

/// Quotes a token of the input safely: truncated to 40 characters, with control characters escaped.
pub fn quote(token: &[u8]) -> String {
    quote_up_to(token, 40)
}

/// Like [`quote`], truncated to so many characters.
pub fn quote_up_to(token: &[u8], max: usize) -> String {
    // A character has at most four bytes. One more character shows that the token was truncated.
    let text = String::from_utf8_lossy(&token[..token.len().min(4 * max + 40)]);
    let mut out = String::from("'");
    for (count, c) in text.chars().enumerate() {
        if count == max {
            out.push('…');
            break;
        }
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_use_the_plural_except_for_one() {
        let actual = [0, 1, 2].map(|number| format_count(number, "level"));
        assert_eq!(actual, ["0 levels", "1 level", "2 levels"]);
    }

    #[test]
    fn a_quoted_token_is_truncated_and_escaped() {
        assert_eq!(quote(b"a\n\x1b[31m"), "'a\\n\\u001B[31m'");
        assert_eq!(
            quote("é".repeat(41).as_bytes()),
            format!("'{}…'", "é".repeat(40))
        );
        assert_eq!(quote(&[b'x'; 40]), format!("'{}'", "x".repeat(40)));
        assert_eq!(quote(b"\xff"), "'\u{fffd}'");
    }

    #[test]
    fn an_error_contains_its_position() {
        let error = DecodeError {
            format: "nq",
            class: ErrorClass::Malformed,
            reason: "expected '.'".into(),
            position: Position {
                byte_offset: Some(127),
                message_index: Some(1),
                line_column: Some((3, 41)),
                frame_row: None,
            },
        };
        assert_eq!(
            error.to_string(),
            "nq: expected '.' (line 3, column 41, byte 127, message 1)"
        );
    }
}

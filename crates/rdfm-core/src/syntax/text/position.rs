//! Lines and columns of a text log, without storing its text.
//!
//! - In: the bytes that a reader has consumed, in order ([`LinePosition::advance`]).
//! - Out: line and column of a byte, on demand for errors ([`LinePosition::position`]).
//! - Cost: one scan for line breaks per consumed byte. Columns are counted only for errors.
//! - Law: LF, CRLF and a lone CR end a line. A column counts characters, from 1.

use crate::codec::input::ReadError;
use crate::model::error::{ErrorClass, Position};
use crate::model::remedy::Reason;

/// Position of the first byte that has not been consumed.
#[derive(Clone, Debug)]
pub struct LinePosition {
    offset: u64,
    line: u64,
    /// Number of consumed characters of the current line.
    characters: u64,
    /// Whether the last consumed byte is a CR. A following LF belongs to the same line end.
    after_cr: bool,
}

impl Default for LinePosition {
    fn default() -> Self {
        Self {
            offset: 0,
            line: 1,
            characters: 0,
            after_cr: false,
        }
    }
}

impl LinePosition {
    /// Creates a position at an offset in the log. Lines are counted from that offset, because its
    /// line is unknown.
    pub fn at(offset: u64) -> Self {
        Self {
            offset,
            ..Self::default()
        }
    }

    /// Offset in the log of the first byte that has not been consumed.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Line of the first byte that has not been consumed, from 1.
    #[inline]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Consumes bytes.
    pub fn advance(&mut self, mut text: &[u8]) {
        self.offset += text.len() as u64;
        if self.after_cr && !text.is_empty() {
            self.after_cr = false;
            text = text.strip_prefix(b"\n").unwrap_or(text);
        }
        let mut line_start = None;
        for end in memchr::memchr2_iter(b'\n', b'\r', text) {
            if text[end] == b'\n' && end > 0 && text[end - 1] == b'\r' {
                // Already counted with its CR.
            } else {
                self.line += 1;
            }
            line_start = Some(end + 1);
        }
        if let Some(start) = line_start {
            self.characters = 0;
            self.after_cr = start == text.len() && text[start - 1] == b'\r';
        }
        self.characters += characters(&text[line_start.unwrap_or(0)..]);
    }

    /// Consumes complete lines that the reader has counted.
    #[inline]
    pub fn advance_lines(&mut self, bytes: u64, lines: u64) {
        self.offset += bytes;
        self.line += lines;
        self.characters = 0;
        self.after_cr = false;
    }

    /// Returns an error at a byte of the unconsumed `text`, or at its end.
    #[cold]
    pub fn error(&self, text: &[u8], index: usize, class: ErrorClass, reason: Reason) -> ReadError {
        let before = text.get(..index).unwrap_or(text);
        let position = Position {
            byte_offset: Some(self.offset + before.len() as u64),
            line_column: Some(self.position(before)),
            ..Position::default()
        };
        ReadError::new(class, reason, position)
    }

    /// Line and column of the byte after `before`, which is not consumed yet.
    pub fn position(&self, before: &[u8]) -> (u64, u64) {
        let mut position = self.clone();
        position.advance(before);
        (position.line, position.characters + 1)
    }
}

/// Number of characters: bytes that are not UTF-8 continuation bytes.
fn characters(text: &[u8]) -> u64 {
    text.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_change_line_numbers() {
        let text = "a\nb\r\nç\rd\n\n\r\r\nxé".as_bytes();
        let (mut line, mut column) = (1, 1);
        let mut expected = vec![];
        for index in 0..=text.len() {
            expected.push((line, column));
            match text.get(index) {
                Some(b'\n') if index > 0 && text[index - 1] == b'\r' => {}
                Some(b'\n' | b'\r') => (line, column) = (line + 1, 1),
                Some(0x80..0xc0) => {}
                _ => column += 1,
            }
        }
        for cut in 0..=text.len() {
            let mut lines = LinePosition::default();
            lines.advance(&text[..cut]);
            assert_eq!(lines.offset(), cut as u64);
            for (index, position) in expected.iter().enumerate().skip(cut) {
                // A byte inside a line end or a character has no separate position.
                let inside = text.get(index).is_some_and(|b| b & 0xc0 == 0x80);
                if !inside {
                    assert_eq!(
                        lines.position(&text[cut..index]),
                        *position,
                        "{cut} {index}"
                    );
                }
            }
        }
    }
}

//! Skips lines that are not statements, and keeps the rest of their message.
//!
//! - In: an error in a line.
//! - Out: the skipped lines with their errors, until they are taken.
//! - Cost: linear. Up to [`MAX_LINES`] lines or [`MAX_BYTES`] bytes wait to be taken, plus one line.
//! - Law: the messages are those of the log without its skipped lines. A line that may have been a
//!   delimiter is not skipped alone, because it is unknown where the messages around it end.

use crate::codec::SkippedLine;
use crate::codec::input::Buffer;
use crate::model::chars::BOM;
use crate::model::error::ErrorClass;
use crate::syntax::ntriples::lex::{LexError, skip_space};
use crate::syntax::text::dialect::Dialects;

use super::decode::LineReader;

const MAX_LINES: usize = 1024;
const MAX_BYTES: usize = 1 << 20;

/// Skipped lines that have not been taken.
#[derive(Default)]
pub(super) struct BadLines {
    lines: Vec<SkippedLine>,
    bytes: usize,
}

impl BadLines {
    fn push(&mut self, line: SkippedLine) {
        self.bytes += line.text.len();
        self.lines.push(line);
    }

    /// Whether lines must be taken before more lines are read.
    pub fn is_full(&self) -> bool {
        self.lines.len() >= MAX_LINES || self.bytes >= MAX_BYTES
    }

    /// Removes the lines that begin at an offset or after it, because they will be read again.
    pub fn truncate(&mut self, offset: u64) {
        let end = self.lines.partition_point(|line| line.offset < offset);
        for line in self.lines.drain(end..) {
            self.bytes -= line.text.len();
        }
    }

    /// Returns the lines.
    pub fn take(&mut self) -> Vec<SkippedLine> {
        self.bytes = 0;
        std::mem::take(&mut self.lines)
    }
}

/// Whether an invalid line may have been a delimiter before it was damaged.
fn may_have_delimited(dialects: &Dialects, line: &[u8]) -> bool {
    let line = line.strip_prefix(BOM).unwrap_or(line);
    let rest = &line[skip_space(line, 0)..];
    rest.starts_with(b"MESSAGE")
        || rest.starts_with(b"VERSION")
        || (dialects.are_comments_delimiters() && memchr::memmem::find(rest, b"@message").is_some())
}

/// The first unread line, without its end.
fn current_line(input: &Buffer) -> &[u8] {
    let rest = input.rest();
    &rest[..memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())]
}

impl LineReader {
    /// Whether the first unread line, which has an error, can be skipped alone.
    pub(super) fn can_skip_line(&self, input: &Buffer, error: &LexError) -> bool {
        self.options.skip_lines
            && error.class != ErrorClass::Limit
            && error.class != ErrorClass::Internal
            && !self.has_dialect_changed(input.offset())
            && !may_have_delimited(&self.dialects, current_line(input))
    }

    /// Skips the first unread line. The position is still that of byte `from`. A last line without
    /// a line end may be truncated, wherever its error is.
    pub(super) fn skip_line(&mut self, input: &mut Buffer, from: usize, error: LexError) {
        let mut error = self.position_error(input, &self.position, from, error);
        error.position.message_index = self.index();
        let text = current_line(input).to_vec();
        let mut end = input.index + text.len();
        let ends = input.bytes.get(end..).unwrap_or_default();
        self.after_cr = ends == b"\r";
        if ends.is_empty() && error.class == ErrorClass::Malformed {
            error.class = ErrorClass::Truncated;
        }
        end += match ends {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        self.position.advance(&input.bytes[from..end]);
        self.bad_lines.push(SkippedLine {
            offset: input.offset(),
            text,
            error,
        });
        input.index = end;
        if !self.builder.is_open() {
            self.open = None;
        }
    }
}

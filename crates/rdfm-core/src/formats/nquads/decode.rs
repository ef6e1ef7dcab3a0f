//! Decodes N-Triples and N-Quads: from pieces of a log to batches.
//!
//! - In: pieces of any size. Only complete lines are read.
//! - Out: batches of complete messages, as soon as the buffer contains no more complete messages.
//! - Cost: linear. If the buffer ends inside a message, the complete messages before it are
//!   returned immediately, and the incomplete one is read a second time.
//!
//! In a [`Split`], the decoder reads each message that follows a delimiter whose line begins in the
//! split. It stops at the delimiter after the last of these messages. No block of lines crosses the
//! end of the split. In a split of a plain log, it reads the lines that begin there, as a part of the
//! only message; a delimiter is an error.

use std::sync::Arc;

use crate::codec::input::{Buffer, ReadError, Reader};
use crate::codec::{Dialect, LogHeader, Observations, SkippedLine};
use crate::model::batch::MessageBatch;
use crate::model::builder::{BatchBuilder, Checkpoint};
use crate::model::chars::BOM;
use crate::model::error::ErrorClass;
use crate::model::remedy::Reason;
use crate::model::term::Quad;
use crate::syntax::ntriples::lex::{
    self, LexError, Lexed, byte_at, fail, fail_expected, skip_space,
};
use crate::syntax::ntriples::{StatementGrammar, StatementReader};
use crate::syntax::text::dialect::{Delimiter, DelimiterEffect, Dialects, is_comment_delimiter};
use crate::syntax::text::position::LinePosition;

use super::bad_lines::BadLines;
use super::options::LineReading;
use super::skip::{KEPT, LineSkip};

/// Approximate number of bytes that are read in one step.
const BLOCK: usize = 64 << 10;

/// Reads N-Triples or N-Quads.
pub struct LineReader {
    graphs: bool,
    pub(super) options: LineReading,
    pub(super) dialects: Dialects,
    statements: StatementReader,
    pub(super) builder: BatchBuilder,
    /// Position of the first unread byte.
    pub(super) position: LinePosition,
    /// The bytes between the first unread byte and this index contain no line breaks.
    pub(super) scanned: usize,
    /// Whether the last line ended with a CR at the end of the buffer. If an LF follows, it belongs
    /// to the same line end.
    pub(super) after_cr: bool,
    /// Position of the line in which the open message began.
    pub(super) open: Option<LinePosition>,
    pub(super) bad_lines: BadLines,
    /// Start of the current line, if lines may be skipped.
    line_start: Checkpoint,
    /// Whether the line before this block was not valid UTF-8.
    is_after_invalid: bool,
    pub(super) skip: Option<LineSkip>,
    /// See [`Decoder::is_skip_cut`](crate::codec::Decoder::is_skip_cut).
    pub(super) is_skip_cut: bool,
    /// The search for the first delimiter of the split, while it is running.
    pub(super) seek: Option<LineSkip>,
    /// End of the split.
    pub(super) stop: u64,
    /// Whether the split contains lines of the only message.
    pub(super) has_lines: bool,
    done: bool,
}

/// The result of processing the buffer.
enum BufferOutcome {
    /// No complete line: more bytes are needed, or the log ends.
    Feed,
    /// Lines were read.
    Read,
    /// Lines were read, and a batch should be taken.
    Full,
    /// Lines were read, and the skipped ones should be taken.
    SkippedLines,
}

/// Number of unread bytes that are known to contain no line end.
pub(super) fn trim_line_end(input: &Buffer, scanned: usize) -> usize {
    scanned.min(input.bytes.len()).saturating_sub(input.index)
}

/// Index at which the open message begins if it is at most [`KEPT`] bytes back, otherwise the
/// current index.
fn is_near_start(input: &Buffer, open: Option<&LinePosition>) -> usize {
    open.and_then(|start| input.index(start.offset()))
        .filter(|start| input.index.saturating_sub(*start) <= KEPT)
        .unwrap_or(input.index)
}

/// End of the complete unread lines up to `end` that begin before offset `stop`.
pub(super) fn cut(input: &Buffer, end: usize, stop: u64) -> usize {
    let left = stop.saturating_sub(input.offset());
    if left == 0 || left >= (end - input.index) as u64 {
        return end;
    }
    // The search begins at the byte before `stop`, which may be a line end.
    let before = input.index + left as usize - 1;
    let rest = input.bytes.get(before..end).unwrap_or_default();
    match memchr::memchr2(b'\n', b'\r', rest) {
        Some(index) if rest[index] == b'\r' && rest.get(index + 1) == Some(&b'\n') => {
            before + index + 2
        }
        Some(index) => before + index + 1,
        None => end,
    }
}

/// End of a block of complete unread lines, or `None` if there is none. A line longer than `max`
/// bytes is an error whether or not its end is buffered.
pub(super) fn find_block_end(
    input: &Buffer,
    scanned: &mut usize,
    max: u64,
) -> Result<Option<usize>, u64> {
    let rest = input.rest();
    let from = trim_line_end(input, *scanned);
    let near = rest.len().min(BLOCK.max(from));
    let end = match memchr::memrchr2(b'\n', b'\r', &rest[from..near]) {
        Some(end) => from + end + 1,
        None => {
            if let Some(end) = memchr::memchr2(b'\n', b'\r', &rest[near..]) {
                near + end + 1
            } else {
                *scanned = input.bytes.len();
                if rest.len() as u64 > max {
                    return Err(max);
                }
                if !input.finished || rest.is_empty() {
                    return Ok(None);
                }
                rest.len()
            }
        }
    };
    // A CRLF is not split.
    let cut = rest[end - 1] == b'\r' && rest.get(end) == Some(&b'\n');
    Ok(Some(input.index + end + usize::from(cut)))
}

impl LineReader {
    /// Creates a reader for logs with or without graphs.
    pub(super) fn new(graphs: bool, options: LineReading) -> Self {
        Self {
            graphs,
            dialects: Dialects::new(&options.dialect_options),
            statements: StatementReader::new(StatementGrammar {
                graphs,
                generalized: options.generalized,
                lenient: options.lenient,
                max_depth: options.limits.max_depth,
                single_terms: false,
                abbreviations: false,
            }),
            builder: BatchBuilder::new(options.limits.clone()),
            position: LinePosition::default(),
            scanned: 0,
            after_cr: false,
            open: None,
            bad_lines: BadLines::default(),
            line_start: Checkpoint::default(),
            is_after_invalid: false,
            skip: None,
            is_skip_cut: false,
            seek: None,
            stop: options.split.map_or(u64::MAX, |split| split.stop),
            has_lines: options.split.is_some_and(|split| split.has_lines()),
            done: false,
            options,
        }
    }

    /// Whether the split does not begin at the start of the log, so that line numbers are unknown.
    pub(super) fn is_inner_split(&self) -> bool {
        self.options.split.is_some_and(|split| split.start > 0)
    }

    /// The dialect that a line must have. `None` if the log itself determines the dialect: without
    /// splits, and up to the end of the split at the start of the log.
    fn required_dialect(&self, offset: u64) -> Option<Dialect> {
        let split = self.options.split?;
        if self.has_lines {
            let requested = self.options.dialect_options.dialect;
            return Some(requested.unwrap_or(Dialect::Comment));
        }
        let fixed = split.start > 0 || offset >= split.stop;
        fixed.then(|| {
            self.options
                .dialect_options
                .dialect
                .unwrap_or(split.text_dialect())
        })
    }

    /// Whether the dialect in force at a line differs from the dialect of the log's head.
    pub(super) fn has_dialect_changed(&self, offset: u64) -> bool {
        self.required_dialect(offset)
            .is_some_and(|dialect| dialect != self.dialects.in_force())
    }

    /// Returns the permanent error at the next line, after
    /// [`has_dialect_changed`](Self::has_dialect_changed) returned true.
    pub(super) fn reject_dialect(&mut self, input: &Buffer) -> ReadError {
        let base = self.position.clone();
        self.fail(input, &base, input.index, dialect_change_error(input.index))
    }

    /// Ends the split. The following lines belong to other splits.
    pub(super) fn end_split(&mut self, input: &mut Buffer) {
        self.done = true;
        self.open = None;
        input.release();
    }

    /// Begins the part of the message in a split of lines, which may be empty.
    fn begin_lines(&mut self, input: &Buffer) {
        if !self.builder.is_open() {
            self.builder.begin_message(input.offset());
        }
    }

    /// Ends a split of lines. Its part of the message continues in the next split.
    fn end_lines(&mut self, input: &mut Buffer) -> MessageBatch {
        self.begin_lines(input);
        let part = self.builder.take_part();
        self.builder.discard_message();
        self.end_split(input);
        part
    }

    /// Reads complete lines up to `end`, until a batch is full.
    fn run<const SKIP_LINES: bool>(
        &mut self,
        input: &mut Buffer,
        end: usize,
    ) -> Lexed<BufferOutcome> {
        let fixed = self.required_dialect(input.offset());
        let inner = self.is_inner_split();
        let graphs = self.graphs;
        let Self {
            options,
            dialects,
            statements,
            builder,
            position: here,
            after_cr,
            open,
            line_start,
            stop,
            done,
            ..
        } = self;
        let text = input.bytes.get(..end).unwrap_or_default();
        let max_line = options.limits.max_message_bytes;
        let (offset, base) = (input.offset(), input.index);
        let is_past_split = offset >= *stop;
        let position = |index: usize| offset + (index - base) as u64;
        check_dialect(fixed, dialects, base)?;
        let (mut index, mut lines) = (base, 0);
        while index < end {
            let line = index;
            input.index = line;
            if (end - line) as u64 > max_line {
                check_line_length(text, line, max_line)?;
            }
            if SKIP_LINES {
                *line_start = builder.checkpoint();
            }
            index = skip_space(text, index);
            let (mut ends, mut last) = (false, false);
            match byte_at(text, index) {
                b'<' | b'_' | b'"' => {
                    if !builder.is_open() {
                        builder.begin_message(position(index));
                        // The message may be read again from here.
                        let mut start = here.clone();
                        start.advance_lines((line - base) as u64, lines);
                        *open = Some(start);
                    }
                    index = statements.parse_statement(builder, text, index, !options.parts)?;
                    index = skip_space(text, index);
                }
                b'M' if text[index..].starts_with(b"MESSAGE") && is_word(text, index + 7) => {
                    (index, ends) =
                        read_directive(dialects, builder, text, index, position(index))?;
                    check_dialect(fixed, dialects, line)?;
                    last = is_past_split;
                }
                b'V' if text[index..].starts_with(b"VERSION") && is_word(text, index + 7) => {
                    index = read_version(dialects, text, index + 7)?;
                    check_dialect(fixed, dialects, line)?;
                }
                b'#' | b'\n' | b'\r' => {}
                _ if index == end => {}
                0xef if position(index) == 0 && text[index..].starts_with(BOM) => {
                    index += BOM.len();
                    continue;
                }
                _ => return statement_error(text, index, graphs),
            }
            if byte_at(text, index) == b'#' {
                let comment = index;
                index =
                    memchr::memchr2(b'\n', b'\r', &text[index..]).map_or(end, |more| index + more);
                let (body, start) = (&text[comment + 1..index], position(comment));
                if dialects.are_comments_delimiters() && is_comment_delimiter(body) {
                    ends |= end_message(dialects, Delimiter::Comment, builder, comment, start)?;
                    last |= is_past_split;
                } else if comment == skip_space(text, line)
                    && dialects.resembles_delimiter(body, true)
                {
                    dialects.note(body, start, (!inner).then(|| here.line() + lines));
                }
            }
            let after = line_end(text, index)?;
            if after > index {
                lines += 1;
                *after_cr = after == end && byte_at(text, index) == b'\r' && after == index + 1;
                index = after;
            }
            let stop = if ends {
                builder.end_message();
                *open = None;
                builder.is_full()
            } else {
                options.parts && builder.is_full()
            };
            if stop || last {
                *done = last;
                here.advance_lines((index - base) as u64, lines);
                input.index = index;
                return Ok(BufferOutcome::Full);
            }
        }
        here.advance_lines((index - base) as u64, lines);
        input.index = index;
        Ok(BufferOutcome::Read)
    }

    /// Returns to the start of the open message, to read it again in the next batch. Its bytes are
    /// still buffered, because it began after the last feed.
    fn go_back(&mut self, input: &mut Buffer) {
        if let Some(start) = self.open.take()
            && let Some(index) = input.index(start.offset())
        {
            self.builder.discard_message();
            self.bad_lines.truncate(start.offset());
            input.index = index;
            self.position = start;
            self.after_cr = false;
        }
    }

    /// Returns the batch when the buffer contains no more complete lines.
    fn flush(&mut self, input: &mut Buffer) -> Option<MessageBatch> {
        if input.finished {
            self.open = None;
            self.done = self.has_lines;
            self.dialects.end(self.builder.is_open());
            if self.builder.is_open() {
                self.builder.end_message();
            }
        } else if self.builder.is_open() && self.builder.has_messages() {
            self.go_back(input);
        } else if self.builder.is_open() {
            return None;
        }
        self.builder.take()
    }

    /// Returns the batch when it is full.
    fn take_full(&mut self, input: &mut Buffer) -> Option<MessageBatch> {
        if self.builder.is_open() {
            if !self.builder.has_messages() {
                return Some(self.builder.take_part());
            }
            self.go_back(input);
        }
        self.builder.take()
    }

    /// Converts an error to a decoder error. The open message is discarded. `base` is the position
    /// of byte `from`.
    fn fail(
        &mut self,
        input: &Buffer,
        base: &LinePosition,
        from: usize,
        error: LexError,
    ) -> ReadError {
        let mut decode_error = self.position_error(input, base, from, error);
        let open = self.open.take();
        let start = is_near_start(input, open.as_ref());
        let is_cut = open.is_some_and(|open| input.index(open.offset()) != Some(start));
        let skip = LineSkip::after_error(&input.bytes[start..input.index], is_cut);
        self.position = base.clone();
        self.position.advance(&input.bytes[from..input.index]);
        // A split in another dialect cannot continue: it would miss delimiters. In a split of lines,
        // the rest of the log belongs to the same message.
        let resumable = !self.has_lines && !self.has_dialect_changed(input.offset());
        self.skip = resumable.then_some(skip);
        decode_error.resumable = self.skip.is_some();
        decode_error
    }

    /// Adds the position to an error. `base` is the position of byte `from`.
    pub(super) fn position_error(
        &self,
        input: &Buffer,
        base: &LinePosition,
        from: usize,
        error: LexError,
    ) -> ReadError {
        // An error at the end of the input may be due to truncation.
        let class = match error.class {
            ErrorClass::Malformed if error.index == input.bytes.len() => ErrorClass::Truncated,
            class => class,
        };
        let rest = input.bytes.get(from..).unwrap_or_default();
        let mut read_error =
            base.error(rest, error.index.saturating_sub(from), class, error.reason);
        if self.is_inner_split() {
            read_error.position.line_column = None;
        }
        read_error
    }

    /// Index of the open or next message, if known.
    pub(super) fn index(&self) -> Option<u64> {
        self.knows_indices().then(|| self.builder.message_index())
    }

    /// End of the complete lines that are valid UTF-8, and the error in the next line.
    fn check_utf8(&mut self, input: &Buffer, end: usize) -> (usize, Option<Box<LexError>>) {
        let from = input.index;
        let text = input.bytes.get(from..end).unwrap_or_default();
        // The fast check always reads the entire block. After an invalid line, it would do so for
        // every line.
        if !self.is_after_invalid && simdutf8::basic::from_utf8(text).is_ok() {
            return (end, None);
        }
        let bad = std::str::from_utf8(text).map_err(|error| error.valid_up_to());
        self.is_after_invalid = bad.is_err();
        let Err(bad) = bad else {
            return (end, None);
        };
        let line = memchr::memrchr2(b'\n', b'\r', &text[..bad]).map_or(0, |before| before + 1);
        let rest = &text[line..];
        let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let max = self.options.limits.max_message_bytes;
        let error = if length as u64 > max {
            too_long_error(from + line, max)
        } else {
            let invalid_byte = byte_at(text, bad);
            LexError {
                index: from + bad,
                class: ErrorClass::Malformed,
                reason: format!("expected UTF-8, found the byte 0x{invalid_byte:02X}").into(),
            }
        };
        (from + line, Some(Box::new(error)))
    }

    /// Reads some complete lines.
    fn read_lines(&mut self, input: &mut Buffer) -> Lexed<BufferOutcome> {
        let max = self.options.limits.max_message_bytes;
        let end = match find_block_end(input, &mut self.scanned, max) {
            Ok(Some(end)) => end,
            Ok(None) => return Ok(BufferOutcome::Feed),
            Err(_) => return Err(Box::new(too_long_error(input.index, max))),
        };
        let end = cut(input, end, self.stop);
        let (end, mut invalid_line) = self.check_utf8(input, end);
        loop {
            let mut from = input.index;
            let step = if self.options.skip_lines {
                self.run::<true>(input, end)
            } else {
                self.run::<false>(input, end)
            };
            let error = match step {
                Ok(BufferOutcome::Read) => match invalid_line.take() {
                    // The position has advanced to this line.
                    Some(error) => {
                        from = input.index;
                        error
                    }
                    None => return Ok(BufferOutcome::Read),
                },
                Ok(step) => return Ok(step),
                Err(error) => error,
            };
            if !self.can_skip_line(input, &error) {
                return Err(error);
            }
            if input.index < end {
                self.builder.restore(&self.line_start);
            }
            self.skip_line(input, from, *error);
            if self.bad_lines.is_full() {
                return Ok(BufferOutcome::SkippedLines);
            }
            if input.index >= end {
                return Ok(BufferOutcome::Read);
            }
        }
    }
}

/// Checks the length of the line that begins at `line`.
#[cold]
fn check_line_length(text: &[u8], line: usize, max: u64) -> Lexed<()> {
    let rest = &text[line..];
    let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    if length as u64 > max {
        return Err(Box::new(too_long_error(line, max)));
    }
    Ok(())
}

/// Position after the line end, which is required here unless the text ends.
#[inline]
fn line_end(text: &[u8], index: usize) -> Lexed<usize> {
    match byte_at(text, index) {
        b'\r' if byte_at(text, index + 1) == b'\n' => Ok(index + 2),
        b'\n' | b'\r' => Ok(index + 1),
        _ if index == text.len() => Ok(index),
        _ => fail_expected(text, index, "the end of the line after the statement"),
    }
}

#[cold]
fn statement_error<T>(text: &[u8], index: usize, graphs: bool) -> Lexed<T> {
    let found_text = lex::describe_found(text, index);
    let expected =
        format!("expected a statement, MESSAGE, VERSION or a comment, found {found_text}");
    fail(
        index,
        lex::explain_turtle_syntax(text, index, graphs, expected.into()),
    )
}

/// Checks that a line has the required dialect, if any.
fn check_dialect(fixed: Option<Dialect>, dialects: &Dialects, line: usize) -> Lexed<()> {
    if fixed.is_some_and(|dialect| dialect != dialects.in_force()) {
        return Err(Box::new(dialect_change_error(line)));
    }
    Ok(())
}

#[cold]
fn dialect_change_error(line: usize) -> LexError {
    LexError {
        index: line,
        class: ErrorClass::Unsupported,
        reason: "the log changes its dialect after its head, so it cannot be read in splits; \
                 read it in one piece"
            .into(),
    }
}

#[cold]
fn delimiter_error(index: usize) -> LexError {
    LexError {
        index,
        class: ErrorClass::Unsupported,
        reason: "the log has a delimiter after its head, so its lines cannot be read in splits; \
                 read it in one piece"
            .into(),
    }
}

/// Whether a delimiter ends a message. Begins an empty message if none is open.
fn end_message(
    dialects: &mut Dialects,
    delimiter: Delimiter,
    builder: &mut BatchBuilder,
    index: usize,
    position: u64,
) -> Lexed<bool> {
    if dialects.are_delimiters_rejected() {
        return Err(Box::new(delimiter_error(index)));
    }
    match dialects.handle_delimiter(delimiter, builder.is_open()) {
        Ok(DelimiterEffect::Nothing) => Ok(false),
        Ok(DelimiterEffect::Ends) => {
            if !builder.is_open() {
                builder.begin_message(position);
            }
            Ok(true)
        }
        Err(reason) => fail(index, reason),
    }
}

/// Returns the position after `MESSAGE`, and whether it ends a message. If other text follows, the
/// dialect does not change, because readers that only look for delimiters ignore such a line.
fn read_directive(
    dialects: &mut Dialects,
    builder: &mut BatchBuilder,
    text: &[u8],
    index: usize,
    position: u64,
) -> Lexed<(usize, bool)> {
    let rest = skip_space(text, index + b"MESSAGE".len());
    if matches!(byte_at(text, rest), b'#' | b'\n' | b'\r') || rest == text.len() {
        let ends = end_message(dialects, Delimiter::Directive, builder, index, position)?;
        return Ok((rest, ends));
    }
    if dialects.are_delimiters_rejected() {
        return Err(Box::new(delimiter_error(index)));
    }
    let mut unchanged = dialects.clone();
    match unchanged.handle_delimiter(Delimiter::Directive, builder.is_open()) {
        Ok(_) => fail_expected(text, rest, "the end of the line after MESSAGE"),
        Err(reason) => fail(index, reason),
    }
}

/// Whether a keyword ends here.
pub(super) fn is_word(text: &[u8], index: usize) -> bool {
    index == text.len()
        || matches!(
            byte_at(text, index),
            b' ' | b'\t' | b'\n' | b'\r' | b'#' | b'"'
        )
}

/// Reads a version directive after its keyword.
pub(super) fn read_version(dialects: &mut Dialects, text: &[u8], index: usize) -> Lexed<usize> {
    let start = skip_space(text, index);
    if byte_at(text, start) != b'"' {
        return fail_expected(
            text,
            start,
            "a version label in double quotes after VERSION",
        );
    }
    let mut label = Vec::new();
    let token = lex::lex_string(text, start + 1, &mut label)?;
    if !token.escaped {
        label.extend_from_slice(&text[start + 1..token.end]);
    }
    match String::from_utf8(label) {
        Ok(label) => dialects.handle_version(&label),
        Err(_) => return fail(start, "invalid UTF-8 in the version label"),
    }
    Ok(skip_space(text, token.end + 1))
}

fn too_long_error(line: usize, max: u64) -> LexError {
    LexError {
        index: line,
        class: ErrorClass::Limit,
        reason: Reason::limit(
            format!("the line is longer than {max} bytes"),
            "max_message_bytes",
        ),
    }
}

impl Reader for LineReader {
    type Record = Quad;

    fn builder_mut(&mut self) -> &mut BatchBuilder {
        &mut self.builder
    }

    /// Returns to the start of the log, or of the split.
    fn reset(&mut self) {
        let options = &self.options;
        let split = options.split.filter(|split| split.start > 0);
        self.dialects = split.map_or_else(
            || Dialects::new(&options.dialect_options),
            |split| Dialects::after_head(&options.dialect_options, split.text_dialect()),
        );
        self.builder
            .start_at(options.first_message_index.unwrap_or_default());
        if self.has_lines {
            self.dialects.reject_delimiters();
            if split.is_some() {
                self.builder.continue_message();
            }
        }
        self.position = LinePosition::at(self.first_byte());
        self.scanned = 0;
        self.after_cr = false;
        self.open = None;
        self.bad_lines = BadLines::default();
        self.is_after_invalid = false;
        self.skip = None;
        self.seek = split.map(|_| LineSkip::skip_to_split());
        self.done = false;
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<MessageBatch>, ReadError> {
        if !self.seek(input)? {
            return Ok(None);
        }
        if self.has_lines && self.is_inner_split() && !self.done {
            self.begin_lines(input);
        }
        while !self.done && !self.bad_lines.is_full() {
            // The LF of a CRLF that is split between two pieces belongs to a line that was already
            // counted.
            if self.after_cr && input.index < input.bytes.len() {
                self.after_cr = false;
                if input.bytes[input.index] == b'\n' {
                    input.index += 1;
                    self.position.advance_lines(1, 0);
                }
            }
            if self.has_lines && input.offset() >= self.stop {
                return Ok(Some(self.end_lines(input)));
            }
            let (base, from) = (self.position.clone(), input.index);
            let batch = match self.read_lines(input) {
                Ok(BufferOutcome::Feed) => return Ok(self.flush(input)),
                Ok(BufferOutcome::Read) => None,
                Ok(BufferOutcome::Full) if self.done => {
                    self.end_split(input);
                    None
                }
                Ok(BufferOutcome::SkippedLines) if !self.builder.has_messages() => None,
                Ok(BufferOutcome::Full | BufferOutcome::SkippedLines) => self.take_full(input),
                Err(error) => return Err(self.fail(input, &base, from, *error)),
            };
            if batch.is_some() {
                return Ok(batch);
            }
        }
        Ok(if self.done { self.builder.take() } else { None })
    }

    fn take_skipped_lines(&mut self) -> Vec<SkippedLine> {
        self.bad_lines.take()
    }

    /// A part of `MESSAGE` at the end of the log can only be a truncated delimiter.
    fn complete(&mut self, input: &Buffer) -> Option<u64> {
        let line = input.rest().trim_ascii();
        let is_delimiter = !line.is_empty() && b"MESSAGE".starts_with(line);
        let begin = self.builder.open_since().filter(|_| !is_delimiter);
        begin.or(Some(input.offset()))
    }

    fn skip(&mut self, input: &mut Buffer) -> Result<Option<Vec<u8>>, ReadError> {
        self.continue_skip(input)
    }

    fn is_skip_cut(&self) -> bool {
        self.is_skip_cut
    }

    fn first_byte(&self) -> u64 {
        self.options
            .split
            .map_or(0, |split| split.start.saturating_sub(1))
    }

    fn keep(&self, input: &Buffer) -> usize {
        is_near_start(input, self.open.as_ref())
    }

    fn forget(&mut self, consumed: &[u8]) {
        self.scanned = self.scanned.saturating_sub(consumed.len());
    }

    fn knows_indices(&self) -> bool {
        !self.is_inner_split() || self.has_lines || self.options.first_message_index.is_some()
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn header(&self) -> Arc<LogHeader> {
        self.dialects.header()
    }

    fn observations(&self) -> Observations {
        self.dialects.observations()
    }
}

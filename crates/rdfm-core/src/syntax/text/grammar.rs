//! Shared part of decoders for formats that are not line-based: passes checked text to a
//! [`Grammar`], and adds positions to its errors.
//!
//! - In: bytes in pieces of any size.
//! - Out: messages in batches; errors with line and column.
//! - Cost: linear in the input. Memory is bounded by one batch, one piece and one incomplete token.
//! - Law: how the input is cut changes neither messages nor errors. Messages completed before an
//!   error are returned first.

use std::sync::Arc;

use simdutf8::compat::from_utf8;

use crate::codec::batch::LogRecord;
use crate::codec::input::{self, Buffer, ReadError, Reader, Skipped};
use crate::codec::{Decoder, LogHeader, Observations};
use crate::model::batch::LogBatch;
use crate::model::builder::LogBuilder;
use crate::model::error::{ErrorClass, LimitExceeded};
use crate::model::remedy::Reason;
use crate::syntax::text::position::LinePosition;

/// An error at a byte of the text.
#[derive(Debug)]
pub(crate) struct GrammarError {
    /// Index in the text.
    pub index: usize,
    /// The error class.
    pub class: ErrorClass,
    /// The cause, what was expected, and remedies.
    pub reason: Reason,
}

/// Result of reading: a value, or an error with its place in the text.
pub(crate) type Read<T> = Result<T, Box<GrammarError>>;

/// Returns an error of the class [`ErrorClass::Malformed`].
#[cold]
pub(crate) fn fail_malformed<T>(index: usize, reason: impl Into<Reason>) -> Read<T> {
    fail(index, ErrorClass::Malformed, reason)
}

/// Returns an error of the given class.
#[cold]
pub(crate) fn fail<T>(index: usize, class: ErrorClass, reason: impl Into<Reason>) -> Read<T> {
    Err(Box::new(GrammarError {
        index,
        class,
        reason: reason.into(),
    }))
}

/// Returns the error at a byte for an exceeded limit of the builder.
#[cold]
#[allow(clippy::unnecessary_box_returns, reason = "errors are rare and large")]
pub(crate) fn limit(index: usize, exceeded: LimitExceeded) -> Box<GrammarError> {
    Box::new(GrammarError {
        index,
        class: ErrorClass::Limit,
        reason: exceeded.0,
    })
}

/// Reason why [`Grammar::run`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// The batch is full: take it (or, while a message is open, a part) and run again.
    Full,
    /// More text is needed.
    Need,
    /// The log ended without an error.
    Done,
}

/// Whether more text may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// More may follow.
    Open,
    /// No more text follows, because the next bytes are not UTF-8.
    Cut,
    /// The log ends here.
    End,
}

/// Parses text that grows at its end.
pub(crate) trait Grammar: Send {
    /// Type of the records in messages.
    type Record: LogRecord;

    /// Parses `text`, starting at [`consumed`](Self::consumed), until the caller must act.
    fn run(&mut self, text: &[u8], reach: Reach) -> Result<Pause, Box<GrammarError>>;

    /// Number of bytes at the start of the text that are no longer needed.
    fn consumed(&self) -> usize;

    /// Removes consumed text. The text now begins at this offset in the log.
    fn forget(&mut self, consumed: &[u8], offset: u64);

    /// Returns the builder of the messages.
    fn builder(&mut self) -> &mut LogBuilder<Self::Record>;

    /// Returns the complete messages, if any.
    fn take(&mut self) -> Option<LogBatch<Self::Record>>;

    /// Returns the complete messages, and the beginning of the open one.
    fn take_part(&mut self) -> LogBatch<Self::Record>;

    /// Resets the state for another log. The builder must already be reset.
    fn reset(&mut self);

    /// Index in the text at which the open message begins.
    fn begin(&self) -> Option<usize> {
        None
    }

    /// Handles an error. If `follows` is true, the error may be a consequence of skipped input.
    /// Returns whether reading can continue; [`skip`](Self::skip) is then called next.
    fn stop(&mut self, _text: &[u8], _follows: bool) -> bool {
        false
    }

    /// Offset after the last message that is certainly complete, after an error.
    fn complete(&mut self, input: &Buffer) -> u64 {
        self.builder().open_since().unwrap_or(input.offset())
    }

    /// Discards the open message after an error.
    fn discard(&mut self) {
        let builder = self.builder();
        if builder.is_open() {
            builder.discard_message();
        }
    }

    /// Skips past the next delimiter, starting at [`consumed`](Self::consumed), in bytes that may
    /// not be UTF-8. Returns false if more bytes are needed.
    fn skip(&mut self, _bytes: &[u8], _finished: bool, _skipped: &mut Skipped) -> bool {
        true
    }

    /// Determines the line numbers of recorded positions in the buffered bytes.
    fn locate(&mut self, _line: impl Fn(u64) -> u64) {}

    /// Returns the header of the log.
    fn header(&self) -> Arc<LogHeader> {
        LogHeader::none()
    }

    /// Returns observations about the log. `done` is true at the end of the log.
    fn observations(&self, _done: bool) -> Observations {
        Observations::default()
    }
}

/// Creates the decoder of a format from its grammar. If `parts` is true, messages larger than a
/// batch are returned in parts.
pub(crate) fn decoder<G: Grammar + 'static>(
    format: &'static str,
    grammar: G,
    parts: bool,
) -> Box<dyn Decoder> {
    let reader = TextReader {
        grammar,
        valid: 0,
        invalid: false,
        done: false,
        lines: LinePosition::default(),
        position_index: 0,
        parts,
        skipped: None,
    };
    input::decoder(format, reader)
}

struct TextReader<G> {
    grammar: G,
    /// Length of the checked text at the start of the buffered bytes.
    valid: usize,
    /// Whether the byte after the checked text is not UTF-8.
    invalid: bool,
    done: bool,
    /// Position in the log of the byte at index `position_index`: the first buffered byte, or the
    /// one at which reading continued after an error. Updating it there keeps the cost of many
    /// errors linear.
    lines: LinePosition,
    position_index: usize,
    parts: bool,
    /// The bytes skipped so far, while skipping after an error.
    skipped: Option<Skipped>,
}

impl<G: Grammar> TextReader<G> {
    /// Checks the bytes fed since the last call.
    fn check_utf8(&mut self, input: &Buffer) {
        if self.invalid || self.valid == input.bytes.len() {
            return;
        }
        match from_utf8(&input.bytes[self.valid..]) {
            Ok(_) => self.valid = input.bytes.len(),
            Err(error) => {
                self.valid += error.valid_up_to();
                self.invalid = error.error_len().is_some() || input.finished;
            }
        }
    }

    /// Determines the line numbers of recorded positions before their bytes are removed.
    fn locate(&mut self, input: &Buffer) {
        let rest = input.bytes.get(self.position_index..).unwrap_or_default();
        self.grammar.locate(|offset| {
            let before = offset.saturating_sub(self.lines.offset()) as usize;
            self.lines
                .position(rest.get(..before).unwrap_or_default())
                .0
        });
    }

    /// Index at which the open message begins, if it is at most [`Skipped::KEPT`] bytes back;
    /// otherwise the current index.
    fn begin(&self, input: &Buffer) -> usize {
        self.grammar
            .begin()
            .filter(|begin| input.index.saturating_sub(*begin) <= Skipped::KEPT)
            .unwrap_or(input.index)
    }

    fn not_utf8(&self, input: &Buffer) -> GrammarError {
        let first = self.lines.offset() == 0 && self.valid == 0;
        let is_utf16 = first && matches!(input.bytes.first(), Some(0xFE | 0xFF));
        GrammarError {
            index: self.valid,
            class: ErrorClass::Malformed,
            reason: if is_utf16 {
                "the log seems to be UTF-16; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)"
            } else {
                "invalid UTF-8; the log must be UTF-8 text"
            }
            .into(),
        }
    }
}

impl<G: Grammar> Reader for TextReader<G> {
    type Record = G::Record;

    fn builder_mut(&mut self) -> &mut LogBuilder<G::Record> {
        self.grammar.builder()
    }

    fn reset(&mut self) {
        self.grammar.reset();
        self.valid = 0;
        self.invalid = false;
        self.done = false;
        self.lines = LinePosition::default();
        self.position_index = 0;
        self.skipped = None;
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<LogBatch<G::Record>>, ReadError> {
        if self.done {
            return Ok(None);
        }
        self.check_utf8(input);
        let reach = match (self.invalid, input.finished) {
            (true, _) => Reach::Cut,
            (false, true) => Reach::End,
            (false, false) => Reach::Open,
        };
        let paused = self.grammar.run(&input.bytes[..self.valid], reach);
        input.index = self.grammar.consumed();
        self.locate(input);
        let error = match paused {
            Ok(Pause::Full) if self.parts && self.grammar.builder().is_open() => {
                return Ok(Some(self.grammar.take_part()));
            }
            Ok(Pause::Need) if self.invalid => self.not_utf8(input),
            Ok(Pause::Full | Pause::Need) => return Ok(self.grammar.take()),
            Ok(Pause::Done) => {
                self.done = true;
                input.release();
                return Ok(self.grammar.take());
            }
            Err(error) => *error,
        };
        let GrammarError {
            index,
            class,
            reason,
        } = error;
        let follows = reason.may_follow_from_skipping();
        let rest = input.bytes.get(self.position_index..).unwrap_or_default();
        let error = self.lines.error(
            rest,
            index.saturating_sub(self.position_index),
            class,
            reason,
        );
        let begin = self.begin(input);
        let resumable = self.grammar.stop(&input.bytes[..self.valid], follows);
        if resumable {
            let mut skipped = Skipped::default();
            skipped.add(&input.bytes[begin..input.index]);
            self.skipped = Some(skipped);
        }
        Err(ReadError { resumable, ..error })
    }

    fn take(&mut self) -> Option<LogBatch<G::Record>> {
        self.grammar.take()
    }

    fn complete(&mut self, input: &Buffer) -> Option<u64> {
        Some(self.grammar.complete(input))
    }

    fn discard(&mut self) {
        self.grammar.discard();
    }

    fn skip(&mut self, input: &mut Buffer) -> Result<Option<Vec<u8>>, ReadError> {
        let Some(mut skipped) = self.skipped.take() else {
            return Ok(None);
        };
        let outcome = self
            .grammar
            .skip(&input.bytes, input.finished, &mut skipped);
        input.index = self.grammar.consumed();
        if input.index > self.valid {
            self.valid = input.index;
            self.invalid = false;
        }
        self.locate(input);
        self.lines.advance(
            input
                .bytes
                .get(self.position_index..input.index)
                .unwrap_or_default(),
        );
        self.position_index = input.index;
        if !outcome {
            self.skipped = Some(skipped);
            return Ok(None);
        }
        Ok(Some(skipped.take()))
    }

    fn keep(&self, input: &Buffer) -> usize {
        self.begin(input)
    }

    fn forget(&mut self, removed: &[u8]) {
        self.lines
            .advance(removed.get(self.position_index..).unwrap_or_default());
        self.position_index = self.position_index.saturating_sub(removed.len());
        let start = self.lines.offset() - self.position_index as u64;
        self.grammar.forget(removed, start);
        self.valid -= removed.len();
    }

    fn header(&self) -> Arc<LogHeader> {
        self.grammar.header()
    }

    fn observations(&self) -> Observations {
        self.grammar.observations(self.done)
    }
}

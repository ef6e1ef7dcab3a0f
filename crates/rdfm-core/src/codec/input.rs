//! The input side that all decoders share: the buffered bytes, and the error that stopped decoding.
//!
//! - In: pieces of a log, cut anywhere; a [`Reader`], which knows one format.
//! - Out: the batches of the log. After an error, the messages completed before the error are
//!   returned first. Every later call returns the error.
//! - Cost: each piece is copied once. Moving unread bytes costs no more than reading the bytes
//!   before them. A reader is called once per batch, not per record.
//! - Law: the cuts do not affect the result, provided that the reader waits for missing bytes.
//!   Pieces are ignored after the end, and after an error that cannot be skipped.

use std::sync::Arc;

use super::batch::{Batch, LogRecord};
use super::{Decoder, LogHeader, Observations, SkippedLine, SuspiciousData, unknown};
use crate::model::batch::LogBatch;
use crate::model::builder::LogBuilder;
use crate::model::error::{DecodeError, ErrorClass, Position, quote};
use crate::model::remedy::Reason;
use crate::model::term::{TermKind, flags};

/// The buffered bytes.
#[derive(Debug, Default)]
pub struct Buffer {
    /// All buffered bytes.
    pub bytes: Vec<u8>,
    /// Index of the first unread byte.
    pub index: usize,
    /// Whether the log ends with these bytes.
    pub finished: bool,
    /// Offset of the first buffered byte in the log.
    pub start: u64,
}

impl Buffer {
    /// Adds a piece. If `keep` is at least half of the buffered bytes, the bytes before `keep` are
    /// passed to `forget` and removed.
    pub fn feed(&mut self, piece: &[u8], keep: usize, forget: impl FnOnce(&[u8])) {
        if keep > 0 && keep >= self.bytes.len() - keep {
            forget(&self.bytes[..keep]);
            self.bytes.drain(..keep);
            self.start += keep as u64;
            self.index -= keep;
        }
        self.bytes.extend_from_slice(piece);
    }

    /// Returns the unread bytes.
    #[inline]
    pub fn rest(&self) -> &[u8] {
        self.bytes.get(self.index..).unwrap_or_default()
    }

    /// Offset of the first unread byte in the log.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.offset_of(self.index)
    }

    /// Offset of a buffered byte in the log.
    #[inline]
    pub fn offset_of(&self, index: usize) -> u64 {
        self.start + index as u64
    }

    /// Index in the buffer of the byte at an offset in the log.
    pub fn index(&self, offset: u64) -> Option<usize> {
        Some(offset.checked_sub(self.start)? as usize)
    }

    /// Drops the bytes and frees their memory.
    pub fn release(&mut self) {
        self.start = self.offset();
        self.bytes = Vec::new();
        self.index = 0;
    }

    /// Returns an error at the first unread byte, for formats without lines.
    #[cold]
    pub fn error(&self, class: ErrorClass, reason: impl Into<Reason>) -> ReadError {
        let position = Position {
            byte_offset: Some(self.offset()),
            ..Position::default()
        };
        ReadError::new(class, reason, position)
    }
}

/// The first MiB of the bytes that a reader skips.
#[derive(Debug, Default)]
pub struct Skipped(Vec<u8>);

impl Skipped {
    /// Number of bytes that are kept.
    pub const KEPT: usize = 1 << 20;

    /// Adds skipped bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        let room = Self::KEPT.saturating_sub(self.0.len());
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no bytes have been skipped.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Drops the bytes from `length` on, which were not skipped after all.
    pub fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// Returns the bytes.
    pub fn take(self) -> Vec<u8> {
        self.0
    }
}

/// An error that stops a reader.
#[derive(Debug)]
pub struct ReadError {
    /// The class, which tells callers how to react.
    pub class: ErrorClass,
    /// The cause, what was expected, and remedies.
    pub reason: Reason,
    /// The position. The input side fills in the message.
    pub position: Position,
    /// Whether [`Reader::skip`] can continue after this error.
    pub resumable: bool,
}

impl ReadError {
    /// Creates an error that ends the log.
    pub fn new(class: ErrorClass, reason: impl Into<Reason>, position: Position) -> Self {
        Self {
            class,
            reason: reason.into(),
            position,
            resumable: false,
        }
    }
}

/// Format-specific part of a decoder. It reads buffered bytes, and is [`reset`](Self::reset) before
/// each log.
pub trait Reader: Send {
    /// Type of the records in its messages.
    type Record: LogRecord;

    /// Returns the builder of the messages.
    fn builder_mut(&mut self) -> &mut LogBuilder<Self::Record>;

    /// Prepares for the next log. The builder must already have been reset.
    fn reset(&mut self);

    /// Returns the next batch, or `None` if more bytes are needed or the log has ended.
    ///
    /// # Errors
    /// The reader does not change its builder on error: the caller discards the open message and
    /// delivers the complete ones.
    fn advance(&mut self, input: &mut Buffer) -> Result<Option<LogBatch<Self::Record>>, ReadError>;

    /// After an error, returns the messages that were complete before it.
    fn take(&mut self) -> Option<LogBatch<Self::Record>> {
        self.builder_mut().take()
    }

    /// After an error, returns the offset after the last message that is certainly complete, with
    /// its delimiter, or `None` if the error cannot be due to truncation.
    fn complete(&mut self, input: &Buffer) -> Option<u64> {
        self.builder_mut().open_since().or(Some(input.offset()))
    }

    /// Discards the open message after an error.
    fn discard(&mut self) {
        let builder = self.builder_mut();
        if builder.is_open() {
            builder.discard_message();
        }
    }

    /// Continues after a resumable error and returns the skipped bytes, or `None` if more bytes are
    /// needed. May be called without an error.
    ///
    /// # Errors
    /// If skipping fails. This error replaces the earlier one.
    fn skip(&mut self, _: &mut Buffer) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(None)
    }

    /// See [`Decoder::is_skip_cut`].
    fn is_skip_cut(&self) -> bool {
        false
    }

    /// Returns the lines skipped since the last call. Their errors have message indices.
    fn take_skipped_lines(&mut self) -> Vec<SkippedLine> {
        Vec::new()
    }

    /// Offset in the log of the first byte that will be fed.
    fn first_byte(&self) -> u64 {
        0
    }

    /// Index of the first buffered byte that may be needed again.
    fn keep(&self, input: &Buffer) -> usize {
        input.index
    }

    /// Called with bytes that are removed from the front of the buffer.
    fn forget(&mut self, _removed: &[u8]) {}

    /// Whether more input could change the result.
    fn needs_more_input(&self, _: &Buffer) -> bool {
        !self.is_done()
    }

    /// Whether message indices are known.
    fn knows_indices(&self) -> bool {
        true
    }

    /// See [`Decoder::is_done`].
    fn is_done(&self) -> bool {
        false
    }

    /// See [`Decoder::header`].
    fn header(&self) -> Arc<LogHeader> {
        LogHeader::none()
    }

    /// See [`Decoder::observations`].
    fn observations(&self) -> Observations {
        Observations::default()
    }
}

/// Returns the decoder for a format name and a reader.
pub fn decoder<R: Reader + 'static>(format: &'static str, reader: R) -> Box<dyn Decoder> {
    Box::new(InputSide::new(format, reader))
}

struct InputSide<R> {
    format: &'static str,
    reader: R,
    input: Buffer,
    error: Option<DecodeError>,
    /// See [`Observations::complete`].
    complete: Option<u64>,
    /// Whether the error can be skipped.
    resumable: bool,
    /// Number of the first field that the format does not define.
    unknown: Option<u32>,
    /// The version label below which the log has terms that only later versions define.
    exceeded: Option<String>,
}

impl<R: Reader> InputSide<R> {
    fn new(format: &'static str, reader: R) -> Self {
        let mut side = Self {
            format,
            reader,
            input: Buffer::default(),
            error: None,
            complete: None,
            resumable: false,
            unknown: None,
            exceeded: None,
        };
        side.restart();
        side
    }

    fn restart(&mut self) {
        self.reader.builder_mut().reset();
        self.reader.reset();
        self.input.bytes.clear();
        self.input.index = 0;
        self.input.finished = false;
        self.input.start = self.reader.first_byte();
        self.error = None;
        self.complete = None;
        self.unknown = None;
        self.exceeded = None;
    }

    /// Compares the terms of a batch with the version label of the log.
    fn check_version(&mut self, batch: &LogBatch<R::Record>) {
        let header = self.reader.header();
        let Some(label) = &header.version_label else {
            return;
        };
        let has_directions = !label.starts_with("1.1");
        if self.exceeded.is_some() || (has_directions && !label.starts_with("1.2-basic")) {
            return;
        }
        let exceeds = batch.table().terms().iter().any(|term| match term.kind {
            TermKind::TripleTerm => true,
            TermKind::LangLiteral => !has_directions && term.flags & (flags::LTR | flags::RTL) != 0,
            _ => false,
        });
        if exceeds {
            self.exceeded = Some(label.clone());
        }
    }

    /// Converts a reader error to a decoder error.
    fn decode_error(&mut self, error: ReadError) -> DecodeError {
        let index = self.reader.builder_mut().message_index();
        DecodeError {
            format: self.format,
            class: error.class,
            reason: error.reason,
            position: Position {
                message_index: self.reader.knows_indices().then_some(index),
                ..error.position
            },
        }
    }

    /// Stops at an error.
    #[cold]
    fn stop(&mut self, error: ReadError) -> DecodeError {
        self.resumable = error.resumable;
        self.complete = self.reader.complete(&self.input);
        if !self.resumable {
            self.input.release();
        }
        let error = self.decode_error(error);
        self.reader.discard();
        self.error.insert(error).clone()
    }
}

impl<R: Reader> Decoder for InputSide<R> {
    fn feed(&mut self, piece: &[u8]) {
        let stopped = self.error.is_some() && !self.resumable;
        if stopped || self.input.finished || !self.reader.needs_more_input(&self.input) {
            return;
        }
        let keep = self.reader.keep(&self.input);
        self.input
            .feed(piece, keep, |removed| self.reader.forget(removed));
    }

    fn finish(&mut self) {
        self.input.finished = true;
    }

    fn next_batch(&mut self) -> Result<Option<Batch>, DecodeError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        unknown::take(); // of another decoder
        let read = self.reader.advance(&mut self.input);
        self.unknown = self.unknown.or(unknown::take());
        let batch = read.or_else(|error| {
            let error = self.stop(error);
            self.reader.take().map(Some).ok_or(error)
        })?;
        if let Some(batch) = &batch {
            self.check_version(batch);
        }
        Ok(batch.map(LogRecord::any))
    }

    fn skip_message(&mut self) -> Result<Option<Vec<u8>>, DecodeError> {
        if let Some(error) = &self.error
            && !self.resumable
        {
            return Err(error.clone());
        }
        match self.reader.skip(&mut self.input) {
            Ok(Some(bytes)) => {
                self.complete = None;
                if self.error.take().is_some() {
                    self.reader.builder_mut().skip_index();
                }
                Ok(Some(bytes))
            }
            Ok(None) => Ok(None),
            Err(error) if self.error.is_some() => Err(self.stop(error)),
            Err(error) => Err(self.decode_error(error)),
        }
    }

    fn is_skip_cut(&self) -> bool {
        self.reader.is_skip_cut()
    }

    fn take_skipped_lines(&mut self) -> Vec<(DecodeError, Vec<u8>)> {
        let format = self.format;
        let lines = self.reader.take_skipped_lines().into_iter();
        let convert = |line: SkippedLine| {
            let ReadError {
                class,
                reason,
                position,
                ..
            } = line.error;
            let error = DecodeError {
                format,
                class,
                reason,
                position,
            };
            (error, line.text)
        };
        lines.map(convert).collect()
    }

    fn reset(&mut self) {
        self.restart();
    }

    fn is_done(&self) -> bool {
        self.reader.is_done()
    }

    fn header(&self) -> Arc<LogHeader> {
        self.reader.header()
    }

    fn observations(&self) -> Observations {
        let mut observations = self.reader.observations();
        observations.complete = self.complete.or(observations.complete);
        if let Some(field) = self.unknown {
            observations
                .warnings
                .add("unknown-field", || SuspiciousData {
                    text: format!(
                        "the log has fields that this version of rdfm does not know, and that it \
                     skipped; the first one is field {field}"
                    ),
                    ..SuspiciousData::default()
                });
        }
        if let Some(label) = &self.exceeded {
            observations
                .warnings
                .add("beyond-version", || SuspiciousData {
                    text: format!(
                        "the log has the version label {}, but contains triple terms or base \
                     directions, which that version does not have",
                        quote(label.as_bytes())
                    ),
                    ..SuspiciousData::default()
                });
        }
        observations
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::codec::batch::NextBatchOf as _;
    use crate::model::builder::BatchBuilder;
    use crate::model::limits::Limits;
    use crate::model::term::{Quad, TermId};

    /// Messages end with `;`. In a message `a` is a quad, `?` is a resumable error, and `!` is an
    /// error that is not resumable.
    struct Toy {
        builder: BatchBuilder,
        first: u64,
        wrong: bool,
    }

    impl Reader for Toy {
        type Record = Quad;

        fn builder_mut(&mut self) -> &mut BatchBuilder {
            &mut self.builder
        }

        fn reset(&mut self) {
            self.builder.start_at(self.first);
            self.wrong = false;
        }

        fn first_byte(&self) -> u64 {
            self.first
        }

        fn advance(&mut self, input: &mut Buffer) -> Result<Option<LogBatch<Quad>>, ReadError> {
            while let Some(end) = memchr::memchr(b';', input.rest()) {
                self.builder.begin_message(input.offset());
                for byte in &input.rest()[..end] {
                    if matches!(byte, b'?' | b'!') {
                        self.wrong = true;
                        let resumable = *byte == b'?';
                        let error = input.error(ErrorClass::Malformed, "wrong");
                        return Err(ReadError { resumable, ..error });
                    }
                    self.builder.push_quad(Quad {
                        subject: TermId::DEFAULT_GRAPH,
                        predicate: TermId::DEFAULT_GRAPH,
                        object: TermId::DEFAULT_GRAPH,
                        graph: TermId::DEFAULT_GRAPH,
                    });
                }
                self.builder.end_message();
                input.index += end + 1;
            }
            if input.finished && !input.rest().is_empty() {
                return Err(input.error(ErrorClass::Truncated, "cut off"));
            }
            Ok(self.builder.take())
        }

        fn skip(&mut self, input: &mut Buffer) -> Result<Option<Vec<u8>>, ReadError> {
            if !self.wrong {
                return Err(input.error(ErrorClass::Unsupported, "nothing"));
            }
            let Some(end) = memchr::memchr(b';', input.rest()) else {
                return Ok(None);
            };
            let skipped = input.rest()[..=end].to_vec();
            if skipped.contains(&b'!') {
                return Err(input.error(ErrorClass::Malformed, "worse"));
            }
            input.index += end + 1;
            self.wrong = false;
            Ok(Some(skipped))
        }
    }

    fn toy() -> InputSide<Toy> {
        toy_from(0)
    }

    fn toy_from(first: u64) -> InputSide<Toy> {
        let builder = BatchBuilder::new(Limits::default());
        InputSide::new(
            "toy",
            Toy {
                builder,
                first,
                wrong: false,
            },
        )
    }

    /// Index, position and size of each message, and each error with the bytes skipped after it.
    type Outcome = (Vec<(u64, u64, usize)>, Vec<(String, Option<Vec<u8>>)>);

    fn read(side: &mut InputSide<Toy>, log: &[u8], piece: usize) -> Outcome {
        let (mut messages, mut errors) = (Vec::new(), Vec::new());
        let mut pieces = log.chunks(piece);
        let mut feed = |side: &mut InputSide<Toy>| match pieces.next() {
            Some(piece) => side.feed(piece),
            None => side.finish(),
        };
        loop {
            match side.next_batch_of::<Quad>() {
                Ok(Some(batch)) => messages.extend((0..batch.len()).map(|position| {
                    let index = batch.message_index(position);
                    (
                        index,
                        batch.byte_offset(position).unwrap(),
                        batch.message(position).len(),
                    )
                })),
                Ok(None) if side.input.finished => return (messages, errors),
                Ok(None) => feed(side),
                Err(error) => {
                    let skipped = loop {
                        match side.skip_message() {
                            Ok(None) => feed(side),
                            other => break other,
                        }
                    };
                    let cannot_skip = skipped.is_err();
                    errors.push((error.to_string(), skipped.ok().flatten()));
                    if cannot_skip {
                        return (messages, errors);
                    }
                }
            }
        }
    }

    const LOG: &[u8] = b"aa;;a?a;aaa;?;a;aa!;a;";

    #[test]
    fn pieces_do_not_change_the_result() {
        let whole = read(&mut toy(), LOG, LOG.len());
        let messages = vec![(0, 0, 2), (1, 3, 0), (3, 8, 3), (5, 14, 1)];
        let error = |byte, message| format!("toy: wrong (byte {byte}, message {message})");
        let errors = vec![
            (error(4, 2), Some(b"a?a;".to_vec())),
            (error(12, 4), Some(b"?;".to_vec())),
            (error(16, 6), None),
        ];
        assert_eq!(whole, (messages, errors));
        for piece in 1..LOG.len() {
            assert_eq!(read(&mut toy(), LOG, piece), whole, "{piece}");
        }
    }

    #[test]
    fn a_reset_restores_the_initial_state() {
        let whole = read(&mut toy(), LOG, LOG.len());
        let mut side = toy();
        for end in 0..LOG.len() {
            for finished in [false, true] {
                side.feed(&LOG[..end]);
                if finished {
                    side.finish();
                }
                let _ = (
                    side.next_batch_of::<Quad>(),
                    side.next_batch_of::<Quad>(),
                    side.skip_message(),
                );
                side.reset();
                assert_eq!(read(&mut side, LOG, 3), whole, "{end} {finished}");
                side.reset();
            }
        }
        let mut later_log = toy_from(100);
        let (messages, _) = read(&mut later_log, b"a;aa;", 1);
        assert_eq!(messages, [(100, 100, 1), (101, 102, 2)]);
        later_log.reset();
        assert_eq!(read(&mut later_log, b"a;aa;", 5).0, messages);
    }

    #[test]
    fn an_error_follows_the_batch_and_is_repeated() {
        let mut side = toy();
        side.feed(b"a;a!;a;");
        assert_eq!(side.next_batch_of::<Quad>().unwrap().unwrap().len(), 1);
        let error = side.next_batch_of::<Quad>().unwrap_err();
        side.feed(b"a;");
        side.finish();
        assert_eq!(side.next_batch_of::<Quad>().unwrap_err(), error);
        assert_eq!(side.skip_message().unwrap_err(), error);
        assert_eq!(side.input.bytes.capacity(), 0);
    }

    #[test]
    fn an_error_while_skipping_replaces_the_first_error() {
        let mut side = toy();
        side.feed(b"?!;a;");
        assert!(side.next_batch_of::<Quad>().is_err());
        let second = side.skip_message().unwrap_err();
        assert_eq!(second.to_string(), "toy: worse (byte 0, message 0)");
        assert_eq!(side.next_batch_of::<Quad>().unwrap_err(), second);
        assert_eq!(side.skip_message().unwrap_err(), second);
    }

    #[test]
    fn skipping_without_an_error_does_not_stop_decoding() {
        let mut side = toy();
        side.feed(b"a;");
        let error = side.skip_message().unwrap_err();
        assert_eq!(error.class, ErrorClass::Unsupported);
        assert_eq!(
            side.next_batch_of::<Quad>()
                .unwrap()
                .unwrap()
                .first_message_index(),
            0
        );
    }

    #[test]
    fn consumed_bytes_are_dropped() {
        let mut side = toy();
        for _ in 0..1000 {
            side.feed(b"aaa;aaa");
            assert!(side.next_batch_of::<Quad>().unwrap().is_some());
            side.feed(b";");
            assert!(side.next_batch_of::<Quad>().unwrap().is_some());
            assert!(side.input.bytes.len() <= 16);
        }
        assert_eq!(side.input.offset(), 8000);
        side.finish();
        side.feed(b"!;");
        assert!(side.next_batch_of::<Quad>().unwrap().is_none());
    }
}

//! NDJSON-LD logs: a line is a context, an empty message or a message.
//!
//! - In: pieces, cut anywhere; only whole lines are read.
//! - Out: batches of complete messages, as soon as no whole line is left.
//! - Cost: linear; memory holds a line, its tape, a piece and a batch.
//! - Law: the cutting changes neither the messages nor the error. LF ends a line; a CR before it is
//!   white space.

use super::options::Reading;
use super::reader::MessageReader;
use crate::codec::{Decoder, Noticed};
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::error::{DecodeError, ErrorClass, Position};
use crate::model::remedy::{Reason, Remedy};
use crate::syntax::json::{ParseError, Tape, View, parse};
use crate::syntax::text::position::Lines;

/// Skipped bytes that are kept.
const KEPT: usize = 1 << 20;

pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads NDJSON-LD.
pub struct NdjsonDecoder {
    reader: MessageReader,
    builder: BatchBuilder,
    tape: Tape,
    buffer: Vec<u8>,
    /// First byte that is not read.
    at: usize,
    /// No line end stands between `at` and here.
    scanned: usize,
    lines: Lines,
    max: u64,
    lenient: bool,
    finished: bool,
    failed: Option<DecodeError>,
    /// The line with the error is still to be skipped; its first bytes.
    skipped: Vec<u8>,
}

/// A line of the bytes at hand.
enum Next {
    /// Up to its line end, and where the next one begins.
    Line(usize, usize),
    Feed,
    TooLong,
}

impl NdjsonDecoder {
    /// A decoder.
    ///
    /// # Errors
    /// The base is not an absolute IRI.
    pub(super) fn new(options: &Reading) -> Result<Self, Reason> {
        Ok(Self {
            reader: MessageReader::new(options)?,
            builder: BatchBuilder::new(options.limits.clone()),
            tape: Tape::new(),
            buffer: Vec::new(),
            at: 0,
            scanned: 0,
            lines: Lines::default(),
            max: options.limits.max_message_bytes,
            lenient: options.lenient,
            finished: false,
            failed: None,
            skipped: Vec::new(),
        })
    }

    /// The next whole line, or what is left at the end.
    fn next_line(&mut self) -> Next {
        let from = self.scanned.max(self.at);
        let rest = self.buffer.get(from..).unwrap_or_default();
        let length = |end: usize| (end - self.at) as u64;
        if let Some(end) = memchr::memchr(b'\n', rest) {
            let end = from + end;
            if length(end) > self.max {
                return Next::TooLong;
            }
            return Next::Line(end, end + 1);
        }
        let end = self.buffer.len();
        self.scanned = end;
        if length(end) > self.max {
            return Next::TooLong;
        }
        if self.finished && end > self.at {
            return Next::Line(end, end);
        }
        Next::Feed
    }

    /// Reads a line; an error tells its position in the line.
    fn line(&mut self, end: usize) -> Result<(), ParseError> {
        let offset = self.lines.offset();
        let mut line = self.buffer.get(self.at..end).unwrap_or_default();
        let mut before = 0;
        // Where files were joined one stands within the log.
        let marked = check_mark(line, self.lenient);
        if line.starts_with(BOM) {
            before = BOM.len();
            line = &line[before..];
        }
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            marked?;
            if self.lenient {
                return Ok(());
            }
            return Err(ParseError {
                at: 0,
                class: ErrorClass::Malformed,
                reason: Reason::new("a blank line")
                    .with(Remedy::lenient("passes over blank lines")),
            });
        }
        let outcome = marked
            .and_then(|()| check_utf8(line))
            .and_then(|()| parse(line, &mut self.tape, self.reader.bounds()))
            .inspect_err(|_| {
                if begins_context(line) {
                    self.reader.lose_context();
                }
            })
            .and_then(|()| {
                let view = View {
                    tape: &self.tape,
                    source: line,
                };
                let start = offset + before as u64 + u64::from(view.node(0).at);
                self.reader.read(&view, start, &mut self.builder)
            });
        outcome.map_err(|error| ParseError {
            at: error.at + before,
            ..error
        })
    }

    /// Turns an error at a byte from `at` into the decoder's error.
    #[cold]
    fn fail(&mut self, error: ParseError, whole_line: bool) {
        let at = (self.at + error.at).min(self.buffer.len());
        // A line that ends the log could have gone on.
        let class = match error.class {
            ErrorClass::Truncated if whole_line => ErrorClass::Malformed,
            class => class,
        };
        let before = self.buffer.get(self.at..at).unwrap_or_default();
        self.failed = Some(DecodeError {
            format: "ndjsonld",
            class,
            reason: error.reason,
            position: Position {
                offset: self.lines.offset() + before.len() as u64,
                message: Some(self.builder.message_index()),
                line_column: Some(self.lines.position(before)),
                frame_row: None,
            },
        });
    }

    /// Goes to the next line.
    fn advance(&mut self, next: usize) {
        let bytes = (next - self.at) as u64;
        let ended = self.buffer.get(next.wrapping_sub(1)) == Some(&b'\n');
        self.lines.advance_lines(bytes, u64::from(ended));
        self.at = next;
        self.scanned = next;
    }
}

impl Decoder for NdjsonDecoder {
    fn feed(&mut self, piece: &[u8]) {
        if self.at >= self.buffer.len() - self.at {
            self.buffer.drain(..self.at);
            self.scanned = self.scanned.saturating_sub(self.at);
            self.at = 0;
        }
        self.buffer.extend_from_slice(piece);
    }

    fn finish(&mut self) {
        self.finished = true;
    }

    fn next_batch(&mut self) -> Result<Option<MessageBatch>, DecodeError> {
        loop {
            if let Some(error) = &self.failed {
                return match self.builder.take() {
                    Some(batch) => Ok(Some(batch)),
                    None => Err(error.clone()),
                };
            }
            match self.next_line() {
                Next::Feed => return Ok(self.builder.take()),
                Next::TooLong => {
                    let error = ParseError {
                        at: 0,
                        class: ErrorClass::Limit,
                        reason: Reason::limit(
                            format!("the line is longer than {} bytes", self.max),
                            "max_message_bytes",
                        ),
                    };
                    self.fail(error, true);
                }
                Next::Line(end, next) => match self.line(end) {
                    Ok(()) => {
                        self.advance(next);
                        if self.builder.full() && self.builder.has_messages() {
                            return Ok(self.builder.take());
                        }
                    }
                    Err(error) => self.fail(error, next > end),
                },
            }
        }
    }

    fn skip_message(&mut self) -> Result<Option<Vec<u8>>, DecodeError> {
        if self.failed.is_none() {
            return Ok(Some(Vec::new()));
        }
        let rest = self.buffer.get(self.at..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).map_or(self.buffer.len(), |end| self.at + end + 1);
        let room = KEPT.saturating_sub(self.skipped.len());
        let line = self.buffer.get(self.at..end).unwrap_or_default();
        self.skipped
            .extend_from_slice(&line[..line.len().min(room)]);
        let ended = line.last() == Some(&b'\n');
        self.advance(end);
        if !ended && !self.finished {
            return Ok(None);
        }
        self.failed = None;
        self.builder.skip_index();
        Ok(Some(std::mem::take(&mut self.skipped)))
    }

    fn reset(&mut self) {
        self.reader.reset();
        self.builder.reset();
        self.buffer.clear();
        self.at = 0;
        self.scanned = 0;
        self.lines = Lines::default();
        self.finished = false;
        self.failed = None;
        self.skipped.clear();
    }

    fn noticed(&self) -> Noticed {
        self.reader.noticed()
    }
}

/// Refuses a byte order mark, unless lenient.
pub(super) fn check_mark(text: &[u8], lenient: bool) -> Result<(), ParseError> {
    if lenient || !text.starts_with(BOM) {
        return Ok(());
    }
    Err(ParseError {
        at: 0,
        class: ErrorClass::Malformed,
        reason: Reason::new("expected a JSON value, found a byte order mark")
            .with(Remedy::lenient("passes over it")),
    })
}

/// Refuses what is no UTF-8.
pub(crate) fn check_utf8(text: &[u8]) -> Result<(), ParseError> {
    if simdutf8::basic::from_utf8(text).is_ok() {
        return Ok(());
    }
    let error = simdutf8::compat::from_utf8(text).err();
    Err(ParseError {
        at: error.map_or(0, |error| error.valid_up_to()),
        class: ErrorClass::Malformed,
        reason: "invalid UTF-8; the log must be UTF-8 text".into(),
    })
}

/// Whether a line begins as a context message does.
fn begins_context(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.strip_prefix(b"{")
        .is_some_and(|rest| rest.trim_ascii_start().starts_with(b"\"@context\""))
}

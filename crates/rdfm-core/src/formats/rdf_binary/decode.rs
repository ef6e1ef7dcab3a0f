//! Logs of RDF Protobuf and RDF Thrift to batches: finds rows and messages, keeps positions.
//!
//! - In: bytes in pieces of any size.
//! - Out: a message an `RDF_Stream`; or, of rows alone, one message, also where there is no row.
//! - Cost: linear; memory holds one row, one piece and one batch.
//! - Law: a row is read only when it is wholly there; how the bytes are cut changes nothing.

use super::model::Slots;
use super::options::{Framing, Reading};
use super::protobuf::{self, Protobuf, looks_like_messages};
use super::terms::Terms;
use super::thrift::{self, Thrift};
use crate::codec::Decoder;
use crate::codec::spec::FormatSpec;
use crate::codec::start::{self, Start};
use crate::model::batch::MessageBatch;
use crate::model::error::{DecodeError, ErrorClass, Position};
use crate::model::remedy::Reason;
use crate::syntax::wire::{LENGTH, Varint, Wire, long_varint, varint_size};

/// The field of `RDF_Stream` that is a row.
const ROW: u32 = 1;

/// Reads RDF Protobuf or RDF Thrift.
pub struct BinaryDecoder {
    format: &'static FormatSpec,
    /// Rows stand one after the other, as RDF Thrift has them.
    bare: bool,
    asked: Option<Framing>,
    parts: bool,
    most: u64,
    terms: Terms,
    buffer: Vec<u8>,
    /// First byte of the buffer that was not taken yet.
    at: usize,
    /// Offset in the log of the buffer's first byte.
    base: u64,
    finished: bool,
    /// Of rows alone: whether the one message was begun.
    begun: bool,
    layout: Option<Layout>,
    /// Bytes that must be there before a row is looked for again.
    wanted: usize,
    error: Option<DecodeError>,
}

/// How rows stand in the log.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Thrift: one after the other.
    Bare,
    /// Protobuf: behind their lengths.
    Rows,
    /// Protobuf: in messages behind theirs; bytes left of the open message.
    Messages(u64),
}

/// What comes next in the buffer.
enum Next {
    /// Row bytes from here to there.
    Row(usize, usize),
    MessageEnd,
    /// Something else was taken.
    Skipped,
    Wait,
    Done,
}

/// Class and reason of an error.
type Failure = (ErrorClass, Reason);

impl BinaryDecoder {
    /// A decoder at the start of a log: of RDF Thrift, if it is bare, or of RDF Protobuf.
    pub(super) fn new(format: &'static FormatSpec, bare: bool, options: &Reading) -> Self {
        let mut decoder = Self {
            format,
            bare,
            asked: options.framing,
            parts: options.parts,
            most: options.limits.max_message_bytes,
            terms: Terms::new(&options.limits),
            buffer: Vec::new(),
            at: 0,
            base: 0,
            finished: false,
            begun: false,
            layout: None,
            wanted: 0,
            error: None,
        };
        decoder.reset();
        decoder
    }

    /// The next batch, or None where bytes are missing or all are read.
    fn advance(&mut self) -> Result<Option<MessageBatch>, Failure> {
        loop {
            let result = match self.next()? {
                Next::Row(start, end) => self.row(start, end),
                Next::Skipped => continue,
                Next::MessageEnd => {
                    self.terms.builder.end_message();
                    if self.terms.builder.full() {
                        return Ok(self.terms.builder.take());
                    }
                    continue;
                }
                Next::Wait if self.terms.builder.is_open() => return Ok(None),
                Next::Wait => return Ok(self.terms.builder.take()),
                Next::Done => {
                    if self.terms.builder.is_open() {
                        self.terms.builder.end_message();
                    }
                    return Ok(self.terms.builder.take());
                }
            };
            result?;
            if self.parts && self.terms.builder.part_full() {
                return Ok(Some(self.terms.builder.take_part()));
            }
        }
    }

    /// Takes the row that stands in the buffer from `start` on, to `end` if that is known.
    #[inline]
    fn row(&mut self, start: usize, end: usize) -> Result<(), Failure> {
        let bytes = self.buffer.get(start..end).unwrap_or_default();
        let mut slots = Slots::EMPTY;
        let end = if self.layout == Some(Layout::Bare) {
            match thrift::row(bytes, &mut slots) {
                Ok((row, length)) => {
                    self.terms
                        .row::<Thrift>(row, &slots)
                        .map_err(crate::syntax::wire::WireError::into_parts)?;
                    start + length
                }
                Err(error) if error.class() == ErrorClass::Truncated => {
                    return self.incomplete(bytes.len());
                }
                Err(error) => return Err(error.into_parts()),
            }
        } else {
            protobuf::row(bytes, &mut slots)
                .and_then(|row| self.terms.row::<Protobuf>(row, &slots))
                .map_err(|error| match error.into_parts() {
                    // The row is there: its own lengths do not fit it.
                    (ErrorClass::Truncated, reason) => (ErrorClass::Malformed, reason),
                    other => other,
                })?;
            end
        };
        self.take(end - self.at);
        Ok(())
    }

    /// Takes bytes, also from what is left of the open message.
    #[inline]
    fn take(&mut self, count: usize) {
        self.at += count;
        if let Some(Layout::Messages(left)) = &mut self.layout {
            *left -= count as u64;
        }
    }

    /// A row of Thrift of which only so many bytes are there.
    #[cold]
    fn incomplete(&mut self, there: usize) -> Result<(), Failure> {
        if there as u64 > self.most {
            return Err(self.too_large("a row"));
        }
        if self.finished {
            return Err((ErrorClass::Truncated, "the log ends inside a row".into()));
        }
        // Half as much again, since what is there must be read from the start.
        self.wanted = there + there / 2 + 1;
        Ok(())
    }

    #[cold]
    fn too_large(&self, what: &str) -> Failure {
        (
            ErrorClass::Limit,
            Reason::limit(
                format!("{what} is larger than {} bytes", self.most),
                "max_message_bytes",
            ),
        )
    }

    fn next(&mut self) -> Result<Next, Failure> {
        let rest = self.buffer.get(self.at..).unwrap_or_default();
        let layout = match self.layout {
            Some(layout) => layout,
            None => match (self.asked, looks_like_messages(rest)) {
                (Some(Framing::Messages), _) | (None, Some(true)) => Layout::Messages(0),
                (None, None) if !self.finished => return Ok(Next::Wait),
                (None, None) if rest.is_empty() => return Ok(Next::Done),
                _ => Layout::Rows,
            },
        };
        self.layout = Some(layout);
        if let Layout::Messages(left) = layout {
            return self.next_in_messages(left);
        }
        if !self.terms.builder.is_open() {
            if self.begun {
                return Ok(Next::Done);
            }
            self.begun = true;
            self.terms.builder.begin_message(0);
        }
        if rest.is_empty() {
            return Ok(self.wait_or_done());
        }
        if layout == Layout::Bare {
            if rest.len() < self.wanted && !self.finished {
                return Ok(Next::Wait);
            }
            self.wanted = 0;
            // One byte more than a row may have shows that it has more.
            let window = usize::try_from(self.most).map_or(usize::MAX, |most| most + 1);
            return Ok(Next::Row(self.at, self.at + rest.len().min(window)));
        }
        match self.length(rest, "a row")? {
            None => Ok(Next::Wait),
            Some((length, prefix)) => self.whole_row(rest.len() as u64, prefix, length),
        }
    }

    fn wait_or_done(&self) -> Next {
        if self.finished {
            Next::Done
        } else {
            Next::Wait
        }
    }

    /// A length at the start of bytes, and the bytes that it takes.
    #[inline]
    fn length(&self, rest: &[u8], of: &str) -> Result<Option<(u64, usize)>, Failure> {
        match long_varint(rest) {
            Varint::Value(length, prefix) => Ok(Some((length, prefix))),
            Varint::Incomplete if !self.finished => Ok(None),
            Varint::Incomplete => Err((
                ErrorClass::Truncated,
                format!("the log ends inside the length of {of}").into(),
            )),
            Varint::TooLong => Err((
                ErrorClass::Malformed,
                format!("the length of {of} is longer than 10 bytes").into(),
            )),
        }
    }

    /// The row of a length behind so many bytes of tag and length, once it is there.
    #[inline]
    fn whole_row(&self, there: u64, prefix: usize, length: u64) -> Result<Next, Failure> {
        if length > self.most {
            return Err(self.too_large(&format!("a row of {length} bytes")));
        }
        let there = there.saturating_sub(prefix as u64);
        if there >= length {
            let start = self.at + prefix;
            return Ok(Next::Row(start, start + length as usize));
        }
        if !self.finished {
            return Ok(Next::Wait);
        }
        Err((
            ErrorClass::Truncated,
            format!("the log ends inside a row: {there} of its {length} bytes are there").into(),
        ))
    }

    fn next_in_messages(&mut self, left: u64) -> Result<Next, Failure> {
        let rest = self.buffer.get(self.at..).unwrap_or_default();
        if !self.terms.builder.is_open() {
            if rest.is_empty() {
                return Ok(self.wait_or_done());
            }
            let Some((length, prefix)) = self.length(rest, "a message")? else {
                return Ok(Next::Wait);
            };
            let position = self.base + self.at as u64;
            self.terms.builder.begin_message(position);
            self.at += prefix;
            self.layout = Some(Layout::Messages(length));
            return Ok(Next::Skipped);
        }
        if left == 0 {
            return Ok(Next::MessageEnd);
        }
        // One byte more than a field may have shows that it has more.
        let most = left.min(self.most.saturating_add(32));
        let window = rest
            .get(..usize::try_from(most).unwrap_or(usize::MAX))
            .unwrap_or(rest);
        let mut wire = Wire::new(window);
        let found = wire.tag().and_then(|(field, kind)| {
            if (field, kind) == (ROW, LENGTH) {
                return Ok(Some(wire.varint()?));
            }
            Wire::expect(
                kind,
                if field == ROW { LENGTH } else { kind },
                field,
                "the message",
            )?;
            wire.skip(field, kind)?;
            Ok(None)
        });
        let taken = window.len() - wire.rest().len();
        match found {
            Ok(None) => {
                self.take(taken);
                Ok(Next::Skipped)
            }
            Ok(Some(length)) if taken as u64 + length.min(left) > left => Err((
                ErrorClass::Malformed,
                format!("a row of {length} bytes runs past the end of its message").into(),
            )),
            Ok(Some(length)) => self.whole_row(rest.len() as u64, taken, length),
            Err(error) => match error.into_parts() {
                (ErrorClass::Truncated, _) if (window.len() as u64) < most => {
                    if self.finished {
                        return Err((
                            ErrorClass::Truncated,
                            "the log ends inside a message".into(),
                        ));
                    }
                    Ok(Next::Wait)
                }
                (ErrorClass::Truncated, _) if most < left => Err(self.too_large("a field")),
                (ErrorClass::Truncated, reason) => Err((ErrorClass::Malformed, reason)),
                other => Err(other),
            },
        }
    }

    /// What the first row looks like; `None` behind it.
    fn start(&self) -> Option<Start> {
        let taken = self.base + self.at as u64;
        let rest = self.buffer.get(self.at..).unwrap_or_default();
        match self.layout {
            Some(Layout::Bare) if taken == 0 => Some(thrift::start(rest)),
            Some(Layout::Rows) if taken == 0 => Some(protobuf::start(rest)),
            // The length alone was taken: the message is as long as it says.
            Some(Layout::Messages(left)) if left > 0 && taken == varint_size(left) as u64 => {
                Some(match rest.first() {
                    None => Start::Unclear,
                    Some(&protobuf::ROW) => Start::Same,
                    Some(_) => Start::Other,
                })
            }
            _ => None,
        }
    }

    #[cold]
    fn failed(&self, failure: Failure) -> DecodeError {
        let file = format!("an {} file", self.format.title);
        let (class, reason) = match self.start() {
            Some(start) => start::explained(start, &file, failure),
            None => failure,
        };
        DecodeError {
            format: self.format.name,
            class,
            reason,
            position: Position {
                offset: self.base + self.at as u64,
                message: Some(self.terms.builder.message_index()),
                line_column: None,
                frame_row: None,
            },
        }
    }
}

impl Decoder for BinaryDecoder {
    fn feed(&mut self, piece: &[u8]) {
        if self.error.is_some() || self.finished {
            return;
        }
        // Moving the rest costs no more than what was taken since the last move.
        if self.at >= self.buffer.len() / 2 {
            self.buffer.drain(..self.at);
            self.base += self.at as u64;
            self.at = 0;
        }
        self.buffer.extend_from_slice(piece);
    }

    fn finish(&mut self) {
        self.finished = true;
    }

    fn next_batch(&mut self) -> Result<Option<MessageBatch>, DecodeError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        self.advance().or_else(|failure| {
            let error = self.failed(failure);
            self.buffer = Vec::new();
            self.terms.builder.discard_message();
            self.error = Some(error.clone());
            self.terms.builder.take().map(Some).ok_or(error)
        })
    }

    fn skip_message(&mut self) -> Result<Option<Vec<u8>>, DecodeError> {
        Err(self.error.clone().unwrap_or_else(|| {
            let reason = "rows build on those before them: none can be skipped".to_owned();
            self.failed((ErrorClass::Unsupported, reason.into()))
        }))
    }

    fn reset(&mut self) {
        self.terms.reset();
        self.buffer.clear();
        self.at = 0;
        self.base = 0;
        self.finished = false;
        self.begun = false;
        self.layout = self.bare.then_some(Layout::Bare);
        self.wanted = 0;
        self.error = None;
    }
}

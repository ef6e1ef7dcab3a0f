//! Decodes logs of RDF Protobuf and RDF Thrift: finds rows and messages, and tracks positions.
//!
//! - In: bytes in pieces of any size.
//! - Out: one message per `RDF_Stream`. A log without `RDF_Stream`s is one message, even if it has
//!   no rows.
//! - Cost: linear. Memory is bounded by one row, one piece and one batch.
//! - Law: a row is read only when it is complete. The result does not depend on how the bytes are
//!   cut.

use super::options::{BinaryReading, Framing};
use super::protobuf::{self, detect_framing};
use super::thrift;
use crate::codec::Observations;
use crate::codec::input::{Buffer, ReadError, Reader};
use crate::codec::start::{self, Start};
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::error::ErrorClass;
use crate::model::remedy::{Reason, Remedy};
use crate::model::term::Quad;
use crate::syntax::rdf_binary::model::Slots;
use crate::syntax::rdf_binary::protobuf::Protobuf;
use crate::syntax::rdf_binary::terms::BinaryTerms;
use crate::syntax::rdf_binary::thrift::Thrift;
use crate::syntax::wire::{LENGTH, Varint, Wire, read_long_varint, varint_size};

/// The field of `RDF_Stream` that contains a row.
const ROW: u32 = 1;

/// Reads RDF Protobuf or RDF Thrift.
pub struct RdfBinaryReader {
    /// Title of the format.
    title: &'static str,
    /// Whether rows follow each other without lengths, as in RDF Thrift.
    bare: bool,
    requested: Option<Framing>,
    parts: bool,
    max: u64,
    terms: BinaryTerms<Quad>,
    /// For logs that contain only rows: whether their message has begun.
    has_begun: bool,
    layout: Option<RowLayout>,
    /// Number of buffered bytes needed before trying to read a row again.
    needed: usize,
}

/// Layout of the rows in a log.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowLayout {
    /// Thrift: rows without lengths.
    Bare,
    /// Protobuf: rows with lengths.
    Rows,
    /// Protobuf: rows in messages with lengths. The number is the remaining bytes of the open
    /// message.
    Messages(u64),
    /// Protobuf: the rows of one `RDF_Stream` without a length.
    Stream,
    /// Protobuf: the triples of one `RDF_Graph` without a length.
    Graph,
}

/// The next item in the buffer.
enum BinaryItem {
    /// A row, by its start and end index.
    Row(usize, usize),
    MessageEnd,
    /// Other bytes, which were consumed.
    Skipped,
    Wait,
    Done,
}

/// Class and reason of an error.
type Failure = (ErrorClass, Reason);

impl RdfBinaryReader {
    /// Creates a reader for RDF Thrift if `bare` is true, otherwise for RDF Protobuf.
    pub(super) fn new(title: &'static str, bare: bool, options: &BinaryReading) -> Self {
        Self {
            title,
            bare,
            requested: options.framing,
            parts: options.parts,
            max: options.limits.max_message_bytes,
            terms: BinaryTerms::new(&options.limits),
            has_begun: false,
            layout: None,
            needed: 0,
        }
    }

    /// Returns the next batch, or `None` if more input is needed or the log is complete.
    fn read(&mut self, input: &mut Buffer) -> Result<Option<MessageBatch>, Failure> {
        loop {
            let result = match self.next(input)? {
                BinaryItem::Row(start, end) => self.read_row(input, start, end),
                BinaryItem::Skipped => continue,
                BinaryItem::MessageEnd => {
                    self.terms.builder.end_message();
                    if self.terms.builder.is_full() {
                        return Ok(self.terms.builder.take());
                    }
                    continue;
                }
                BinaryItem::Wait if self.terms.builder.is_open() => return Ok(None),
                BinaryItem::Wait => return Ok(self.terms.builder.take()),
                BinaryItem::Done => {
                    if self.terms.builder.is_open() {
                        self.terms.builder.end_message();
                    }
                    return Ok(self.terms.builder.take());
                }
            };
            result?;
            if self.parts && self.terms.builder.is_part_full() {
                return Ok(Some(self.terms.builder.take_part()));
            }
        }
    }

    /// Consumes the row that begins at `start` in the buffer. The row ends at `end`, or possibly
    /// before `end` in Thrift.
    #[inline]
    fn read_row(&mut self, input: &mut Buffer, start: usize, end: usize) -> Result<(), Failure> {
        let bytes = input.bytes.get(start..end).unwrap_or_default();
        let mut slots = Slots::EMPTY;
        let end = if self.layout == Some(RowLayout::Bare) {
            match thrift::read_row(bytes, &mut slots) {
                Ok((row, length)) => {
                    row.take::<Thrift>(&slots, &mut self.terms)
                        .map_err(crate::syntax::wire::WireError::into_parts)?;
                    start + length
                }
                Err(error) if error.class() == ErrorClass::Truncated => {
                    return self.wait_for_row(bytes.len(), input.finished);
                }
                Err(error) => return Err(error.into_parts()),
            }
        } else {
            let row = if self.layout == Some(RowLayout::Graph) {
                protobuf::read_graph_triple(bytes, &mut slots)
            } else {
                protobuf::read_row(bytes, &mut slots)
            };
            row.and_then(|row| row.take::<Protobuf>(&slots, &mut self.terms))
                .map_err(|error| match error.into_parts() {
                    // The row is complete, so its own lengths are inconsistent.
                    (ErrorClass::Truncated, reason) => (ErrorClass::Malformed, reason),
                    other => other,
                })?;
            end
        };
        self.consume(input, end - input.index);
        Ok(())
    }

    /// Consumes bytes, which also count towards the open message.
    #[inline]
    fn consume(&mut self, input: &mut Buffer, count: usize) {
        input.index += count;
        if let Some(RowLayout::Messages(left)) = &mut self.layout {
            *left -= count as u64;
        }
    }

    /// Handles an incomplete Thrift row. `buffered` is the number of its bytes in the buffer.
    #[cold]
    fn wait_for_row(&mut self, buffered: usize, finished: bool) -> Result<(), Failure> {
        if buffered as u64 > self.max {
            return Err(self.too_large("a row"));
        }
        if finished {
            return Err((ErrorClass::Truncated, "the log ends inside a row".into()));
        }
        // Waits until the buffered part has grown by half, because the row must be read again from
        // its start.
        self.needed = buffered + buffered / 2 + 1;
        Ok(())
    }

    #[cold]
    fn too_large(&self, unit: &str) -> Failure {
        (
            ErrorClass::Limit,
            Reason::limit(
                format!("{unit} is larger than {} bytes", self.max),
                "max_message_bytes",
            ),
        )
    }

    fn next(&mut self, input: &mut Buffer) -> Result<BinaryItem, Failure> {
        let rest = input.rest();
        let layout = match self.layout {
            Some(layout) => layout,
            None => match self.requested.or_else(|| detect_framing(rest)) {
                Some(Framing::Messages) => RowLayout::Messages(0),
                Some(Framing::Stream) if self.requested.is_some() => RowLayout::Stream,
                Some(Framing::Graph) if self.requested.is_some() => RowLayout::Graph,
                Some(Framing::Stream) => return Err(bare("RDF_Stream", "stream")),
                Some(Framing::Graph) => return Err(bare("RDF_Graph", "graph")),
                None if !input.finished => return Ok(BinaryItem::Wait),
                None if rest.is_empty() => return Ok(BinaryItem::Done),
                Some(Framing::Rows) | None => RowLayout::Rows,
            },
        };
        self.layout = Some(layout);
        if let RowLayout::Messages(left) = layout {
            return self.next_in_messages(input, left);
        }
        if !self.terms.builder.is_open() {
            if self.has_begun {
                return Ok(BinaryItem::Done);
            }
            self.has_begun = true;
            self.terms.builder.begin_message(0);
        }
        if rest.is_empty() {
            return Ok(wait_or_done(input));
        }
        if layout == RowLayout::Bare {
            if rest.len() < self.needed && !input.finished {
                return Ok(BinaryItem::Wait);
            }
            self.needed = 0;
            // One byte above the limit suffices to detect a row that exceeds it.
            let window = usize::try_from(self.max).map_or(usize::MAX, |max| max + 1);
            return Ok(BinaryItem::Row(
                input.index,
                input.index + rest.len().min(window),
            ));
        }
        if layout != RowLayout::Rows {
            return self.next_field(input, u64::MAX);
        }
        match read_length(rest, input.finished, "a row")? {
            None => Ok(BinaryItem::Wait),
            Some((length, prefix)) => self.take_complete_row(input, rest.len(), prefix, length),
        }
    }

    /// Returns the row after a tag and a length, or [`BinaryItem::Wait`] if it is incomplete.
    #[inline]
    fn take_complete_row(
        &self,
        input: &Buffer,
        rest: usize,
        prefix: usize,
        length: u64,
    ) -> Result<BinaryItem, Failure> {
        if length > self.max {
            return Err(self.too_large(&format!("a row of {length} bytes")));
        }
        let buffered = (rest as u64).saturating_sub(prefix as u64);
        if buffered >= length {
            let start = input.index + prefix;
            return Ok(BinaryItem::Row(start, start + length as usize));
        }
        if !input.finished {
            return Ok(BinaryItem::Wait);
        }
        Err((
            ErrorClass::Truncated,
            format!("the log ends inside a row: {buffered} of its {length} bytes are present")
                .into(),
        ))
    }

    fn next_in_messages(&mut self, input: &mut Buffer, left: u64) -> Result<BinaryItem, Failure> {
        let rest = input.rest();
        if !self.terms.builder.is_open() {
            if rest.is_empty() {
                return Ok(wait_or_done(input));
            }
            let Some((length, prefix)) = read_length(rest, input.finished, "a message")? else {
                return Ok(BinaryItem::Wait);
            };
            self.terms.builder.begin_message(input.offset());
            input.index += prefix;
            self.layout = Some(RowLayout::Messages(length));
            return Ok(BinaryItem::Skipped);
        }
        if left == 0 {
            return Ok(BinaryItem::MessageEnd);
        }
        self.next_field(input, left)
    }

    /// Returns the next row of a message, or skips another field. `left` is the number of bytes up
    /// to the end of the message.
    fn next_field(&mut self, input: &mut Buffer, left: u64) -> Result<BinaryItem, Failure> {
        let rest = input.rest();
        // One byte above the limit suffices to detect a field that exceeds it.
        let max = left.min(self.max.saturating_add(32));
        let window = rest
            .get(..usize::try_from(max).unwrap_or(usize::MAX))
            .unwrap_or(rest);
        let mut wire = Wire::new(window);
        let header = wire.read_tag().and_then(|(field, kind)| {
            if (field, kind) == (ROW, LENGTH) {
                return Ok(Some(wire.read_varint()?));
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
        let consumed = window.len() - wire.rest().len();
        match header {
            Ok(None) => {
                self.consume(input, consumed);
                Ok(BinaryItem::Skipped)
            }
            Ok(Some(length)) if length > left.saturating_sub(consumed as u64) => Err((
                ErrorClass::Malformed,
                format!("a row of {length} bytes extends beyond the end of its message").into(),
            )),
            Ok(Some(length)) => self.take_complete_row(input, rest.len(), consumed, length),
            Err(error) => match error.into_parts() {
                (ErrorClass::Truncated, _) if (window.len() as u64) < max => {
                    if input.finished {
                        return Err((
                            ErrorClass::Truncated,
                            "the log ends inside a message".into(),
                        ));
                    }
                    Ok(BinaryItem::Wait)
                }
                (ErrorClass::Truncated, _) if max < left => Err(self.too_large("a field")),
                (ErrorClass::Truncated, reason) => Err((ErrorClass::Malformed, reason)),
                other => Err(other),
            },
        }
    }

    /// Whether the first row looks like this format; `None` after the first row.
    fn start(&self, input: &Buffer) -> Option<Start> {
        let (offset, rest) = (input.offset(), input.rest());
        match self.layout {
            Some(RowLayout::Bare) if offset == 0 => Some(thrift::start(rest)),
            Some(RowLayout::Rows) if offset == 0 => Some(protobuf::start(rest)),
            // Only the length was consumed, and the message has that length.
            Some(RowLayout::Messages(left)) if left > 0 && offset == varint_size(left) as u64 => {
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
    fn explain_error(&self, input: &Buffer, failure: Failure) -> ReadError {
        let file = format!("an {} file", self.title);
        let (class, reason) = match self.start(input) {
            Some(start) => start::explain_error(start, &file, failure),
            None => failure,
        };
        input.error(class, reason)
    }
}

fn wait_or_done(input: &Buffer) -> BinaryItem {
    if input.finished {
        BinaryItem::Done
    } else {
        BinaryItem::Wait
    }
}

/// Reads a length. Returns the length and the number of bytes that encode it.
#[inline]
fn read_length(rest: &[u8], finished: bool, unit: &str) -> Result<Option<(u64, usize)>, Failure> {
    match read_long_varint(rest) {
        Varint::Value(length, prefix) => Ok(Some((length, prefix))),
        Varint::Incomplete if !finished => Ok(None),
        Varint::Incomplete => Err((
            ErrorClass::Truncated,
            format!("the log ends inside the length prefix of {unit}").into(),
        )),
        Varint::TooLong => Err((
            ErrorClass::Malformed,
            format!("the length prefix of {unit} is longer than 10 bytes").into(),
        )),
    }
}

impl Reader for RdfBinaryReader {
    type Record = Quad;

    fn builder_mut(&mut self) -> &mut BatchBuilder {
        &mut self.terms.builder
    }

    fn reset(&mut self) {
        self.terms.reset();
        self.has_begun = false;
        self.layout = self.bare.then_some(RowLayout::Bare);
        self.needed = 0;
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<MessageBatch>, ReadError> {
        self.read(input)
            .map_err(|failure| self.explain_error(input, failure))
    }

    fn observations(&self) -> Observations {
        Observations {
            closed: match self.layout {
                Some(RowLayout::Rows) => Some("its rows have no message boundaries"),
                Some(RowLayout::Stream | RowLayout::Graph) => {
                    Some("it is one message without a length prefix")
                }
                _ => None,
            },
            ..Observations::default()
        }
    }

    fn skip(&mut self, input: &mut Buffer) -> Result<Option<Vec<u8>>, ReadError> {
        let reason = "rows depend on earlier rows, so none can be skipped";
        Err(input.error(ErrorClass::Unsupported, reason))
    }
}

/// The error for a log without length prefixes. Jena rejects such files, so they are read only on
/// request.
#[cold]
fn bare(structure: &str, framing: &'static str) -> Failure {
    let text = format!("the log is a single {structure} without a length prefix");
    let remedy = Remedy::read("framing", framing, "reads it as one message");
    (ErrorClass::Malformed, Reason::new(text).with(remedy))
}

//! Splits a log into frames, and frames into rows.
//!
//! - In: the buffered bytes, which contain length-prefixed frames or one bare frame.
//! - Out: complete frames, their first rows, and row fields.
//! - Cost: constant per frame.
//! - Law: the result does not depend on how the bytes are cut into pieces.

use std::borrow::Cow;

use super::options::{JoinMode, ReadSettings};
use super::restart::looks_like_mark;
use crate::codec::input::{Buffer, ReadError};
use crate::codec::start::{self, Start};
use crate::codec::unknown;
use crate::model::error::{ErrorClass, Position};
use crate::model::remedy::Reason;
use crate::syntax::wire::{Checked, LENGTH, Varint, Wire, read_long_varint};

/// Tags of a frame's fields: a row, columns, and metadata.
const ROW: u8 = 0x0a;
const COLUMNS: u8 = 0x12;
const METADATA: u8 = 0x7a;
/// Size in bytes of a 122-byte metadata entry at the start of a bare frame, including its tag and
/// length.
const LONG_ENTRY: usize = 124;
/// Size in bytes of a frame whose length looks like the tag of columns, including its length.
const LIKE_COLUMNS: usize = 1 + COLUMNS as usize;
/// Field number of the columns in a frame.
pub(super) const COLUMNS_FIELD: usize = 2;
/// Field number of the metadata in a frame.
pub(super) const METADATA_FIELD: usize = 15;
/// The rows of a frame, as a bit set. The other fields differ between the formats.
const ROWS: u32 = 1 << 1;
/// Fields of a frame, as a bit set: rows, columns and metadata.
pub(super) const FRAME_FIELDS: u32 = ROWS | 1 << COLUMNS_FIELD | 1 << METADATA_FIELD;
/// Fields of a metadata entry, as a bit set: key and value.
const ENTRY_FIELDS: u32 = 1 << 1 | 1 << 2;
/// Bytes counted for a buffered frame in addition to its content.
pub(super) const FRAME_OVERHEAD: u64 = 64;
/// Error text for a row without a known field.
pub(super) const EMPTY_ROW: &str = "the row is empty; exactly one of its fields must be set";

/// A frame being read, with positions in the buffer.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub at: usize,
    pub end: usize,
    pub row: u64,
}

/// Result of looking for the next frame.
pub(super) enum NextFrame {
    Frame(Frame),
    /// The frame is incomplete.
    Wait,
    Done,
}

/// Splits a log into frames.
pub(super) struct FrameSplitter {
    /// Whether frames are length-prefixed, if set by an option.
    requested: Option<bool>,
    delimited: Option<bool>,
    /// Whether a bare frame ends before each further options row.
    cuts_bare: bool,
    max_bytes: u64,
    /// Index of the current or next frame.
    pub index: u64,
    /// Index of the first frame that is read. In a split, this is also the index of a message.
    first_message_index: u64,
    /// Whether the indices of frames and rows are known.
    knows_indices: bool,
}

impl FrameSplitter {
    pub fn new(options: &ReadSettings) -> Self {
        // Only length-prefixed frames can have restart marks.
        let inner = options.inner_split().map(|_| true);
        let delimited = inner.or(options.delimited);
        let first_message_index = inner.and(options.first_message_index).unwrap_or_default();
        Self {
            requested: delimited,
            delimited,
            cuts_bare: options.joins == JoinMode::New,
            max_bytes: options.limits.max_message_bytes,
            index: first_message_index,
            first_message_index,
            knows_indices: options.knows_indices(),
        }
    }

    /// Whether the log is one frame without a length prefix.
    pub fn is_bare(&self) -> bool {
        self.delimited == Some(false)
    }

    /// Prepares for the next log.
    pub fn reset(&mut self) {
        self.delimited = self.requested;
        self.index = self.first_message_index;
    }

    /// Omits the indices of frames if the log is read from a split. Only those of messages are known.
    pub fn forget_indices(&mut self) {
        self.knows_indices &= self.first_message_index == 0;
    }

    /// Returns a name of the current or next frame for error messages.
    fn name(&self) -> String {
        if self.knows_indices {
            format!("frame {}", self.index)
        } else {
            "a frame".to_owned()
        }
    }

    /// Builds the error for a row, or for the bytes between rows, with its position.
    pub fn error(
        &self,
        input: &Buffer,
        frame: &Frame,
        mut class: ErrorClass,
        mut reason: Reason,
        in_row: bool,
    ) -> ReadError {
        // In a truncated bare log, a field extends beyond the end of its frame.
        if class == ErrorClass::Truncated {
            if !in_row && self.delimited == Some(false) {
                reason = "the log ends inside a row".into();
            } else {
                class = ErrorClass::Malformed;
            }
        }
        let position = Position {
            byte_offset: Some(input.offset_of(frame.at)),
            frame_row: self.knows_indices.then_some((self.index, frame.row)),
            ..Position::default()
        };
        ReadError::new(class, reason, position)
    }

    /// Finds the next frame.
    pub fn next_frame(&mut self, input: &Buffer) -> Result<NextFrame, ReadError> {
        let rest = input.rest();
        if rest.is_empty() {
            return Ok(if input.finished {
                NextFrame::Done
            } else {
                NextFrame::Wait
            });
        }
        let delimited = match self
            .delimited
            .or_else(|| unknown::ignoring(|| looks_delimited(rest, input.finished)))
        {
            Some(known) => *self.delimited.insert(known),
            None => return Ok(NextFrame::Wait),
        };
        if delimited && self.index > 0 && begins_bare(rest) {
            let at = input.offset();
            let reason = format!(
                "a file without length prefixes was joined at byte {at} to a file with them; split the log there, \
                 and read both files"
            );
            return Err(input.error(ErrorClass::Malformed, reason));
        }
        let (length, prefix) = if delimited {
            match read_long_varint(rest) {
                Varint::Value(length, prefix) => (length, prefix),
                Varint::Incomplete if !input.finished => return Ok(NextFrame::Wait),
                Varint::Incomplete => {
                    return Err(input.error(
                        ErrorClass::Truncated,
                        format!("the log ends inside the length prefix of {}", self.name()),
                    ));
                }
                Varint::TooLong => {
                    return Err(input.error(
                        ErrorClass::Malformed,
                        format!(
                            "the length prefix of {} is longer than 10 bytes",
                            self.name()
                        ),
                    ));
                }
            }
        } else {
            (rest.len() as u64, 0)
        };
        if length > self.max_bytes {
            let size = if delimited {
                format!("{} of {length} bytes", self.name())
            } else {
                "the log is one frame that".to_owned()
            };
            return Err(input.error(
                ErrorClass::Limit,
                Reason::limit(
                    format!("{size} is larger than {} bytes", self.max_bytes),
                    "max_message_bytes",
                ),
            ));
        }
        let present = (rest.len() - prefix) as u64;
        if delimited && present < length {
            if !input.finished {
                return Ok(NextFrame::Wait);
            }
            return Err(input.error(
                ErrorClass::Truncated,
                format!(
                    "the log ends inside {}: {present} of its {length} bytes are present",
                    self.name()
                ),
            ));
        }
        if !delimited && !input.finished {
            return Ok(NextFrame::Wait);
        }
        let length = if self.cuts_bare && !delimited {
            next_options(rest)
        } else {
            length as usize
        };
        let at = input.index + prefix;
        Ok(NextFrame::Frame(Frame {
            at,
            end: at + length,
            row: 0,
        }))
    }

    /// Rewords an error if the file is probably in another format and nothing has identified it as
    /// Jelly yet.
    #[cold]
    pub fn explain_error(
        &self,
        input: &Buffer,
        mut error: ReadError,
        what: &'static str,
    ) -> ReadError {
        let rest = input.rest();
        let frame = match read_long_varint(rest) {
            _ if self.delimited == Some(false) => rest,
            // Checks only up to the end of the frame, so that the result does not depend on whether
            // later bytes are buffered.
            Varint::Value(length, prefix) => {
                let frame = &rest[prefix..];
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                frame.get(..length).unwrap_or(frame)
            }
            Varint::Incomplete | Varint::TooLong => &[],
        };
        (error.class, error.reason) =
            start::explain_error(looks_like_options(frame), what, (error.class, error.reason));
        error
    }
}

/// The first row of a frame.
pub(super) enum FirstRow<'a> {
    /// The frame has no rows.
    None,
    /// The field number (0 if there is no known field) and its content.
    Row(usize, Cow<'a, [u8]>),
    /// The bytes are not a valid row.
    Damaged,
}

/// Returns the first row of a frame without decoding it.
pub(super) fn first_row(frame: &[u8], known: u32) -> FirstRow<'_> {
    unknown::ignoring(|| {
        let mut wire = Wire::new(frame);
        while !wire.is_done() {
            match wire.read_field(ROWS, "the frame") {
                Ok((1, row)) => {
                    return match row_field(row, known) {
                        Ok((field, payload)) => FirstRow::Row(field, payload),
                        Err(_) => FirstRow::Damaged,
                    };
                }
                Ok(_) => {}
                Err(_) => return FirstRow::Damaged,
            }
        }
        FirstRow::None
    })
}

/// Whether the first row of a frame contains stream options, which are field 1 of the rows in both
/// formats.
#[inline]
pub(super) fn begins_with_options(frame: &[u8], known: u32) -> bool {
    const OPTIONS: u8 = 1 << 3 | LENGTH;
    // Nearly every row is one short field, followed by another row.
    if let [ROW, length, tag, inner, ..] = *frame
        && length < 0x80
        && length == inner.wrapping_add(2)
        && tag & 7 == LENGTH
        && tag != OPTIONS
    {
        return false;
    }
    matches!(first_row(frame, known), FirstRow::Row(1, _))
}

/// Offset of the second options row in a bare frame, which is where another frame was appended.
/// Returns the length of the frame if there is no such row.
fn next_options(frame: &[u8]) -> usize {
    const OPTIONS: u8 = 1 << 3 | LENGTH;
    unknown::ignoring(|| {
        let mut wire = Wire::new(frame);
        let mut rows = 0;
        while !wire.is_done() {
            let at = frame.len() - wire.rest().len();
            match wire.read_field(ROWS, "the frame") {
                Ok((1, row)) => {
                    if rows > 0 && row.first() == Some(&OPTIONS) {
                        return at;
                    }
                    rows += 1;
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        frame.len()
    })
}

/// Returns the field of a row. If the row has several fields, the last one is used; repeats of the
/// same field are merged.
#[cold]
pub(super) fn row_field(bytes: &[u8], known: u32) -> Checked<(usize, Cow<'_, [u8]>)> {
    let mut wire = Wire::new(bytes);
    let (mut row, mut payload) = (0, Cow::Borrowed(&[][..]));
    while !wire.is_done() {
        let (field, bytes) = wire.read_field(known, "the row")?;
        if field == 0 {
            continue;
        }
        if field == row {
            payload.to_mut().extend_from_slice(bytes);
        } else {
            (row, payload) = (field, Cow::Borrowed(bytes));
        }
    }
    Ok((row, payload))
}

/// Whether a frame begins like the first frame of a log: with a row that contains the stream
/// options.
fn looks_like_options(frame: &[u8]) -> Start {
    const ROW: u8 = 0x0a;
    const OPTIONS: u8 = 0x0a;
    const METADATA: u8 = 0x7a;
    let row = match *frame {
        [ROW, ref row @ ..] => row,
        [METADATA, ..] if looks_like_mark(frame) => return Start::Same,
        [METADATA | COLUMNS, ..] | [] => return Start::Unclear,
        _ => return Start::Other,
    };
    let Varint::Value(length, prefix) = read_long_varint(row) else {
        return Start::Unclear;
    };
    match row[prefix..] {
        [OPTIONS, ref options @ ..] => match read_long_varint(options) {
            Varint::Value(inner, prefix)
                if Some(length) == inner.checked_add(1 + prefix as u64) =>
            {
                Start::Same
            }
            _ => Start::Unclear,
        },
        [tag, ..] if tag & 7 != LENGTH => Start::Other,
        _ => Start::Unclear,
    }
}

/// Whether a log begins with a length-prefixed frame (true) or is a bare frame (false). Returns
/// `None` if more bytes are needed. Only the required number of bytes is examined, so the result
/// does not depend on how the input is cut.
///
/// A bare frame begins with the tag of a row (0x0a), of columns (0x12) or of metadata (0x7a), a
/// length, and the tag of a field inside. These bytes are also valid lengths (10, 18 and 122). In
/// that case the first fields of the frame decide.
fn looks_delimited(first: &[u8], ended: bool) -> Option<bool> {
    let required = match first {
        [METADATA, METADATA, ..] => LONG_ENTRY,
        [COLUMNS, ..] => LIKE_COLUMNS,
        [METADATA, ROW, ..] => 4,
        [METADATA | ROW, ..] => 3,
        _ => 1,
    };
    if first.len() < required && !ended {
        return None;
    }
    Some(match *first {
        // In a delimited frame of 10 bytes, the third byte is the length of the first field, at
        // most 8. In a bare frame, it is a tag, at least 10.
        [ROW, inner, length, ..] => matches!(inner, ROW | METADATA) && length <= 8,
        [ROW, ..] | [METADATA, 0, ..] => false,
        // A bare entry of 10 bytes: a tag of the entry and a length that fits.
        [METADATA, ROW, 0x0a | 0x12, length, ..] => length > 8,
        // A bare entry of 122 bytes, unless the bytes are also a valid frame of 122 bytes.
        [METADATA, METADATA, 0x0a | 0x12, ..] if first.len() >= LONG_ENTRY => {
            is_frame(&first[1..LONG_ENTRY - 1])
        }
        [METADATA, ROW | METADATA, ..] => true,
        [METADATA, length, tag, ..] => length < 0x80 && !matches!(tag, 0x0a | 0x12),
        [COLUMNS, ..] => !begins_with_columns(first),
        _ => true,
    })
}

/// Whether bytes that begin with the tag of columns are a bare frame, not a frame of 18 bytes.
fn begins_with_columns(first: &[u8]) -> bool {
    /// Tags of the fields of columns.
    const TAGS: [u8; 11] = [8, 18, 26, 34, 42, 50, 58, 66, 74, 120, 122];
    let Some(frame) = first.get(1..LIKE_COLUMNS) else {
        return is_frame(first);
    };
    match read_long_varint(&first[1..]) {
        _ if is_frame(frame) => false,
        Varint::Value(length, prefix) => length == 0 || TAGS.contains(&first[1 + prefix]),
        Varint::Incomplete | Varint::TooLong => false,
    }
}

/// Whether a bare frame with stream options begins where the length of a frame is expected. Returns
/// false if the bytes may also be a length and a frame of 10 bytes.
fn begins_bare(rest: &[u8]) -> bool {
    let first = &rest[..rest.len().min(11)]; // the length, and a frame of 10 bytes
    first.first() == Some(&ROW)
        && looks_delimited(first, false) == Some(false)
        && matches!(looks_like_options(first), Start::Same)
}

/// Returns the bytes after a length prefix.
pub(super) fn after_length(bytes: &[u8]) -> Option<&[u8]> {
    match read_long_varint(bytes) {
        Varint::Value(_, prefix) => Some(&bytes[prefix..]),
        Varint::Incomplete | Varint::TooLong => None,
    }
}

/// Whether a length-prefixed frame with stream options begins where a field of a bare frame is
/// expected.
pub(super) fn begins_delimited(rest: &[u8]) -> bool {
    after_length(rest).is_some_and(|frame| matches!(looks_like_options(frame), Start::Same))
}

/// Whether the bytes consist only of rows, columns and metadata, judging by field lengths.
fn is_frame(bytes: &[u8]) -> bool {
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.read_field(FRAME_FIELDS, "the frame") {
            Ok((1 | COLUMNS_FIELD, _)) => {}
            Ok((METADATA_FIELD, entry)) if is_entry(entry) => {}
            _ => return false,
        }
    }
    true
}

/// Whether the bytes consist only of a key and a value, judging by field lengths.
fn is_entry(bytes: &[u8]) -> bool {
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        if !matches!(
            wire.read_field(ENTRY_FIELDS, "the metadata"),
            Ok((1 | 2, _))
        ) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::looks_delimited;

    #[test]
    fn the_first_bytes_distinguish_delimited_from_bare_logs() {
        let detect = |bytes: &[u8]| looks_delimited(bytes, true);
        let delimited = |bytes: &[u8]| assert_eq!(detect(bytes), Some(true), "{bytes:x?}");
        let bare = |bytes: &[u8]| assert_eq!(detect(bytes), Some(false), "{bytes:x?}");
        // Length 10, then a row of 8 bytes; a bare row of 10 bytes that begins with options.
        delimited(&[0x0a, 0x0a, 0x08, 0x0a, 0x06]);
        bare(&[0x0a, 0x0a, 0x0a, 0x08, 0x10]);
        bare(&[0x0a, 0x20, 0x0a, 0x1e, 0x10]);
        bare(&[0x0a, 0x80, 0x01, 0x0a, 0x7d]);
        // Metadata first.
        delimited(&[0x0a, 0x7a, 0x08, 0x0a, 0x02]);
        bare(&[0x0a, 0x7a, 0x0a, 0x78, 0x10]);
        bare(&[0x7a, 0x06, 0x0a, 0x01, b'a']);
        bare(&[0x7a, 0x0a, 0x0a, 0x03, b'a']);
        delimited(&[0x7a, 0x0a, 0x0a, 0x0a, 0x08]);
        delimited(&[0x7a, 0x0a, 0x20, 0x0a, 0x1e]);
        delimited(&[0x7a, 0x7a, 0x0a, 0x0a, 0x03]);
        // Columns first.
        let columns: &[u8] = &[0x12, 0x03, 0x08, 0x80, 0x01];
        let options: &[u8] = b"\x0a\x0b\x0a\x09\x10\x01\x48\x80\x01\x50\x08\x78\x03";
        delimited(&[&[0x12], columns, options].concat());
        delimited(&[&[0x12], options, &[0x7a, 0x03, 0x0a, 0x01, b'k']].concat());
        bare(&[columns, options].concat());
        bare(&[&[0x12, 0x00], options, columns].concat());
        bare(&[&[0x12, 0x80, 0x01, 0x08], options, columns].concat());
        // Empty frames, and other lengths.
        delimited(&[0x00]);
        delimited(&[0x2a, 0x0a, 0x28, 0x0a, 0x26]);
    }

    #[test]
    fn only_the_required_bytes_are_examined() {
        let mut entry = vec![0x7a, 0x7a, 0x0a, 0x01, b'k', 0x12, 0x75];
        entry.resize(124, 0);
        let mut frame = vec![0x7a, 0x7a, 0x0a, 0x0a, 0x03, b'k', b'e', b'y', 0x12, 0x03];
        frame.extend([0, 0, 0, 0x0a, 0x6c]);
        frame.resize(124, 0);
        for (log, is_delimited) in [
            (entry.as_slice(), false),
            (frame.as_slice(), true),
            (&[0x0a, 0x7a, 0x08, 0x0a, 0x02][..], true),
            (&[0x7a, 0x0a, 0x0a, 0x03, b'a'][..], false),
            (&[0x7a, 0x06, 0x0a, 0x01, b'a'][..], false),
            (&[0x00, 0x7a][..], true),
        ] {
            let is_decided = |length: &usize| looks_delimited(&log[..*length], false).is_some();
            let required = (1..=log.len()).find(is_decided).unwrap();
            for length in required..=log.len() {
                for ended in [false, true] {
                    let found = looks_delimited(&log[..length], ended);
                    assert_eq!(found, Some(is_delimited), "{log:x?} at {length}");
                }
            }
        }
    }
}

//! The messages of Jelly gRPC: subscriptions, and frames without their rows.
//!
//! - In: Protobuf messages, with the names and numbers of `grpc.proto` and `rdf.proto`.
//! - Out: their fields, and messages. Only decoders read the rows after the stream options.
//! - Cost: of a frame, only the length and the first row are read.

use super::decode::RowHandler as _;
use super::frames::{FirstRow, first_row};
use super::options::OptionsRow;
use super::rows::QuadRows;
use crate::syntax::wire::{Varint, Wire, WireError, check_utf8, put_varint, read_long_varint};

impl From<WireError> for String {
    fn from(error: WireError) -> Self {
        error.into_parts().1.to_string()
    }
}

fn read_options(bytes: &[u8]) -> Result<OptionsRow, String> {
    let row = OptionsRow::read(bytes, QuadRows::OPTION_NUMBERS, QuadRows::OPTIONS)?;
    Ok(row)
}

/// Returns stream options as a message.
#[must_use]
pub fn write_options(options: &OptionsRow) -> Vec<u8> {
    let mut fields = Vec::new();
    options.write(&mut fields);
    fields
}

/// Returns the topic and the requested options of a subscription.
///
/// # Errors
/// If the message is malformed.
pub fn read_subscription(bytes: &[u8]) -> Result<(String, OptionsRow), String> {
    let (mut wire, mut topic, mut options) = (Wire::new(bytes), "", Vec::new());
    while !wire.is_done() {
        match wire.read_field(1 << 1 | 1 << 2, "the subscription")? {
            (1, text) => topic = check_utf8(text, "the topic")?,
            (2, more) => options.extend_from_slice(more), // Protobuf merges repeated messages
            _ => {}
        }
    }
    Ok((topic.to_owned(), read_options(&options)?))
}

/// Whether a frame has rows.
#[must_use]
pub fn has_rows(frame: &[u8]) -> bool {
    !matches!(first_row(frame, QuadRows::FIELDS), FirstRow::None)
}

/// Returns the stream options in the first row of a frame, or `None` if that row contains something
/// else.
///
/// # Errors
/// If the row is malformed.
pub fn first_options(frame: &[u8]) -> Result<Option<OptionsRow>, String> {
    match first_row(frame, QuadRows::FIELDS) {
        FirstRow::Row(1, fields) => read_options(&fields).map(Some),
        FirstRow::Damaged => Err("the first row is damaged".into()),
        FirstRow::None | FirstRow::Row(..) => Ok(None),
    }
}

/// Returns a message after its length.
#[must_use]
pub fn delimited(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 4);
    put_varint(&mut out, message.len() as u64);
    out.extend_from_slice(message);
    out
}

/// Returns the complete frames in bytes with length prefixes, starting at an index, then the index
/// after the last frame, and the number of bytes missing from the next frame (0 if its length is
/// incomplete). If the length after a complete frame is invalid, the frames before it are returned.
///
/// # Errors
/// If the first length is invalid or larger than `max`.
pub fn cut_frames(
    bytes: &[u8],
    start: usize,
    max: u64,
) -> Result<(Vec<&[u8]>, usize, usize), String> {
    let (mut frames, mut end) = (Vec::new(), start);
    loop {
        let rest = bytes.get(end..).unwrap_or_default();
        let (length, prefix) = match read_long_varint(rest) {
            Varint::Value(length, prefix) if length <= max => (length as usize, prefix),
            Varint::Incomplete => return Ok((frames, end, 0)),
            _ if !frames.is_empty() => return Ok((frames, end, 0)),
            Varint::TooLong => return Err("the length of a frame is longer than 10 bytes".into()),
            Varint::Value(length, _) => {
                let max = max >> 20;
                return Err(format!(
                    "a frame has {length} bytes, and Jelly gRPC frames have at most {max} MiB"
                ));
            }
        };
        let Some(frame) = rest.get(prefix..prefix + length) else {
            return Ok((frames, end, prefix + length - rest.len()));
        };
        frames.push(frame);
        end += prefix + length;
    }
}

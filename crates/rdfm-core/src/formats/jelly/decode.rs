//! Jelly logs to batches: cuts frames, keeps positions, delivers what was complete before an error.
//!
//! - In: bytes in pieces of any size, delimited or one bare frame.
//! - Out: a message a frame, or with [`Frames::Flat`] one message of the whole log.
//! - Cost: linear; memory holds one frame, one piece and one batch.
//! - Law: a frame is decoded only when it is wholly there; how the bytes are cut changes nothing.
//!
//! Where the log's logical type is to say what frames mean, frames without rows that stand before the
//! stream options are held back until those come.

use std::sync::Arc;

use super::options::{Frames, JellyOptions, Reading};
use super::rows::{FirstRow, Rows, first_row};
use crate::codec::input::{Buffer, ReadError, Reader};
use crate::codec::start::{self, Start};
use crate::codec::{LogHeader, Noticed, Parts};
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::error::{ErrorClass, Position};
use crate::model::remedy::{Reason, Remedy};
use crate::model::term::Quad;
use crate::syntax::wire::{LENGTH, Varint, Wire, long_varint};

/// Tags of a frame's fields: a row, and metadata.
const ROW: u8 = 0x0a;
const METADATA: u8 = 0x7a;
/// Bytes of a bare frame's first entry of metadata if it is 122 bytes long, with its tag and length.
const LONG_ENTRY: usize = 124;
/// Rows and metadata.
const FRAME_FIELDS: u32 = 1 << 1 | 1 << 15;
/// What a frame that is held back counts besides its bytes.
const HELD_FRAME: u64 = 64;
/// Key and value of metadata.
const ENTRY_FIELDS: u32 = 1 << 1 | 1 << 2;

/// Reads Jelly-RDF.
pub struct JellyReader {
    options: Reading,
    rows: Rows,
    delimited: Option<bool>,
    /// What frames mean, once that is known.
    meaning: Option<Frames>,
    parts: bool,
    frame: Option<Frame>,
    /// Index of the open or next frame.
    frames: u64,
    /// Bytes of the frames that are held back.
    held: u64,
    dropped_metadata: u64,
    header: Arc<LogHeader>,
}

/// A frame being read; positions are in the buffer.
#[derive(Clone, Copy)]
struct Frame {
    at: usize,
    end: usize,
    row: u64,
    /// Whether its metadata was taken before it was come to.
    metadata_taken: bool,
}

/// What comes next in the buffer.
enum Next {
    Frame(Frame),
    /// Not all of it is there.
    Wait,
    Done,
}

impl JellyReader {
    /// A reader.
    pub(super) fn new(options: Reading) -> Self {
        Self {
            rows: Rows::new(&options),
            options,
            delimited: None,
            meaning: None,
            parts: false,
            frame: None,
            frames: 0,
            held: 0,
            dropped_metadata: 0,
            header: LogHeader::none(),
        }
    }

    /// Whether all frames are one message because the log says so.
    fn found_flat(&self) -> bool {
        self.options.frames.is_none() && self.is_flat()
    }

    fn is_flat(&self) -> bool {
        self.meaning == Some(Frames::Flat)
    }

    fn set_meaning(&mut self, meaning: Option<Frames>) {
        self.meaning = meaning;
        self.parts = match self.options.parts {
            Parts::Always => true,
            Parts::Frames => self.is_flat(),
            Parts::Never => false,
        };
    }

    /// Makes the header anew where it says something else now.
    fn say(&mut self) {
        let flat = self.meaning.map(|frames| frames == Frames::Flat);
        let options = &self.rows.options;
        if self.header.flat == flat && self.header.options.is_empty() == options.is_none() {
            return;
        }
        self.header = Arc::new(LogHeader {
            options: options
                .as_ref()
                .map(JellyOptions::values)
                .unwrap_or_default(),
            flat,
            ..LogHeader::default()
        });
    }

    /// The next batch, or None where bytes are missing or all are read.
    fn read(&mut self, input: &mut Buffer) -> Result<Option<MessageBatch>, ReadError> {
        loop {
            let mut frame = if let Some(open) = self.frame.take() {
                open
            } else {
                match self.next_frame(input)? {
                    Next::Frame(frame) => {
                        self.begin_frame(input, &frame)?;
                        frame
                    }
                    Next::Wait => return Ok(self.completed()),
                    Next::Done => {
                        if self.rows.builder.is_open() {
                            self.rows.builder.end_message();
                        }
                        return Ok(self.rows.builder.take());
                    }
                }
            };
            if self.read_rows(input, &mut frame)? {
                self.metadata_ahead(input, &mut frame)?;
                self.frame = Some(frame);
                return Ok(Some(self.take_part()));
            }
            input.at = frame.end;
            self.frames += 1;
            match self.meaning {
                Some(Frames::Flat) => {
                    if self.parts && self.rows.builder.part_full() {
                        return Ok(Some(self.take_part()));
                    }
                }
                Some(Frames::Message) => {
                    self.rows.builder.end_message();
                    if self.rows.builder.full() {
                        return Ok(self.completed());
                    }
                }
                None => self.rows.builder.end_message(),
            }
        }
    }

    /// The messages that are complete; with an open one, and while frames are held back, they wait.
    fn completed(&mut self) -> Option<MessageBatch> {
        if self.rows.builder.is_open() || self.meaning.is_none() {
            return None;
        }
        self.rows.end_batch();
        self.rows.builder.take()
    }

    fn take_part(&mut self) -> MessageBatch {
        self.rows.end_batch();
        self.rows.builder.take_part()
    }

    /// Opens the frame's message, unless it belongs to one that is open.
    fn begin_frame(&mut self, input: &Buffer, frame: &Frame) -> Result<(), ReadError> {
        if self.meaning.is_none() {
            self.decide(input, frame)?;
        }
        if !self.rows.builder.is_open() {
            self.rows.builder.begin_message(input.offset());
        }
        Ok(())
    }

    /// What frames mean, if the frame has the stream options; otherwise it is held back.
    fn decide(&mut self, input: &Buffer, frame: &Frame) -> Result<(), ReadError> {
        match first_row(&input.bytes[frame.at..frame.end]) {
            FirstRow::Options(options) if options.is_flat() => {
                self.set_meaning(Some(Frames::Flat));
                return self.join_held(input);
            }
            FirstRow::Options(_) | FirstRow::Other => self.set_meaning(Some(Frames::Message)),
            FirstRow::None => {
                self.held += (frame.end - frame.at) as u64 + HELD_FRAME;
                if self.held > self.options.limits.max_message_bytes {
                    return Err(input.error(
                        ErrorClass::Limit,
                        Reason::from(format!(
                            "frames 0 to {} have no rows, and what frames mean stands behind them",
                            self.frames
                        ))
                        .with(FRAME_A_MESSAGE),
                    ));
                }
            }
        }
        Ok(())
    }

    /// The frames that were held back begin the message of all frames.
    fn join_held(&mut self, input: &Buffer) -> Result<(), ReadError> {
        let Some(held) = self.rows.builder.take() else {
            return Ok(());
        };
        let builder = &mut self.rows.builder;
        builder.reset();
        builder.begin_message(held.position(0));
        let first = held.metadata(0);
        self.dropped_metadata += (held.all_metadata().len() - first.len()) as u64;
        for entry in first {
            if let Err(exceeded) = builder.add_metadata(&entry.key, &entry.value) {
                return Err(input.error(ErrorClass::Limit, exceeded.0));
            }
        }
        Ok(())
    }

    /// Takes the metadata that stands behind what was read of the frame: a message has it from its first
    /// part on. What is damaged is found when it is read.
    fn metadata_ahead(&mut self, input: &Buffer, frame: &mut Frame) -> Result<(), ReadError> {
        if frame.metadata_taken || (self.is_flat() && self.frames > 0) {
            return Ok(());
        }
        frame.metadata_taken = true;
        let mut wire = Wire::new(&input.bytes[frame.at..frame.end]);
        let mut taken = Ok(());
        while taken.is_ok()
            && !wire.is_done()
            && let Ok((field, payload)) = wire.field(FRAME_FIELDS, "the frame")
        {
            if field == 15 {
                taken = self.rows.metadata_entry(payload);
            }
        }
        match taken.and_then(|()| self.rows.end_frame()) {
            Err(error) if error.class() == ErrorClass::Limit => {
                let (class, reason) = error.into_parts();
                Err(input.error(class, reason))
            }
            _ => Ok(()),
        }
    }

    /// Finds the next frame.
    fn next_frame(&mut self, input: &Buffer) -> Result<Next, ReadError> {
        let rest = input.rest();
        if rest.is_empty() {
            return Ok(if input.finished {
                Next::Done
            } else {
                Next::Wait
            });
        }
        let delimited = match self
            .delimited
            .or_else(|| looks_delimited(rest, input.finished))
        {
            Some(known) => *self.delimited.insert(known),
            None => return Ok(Next::Wait),
        };
        let (length, prefix) = if delimited {
            match long_varint(rest) {
                Varint::Value(length, prefix) => (length, prefix),
                Varint::Incomplete if !input.finished => return Ok(Next::Wait),
                Varint::Incomplete => {
                    return Err(input.error(
                        ErrorClass::Truncated,
                        format!("the log ends inside the length of frame {}", self.frames),
                    ));
                }
                Varint::TooLong => {
                    return Err(input.error(
                        ErrorClass::Malformed,
                        format!(
                            "the length of frame {} is longer than 10 bytes",
                            self.frames
                        ),
                    ));
                }
            }
        } else {
            (rest.len() as u64, 0)
        };
        if length > self.options.max_frame_bytes {
            let size = if delimited {
                format!("frame {} of {length} bytes", self.frames)
            } else {
                "the log is one frame that".to_owned()
            };
            return Err(input.error(
                ErrorClass::Limit,
                Reason::limit(
                    format!(
                        "{size} is larger than {} bytes",
                        self.options.max_frame_bytes
                    ),
                    "max_frame_bytes",
                ),
            ));
        }
        let there = (rest.len() - prefix) as u64;
        if delimited && there < length {
            if !input.finished {
                return Ok(Next::Wait);
            }
            return Err(input.error(
                ErrorClass::Truncated,
                format!(
                    "the log ends inside frame {}: {there} of its {length} bytes are there",
                    self.frames
                ),
            ));
        }
        if !delimited && !input.finished {
            return Ok(Next::Wait);
        }
        let at = input.at + prefix;
        Ok(Next::Frame(Frame {
            at,
            end: at + length as usize,
            row: 0,
            metadata_taken: false,
        }))
    }

    /// Reads the rows of a frame; true where a part of its message is large enough to be yielded.
    fn read_rows(&mut self, input: &Buffer, frame: &mut Frame) -> Result<bool, ReadError> {
        let left_out = self.is_flat() && self.frames > 0;
        let bytes = &input.bytes[frame.at..frame.end];
        let rows = &mut self.rows;
        let mut wire = Wire::new(bytes);
        let mut in_row = false;
        let error = loop {
            if wire.is_done() {
                match rows.end_frame() {
                    Ok(()) => return Ok(false),
                    Err(error) => break error,
                }
            }
            frame.at = frame.end - wire.rest().len();
            match wire.field(FRAME_FIELDS, "the frame") {
                Ok((1, row)) => {
                    if let Err(error) = rows.row(row) {
                        in_row = true;
                        break error;
                    }
                    frame.row += 1;
                    if self.parts && rows.builder.part_full() {
                        frame.at = frame.end - wire.rest().len();
                        return Ok(true);
                    }
                }
                Ok((15, entry)) => {
                    let taken = if left_out {
                        self.dropped_metadata += 1;
                        Rows::check_metadata(entry)
                    } else if frame.metadata_taken {
                        Rows::check_metadata(entry)
                    } else {
                        rows.metadata_entry(entry)
                    };
                    if let Err(error) = taken {
                        in_row = true;
                        break error;
                    }
                }
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        // A bare log that is cut off shows as a field that runs over the end of its frame.
        let (mut class, mut reason) = error.into_parts();
        if let Some(options) = &self.rows.options
            && self.found_flat()
            && self.rows.builder.is_too_large()
        {
            let all = format!(
                "by its type {} all frames are this message",
                options.type_name()
            );
            reason = reason
                .reworded(|text| format!("{text}; {all}"))
                .with(FRAME_A_MESSAGE);
        }
        if class == ErrorClass::Truncated {
            if !in_row && self.delimited == Some(false) {
                reason = "the log ends inside a row".into();
            } else {
                class = ErrorClass::Malformed;
            }
        }
        let position = Position {
            offset: input.offset_of(frame.at),
            frame_row: Some((self.frames, frame.row)),
            ..Position::default()
        };
        Err(ReadError::new(class, reason, position))
    }

    /// An error in words for a file of another format, if nothing showed yet that it is Jelly.
    #[cold]
    fn explained(&self, input: &Buffer, mut error: ReadError) -> ReadError {
        if self.rows.options.is_none() {
            let rest = input.rest();
            let frame = match long_varint(rest) {
                _ if self.delimited == Some(false) => rest,
                // No further than the frame, since more may be there or not.
                Varint::Value(length, prefix) => {
                    let frame = &rest[prefix..];
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    frame.get(..length).unwrap_or(frame)
                }
                Varint::Incomplete | Varint::TooLong => &[],
            };
            (error.class, error.reason) = start::explained(
                looks_like_options(frame),
                "a Jelly file",
                (error.class, error.reason),
            );
        }
        error
    }
}

impl Reader for JellyReader {
    type Record = Quad;

    fn builder(&mut self) -> &mut BatchBuilder {
        &mut self.rows.builder
    }

    fn reset(&mut self) {
        self.rows.reset();
        self.delimited = self.options.delimited;
        self.set_meaning(self.options.frames);
        self.frame = None;
        self.frames = 0;
        self.held = 0;
        self.dropped_metadata = 0;
        self.say();
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<MessageBatch>, ReadError> {
        let read = self.read(input);
        self.say();
        read.map_err(|error| self.explained(input, error))
    }

    fn skip(&mut self, input: &mut Buffer) -> Result<Option<Vec<u8>>, ReadError> {
        let reason = "frames build on those before them: none can be skipped";
        Err(input.error(ErrorClass::Unsupported, reason))
    }

    fn keep(&self, input: &Buffer) -> usize {
        if self.frame.is_some() { 0 } else { input.at }
    }

    fn header(&self) -> Arc<LogHeader> {
        Arc::clone(&self.header)
    }

    fn noticed(&self) -> Noticed {
        let mut notes = Vec::new();
        if let Some(options) = &self.rows.options
            && self.found_flat()
        {
            notes.push(format!(
                "{}: frames read as one message; frames=message reads each as one",
                options.type_name()
            ));
        }
        Noticed {
            dropped_metadata: self.dropped_metadata,
            notes,
            ..Noticed::default()
        }
    }
}

/// What reads each frame as a message.
const FRAME_A_MESSAGE: Remedy = Remedy::read("frames", "message", "reads each as one");

/// Whether a frame begins as the first of a log does: with a row that holds the stream options.
fn looks_like_options(frame: &[u8]) -> Start {
    const ROW: u8 = 0x0a;
    const OPTIONS: u8 = 0x0a;
    const METADATA: u8 = 0x7a;
    let row = match *frame {
        [ROW, ref row @ ..] => row,
        [METADATA, ..] | [] => return Start::Unclear,
        _ => return Start::Other,
    };
    let Varint::Value(length, prefix) = long_varint(row) else {
        return Start::Unclear;
    };
    match row[prefix..] {
        [OPTIONS, ref options @ ..] => match long_varint(options) {
            Varint::Value(inner, prefix) if length == 1 + prefix as u64 + inner => Start::Same,
            _ => Start::Unclear,
        },
        [tag, ..] if tag & 7 != LENGTH => Start::Other,
        _ => Start::Unclear,
    }
}

/// Whether a log begins with a length before a frame, or is a bare frame; None where more bytes are
/// needed to tell. Only those that are waited for are looked at, so that pieces change nothing.
///
/// A bare frame begins with the tag of a row (0x0a) or of metadata (0x7a), a length, and the tag of
/// a field inside. Both bytes are also lengths (10 and 122); then the frame's first fields must fit.
fn looks_delimited(first: &[u8], ended: bool) -> Option<bool> {
    let enough = match first {
        [METADATA, METADATA, ..] => LONG_ENTRY,
        [METADATA, ROW, ..] => 4,
        [METADATA | ROW, ..] => 3,
        _ => 1,
    };
    if first.len() < enough && !ended {
        return None;
    }
    Some(match *first {
        // A frame of 10 bytes begins with a field of 8 at most; in a bare one a tag stands there,
        // and those are 10 and more.
        [ROW, inner, length, ..] => matches!(inner, ROW | METADATA) && length <= 8,
        [ROW, ..] | [METADATA, 0, ..] => false,
        // A bare entry of 10 bytes: a tag of the entry and a length that fits.
        [METADATA, ROW, 0x0a | 0x12, length, ..] => length > 8,
        // A bare entry of 122 bytes, unless a frame of 122 bytes could not be better.
        [METADATA, METADATA, 0x0a | 0x12, ..] if first.len() >= LONG_ENTRY => {
            is_frame(&first[1..LONG_ENTRY - 1])
        }
        [METADATA, ROW | METADATA, ..] => true,
        [METADATA, length, tag, ..] => length < 0x80 && !matches!(tag, 0x0a | 0x12),
        _ => true,
    })
}

/// Whether bytes are rows and metadata and nothing else, by their lengths.
fn is_frame(bytes: &[u8]) -> bool {
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        match wire.field(FRAME_FIELDS, "the frame") {
            Ok((1, _)) => {}
            Ok((15, entry)) if is_entry(entry) => {}
            _ => return false,
        }
    }
    true
}

/// Whether bytes are a key and a value, by their lengths.
fn is_entry(bytes: &[u8]) -> bool {
    let mut wire = Wire::new(bytes);
    while !wire.is_done() {
        if !matches!(wire.field(ENTRY_FIELDS, "the metadata"), Ok((1 | 2, _))) {
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
    fn the_first_bytes_tell_delimited_from_bare() {
        let tell = |bytes: &[u8]| looks_delimited(bytes, true);
        let delimited = |bytes: &[u8]| assert_eq!(tell(bytes), Some(true), "{bytes:x?}");
        let bare = |bytes: &[u8]| assert_eq!(tell(bytes), Some(false), "{bytes:x?}");
        // Length 10, then a row of 8; a bare row of 10 that begins with options.
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
        // Empty frames and other lengths.
        delimited(&[0x00]);
        delimited(&[0x2a, 0x0a, 0x28, 0x0a, 0x26]);
    }

    #[test]
    fn the_same_bytes_are_looked_at_however_many_there_are() {
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
            let told = |length: &usize| looks_delimited(&log[..*length], false).is_some();
            let enough = (1..=log.len()).find(told).unwrap();
            for length in enough..=log.len() {
                for ended in [false, true] {
                    let found = looks_delimited(&log[..length], ended);
                    assert_eq!(found, Some(is_delimited), "{log:x?} at {length}");
                }
            }
        }
    }
}

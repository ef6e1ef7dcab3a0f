//! Logs of Jelly-Patch to batches.
//!
//! - In: bytes in pieces of any size, delimited frames or one bare frame.
//! - Out: patches, which frames, marks or the end of the log delimit, as the log says.
//! - Cost: linear; memory holds one frame, one piece and one batch.
//! - Law: a frame is read only when it is wholly there; how the bytes are cut changes nothing. Labels of blank nodes
//!   are those of the log.
//!
//! The patch stream options say what frames mean: frames without rows before those are held back.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::super::frames::{Frame, Frames, HELD_FRAME, Next};
use super::super::lookup::FrameStart;
use super::super::options::{Frames as Meaning, Reading};
use super::options::{PatchOptions, StreamType};
use super::rows::{Rows, first_stream_type};
use crate::codec::input::{Buffer, ReadError, Reader};
use crate::codec::{LogHeader, Noticed, Parts};
use crate::model::batch::PatchBatch;
use crate::model::builder::PatchBuilder;
use crate::model::error::ErrorClass;
use crate::model::record::Operation;
use crate::syntax::wire::Wire;

/// The rows of a frame.
const FRAME_FIELDS: u32 = 1 << 1;

/// What ends a patch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// A frame's end.
    Frame,
    /// The log's end.
    Log,
    /// A mark, or the log's end where the last one is missing.
    Mark,
}

/// Reads Jelly-Patch.
pub struct PatchReader {
    options: Reading,
    rows: Rows,
    /// What ends a patch, once that is known.
    ends: Option<Ends>,
    parts: bool,
    frame: Option<Frame>,
    frames: Frames,
    /// Bytes of the frames that are held back.
    held: u64,
    header: Arc<LogHeader>,
}

impl PatchReader {
    /// A reader.
    pub(in super::super) fn new(options: Reading) -> Self {
        Self {
            rows: Rows::new(&options),
            ends: None,
            parts: false,
            frame: None,
            frames: Frames::new(&options),
            held: 0,
            header: LogHeader::none(),
            options,
        }
    }

    fn set_ends(&mut self, ends: Option<Ends>) {
        self.ends = ends;
        self.parts = match self.options.parts {
            Parts::Always => true,
            Parts::Frames => matches!(ends, Some(Ends::Log | Ends::Mark)),
            Parts::Never => false,
        };
    }

    /// Makes the header anew where it says something else now.
    fn say(&mut self) {
        let flat = self.ends.map(|ends| ends == Ends::Log);
        let options = &self.rows.options;
        if self.header.flat == flat && self.header.options.is_empty() == options.is_none() {
            return;
        }
        self.header = Arc::new(LogHeader {
            options: options
                .as_ref()
                .map(PatchOptions::values)
                .unwrap_or_default(),
            flat,
            ..LogHeader::default()
        });
    }

    /// The next batch, or None where bytes are missing or all are read.
    fn read(&mut self, input: &mut Buffer) -> Result<Option<PatchBatch>, ReadError> {
        loop {
            let mut frame = if let Some(open) = self.frame.take() {
                open
            } else {
                match self.frames.next_frame(input)? {
                    Next::Frame(frame) => {
                        self.begin_frame(input, &frame)?;
                        frame
                    }
                    Next::Wait => return Ok(self.completed()),
                    Next::Done => return self.end(input),
                }
            };
            if self.read_rows(input, &mut frame)? {
                self.frame = Some(frame);
                return Ok(self.cut());
            }
            input.at = frame.end;
            self.frames.index += 1;
            let builder = &mut self.rows.terms.builder;
            if matches!(self.ends, None | Some(Ends::Frame)) {
                builder.end_message();
                if self.ends.is_some() && builder.full() {
                    return Ok(self.cut());
                }
            }
        }
    }

    /// Opens the frame's patch, where a frame or the log is one.
    fn begin_frame(&mut self, input: &Buffer, frame: &Frame) -> Result<(), ReadError> {
        if self.ends.is_none() {
            self.decide(input, frame)?;
        }
        let start = FrameStart {
            frame: self.frames.index,
            offset: input.offset(),
        };
        self.rows
            .begin_frame(&input.bytes[frame.at..frame.end], start);
        let builder = &mut self.rows.terms.builder;
        if self.ends != Some(Ends::Mark) && !builder.is_open() {
            builder.begin_message(input.offset());
        }
        Ok(())
    }

    /// What ends a patch, if the frame has the options; otherwise it is held back.
    fn decide(&mut self, input: &Buffer, frame: &Frame) -> Result<(), ReadError> {
        let Some(stream_type) = first_stream_type(&input.bytes[frame.at..frame.end]) else {
            self.held += (frame.end - frame.at) as u64 + HELD_FRAME;
            if self.held <= self.options.limits.max_message_bytes {
                return Ok(());
            }
            let text = format!(
                "frames 0 to {} have no rows; what frames mean is not known before the first row",
                self.frames.index
            );
            return Err(input.error(ErrorClass::Limit, text));
        };
        let ends = match (stream_type, self.options.frames) {
            (StreamType::Punctuated, _) => Ends::Mark,
            (_, Some(Meaning::Flat)) | (StreamType::Flat, None) => Ends::Log,
            _ => Ends::Frame,
        };
        if ends != Ends::Frame {
            self.join_held(ends == Ends::Log);
        }
        self.set_ends(Some(ends));
        Ok(())
    }

    /// The frames that were held back are no patches of their own; the patch of all frames begins with them.
    fn join_held(&mut self, is_one: bool) {
        let builder = &mut self.rows.terms.builder;
        let Some(held) = builder.take() else {
            return;
        };
        builder.reset();
        if is_one {
            builder.begin_message(held.position(0));
        }
    }

    /// The patches that are complete; while frames are held back, they wait.
    fn completed(&mut self) -> Option<PatchBatch> {
        let builder = &self.rows.terms.builder;
        if self.ends.is_none() || !builder.has_messages() {
            return None;
        }
        self.rows.terms.end_batch();
        let mut moved = FxHashMap::default();
        self.rows.terms.builder.take_complete(&mut moved)
    }

    /// The patches that are complete, with the open one so far.
    fn cut(&mut self) -> Option<PatchBatch> {
        self.rows.terms.end_batch();
        let builder = &mut self.rows.terms.builder;
        if builder.is_open() {
            Some(builder.take_part())
        } else {
            builder.take()
        }
    }

    /// The last batch.
    fn end(&mut self, input: &Buffer) -> Result<Option<PatchBatch>, ReadError> {
        if self.rows.lacks_end() {
            return Err(input.error(
                ErrorClass::Truncated,
                "the log ends inside a transaction, expected a commit or an abort before",
            ));
        }
        if self.ends.is_none() && self.options.frames == Some(Meaning::Flat) {
            self.join_held(true);
        }
        let builder = &mut self.rows.terms.builder;
        if builder.is_open() {
            builder.end_message();
        }
        Ok(builder.take())
    }

    /// Reads the rows of a frame; true where a batch is to be cut off before its end.
    fn read_rows(&mut self, input: &Buffer, frame: &mut Frame) -> Result<bool, ReadError> {
        let bytes = &input.bytes[frame.at..frame.end];
        let rows = &mut self.rows;
        let mut wire = Wire::new(bytes);
        let mut in_row = false;
        let error = loop {
            if wire.is_done() {
                if rows.stream_type != StreamType::Frame {
                    return Ok(false);
                }
                match rows.end_patch() {
                    Ok(()) => return Ok(false),
                    Err(error) => break error,
                }
            }
            frame.at = frame.end - wire.rest().len();
            let row = match wire.field(FRAME_FIELDS, "the frame") {
                Ok((1, row)) => row,
                Ok(_) => continue,
                Err(error) => break error,
            };
            let cut = match rows.row(row, input.offset_of(frame.at)) {
                Ok(false) => self.parts && rows.terms.builder.part_full(),
                Ok(true) => {
                    rows.terms.builder.end_message();
                    rows.terms.builder.full()
                }
                Err(error) => {
                    in_row = true;
                    break error;
                }
            };
            frame.row += 1;
            if cut {
                frame.at = frame.end - wire.rest().len();
                return Ok(true);
            }
        };
        let (class, reason) = error.into_parts();
        Err(self.frames.error(input, frame, class, reason, in_row))
    }
}

impl Reader for PatchReader {
    type Record = Operation;

    fn builder(&mut self) -> &mut PatchBuilder {
        &mut self.rows.terms.builder
    }

    fn reset(&mut self) {
        self.rows.reset();
        self.set_ends(None);
        self.frame = None;
        self.frames.reset();
        self.held = 0;
        self.say();
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<PatchBatch>, ReadError> {
        let read = self.read(input);
        self.say();
        read.map_err(|error| {
            if self.rows.options.is_some() {
                return error;
            }
            self.frames.explained(input, error, "a Jelly-Patch file")
        })
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
        let mut notes = Vec::from_iter(self.rows.terms.note_of_joins());
        if self.rows.deleted_iris > 0 {
            notes.push(format!(
                "IRIs of deleted prefixes are left out: {}",
                self.rows.deleted_iris
            ));
        }
        Noticed {
            notes,
            ..Noticed::default()
        }
    }
}

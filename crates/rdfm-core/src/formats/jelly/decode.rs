//! Jelly logs to batches: cuts frames, keeps positions, delivers what was complete before an error.
//!
//! - In: bytes in pieces of any size, delimited or one bare frame.
//! - Out: a message a frame, or with [`Meaning::Flat`] one message of the whole log.
//! - Cost: linear; memory holds one frame, one piece and one batch.
//! - Law: a frame is decoded only when it is wholly there; how the bytes are cut changes nothing.
//!
//! Where the log's logical type is to say what frames mean, frames without rows that stand before the
//! stream options are held back until those come.

use std::sync::Arc;

use super::frames::{FRAME_FIELDS, Frame, Frames, HELD_FRAME, Next};
use super::lookup::FrameStart;
use super::options::{Frames as Meaning, JellyOptions, Reading};
use super::rows::{FirstRow, Rows, first_row};
use crate::codec::input::{Buffer, ReadError, Reader};
use crate::codec::{LogHeader, Noticed, Parts};
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::error::ErrorClass;
use crate::model::remedy::{Reason, Remedy};
use crate::model::term::Quad;
use crate::syntax::wire::Wire;

/// Reads Jelly-RDF.
pub struct JellyReader {
    options: Reading,
    rows: Rows,
    /// What frames mean, once that is known.
    meaning: Option<Meaning>,
    parts: bool,
    frame: Option<Frame>,
    frames: Frames,
    /// Whether the metadata of the open frame was taken before it was come to.
    metadata_taken: bool,
    /// Bytes of the frames that are held back.
    held: u64,
    dropped_metadata: u64,
    header: Arc<LogHeader>,
}

impl JellyReader {
    /// A reader.
    pub(super) fn new(options: Reading) -> Self {
        Self {
            rows: Rows::new(&options),
            meaning: None,
            parts: false,
            frame: None,
            frames: Frames::new(&options),
            metadata_taken: false,
            held: 0,
            dropped_metadata: 0,
            header: LogHeader::none(),
            options,
        }
    }

    /// Whether all frames are one message because the log says so.
    fn found_flat(&self) -> bool {
        self.options.frames.is_none() && self.is_flat()
    }

    fn is_flat(&self) -> bool {
        self.meaning == Some(Meaning::Flat)
    }

    fn set_meaning(&mut self, meaning: Option<Meaning>) {
        self.meaning = meaning;
        self.parts = match self.options.parts {
            Parts::Always => true,
            Parts::Frames => self.is_flat(),
            Parts::Never => false,
        };
    }

    /// Makes the header anew where it says something else now.
    fn say(&mut self) {
        let flat = self.meaning.map(|frames| frames == Meaning::Flat);
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
                match self.frames.next_frame(input)? {
                    Next::Frame(frame) => {
                        self.begin_frame(input, &frame)?;
                        frame
                    }
                    Next::Wait => return Ok(self.completed()),
                    Next::Done => {
                        if self.rows.terms.builder.is_open() {
                            self.rows.terms.builder.end_message();
                        }
                        return Ok(self.rows.terms.builder.take());
                    }
                }
            };
            if self.read_rows(input, &mut frame)? {
                self.metadata_ahead(input, &frame)?;
                self.frame = Some(frame);
                return Ok(Some(self.take_part()));
            }
            input.at = frame.end;
            self.frames.index += 1;
            match self.meaning {
                Some(Meaning::Flat) => {
                    if self.parts && self.rows.terms.builder.part_full() {
                        return Ok(Some(self.take_part()));
                    }
                }
                Some(Meaning::Message) => {
                    self.rows.terms.builder.end_message();
                    if self.rows.terms.builder.full() {
                        return Ok(self.completed());
                    }
                }
                None => self.rows.terms.builder.end_message(),
            }
        }
    }

    /// The messages that are complete; with an open one, and while frames are held back, they wait.
    fn completed(&mut self) -> Option<MessageBatch> {
        if self.rows.terms.builder.is_open() || self.meaning.is_none() {
            return None;
        }
        self.rows.terms.end_batch();
        self.rows.terms.builder.take()
    }

    fn take_part(&mut self) -> MessageBatch {
        self.rows.terms.end_batch();
        self.rows.terms.builder.take_part()
    }

    /// Opens the frame's message, unless it belongs to one that is open.
    fn begin_frame(&mut self, input: &Buffer, frame: &Frame) -> Result<(), ReadError> {
        self.metadata_taken = false;
        if self.meaning.is_none() {
            self.decide(input, frame)?;
        }
        let start = FrameStart {
            frame: self.frames.index,
            offset: input.offset(),
        };
        self.rows
            .begin_frame(&input.bytes[frame.at..frame.end], start);
        if !self.rows.terms.builder.is_open() {
            self.rows.terms.builder.begin_message(input.offset());
        }
        Ok(())
    }

    /// What frames mean, if the frame has the stream options; otherwise it is held back.
    fn decide(&mut self, input: &Buffer, frame: &Frame) -> Result<(), ReadError> {
        match first_row(&input.bytes[frame.at..frame.end]) {
            FirstRow::Options(options) if options.is_flat() => {
                self.set_meaning(Some(Meaning::Flat));
                return self.join_held(input);
            }
            FirstRow::Options(_) | FirstRow::Other => self.set_meaning(Some(Meaning::Message)),
            FirstRow::None => {
                self.held += (frame.end - frame.at) as u64 + HELD_FRAME;
                if self.held > self.options.limits.max_message_bytes {
                    return Err(input.error(
                        ErrorClass::Limit,
                        Reason::from(format!(
                            "frames 0 to {} have no rows; what frames mean is not known before the first row",
                            self.frames.index
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
        let Some(held) = self.rows.terms.builder.take() else {
            return Ok(());
        };
        let builder = &mut self.rows.terms.builder;
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
    fn metadata_ahead(&mut self, input: &Buffer, frame: &Frame) -> Result<(), ReadError> {
        if self.metadata_taken || (self.is_flat() && self.frames.index > 0) {
            return Ok(());
        }
        self.metadata_taken = true;
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

    /// Reads the rows of a frame; true where a part of its message is large enough to be yielded.
    fn read_rows(&mut self, input: &Buffer, frame: &mut Frame) -> Result<bool, ReadError> {
        let left_out = self.is_flat() && self.frames.index > 0;
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
                    if self.parts && rows.terms.builder.part_full() {
                        frame.at = frame.end - wire.rest().len();
                        return Ok(true);
                    }
                }
                Ok((15, entry)) => {
                    let taken = if left_out {
                        self.dropped_metadata += 1;
                        Rows::check_metadata(entry)
                    } else if self.metadata_taken {
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
        let (class, mut reason) = error.into_parts();
        if let Some(options) = &self.rows.options
            && self.found_flat()
            && self.rows.terms.builder.is_too_large()
        {
            let all = format!(
                "by its type {} all frames are this message",
                options.type_name()
            );
            reason = reason
                .reworded(|text| format!("{text}; {all}"))
                .with(FRAME_A_MESSAGE);
        }
        Err(self.frames.error(input, frame, class, reason, in_row))
    }
}

impl Reader for JellyReader {
    type Record = Quad;

    fn builder(&mut self) -> &mut BatchBuilder {
        &mut self.rows.terms.builder
    }

    fn reset(&mut self) {
        self.rows.reset();
        self.set_meaning(self.options.frames);
        self.frame = None;
        self.frames.reset();
        self.metadata_taken = false;
        self.held = 0;
        self.dropped_metadata = 0;
        self.say();
    }

    fn advance(&mut self, input: &mut Buffer) -> Result<Option<MessageBatch>, ReadError> {
        let read = self.read(input);
        self.say();
        read.map_err(|error| {
            if self.rows.options.is_some() {
                return error;
            }
            self.frames.explained(input, error, "a Jelly file")
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
